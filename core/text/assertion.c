/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Assertions.  The rules are those of numpy.testing (assert_array_compare): NaN and infinities are
 * compared by their places first, and the other elements then.
 */
#include "text/assertion.h"

#include <inttypes.h>
#include <math.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "ops/tolerance.h"
#include "text/assertion_text.h"
#include "text/number_format.h"

/* ---- Places ----------------------------------------------------------------------------------*/

static int part_is(const struct tn_elements *elements, size_t i, int (*is)(double))
{
	if (!tn_is_inexact(elements->dtype))
		return 0;
	return is(tn_element_part(elements, i, 0)) ||
	       (tn_is_complex(elements->dtype) && is(tn_element_part(elements, i, 1)));
}

static int is_nan(double value)
{
	return isnan(value) != 0;
}

static int is_infinite(double value)
{
	return isinf(value) != 0;
}

static int has(const struct tn_assertion *a, int k, int64_t i, int (*is)(double))
{
	return part_is(&a->elements[k], tn_assertion_place(a, k, i), is);
}

/* Is element i, of both arrays, one that is compared by its place? */
static int is_placed(const struct tn_assertion *a, int64_t i)
{
	return (!a->options.distinct_nan && has(a, 0, i, is_nan)) ||
	       (a->compares_infinities && has(a, 0, i, is_infinite));
}

static int same_parts(const struct tn_assertion *a, int64_t i)
{
	const size_t x = tn_assertion_place(a, 0, i), y = tn_assertion_place(a, 1, i);
	for (int part = 0; part < 2; part++) {
		const int in_x = !part || tn_is_complex(a->elements[0].dtype);
		const int in_y = !part || tn_is_complex(a->elements[1].dtype);
		if ((in_x ? tn_element_part(&a->elements[0], x, part) : 0) !=
		    (in_y ? tn_element_part(&a->elements[1], y, part) : 0))
			return 0;
	}
	return 1;
}

/* What is wrong with the places of NaN and infinities; NULL: nothing. */
static const char *wrong_places(const struct tn_assertion *a)
{
	for (int64_t i = 0; !a->options.distinct_nan && i < a->n; i++) {
		if (has(a, 0, i, is_nan) != has(a, 1, i, is_nan))
			return "nan location mismatch:";
	}
	if (!a->compares_infinities)
		return NULL;
	for (int64_t i = 0; i < a->n; i++) {
		const int skip = !a->options.distinct_nan && has(a, 0, i, is_nan);
		if (!skip && has(a, 0, i, is_infinite) != has(a, 1, i, is_infinite))
			return "inf location mismatch:";
	}
	for (int64_t i = 0; i < a->n; i++) {
		const int skip = !a->options.distinct_nan && has(a, 0, i, is_nan);
		if (!skip && has(a, 0, i, is_infinite) && !same_parts(a, i))
			return "inf values mismatch:";
	}
	return NULL;
}

/* ---- Elements --------------------------------------------------------------------------------*/

/* Lists the elements for which `right`, a bool of the broadcast shape, is 0. */
static tn_status list_wrong(struct tn_assertion *a, const tn_array *right)
{
	struct tn_host_elements host;
	if (!right)
		return a->runtime->error.status;
	const tn_status status = tn_host_elements_fetch(right, a->operation, &host);
	if (status)
		return status;
	a->wrong = tn_mem_zeroed((size_t)a->n + 1, sizeof(*a->wrong));
	for (int64_t i = 0; a->wrong && i < a->n; i++) {
		if (!((const unsigned char *)host.data)[i] && !is_placed(a, i))
			a->wrong[a->n_wrong++] = i;
	}
	tn_host_elements_release(&host);
	if (a->wrong)
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_OUT_OF_MEMORY, a->operation,
			       "no host memory for the places of %" PRId64 " elements", a->n);
}

