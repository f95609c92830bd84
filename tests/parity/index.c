/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tn_index and tn_index_put against NumPy's recorded indexing by random terms, with arrays and
 * index arrays in several layouts: f64 in each, the other dtypes in turn.
 */
#include "parity/layouts.h"
#include "parity/parity.h"

enum { MOST_TERMS = 33 };

struct trial {
	tn_context *context;
	const struct record *record;
	tn_dtype dtype;
	enum layout layout;
	int n_terms;
	struct tn_index_term terms[MOST_TERMS];
	char words[128];
};

static int count_of(const struct record *record, const char *name)
{
	for (int i = 0; i < record->n_ints; i++)
		if (strcmp(record->ints[i].name, name) == 0)
			return record->ints[i].n;
	return 0;
}

static int64_t end_of(double value)
{
	return isnan(value) ? TN_NONE : (int64_t)value;
}

static const tn_array *index_array(const struct trial *t, int i)
{
	char name[16];
	snprintf(name, sizeof(name), "i%d", i);
	return recorded(t->context, record_array(t->record, name),
			(tn_dtype)record_ints(t->record, "dtypes")[i], t->layout);
}

static void read_terms(struct trial *t)
{
	const struct record_array *rows = record_array(t->record, "terms");
	assert_non_null(rows);
	t->n_terms = (int)rows->shape[0];
	assert_in_range(t->n_terms, 0, MOST_TERMS);
	for (int i = 0; i < t->n_terms; i++) {
		const double *row = rows->values + 4 * i;
		struct tn_index_term *term = &t->terms[i];
		*term = (struct tn_index_term){.kind = (uint32_t)row[0]};
		if (term->kind == TN_INDEX_BY) {
			*term = TN_BY(index_array(t, (int)row[1]));
		} else if (term->kind == TN_INDEX_SLICE) {
			*term = TN_SLICE(end_of(row[1]), end_of(row[2]), end_of(row[3]));
		} else {
			term->start = (int64_t)row[1];
		}
	}
}

/* Elements that every dtype holds, of that shape: start + (factor i) % modulus.  Complex ones are
 * x + 2 i x. */
static tn_array *numbered(const struct trial *t, const char *shape, double start, double factor,
			  double modulus)
{
	const int64_t *lengths = record_ints(t->record, shape);
	const int rank = count_of(t->record, shape);
	int64_t size = 1;
	for (int i = 0; i < rank; i++)
		size *= lengths[i];
	const tn_array *i = tn_arange(t->context, TN_F64, 0, (double)size, 1);
	tn_array *x = tn_map("x = a + b * i % c", 1, (const char *[]){"i"}, &i, 3,
			     (const char *[]){"a", "b", "c"}, (double[]){start, factor, modulus});
	x = tn_reshape(x, rank, lengths);
	if (is_complex_dtype(t->dtype))
		x = tn_complex(x, tn_add(x, x));
	return laid_out(tn_astype(x, t->dtype), t->layout);
}

/* The real elements, and the imaginary ones, which are twice as large. */
static void expect_elements(const struct trial *t, const struct record_array *y, const tn_array *a)
{
	if (a && tn_array_dtype(a) != t->dtype)
		fail_msg("%s: found %s", t->words, tn_dtype_name(tn_array_dtype(a)));
	if (t->dtype == TN_BOOL) {
		for (size_t i = 0; i < y->count; i++)
			y->values[i] = y->values[i] != 0;
	}
	expect_recorded(t->context, t->words, y, tn_real(a));
	if (is_complex_dtype(t->dtype))
		expect_recorded(t->context, t->words, y, tn_affine(tn_imag(a), 0.5, 0));
}

/* NumPy raises an error; so does this call, or the next one that waits. */
static void expect_error(const struct trial *t, const tn_array *result)
{
	tn_synchronize(t->context);
	if (!tn_error(t->context))
		fail_msg("%s: %s", t->words, result ? "no error" : "NULL without an error");
	tn_error_clear(t->context);
}

static void run_case(struct trial *t)
{
	const struct record_array *y = record_array(t->record, "y");
	const int64_t *mode = record_ints(t->record, "mode");
	tn_array *a;
	assert_ok(tn_scope_begin(t->context));
	read_terms(t);
	a = numbered(t, "shape", 0, 1, 1000);
	if (mode) {
		const tn_array *v = numbered(t, "values", 1, 3, 7);
		if (tn_index_put(a, t->n_terms, t->terms, v, (uint32_t)*mode))
			fail_msg("%s: %s", t->words, tn_error(t->context)->text);
	} else {
		a = tn_index(a, t->n_terms, t->terms);
	}
	if (y)
		expect_elements(t, y, a);
	else
		expect_error(t, a);
	tn_scope_end(t->context, NULL);
}

/* Extremes of complex numbers are refused. */
static int takes_complex(const struct record *record)
{
	const int64_t *mode = record_ints(record, "mode");
	return !mode || *mode < TN_PUT_MIN;
}

static void check(tn_context *context, const struct record *record, int n)
{
	struct trial t = {.context = context, .record = record};
	const tn_dtype other = (tn_dtype)(TN_BOOL + n % (TN_DTYPES - TN_BOOL));
	for (int layout = 0; layout < LAYOUTS; layout++) {
		t.layout = (enum layout)((layout + n) % LAYOUTS);
		t.dtype = TN_F64;
		snprintf(t.words, sizeof(t.words), "case %d, f64, layout %d", n, t.layout);
		run_case(&t);
	}
	if (is_complex_dtype(other) && !takes_complex(t.record))
		return;
	t.dtype = other;
	snprintf(t.words, sizeof(t.words), "case %d, %s", n, tn_dtype_name(other));
	run_case(&t);
}

static int is_one_of_forty(const struct record *record, int number)
{
	(void)record;
	return number % 40 == 0;
}

const struct parity parity = {
	.claim = "indexes_as_numpy",
	.records = {{"index.txt", 700}},
	.check = check,
	.is_brief = is_one_of_forty,
};
