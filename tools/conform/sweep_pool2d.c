/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * pool2d of any size.  The oracle is the definition, window by window, for every element.
 */
#include "sweep_layers.h"

enum axis { IMAGES, CHANNELS, HEIGHT, WIDTH, ROWS, COLUMNS, DOWN, ACROSS, PADDING, AXES };

struct problem {
	int64_t planes, n, c;
	int64_t length[2], windows[2], kernel[2], stride[2], padding[4];
};

/* The kernel grows to twice the padding, and the plane to the kernel, which is then a global
 * pool. */
static struct problem problem_of(const int64_t *l)
{
	struct problem t = {.planes = l[IMAGES] * l[CHANNELS], .n = l[IMAGES], .c = l[CHANNELS]};
	for (int i = 0; i < 2; i++) {
		const int64_t padding = l[PADDING] - 1, length = l[HEIGHT + i];
		const int64_t kernel = l[ROWS + i] > 2 * padding ? l[ROWS + i] : 2 * padding;
		t.kernel[i] = kernel;
		t.stride[i] = l[DOWN + i];
		t.length[i] = length > kernel ? length : kernel;
		t.padding[i] = padding;
		t.padding[i + 2] = padding / 2;
		t.windows[i] =
			(t.length[i] + t.padding[i] + t.padding[i + 2] - kernel) / t.stride[i] + 1;
	}
	return t;
}

static double n_cells(const struct problem *t)
{
	return (double)t->planes * (double)t->length[0] * (double)t->length[1];
}

static double n_windows(const struct problem *t)
{
	return (double)t->planes * (double)t->windows[0] * (double)t->windows[1];
}

static uint64_t bytes(tn_dtype dtype, const int64_t *lengths)
{
	if (layer_is_too_long(AXES, lengths))
		return 0;
	const struct problem t = problem_of(lengths);
	const double most = fmax(n_cells(&t), n_windows(&t));
	return most < 0x1p50 ? (uint64_t)most * tn_dtype_size(dtype) : 0;
}

static double work(const int64_t *lengths)
{
	const struct problem t = problem_of(lengths);
	return LAYER_VISIT * (n_cells(&t) + n_windows(&t)) +
	       LAYER_PRODUCT * n_windows(&t) * (double)(t.kernel[0] * t.kernel[1]);
}

/* ---- The oracle ------------------------------------------------------------------------------*/

/* The rows (axis 0) or columns of window i that lie in the plane: [first, end). */
static void part_of(const struct problem *t, int axis, int64_t i, int64_t *first, int64_t *end)
{
	*first = i * t->stride[axis] - t->padding[axis];
	*end = *first + t->kernel[axis];
	*first = *first > 0 ? *first : 0;
	*end = *end < t->length[axis] ? *end : t->length[axis];
}

struct window {
	int64_t first[2], end[2];
	int64_t plane; /* its first cell among those of all planes */
	double cells;
};

static struct window window_of(const struct problem *t, int64_t i)
{
	struct window w = {.plane =
				   i / t->windows[0] / t->windows[1] * t->length[0] * t->length[1]};
	part_of(t, 0, i / t->windows[1] % t->windows[0], &w.first[0], &w.end[0]);
	part_of(t, 1, i % t->windows[1], &w.first[1], &w.end[1]);
	w.cells = (double)((w.end[0] - w.first[0]) * (w.end[1] - w.first[1]));
	return w;
}

/* The place in the plane of the first largest cell. */
static int64_t largest_of(const struct problem *t, const struct window *w, const double *x)
{
	int64_t found = w->first[0] * t->length[1] + w->first[1];
	for (int64_t row = w->first[0]; row < w->end[0]; row++)
		for (int64_t i = row * t->length[1] + w->first[1];
		     i < row * t->length[1] + w->end[1]; i++)
			if (x[w->plane + i] > x[w->plane + found])
				found = i;
	return found;
}

static void sum_of(const struct problem *t, const struct window *w, const double *x, double *sum,
		   double *magnitude)
{
	*sum = *magnitude = 0;
	for (int64_t row = w->first[0]; row < w->end[0]; row++)
		for (int64_t i = row * t->length[1] + w->first[1];
		     i < row * t->length[1] + w->end[1]; i++) {
			*sum += x[w->plane + i];
			*magnitude += fabs(x[w->plane + i]);
		}
}

static void add_to(const struct problem *t, const struct window *w, double value, double *dx,
		   double *magnitude)
{
	for (int64_t row = w->first[0]; row < w->end[0]; row++)
		for (int64_t i = row * t->length[1] + w->first[1];
		     i < row * t->length[1] + w->end[1]; i++) {
			dx[w->plane + i] += value;
			magnitude[w->plane + i] += fabs(value);
		}
}

