/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cross-entropy with labels in range, ignored and out of range; the backward against central
 * differences of the forward.  Logits with a large offset, and rows with infinities and NaN,
 * against the formulas.
 */
#include "conform.h"

enum { IGNORED = -100 };

static const int64_t sizes[][2] = {{1, 1}, {1, 10}, {7, 3}, {13, 10}, {2, 70}, {33, 300}};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]), MOST_DIFFERENCES = 150 };

struct rows {
	int64_t n, n_classes;
	const double *labels;
};

static double largest(const double *x, int64_t n)
{
	double most = x[0];
	for (int64_t c = 1; c < n; c++)
		most = fmax(most, x[c]);
	return most;
}

static double log_sum_of(const double *x, int64_t n, double maximum)
{
	double sum = exp(x[0] - maximum);
	for (int64_t c = 1; c < n; c++)
		sum += exp(x[c] - maximum);
	return log(sum);
}

static void forward(const void *setting, const double *x, double *loss)
{
	const struct rows *r = setting;
	for (int64_t n = 0; n < r->n; n++, x += r->n_classes) {
		int64_t label = (int64_t)r->labels[n];
		if (label == IGNORED)
			loss[n] = 0;
		else if (label < 0 || label >= r->n_classes)
			loss[n] = NAN;
		else
			loss[n] = log_sum_of(x, r->n_classes, largest(x, r->n_classes)) -
				  (x[label] - largest(x, r->n_classes));
	}
}

/* dx, by the header's formula */
static void backward(const struct rows *r, const double *x, const double *dloss, double *dx)
{
	for (int64_t i = 0; i < r->n * r->n_classes; i++) {
		int64_t n = i / r->n_classes, label = (int64_t)r->labels[n];
		const double *row = x + n * r->n_classes;
		double maximum = largest(row, r->n_classes);
		double p = exp((x[i] - maximum) - log_sum_of(row, r->n_classes, maximum));
		dx[i] = label == IGNORED ? 0 : (p - (i % r->n_classes == label)) * dloss[n];
	}
}

/* Some labels are ignored; with `wrong` some are out of range. */
static void set_labels(struct array *labels, int64_t n_classes, int wrong)
{
	for (uint64_t n = 0; n < labels->count; n++) {
		int64_t label = (int64_t)(kit_random(labels->kit) % (uint64_t)n_classes);
		if (n % 5 == 2)
			label = IGNORED;
		if (wrong && n % 7 == 3)
			label = n_classes;
		if (wrong && n % 7 == 4)
			label = -1;
		array_set_bits(labels, n, (uint64_t)label);
	}
}

struct trial {
	struct array x, labels, maximum, log_sum, loss, dx;
	struct array *all[6];
	struct tn_cross_entropy_args args;
};

static void begin(struct kit *kit, struct trial *t, tn_dtype dtype, const int64_t *size,
		  int is_forward, unsigned layout)
{
	tn_dtype wide = dtype == TN_F64 ? TN_F64 : TN_F32;
	*t = (struct trial){.all = {&t->x, &t->labels, &t->maximum, &t->log_sum, &t->loss, &t->dx}};
	array_make(kit, &t->x, INPUT, dtype, 2, size, (enum layout)layout);
	array_make(kit, &t->labels, INPUT, TN_I32, 1, size,
		   layout == BROADCAST ? COMPACT : (enum layout)layout);
	array_make(kit, &t->maximum, is_forward ? OUTPUT : INPUT, wide, 1, size, SHIFTED);
	array_make(kit, &t->log_sum, is_forward ? OUTPUT : INPUT, wide, 1, size, SPACED);
	array_make(kit, &t->loss, is_forward ? OUTPUT : INPUT, wide, 1, size,
		   is_forward ? SHIFTED : (enum layout)layout);
	array_make(kit, &t->dx, is_forward ? INPUT : OUTPUT, dtype, 2, size,
		   (enum layout)((layout + 1) % OUTPUT_LAYOUTS));
	array_randomise(&t->x, -4, 4);
	array_randomise(&t->loss, -1, 1);
	array_randomise(&t->dx, -1, 1);
	t->args = (struct tn_cross_entropy_args){.call = CALL(struct tn_cross_entropy_args),
						 .x = t->x.operand,
						 .labels = t->labels.operand,
						 .maximum = t->maximum.operand,
						 .log_sum = t->log_sum.operand,
						 .loss = t->loss.operand,
						 .dx = t->dx.operand,
						 .ignore_label = IGNORED};
}

