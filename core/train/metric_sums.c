/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes, adds to, reads, merges and restores the sums of a metric's pass.
 */
#include "train/metric_sums.h"

#include <math.h>

#include "array/make.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "dispatch/ledger.h"
#include "distributed/agree.h"
#include "ops/map.h"

static const char operation[] = "metric";

static int is_made(const struct tn_metric_sums *sums)
{
	return sums->arrays[0] != NULL;
}

static int form_is_known(const struct tn_metric_sums *sums)
{
	const struct tn_metric_kind *kind = sums->kind;
	for (uint32_t i = 0; i < kind->n_arrays; i++) {
		if ((kind->arrays[i].rank && !sums->form->width) ||
		    (kind->arrays[i].is_float && !sums->form->dtype))
			return 0;
	}
	return 1;
}

static tn_status make_arrays(struct tn_metric_sums *sums)
{
	struct tn_runtime *rt = tn_runtime_of(sums->context);
	const int64_t shape[] = {sums->form->width, sums->form->width};
	tn_status status = tn_capture_refuse(rt, operation, "the first batch of a pass");
	if (!status)
		status = tn_scope_begin(sums->context);
	if (status)
		return status;
	for (uint32_t i = 0; i < sums->kind->n_arrays && !status; i++) {
		const struct tn_metric_array *a = &sums->kind->arrays[i];
		tn_array *array = tn_zeros(sums->context, a->is_float ? sums->form->dtype : TN_I64,
					   a->rank, shape);
		status = array ? TN_OK : rt->error.status;
		if (array)
			sums->arrays[i] = tn_array_hold(array);
	}
	tn_scope_end(sums->context, NULL);
	if (status)
		tn_metric_sums_end(sums);
	return status;
}

tn_status tn_metric_sums_begin(struct tn_metric_sums *sums)
{
	return form_is_known(sums) ? make_arrays(sums) : TN_OK;
}

void tn_metric_sums_end(struct tn_metric_sums *sums)
{
	for (int i = 0; i < TN_METRIC_ARRAYS; i++) {
		tn_array_unhold(sums->arrays[i]);
		sums->arrays[i] = NULL;
	}
}

tn_status tn_metric_sums_form(struct tn_metric_sums *sums, int64_t width, tn_dtype dtype)
{
	struct tn_metric_form *form = sums->form;
	struct tn_runtime *rt = tn_runtime_of(sums->context);
	if (form->width && form->width != width)
		return tn_runtime_fail(
			rt, TN_SHAPE, operation,
			"%s: expected outputs of %lld classes or columns, as before, "
			"found %lld",
			sums->kind->name, (long long)form->width, (long long)width);
	if (form->dtype && form->dtype != dtype)
		return tn_runtime_fail(
			rt, TN_DTYPE, operation, "%s: expected sums of %s, as before, found %s",
			sums->kind->name, tn_dtype_name(form->dtype), tn_dtype_name(dtype));
	form->width = width;
	form->dtype = dtype;
	return is_made(sums) ? TN_OK : make_arrays(sums);
}

tn_status tn_metric_sums_add(struct tn_metric_sums *sums, const struct tn_formula *formula,
			     uint32_t n_more, const tn_array *const *more, const double *scalars)
{
	struct tn_runtime *rt = tn_runtime_of(sums->context);
	const tn_array *inputs[TN_PROGRAM_MAX_INPUTS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < sums->kind->n_arrays; i++)
		inputs[n++] = sums->arrays[i];
	for (uint32_t i = 0; i < n_more; i++) {
		if (!more[i])
			return rt->error.status;
		inputs[n++] = more[i];
	}
	return tn_end_into(rt, tn_formula_map(rt, tn_operation_named(rt, operation), formula,
					      inputs, sums->arrays, scalars));
}

/* The elements of an array as doubles. */
static tn_status read_array(const tn_array *array, double *to)
{
	const size_t size = (size_t)array->size;
	int64_t *counts = (int64_t *)to;
	float *narrow = (float *)to;
	if (array->dtype == TN_F64)
		return tn_to_host(array, to, size * sizeof(*to));
	if (array->dtype == TN_I64) {
		tn_status status = tn_to_host(array, counts, size * sizeof(*counts));
		for (size_t i = 0; i < size && !status; i++)
			to[i] = (double)counts[i];
		return status;
	}
	tn_status status = tn_to_host(array, narrow, size * sizeof(*narrow));
	for (size_t i = size; i > 0 && !status; i--)
		to[i - 1] = (double)narrow[i - 1];
	return status;
}

/* ---- All arrays on the host ------------------------------------------------------------------*/

static size_t total_size(const struct tn_metric_sums *sums)
{
	size_t size = 0;
	for (uint32_t i = 0; i < sums->kind->n_arrays; i++)
		size += (size_t)sums->arrays[i]->size;
	return size;
}

/* The parts of `all`, which has room for all elements. */
static void part_arrays(const struct tn_metric_sums *sums, double *all, double **arrays)
{
	for (uint32_t i = 0; i < sums->kind->n_arrays; i++) {
		arrays[i] = all;
		all += sums->arrays[i]->size;
	}
}

