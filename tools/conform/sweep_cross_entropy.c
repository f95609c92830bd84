/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cross-entropy of any size, and with every kind of label to ignore: a class or none, which no, one
 * or every row has.  The oracle is the formula of the header for every row; cross_entropy.c
 * compares the gradient's formula with differences.
 */
#include "sweep_layers.h"

enum axis { ROWS, CLASSES, AXES };

static uint64_t bytes(tn_dtype dtype, const int64_t *l)
{
	return layer_bytes(dtype, AXES, l);
}

static double work(const int64_t *l)
{
	return LAYER_VISIT * (double)(l[ROWS] * (l[CLASSES] + 4));
}

/* ---- The oracle ------------------------------------------------------------------------------*/

struct row {
	double maximum, log_sum;
	int is_ignored, is_wrong;
	int64_t label;
};

static struct row row_of(const double *x, int64_t n, double label, int32_t ignored)
{
	struct row row = {.maximum = -INFINITY, .label = (int64_t)label};
	double sum = 0;
	for (int64_t c = 0; c < n; c++)
		row.maximum = fmax(row.maximum, x[c]);
	for (int64_t c = 0; c < n; c++)
		sum += exp(x[c] - row.maximum);
	row.log_sum = log(n > 0 ? sum : 1);
	row.is_ignored = row.label == ignored;
	row.is_wrong = !row.is_ignored && (row.label < 0 || row.label >= n);
	return row;
}

static double loss_of(const struct row *row, const double *x)
{
	if (row->is_ignored)
		return 0;
	return row->is_wrong ? NAN : row->log_sum - (x[row->label] - row->maximum);
}

