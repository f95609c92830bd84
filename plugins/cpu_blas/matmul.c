/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * C := activation(alpha A B + beta C + bias), batched.
 *
 * The product is converted to a row-major C (a column-major one is the transposed product), cut
 * into rectangles of C by its shape alone, and each rectangle is computed by one thread: so the
 * bits do not depend on the number of threads.  OpenBLAS computes a rectangle, by gemv if it is one
 * row or one column (gemm is six times slower there), and by dot if it is one element.  The
 * plugin's own kernels do where OpenBLAS is missing or slower, as in a batch of short dot products,
 * and if a length exceeds its 32-bit integers.  Bias and activation follow at once, on the same
 * thread, while the rectangle or its end is in a cache.
 */
#include "matmul.h"

#include <limits.h>
#include <string.h>

#include "conv2d.h"
#include "plugin.h"

#define BATCH_AXES 4
/* A group of small products that justifies another thread: about 10 us on one core. */
#define GROUP_FLOPS 1e6
/* Up to this product of lengths OpenBLAS computes on the calling thread whatever its thread count
 * (SMP_THRESHOLD_MIN times GEMM_MULTITHREAD_THRESHOLD in its interface/gemm.c). */
#define SERIAL_IN_BLAS 262144.0
/* Rectangles begin at multiples of this. */
#define TILE 32

/* One factor in BLAS's terms: row-major with leading dimension `ld`, read transposed or not. */
struct factor {
	uint64_t address;
	int transposed;
	int64_t ld;
	int64_t batch_strides[BATCH_AXES]; /* in elements */
};

struct product {
	const struct cpu_instance *cpu;
	tn_dtype dtype;
	size_t size; /* of an element */
	int64_t m, n, k;
	double alpha, beta;
	struct factor a, b, c;
	uint32_t n_batch_axes;
	int64_t batch_shape[BATCH_AXES];
	uint64_t n_batches;
	int64_t tile_m, tile_n; /* size of a rectangle */
	uint64_t tiles_m, tiles_n;
	int by_blas;
	const float *bias; /* of columns, or of rows if C was transposed; NULL: none */
	int bias_is_down;
	uint32_t activation;
};

static tn_status check_types(const struct tn_matmul_args *args)
{
	tn_dtype dtype = args->c.dtype;
	if (args->a_scale || args->b_scale)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "matmul",
				      "scales are not supported");
	if (args->a.dtype == dtype && args->b.dtype == dtype &&
	    (dtype == TN_F32 || dtype == TN_F64))
		return TN_OK;
	return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "matmul",
			      "dtypes %d, %d and %d: expected f32 or f64 for all three",
			      args->a.dtype, args->b.dtype, dtype);
}

/* Bias and activation are computed in f32. */
static tn_status check_epilogue(const struct tn_matmul_args *args)
{
	const struct tn_operand *bias = &args->bias, *c = &args->c;
	struct tn_error_info *error = args->call.error;
	if (!args->has_bias && !args->activation)
		return TN_OK;
	if (args->activation > TN_ACTIVATION_GELU || c->dtype != TN_F32 ||
	    (args->has_bias && bias->dtype != TN_F32))
		return tn_plugin_fail(error, TN_UNSUPPORTED, "matmul",
				      "activation %u, C of dtype %d: expected 0 to %d, and f32",
				      args->activation, c->dtype, TN_ACTIVATION_GELU);
	if (!args->has_bias)
		return TN_OK;
	if (bias->rank != 1 || bias->shape[0] != c->shape[c->rank - 1])
		return tn_plugin_fail(error, TN_SHAPE, "matmul",
				      "bias: expected one axis of %lld elements",
				      (long long)c->shape[c->rank - 1]);
	if (bias->strides[0] != 1 && bias->shape[0] > 1)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "matmul",
				      "bias: stride %lld, expected 1", (long long)bias->strides[0]);
	return TN_OK;
}

