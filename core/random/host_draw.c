/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Begins a draw on the host, stores and uploads its elements, and counts it; a failed draw leaves
 * the generator as it was.
 */
#include "random/host_draw.h"

#include "array/make.h"
#include "array/shape.h"
#include "base/bits.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "capture/stepped.h"
#include "device/transfer.h"
#include "dispatch/ledger.h"
#include "dispatch/route.h"
#include "program/cast.h"

/* Numbers that one thread draws at a time. */
enum { GRAIN = 2048 };

static uint64_t bytes_of(const tn_array *array)
{
	return (uint64_t)array->size * tn_dtype_size(array->dtype);
}

/* Fills runtime->report. */
static tn_status make_room(struct tn_host_draw *draw, tn_dtype dtype, int rank,
			   const int64_t *shape)
{
	struct tn_runtime *runtime = draw->runtime;
	int64_t size;
	tn_status status = tn_shape_check(runtime, draw->operation, dtype, rank, shape, &size);
	if (!status)
		status = tn_route_allow_host(runtime, tn_operation_named(runtime, draw->operation),
					     runtime->device, "draw these numbers");
	if (status)
		return status;
	draw->out = tn_array_make(runtime, runtime->device, dtype, rank, shape);
	if (!draw->out)
		return runtime->report.status;
	draw->data = tn_mem_alloc(bytes_of(draw->out) ? bytes_of(draw->out) : 1);
	if (!draw->data)
		return tn_fail(&runtime->report, TN_OUT_OF_MEMORY, draw->operation,
			       "no host memory for %lld numbers", (long long)size);
	return TN_OK;
}

tn_status tn_host_draw_begin(struct tn_host_draw *draw, struct tn_generator *generator,
			     const char *operation, tn_dtype dtype, int rank, const int64_t *shape)
{
	struct tn_runtime *runtime = generator->runtime;
	struct tn_scalar scalars[2];
	*draw = (struct tn_host_draw){.runtime = runtime,
				      .generator = generator,
				      .operation = operation,
				      .before = *generator->state,
				      .start = tn_route_clock()};
	tn_status status = tn_runtime_ready(runtime);
	if (!status)
		status = tn_capture_refuse(runtime, operation, "numbers that the host draws");
	if (status)
		return status;
	status = make_room(draw, dtype, rank, shape);
	if (!status)
		status = tn_stepped_draw(generator, runtime->device, scalars);
	if (status) {
		tn_host_draw_end(draw, status);
		return status;
	}
	draw->seed = scalars[0].bits;
	draw->stream = scalars[1].bits;
	return TN_OK;
}

void tn_host_draw_for(const struct tn_host_draw *draw, int64_t n,
		      void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument)
{
	tn_parallel_for(draw->runtime->threads, (uint64_t)n, GRAIN, body, argument);
}

void tn_host_draw_store(const struct tn_host_draw *draw, uint64_t i, double value)
{
	const tn_dtype dtype = draw->out->dtype;
	const size_t size = tn_dtype_size(dtype);
	bits_store(draw->data + i * size, size, tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(value)));
}

static tn_status upload(struct tn_host_draw *draw)
{
	struct tn_runtime *runtime = draw->runtime;
	const tn_array *out = draw->out;
	const uint32_t operation = tn_operation_named(runtime, draw->operation);
	struct tn_ledger_row *row;
	if (out->size) {
		tn_observe_unrepeatable(runtime);
		tn_status status = tn_device_upload(tn_array_home(out), &out->storage->block, 0,
						    draw->data, bytes_of(out), &runtime->report);
		if (status)
			return status;
	}
	tn_route_count_host(runtime, operation, tn_array_home(out));
	row = tn_ledger_row_of(runtime->ledger, operation);
	row->bytes_moved += bytes_of(out) + draw->bytes_read;
	row->seconds += tn_route_clock() - draw->start;
	return TN_OK;
}

tn_array *tn_host_draw_end(struct tn_host_draw *draw, tn_status status)
{
	if (!status)
		status = upload(draw);
	tn_mem_free(draw->data);
	(void)tn_stepped_end_draw(draw->generator, draw->before, status);
	return tn_end(draw->runtime, status, draw->out);
}

tn_status tn_host_draw_read(struct tn_host_draw *draw, const tn_array *array, double **values)
{
	struct tn_runtime *runtime = draw->runtime;
	const uint64_t size = (uint64_t)array->size * sizeof(double);
	*values = tn_mem_alloc(size ? size : 1);
	if (!*values)
		return tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, draw->operation,
				       "no host memory for %lld numbers", (long long)array->size);
	tn_array *wide = tn_astype(array, TN_F64);
	tn_status status = wide ? tn_to_host(wide, *values, size) : runtime->error.status;
	tn_array_destroy(wide);
	draw->bytes_read += size;
	if (status) {
		tn_mem_free(*values);
		*values = NULL;
	}
	return status;
}
