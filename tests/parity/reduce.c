/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions with options, and without NaN, against recorded NumPy results.
 */
#include "parity/numpy_calls.h"

static tn_array *reduce(struct call *c)
{
	const struct tn_reduce_options options = {
		.struct_size = sizeof(options),
		.keepdims = c->keepdims,
		.where = c->y,
		.initial = setting(c, "initial") ? tn_number_f64(c->numbers[0]) : (tn_number){0},
		.dtype = (tn_dtype)setting(c, "as"),
		.correction = c->numbers[1]};
	return tn_reduce(c->x, (uint32_t)setting(c, "kind"), c->n, c->axes, &options);
}
static tn_array *nancumsum(struct call *c)
{
	return tn_nancumsum(c->x, (int)setting(c, "axis"));
}
static tn_array *nancumprod(struct call *c)
{
	return tn_nancumprod(c->x, (int)setting(c, "axis"));
}
static tn_array *cumulative_sum(struct call *c)
{
	return tn_cumulative_sum(c->x, (int)setting(c, "axis"), (tn_dtype)setting(c, "as"),
				 (int)setting(c, "initial"));
}
static tn_array *cumulative_prod(struct call *c)
{
	return tn_cumulative_prod(c->x, (int)setting(c, "axis"), (tn_dtype)setting(c, "as"),
				  (int)setting(c, "initial"));
}
static tn_array *logcumsumexp(struct call *c)
{
	return tn_logcumsumexp(c->x, (int)setting(c, "axis"));
}
static tn_array *nanquantile(struct call *c)
{
	return tn_nanquantile(c->x, c->numbers[0], (uint32_t)setting(c, "method"), c->n, c->axes,
			      c->keepdims);
}
static tn_array *nanpercentile(struct call *c)
{
	return tn_nanpercentile(c->x, c->numbers[0], (uint32_t)setting(c, "method"), c->n, c->axes,
				c->keepdims);
}
static tn_array *nanquantiles(struct call *c)
{
	return tn_nanquantiles(c->x, (int64_t)c->n_numbers, c->numbers,
			       (uint32_t)setting(c, "method"), c->n, c->axes, c->keepdims);
}
static tn_array *nanpercentiles(struct call *c)
{
	return tn_nanpercentiles(c->x, (int64_t)c->n_numbers, c->numbers,
				 (uint32_t)setting(c, "method"), c->n, c->axes, c->keepdims);
}

static const struct call_row rows[] = {
	{"reduce", NULL, reduce},
	{"nancumsum", NULL, nancumsum},
	{"nancumprod", NULL, nancumprod},
	{"cumulative_sum", NULL, cumulative_sum},
	{"cumulative_prod", NULL, cumulative_prod},
	{"logcumsumexp", NULL, logcumsumexp},
	{"nanmedian", tn_nanmedian, NULL},
	{"nanquantile", NULL, nanquantile},
	{"nanpercentile", NULL, nanpercentile},
	{"nanquantiles", NULL, nanquantiles},
	{"nanpercentiles", NULL, nanpercentiles},
};
static const struct call_rows all = {"reduce.txt", 648, sizeof(rows) / sizeof(rows[0]), rows};

static void the_reference_has_numpys_reductions(void **state)
{
	(void)state;
	run_calls(trial_open("reference!"), &all, 0);
}

static void the_preferred_backend_has_numpys_reductions(void **state)
{
	(void)state;
	run_calls(trial_open(NULL), &all, 0);
}

static void the_mock_has_numpys_reductions(void **state)
{
	(void)state;
	run_calls(open_mock(""), &all, 0);
}

static const char *given_backend;

/* One that takes long to compile a kernel for each program and dtype. */
static void the_given_backend_has_numpys_reductions(void **state)
{
	(void)state;
	run_calls(trial_open(given_backend), &all, 1);
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest given[] = {
		cmocka_unit_test(the_given_backend_has_numpys_reductions)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_has_numpys_reductions),
		cmocka_unit_test(the_preferred_backend_has_numpys_reductions),
		/* Last: it changes the environment. */
		cmocka_unit_test(the_mock_has_numpys_reductions),
	};
	given_backend = n_arguments > 1 ? arguments[1] : NULL;
	return given_backend ? cmocka_run_group_tests(given, NULL, NULL)
			     : cmocka_run_group_tests(tests, NULL, NULL);
}
