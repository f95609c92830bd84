/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The frame of functions that factor matrices.
 */
#include "linalg/factor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tenon/linalg.h>
#include <tenon/manipulate.h>
#include <tenon/map.h>
#include <tenon/status.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "ops/index_formula.h"

/* ---- Operands --------------------------------------------------------------------------------*/

tn_status tn_matrix_check_dtype(const char *operation, const char *name, const tn_array *a)
{
	if (a->dtype != TN_F16 && a->dtype != TN_BF16)
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_DTYPE, operation, "%s: not defined for %s", name,
			       tn_dtype_name(a->dtype));
}

tn_status tn_matrix_check_shape(const char *operation, const char *name, const tn_array *a,
				int is_square)
{
	char text[TN_SHAPE_TEXT];
	if (a->rank < 2)
		return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
				       "%s: expected at least two axes, found shape %s", name,
				       tn_array_text(a, text));
	if (is_square && a->shape[a->rank - 1] != a->shape[a->rank - 2])
		return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
				       "%s: expected square matrices, found shape %s", name,
				       tn_array_text(a, text));
	return TN_OK;
}

tn_status tn_matrix_check(const char *operation, const char *name, const tn_array *a, int is_square)
{
	tn_status status = tn_matrix_check_dtype(operation, name, a);
	return status ? status : tn_matrix_check_shape(operation, name, a, is_square);
}

tn_status tn_matrix_check_order(const char *operation, const tn_array *a, uint32_t order)
{
	if (order <= TN_NORM_MINUS_INF)
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
			       "order: expected 0 to %d, found %" PRIu32, TN_NORM_MINUS_INF, order);
}

tn_dtype tn_matrix_dtype(const tn_array *a, const tn_array *b)
{
	const tn_dtype own = tn_is_inexact(a->dtype) ? a->dtype : TN_F64;
	if (!b)
		return own;
	return tn_result_type(own, tn_is_inexact(b->dtype) ? b->dtype : TN_F64);
}

const tn_array *tn_matrix_of(const tn_array *a, tn_dtype dtype)
{
	return a->dtype == dtype ? a : tn_astype(a, dtype);
}

/* ---- The arrays of a call --------------------------------------------------------------------*/

tn_status tn_factor_begin(struct tn_factor *f, const char *operation, const tn_array *a,
			  const tn_array *b)
{
	char first[TN_SHAPE_TEXT], second[TN_SHAPE_TEXT];
	memset(f, 0, sizeof(*f));
	f->runtime = a->runtime;
	f->operation = operation;
	f->device = tn_array_home(a);
	f->rank = a->rank - 2;
	memcpy(f->shape, a->shape, sizeof(f->shape));
	if (b && !tn_shape_broadcast(&f->rank, f->shape, b->rank - 2, b->shape))
		return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
				       "the batches of %s and %s do not broadcast",
				       tn_array_text(a, first), tn_array_text(b, second));
	f->batch = 1;
	for (int i = 0; i < f->rank; i++)
		f->batch *= f->shape[i];
	return TN_OK;
}

tn_array *tn_factor_matrix(struct tn_factor *f, struct tn_operand *operand, tn_dtype dtype,
			   int64_t rows, int64_t columns)
{
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, f->shape, sizeof(shape));
	shape[f->rank] = columns;
	shape[f->rank + 1] = rows;
	tn_array *turned = tn_empty(f->runtime->context, dtype, f->rank + 2, shape);
	if (!turned)
		return NULL;
	tn_operand_of(operand, turned);
	operand->rank = 3;
	memcpy(operand->shape, (const int64_t[]){f->batch, rows, columns}, 3 * sizeof(int64_t));
	memcpy(operand->strides, (const int64_t[]){rows * columns, 1, rows}, 3 * sizeof(int64_t));
	return tn_swapaxes(turned, -2, -1);
}

tn_array *tn_factor_copy(struct tn_factor *f, struct tn_operand *operand, const tn_array *a)
{
	tn_array *copy = tn_factor_matrix(f, operand, a->dtype, a->shape[a->rank - 2],
					  a->shape[a->rank - 1]);
	return copy && !tn_assign(copy, a) ? copy : NULL;
}

tn_array *tn_factor_list(struct tn_factor *f, struct tn_operand *operand, tn_dtype dtype, int64_t n)
{
	int64_t shape[TN_MAX_RANK];
	memcpy(shape, f->shape, sizeof(shape));
	shape[f->rank] = n;
	tn_array *list = tn_empty(f->runtime->context, dtype, f->rank + 1, shape);
	if (!list)
		return NULL;
	tn_operand_of(operand, list);
	operand->rank = 2;
	memcpy(operand->shape, (const int64_t[]){f->batch, n}, 2 * sizeof(int64_t));
	memcpy(operand->strides, (const int64_t[]){n, 1}, 2 * sizeof(int64_t));
	return list;
}

/* ---- The call --------------------------------------------------------------------------------*/

static tn_status fail_matrix(const struct tn_factor *f, int64_t number, int32_t info,
			     const char *failure)
{
	char name[32] = "a";
	if (f->batch > 1)
		snprintf(name, sizeof(name), "a[%" PRId64 "]", number);
	if (info < 0)
		return tn_runtime_fail(f->runtime, TN_NOT_FINITE, f->operation,
				       "%s: an element is infinite or NaN", name);
	return tn_runtime_fail(f->runtime, TN_SINGULAR, f->operation, "%s: %s (%d)", name, failure,
			       info);
}

