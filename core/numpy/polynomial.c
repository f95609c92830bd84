/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arithmetic, derivatives and integrals of polynomials.
 */
#include <tenon/polynomial.h>

#include <inttypes.h>
#include <tenon/manipulate.h>
#include <tenon/signal.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "numpy/polynomial.h"
#include "ops/copy.h"

tn_status tn_polynomial_check(const char *operation, const char *name, const tn_array *p,
			      int may_be_empty)
{
	char text[TN_SHAPE_TEXT];
	if (p->rank == 1 && (p->size || may_be_empty))
		return TN_OK;
	return tn_runtime_fail(p->runtime, TN_SHAPE, operation,
			       "%s: expected a line of coefficients, found shape %s", name,
			       tn_array_text(p, text));
}

/* Opens a scope, which the caller ends if this succeeds. */
static tn_status begin_two(const char *operation, const tn_array *a, const tn_array *b,
			   int may_be_empty)
{
	const tn_array *both[] = {a, b};
	struct tn_runtime *runtime = tn_begin(2, both, operation);
	if (!runtime || tn_polynomial_check(operation, "a", a, may_be_empty) ||
	    tn_polynomial_check(operation, "b", b, may_be_empty))
		return TN_PENDING_ERROR;
	return tn_scope_begin(runtime->context);
}

/* Coefficient k without its axis. */
static tn_array *coefficient(const tn_array *p, int64_t k)
{
	return tn_squeeze(tn_slice(p, 0, k, k + 1, 1), 0);
}

