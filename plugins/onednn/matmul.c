/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.compute/1: C := alpha A B + beta C by dnnl_sgemm.  C is cut into rectangles by its
 * shape alone, and each is computed whole by one of the host's threads.  Programs (map, reduce) are
 * outside oneDNN's scope and are refused.
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "plan.h"
#include "plugin.h"

enum { BATCH_AXES = 4 };

/* Rectangles begin at multiples of this. */
#define TILE 16
/* A group of small products that justifies another thread: about 10 us on one core. */
#define GROUP_FLOPS 1e6

/* An operand's inner matrices as sgemm reads them: row-major with leading dimension `ld`, or the
 * transpose of such a matrix. */
struct factor {
	const struct tn_operand *operand;
	int transposed;
	int64_t ld;
};

struct product {
	const struct onednn_library *dnn;
	int64_t m, n, k;
	float alpha, beta;
	struct factor a, b, c;
	const int64_t *batch; /* shape */
	uint64_t n_batch;
	int64_t tile_m, tile_n; /* size of a rectangle */
	uint64_t tiles_m, tiles_n;
	_Atomic int32_t answer; /* the first that is not dnnl_success */
};

static tn_status check_types(const struct tn_matmul_args *args)
{
	if (args->has_bias || args->activation || args->a_scale || args->b_scale)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "matmul",
				      "bias, activation and scales are not supported");
	if (args->a.dtype == TN_F32 && args->b.dtype == TN_F32 && args->c.dtype == TN_F32)
		return TN_OK;
	return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "matmul",
			      "dtypes %d, %d, %d: expected f32", args->a.dtype, args->b.dtype,
			      args->c.dtype);
}

static tn_status check_ranks(const struct tn_matmul_args *args)
{
	uint32_t rank = args->c.rank;
	if (args->a.rank == rank && args->b.rank == rank && rank >= 2 && rank <= 2 + BATCH_AXES)
		return TN_OK;
	return tn_plugin_fail(args->call.error, rank > 2 + BATCH_AXES ? TN_UNSUPPORTED : TN_SHAPE,
			      "matmul", "ranks %u, %u and %u: expected equal ranks of 2 to 6",
			      args->a.rank, args->b.rank, rank);
}

static tn_status check_shapes(const struct tn_matmul_args *args)
{
	const int64_t *a = args->a.shape, *b = args->b.shape, *c = args->c.shape;
	uint32_t i = args->c.rank - 2, j = i + 1;
	for (uint32_t axis = 0; axis <= j; axis++) {
		if (a[axis] < 1 || b[axis] < 1 || c[axis] < 1)
			return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, "matmul",
					      "axis %u has lengths %" PRId64 ", %" PRId64
					      ", %" PRId64,
					      axis, a[axis], b[axis], c[axis]);
	}
	for (uint32_t axis = 0; axis < i; axis++) {
		if (a[axis] != c[axis] || b[axis] != c[axis])
			return tn_plugin_fail(args->call.error, TN_SHAPE, "matmul",
					      "batch axis %u has lengths %" PRId64 ", %" PRId64
					      ", %" PRId64,
					      axis, a[axis], b[axis], c[axis]);
	}
	if (a[i] == c[i] && a[j] == b[i] && b[j] == c[j])
		return TN_OK;
	return tn_plugin_fail(args->call.error, TN_SHAPE, "matmul",
			      "(%" PRId64 ", %" PRId64 ") times (%" PRId64 ", %" PRId64
			      ") does not give (%" PRId64 ", %" PRId64 ")",
			      a[i], a[j], b[i], b[j], c[i], c[j]);
}

/* 0: neither axis has stride 1, or rows overlap. */
static int make_factor(struct factor *factor, const struct tn_operand *operand)
{
	uint32_t i = operand->rank - 2;
	int64_t rows = operand->shape[i], columns = operand->shape[i + 1];
	int64_t down = operand->strides[i], across = operand->strides[i + 1];
	factor->operand = operand;
	if ((across == 1 || columns == 1) && (down >= columns || rows == 1)) {
		factor->transposed = 0;
		factor->ld = rows == 1 ? columns : down;
		return 1;
	}
	factor->transposed = 1;
	factor->ld = columns == 1 ? rows : across;
	return (down == 1 || rows == 1) && (across >= rows || columns == 1);
}

/* A column-major C is the product of the transposed factors. */
static void transpose(struct product *p)
{
	struct factor a = p->a;
	int64_t m = p->m;
	p->a = p->b;
	p->b = a;
	p->m = p->n;
	p->n = m;
	p->a.transposed = !p->a.transposed;
	p->b.transposed = !p->b.transposed;
	p->c.transposed = 0;
}

/* The number of rectangles: each packs its rows of A and its columns of B anew, so few while the
 * product is small. */
static int pieces_of(const struct product *p)
{
	static const double least[] = {3e6, 2e7, 1.5e8, 4e9};
	double flops = 2.0 * (double)p->m * (double)p->n * (double)p->k;
	int pieces = 1;
	for (size_t i = 0; i < sizeof(least) / sizeof(*least) && flops >= least[i]; i++)
		pieces *= 2;
	return pieces;
}

static int64_t part(int64_t length, int64_t parts)
{
	int64_t size = (length + parts - 1) / parts;
	return parts == 1 ? length : (size + TILE - 1) / TILE * TILE;
}