static tn_status fetch(struct tn_assertion *a)
{
	for (int k = 0; k < 2; k++) {
		const tn_array *array = a->array[k];
		const tn_status status = tn_host_elements_fetch(array, a->operation, &a->host[k]);
		if (status)
			return status;
		a->elements[k] = (struct tn_elements){.dtype = array->dtype,
						      .rank = array->rank,
						      .n = (size_t)array->size,
						      .data = a->host[k].data};
	}
	a->n = a->array[0]->rank ? a->array[0]->size : a->array[1]->size;
	return TN_OK;
}

/* TN_NOT_EQUAL with the text, or the error of making it. */
static tn_status differ(struct tn_assertion *a, char *made, char **text)
{
	*text = made;
	return made ? TN_NOT_EQUAL : a->runtime->error.status;
}

typedef tn_array *compare_fn(const struct tn_assertion *a, const double *tolerances);

static tn_status compare_elements(struct tn_assertion *a, compare_fn *compare,
				  const double *tolerances, char **text)
{
	tn_status status = fetch(a);
	if (status)
		return status;
	const char *reason = wrong_places(a);
	if (reason)
		return differ(a, tn_assertion_text_of_whole(a, reason), text);
	status = list_wrong(a, compare(a, tolerances));
	if (status || !a->n_wrong)
		return status;
	return differ(a, tn_assertion_text_of_elements(a), text);
}

static tn_status compare_arrays(struct tn_assertion *a, compare_fn *compare,
				const double *tolerances, char **text)
{
	const tn_array *x = a->array[0], *y = a->array[1];
	const int is_same = tn_shape_equal(x->rank, x->shape, y->rank, y->shape);
	if (!is_same && (a->options.strict || (x->rank && y->rank)))
		return differ(a, tn_assertion_text_of_shapes(a), text);
	if (a->options.strict && x->dtype != y->dtype)
		return differ(a, tn_assertion_text_of_dtypes(a), text);
	return compare_elements(a, compare, tolerances, text);
}

static void release(struct tn_assertion *a)
{
	for (int k = 0; k < 2; k++)
		tn_host_elements_release(&a->host[k]);
	tn_mem_free(a->wrong);
	tn_text_release(&a->header);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static tn_status take_options(struct tn_assertion *a, const struct tn_assert_options *options)
{
	struct tn_assert_options *o = &a->options;
	*o = tn_assert_defaults();
	const tn_status status = tn_runtime_take(a->runtime, o, sizeof(*o), options,
						 "struct tn_assert_options", a->operation);
	if (status)
		return status;
	if (o->strict > 1 || o->distinct_nan > 1)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, a->operation,
				       "%s: expected 0 or 1, found %" PRIu32,
				       o->strict > 1 ? "strict" : "distinct_nan",
				       o->strict > 1 ? o->strict : o->distinct_nan);
	if (o->precision > TN_PRINT_MAX_PRECISION)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, a->operation,
				       "precision: expected at most %d, found %" PRIu32,
				       TN_PRINT_MAX_PRECISION, o->precision);
	return TN_OK;
}

/* Checks the call; *text becomes NULL. */
static tn_status begin(struct tn_assertion *a, const tn_array *x, const tn_array *y,
		       const struct tn_assert_options *options, char **text)
{
	const tn_array *both[] = {x, y};
	if (text)
		*text = NULL;
	const tn_status status = tn_begin_into(2, both, a->operation);
	if (status)
		return status;
	a->runtime = x->runtime;
	a->array[0] = x;
	a->array[1] = y;
	tn_text_init(&a->header);
	if (!text)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, a->operation,
				       "text is NULL");
	return take_options(a, options);
}

/* Compares within a scope of arrays that no tape records. */
static tn_status run(struct tn_assertion *a, compare_fn *compare, const double *tolerances,
		     char **text)
{
	tn_status status = tn_scope_begin(a->runtime->context);
	if (status) {
		release(a);
		return status;
	}
	for (int k = 0; k < 2; k++) {
		a->array[k] = tn_array_untracked(a->operation, a->array[k]);
		if (!a->array[k])
			status = a->runtime->error.status;
	}
	if (!status)
		status = compare_arrays(a, compare, tolerances, text);
	release(a);
	tn_scope_end(a->runtime->context, NULL);
	return status;
}

