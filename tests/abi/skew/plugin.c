/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A plugin of any version: host memory, one device, programs through the host's interpreter, plain
 * products: enough to train a network.  It follows the rules of sizes, uses everything in its
 * header that the host provides, and checks that the host follows them too: a broken guard is
 * TN_INTERNAL.
 */
#include <stdio.h>
#include <string.h>

#include "level.h"

#define GUARD_BYTES 64

struct skew {
	const struct tn_host *host;
};

static tn_status fail(const struct tn_call *call, tn_status status, const char *operation)
{
	struct tn_error_info own = {.status = status};
	strncpy(own.operation, operation, sizeof(own.operation) - 1);
	strcpy(own.text, "not in this version");
	if (call->error)
		tn_struct_answer(call->error, &own, sizeof(own));
	return status;
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct skew *skew = (struct skew *)host->alloc(host->context, sizeof(*skew), 0);
	(void)error;
	if (!skew)
		return TN_OUT_OF_MEMORY;
	skew->host = host;
	*instance = skew;
	return TN_OK;
}

static void destroy(void *instance)
{
	const struct tn_host *host = ((struct skew *)instance)->host;
	host->free(host->context, instance);
}

/* ---- tenon.device/1 --------------------------------------------------------------------------*/

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	struct tn_device_count own = {.count = 1};
	(void)instance;
#if LEVEL >= 2
	own.seen = 3;
#endif
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static int host_checks(const struct tn_host *host)
{
#if LEVEL >= 1
	return TN_HAS_FIELD(struct tn_host, host, program_check);
#else
	(void)host;
	return 0;
#endif
}

static unsigned cores_of_host(const struct tn_host *host)
{
#if LEVEL >= 2
	/* train.sh's library has grown without giving the field a value. */
	if (TN_HAS_FIELD(struct tn_host, host, cores) && host->cores)
		return host->cores(host->context);
#endif
	(void)host;
	return 0;
}

/* The option's value; "-": this header or the host is older than options. */
static const char *mode_of(const struct tn_host *host)
{
#if LEVEL >= 1
	if (TN_HAS_FIELD(struct tn_host, host, option))
		return host->option(host->context, "mode");
#endif
	(void)host;
	return "-";
}

/* The device's name states the result of the negotiation. */
static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	const struct tn_host *host = ((struct skew *)instance)->host;
	struct tn_device_description own = {
		.kind = TN_DEVICE_CPU,
		.flags = TN_DEVICE_HOST_MEMORY | TN_DEVICE_SYNCHRONOUS,
		.memory_kinds = 1u << TN_MEMORY_DEVICE,
		.storage_dtypes = 0xfffe,
		.program_dtypes = 1u << TN_BOOL | 1u << TN_I32 | 1u << TN_U32 | 1u << TN_I64 |
				  1u << TN_F32 | 1u << TN_F64,
		.matmul_dtypes = 1u << TN_F32,
		.alignment = 256,
	};
	snprintf(own.name, sizeof(own.name), "minor %u, checks %d, cores %u, mode %s",
		 host->abi_minor, host_checks(host), cores_of_host(host), mode_of(host));
#if LEVEL >= 1
	strcpy(own.note, "a note");
#endif
#if LEVEL >= 2
	own.cores = 64;
#endif
	if (index)
		return TN_INVALID_ARGUMENT;
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	(void)args;
	*device = instance;
	return TN_OK;
}

static void close_device(void *device)
{
	(void)device;
}

static tn_status alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	const struct tn_host *host = ((struct skew *)device)->host;
	*buffer = (uint64_t)(uintptr_t)host->alloc(host->context, args->size, 256);
	return *buffer ? TN_OK : fail(&args->call, TN_OUT_OF_MEMORY, "alloc");
}

static tn_status free_buffer(void *device, const struct tn_free_args *args)
{
	const struct tn_host *host = ((struct skew *)device)->host;
	host->free(host->context, (void *)(uintptr_t)args->buffer);
	return TN_OK;
}

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	(void)device;
	memcpy((char *)(uintptr_t)args->buffer + args->offset, args->host, args->size);
	return TN_OK;
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	(void)device;
	memcpy(args->host, (char *)(uintptr_t)args->buffer + args->offset, args->size);
	return TN_OK;
}

