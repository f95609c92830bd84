/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes or fills an array on the device by a program over the words of a generator's next stream.
 */
#include "random/device_draw.h"

#include "array/make.h"
#include "array/shape.h"
#include "capture/stepped.h"
#include "dispatch/ledger.h"
#include "dispatch/programs.h"
#include "ops/map.h"

static tn_array *make_on(struct tn_runtime *runtime, struct tn_device *device,
			 const char *operation, tn_dtype dtype, int rank, const int64_t *shape)
{
	int64_t size;
	tn_array *out = NULL;
	tn_status status = tn_shape_check(runtime, operation, dtype, rank, shape, &size);
	if (!status) {
		out = tn_array_make(runtime, device, dtype, rank, shape);
		status = out ? TN_OK : runtime->report.status;
	}
	return tn_end(runtime, status, out);
}

tn_array *tn_draw_make(tn_generator *generator, const char *operation, tn_dtype dtype, int rank,
		       const int64_t *shape)
{
	struct tn_runtime *runtime = generator->runtime;
	if (tn_runtime_ready(runtime))
		return NULL;
	return make_on(runtime, runtime->device, operation, dtype, rank, shape);
}

tn_status tn_draw_fill(tn_generator *generator, const struct tn_device_draw *draw, tn_array *out)
{
	struct tn_runtime *runtime = generator->runtime;
	struct tn_scalar scalars[2 + TN_DRAW_SCALARS];
	tn_dtype dtypes[2 + TN_DRAW_SCALARS] = {TN_I64, TN_I64};
	const uint32_t n_scalars = tn_count_words(draw->formula.scalars);
	struct tn_map_run run = {.operation = draw->operation,
				 .inputs = &draw->input,
				 .outputs = &out,
				 .scalars = scalars};
	const struct tn_random_state before = *generator->state;
	for (uint32_t i = 2; i < n_scalars; i++) {
		scalars[i] = draw->scalars[i - 2];
		dtypes[i] = scalars[i].dtype;
	}
	tn_status status = tn_formula_program_typed(
		runtime, tn_ledger_row_of(runtime->ledger, draw->operation)->operation,
		&draw->formula, draw->input ? &draw->input->dtype : NULL, dtypes, &run.program);
	if (!status)
		status = tn_stepped_draw(generator, tn_array_home(out), scalars);
	if (!status)
		status = tn_map_run(runtime, &run);
	return tn_stepped_end_draw(generator, before, status);
}

tn_array *tn_draw_new(tn_generator *generator, const struct tn_device_draw *draw, tn_dtype dtype,
		      int rank, const int64_t *shape)
{
	struct tn_runtime *runtime = generator->runtime;
	tn_array *out = tn_draw_make(generator,
				     tn_ledger_row_of(runtime->ledger, draw->operation)->operation,
				     dtype, rank, shape);
	return out ? tn_end(runtime, tn_draw_fill(generator, draw, out), out) : NULL;
}

struct tn_runtime *tn_draw_begin(tn_generator *generator, const tn_array *array,
				 const char *operation)
{
	if (!generator || !array) {
		tn_runtime_null(generator ? generator->runtime
				: array   ? array->runtime
					  : NULL,
				operation, generator ? "the array" : "generator");
		return NULL;
	}
	struct tn_runtime *runtime = tn_begin(1, &array, operation);
	if (runtime && runtime != generator->runtime) {
		tn_runtime_fail(generator->runtime, TN_DEVICE, operation,
				"the array and the generator are in different contexts");
		return NULL;
	}
	return runtime && !tn_runtime_ready(runtime) ? runtime : NULL;
}

tn_array *tn_draw_keys(tn_generator *generator, struct tn_device *device, const char *operation,
		       int rank, const int64_t *shape)
{
	struct tn_runtime *runtime = generator->runtime;
	const struct tn_device_draw draw = {
		.operation = tn_operation_named(runtime, operation),
		.formula = {.text = "z = " TN_BITS_63, .scalars = "seed stream"}};
	tn_array *keys = make_on(runtime, device, operation, TN_I64, rank, shape);
	return keys ? tn_end(runtime, tn_draw_fill(generator, &draw, keys), keys) : NULL;
}
