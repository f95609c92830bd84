/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions and statistics against recorded NumPy numbers, with compact operands and with strided
 * ones: every second element of memory, the axes in reverse order, the last one backwards.
 */
#include "parity/functions.h"
#include "parity/numpy.h"

/* One call: operands, settings, results. */
struct call {
	const struct record *record;
	tn_context *context;
	const tn_array *x, *y, *z, *w;
	int n; /* axes */
	int axes[TN_MAX_RANK];
	int keepdims;
	const double *numbers;
	size_t n_numbers;
	tn_array *second;
};

static int64_t setting(const struct call *c, const char *name)
{
	const int64_t *values = record_ints(c->record, name);
	return values ? values[0] : 0;
}

/* ---- The functions ---------------------------------------------------------------------------*/

static tn_array *var(struct call *c)
{
	return tn_var(c->x, c->n, c->axes, c->numbers[0], c->keepdims);
}
static tn_array *std(struct call *c)
{
	return tn_std(c->x, c->n, c->axes, c->numbers[0], c->keepdims);
}
static tn_array *nanvar(struct call *c)
{
	return tn_nanvar(c->x, c->n, c->axes, c->numbers[0], c->keepdims);
}
static tn_array *nanstd(struct call *c)
{
	return tn_nanstd(c->x, c->n, c->axes, c->numbers[0], c->keepdims);
}
static tn_array *weighted_average(struct call *c)
{
	return tn_weighted_average(c->x, c->y, c->n, c->axes, c->keepdims, &c->second);
}
static tn_array *nan_to_num(struct call *c)
{
	const int has_all = c->n_numbers == 3;
	return tn_nan_to_num(c->x, c->numbers[0], has_all ? &c->numbers[1] : NULL,
			     has_all ? &c->numbers[2] : NULL);
}
static tn_array *diff(struct call *c)
{
	return tn_diff(c->x, setting(c, "n"), (int)setting(c, "axis"));
}
static tn_array *ediff1d(struct call *c)
{
	return tn_ediff1d(c->x, c->y, c->z);
}
static tn_array *gradient(struct call *c)
{
	return tn_gradient(c->x, c->numbers[0], (int)setting(c, "axis"), (int)setting(c, "order"));
}
static tn_array *trapezoid(struct call *c)
{
	return tn_trapezoid(c->x, c->y, c->numbers[0], (int)setting(c, "axis"));
}

static tn_array *quantile(struct call *c)
{
	return tn_quantile(c->x, c->numbers[0], (uint32_t)setting(c, "method"), c->n, c->axes,
			   c->keepdims);
}
static tn_array *percentile(struct call *c)
{
	return tn_percentile(c->x, c->numbers[0], (uint32_t)setting(c, "method"), c->n, c->axes,
			     c->keepdims);
}
static tn_array *quantiles(struct call *c)
{
	return tn_quantiles(c->x, (int64_t)c->n_numbers, c->numbers, (uint32_t)setting(c, "method"),
			    c->n, c->axes, c->keepdims);
}
static tn_array *percentiles(struct call *c)
{
	return tn_percentiles(c->x, (int64_t)c->n_numbers, c->numbers,
			      (uint32_t)setting(c, "method"), c->n, c->axes, c->keepdims);
}
static tn_array *cov(struct call *c)
{
	return tn_cov(c->x, c->y, (int)setting(c, "rowvar"), c->numbers[0], c->z, c->w);
}
static tn_array *corrcoef(struct call *c)
{
	return tn_corrcoef(c->x, c->y, (int)setting(c, "rowvar"));
}
static tn_array *searchsorted(struct call *c)
{
	return tn_searchsorted(c->x, c->y, (int)setting(c, "right"), c->z);
}
static tn_array *digitize(struct call *c)
{
	return tn_digitize(c->x, c->y, (int)setting(c, "right"));
}
static tn_array *bincount(struct call *c)
{
	return tn_bincount(c->x, c->y, setting(c, "minlength"));
}
static tn_array *histogram(struct call *c)
{
	return tn_histogram(c->x, (int64_t)c->numbers[0], c->n_numbers > 1 ? c->numbers + 1 : NULL,
			    c->y, (int)setting(c, "density"), &c->second);
}
static tn_array *histogram_edges(struct call *c)
{
	return tn_histogram_edges(c->x, c->z, c->y, (int)setting(c, "density"));
}

