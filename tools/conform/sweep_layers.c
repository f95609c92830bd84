/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the sweeps of layers share.
 */
#include "sweep_layers.h"

#include "base/dtype.h"
#include "loader/slots.h"
#include "samples.h"

enum { MOST_TERMS = 256 };

double layer_terms(double n)
{
	return fmin(n, MOST_TERMS);
}

double layer_positive_terms(double n)
{
	return fmin(n, 16 * sqrt(n));
}

uint64_t layer_bytes(tn_dtype dtype, size_t n, const int64_t *lengths)
{
	double size = (double)tn_dtype_size(dtype);
	for (size_t i = 0; i < n; i++)
		size *= (double)lengths[i];
	return size < 0x1p50 ? (uint64_t)size : 0;
}

int layer_is_too_long(size_t n, const int64_t *lengths)
{
	for (size_t i = 0; i < n; i++)
		if (lengths[i] > 1 << 24)
			return 1;
	return 0;
}

int layer_claims(const struct kit *kit, tn_dtype dtype, int slot, void *args)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_call *call = args;
	if (!tn_is_floating(dtype) || !kit_claims_storage(kit, dtype))
		return 0;
	call->error = &error;
	call->workspace = &workspace;
	call->flags = TN_DRY_RUN;
	return tn_slot_call(kit->backend, (enum tn_slot)slot, kit->device, args) != TN_UNSUPPORTED;
}

struct tn_operand layer_operand(tn_dtype dtype, uint32_t rank)
{
	struct tn_operand operand = {.dtype = dtype, .rank = rank};
	for (uint32_t axis = 0; axis < rank; axis++)
		operand.shape[axis] = operand.strides[axis] = 1;
	return operand;
}

double *layer_numbers(const struct array *array)
{
	double *all = numbers(array->count);
	sweep_load(array, all);
	return all;
}

double *layer_fill(struct array *array, double low, double high)
{
	double *all = numbers(array->count);
	for (uint64_t i = 0; i < array->count; i++)
		all[i] = kit_uniform(array->kit, low, high);
	sweep_store(array, all);
	sweep_load(array, all);
	return all;
}

void layer_compare(const struct array *array, const double *expected, const double *tolerance)
{
	double *found = layer_numbers(array);
	uint64_t i = 0;
	while (i < array->count && fabs(found[i] - expected[i]) <= tolerance[i])
		i++;
	if (i < array->count) /* or it is an infinity or NaN */
		array_compare(array, expected, tolerance);
	free(found);
}

void layer_repeat(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *lengths, void *args, struct array *const *arrays, size_t n_arrays)
{
	const int family = sample_family(sweep->slot);
	if (!kit->case_failed && !sweep_draw(kit, sweep, dtype, lengths, 100, 4))
		sweep_repeat(kit, kit->description.determinism[family], args, arrays, n_arrays);
}

/* ---- Products --------------------------------------------------------------------------------*/

/* A quarter of what a narrower dtype resolves near 1.5: TF32 and two bf16, f32; the last digit of
 * f16 and bf16. */
static double last_part(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F64:
		return 0x1p-30;
	case TN_F32:
		return 0x1p-13 + 0x1p-17;
	case TN_F16:
		return 0x1p-10;
	default:
		return 0x1p-7;
	}
}

double *layer_fill_factor(struct array *array, int is_signed)
{
	const double part = last_part(array->operand.dtype);
	double *all = numbers(array->count);
	for (uint64_t i = 0; i < array->count; i++) {
		const uint64_t random = kit_random(array->kit) >> 60;
		all[i] = is_signed ? (random & 1 ? 1.5 : -1.5) + part
				   : 1 + 0.25 * (double)(random & 3);
	}
	sweep_store(array, all);
	return all;
}

double layer_product_tolerance(double epsilon, double n, double begin)
{
	return layer_terms(n + 4) * epsilon * (2.7 * n + fabs(begin));
}

void layer_compare_sums(struct kit *kit, size_t n, const double *found, const double *expected,
			const double *squares, double deviations, const char *what)
{
	for (size_t i = 0; i < n; i++) {
		const double most = deviations * sqrt(squares[i]);
		if (isfinite(found[i]) && fabs(found[i] - expected[i]) <= most)
			continue;
		return kit_fail(kit, "%s, element %zu: expected %.17g within %.3g, found %.17g",
				what, i, expected[i], most, found[i]);
	}
}