static tn_array *compare_close(const struct tn_assertion *a, const double *tolerances)
{
	return tn_isclose(a->array[0], a->array[1], tolerances[0], tolerances[1], 0);
}

static tn_array *compare_equal(const struct tn_assertion *a, const double *tolerances)
{
	(void)tolerances;
	return tn_equal(a->array[0], a->array[1]);
}

static tn_array *compare_less(const struct tn_assertion *a, const double *tolerances)
{
	(void)tolerances;
	return tn_less(a->array[0], a->array[1]);
}

/* PyTorch's tolerances, {rtol, atol}. */
static const double *tolerances_of(tn_dtype dtype)
{
	static const double none[2] = {0, 0}, f16[2] = {1e-3, 1e-5}, bf16[2] = {1.6e-2, 1e-5},
			    f32[2] = {1.3e-6, 1e-5}, f64[2] = {1e-7, 1e-7};
	switch (dtype) {
	case TN_F16:
		return f16;
	case TN_BF16:
		return bf16;
	case TN_F32:
	case TN_C64:
		return f32;
	case TN_F64:
	case TN_C128:
		return f64;
	default:
		return none;
	}
}

/* Replaces TN_DTYPE_TOLERANCE, and checks. */
static tn_status set_tolerance(const struct tn_assertion *a, const char *name, int which,
			       double *tolerance)
{
	const double x = tolerances_of(a->array[0]->dtype)[which];
	const double y = tolerances_of(a->array[1]->dtype)[which];
	if (*tolerance == TN_DTYPE_TOLERANCE)
		*tolerance = x > y ? x : y;
	return tn_tolerance_check(a->runtime, a->operation, name, *tolerance);
}

static void put_tolerances(struct tn_text *header, const double *tolerances)
{
	const struct tn_number_format general = {.precision = -1, .conversion = 'g'};
	tn_text_add(header, "Not equal to tolerance rtol=");
	tn_number_put(header, &general, tolerances[0]);
	tn_text_add(header, ", atol=");
	tn_number_put(header, &general, tolerances[1]);
}

tn_status tn_assert_allclose(const tn_array *actual, const tn_array *desired, double rtol,
			     double atol, const struct tn_assert_options *options, char **text)
{
	struct tn_assertion a = {.operation = "assert_allclose",
				 .name = {"ACTUAL", "DESIRED"},
				 .compares_infinities = 1};
	double tolerances[] = {rtol, atol};
	tn_status status = begin(&a, actual, desired, options, text);
	if (status || (status = set_tolerance(&a, "rtol", 0, &tolerances[0])) ||
	    (status = set_tolerance(&a, "atol", 1, &tolerances[1])))
		return status;
	put_tolerances(&a.header, tolerances);
	return run(&a, compare_close, tolerances, text);
}

tn_status tn_assert_array_equal(const tn_array *actual, const tn_array *desired,
				const struct tn_assert_options *options, char **text)
{
	struct tn_assertion a = {.operation = "assert_array_equal",
				 .name = {"ACTUAL", "DESIRED"},
				 .compares_infinities = 1};
	const tn_status status = begin(&a, actual, desired, options, text);
	if (status)
		return status;
	tn_text_add(&a.header, "Arrays are not equal");
	return run(&a, compare_equal, NULL, text);
}

tn_status tn_assert_array_less(const tn_array *x, const tn_array *y,
			       const struct tn_assert_options *options, char **text)
{
	struct tn_assertion a = {.operation = "assert_array_less", .name = {"x", "y"}};
	const tn_status status = begin(&a, x, y, options, text);
	if (status)
		return status;
	tn_text_add(&a.header, "Arrays are not strictly ordered `x < y`");
	return run(&a, compare_less, NULL, text);
}