static tn_status check_shapes(const struct tn_matmul_args *args)
{
	const struct tn_operand *a = &args->a, *b = &args->b, *c = &args->c;
	struct tn_error_info *error = args->call.error;
	uint32_t rank = c->rank;
	if (a->rank != rank || b->rank != rank || rank < 2 || rank > 2 + BATCH_AXES)
		return tn_plugin_fail(error, rank > 2 + BATCH_AXES ? TN_UNSUPPORTED : TN_SHAPE,
				      "matmul",
				      "ranks %u, %u and %u: expected equal ranks of 2 to 6",
				      a->rank, b->rank, rank);
	for (uint32_t i = 0; i < rank; i++) {
		if (a->shape[i] < 1 || b->shape[i] < 1 || c->shape[i] < 1)
			return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "matmul",
					      "axis %u has lengths %lld, %lld, %lld", i,
					      (long long)a->shape[i], (long long)b->shape[i],
					      (long long)c->shape[i]);
	}
	for (uint32_t i = 0; i + 2 < rank; i++) {
		if (a->shape[i] != c->shape[i] || b->shape[i] != c->shape[i])
			return tn_plugin_fail(error, TN_SHAPE, "matmul",
					      "batch axis %u has lengths %lld, %lld, %lld", i,
					      (long long)a->shape[i], (long long)b->shape[i],
					      (long long)c->shape[i]);
	}
	uint32_t i = rank - 2, j = rank - 1;
	if (a->shape[i] == c->shape[i] && a->shape[j] == b->shape[i] && b->shape[j] == c->shape[j])
		return TN_OK;
	return tn_plugin_fail(error, TN_SHAPE, "matmul",
			      "(%lld, %lld) times (%lld, %lld) does not give (%lld, %lld)",
			      (long long)a->shape[i], (long long)a->shape[j],
			      (long long)b->shape[i], (long long)b->shape[j],
			      (long long)c->shape[i], (long long)c->shape[j]);
}

/* Determines how to read the operand's inner matrices; 0: neither axis has stride 1. */
static int make_factor(struct factor *factor, const struct tn_operand *operand)
{
	uint32_t n_batch_axes = operand->rank - 2;
	int64_t rows = operand->shape[n_batch_axes], columns = operand->shape[n_batch_axes + 1];
	int64_t down = operand->strides[n_batch_axes], across = operand->strides[n_batch_axes + 1];
	factor->address = operand->buffer + operand->offset;
	memcpy(factor->batch_strides, operand->strides, n_batch_axes * sizeof(int64_t));
	if ((across == 1 || columns == 1) && (down >= columns || rows == 1)) {
		factor->transposed = 0;
		factor->ld = rows == 1 ? columns : down;
		return 1;
	}
	if ((down == 1 || rows == 1) && (across >= rows || columns == 1)) {
		factor->transposed = 1;
		factor->ld = columns == 1 ? rows : across;
		return 1;
	}
	return 0;
}

/* C^T = B^T A^T: the same product with row-major C. */
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

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t round_up(int64_t a, int64_t b)
{
	return divide_up(a, b) * b;
}

/* The number of rectangles: for each, BLAS packs its rows of A and its columns of B anew, so few
 * while the product is small, and more if many threads may share a large one. */
static int64_t pieces_of(const struct product *p)
{
	static const double least[] = {3e6, 2e7, 1.5e8, 4e9, 6e10, 5e11};
	double flops = 2.0 * (double)p->m * (double)p->n * (double)p->k;
	int64_t pieces = 1;
	for (size_t i = 0; i < sizeof(least) / sizeof(*least) && flops >= least[i]; i++)
		pieces *= 2;
	return pieces;
}

/* Cuts C into rectangles of about equal size that are as square as possible. */
static void cut_tiles(struct product *p)
{
	int64_t across = 1, down = 1;
	for (int64_t pieces = pieces_of(p); pieces > 1; pieces /= 2) {
		int64_t *parts = p->m / down > p->n / across ? &down : &across;
		if ((parts == &down ? p->m : p->n) / *parts < 2 * TILE)
			break;
		*parts *= 2;
	}
	p->tile_m = down == 1 ? p->m : round_up(divide_up(p->m, down), TILE);
	p->tile_n = across == 1 ? p->n : round_up(divide_up(p->n, across), TILE);
	p->tiles_m = (uint64_t)divide_up(p->m, p->tile_m);
	p->tiles_n = (uint64_t)divide_up(p->n, p->tile_n);
}

/* The plugin's own kernel is faster if OpenBLAS lags, and may be if B is read along its columns,
 * because it packs them once. */
static int own_leads(const struct product *p)
{
	return p->cpu->blas.lags ||
	       (p->cpu->kernels->sgemm_leads && p->dtype == TN_F32 && p->b.transposed &&
		!p->a.transposed && p->m >= 16 && p->m <= 1024 && p->n >= 32 && p->k <= 1024);
}