static void end(struct trial *t)
{
	for (int i = 0; i < 6; i++)
		array_free(t->all[i]);
}

static void compare(const struct array *array, const double *expected, double error)
{
	double *tolerance = numbers(array->count);
	for (uint64_t i = 0; i < array->count; i++)
		tolerance[i] = error * (1 + fabs(expected[i]));
	array_narrow(array, expected, tolerance);
	array_compare(array, expected, tolerance);
	free(tolerance);
}

/* Where log_sum is NaN, the header says nothing of maximum. */
static void check_forward(const struct trial *t)
{
	const int64_t n_rows = t->x.operand.shape[0], n_classes = t->x.operand.shape[1];
	double *x = array_numbers(&t->x), *labels = array_numbers(&t->labels);
	double *loss = numbers(t->loss.count), *log_sum = numbers(t->log_sum.count);
	double *maximum = numbers(t->maximum.count);
	const struct rows rows = {n_rows, n_classes, labels};
	/* a sum of C exponentials, a logarithm, and differences of numbers below 16 */
	double error = ((double)n_classes + 32) * kit_epsilon(t->x.operand.dtype);
	forward(&rows, x, loss);
	for (int64_t n = 0; n < n_rows; n++) {
		maximum[n] = largest(x + n * n_classes, n_classes);
		log_sum[n] = log_sum_of(x + n * n_classes, n_classes, maximum[n]);
		if (isnan(log_sum[n]))
			maximum[n] = array_number(&t->maximum, (uint64_t)n);
	}
	compare(&t->maximum, maximum, 0);
	compare(&t->log_sum, log_sum, error);
	compare(&t->loss, loss, error);
	free(x);
	free(labels);
	free(loss);
	free(log_sum);
	free(maximum);
}

/* What a forward saves, for the backward. */
static void set_saved(struct trial *t, const double *x)
{
	const int64_t n_classes = t->x.operand.shape[1];
	for (uint64_t n = 0; n < t->maximum.count; n++, x += n_classes) {
		double maximum = largest(x, n_classes);
		array_set_number(&t->maximum, n, maximum);
		array_set_number(&t->log_sum, n, log_sum_of(x, n_classes, maximum));
	}
}

static void runs_forward(struct kit *kit, tn_dtype dtype, const int64_t *size, unsigned layout)
{
	struct trial t;
	kit_case(kit, TN_SLOT_CROSS_ENTROPY_FORWARD, "cross entropy forward: %s, %lld x %lld, %s",
		 tn_dtype_name(dtype), (long long)size[0], (long long)size[1],
		 layout_names[layout]);
	begin(kit, &t, dtype, size, 1, layout);
	set_labels(&t.labels, size[1], 1);
	if (!kit_run(kit, &t.args, t.all, 5))
		check_forward(&t);
	end(&t);
}