tn_array *tn_polyval(const tn_array *p, const tn_array *x)
{
	const tn_array *both[] = {p, x};
	struct tn_runtime *runtime = tn_begin(2, both, "polyval");
	if (!runtime || tn_polynomial_check("polyval", "p", p, 1) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	const tn_dtype dtype = tn_result_type(p->dtype, x->dtype);
	tn_array *y =
		p->size ? tn_astype(tn_broadcast_to(coefficient(p, 0), x->rank, x->shape), dtype)
			: tn_zeros_like(x, dtype);
	for (int64_t k = 1; k < p->size && y; k++)
		y = tn_add(tn_multiply(y, x), coefficient(p, k));
	return tn_scope_end(runtime->context, y);
}

/* ---- Arithmetic ------------------------------------------------------------------------------*/

/* With zeros before it, up to a length. */
static const tn_array *extended(const tn_array *p, int64_t length)
{
	const int64_t widths[] = {length - p->size, 0};
	return widths[0] > 0 ? tn_pad(p, widths, TN_PAD_CONSTANT, NULL) : p;
}

static tn_array *combined(const char *operation, const tn_array *a, const tn_array *b,
			  tn_array *(*combine)(const tn_array *a, const tn_array *b))
{
	if (begin_two(operation, a, b, 1))
		return NULL;
	const int64_t length = a->size > b->size ? a->size : b->size;
	return tn_scope_end(tn_array_context(a), combine(extended(a, length), extended(b, length)));
}

tn_array *tn_polyadd(const tn_array *a, const tn_array *b)
{
	return combined("polyadd", a, b, tn_add);
}

tn_array *tn_polysub(const tn_array *a, const tn_array *b)
{
	return combined("polysub", a, b, tn_subtract);
}

tn_array *tn_polymul(const tn_array *a, const tn_array *b)
{
	if (begin_two("polymul", a, b, 0))
		return NULL;
	return tn_scope_end(tn_array_context(a), tn_convolve(a, b, TN_CONVOLVE_FULL));
}

/* What is left of `a`, one coefficient shorter, without q times the others of b. */
static tn_array *reduced(const tn_array *a, const tn_array *q, const tn_array *b)
{
	const int64_t n = a->size, m = b->size, widths[] = {0, n - m};
	tn_array *rest = tn_slice(a, 0, 1, n, 1);
	tn_array *part = tn_multiply(tn_slice(b, 0, 1, m, 1), q);
	return tn_subtract(rest, n > m ? tn_pad(part, widths, TN_PAD_CONSTANT, NULL) : part);
}

/* Long division.  *left becomes the remainder. */
static tn_array *divide(const tn_array *a, const tn_array *b, tn_array **left)
{
	const int64_t n_steps = a->size - b->size + 1;
	const tn_array *leading = tn_slice(b, 0, 0, 1, 1);
	tn_array *rest = tn_copy(a), *quotient = NULL;
	if (n_steps < 1)
		quotient = tn_multiply(tn_zeros_like(leading, 0), leading);
	for (int64_t i = 0; i < n_steps && rest; i++) {
		tn_array *q = tn_divide(tn_slice(rest, 0, 0, 1, 1), leading);
		const tn_array *both[] = {quotient, q};
		quotient = i ? tn_concatenate(2, both, 0) : q;
		rest = quotient ? reduced(rest, q, b) : NULL;
	}
	*left = rest && !rest->size ? tn_zeros_like(leading, 0) : rest;
	return quotient;
}

tn_array *tn_polydiv(const tn_array *a, const tn_array *b, tn_array **remainder)
{
	if (remainder)
		*remainder = NULL;
	if (begin_two("polydiv", a, b, 0))
		return NULL;
	tn_dtype dtype = tn_result_type(a->dtype, b->dtype);
	dtype = tn_is_inexact(dtype) ? dtype : TN_F64;
	const tn_array *x = tn_astype(a, dtype), *y = tn_astype(b, dtype);
	tn_array *results[2] = {NULL};
	if (x && y)
		results[0] = divide(x, y, &results[1]);
	tn_scope_end_all(tn_array_context(a), TN_OK, remainder ? 2 : 1, results);
	if (remainder)
		*remainder = results[1];
	return results[0];
}

/* ---- Derivatives and integrals ---------------------------------------------------------------*/

static tn_status check_times(const char *operation, const tn_array *p, int m)
{
	tn_status status = tn_polynomial_check(operation, "p", p, 1);
	if (!status && m < 0)
		status = tn_runtime_fail(p->runtime, TN_INVALID_ARGUMENT, operation,
					 "m: expected 0 or more, found %d", m);
	return status;
}

/* first, first - 1, ..., 1, on the device of p. */
static tn_array *powers(const tn_array *p, tn_dtype dtype, int64_t first)
{
	tn_array *ones = tn_array_filled(p, dtype, 1, &first, 1);
	const int axis = 0;
	tn_array *rising = tn_cumsum(ones, axis); /* of integers i64 or u64 */
	return tn_flip(tn_astype(rising, dtype), 1, &axis);
}

static tn_array *derivative(const tn_array *p)
{
	const int64_t n = p->size > 0 ? p->size - 1 : 0;
	return tn_multiply(tn_slice(p, 0, 0, n, 1), powers(p, p->dtype, n));
}

tn_array *tn_polyder(const tn_array *p, int m)
{
	struct tn_runtime *runtime = tn_begin(1, &p, "polyder");
	if (!runtime || check_times("polyder", p, m) || tn_scope_begin(runtime->context))
		return NULL;
	/* Truth values have no multiples. */
	const tn_array *x = p->dtype == TN_BOOL ? tn_astype(p, TN_I8) : p;
	tn_array *result = m ? derivative(x) : tn_copy(p);
	for (int i = 1; i < m && result && result->size; i++)
		result = derivative(result);
	return tn_scope_end(runtime->context, result);
}

static tn_array *integral(const tn_array *p, const tn_array *constant)
{
	const tn_array *both[] = {tn_divide(p, powers(p, p->dtype, p->size)),
				  constant ? constant : tn_zeros_like(tn_slice(p, 0, 0, 1, 1), 0)};
	const int64_t one = 1;
	if (!p->size)
		both[1] = constant ? constant : tn_array_filled(p, p->dtype, 1, &one, 0);
	return tn_concatenate(2, both, 0);
}

static tn_status check_constants(const tn_array *p, int m, const tn_array *k)
{
	char text[TN_SHAPE_TEXT];
	if (!k || (k->rank == 1 && (k->size == 1 || k->size == m)))
		return TN_OK;
	return tn_runtime_fail(p->runtime, TN_SHAPE, "polyint",
			       "k: expected a line of 1 or m = %d numbers, found shape %s", m,
			       tn_array_text(k, text));
}

tn_array *tn_polyint(const tn_array *p, int m, const tn_array *k)
{
	const tn_array *both[] = {p, k ? k : p};
	struct tn_runtime *runtime = tn_begin(2, both, "polyint");
	if (!runtime || check_times("polyint", p, m) || check_constants(p, m, k) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	tn_dtype dtype = tn_is_inexact(p->dtype) ? p->dtype : TN_F64;
	dtype = k ? tn_result_type(dtype, k->dtype) : dtype;
	const tn_array *x = p->dtype == dtype ? p : tn_astype(p, dtype);
	tn_array *result = m ? NULL : tn_copy(p);
	for (int i = 0; i < m && x; i++) {
		const int64_t at = k && k->size > 1 ? i : 0;
		result = integral(x, k ? tn_slice(k, 0, at, at + 1, 1) : NULL);
		x = result;
	}
	return tn_scope_end(runtime->context, result);
}

tn_array *tn_poly(const tn_array *zeros)
{
	static const int64_t one = 1, after[] = {0, 1}, before[] = {1, 0};
	struct tn_runtime *runtime = tn_begin(1, &zeros, "poly");
	if (!runtime || tn_polynomial_check("poly", "zeros", zeros, 1) ||
	    tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *z = zeros->dtype == TN_BOOL ? tn_astype(zeros, TN_I8) : zeros;
	tn_array *p = z ? tn_array_filled(z, z->dtype, 1, &one, 1) : NULL;
	for (int64_t i = 0; i < zeros->size && p; i++)
		p = tn_subtract(
			tn_pad(p, after, TN_PAD_CONSTANT, NULL),
			tn_multiply(tn_pad(p, before, TN_PAD_CONSTANT, NULL), coefficient(z, i)));
	return tn_scope_end(runtime->context, p);
}