static double gradient_of(const struct row *row, const double *x, int64_t c, double dloss)
{
	if (row->is_ignored)
		return 0;
	if (row->is_wrong)
		return NAN;
	return (exp((x[c] - row->maximum) - row->log_sum) - (c == row->label)) * dloss;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

enum operand { X, LABELS, MAXIMUM, LOG_SUM, LOSS, DX, OPERANDS };

struct trial {
	int64_t n, n_classes;
	int32_t ignored;
	struct array data[OPERANDS], *all[OPERANDS];
	double *x, *labels;
	struct row *rows;
	struct tn_cross_entropy_args args;
};

/* Which rows are ignored. */
enum share { NONE, SOME, ALL, SHARES };

/* The label to ignore: a class, or a number beside them. */
enum { IGNORABLE = 7 };
static int32_t ignorable(unsigned which, int64_t n_classes)
{
	const int32_t labels[IGNORABLE] = {-100,
					   0,
					   (int32_t)(n_classes / 2),
					   (int32_t)(n_classes - 1),
					   (int32_t)n_classes,
					   INT32_MIN,
					   INT32_MAX};
	return labels[which];
}

/* Labels of all classes, the first and the last among them; one in 16 is none. */
static void fill_labels(struct trial *t, struct kit *kit, enum share share)
{
	const int32_t other = t->n_classes > 1 && t->ignored == 0 ? 1 : 0;
	for (int64_t i = 0; i < t->n; i++) {
		const uint64_t random = kit_random(kit);
		int32_t label = (int32_t)((random & UINT32_MAX) % (uint64_t)t->n_classes);
		if (random >> 60 == 0)
			label = random >> 59 & 1 ? -7 : (int32_t)(t->n_classes + 3);
		if (random >> 60 == 1)
			label = (int32_t)(t->n_classes - 1);
		if (share == ALL || (share == SOME && random >> 60 > 11))
			label = t->ignored;
		else if (share == NONE && label == t->ignored)
			label = other;
		t->labels[i] = label;
	}
	sweep_store(&t->data[LABELS], t->labels);
}

static void begin(struct kit *kit, struct trial *t, int slot, tn_dtype dtype, int64_t n,
		  int64_t n_classes, enum layout layout, int32_t ignored, enum share share)
{
	const int is_forward = slot == TN_SLOT_CROSS_ENTROPY_FORWARD;
	const int64_t shape[2] = {n, n_classes};
	*t = (struct trial){.n = n, .n_classes = n_classes, .ignored = ignored};
	for (int i = 0; i < OPERANDS; i++) {
		int is_output = is_forward ? i >= MAXIMUM && i <= LOSS : i == DX;
		tn_dtype wide = dtype == TN_F64 ? TN_F64 : TN_F32;
		array_make(kit, &t->data[i], is_output ? OUTPUT : INPUT,
			   i == X || i == DX ? dtype
			   : i == LABELS     ? TN_I32
					     : wide,
			   i == X || i == DX ? 2 : 1, shape, i == LABELS ? COMPACT : layout);
		t->all[i] = &t->data[i];
	}
	t->x = layer_fill(&t->data[X], -4, 4);
	t->labels = numbers((size_t)n);
	t->rows = malloc((size_t)n * sizeof(*t->rows));
	if (!t->rows)
		kit_give_up(kit, "the kit is out of memory");
	fill_labels(t, kit, share);
	for (int64_t i = 0; i < n; i++)
		t->rows[i] = row_of(t->x + i * n_classes, n_classes, t->labels[i], ignored);
	t->args = (struct tn_cross_entropy_args){.call = CALL(struct tn_cross_entropy_args),
						 .x = t->data[X].operand,
						 .labels = t->data[LABELS].operand,
						 .maximum = t->data[MAXIMUM].operand,
						 .log_sum = t->data[LOG_SUM].operand,
						 .loss = t->data[LOSS].operand,
						 .dx = t->data[DX].operand,
						 .ignore_label = ignored};
}

static void end(struct trial *t)
{
	for (int i = 0; i < OPERANDS; i++)
		array_free(&t->data[i]);
	free(t->x);
	free(t->labels);
	free(t->rows);
}

static void compare(const struct array *array, double *expected, double error)
{
	double *tolerance = numbers(array->count);
	for (uint64_t i = 0; i < array->count; i++)
		tolerance[i] = error * (1 + fabs(expected[i]));
	array_narrow(array, expected, tolerance);
	layer_compare(array, expected, tolerance);
	free(tolerance);
}

static void compare_forward(const struct trial *t)
{
	/* a sum of C exponentials, a logarithm, and differences of numbers below 16 */
	const double error = (layer_positive_terms((double)t->n_classes) + 32) *
			     kit_epsilon(t->data[X].operand.dtype);
	double *loss = numbers((size_t)t->n), *log_sum = numbers((size_t)t->n);
	double *maximum = numbers((size_t)t->n);
	for (int64_t i = 0; i < t->n; i++) {
		maximum[i] = t->rows[i].maximum;
		log_sum[i] = t->rows[i].log_sum;
		loss[i] = loss_of(&t->rows[i], t->x + i * t->n_classes);
	}
	compare(&t->data[MAXIMUM], maximum, 0);
	compare(&t->data[LOG_SUM], log_sum, error);
	compare(&t->data[LOSS], loss, error);
	free(loss);
	free(log_sum);
	free(maximum);
}

static void forward(struct kit *kit, struct trial *t)
{
	if (!kit_run(kit, &t->args, t->all, LOSS + 1))
		compare_forward(t);
}

/* What a forward saves. */
static void save(struct trial *t)
{
	double *maximum = numbers((size_t)t->n), *log_sum = numbers((size_t)t->n);
	for (int64_t i = 0; i < t->n; i++) {
		maximum[i] = t->rows[i].maximum;
		log_sum[i] = t->rows[i].log_sum;
	}
	sweep_store(&t->data[MAXIMUM], maximum);
	sweep_store(&t->data[LOG_SUM], log_sum);
	free(maximum);
	free(log_sum);
}

static void compare_backward(const struct trial *t, const double *dloss, const double *old)
{
	double *expected = numbers(t->data[DX].count);
	for (int64_t i = 0; i < t->n * t->n_classes; i++) {
		const int64_t row = i / t->n_classes;
		expected[i] = gradient_of(&t->rows[row], t->x + row * t->n_classes,
					  i % t->n_classes, dloss[row]) +
			      (old ? old[i] : 0);
	}
	compare(&t->data[DX], expected, 40 * kit_epsilon(t->data[X].operand.dtype));
	free(expected);
}

static void backward(struct kit *kit, struct trial *t)
{
	double *dloss = layer_fill(&t->data[LOSS], -1, 1), *old = layer_fill(&t->data[DX], -1, 1);
	save(t);
	for (int accumulates = 1; accumulates >= 0 && !kit->case_failed; accumulates--) {
		t->args.call.flags = accumulates ? TN_ACCUMULATE : 0;
		if (!kit_run(kit, &t->args, t->all, OPERANDS))
			compare_backward(t, dloss, accumulates ? old : NULL);
	}
	free(dloss);
	free(old);
}

/* ---- Sizes -----------------------------------------------------------------------------------*/

static void runs(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *lengths)
{
	const unsigned which = sweep_draw(kit, sweep, dtype, lengths, 0, IGNORABLE);
	const enum share share = (enum share)sweep_draw(kit, sweep, dtype, lengths, 1, 2);
	const enum layout layout =
		sweep_draw(kit, sweep, dtype, lengths, 2, 4) ? COMPACT : REVERSED;
	const int32_t ignored = ignorable(which, lengths[CLASSES]);
	struct trial t;
	sweep_case(kit, sweep, dtype, lengths, "%s, label %d ignored by %s", layout_names[layout],
		   (int)ignored, share == NONE ? "none" : "some");
	begin(kit, &t, sweep->slot, dtype, lengths[ROWS], lengths[CLASSES], layout, ignored, share);
	if (sweep->slot == TN_SLOT_CROSS_ENTROPY_FORWARD)
		forward(kit, &t);
	else
		backward(kit, &t);
	layer_repeat(kit, sweep, dtype, lengths, &t.args, t.all,
		     sweep->slot == TN_SLOT_CROSS_ENTROPY_FORWARD ? LOSS + 1 : OPERANDS);
	end(&t);
}

static int claims(const struct kit *kit, tn_dtype dtype)
{
	const struct tn_operand one = layer_operand(dtype == TN_F64 ? TN_F64 : TN_F32, 1);
	struct tn_cross_entropy_args args = {.call = CALL(struct tn_cross_entropy_args),
					     .x = layer_operand(dtype, 2),
					     .labels = layer_operand(TN_I32, 1),
					     .maximum = one,
					     .log_sum = one,
					     .loss = one,
					     .dx = layer_operand(dtype, 2)};
	return layer_claims(kit, dtype, kit->slot, &args);
}

static void sweep_of(struct kit *kit, int slot, const char *name)
{
	const struct sweep sweep = {.slot = slot,
				    .name = name,
				    .n_axes = AXES,
				    .axes = {{"rows", 2, 0}, {"classes", 3, 0}},
				    .claims = claims,
				    .bytes = bytes,
				    .work = work,
				    .run = runs};
	kit_case(kit, slot, "%s", name);
	sweep_axes(kit, &sweep);
}

void check_sizes_cross_entropy_forward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_CROSS_ENTROPY_FORWARD, "cross entropy forward");
}