static void runs_backward(struct kit *kit, tn_dtype dtype, const int64_t *size, unsigned layout)
{
	int accumulate = layout % 2;
	struct trial t;
	kit_case(kit, TN_SLOT_CROSS_ENTROPY_BACKWARD,
		 "cross entropy backward: %s, %lld x %lld, %s%s", tn_dtype_name(dtype),
		 (long long)size[0], (long long)size[1], layout_names[layout],
		 accumulate ? ", accumulated" : "");
	begin(kit, &t, dtype, size, 0, layout);
	set_labels(&t.labels, size[1], 0);
	double *x = array_numbers(&t.x), *labels = array_numbers(&t.labels);
	double *dloss = array_numbers(&t.loss), *expected = numbers(t.dx.count);
	double *old = accumulate ? array_numbers(&t.dx) : numbers(t.dx.count);
	struct rows rows = {size[0], size[1], labels};
	set_saved(&t, x);
	t.args.call.flags = accumulate ? TN_ACCUMULATE : 0;
	if (!kit_run(kit, &t.args, t.all, 6)) {
		differences(forward, &rows, x, t.dx.count, dloss, (size_t)size[0], 1e-4, expected);
		for (uint64_t i = 0; i < t.dx.count; i++)
			expected[i] += old[i];
		/* exp of a difference of numbers below 16, rounded; h^2 and 1e-15 / h for the
		 * differences */
		compare(&t.dx, expected, 40 * kit_epsilon(dtype) + 2e-8);
	}
	free(x);
	free(labels);
	free(dloss);
	free(expected);
	free(old);
	end(&t);
}

/* A row whose label is out of range is NaN; the others are unaffected. */
static void marks_wrong_labels(struct kit *kit, tn_dtype dtype)
{
	static const int64_t size[2] = {14, 4};
	struct trial t;
	kit_case(kit, TN_SLOT_CROSS_ENTROPY_BACKWARD, "cross entropy backward: %s, wrong labels",
		 tn_dtype_name(dtype));
	begin(kit, &t, dtype, size, 0, COMPACT);
	set_labels(&t.labels, size[1], 1);
	for (uint64_t n = 0; n < t.log_sum.count; n++) {
		array_set_number(&t.maximum, n, 1);
		array_set_number(&t.log_sum, n, 1);
	}
	if (!kit_run(kit, &t.args, t.all, 6)) {
		for (uint64_t i = 0; i < t.dx.count; i++) {
			double label = array_number(&t.labels, i / (uint64_t)size[1]);
			int is_wrong = label != IGNORED && (label < 0 || label >= (double)size[1]);
			if (is_wrong != isnan(array_number(&t.dx, i)))
				kit_fail(kit, "label %g gave %g", label, array_number(&t.dx, i));
		}
	}
	end(&t);
}

/* ---- Offsets, infinities, NaN ----------------------------------------------------------------*/

static const struct content {
	const char *name;
	double offset;  /* of all logits */
	double special; /* in row 1: its first logit, or all of them */
	int is_special, is_whole_row;
} contents[] = {
	{.name = "logits near 1e4", .offset = 1e4},
	{.name = "logits near -1e4", .offset = -1e4},
	{.name = "logits near 1e7", .offset = 1e7},
	{.name = "a logit of -inf", .special = -INFINITY, .is_special = 1},
	{.name = "a row of -inf", .special = -INFINITY, .is_special = 1, .is_whole_row = 1},
	{.name = "a logit of inf", .special = INFINITY, .is_special = 1},
	{.name = "a logit of NaN", .special = NAN, .is_special = 1},
};
enum { N_CONTENTS = sizeof(contents) / sizeof(contents[0]) };

static void begin_contents(struct kit *kit, struct trial *t, tn_dtype dtype,
			   const struct content *content, int is_forward)
{
	static const int64_t size[2] = {7, 10};
	begin(kit, t, dtype, size, is_forward, SHIFTED); /* rows without gaps, those of dx too */
	array_randomise(&t->x, content->offset - 4, content->offset + 4);
	set_labels(&t->labels, size[1], 0);
	if (!content->is_special)
		return;
	const uint64_t first = (uint64_t)size[1];
	for (uint64_t i = first; i < (content->is_whole_row ? 2 * first : first + 1); i++)
		array_set_number(&t->x, i, content->special);
}