static double divisor(const struct problem *t, const struct tn_pool2d_args *args,
		      const struct window *w)
{
	return args->count_padding ? (double)(t->kernel[0] * t->kernel[1]) : w->cells;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

enum operand { X, Y, INDEX, OPERANDS };

struct trial {
	struct problem problem;
	struct array data[OPERANDS], *all[OPERANDS];
	struct tn_pool2d_args args;
};

static int is_max(const struct sweep *sweep)
{
	return strstr(sweep->name, "max") != NULL;
}

static void begin(struct kit *kit, struct trial *trial, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *lengths, enum layout layout)
{
	const struct problem t = problem_of(lengths);
	const int64_t x[4] = {t.n, t.c, t.length[0], t.length[1]};
	const int64_t y[4] = {t.n, t.c, t.windows[0], t.windows[1]};
	const int is_forward = sweep->slot == TN_SLOT_POOL2D_FORWARD;
	const unsigned draw = sweep_draw(kit, sweep, dtype, lengths, 0, 4);
	*trial = (struct trial){.problem = t};
	sweep_case(kit, sweep, dtype, lengths, "%s%s", layout_names[layout],
		   !is_max(sweep) && draw % 2 ? ", padding counted" : "");
	array_make(kit, &trial->data[X], is_forward ? INPUT : OUTPUT, dtype, 4, x, layout);
	array_make(kit, &trial->data[Y], is_forward ? OUTPUT : INPUT, dtype, 4, y, layout);
	array_make(kit, &trial->data[INDEX], is_forward && is_max(sweep) ? OUTPUT : INPUT, TN_I32,
		   4, y, layout);
	trial->args = (struct tn_pool2d_args){.call = CALL(struct tn_pool2d_args),
					      .x = trial->data[X].operand,
					      .y = trial->data[Y].operand,
					      .index = trial->data[INDEX].operand,
					      .kind = is_max(sweep) ? TN_POOL_MAX : TN_POOL_AVERAGE,
					      .has_index = (uint32_t)is_max(sweep),
					      .count_padding = !is_max(sweep) && draw % 2};
	memcpy(trial->args.kernel, t.kernel, sizeof(t.kernel));
	memcpy(trial->args.stride, t.stride, sizeof(t.stride));
	memcpy(trial->args.padding, t.padding, sizeof(t.padding));
	for (int i = 0; i < OPERANDS; i++)
		trial->all[i] = &trial->data[i];
}

static void end(struct trial *trial)
{
	for (int i = 0; i < OPERANDS; i++)
		array_free(&trial->data[i]);
}

static void compare_forward(struct trial *trial, const double *x)
{
	const struct problem *t = &trial->problem;
	const struct array *y = &trial->data[Y];
	const double epsilon = kit_epsilon(y->operand.dtype);
	double *expected = numbers(y->count), *tolerance = numbers(y->count);
	double *index = layer_numbers(&trial->data[INDEX]);
	for (uint64_t i = 0; i < y->count; i++) {
		const struct window w = window_of(t, (int64_t)i);
		double divided = divisor(t, &trial->args, &w), magnitude;
		if (trial->args.kind == TN_POOL_MAX) {
			int64_t place = largest_of(t, &w, x);
			expected[i] = x[w.plane + place];
			if (trial->args.has_index && (int64_t)index[i] != place)
				kit_fail(y->kit, "index %llu: expected %lld, found %g",
					 (unsigned long long)i, (long long)place, index[i]);
			continue;
		}
		sum_of(t, &w, x, &expected[i], &magnitude);
		expected[i] /= divided;
		tolerance[i] = layer_terms(w.cells + 1) * epsilon * magnitude / divided;
	}
	if (trial->args.kind == TN_POOL_AVERAGE)
		array_narrow(y, expected, tolerance);
	layer_compare(y, expected, tolerance);
	free(expected);
	free(tolerance);
	free(index);
}

static void forward(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths, enum layout layout)
{
	struct trial trial;
	begin(kit, &trial, sweep, dtype, lengths, layout);
	double *x = layer_fill(&trial.data[X], -2, 2);
	if (!kit_run(kit, &trial.args, trial.all, OPERANDS))
		compare_forward(&trial, x);
	if (trial.args.has_index && !kit->case_failed) {
		trial.args.has_index = 0;
		trial.data[INDEX].role = INPUT;
		if (!kit_run(kit, &trial.args, trial.all, OPERANDS))
			compare_forward(&trial, x);
	}
	free(x);
	end(&trial);
}

/* A cell of each window, drawn. */
static void fill_index(struct trial *trial)
{
	const struct problem *t = &trial->problem;
	struct array *index = &trial->data[INDEX];
	double *all = numbers(index->count);
	for (uint64_t i = 0; i < index->count; i++) {
		const struct window w = window_of(t, (int64_t)i);
		const uint64_t random = kit_random(index->kit);
		all[i] = (double)((w.first[0] + (int64_t)(random >> 32) % (w.end[0] - w.first[0])) *
					  t->length[1] +
				  w.first[1] +
				  (int64_t)(random & UINT32_MAX) % (w.end[1] - w.first[1]));
	}
	sweep_store(index, all);
	free(all);
}

/* dx := old + what the windows give. */
static void compare_backward(struct trial *trial, const double *dy, const double *old)
{
	const struct problem *t = &trial->problem;
	const struct array *dx = &trial->data[X];
	const double n = layer_terms((double)(2 * t->kernel[0] * t->kernel[1] + 1));
	double *expected = numbers(dx->count), *tolerance = numbers(dx->count);
	double *index = layer_numbers(&trial->data[INDEX]);
	for (uint64_t i = 0; i < dx->count && old; i++) {
		expected[i] = old[i];
		tolerance[i] = fabs(old[i]);
	}
	for (uint64_t i = 0; i < trial->data[Y].count; i++) {
		const struct window w = window_of(t, (int64_t)i);
		if (trial->args.kind == TN_POOL_AVERAGE) {
			add_to(t, &w, dy[i] / divisor(t, &trial->args, &w), expected, tolerance);
		} else {
			expected[w.plane + (int64_t)index[i]] += dy[i];
			tolerance[w.plane + (int64_t)index[i]] += fabs(dy[i]);
		}
	}
	for (uint64_t i = 0; i < dx->count; i++)
		tolerance[i] *= n * kit_epsilon(dx->operand.dtype);
	array_narrow(dx, expected, tolerance);
	layer_compare(dx, expected, tolerance);
	free(expected);
	free(tolerance);
	free(index);
}

static void backward(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		     const int64_t *lengths, enum layout layout)
{
	struct trial trial;
	begin(kit, &trial, sweep, dtype, lengths, layout);
	double *dy = layer_fill(&trial.data[Y], -1, 1), *old = layer_fill(&trial.data[X], -1, 1);
	fill_index(&trial);
	for (int accumulates = 1; accumulates >= 0 && !kit->case_failed; accumulates--) {
		trial.args.call.flags = accumulates ? TN_ACCUMULATE : 0;
		if (!kit_run(kit, &trial.args, trial.all, OPERANDS))
			compare_backward(&trial, dy, accumulates ? old : NULL);
	}
	layer_repeat(kit, sweep, dtype, lengths, &trial.args, trial.all, OPERANDS);
	free(dy);
	free(old);
	end(&trial);
}

/* ---- The sweeps ------------------------------------------------------------------------------*/

static void runs(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *lengths)
{
	const enum layout layout = strstr(sweep->name, "last") ? CHANNELS_LAST : COMPACT;
	if (sweep->slot == TN_SLOT_POOL2D_FORWARD)
		forward(kit, sweep, dtype, lengths, layout);
	else
		backward(kit, sweep, dtype, lengths, layout);
}

static int claims(const struct kit *kit, tn_dtype dtype)
{
	const struct tn_operand one = layer_operand(dtype, 4);
	struct tn_pool2d_args args = {.call = CALL(struct tn_pool2d_args),
				      .x = one,
				      .y = one,
				      .kind = TN_POOL_AVERAGE,
				      .kernel = {1, 1},
				      .stride = {1, 1}};
	return layer_claims(kit, dtype, kit->slot, &args);
}

static void sweeps(struct kit *kit, int slot)
{
	static const char *const names[] = {"pool2d, max", "pool2d, max, channels last",
					    "pool2d, average", "pool2d, average, channels last"};
	struct sweep sweep = {.slot = slot,
			      .n_axes = AXES,
			      .axes = {{"n", 1, 0},
				       {"c", 2, 0},
				       {"h", 5, 0},
				       {"w", 4, 0},
				       {"r", 3, 0},
				       {"s", 2, 0},
				       {"down", 2, 257},
				       {"across", 1, 257},
				       {"pad", 2, 0}},
			      .claims = claims,
			      .bytes = bytes,
			      .work = work,
			      .run = runs};
	for (int i = 0; i < 4; i++) {
		sweep.name = names[i];
		kit_case(kit, slot, "%s", sweep.name);
		sweep_axes(kit, &sweep);
	}
}

void check_sizes_pool2d_forward(struct kit *kit)
{
	sweeps(kit, TN_SLOT_POOL2D_FORWARD);
}

void check_sizes_pool2d_backward(struct kit *kit)
{
	sweeps(kit, TN_SLOT_POOL2D_BACKWARD);
}
