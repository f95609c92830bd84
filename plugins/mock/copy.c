/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.copy/1: fill and copy.  gather and scatter_add are left to the host, so that tests
 * cover an operation missing on the device.
 */
#include <string.h>

#include "mock.h"

enum { FLAGS = TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC };

struct move {
	struct tn_operand input, output; /* fill: the input is the value, with strides of 0 */
	uint64_t bits;                   /* fill: the value, unless it is on the device */
	int has_bits;
};

/* ---- Running ---------------------------------------------------------------------------------*/

/* The address of row number `row`, a row being the last axis. */
static unsigned char *row_of(const struct tn_operand *x, size_t size, uint64_t row)
{
	int64_t element = 0;
	for (uint32_t axis = x->rank > 1 ? x->rank - 1 : 0; axis-- > 0;) {
		element += (int64_t)(row % (uint64_t)x->shape[axis]) * x->strides[axis];
		row /= (uint64_t)x->shape[axis];
	}
	return (unsigned char *)(uintptr_t)(x->buffer + x->offset) + element * (int64_t)size;
}

static void rows(void *argument, uint64_t begin, uint64_t end)
{
	const struct move *move = argument;
	const struct tn_operand *from = &move->input, *to = &move->output;
	size_t size = tn_dtype_size(to->dtype);
	int64_t length = to->rank ? to->shape[to->rank - 1] : 1;
	int64_t from_step = to->rank ? from->strides[to->rank - 1] * (int64_t)size : 0;
	int64_t to_step = to->rank ? to->strides[to->rank - 1] * (int64_t)size : 0;
	for (uint64_t row = begin; row < end; row++) {
		const unsigned char *source = row_of(from, size, row);
		unsigned char *target = row_of(to, size, row);
		for (int64_t i = 0; i < length; i++)
			memmove(target + i * to_step, source + i * from_step, size);
	}
}

static tn_status run_copy(struct mock_device *device, struct mock_work *work,
			  struct tn_error_info *error)
{
	const struct tn_host *host = device->instance->host;
	struct move move = *(const struct move *)work->args;
	uint64_t n_rows = 1;
	(void)error;
	if (move.has_bits)
		move.input.buffer = (uint64_t)(uintptr_t)&move.bits;
	for (uint32_t axis = 0; axis + 1 < move.output.rank; axis++)
		n_rows *= (uint64_t)move.output.shape[axis];
	host->parallel_for(host->context, n_rows, 64, rows, &move);
	return TN_OK;
}

static tn_status queue(struct mock_packing *packing, void *stream, const struct move *move)
{
	packing->work->args = mock_pack_bytes(packing, move, sizeof(*move));
	return mock_pack_end(packing, stream, run_copy);
}

/* ---- copy ------------------------------------------------------------------------------------*/

static tn_status check_copy(const struct tn_copy_args *own)
{
	const struct tn_operand *from = &own->input, *to = &own->output;
	struct tn_error_info *error = own->call.error;
	tn_status status = mock_operand_check(from, "input", error, "copy");
	if (!status)
		status = mock_operand_check(to, "output", error, "copy");
	if (status)
		return status;
	if (from->dtype != to->dtype)
		return tn_plugin_fail(
			error, TN_DTYPE, "copy",
			"input of dtype %d, output of dtype %d: expected equal dtypes", from->dtype,
			to->dtype);
	if (from->rank != to->rank)
		return tn_plugin_fail(error, TN_SHAPE, "copy",
				      "input of rank %u, output of rank %u: expected equal ranks",
				      from->rank, to->rank);
	for (uint32_t d = 0; d < to->rank; d++) {
		if (from->shape[d] != to->shape[d])
			return tn_plugin_fail(error, TN_SHAPE, "copy",
					      "axis %u: length %lld, expected %lld", d,
					      (long long)from->shape[d], (long long)to->shape[d]);
	}
	return TN_OK;
}

static tn_status copy(void *device, const struct tn_copy_args *args)
{
	struct mock_device *mock = device;
	struct tn_copy_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, FLAGS, "copy");
	if (!status)
		status = check_copy(&own);
	if (status)
		return status;
	tn_plugin_dry_run(&own.call, 0, 0);
	if (own.call.flags & TN_DRY_RUN)
		return TN_OK;
	struct mock_packing packing = {
		.device = mock, .error = own.call.error, .operation = "copy"};
	const struct tn_operand *input, *output;
	status = mock_pack_begin(&packing, 2,
				 2 * mock_room(sizeof(*input)) + mock_room(sizeof(struct move)));
	if (status)
		return status;
	status = mock_pack_operands(&packing, &own.input, 1, "input", &input);
	if (!status)
		status = mock_pack_operands(&packing, &own.output, 1, "output", &output);
	if (status) {
		mock_work_free(mock, packing.work);
		return status;
	}
	return queue(&packing, own.call.stream, &(struct move){.input = *input, .output = *output});
}

/* ---- fill ------------------------------------------------------------------------------------*/

static tn_status check_fill(const struct tn_fill_args *own)
{
	struct tn_error_info *error = own->call.error;
	tn_status status = mock_operand_check(&own->output, "output", error, "fill");
	if (status)
		return status;
	if (own->value.dtype != own->output.dtype)
		return tn_plugin_fail(
			error, TN_DTYPE, "fill",
			"value of dtype %d, output of dtype %d: expected equal dtypes",
			own->value.dtype, own->output.dtype);
	if (own->value.on_device > 1)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "fill",
				      "on_device is %u, expected 0 or 1", own->value.on_device);
	if (!own->value.on_device && tn_dtype_size(own->value.dtype) > sizeof(own->value.bits))
		return tn_plugin_fail(error, TN_UNSUPPORTED, "fill",
				      "a 16-byte value must be on the device");
	return TN_OK;
}

/* The value as an operand of the output's shape. */
static struct tn_operand spread(const struct tn_operand *output, const struct tn_scalar *value)
{
	struct tn_operand input = *output;
	input.buffer = value->on_device ? value->buffer : 0;
	input.offset = 0;
	memset(input.strides, 0, sizeof(input.strides));
	return input;
}

static tn_status fill(void *device, const struct tn_fill_args *args)
{
	struct mock_device *mock = device;
	struct tn_fill_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, FLAGS, "fill");
	if (!status)
		status = check_fill(&own);
	if (status)
		return status;
	tn_plugin_dry_run(&own.call, 0, 0);
	if (own.call.flags & TN_DRY_RUN)
		return TN_OK;
	struct mock_packing packing = {
		.device = mock, .error = own.call.error, .operation = "fill"};
	const struct tn_operand *output;
	const struct tn_scalar *value;
	status = mock_pack_begin(&packing, 2,
				 mock_room(sizeof(*output)) + mock_room(sizeof(*value)) +
					 mock_room(sizeof(struct move)));
	if (status)
		return status;
	status = mock_pack_operands(&packing, &own.output, 1, "output", &output);
	if (!status)
		status = mock_pack_scalars(&packing, &own.value, 1, &value);
	if (status) {
		mock_work_free(mock, packing.work);
		return status;
	}
	return queue(&packing, own.call.stream,
		     &(struct move){.input = spread(output, value),
				    .output = *output,
				    .bits = value->bits,
				    .has_bits = !value->on_device});
}

const struct tn_copy_table mock_copy_table = {
	.struct_size = sizeof(mock_copy_table),
	.fill = fill,
	.copy = copy,
};