static tn_status plan_product(struct product *p, const struct tn_matmul_args *args)
{
	uint32_t i = args->c.rank - 2;
	p->m = args->c.shape[i];
	p->n = args->c.shape[i + 1];
	p->k = args->a.shape[i + 1];
	p->alpha = (float)args->alpha;
	p->beta = (float)args->beta;
	p->batch = args->c.shape;
	p->n_batch = 1;
	for (uint32_t axis = 0; axis < i; axis++)
		p->n_batch *= (uint64_t)args->c.shape[axis];
	if (!make_factor(&p->a, &args->a) || !make_factor(&p->b, &args->b) ||
	    !make_factor(&p->c, &args->c))
		return tn_plugin_fail(
			args->call.error, TN_UNSUPPORTED, "matmul",
			"an inner matrix has no axis of stride 1, or its rows overlap");
	if (p->c.transposed)
		transpose(p);
	/* Cuts C into rectangles of about equal size that are as square as possible. */
	int64_t across = 1, down = 1;
	for (int pieces = pieces_of(p); pieces > 1; pieces /= 2) {
		int64_t *parts = p->m / down > p->n / across ? &down : &across;
		if ((parts == &down ? p->m : p->n) / *parts < 2 * TILE)
			break;
		*parts *= 2;
	}
	p->tile_m = part(p->m, down);
	p->tile_n = part(p->n, across);
	p->tiles_m = (uint64_t)((p->m + p->tile_m - 1) / p->tile_m);
	p->tiles_n = (uint64_t)((p->n + p->tile_n - 1) / p->tile_n);
	return TN_OK;
}

/* ---- Running ---------------------------------------------------------------------------------*/

/* Element (row, column) of matrix `number` of the batch. */
static float *element(const struct product *p, const struct factor *factor, uint64_t number,
		      int64_t row, int64_t column)
{
	const struct tn_operand *operand = factor->operand;
	int64_t at = factor->transposed ? column * factor->ld + row : row * factor->ld + column;
	for (uint32_t axis = operand->rank - 2; axis-- > 0;) {
		uint64_t length = (uint64_t)p->batch[axis];
		at += (int64_t)(number % length) * operand->strides[axis];
		number /= length;
	}
	return (float *)(uintptr_t)(operand->buffer + operand->offset) + at;
}

static int64_t at_most(int64_t length, int64_t most)
{
	return length < most ? length : most;
}

static void multiply_some(void *argument, uint64_t begin, uint64_t end)
{
	struct product *p = argument;
	int saved = onednn_library_enter(p->dnn, 1);
	for (uint64_t number = begin; number < end; number++) {
		int32_t none = dnnl_success;
		uint64_t rest = number / p->tiles_n, matrix = rest / p->tiles_m;
		int64_t i = (int64_t)(rest % p->tiles_m) * p->tile_m;
		int64_t j = (int64_t)(number % p->tiles_n) * p->tile_n;
		dnnl_status_t answer = p->dnn->sgemm(
			p->a.transposed ? 'T' : 'N', p->b.transposed ? 'T' : 'N',
			at_most(p->m - i, p->tile_m), at_most(p->n - j, p->tile_n), p->k, p->alpha,
			element(p, &p->a, matrix, i, 0), p->a.ld, element(p, &p->b, matrix, 0, j),
			p->b.ld, p->beta, element(p, &p->c, matrix, i, j), p->c.ld);
		if (answer)
			atomic_compare_exchange_strong(&p->answer, &none, (int32_t)answer);
	}
	onednn_library_leave(p->dnn, saved);
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	const struct onednn_device *onednn = device;
	struct tn_matmul_args own;
	struct product p = {.dnn = onednn->library};
	tn_status status =
		tn_plugin_take(&own, sizeof(own), args, TN_DRY_RUN | TN_DETERMINISTIC, "matmul");
	if (!status)
		status = check_types(&own);
	if (!status)
		status = check_ranks(&own);
	if (!status)
		status = check_shapes(&own);
	if (!status)
		status = plan_product(&p, &own);
	if (status)
		return status;
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	double flops = 2.0 * (double)p.tile_m * (double)p.tile_n * (double)p.k;
	uint64_t n = p.n_batch * p.tiles_m * p.tiles_n;
	uint64_t group = flops >= GROUP_FLOPS ? 1 : (uint64_t)(GROUP_FLOPS / flops) + 1;
	onednn->instance->host->parallel_for(onednn->instance->host->context, n, group,
					     multiply_some, &p);
	dnnl_status_t answer = (dnnl_status_t)atomic_load(&p.answer);
	return answer ? onednn_answer(own.call.error, answer, TN_BACKEND_FAILURE, "matmul", "sgemm")
		      : TN_OK;
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct tn_map_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, UINT32_MAX, "map");
	(void)device;
	return status ? status
		      : tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "map",
				       "oneDNN does not support element programs");
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	struct tn_reduce_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, UINT32_MAX, "reduce");
	(void)device;
	return status ? status
		      : tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "reduce",
				       "oneDNN does not support element programs");
}

const struct tn_compute_table onednn_compute_table = {
	.struct_size = sizeof(onednn_compute_table),
	.map = map,
	.reduce = reduce,
	.matmul = matmul,
};
