/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A complete small backend without a fault: host memory, the host's interpreter, a plain product,
 * fill and copy.  A fixture includes it and defines break_it, which replaces one entry by a faulty
 * one; `create` calls it.  All state belongs to the instance.
 */
#ifndef TN_TESTS_RIGHT_H
#define TN_TESTS_RIGHT_H

#include <stdlib.h>
#include <string.h>
#include <tenon/backend.h>

struct right {
	const struct tn_host *host;
	struct tn_device_table device;
	struct tn_compute_table compute;
	struct tn_copy_table copy;
	struct tn_nn_table nn;
	struct tn_report_table report;
	struct tn_compile_table compile; /* no slot is filled, nor in the next table */
	struct tn_capture_table capture;
	struct tn_peer_table peer;
	struct tn_stream_table stream; /* no slot is filled */
	struct tn_sort_table sort;     /* filled by right_lines.h only, as is the next */
	struct tn_scan_table scan;
	struct tn_import_table import;
	uint32_t device_flags;
	uint32_t memory_kinds;
	uint32_t n_devices;
	int is_copy; /* a device after the first: a copy of the instance */
};

/* Defined by the fixture. */
static void break_it(struct right *right);

static inline tn_status right_fail(const struct tn_call *call, tn_status status,
				   const char *operation, const char *text)
{
	struct tn_error_info own = {.status = status};
	strncpy(own.operation, operation, sizeof(own.operation) - 1);
	strncpy(own.text, text, sizeof(own.text) - 1);
	if (call->error)
		tn_struct_answer(call->error, &own, sizeof(own));
	return status;
}

/* Takes arguments of this version, with flags that some entry supports. */
static inline tn_status right_take(void *own, size_t size, const void *args, const char *operation)
{
	const struct tn_call *call = (const struct tn_call *)own;
	tn_status status = tn_arguments_take(own, size, args);
	if (status || call->flags & ~(uint32_t)(TN_DRY_RUN | TN_DETERMINISTIC | TN_ASYNC))
		return right_fail(call, TN_UNSUPPORTED, operation, "an unknown flag or field");
	return TN_OK;
}

/* 1 for a dry run, which requests no workspace. */
static inline int right_is_dry(const struct tn_call *call)
{
	if (!(call->flags & TN_DRY_RUN))
		return 0;
	if (call->workspace)
		call->workspace->minimum = call->workspace->preferred = 0;
	return 1;
}

/* The address of element i (in row-major order) of an operand. */
static inline char *right_element(const struct tn_operand *x, uint64_t i)
{
	int64_t at = 0;
	for (uint32_t axis = x->rank; axis-- > 0;) {
		uint64_t length = (uint64_t)x->shape[axis];
		at += (int64_t)(i % length) * x->strides[axis];
		i /= length;
	}
	return (char *)(uintptr_t)(x->buffer + x->offset) + at * (int64_t)tn_dtype_size(x->dtype);
}

static inline uint64_t right_count(const struct tn_operand *x)
{
	uint64_t n = 1;
	for (uint32_t axis = 0; axis < x->rank; axis++)
		n *= (uint64_t)x->shape[axis];
	return n;
}

/* ---- tenon.device/1 --------------------------------------------------------------------------*/