/* The bytes count as moved for the operation, not as a run of the host. */
static tn_status read_info(const struct tn_factor *f, int32_t *info, size_t size)
{
	const uint32_t row = tn_operation_named(f->runtime, f->operation);
	tn_status status = tn_to_host(f->info, info, size);
	if (!status && !f->device->host_memory)
		tn_ledger_row_of(f->runtime->ledger, row)->bytes_moved += size;
	return status;
}

static tn_status check_info(const struct tn_factor *f, const char *failure)
{
	const size_t size = (size_t)f->batch * sizeof(int32_t);
	int32_t *info = tn_mem_alloc(size);
	if (!info)
		return tn_runtime_no_memory(f->runtime, f->operation, NULL);
	tn_status status = read_info(f, info, size);
	for (int64_t i = 0; i < f->batch && !status; i++) {
		if (info[i])
			status = fail_matrix(f, i, info[i], failure);
	}
	tn_mem_free(info);
	return status;
}

tn_status tn_factor_run(struct tn_factor *f, enum tn_slot slot, const char *failure)
{
	struct tn_route route = {.runtime = f->runtime,
				 .device = f->device,
				 .operation = tn_operation_named(f->runtime, f->operation),
				 .slot = slot,
				 .call = &f->args.call};
	const struct tn_operand *a = &f->args.a;
	if (f->runtime->error.status)
		return f->runtime->error.status;
	if (!f->batch || !a->shape[1] || !a->shape[2])
		return TN_OK;
	if (slot != TN_SLOT_QR) {
		f->info = tn_factor_list(f, &f->args.info, TN_I32, 1);
		if (!f->info)
			return tn_runtime_status(f->runtime);
		f->args.info.rank = 1;
	}
	f->args.call.struct_size = sizeof(f->args);
	tn_status status = tn_end_into(f->runtime, tn_route_run(&route));
	return status || !failure ? status : check_info(f, failure);
}

/* ---- Recording -------------------------------------------------------------------------------*/

tn_status tn_factor_record(struct tn_suspension suspension, tn_status status, uint32_t n,
			   tn_array *const *outputs, const struct tn_node_request *request)
{
	struct tn_error_info error;
	if (!suspension.runtime)
		return TN_PENDING_ERROR;
	tn_tape_resume(suspension, NULL, NULL);
	if (status || !suspension.recorder)
		return status;
	status = tn_tape_add_node(suspension.recorder->user, n, outputs, request, &error);
	return status ? tn_runtime_keep(suspension.runtime, &error) : TN_OK;
}

tn_status tn_factor_untracked(const char *operation, uint32_t n, const tn_array *const *arrays)
{
	struct tn_runtime *runtime = arrays[0]->runtime;
	if (!tn_wants_record(runtime, n, arrays))
		return TN_OK;
	return tn_runtime_fail(runtime, TN_STATE, operation,
			       "a tape is recording and an array has a gradient, which %s does not "
			       "have",
			       operation);
}

/* ---- Results ---------------------------------------------------------------------------------*/

tn_status tn_results_begin(const char *operation, uint32_t n_inputs, const tn_array *const *inputs,
			   int n, const char *const *names, tn_array **const *outputs)
{
	struct tn_runtime *runtime = tn_begin(n_inputs, inputs, operation);
	tn_status status = runtime ? TN_OK : TN_PENDING_ERROR;
	for (int i = 0; i < n; i++) {
		if (outputs[i])
			*outputs[i] = NULL;
		else if (names[i] && !status)
			status = tn_runtime_null(runtime, operation, names[i]);
	}
	return status ? status : tn_scope_begin(runtime->context);
}

tn_status tn_results_end(struct tn_runtime *runtime, tn_status status, int n, tn_array **results,
			 tn_array **const *outputs)
{
	for (int i = 0; i < n; i++)
		results[i] = outputs[i] ? results[i] : NULL;
	status = tn_scope_end_all(runtime->context, status, n, results);
	for (int i = 0; i < n; i++) {
		if (outputs[i])
			*outputs[i] = results[i];
	}
	return status;
}

/* ---- Compositions ----------------------------------------------------------------------------*/

tn_array *tn_identity_like(const tn_array *a)
{
	static const struct tn_formula diagonal = {.text = "z = index(0) == index(1)"};
	if (!a)
		return NULL;
	const int64_t n = a->shape[a->rank - 1], shape[] = {n, n};
	return tn_index_formula_make(tn_array_home(a), "identity", a->dtype, 2, shape, &diagonal,
				     NULL);
}

tn_array *tn_adjoint(const tn_array *a)
{
	tn_array *turned = tn_swapaxes(a, -2, -1);
	return turned && tn_is_complex(turned->dtype) ? tn_conj(turned) : turned;
}

tn_array *tn_hermitian_part(const tn_array *a)
{
	return tn_affine(tn_add(a, tn_adjoint(a)), 0.5, 0);
}

tn_array *tn_scale_columns(const tn_array *a, const tn_array *d)
{
	return tn_multiply(a, tn_expand_dims(d, -2));
}

tn_array *tn_sum_of(tn_array *a, tn_array *b)
{
	return a && b ? tn_add(a, b) : a ? a : b;
}

tn_array *tn_inverse_gaps(const char *text, const tn_array *w)
{
	const char *const names[] = {"from", "to"};
	const tn_array *both[] = {tn_expand_dims(w, -1), tn_expand_dims(w, -2)};
	char formula[128];
	if (!both[0] || !both[1])
		return NULL;
	snprintf(formula, sizeof(formula),
		 "f = index(%d) == index(%d) ? 0 : 1 / (index(%d) == index(%d) ? 1 : %s)", w->rank,
		 w->rank - 1, w->rank, w->rank - 1, text);
	return tn_map(formula, 2, names, both, 0, NULL, NULL);
}