static int fits(const struct product *p)
{
	return p->cpu->blas.handle && p->m <= INT_MAX && p->n <= INT_MAX && p->k <= INT_MAX &&
	       p->a.ld <= INT_MAX && p->b.ld <= INT_MAX && p->c.ld <= INT_MAX;
}

static tn_status plan_product(struct product *p, const struct tn_matmul_args *args)
{
	uint32_t i = args->c.rank - 2;
	p->dtype = args->c.dtype;
	p->size = p->dtype == TN_F32 ? sizeof(float) : sizeof(double);
	p->m = args->c.shape[i];
	p->n = args->c.shape[i + 1];
	p->k = args->a.shape[i + 1];
	p->alpha = args->alpha;
	p->beta = args->beta;
	p->n_batch_axes = i;
	p->n_batches = 1;
	for (uint32_t axis = 0; axis < i; axis++) {
		p->batch_shape[axis] = args->c.shape[axis];
		p->n_batches *= (uint64_t)args->c.shape[axis];
	}
	if (!make_factor(&p->a, &args->a) || !make_factor(&p->b, &args->b) ||
	    !make_factor(&p->c, &args->c))
		return tn_plugin_fail(
			args->call.error, TN_UNSUPPORTED, "matmul",
			"an inner matrix has no axis of stride 1, or its rows overlap");
	p->activation = args->activation;
	if (args->has_bias)
		p->bias = (const float *)(uintptr_t)(args->bias.buffer + args->bias.offset);
	p->bias_is_down = p->c.transposed;
	if (p->c.transposed)
		transpose(p);
	cut_tiles(p);
	p->by_blas = fits(p) && !own_leads(p);
	return TN_OK;
}

/* A rectangle of one product: m x n at row i, column j. */
struct rectangle {
	int64_t i, j, m, n;
	char *a, *b, *c; /* its first row of A, first column of B, first element */
};

static char *element(const struct product *p, const struct factor *factor, uint64_t base,
		     int64_t row, int64_t column)
{
	int64_t at = factor->transposed ? column * factor->ld + row : row * factor->ld + column;
	return (char *)(uintptr_t)(base + (uint64_t)at * p->size);
}

static uint64_t batch_base(const struct product *p, const struct factor *factor, uint64_t batch)
{
	uint64_t base = factor->address;
	if (!p->n_batch_axes)
		return base;
	for (uint32_t axis = p->n_batch_axes; --axis > 0;) {
		uint64_t length = (uint64_t)p->batch_shape[axis];
		base += (batch % length) * (uint64_t)factor->batch_strides[axis] * p->size;
		batch /= length;
	}
	return base + batch * (uint64_t)factor->batch_strides[0] * p->size;
}

static struct rectangle piece(const struct product *p, uint64_t number)
{
	uint64_t column = number % p->tiles_n, rest = number / p->tiles_n;
	uint64_t row = rest % p->tiles_m, batch = rest / p->tiles_m;
	struct rectangle r = {.i = (int64_t)row * p->tile_m, .j = (int64_t)column * p->tile_n};
	r.m = p->m - r.i < p->tile_m ? p->m - r.i : p->tile_m;
	r.n = p->n - r.j < p->tile_n ? p->n - r.j : p->tile_n;
	r.a = element(p, &p->a, batch_base(p, &p->a, batch), r.i, 0);
	r.b = element(p, &p->b, batch_base(p, &p->b, batch), 0, r.j);
	r.c = element(p, &p->c, batch_base(p, &p->c, batch), r.i, r.j);
	return r;
}

static int trans(const struct factor *factor)
{
	return factor->transposed ? BLAS_TRANS : BLAS_NO_TRANS;
}

