/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of complex matrices, as four real ones on compact copies of the parts:
 *     Re C := alpha (Re A Re B - Im A Im B) + beta Re C
 *     Im C := alpha (Re A Im B + Im A Re B) + beta Im C
 */
#include "ops/complex_matmul.h"

#include "array/make.h"
#include "dispatch/ledger.h"
#include "dispatch/operations.h"
#include "ops/complex_parts.h"
#include "ops/copy.h"

/* A compact copy of each part, in the innermost scope; uninitialised unless `reads`. */
static tn_status take_parts(struct tn_runtime *runtime, const tn_array *array, int reads,
			    tn_array *parts[2])
{
	for (int i = 0; i < 2; i++) {
		tn_array *view = tn_complex_part_view(array, i);
		parts[i] = view ? tn_array_make(runtime, tn_array_home(array), view->dtype,
						view->rank, view->shape)
				: NULL;
		if (!parts[i] || (reads && tn_copy_run(runtime, TN_DO_COPY, parts[i], view)))
			return runtime->report.status;
	}
	return TN_OK;
}

tn_status tn_complex_matmul(struct tn_runtime *runtime, const struct tn_matmul_run *run)
{
	/* C's part, then A's and B's, and the sign. */
	static const struct {
		int c, a, b, sign;
	} products[] = {{0, 0, 0, 1}, {0, 1, 1, -1}, {1, 0, 1, 1}, {1, 1, 0, 1}};
	const char *name = tn_ledger_row_of(runtime->ledger, run->operation)->operation;
	tn_array *a[2], *b[2], *c[2];
	if (run->bias || run->activation)
		return tn_fail(&runtime->report, TN_DTYPE, name,
			       "a product with bias or activation takes real types, found %s",
			       tn_dtype_name(run->c->dtype));
	tn_status status = tn_scope_begin(runtime->context);
	if (status)
		return status;
	status = take_parts(runtime, run->a, 1, a);
	if (!status)
		status = take_parts(runtime, run->b, 1, b);
	if (!status)
		status = take_parts(runtime, run->c, run->beta != 0, c);
	for (int i = 0; i < 4 && !status; i++) {
		struct tn_matmul_run real = *run;
		real.a = a[products[i].a];
		real.b = b[products[i].b];
		real.c = c[products[i].c];
		real.alpha = products[i].sign * run->alpha;
		real.beta = i % 2 ? 1 : run->beta;
		status = tn_matmul_real(runtime, &real);
	}
	for (int i = 0; i < 2 && !status; i++) {
		tn_array *view = tn_complex_part_view(run->c, i);
		status = view ? tn_copy_run(runtime, TN_DO_COPY, view, c[i])
			      : runtime->report.status;
	}
	tn_scope_end(runtime->context, NULL);
	return status;
}
