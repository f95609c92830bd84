/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Turns even reflections into odd ones.  Each period is the one before, reflected and moved by the
 * difference of the edges, so that an element in the k-th has been reflected k times and moved k
 * times.
 */
#include "numpy/pad_odd.h"

#include "base/dtype.h"
#include "ops/formula.h"
#include "ops/index_formula.h"

/* The number of the period for each place along the axis, 0 for those of a; i64. */
static tn_array *periods(const tn_array *even, int axis, int64_t before, int64_t period)
{
	static const struct tn_formula number = {
		.text = "place = index(0) - before; rest = place % period\n"
			"within = rest < 0 ? rest + period : rest; z = (place - within) / period",
		.scalars = "before period",
		.scalar_dtype = TN_I64};
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < even->rank; i++)
		shape[i] = i == axis ? even->shape[i] : 1;
	const double scalars[] = {(double)before, (double)period};
	return tn_reshape(tn_index_formula_make(tn_array_home(even), "pad", TN_I64, 1, &shape[axis],
						&number, scalars),
			  even->rank, shape);
}

/* Real elements, in the dtype in which they are computed. */
static tn_array *turned(const tn_array *even, const tn_array *number, const tn_array *first,
			const tn_array *last)
{
	static const struct tn_formula turn = {
		.text = "z = period == 0 ? x : (period % 2 == 0 ? x : first + last - x)"
			" + period * (last - first)",
		.inputs = "x period first last"};
	if (!even || !first || !last)
		return NULL;
	const tn_dtype own = even->dtype;
	const tn_dtype dtype = !tn_is_floating(own) ? TN_I64 : tn_is_narrow(own) ? TN_F32 : own;
	const tn_array *inputs[] = {even, number, first, last};
	for (int i = 0; i < 4; i++)
		inputs[i] = tn_array_dtype(inputs[i]) == dtype ? inputs[i]
							       : tn_astype(inputs[i], dtype);
	tn_array *result = tn_formula_operation("pad", &turn, dtype, inputs, NULL);
	return dtype == own ? result : tn_astype(result, own);
}

tn_array *tn_pad_odd(const tn_array *a, const tn_array *even, int axis, int64_t before,
		     int64_t period)
{
	if (!a || !even || tn_scope_begin(a->runtime->context))
		return NULL;
	const int64_t length = a->shape[axis];
	const tn_array *number = periods(even, axis, before, period);
	const tn_array *first = tn_slice(a, axis, 0, 1, 1);
	const tn_array *last = tn_slice(a, axis, length - 1, length, 1);
	tn_array *odd;
	if (tn_is_complex(a->dtype))
		odd = tn_complex(turned(tn_real(even), number, tn_real(first), tn_real(last)),
				 turned(tn_imag(even), number, tn_imag(first), tn_imag(last)));
	else
		odd = turned(even, number, first, last);
	return tn_scope_end(a->runtime->context, odd);
}
