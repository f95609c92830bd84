/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * pool2d.  The oracle of the forward is the definition, cell by cell of each window; that of the
 * backward adds, window by window, what each gives to its cells.
 */
#include "conform.h"

struct setting {
	int64_t n, c, h, w;
	int64_t kernel[2], stride[2], padding[4];
};

static const struct setting settings[] = {
	{1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
	{2, 3, 8, 6, {2, 2}, {2, 2}, {0, 0, 0, 0}},
	{2, 3, 9, 7, {3, 3}, {2, 2}, {1, 1, 1, 1}}, /* overlapping */
	{1, 2, 7, 11, {3, 2}, {1, 3}, {1, 0, 0, 1}},
	{1, 2, 5, 5, {5, 5}, {1, 1}, {0, 0, 0, 0}}, /* the whole plane */
	{2, 1, 6, 7, {2, 3}, {3, 4}, {0, 1, 1, 1}}, /* cells outside all windows */
	{1, 2, 4, 4, {4, 4}, {1, 1}, {2, 2, 2, 2}},
	{2, 2, 28, 28, {2, 2}, {2, 2}, {0, 0, 0, 0}},
};
enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static int64_t n_windows(const struct setting *t, int axis)
{
	int64_t length = axis ? t->w : t->h;
	return (length + t->padding[axis] + t->padding[axis + 2] - t->kernel[axis]) /
		       t->stride[axis] +
	       1;
}

/* The part of window (p, q) that lies in the plane: rows and columns [first, end). */
struct part {
	int64_t first[2], end[2];
};

static struct part part_in_plane(const struct setting *t, int64_t p, int64_t q)
{
	const int64_t number[2] = {p, q}, lengths[2] = {t->h, t->w};
	struct part part;
	for (int axis = 0; axis < 2; axis++) {
		int64_t first = number[axis] * t->stride[axis] - t->padding[axis];
		int64_t end = first + t->kernel[axis];
		part.first[axis] = first > 0 ? first : 0;
		part.end[axis] = end < lengths[axis] ? end : lengths[axis];
	}
	return part;
}

static int64_t cells_of(const struct part *part)
{
	return (part->end[0] - part->first[0]) * (part->end[1] - part->first[1]);
}

/* Cell k of it, row by row: its place in the plane. */
static int64_t cell_of(const struct setting *t, const struct part *part, int64_t k)
{
	int64_t width = part->end[1] - part->first[1];
	return (part->first[0] + k / width) * t->w + part->first[1] + k % width;
}

/* One window of a plane: the place of its largest cell, its sum, magnitude and number of cells. */
struct window {
	int64_t place;
	double sum, magnitude;
	int64_t cells;
};

static struct window look(const struct setting *t, const double *plane, int64_t p, int64_t q)
{
	struct part part = part_in_plane(t, p, q);
	struct window found = {.place = -1, .cells = cells_of(&part)};
	for (int64_t k = 0; k < found.cells; k++) {
		int64_t i = cell_of(t, &part, k);
		if (found.place < 0 || (!isnan(plane[found.place]) &&
					(isnan(plane[i]) || plane[i] > plane[found.place])))
			found.place = i;
		found.sum += plane[i];
		found.magnitude += fabs(plane[i]);
	}
	return found;
}

struct variant {
	uint32_t kind;
	uint32_t count_padding;
	uint32_t has_index;
	int accumulate;
};

static const struct variant variants[] = {
	{TN_POOL_MAX, 0, 1, 0},     {TN_POOL_MAX, 0, 1, 1},     {TN_POOL_MAX, 0, 0, 0},
	{TN_POOL_AVERAGE, 0, 0, 0}, {TN_POOL_AVERAGE, 1, 0, 1},
};
enum { N_VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static double divisor(const struct setting *t, const struct variant *v, int64_t cells)
{
	return (double)(v->count_padding ? t->kernel[0] * t->kernel[1] : cells);
}

/* Values with ties, and some NaNs for maxima. */
static void fill(struct array *x, const struct variant *v)
{
	array_randomise(x, -2, 2);
	for (uint64_t i = 0; i < x->count && v->kind == TN_POOL_MAX; i++) {
		if (kit_random(x->kit) % 3 == 0)
			array_set_number(x, i, (double)(kit_random(x->kit) % 2));
		if (kit_random(x->kit) % 29 == 0)
			array_set_number(x, i, NAN);
	}
}

static void check_forward(const struct setting *t, const struct variant *v, const double *x,
			  const struct array *y, const struct array *index)
{
	int64_t n_p = n_windows(t, 0), n_q = n_windows(t, 1), plane = t->h * t->w;
	double epsilon = kit_epsilon(y->operand.dtype);
	double *expected = numbers(y->count), *tolerance = numbers(y->count);
	for (uint64_t i = 0; i < y->count; i++) {
		const double *own = x + (int64_t)i / n_p / n_q * plane;
		struct window w = look(t, own, (int64_t)i / n_q % n_p, (int64_t)i % n_q);
		if (v->kind == TN_POOL_MAX) {
			expected[i] = own[w.place];
			if (v->has_index && (int64_t)array_number(index, i) != w.place)
				kit_fail(y->kit, "index %llu: expected %lld, found %g",
					 (unsigned long long)i, (long long)w.place,
					 array_number(index, i));
		} else {
			/* one rounding per sum, and the quotient */
			expected[i] = w.sum / divisor(t, v, w.cells);
			tolerance[i] = (double)(w.cells + 1) * epsilon * w.magnitude /
				       divisor(t, v, w.cells);
		}
	}
	if (v->kind == TN_POOL_AVERAGE)
		array_narrow(y, expected, tolerance);
	array_compare(y, expected, tolerance);
	free(expected);
	free(tolerance);
}

static void name_case(struct kit *kit, enum tn_slot slot, tn_dtype dtype, int number,
		      const struct variant *v, unsigned layout)
{
	kit_case(kit, slot, "pool2d %s: %s of %s, setting %d, %s%s%s%s",
		 slot == TN_SLOT_POOL2D_FORWARD ? "forward" : "backward",
		 v->kind == TN_POOL_MAX ? "max" : "average", tn_dtype_name(dtype), number,
		 layout_names[layout], v->count_padding ? ", padding counted" : "",
		 v->has_index ? ", with index" : "", v->accumulate ? ", accumulated" : "");
}

static struct tn_pool2d_args arguments(const struct setting *t, const struct variant *v)
{
	struct tn_pool2d_args args = {.call = CALL(struct tn_pool2d_args),
				      .kind = v->kind,
				      .has_index = v->has_index,
				      .count_padding = v->count_padding};
	memcpy(args.kernel, t->kernel, sizeof(args.kernel));
	memcpy(args.stride, t->stride, sizeof(args.stride));
	memcpy(args.padding, t->padding, sizeof(args.padding));
	return args;
}

static void pools(struct kit *kit, tn_dtype dtype, int number, const struct variant *v,
		  unsigned layout)
{
	const struct setting *t = &settings[number];
	const int64_t x_shape[4] = {t->n, t->c, t->h, t->w};
	const int64_t y_shape[4] = {t->n, t->c, n_windows(t, 0), n_windows(t, 1)};
	struct array x, y, index, *all[3] = {&x, &y, &index};
	struct tn_pool2d_args args = arguments(t, v);
	name_case(kit, TN_SLOT_POOL2D_FORWARD, dtype, number, v, layout);
	array_make(kit, &x, INPUT, dtype, 4, x_shape, (enum layout)layout);
	array_make(kit, &y, OUTPUT, dtype, 4, y_shape,
		   (enum layout)((layout + 1) % OUTPUT_LAYOUTS));
	array_make(kit, &index, v->has_index ? OUTPUT : INPUT, TN_I32, 4, y_shape,
		   (enum layout)((layout + 2) % OUTPUT_LAYOUTS));
	fill(&x, v);
	args.x = x.operand;
	args.y = y.operand;
	args.index = index.operand;
	if (!kit_run(kit, &args, all, 3)) {
		double *host = array_numbers(&x);
		check_forward(t, v, host, &y, &index);
		free(host);
	}
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
}

/* Adds what a window receives, y, to its cells, or to the one of the maximum. */
static void give(const struct setting *t, const struct variant *v, const struct part *part,
		 int64_t place, double y, double *sums, double *magnitudes)
{
	int64_t cells = cells_of(part), n = v->kind == TN_POOL_MAX ? 1 : cells;
	double given = v->kind == TN_POOL_MAX ? y : y / divisor(t, v, cells);
	for (int64_t k = 0; k < n; k++) {
		int64_t cell = v->kind == TN_POOL_MAX ? place : cell_of(t, part, k);
		sums[cell] += given;
		magnitudes[cell] += fabs(given);
	}
}

/* dx[i] := its old value + the sum of the contributions of all windows containing i. */
static void check_backward(const struct setting *t, const struct variant *v, const double *begin,
			   const struct array *dx, const struct array *dy,
			   const struct array *index)
{
	int64_t plane = t->h * t->w, n_p = n_windows(t, 0), n_q = n_windows(t, 1);
	double *expected = numbers(dx->count), *tolerance = numbers(dx->count);
	for (uint64_t i = 0; i < dx->count; i++) {
		expected[i] = begin[i];
		tolerance[i] = fabs(begin[i]);
	}
	for (int64_t i = 0; i < (int64_t)dy->count; i++) {
		struct part part = part_in_plane(t, i / n_q % n_p, i % n_q);
		int64_t at = i / n_p / n_q * plane;
		give(t, v, &part, (int64_t)array_number(index, (uint64_t)i),
		     array_number(dy, (uint64_t)i), expected + at, tolerance + at);
	}
	/* at most kernel0 kernel1 windows per cell, each a quotient and a sum */
	for (uint64_t i = 0; i < dx->count; i++)
		tolerance[i] *= (double)(2 * t->kernel[0] * t->kernel[1] + 1) *
				kit_epsilon(dx->operand.dtype);
	array_narrow(dx, expected, tolerance);
	array_compare(dx, expected, tolerance);
	free(expected);
	free(tolerance);
}

/* A valid index for each window: one of its cells. */
static void set_index(const struct setting *t, struct array *index)
{
	int64_t n_p = n_windows(t, 0), n_q = n_windows(t, 1);
	for (int64_t i = 0; i < (int64_t)index->count; i++) {
		struct part part = part_in_plane(t, i / n_q % n_p, i % n_q);
		uint64_t k = kit_random(index->kit) % (uint64_t)cells_of(&part);
		array_set_bits(index, (uint64_t)i, (uint64_t)cell_of(t, &part, (int64_t)k));
	}
}

static void gives_back(struct kit *kit, tn_dtype dtype, int number, const struct variant *v,
		       unsigned layout)
{
	const struct setting *t = &settings[number];
	const int64_t x_shape[4] = {t->n, t->c, t->h, t->w};
	const int64_t y_shape[4] = {t->n, t->c, n_windows(t, 0), n_windows(t, 1)};
	struct array dx, dy, index, *all[3] = {&dx, &dy, &index};
	struct tn_pool2d_args args = arguments(t, v);
	double *begin;
	name_case(kit, TN_SLOT_POOL2D_BACKWARD, dtype, number, v, layout);
	array_make(kit, &dx, OUTPUT, dtype, 4, x_shape,
		   (enum layout)((layout + 1) % OUTPUT_LAYOUTS));
	array_make(kit, &dy, INPUT, dtype, 4, y_shape, (enum layout)layout);
	array_make(kit, &index, INPUT, TN_I32, 4, y_shape,
		   (enum layout)((layout + 2) % OUTPUT_LAYOUTS));
	array_randomise(&dx, -1, 1);
	array_randomise(&dy, -1, 1);
	set_index(t, &index);
	begin = v->accumulate ? array_numbers(&dx) : numbers(dx.count);
	args.x = dx.operand;
	args.y = dy.operand;
	args.index = index.operand;
	args.call.flags = v->accumulate ? TN_ACCUMULATE : 0;
	if (!kit_run(kit, &args, all, 3))
		check_backward(t, v, begin, &dx, &dy, &index);
	free(begin);
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
}

static void each_setting(struct kit *kit, enum tn_slot slot,
			 void (*run)(struct kit *kit, tn_dtype dtype, int number,
				     const struct variant *v, unsigned layout))
{
	for (int i = 0; i < LAYER_DTYPES * N_SETTINGS * N_VARIANTS; i++) {
		tn_dtype dtype = layer_dtypes[i % LAYER_DTYPES];
		const struct variant *v = &variants[i / LAYER_DTYPES / N_SETTINGS];
		if (!tn_backend_has(kit->backend, slot) ||
		    (slot == TN_SLOT_POOL2D_FORWARD ? v->accumulate
						    : v->kind == TN_POOL_MAX && !v->has_index))
			continue;
		for (unsigned layout = 0; layout < LAYOUTS; layout++)
			if (kit_is_tried(kit, dtype, layout))
				run(kit, dtype, i / LAYER_DTYPES % N_SETTINGS, v, layout);
	}
}

void check_pool2d_forward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_POOL2D_FORWARD))
		return kit_skip(kit, "the slot is empty");
	each_setting(kit, TN_SLOT_POOL2D_FORWARD, pools);
}

void check_pool2d_backward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_POOL2D_BACKWARD))
		return kit_skip(kit, "the slot is empty");
	each_setting(kit, TN_SLOT_POOL2D_BACKWARD, gives_back);
}
