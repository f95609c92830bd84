/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Are indices and labels in range?  On a synchronous device in host memory the host reads them.  On
 * others a reduction compares their largest and smallest with the range and notes a value outside
 * of it in the device's record.  A device that cannot run the reduction has them read by the host.
 */
#include "ops/index_check.h"

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/observer.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "device/check_record.h"
#include "device/transfer.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "dispatch/programs.h"
#include "dispatch/route.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/host_access.h"

tn_status tn_indices_line(struct tn_runtime *runtime, const tn_array *indices, tn_array **line)
{
	const int64_t one = 1;
	tn_array *compact = NULL;
	*line = NULL;
	if (!indices->contiguous) {
		compact = tn_array_compact(runtime, indices);
		if (!compact)
			return runtime->report.status;
		indices = compact;
	}
	*line = tn_array_view(indices, 1, &indices->size, &one, indices->offset);
	tn_array_discard(compact);
	return *line ? TN_OK : runtime->report.status;
}

const tn_array *tn_indices_signed(const char *operation, const char *argument,
				  const tn_array *indices)
{
	static const struct tn_formula saturated = {
		.text = "i = i64(index); z = i < 0 ? 9223372036854775807 : i", .inputs = "index"};
	if (!indices || indices->dtype == TN_I32 || indices->dtype == TN_I64)
		return indices;
	if (indices->dtype == TN_U64)
		return tn_formula_operation(operation, &saturated, TN_I64, &indices, NULL);
	if (tn_is_integer(indices->dtype))
		return tn_astype(indices, TN_I64);
	tn_runtime_fail(indices->runtime, TN_DTYPE, operation, "%s: expected integers, found %s",
			argument, tn_dtype_name(indices->dtype));
	return NULL;
}

/* ---- On the host -----------------------------------------------------------------------------*/

static tn_status compare(struct tn_runtime *runtime, const struct tn_index_range *range,
			 tn_dtype dtype, int64_t n, const unsigned char *data)
{
	const struct tn_check *check = range->check;
	for (int64_t i = 0; i < n; i++) {
		int64_t index;
		int32_t narrow;
		if (dtype == TN_I64) {
			memcpy(&index, data + (size_t)i * sizeof(index), sizeof(index));
		} else {
			memcpy(&narrow, data + (size_t)i * sizeof(narrow), sizeof(narrow));
			index = narrow;
		}
		if ((index < range->lowest || index >= range->limit) && index != range->ignored)
			return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, check->operation,
				       "%s %" PRId64 " at position %" PRId64
				       " is out of range: %s %" PRId64,
				       check->value, index, i, check->limit, range->limit);
	}
	return TN_OK;
}

static tn_status check_in_place(struct tn_runtime *runtime, const struct tn_index_range *range,
				const tn_array *indices)
{
	tn_array *line;
	tn_status status = tn_indices_line(runtime, indices, &line);
	if (status)
		return status;
	const unsigned char *start = line->storage->block.address;
	status = compare(runtime, range, line->dtype, line->size,
			 start + (size_t)line->offset * tn_dtype_size(line->dtype));
	tn_array_discard(line);
	return status;
}

/* On a copy: a fallback, which the ledger counts in a row of its own. */
static tn_status check_on_host(struct tn_runtime *runtime, const struct tn_index_range *range,
			       const tn_array *indices)
{
	struct tn_device *device = tn_array_home(indices);
	const uint32_t operation = tn_operation_named(runtime, "index_check");
	const double start = tn_route_clock();
	tn_array *line;
	tn_status status =
		tn_route_allow_host(runtime, range->operation, device, "check its indices");
	if (!status)
		status = tn_indices_line(runtime, indices, &line);
	if (status)
		return status;
	const struct tn_block *block = &line->storage->block;
	const size_t size = (size_t)line->size * tn_dtype_size(line->dtype);
	unsigned char *copy = tn_mem_alloc(size);
	status =
		copy ? tn_device_download(device, block, tn_array_byte_offset(line) - block->offset,
					  copy, size, &runtime->report)
		     : tn_fail(&runtime->report, TN_OUT_OF_MEMORY, range->check->operation,
			       "no host memory for %zu bytes of indices", size);
	if (!status) {
		struct tn_ledger_row *row = tn_ledger_row_of(runtime->ledger, operation);
		tn_route_count_host(runtime, operation, device);
		row->bytes_moved += size;
		row->seconds += tn_route_clock() - start;
		status = compare(runtime, range, line->dtype, line->size, copy);
	}
	tn_mem_free(copy);
	tn_array_discard(line);
	return status;
}

/* ---- On the device ---------------------------------------------------------------------------*/