static inline tn_status right_device_count(void *instance, struct tn_device_count *out)
{
	const struct tn_device_count own = {.count = ((struct right *)instance)->n_devices};
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static inline tn_status right_describe(void *instance, uint32_t index,
				       struct tn_device_description *out)
{
	struct tn_device_description own = {
		.kind = TN_DEVICE_CPU,
		.name = "a right device",
		.flags = ((struct right *)instance)->device_flags,
		.memory_kinds = ((struct right *)instance)->memory_kinds,
		.storage_dtypes = 0xfffe,
		.program_dtypes = 1u << TN_BOOL | 1u << TN_I32 | 1u << TN_U32 | 1u << TN_I64 |
				  1u << TN_F32 | 1u << TN_F64,
		.matmul_dtypes = 1u << TN_F32,
		.max_alloc_bytes = UINT64_MAX,
		.alignment = 256,
		.preferred_layout = TN_LAYOUT_NCHW,
		.numerics = TN_NUMERICS_F32_SUBNORMALS | TN_NUMERICS_F16_SUBNORMALS,
	};
	if (index >= ((struct right *)instance)->n_devices)
		return TN_INVALID_ARGUMENT;
	memset(own.accuracy, TN_ACCURACY_IEEE, sizeof(own.accuracy));
	memset(own.determinism, TN_DETERMINISM_ALWAYS, sizeof(own.determinism));
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static inline tn_status right_open(void *instance, const struct tn_open_args *args, void **device)
{
	const struct right *right = (const struct right *)instance;
	struct tn_open_args own;
	tn_status status = right_take(&own, sizeof(own), args, "open");
	if (status)
		return status;
	if (own.index >= right->n_devices)
		return right_fail(&own.call, TN_INVALID_ARGUMENT, "open", "no such device");
	if (own.native)
		return right_fail(&own.call, TN_UNSUPPORTED, "open", "no device of others");
	if (right_is_dry(&own.call))
		return TN_OK;
	*device = instance;
	if (own.index == 0)
		return TN_OK;
	struct right *copy =
		(struct right *)right->host->alloc(right->host->context, sizeof(*copy), 0);
	if (!copy)
		return right_fail(&own.call, TN_OUT_OF_MEMORY, "open", "no host memory");
	*copy = *right;
	copy->is_copy = 1;
	*device = copy;
	return TN_OK;
}

static inline void right_close(void *device)
{
	const struct tn_host *host = ((struct right *)device)->host;
	if (((struct right *)device)->is_copy)
		host->free(host->context, device);
}

static inline tn_status right_alloc(void *device, const struct tn_alloc_args *args,
				    uint64_t *buffer)
{
	const struct tn_host *host = ((struct right *)device)->host;
	struct tn_alloc_args own;
	tn_status status = right_take(&own, sizeof(own), args, "alloc");
	if (status)
		return status;
	size_t alignment = own.alignment < 256 ? 256 : own.alignment;
	if (own.memory_kind != TN_MEMORY_DEVICE)
		return right_fail(&own.call, TN_UNSUPPORTED, "alloc", "one kind of memory");
	if (right_is_dry(&own.call))
		return TN_OK;
	void *memory = host->alloc(host->context, own.size, alignment);
	if (!memory)
		return right_fail(&own.call, TN_OUT_OF_MEMORY, "alloc", "no host memory");
	*buffer = (uint64_t)(uintptr_t)memory;
	return TN_OK;
}

static inline tn_status right_free(void *device, const struct tn_free_args *args)
{
	const struct tn_host *host = ((struct right *)device)->host;
	struct tn_free_args own;
	tn_status status = right_take(&own, sizeof(own), args, "free");
	if (!status && !right_is_dry(&own.call))
		host->free(host->context, (void *)(uintptr_t)own.buffer);
	return status;
}

static inline tn_status right_upload(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	tn_status status = right_take(&own, sizeof(own), args, "upload");
	(void)device;
	if (!status && !right_is_dry(&own.call))
		memcpy((char *)(uintptr_t)own.buffer + own.offset, own.host, own.size);
	return status;
}

static inline tn_status right_download(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	tn_status status = right_take(&own, sizeof(own), args, "download");
	(void)device;
	if (!status && !right_is_dry(&own.call))
		memcpy(own.host, (char *)(uintptr_t)own.buffer + own.offset, own.size);
	return status;
}

static inline tn_status right_sync(void *device, const struct tn_sync_args *args)
{
	struct tn_sync_args own;
	(void)device;
	return right_take(&own, sizeof(own), args, "sync");
}

static inline tn_status right_async_error(void *device, void *stream, struct tn_error_info *out)
{
	(void)device;
	(void)stream;
	(void)out;
	return TN_OK;
}

/* ---- tenon.compute/1 -------------------------------------------------------------------------*/

static inline tn_status right_map(void *device, const struct tn_map_args *args)
{
	const struct tn_host *host = ((struct right *)device)->host;
	return host->interpret_map(host->context, args, NULL);
}

static inline tn_status right_reduce(void *device, const struct tn_reduce_args *args)
{
	const struct tn_host *host = ((struct right *)device)->host;
	return host->interpret_reduce(host->context, args, NULL);
}

static inline tn_status right_matmul_check(const struct tn_matmul_args *own)
{
	const struct tn_operand *a = &own->a, *b = &own->b, *c = &own->c;
	if (own->has_bias || own->activation || own->a_scale || own->b_scale)
		return right_fail(&own->call, TN_UNSUPPORTED, "matmul", "no epilogue");
	if (a->dtype != TN_F32 || b->dtype != TN_F32 || c->dtype != TN_F32)
		return right_fail(&own->call, TN_UNSUPPORTED, "matmul", "f32 alone");
	if (c->rank < 2 || c->rank > 6 || a->rank != c->rank || b->rank != c->rank)
		return right_fail(&own->call, TN_SHAPE, "matmul", "one rank from 2 to 6");
	uint32_t row = c->rank - 2, column = c->rank - 1;
	if (a->shape[row] != c->shape[row] || a->shape[column] != b->shape[row] ||
	    b->shape[column] != c->shape[column])
		return right_fail(&own->call, TN_SHAPE, "matmul", "(m, k) (k, n) = (m, n)");
	for (uint32_t axis = 0; axis < row; axis++) {
		if (a->shape[axis] != c->shape[axis] || b->shape[axis] != c->shape[axis])
			return right_fail(&own->call, TN_SHAPE, "matmul", "one batch shape");
	}
	return TN_OK;
}

/* The inner product for element i of C, using the strides. */
static inline void right_matmul_element(const struct tn_matmul_args *own, uint64_t i)
{
	uint32_t row = own->c.rank - 2, column = own->c.rank - 1;
	uint64_t n = (uint64_t)own->c.shape[column], m = (uint64_t)own->c.shape[row];
	uint64_t k = (uint64_t)own->a.shape[column], batch = i / n / m;
	uint64_t a_row = (batch * m + i / n % m) * k, b_column = batch * k * n + i % n;
	float sum = 0, *c = (float *)right_element(&own->c, i);
	for (uint64_t l = 0; l < k; l++)
		sum += *(const float *)right_element(&own->a, a_row + l) *
		       *(const float *)right_element(&own->b, b_column + l * n);
	*c = (float)own->alpha * sum + (own->beta == 0 ? 0 : (float)own->beta * *c);
}

static inline tn_status right_matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "matmul");
	if (!status)
		status = right_matmul_check(&own);
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t i = 0, n = right_count(&own.c); i < n; i++)
		right_matmul_element(&own, i);
	return TN_OK;
}