void check_sizes_cross_entropy_backward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_CROSS_ENTROPY_BACKWARD, "cross entropy backward");
}

/* ---- Labels ----------------------------------------------------------------------------------*/

static void ignores(struct kit *kit, int slot, tn_dtype dtype, const int64_t *size, unsigned which,
		    enum share share)
{
	static const char *const names[SHARES] = {"none", "some", "all"};
	const int32_t ignored = ignorable(which, size[CLASSES]);
	struct trial t;
	kit_case(kit, slot, "cross entropy %s: %s, %lld x %lld, label %d ignored by %s",
		 slot == TN_SLOT_CROSS_ENTROPY_FORWARD ? "forward" : "backward",
		 tn_dtype_name(dtype), (long long)size[ROWS], (long long)size[CLASSES],
		 (int)ignored, names[share]);
	begin(kit, &t, slot, dtype, size[ROWS], size[CLASSES], COMPACT, ignored, share);
	if (slot == TN_SLOT_CROSS_ENTROPY_FORWARD)
		forward(kit, &t);
	else
		backward(kit, &t);
	end(&t);
}

void check_cross_entropy_ignored(struct kit *kit)
{
	static const int slots[] = {TN_SLOT_CROSS_ENTROPY_FORWARD, TN_SLOT_CROSS_ENTROPY_BACKWARD};
	static const int64_t sizes[][2] = {{40, 7}, {3, 2}, {70, 130}};
	int is_filled = 0;
	for (unsigned i = 0; i < 2 * 3 * IGNORABLE * SHARES * LAYER_DTYPES; i++) {
		const int slot = slots[i % 2];
		const tn_dtype dtype = layer_dtypes[i / 2 % LAYER_DTYPES];
		const unsigned rest = i / 2 / LAYER_DTYPES;
		if (!tn_backend_has(kit->backend, (enum tn_slot)slot))
			continue;
		is_filled = 1;
		if (kit_claims_storage(kit, dtype))
			ignores(kit, slot, dtype, sizes[rest / IGNORABLE / SHARES],
				rest % IGNORABLE, (enum share)(rest / IGNORABLE % SHARES));
	}
	if (!is_filled)
		kit_skip(kit, "both slots are empty");
}