static void runs_forward_of(struct kit *kit, tn_dtype dtype, const struct content *content)
{
	struct trial t;
	kit_case(kit, TN_SLOT_CROSS_ENTROPY_FORWARD, "cross entropy forward: %s, %s",
		 tn_dtype_name(dtype), content->name);
	begin_contents(kit, &t, dtype, content, 1);
	if (!kit_run(kit, &t.args, t.all, 5))
		check_forward(&t);
	end(&t);
}

static void runs_backward_of(struct kit *kit, tn_dtype dtype, const struct content *content)
{
	struct trial t;
	kit_case(kit, TN_SLOT_CROSS_ENTROPY_BACKWARD, "cross entropy backward: %s, %s",
		 tn_dtype_name(dtype), content->name);
	begin_contents(kit, &t, dtype, content, 0);
	double *x = array_numbers(&t.x), *labels = array_numbers(&t.labels);
	double *dloss = array_numbers(&t.loss), *expected = numbers(t.dx.count);
	const struct rows rows = {t.x.operand.shape[0], t.x.operand.shape[1], labels};
	set_saved(&t, x);
	if (!kit_run(kit, &t.args, t.all, 6)) {
		backward(&rows, x, dloss, expected);
		/* as of logits without an offset */
		compare(&t.dx, expected, 40 * kit_epsilon(dtype));
	}
	free(x);
	free(labels);
	free(dloss);
	free(expected);
	end(&t);
}

static void runs_contents(struct kit *kit, int slot, tn_dtype dtype)
{
	for (int i = 0; i < N_CONTENTS && tn_backend_has(kit->backend, slot); i++) {
		if (dtype == TN_F16 && contents[i].offset > 65504) /* its largest number */
			continue;
		if (slot == TN_SLOT_CROSS_ENTROPY_FORWARD)
			runs_forward_of(kit, dtype, &contents[i]);
		else
			runs_backward_of(kit, dtype, &contents[i]);
	}
}

/* ---- The checks ------------------------------------------------------------------------------*/

void check_cross_entropy_forward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_CROSS_ENTROPY_FORWARD))
		return kit_skip(kit, "the slot is empty");
	for (int i = 0; i < LAYER_DTYPES * N_SIZES * LAYOUTS; i++) {
		tn_dtype dtype = layer_dtypes[i % LAYER_DTYPES];
		int number = i / LAYER_DTYPES;
		if (tn_backend_has(kit->backend, TN_SLOT_CROSS_ENTROPY_FORWARD) &&
		    kit_is_tried(kit, dtype, (unsigned)number % LAYOUTS))
			runs_forward(kit, dtype, sizes[number / LAYOUTS],
				     (unsigned)number % LAYOUTS);
	}
	for (int d = 0; d < LAYER_DTYPES; d++)
		if (kit_claims_storage(kit, layer_dtypes[d]))
			runs_contents(kit, TN_SLOT_CROSS_ENTROPY_FORWARD, layer_dtypes[d]);
}

void check_cross_entropy_backward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_CROSS_ENTROPY_BACKWARD))
		return kit_skip(kit, "the slot is empty");
	for (int d = 0; d < LAYER_DTYPES; d++) {
		if (!tn_backend_has(kit->backend, TN_SLOT_CROSS_ENTROPY_BACKWARD) ||
		    !kit_claims_storage(kit, layer_dtypes[d]))
			continue;
		for (int i = 0; i < N_SIZES * LAYOUTS; i++) {
			const int64_t *size = sizes[i / LAYOUTS];
			unsigned layout = (unsigned)i % LAYOUTS;
			if (size[0] * size[1] <= MOST_DIFFERENCES &&
			    kit_is_tried(kit, layer_dtypes[d], layout))
				runs_backward(kit, layer_dtypes[d], size, layout);
		}
		runs_contents(kit, TN_SLOT_CROSS_ENTROPY_BACKWARD, layer_dtypes[d]);
		marks_wrong_labels(kit, layer_dtypes[d]);
	}
}