/* ---- tenon.copy/1 ----------------------------------------------------------------------------*/

static inline tn_status right_copy_check(const struct tn_copy_args *own)
{
	if (own->input.dtype != own->output.dtype || !tn_dtype_size(own->input.dtype))
		return right_fail(&own->call, TN_UNSUPPORTED, "copy", "two dtypes");
	if (own->input.rank != own->output.rank || own->input.rank > TN_MAX_RANK)
		return right_fail(&own->call, TN_SHAPE, "copy", "two ranks");
	for (uint32_t axis = 0; axis < own->input.rank; axis++) {
		if (own->input.shape[axis] != own->output.shape[axis])
			return right_fail(&own->call, TN_SHAPE, "copy", "two shapes");
	}
	return TN_OK;
}

static inline tn_status right_copy(void *device, const struct tn_copy_args *args)
{
	struct tn_copy_args own;
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "copy");
	if (!status)
		status = right_copy_check(&own);
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t i = 0, n = right_count(&own.output); i < n; i++)
		memmove(right_element(&own.output, i), right_element(&own.input, i),
			tn_dtype_size(own.output.dtype));
	return TN_OK;
}

/* ---- tenon.report/1 --------------------------------------------------------------------------*/

static inline tn_status right_line(void *device, uint32_t index, struct tn_report_line *out)
{
	const struct tn_report_line own = {.key = "library.right", .text = "1"};
	(void)device;
	if (index > 0)
		return TN_NOT_FOUND;
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

/* ---- tenon.peer/1 ----------------------------------------------------------------------------*/

static inline tn_status right_peer_copy(void *device, const struct tn_peer_args *args)
{
	struct tn_peer_args own;
	tn_status status = right_take(&own, sizeof(own), args, "peer_copy");
	if (status)
		return status;
	if (!own.peer || own.peer == device)
		return right_fail(&own.call, TN_INVALID_ARGUMENT, "peer_copy",
				  "the peer is no other device");
	if (right_is_dry(&own.call))
		return TN_OK;
	memcpy((char *)(uintptr_t)own.buffer + own.offset,
	       (char *)(uintptr_t)own.peer_buffer + own.peer_offset, own.size);
	return TN_OK;
}

/* ---- The plugin ------------------------------------------------------------------------------*/

static const struct tn_device_table right_device_table = {
	.struct_size = sizeof(right_device_table),
	.device_count = right_device_count,
	.describe = right_describe,
	.open = right_open,
	.close = right_close,
	.alloc = right_alloc,
	.free = right_free,
	.upload = right_upload,
	.download = right_download,
	.sync = right_sync,
	.async_error = right_async_error,
};

static const struct tn_compute_table right_compute_table = {
	.struct_size = sizeof(right_compute_table),
	.map = right_map,
	.reduce = right_reduce,
	.matmul = right_matmul,
};

static const struct tn_copy_table right_copy_table = {
	.struct_size = sizeof(right_copy_table),
	.copy = right_copy,
};

static inline tn_status right_create(const struct tn_host *host, struct tn_error_info *error,
				     void **instance)
{
	struct right *right = (struct right *)host->alloc(host->context, sizeof(*right), 0);
	(void)error;
	if (!right)
		return TN_OUT_OF_MEMORY;
	memset(right, 0, sizeof(*right));
	right->host = host;
	right->device = right_device_table;
	right->compute = right_compute_table;
	right->copy = right_copy_table;
	right->nn.struct_size = sizeof(right->nn);
	right->report.struct_size = sizeof(right->report);
	right->report.line = right_line;
	right->compile.struct_size = sizeof(right->compile);
	right->capture.struct_size = sizeof(right->capture);
	right->peer.struct_size = sizeof(right->peer);
	right->stream.struct_size = sizeof(right->stream);
	right->peer.peer_copy = right_peer_copy;
	right->sort.struct_size = sizeof(right->sort);
	right->scan.struct_size = sizeof(right->scan);
	right->import.struct_size = sizeof(right->import);
	right->n_devices = 1;
	right->memory_kinds = 1u << TN_MEMORY_DEVICE;
	right->device_flags = TN_DEVICE_HOST_MEMORY | TN_DEVICE_SYNCHRONOUS;
	break_it(right);
	*instance = right;
	return TN_OK;
}

static inline void right_destroy(void *instance)
{
	const struct tn_host *host = ((struct right *)instance)->host;
	host->free(host->context, instance);
}

static inline const void *right_query(void *instance, const char *table)
{
	const struct right *right = (const struct right *)instance;
	if (!strcmp(table, TN_TABLE_DEVICE))
		return &right->device;
	if (!strcmp(table, TN_TABLE_COMPUTE))
		return &right->compute;
	if (!strcmp(table, TN_TABLE_COPY))
		return &right->copy;
	if (!strcmp(table, TN_TABLE_NN))
		return &right->nn;
	if (!strcmp(table, TN_TABLE_REPORT))
		return &right->report;
	if (!strcmp(table, TN_TABLE_STREAM))
		return &right->stream;
	if (!strcmp(table, TN_TABLE_COMPILE))
		return &right->compile;
	if (!strcmp(table, TN_TABLE_CAPTURE))
		return &right->capture;
	if (!strcmp(table, TN_TABLE_PEER))
		return &right->peer;
	if (!strcmp(table, TN_TABLE_SORT))
		return &right->sort;
	if (!strcmp(table, TN_TABLE_SCAN))
		return &right->scan;
	if (!strcmp(table, TN_TABLE_IMPORT))
		return &right->import;
	return NULL;
}

/* One UUID for all, since no two of them are ever loaded together. */
#define RIGHT_UUID                                                                                 \
	0x8e, 0x21, 0x5b, 0xd0, 0x47, 0xc3, 0x4f, 0x92, 0xa6, 0x1d, 0x3e, 0x70, 0x95, 0xbb, 0x08,  \
		0x6c
#define RIGHT_PLUGIN_OF(NAME, CREATE)                                                              \
	TN_BACKEND_PLUGIN(RIGHT_UUID, NAME, "1", "Apache-2.0", CREATE, right_destroy, right_query)
#define RIGHT_PLUGIN(NAME) RIGHT_PLUGIN_OF(NAME, right_create)

#endif