static tn_status sync_stream(void *device, const struct tn_sync_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

#if LEVEL >= 1
static tn_status async_error(void *device, void *stream, struct tn_error_info *out)
{
	(void)device;
	(void)stream;
	(void)out;
	return TN_OK;
}
#endif

#if LEVEL >= 2
static tn_status reset(void *device)
{
	(void)device;
	return TN_OK;
}

static tn_status cost(void *device, uint64_t *operations)
{
	(void)device;
	*operations = 12;
	return TN_OK;
}
#endif

/* ---- tenon.compute/1 -------------------------------------------------------------------------*/

static int guard_is_whole(const unsigned char *guard)
{
	for (int i = 0; i < GUARD_BYTES; i++) {
		if (guard[i] != 0xa5)
			return 0;
	}
	return 1;
}

static void count(void *length, const char *text, size_t n)
{
	(void)text;
	*(size_t *)length += n;
}

/* Does the host print, with arguments of this version's size, and check programs if it can? */
static tn_status try_printing(const struct tn_host *host, const struct tn_program *program)
{
	size_t length = 0;
	struct tn_dialect dialect = {.struct_size = sizeof(dialect),
				     .n_operations = TN_OP_COUNT,
				     .dtypes = UINT64_MAX,
				     .words = ""};
	struct tn_print_args args = {
		.struct_size = sizeof(args), .dialect = &dialect, .write = count, .user = &length};
#if LEVEL >= 2
	args.wish = dialect.wish = 1; /* for hosts that have the field */
#endif
	if (host->print_program(host->context, program, &args) || !length)
		return TN_INTERNAL;
#if LEVEL >= 1
	if (host_checks(host) &&
	    host->program_check(host->context, program, TN_OP_COUNT, UINT64_MAX, "map", NULL))
		return TN_INTERNAL;
#endif
	return TN_OK;
}

/* An error of this version's size, which takes the place of the caller's, and kernels. */
struct inner {
	struct tn_error_info error;
	unsigned char guard[GUARD_BYTES];
	struct tn_block_kernels kernels;
};

static void begin_inner(struct inner *inner, struct tn_call *call)
{
	memset(inner, 0, sizeof(*inner));
	memset(inner->guard, 0xa5, sizeof(inner->guard));
	inner->error.struct_size = sizeof(inner->error);
	inner->kernels.struct_size = sizeof(inner->kernels);
#if LEVEL >= 2
	inner->kernels.wish = 1;
#endif
	call->error = &inner->error;
}

static tn_status end_inner(const struct inner *inner, tn_status status, struct tn_error_info *error)
{
	if (!guard_is_whole(inner->guard) || inner->error.struct_size != sizeof(inner->error))
		return TN_INTERNAL;
	if (status && error)
		tn_struct_answer(error, &inner->error, sizeof(inner->error));
	return status;
}

/* Both through the host's interpreter, with arguments, kernels and an error of this version's size.
 */
static tn_status map(void *device, const struct tn_map_args *args)
{
	const struct tn_host *host = ((struct skew *)device)->host;
	struct inner inner;
	struct tn_map_args own;
	tn_status status = tn_arguments_take(&own, sizeof(own), args);
	if (status)
		return fail(&own.call, status, "map");
	own.call.struct_size = sizeof(own);
	begin_inner(&inner, &own.call);
	status = try_printing(host, own.program);
	if (!status)
		status = host->interpret_map(host->context, &own, &inner.kernels);
	return end_inner(&inner, status, args->call.error);
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	const struct tn_host *host = ((struct skew *)device)->host;
	struct inner inner;
	struct tn_reduce_args own;
	tn_status status = tn_arguments_take(&own, sizeof(own), args);
	if (status)
		return fail(&own.call, status, "reduce");
	own.call.struct_size = sizeof(own);
	begin_inner(&inner, &own.call);
	status = host->interpret_reduce(host->context, &own, &inner.kernels);
	return end_inner(&inner, status, args->call.error);
}

/* Element (i, j) of the matrix at that index of the batch axes. */
static float *element(const struct tn_operand *x, const int64_t *batch, int64_t i, int64_t j)
{
	const uint32_t last = x->rank - 1;
	float *at = (float *)(uintptr_t)(x->buffer + x->offset);
	for (uint32_t d = 0; d < last - 1; d++)
		at += batch[d] * x->strides[d];
	return at + i * x->strides[last - 1] + j * x->strides[last];
}

static void multiply_one(const struct tn_matmul_args *own, const int64_t *batch)
{
	const struct tn_operand *a = &own->a, *b = &own->b, *c = &own->c;
	const uint32_t last = c->rank - 1;
	for (int64_t i = 0; i < c->shape[last - 1]; i++) {
		for (int64_t j = 0; j < c->shape[last]; j++) {
			double sum = 0;
			for (int64_t k = 0; k < a->shape[last]; k++)
				sum += (double)*element(a, batch, i, k) *
				       (double)*element(b, batch, k, j);
			sum *= own->alpha;
#if LEVEL >= 1
			if (own->beta != 0)
				sum += own->beta * (double)*element(c, batch, i, j);
#endif
#if LEVEL >= 2
			sum += own->gamma;
#endif
			*element(c, batch, i, j) = (float)sum;
		}
	}
}

static void multiply(const struct tn_matmul_args *own)
{
	int64_t batch[TN_MAX_RANK] = {0};
	uint32_t axis;
	do {
		multiply_one(own, batch);
		for (axis = own->c.rank - 2; axis-- > 0;) {
			if (++batch[axis] < own->c.shape[axis])
				break;
			batch[axis] = 0;
		}
	} while (axis < own->c.rank);
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own;
	(void)device;
	if (tn_arguments_take(&own, sizeof(own), args) ||
	    (own.call.flags & ~(unsigned)(TN_DRY_RUN | TN_DETERMINISTIC)) || own.c.rank < 2 ||
	    own.a.dtype != TN_F32 || own.c.dtype != TN_F32)
		return fail(&own.call, TN_UNSUPPORTED, "matmul");
#if LEVEL >= 1
	if (own.has_bias || own.activation)
		return fail(&own.call, TN_UNSUPPORTED, "matmul");
#endif
	if (own.call.workspace &&
	    TN_HAS_FIELD(struct tn_workspace, own.call.workspace, preferred)) {
		own.call.workspace->minimum = 0;
		own.call.workspace->preferred = 0;
	}
	if (!(own.call.flags & TN_DRY_RUN))
		multiply(&own);
	return TN_OK;
}

/* ---- tenon.copy/1, tenon.memory/1 ------------------------------------------------------------*/

static tn_status fill(void *device, const struct tn_fill_args *args)
{
	(void)device;
	return fail(&args->call, TN_UNSUPPORTED, "fill");
}

#if LEVEL >= 1
static tn_status gather(void *device, const struct tn_gather_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}
#endif

#if LEVEL >= 2
static tn_status negate(void *device, const struct tn_copy_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}
#endif

static tn_status information(void *device, uint32_t memory_kind, struct tn_memory_information *out)
{
	struct tn_memory_information own = {.total_bytes = 1000, .free_bytes = 500};
	(void)device;
	if (memory_kind != TN_MEMORY_DEVICE)
		return TN_UNSUPPORTED;
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static const struct tn_device_table device_table = {
	.struct_size = sizeof(device_table),
	.device_count = device_count,
	.describe = describe,
	.open = open_device,
	.close = close_device,
	.alloc = alloc,
	.free = free_buffer,
	.upload = upload,
	.download = download,
	.sync = sync_stream,
#if LEVEL >= 1
	.async_error = async_error,
#endif
#if LEVEL >= 2
	.reset = reset,
#endif
};

static const struct tn_compute_table compute_table = {
	.struct_size = sizeof(compute_table),
	.map = map,
	.reduce = reduce,
	.matmul = matmul,
#if LEVEL >= 2
	.cost = cost,
#endif
};

static const struct tn_copy_table copy_table = {
	.struct_size = sizeof(copy_table),
	.fill = fill,
#if LEVEL >= 1
	.gather = gather,
#endif
#if LEVEL >= 2
	.negate = negate,
#endif
};

static const struct tn_memory_table memory_table = {
	.struct_size = sizeof(memory_table),
	.information = information,
};

static const void *query(void *instance, const char *table)
{
	(void)instance;
	if (!strcmp(table, TN_TABLE_DEVICE))
		return &device_table;
	if (!strcmp(table, TN_TABLE_COMPUTE))
		return &compute_table;
	if (!strcmp(table, TN_TABLE_COPY))
		return &copy_table;
	if (!strcmp(table, TN_TABLE_MEMORY))
		return &memory_table;
	return NULL;
}

#define UUID                                                                                       \
	0x5a, 0x0c, 0x7d, 0x21, 0x66, 0x9e, 0x4b, 0x3f, 0x92, 0x1b, 0x07, 0xc4, 0xd8, 0x35, 0xea,  \
		0x60
#if LEVEL >= 1
static const struct tn_option_row options[] = {
	{
		.name = "mode",
		.type = TN_OPTION_CHOICE,
		.standard = "one",
		.choices = "one,two",
		.help = "which of two",
	},
};
TN_BACKEND_PLUGIN_OPTIONS(UUID, "skew", LEVEL_TEXT, "Apache-2.0", create, destroy, query, options);
#else
TN_BACKEND_PLUGIN(UUID, "skew", LEVEL_TEXT, "Apache-2.0", create, destroy, query);
#endif