static void clear(char *y, int64_t n, int64_t step, size_t size)
{
	if (step == 1) {
		memset(y, 0, (size_t)n * size);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		memset(y + (size_t)(i * step) * size, 0, size);
}

/* y := alpha op(M) x + beta y, M stored as rows x columns.  With beta = 0 y is cleared here,
 * because some versions of the library multiply its old contents. */
static void gemv(const struct product *p, int op, int64_t rows, int64_t columns, const char *matrix,
		 int64_t ld, const char *x, int64_t step_x, char *y, int64_t n_y, int64_t step_y)
{
	const struct cpu_blas *blas = &p->cpu->blas;
	double beta = p->beta;
	if (beta == 0) {
		clear(y, n_y, step_y, p->size);
		beta = 1;
	}
	if (p->dtype == TN_F32)
		blas->sgemv(BLAS_ROW_MAJOR, op, (int)rows, (int)columns, (float)p->alpha,
			    (const float *)matrix, (int)ld, (const float *)x, (int)step_x,
			    (float)beta, (float *)y, (int)step_y);
	else
		blas->dgemv(BLAS_ROW_MAJOR, op, (int)rows, (int)columns, p->alpha,
			    (const double *)matrix, (int)ld, (const double *)x, (int)step_x, beta,
			    (double *)y, (int)step_y);
}

/* One row: c^T = op(B)^T a^T.  B is stored k x n, or n x k when transposed. */
static void row(const struct product *p, const struct rectangle *r)
{
	int64_t step = p->a.transposed ? p->a.ld : 1;
	if (p->b.transposed)
		gemv(p, BLAS_NO_TRANS, r->n, p->k, r->b, p->b.ld, r->a, step, r->c, r->n, 1);
	else
		gemv(p, BLAS_TRANS, p->k, r->n, r->b, p->b.ld, r->a, step, r->c, r->n, 1);
}

/* One column: c = op(A) b. */
static void column(const struct product *p, const struct rectangle *r)
{
	int64_t step = p->b.transposed ? 1 : p->b.ld;
	if (p->a.transposed)
		gemv(p, BLAS_TRANS, p->k, r->m, r->a, p->a.ld, r->b, step, r->c, r->m, p->c.ld);
	else
		gemv(p, BLAS_NO_TRANS, r->m, p->k, r->a, p->a.ld, r->b, step, r->c, r->m, p->c.ld);
}

/* One element. */
static void dot(const struct product *p, const struct rectangle *r)
{
	const struct cpu_blas *blas = &p->cpu->blas;
	const int k = (int)p->k, step_a = (int)(p->a.transposed ? p->a.ld : 1);
	const int step_b = (int)(p->b.transposed ? 1 : p->b.ld);
	if (p->dtype == TN_F32) {
		float *c = (float *)(void *)r->c,
		      sum = blas->sdot(k, (const float *)r->a, step_a, (const float *)r->b, step_b);
		sum *= (float)p->alpha;
		*c = p->beta == 0 ? sum : sum + (float)p->beta * *c;
		return;
	}
	double *c = (double *)(void *)r->c,
	       sum = blas->ddot(k, (const double *)r->a, step_a, (const double *)r->b, step_b);
	sum *= p->alpha;
	*c = p->beta == 0 ? sum : sum + p->beta * *c;
}

static void gemm(const struct product *p, const struct rectangle *r)
{
	const struct cpu_blas *blas = &p->cpu->blas;
	int m = (int)r->m, n = (int)r->n, k = (int)p->k;
	if (p->dtype == TN_F32)
		blas->sgemm(BLAS_ROW_MAJOR, trans(&p->a), trans(&p->b), m, n, k, (float)p->alpha,
			    (const float *)r->a, (int)p->a.ld, (const float *)r->b, (int)p->b.ld,
			    (float)p->beta, (float *)r->c, (int)p->c.ld);
	else
		blas->dgemm(BLAS_ROW_MAJOR, trans(&p->a), trans(&p->b), m, n, k, p->alpha,
			    (const double *)r->a, (int)p->a.ld, (const double *)r->b, (int)p->b.ld,
			    p->beta, (double *)r->c, (int)p->c.ld);
}

/* A compact column of C as the row of the transposed product. */
static void turn(struct cpu_gemm *g)
{
	struct cpu_gemm from = *g;
	g->m = from.n;
	g->n = from.m;
	g->a = from.b;
	g->b = from.a;
	g->a_down = from.b_across;
	g->a_across = from.b_down;
	g->b_down = from.a_across;
	g->b_across = from.a_down;
}

static void own(const struct product *p, const struct rectangle *r)
{
	struct cpu_gemm g = {.m = r->m, .n = r->n, .k = p->k, .alpha = p->alpha, .beta = p->beta};
	g.a = r->a;
	g.b = r->b;
	g.c = r->c;
	g.a_down = p->a.transposed ? 1 : p->a.ld;
	g.a_across = p->a.transposed ? p->a.ld : 1;
	g.b_down = p->b.transposed ? 1 : p->b.ld;
	g.b_across = p->b.transposed ? p->b.ld : 1;
	g.c_down = p->c.ld;
	if (r->n == 1 && p->c.ld == 1)
		turn(&g);
	if (p->dtype == TN_F32)
		p->cpu->kernels->sgemm(&g);
	else
		p->cpu->kernels->dgemm(&g);
}

static void add_scalar(float *row, float value, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		row[i] += value;
}

/* Bias and activation of a rectangle. */
static void finish(const struct product *p, const struct rectangle *r)
{
	tn_block_fn add = p->cpu->blocks.operations[TN_OP_ADD][TN_COLUMN_F32];
	if (!p->bias && !p->activation)
		return;
	for (int64_t i = 0; i < r->m; i++) {
		float *row = (float *)(void *)r->c + i * p->c.ld;
		if (p->bias && p->bias_is_down)
			add_scalar(row, p->bias[r->i + i], r->n);
		else if (p->bias)
			add(row, row, p->bias + r->j, NULL, (size_t)r->n);
		cpu_activate(p->cpu, p->activation, row, r->n);
	}
}

static void run_pieces(void *argument, uint64_t begin, uint64_t end)
{
	const struct product *p = argument;
	int count = p->by_blas ? cpu_blas_thread_enter(&p->cpu->blas) : 0;
	for (uint64_t i = begin; i < end; i++) {
		struct rectangle r = piece(p, i);
		if (!p->by_blas)
			own(p, &r);
		else if (p->m == 1 && p->n == 1)
			dot(p, &r);
		else if (p->m == 1)
			row(p, &r);
		else if (p->n == 1)
			column(p, &r);
		else
			gemm(p, &r);
		finish(p, &r);
	}
	if (p->by_blas)
		cpu_blas_thread_leave(&p->cpu->blas, count);
}

/* Lines of a batch that lie evenly, and are short enough for the plugin's own kernel. */
static int are_short_lines(const struct product *p)
{
	enum { LONGEST = 1024 };
	return p->m == 1 && p->n == 1 && p->k <= LONGEST && p->n_batch_axes <= 1 && !p->bias &&
	       !p->activation && (!p->a.transposed || p->a.ld == 1) &&
	       (p->b.transposed || p->b.ld == 1);
}

static void run_lines(void *argument, uint64_t begin, uint64_t end)
{
	const struct product *p = argument;
	struct cpu_dots d = {
		.n = (int64_t)(end - begin), .k = p->k, .alpha = p->alpha, .beta = p->beta};
	d.a = element(p, &p->a, batch_base(p, &p->a, begin), 0, 0);
	d.b = element(p, &p->b, batch_base(p, &p->b, begin), 0, 0);
	d.c = element(p, &p->c, batch_base(p, &p->c, begin), 0, 0);
	if (p->n_batch_axes) {
		d.a_down = p->a.batch_strides[0];
		d.b_down = p->b.batch_strides[0];
		d.c_down = p->c.batch_strides[0];
	}
	if (p->dtype == TN_F32)
		p->cpu->kernels->sdots(&d);
	else
		p->cpu->kernels->ddots(&d);
}

/* Does OpenBLAS start no threads for it by itself? */
static int is_serial(const struct product *p)
{
	return p->m > 1 && p->n > 1 && (double)p->m * (double)p->n * (double)p->k <= SERIAL_IN_BLAS;
}

tn_status cpu_matmul(void *device, const struct tn_matmul_args *args)
{
	struct cpu_device *cpu = device;
	struct tn_matmul_args taken;
	struct product p = {.cpu = cpu->instance};
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args,
					  TN_DRY_RUN | TN_DETERMINISTIC, "matmul");
	if (!status && !cpu_matmul_is_i8(&taken))
		status = check_types(&taken);
	if (!status)
		status = check_shapes(&taken);
	if (!status && cpu_matmul_is_i8(&taken))
		return cpu_matmul_i8(cpu, &taken);
	if (!status)
		status = check_epilogue(&taken);
	if (!status)
		status = plan_product(&p, &taken);
	if (status)
		return status;
	if (taken.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&taken.call, 0, 0);
	const int are_lines = are_short_lines(&p);
	int guarded = p.by_blas && !are_lines && !is_serial(&p);
	if (guarded)
		cpu_blas_enter(&p.cpu->blas);
	/* Pieces that are distributed together: several if each is small. */
	double flops = 2.0 * (double)p.tile_m * (double)p.tile_n * (double)p.k;
	uint64_t grain = flops >= GROUP_FLOPS ? 1 : (uint64_t)(GROUP_FLOPS / flops) + 1;
	cpu_parallel(cpu, p.n_batches * p.tiles_m * p.tiles_n, grain,
		     are_lines ? run_lines : run_pieces, &p);
	if (guarded)
		cpu_blas_leave(&p.cpu->blas);
	return TN_OK;
}