static const struct {
	const char *name;
	tn_array *(*reduce)(const tn_array *a, int n, const int *axes, int keepdims);
	tn_array *(*f)(struct call *c);
} rows[] = {
	{"any", tn_any, NULL},
	{"all", tn_all, NULL},
	{"count_nonzero", tn_count_nonzero, NULL},
	{"var", NULL, var},
	{"std", NULL, std},
	{"ptp", tn_ptp, NULL},
	{"weighted_average", NULL, weighted_average},
	{"nansum", tn_nansum, NULL},
	{"nanprod", tn_nanprod, NULL},
	{"nanmean", tn_nanmean, NULL},
	{"nanmax", tn_nanmax, NULL},
	{"nanmin", tn_nanmin, NULL},
	{"nanvar", NULL, nanvar},
	{"nanstd", NULL, nanstd},
	{"nan_to_num", NULL, nan_to_num},
	{"diff", NULL, diff},
	{"ediff1d", NULL, ediff1d},
	{"gradient", NULL, gradient},
	{"trapezoid", NULL, trapezoid},
	{"median", tn_median, NULL},
	{"quantile", NULL, quantile},
	{"percentile", NULL, percentile},
	{"quantiles", NULL, quantiles},
	{"percentiles", NULL, percentiles},
	{"cov", NULL, cov},
	{"corrcoef", NULL, corrcoef},
	{"searchsorted", NULL, searchsorted},
	{"digitize", NULL, digitize},
	{"bincount", NULL, bincount},
	{"histogram", NULL, histogram},
	{"histogram_edges", NULL, histogram_edges},
};

/* ---- Cases -----------------------------------------------------------------------------------*/

static void read_settings(struct call *c)
{
	const int64_t *axes = record_ints(c->record, "axes");
	const struct record_array *numbers = record_array(c->record, "numbers");
	c->n = axes ? (int)axes[0] : 0;
	for (int i = 0; i < c->n; i++)
		c->axes[i] = (int)axes[i + 1];
	c->keepdims = (int)setting(c, "keepdims");
	c->numbers = numbers ? numbers->values : NULL;
	c->n_numbers = numbers ? numbers->count : 0;
}

static void run_case(struct call *c, int is_strided)
{
	const int64_t *dtypes = record_ints(c->record, "dtype");
	const int64_t *results = record_ints(c->record, "result");
	size_t i = 0;
	c->x = numpy_array(c->context, c->record, "x", (tn_dtype)dtypes[0], is_strided);
	c->y = numpy_array(c->context, c->record, "y", (tn_dtype)dtypes[1], is_strided);
	c->z = numpy_array(c->context, c->record, "z", (tn_dtype)dtypes[2], is_strided);
	c->w = numpy_array(c->context, c->record, "w", (tn_dtype)dtypes[3], is_strided);
	c->second = NULL;
	while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].name, c->record->layer) != 0)
		i++;
	if (i == sizeof(rows) / sizeof(rows[0]))
		fail_msg("the function %s is not known", c->record->layer);
	tn_array *r = rows[i].f ? rows[i].f(c) : rows[i].reduce(c->x, c->n, c->axes, c->keepdims);
	numpy_expect(c->context, c->record, "r", r, (tn_dtype)results[0]);
	if (record_array(c->record, "s"))
		numpy_expect(c->context, c->record, "s", c->second, (tn_dtype)results[1]);
}

/* The first case in f32 of each function; `seen` has the name of the last one. */
static int is_first_in_f32(const struct record *record, char seen[RECORD_NAME])
{
	if (record_ints(record, "dtype")[0] != TN_F32 || strcmp(record->layer, seen) == 0)
		return 0;
	memcpy(seen, record->layer, RECORD_NAME);
	return 1;
}

static void run_all(tn_context *context, int is_brief)
{
	FILE *file = record_open("statistics.txt");
	struct record record;
	char seen[RECORD_NAME] = "";
	int n_cases = 0;
	for (; record_read(file, &record); n_cases++) {
		struct call c = {.record = &record, .context = context};
		if (is_brief && !is_first_in_f32(&record, seen)) {
			record_free(&record);
			continue;
		}
		read_settings(&c);
		for (int is_strided = 0; is_strided < 2; is_strided++) {
			assert_ok(tn_scope_begin(context));
			run_case(&c, is_strided);
			tn_scope_end(context, NULL);
		}
		record_free(&record);
	}
	fclose(file);
	assert_int_equal(n_cases, 1417);
	tn_context_close(context);
}

static void the_reference_has_numpys_statistics(void **state)
{
	(void)state;
	run_all(trial_open("reference!"), 0);
}

static void the_preferred_backend_has_numpys_statistics(void **state)
{
	(void)state;
	run_all(trial_open(NULL), 0);
}

static void the_mock_has_numpys_statistics(void **state)
{
	(void)state;
	run_all(open_mock(""), 0);
}

static const char *given_backend;

/* One that takes long to compile a kernel for each program and dtype. */
static void the_given_backend_has_numpys_statistics(void **state)
{
	(void)state;
	run_all(trial_open(given_backend), 1);
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest given[] = {
		cmocka_unit_test(the_given_backend_has_numpys_statistics)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_has_numpys_statistics),
		cmocka_unit_test(the_preferred_backend_has_numpys_statistics),
		/* Last: it changes the environment. */
		cmocka_unit_test(the_mock_has_numpys_statistics),
	};
	given_backend = n_arguments > 1 ? arguments[1] : NULL;
	return given_backend ? cmocka_run_group_tests(given, NULL, NULL)
			     : cmocka_run_group_tests(tests, NULL, NULL);
}
