/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution and correlation of lines: windows of the longer line times the shorter one.
 */
#include <tenon/signal.h>

#include <tenon/manipulate.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"

static tn_status begin(const char *operation, const tn_array *a, const tn_array *v, uint32_t mode)
{
	const tn_array *both[] = {a, v};
	char first[TN_SHAPE_TEXT], second[TN_SHAPE_TEXT];
	struct tn_runtime *runtime = tn_begin(2, both, operation);
	if (!runtime)
		return TN_PENDING_ERROR;
	if (a->rank != 1 || v->rank != 1 || !a->size || !v->size)
		return tn_runtime_fail(runtime, TN_SHAPE, operation,
				       "a and v: expected lines with elements, found shapes %s "
				       "and %s",
				       tn_array_text(a, first), tn_array_text(v, second));
	if (mode > TN_CONVOLVE_VALID)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "mode: expected 0 to %d, found %u", TN_CONVOLVE_VALID, mode);
	return tn_scope_begin(runtime->context);
}

static tn_array *reversed(const tn_array *a)
{
	const int axis = 0;
	return tn_flip(a, 1, &axis);
}

/* sum a[k + i] v[i], v being no longer than a; at the ends of `a` as if zeros followed. */
static tn_array *slide(const tn_array *a, const tn_array *v, uint32_t mode)
{
	if (!a || !v)
		return NULL;
	const int64_t m = v->size;
	const int axis = 0;
	int64_t widths[2] = {m - 1, m - 1};
	if (mode == TN_CONVOLVE_SAME) {
		widths[0] = m / 2;
		widths[1] = m - 1 - m / 2;
	}
	if (mode != TN_CONVOLVE_VALID && m > 1)
		a = tn_pad(a, widths, TN_PAD_CONSTANT, NULL);
	return tn_matmul(tn_sliding_window_view(a, 1, &m, &axis), v);
}

tn_array *tn_convolve(const tn_array *a, const tn_array *v, uint32_t mode)
{
	if (begin("convolve", a, v, mode))
		return NULL;
	const int swap = v->size > a->size;
	tn_array *result = slide(swap ? v : a, reversed(swap ? a : v), mode);
	return tn_scope_end(tn_array_context(a), result);
}

tn_array *tn_correlate(const tn_array *a, const tn_array *v, uint32_t mode)
{
	if (begin("correlate", a, v, mode))
		return NULL;
	const tn_array *w = tn_is_complex(v->dtype) ? tn_conj(v) : v;
	tn_array *result = v->size > a->size ? reversed(slide(w, a, mode)) : slide(a, w, mode);
	return tn_scope_end(tn_array_context(a), result);
}
