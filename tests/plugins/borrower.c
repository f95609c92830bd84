/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host memory and one operation, like a library of a few fast kernels: products of f32 matrices in
 * plain loops.  Programs and reductions return TN_UNSUPPORTED; other backends in host memory lend
 * them.
 */
#include <tenon/backend.h>

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out);
#define MINIMAL_DESCRIBE describe
#include "minimal.h"

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description device = {.struct_size = sizeof(device)};
	tn_status status = minimal_describe(instance, index, &device);
	if (status)
		return status;
	snprintf(device.name, sizeof(device.name), "products in host memory");
	snprintf(device.note, sizeof(device.note), "programs and reductions are lent");
	device.program_dtypes = 0;
	tn_struct_answer(out, &device, sizeof(device));
	return TN_OK;
}

static tn_status fail(const struct tn_call *call, tn_status status, const char *operation,
		      const char *text)
{
	struct tn_error_info own = {.struct_size = sizeof(own), .status = status};
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	snprintf(own.text, sizeof(own.text), "%s", text);
	if (call->error)
		tn_struct_answer(call->error, &own, sizeof(own));
	return status;
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	(void)device;
	return fail(&args->call, TN_UNSUPPORTED, "map", "products alone");
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	(void)device;
	return fail(&args->call, TN_UNSUPPORTED, "reduce", "products alone");
}

/* ---- C := alpha A B + beta C -----------------------------------------------------------------*/

static float *element(const struct tn_operand *o, int64_t batch, int64_t i, int64_t j)
{
	float *first = (float *)(uintptr_t)(o->buffer + o->offset);
	int64_t at = i * o->strides[o->rank - 2] + j * o->strides[o->rank - 1];
	for (uint32_t axis = o->rank - 2; axis-- > 0;) {
		at += batch % o->shape[axis] * o->strides[axis];
		batch /= o->shape[axis];
	}
	return first + at;
}

static void multiply(const struct tn_matmul_args *args, int64_t batch)
{
	uint32_t rank = args->c.rank;
	for (int64_t i = 0; i < args->c.shape[rank - 2]; i++) {
		for (int64_t j = 0; j < args->c.shape[rank - 1]; j++) {
			const float *row = element(&args->a, batch, i, 0);
			const float *column = element(&args->b, batch, 0, j);
			float *c = element(&args->c, batch, i, j), sum = 0;
			for (int64_t k = 0; k < args->a.shape[rank - 1]; k++)
				sum += row[k * args->a.strides[rank - 1]] *
				       column[k * args->b.strides[rank - 2]];
			*c = (float)args->alpha * sum +
			     (args->beta == 0 ? 0 : (float)args->beta * *c);
		}
	}
}

static int fits(const struct tn_matmul_args *args)
{
	const struct tn_operand *a = &args->a, *b = &args->b, *c = &args->c;
	uint32_t rank = c->rank;
	if (rank < 2 || a->rank != rank || b->rank != rank ||
	    a->shape[rank - 1] != b->shape[rank - 2] || a->shape[rank - 2] != c->shape[rank - 2] ||
	    b->shape[rank - 1] != c->shape[rank - 1])
		return 0;
	for (uint32_t axis = 0; axis + 2 < rank; axis++) {
		if (a->shape[axis] != c->shape[axis] || b->shape[axis] != c->shape[axis])
			return 0;
	}
	return 1;
}

static tn_status matmul(void *device, const struct tn_matmul_args *given)
{
	struct tn_matmul_args args;
	tn_status status = tn_arguments_take(&args, sizeof(args), given);
	const uint32_t known = TN_DRY_RUN | TN_DETERMINISTIC;
	int64_t n_batch = 1;
	(void)device;
	if (status || args.call.flags & ~known)
		return fail(&args.call, TN_UNSUPPORTED, "matmul", "arguments of a newer host");
	if (args.has_bias || args.activation || args.a_scale || args.b_scale)
		return fail(&args.call, TN_UNSUPPORTED, "matmul", "no bias and no activation");
	if (args.a.dtype != TN_F32 || args.b.dtype != TN_F32 || args.c.dtype != TN_F32)
		return fail(&args.call, TN_UNSUPPORTED, "matmul", "f32 alone");
	if (!fits(&args))
		return fail(&args.call, TN_SHAPE, "matmul", "the shapes have no product");
	if (args.call.flags & TN_DRY_RUN)
		return TN_OK;
	for (uint32_t axis = 0; axis + 2 < args.c.rank; axis++)
		n_batch *= args.c.shape[axis];
	for (int64_t batch = 0; batch < n_batch; batch++)
		multiply(&args, batch);
	return TN_OK;
}

/* ---- The tables ------------------------------------------------------------------------------*/

static const struct tn_compute_table compute_table = {
	.struct_size = sizeof(compute_table),
	.map = map,
	.reduce = reduce,
	.matmul = matmul,
};

static const void *query(void *instance, const char *table)
{
	return strcmp(table, TN_TABLE_COMPUTE) == 0 ? &compute_table
						    : minimal_query(instance, table);
}

#define UUID                                                                                       \
	0x61, 0x0e, 0x0a, 0x3b, 0x52, 0x7c, 0x4d, 0x90, 0xb6, 0x1f, 0x2c, 0xd8, 0x95, 0x4e, 0x07,  \
		0xaa
TN_BACKEND_PLUGIN(UUID, "borrower", "1.0", "Apache-2.0", minimal_create, minimal_destroy, query);
