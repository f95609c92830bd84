/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products that are wrong at the end of blocks, and scratch memory shared by threads.
 */
#include <pthread.h>
#include <stdlib.h>

#include "faulty.h"

struct product {
	int64_t m, n, k;
	int a_transposed, b_transposed;
	int64_t ld; /* the largest leading dimension */
};

static int is_transposed(const struct tn_operand *o)
{
	return o->strides[o->rank - 2] == 1 && o->strides[o->rank - 1] != 1;
}

static int64_t leading_dimension(const struct tn_operand *o)
{
	return is_transposed(o) ? o->strides[o->rank - 1] : o->strides[o->rank - 2];
}

static struct product describe(const struct tn_matmul_args *args)
{
	uint32_t rank = args->c.rank;
	struct product p = {
		.m = args->c.shape[rank - 2],
		.n = args->c.shape[rank - 1],
		.k = args->a.shape[rank - 1],
		.a_transposed = is_transposed(&args->a),
		.b_transposed = is_transposed(&args->b),
		.ld = leading_dimension(&args->a),
	};
	if (leading_dimension(&args->b) > p.ld)
		p.ld = leading_dimension(&args->b);
	return p;
}

/* ---- Sizes -----------------------------------------------------------------------------------*/

static int (*is_wrong)(const struct product *p);

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	tn_status status = right.compute.matmul(device, args);
	if (computes(&args->call, status)) {
		struct product p = describe(args);
		if (is_wrong(&p))
			spoil(&args->c);
	}
	return status;
}

static int b_transposed_and_long(const struct product *p)
{
	return p->b_transposed && p->k > 512;
}

static int a_transposed_and_long(const struct product *p)
{
	return p->a_transposed && p->k > 128;
}

static int large_all_ways(const struct product *p)
{
	return p->m > 128 && p->n > 128 && p->k > 128;
}

static int tall(const struct product *p)
{
	return p->m > 1100;
}

static int whole_blocks(const struct product *p)
{
	return p->k % 1024 == 0;
}

static int long_rows(const struct product *p)
{
	return p->ld > 4096;
}

static void plant_matmul(int (*condition)(const struct product *p))
{
	is_wrong = condition;
	faulty.compute.matmul = matmul;
}

static void plant_b_transposed(void)
{
	plant_matmul(b_transposed_and_long);
}

static void plant_a_transposed(void)
{
	plant_matmul(a_transposed_and_long);
}

static void plant_large(void)
{
	plant_matmul(large_all_ways);
}

static void plant_tall(void)
{
	plant_matmul(tall);
}

static void plant_whole_blocks(void)
{
	plant_matmul(whole_blocks);
}

static void plant_long_rows(void)
{
	plant_matmul(long_rows);
}

/* ---- Scratch memory --------------------------------------------------------------------------*/

enum { SCRATCH = 1 << 16, LARGE = 64 * 64 };

/* A large product is computed in scratch memory and copied, with other products in between. */
static tn_status through(float *scratch, void *device, const struct tn_matmul_args *args)
{
	struct tn_matmul_args own = *args;
	int64_t count = operand_count(&args->c);
	if (args->call.flags & TN_DRY_RUN || args->c.dtype != TN_F32 || args->c.rank != 2 ||
	    args->beta != 0 || count < LARGE || count > SCRATCH)
		return right.compute.matmul(device, args);
	own.c.buffer = (uint64_t)(uintptr_t)scratch;
	own.c.offset = 0;
	own.c.strides[0] = own.c.shape[1];
	own.c.strides[1] = 1;
	tn_status status = right.compute.matmul(device, &own);
	for (int64_t i = 0; status == TN_OK && i < count; i++)
		*(float *)operand_at(&args->c, i) = scratch[i];
	return status;
}

static tn_status matmul_in_static_scratch(void *device, const struct tn_matmul_args *args)
{
	static float scratch[SCRATCH];
	return through(scratch, device, args);
}

static void plant_static_scratch(void)
{
	faulty.compute.matmul = matmul_in_static_scratch;
}

enum { DEVICES = 64 };

/* The open devices of each instance, and its scratch. */
static struct {
	void *device, *instance;
	float *scratch;
} opened[DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static tn_status open_with_scratch(void *instance, const struct tn_open_args *args, void **device)
{
	tn_status status = right.device.open(instance, args, device);
	if (!computes(&args->call, status))
		return status;
	pthread_mutex_lock(&lock);
	float *scratch = NULL;
	int free_row = -1;
	for (int i = 0; i < DEVICES; i++) {
		if (opened[i].device && opened[i].instance == instance)
			scratch = opened[i].scratch;
		else if (!opened[i].device)
			free_row = i;
	}
	if (!scratch)
		scratch = calloc(SCRATCH, sizeof(float));
	opened[free_row].device = *device;
	opened[free_row].instance = instance;
	opened[free_row].scratch = scratch;
	pthread_mutex_unlock(&lock);
	return status;
}

static void close_with_scratch(void *device)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < DEVICES; i++) {
		if (opened[i].device == device)
			opened[i].device = NULL;
	}
	pthread_mutex_unlock(&lock);
	right.device.close(device);
}

static tn_status matmul_in_instance_scratch(void *device, const struct tn_matmul_args *args)
{
	float *scratch = NULL;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < DEVICES; i++) {
		if (opened[i].device == device)
			scratch = opened[i].scratch;
	}
	pthread_mutex_unlock(&lock);
	return through(scratch, device, args);
}

static void plant_instance_scratch(void)
{
	faulty.device.open = open_with_scratch;
	faulty.device.close = close_with_scratch;
	faulty.compute.matmul = matmul_in_instance_scratch;
}

const struct fault matmul_faults[] = {
	{"matmul_b_transposed", plant_b_transposed},
	{"matmul_a_transposed", plant_a_transposed},
	{"matmul_large", plant_large},
	{"matmul_tall", plant_tall},
	{"matmul_whole_blocks", plant_whole_blocks},
	{"matmul_long_rows", plant_long_rows},
	{"scratch_static", plant_static_scratch},
	{"scratch_of_instance", plant_instance_scratch},
	{NULL, NULL},
};