static tn_status read_arrays(const struct tn_metric_sums *sums, double *const *arrays)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < sums->kind->n_arrays && !status; i++)
		status = read_array(sums->arrays[i], arrays[i]);
	return status;
}

static tn_status no_memory(const struct tn_metric_sums *sums, size_t size)
{
	return tn_runtime_fail(tn_runtime_of(sums->context), TN_OUT_OF_MEMORY, operation,
			       "no host memory for %zu sums", size);
}

tn_status tn_metric_sums_value(const struct tn_metric_sums *sums, double *value)
{
	double *arrays[TN_METRIC_ARRAYS] = {NULL};
	*value = NAN;
	if (!is_made(sums))
		return TN_OK;
	const size_t size = total_size(sums);
	double *all = tn_mem_zeroed(size, sizeof(*all));
	if (!all)
		return no_memory(sums, size);
	part_arrays(sums, all, arrays);
	tn_status status = read_arrays(sums, arrays);
	if (!status)
		*value = sums->kind->value(sums, arrays);
	tn_mem_free(all);
	return status;
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

/* Writes one array; the pair of a sum and its rest is written with the rest.  In place. */
static tn_status write_array(const struct tn_metric_sums *sums, uint32_t i, double *const *arrays)
{
	tn_array *array = sums->arrays[i];
	const size_t size = (size_t)array->size;
	double *from = arrays[i];
	if (array->dtype == TN_I64) {
		for (size_t k = 0; k < size; k++)
			((int64_t *)from)[k] = (int64_t)from[k];
	} else if (array->dtype == TN_F32) {
		for (size_t k = 0; k < size; k++)
			((float *)from)[k] = (float)from[k];
	}
	return tn_assign_host(array, from, size * tn_dtype_size(array->dtype));
}

/* A sum as the nearest number of the arrays' dtype, and what that takes from it. */
static void round_pair(tn_dtype dtype, size_t size, double *sum, double *rest)
{
	for (size_t k = 0; k < size; k++) {
		const double exact = sum[k] - rest[k];
		sum[k] = dtype == TN_F32 ? (double)(float)exact : exact;
		rest[k] = isfinite(exact) ? sum[k] - exact : 0;
	}
}

static tn_status write_arrays(const struct tn_metric_sums *sums, double *const *arrays)
{
	const struct tn_metric_kind *kind = sums->kind;
	tn_status status = TN_OK;
	for (uint32_t i = 1; i < kind->n_arrays; i++) {
		if (kind->arrays[i].is_rest)
			round_pair(sums->arrays[i]->dtype, (size_t)sums->arrays[i]->size,
				   arrays[i - 1], arrays[i]);
	}
	for (uint32_t i = 0; i < kind->n_arrays && !status; i++)
		status = write_array(sums, i, arrays);
	return status;
}

/* The sums of all ranks, one rank after the other. */
static tn_status merge(const struct tn_metric_sums *sums, tn_communicator *communicator,
		       double *all, size_t size)
{
	const uint32_t n_ranks = tn_communicator_size(communicator);
	double *arrays[TN_METRIC_ARRAYS], *others[TN_METRIC_ARRAYS];
	double *gathered = tn_mem_zeroed(size * n_ranks, sizeof(*gathered));
	if (!gathered)
		return no_memory(sums, size * n_ranks);
	tn_status status = tn_agree_gather_numbers(communicator, size, all, gathered, operation);
	for (size_t i = 0; i < size; i++)
		all[i] = gathered[i];
	part_arrays(sums, all, arrays);
	for (uint32_t rank = 1; rank < n_ranks && !status; rank++) {
		part_arrays(sums, gathered + rank * size, others);
		sums->kind->merge(sums, arrays, (const double *const *)others);
	}
	tn_mem_free(gathered);
	return status;
}

/* The form that ranks with samples have, if any has some. */
static tn_status join_form(struct tn_metric_sums *sums, tn_communicator *communicator)
{
	int64_t form[] = {sums->form->width, sums->form->dtype, is_made(sums)};
	tn_status status = tn_agree_max(communicator, 3, form, operation);
	if (status || !form[2] || is_made(sums))
		return status;
	return tn_metric_sums_form(sums, form[0], (tn_dtype)form[1]);
}

tn_status tn_metric_sums_join(struct tn_metric_sums *sums, tn_communicator *communicator)
{
	double *arrays[TN_METRIC_ARRAYS];
	tn_status status = join_form(sums, communicator);
	if (status || !is_made(sums))
		return status;
	const size_t size = total_size(sums);
	double *all = tn_mem_zeroed(size, sizeof(*all));
	if (!all)
		return no_memory(sums, size);
	part_arrays(sums, all, arrays);
	status = read_arrays(sums, arrays);
	if (!status)
		status = sums->kind->merge ? merge(sums, communicator, all, size)
					   : tn_agree_sum(communicator, size, all, operation);
	if (!status)
		status = write_arrays(sums, arrays);
	tn_mem_free(all);
	return status;
}