/* An ignored value is replaced by 0, which is in every range. */
static const struct tn_formula extremes = {.text = "i = i64(indices)\n"
						   "largest = i == ignored ? 0 : i\n"
						   "smallest = i == ignored ? 0 : i",
					   .inputs = "indices",
					   .scalars = "ignored",
					   .outputs = "largest smallest",
					   .scalar_dtype = TN_I64};

/* The record of a failed check: its number, the value and the limit.  The first one stays. */
static const struct tn_formula note = {
	.text = "is_new = number == 0 && (largest >= end || smallest < lowest)\n"
		"number = is_new ? check : number\n"
		"value = is_new ? (largest >= end ? largest : smallest) : value\n"
		"limit = is_new ? end : limit",
	.inputs = "largest smallest number value limit",
	.scalars = "lowest end check",
	.outputs = "number value limit",
	.scalar_dtype = TN_I64};

static struct tn_scalar scalar_of(int64_t value)
{
	return (struct tn_scalar){.dtype = TN_I64, .bits = (uint64_t)value};
}

/* All axes of the indices in any order, as the reduced axes. */
static uint32_t reduced_operand(struct tn_operand *operand, const tn_array *indices)
{
	struct tn_operand *const all[] = {operand};
	tn_operand_of(operand, indices);
	tn_operands_sort(all, 1, 0, 0, operand->rank);
	operand->rank = tn_operands_merge(all, 1, 0, operand->rank);
	if (!operand->rank) {
		operand->shape[0] = 1;
		operand->strides[0] = 0;
		operand->rank = 1;
	}
	return operand->rank;
}

static tn_status check_on_device(struct tn_runtime *runtime, const struct tn_index_range *range,
				 const tn_array *indices)
{
	struct tn_device *device = tn_array_home(indices);
	const tn_dtype dtypes[TN_PROGRAM_MAX_INPUTS] = {indices->dtype};
	const tn_dtype wide[TN_PROGRAM_MAX_INPUTS] = {TN_I64, TN_I64, TN_I64, TN_I64, TN_I64};
	struct tn_check_record *record;
	struct tn_operand input, cells[TN_CHECK_CELLS];
	int64_t number;
	struct tn_scalar ignored[] = {scalar_of(range->ignored)};
	struct tn_reduce_args args = {.call = {.struct_size = sizeof(args)},
				      .inputs = &input,
				      .epilogue_inputs = cells,
				      .outputs = cells,
				      .scalars = ignored,
				      .n_values = 2,
				      .combiners = {TN_REDUCE_MAX, TN_REDUCE_MIN}};
	struct tn_route route = {.runtime = runtime,
				 .device = device,
				 .operation = range->operation,
				 .slot = TN_SLOT_REDUCE,
				 .call = &args.call,
				 .is_native_only = 1};
	tn_status status = tn_check_begin(device, range->check, &record, &number, &runtime->report);
	if (!status)
		status = tn_formula_program(runtime, range->check->operation, &extremes, dtypes,
					    &args.prologue);
	if (!status)
		status = tn_formula_program(runtime, range->check->operation, &note, wide,
					    &args.epilogue);
	if (status)
		return status;
	const struct tn_scalar bounds[] = {scalar_of(range->lowest), scalar_of(range->limit),
					   scalar_of(number)};
	args.epilogue_scalars = bounds;
	args.n_reduced = reduced_operand(&input, indices);
	for (uint32_t i = 0; i < TN_CHECK_CELLS; i++)
		cells[i] = (struct tn_operand){.buffer = record->block.buffer,
					       .offset = record->block.offset + i * sizeof(int64_t),
					       .dtype = TN_I64};
	/* A step of the operation, not counted as one. */
	runtime->depth++;
	status = tn_route_run(&route);
	runtime->depth--;
	if (!status)
		tn_check_end(device, record);
	return status;
}

tn_status tn_indices_in_range(struct tn_runtime *runtime, const struct tn_index_range *range,
			      const tn_array *indices)
{
	if (!indices->size)
		return TN_OK;
	/* A recorded call (capture/replay.h) would not check them again. */
	tn_observe_unrepeatable(runtime);
	/* No value is in range, not even the 0 that replaces ignored ones. */
	if (range->limit < 1)
		return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, range->check->operation,
			       "%s at position 0 is out of range: %s %" PRId64, range->check->value,
			       range->check->limit, range->limit);
	if (tn_host_may_read(indices))
		return check_in_place(runtime, range, indices);
	tn_status status = check_on_device(runtime, range, indices);
	return status == TN_UNSUPPORTED ? check_on_host(runtime, range, indices) : status;
}
