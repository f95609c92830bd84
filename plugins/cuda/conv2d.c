/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution and both gradients, each a matrix product whose operands are read in place
 * (kernels/conv2d.cu).
 *
 * The lower bound on a GPU.  A product of m n k takes 2 m n k / (f32 rate) seconds, an H100's rate
 * being 128 fused multiply-adds per clock in each multiprocessor.  A tile of 128 x 128 gives a
 * thread 8 x 8 sums: 16 numbers read from shared memory, in 4 reads of 16 bytes, feed 64
 * multiply-adds, so the arithmetic is the bottleneck and not shared memory.  8 (128 + 128) elements
 * from memory feed 8 * 128 * 128 multiply-adds: 16 operations per byte in f32, which the L2 cache
 * sustains.  The time above the bound is spent on instructions that do not multiply, a fifth of
 * all in that tile (choose_tiles), and on multiprocessors that have a block less than others.
 * Small layers and images of few channels stay above it: their tiles are partly empty.
 *
 * Tensor cores, where the type allows, take the same tile with 64 bytes of each row and column at a
 * time.  A warp's 64 x 32 results need 20 reads of 4 matrices from shared memory for 64
 * multiplications of 16 x 8 x 16 in f16.  64 (128 + 128) bytes from memory feed 32 * 128 * 128 of
 * them: 64 operations per byte, so the L2 cache is the bottleneck before tensor cores are.  Dense,
 * aligned elements are loaded 16 bytes at a time, and computing their addresses costs little;
 * otherwise that is the bottleneck.
 */
#include <string.h>

#include "conv2d_phase.h"
#include "dnn.h"
#include "image.h"
#include "kernel.h"
#include "nn.h"
#include "ranges.h"
#include "status.h"

enum { N = 0, C = 1, H = 2, W = 3 };
enum { O = 0, R = 2, S = 3 };
enum { P = 2, Q = 3 };
enum pass {
	FORWARD = CUDA_DNN_FORWARD,
	INPUT_GRADIENT = CUDA_DNN_INPUT_GRADIENT,
	WEIGHT_GRADIENT = CUDA_DNN_WEIGHT_GRADIENT,
};
enum { BLOCK = 256, LANES = 32, MOST_GRID = 65535 };
/* Tiles of D; the number of blocks of large tiles that keeps a device busy; the least number of
 * pixels, and of taps, in a part of a split sum. */
enum { SMALL = 64, LARGE = 128, BLOCKS = 256, LEAST_PART = 128, LEAST_TAPS = 512, DEPTH = 32 };

/* Same layout as in kernels/conv2d.cu. */
struct divisor {
	uint32_t d, m, shift;
};

struct convolution {
	uint64_t x, w, y, bias, residual, partial;
	int64_t xs[4], ws[4], ys[4], rs[4], bias_stride;
	struct divisor by_channels, by_window, by_columns, by_plane, by_width, by_splits;
	int32_t m, n, k;
	int32_t height, width;
	int32_t o, c;
	int32_t stride[2], dilation[2], padding[2];
	int32_t chunk;
	int32_t groups;
};

struct plan {
	const struct tn_conv2d_args *args;
	enum pass pass;
	struct convolution g;
	int is_last, is_depthwise;
	int is_matrix;          /* tensor cores multiply */
	uint32_t rows, columns; /* of a tile */
	uint64_t bytes;         /* of workspace */
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_settings(const struct tn_conv2d_args *args, const char *operation)
{
	struct tn_error_info *error = args->call.error;
	for (int i = 0; i < 2; i++)
		if (args->stride[i] < 1 || args->dilation[i] < 1 || args->stride[i] > INT32_MAX ||
		    args->dilation[i] > INT32_MAX)
			return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
					      "stride %lld, dilation %lld: expected 1 to 2^31-1",
					      (long long)args->stride[i],
					      (long long)args->dilation[i]);
	for (int i = 0; i < 4; i++)
		if (args->padding[i] < 0 || args->padding[i] > INT32_MAX)
			return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
					      "padding %lld: expected 0 to 2^31-1",
					      (long long)args->padding[i]);
	if (args->groups < 1 || args->has_bias > 1 || args->has_residual > 1)
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, operation,
			"groups %u, has_bias %u, has_residual %u: expected at least 1, "
			"and 0 or 1",
			args->groups, args->has_bias, args->has_residual);
	return TN_OK;
}

static tn_status check_shapes(const struct tn_conv2d_args *args, const char *operation)
{
	const struct tn_call *call = &args->call;
	const int64_t *x = args->x.shape, *w = args->w.shape;
	int64_t shape[4] = {x[N], w[O], 0, 0};
	if (x[C] % args->groups || w[O] % args->groups || w[1] != x[C] / args->groups)
		return tn_plugin_fail(call->error, TN_SHAPE, operation,
				      "%lld channels in %u groups, w of shape (%lld, %lld, ...)",
				      (long long)x[C], args->groups, (long long)w[O],
				      (long long)w[1]);
	for (int i = 0; i < 2; i++) {
		const int64_t padding[] = {args->padding[i], args->padding[i + 2]};
		int64_t kernel = w[R + i] < INT32_MAX ? w[R + i] : INT32_MAX;
		shape[P + i] = cuda_windows(x[H + i], padding, args->dilation[i] * (kernel - 1) + 1,
					    args->stride[i]);
	}
	return tn_plugin_check_shape(call, operation, "y", 0, &args->y, 4, shape);
}

static tn_status check_forward(const struct tn_conv2d_args *args, const char *operation)
{
	const struct tn_call *call = &args->call;
	tn_status status = TN_OK;
	if (args->activation > TN_ACTIVATION_GELU)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "activation %u is not supported", args->activation);
	if (args->has_bias) {
		status = tn_plugin_check_operand(call, operation, "bias", 0, &args->bias,
						 CUDA_STORAGE, TN_PLUGIN_READS);
		if (!status && args->bias.dtype != args->x.dtype)
			status = tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
						"bias: expected x's dtype %d, found %d",
						(int)args->bias.dtype, (int)args->x.dtype);
		if (!status)
			status = tn_plugin_check_shape(call, operation, "bias", 0, &args->bias, 1,
						       &args->w.shape[O]);
	}
	if (!status && args->has_residual)
		status = cuda_check_image(call, operation, "residual", &args->residual,
					  args->x.dtype, TN_PLUGIN_READS);
	if (!status && args->has_residual)
		status = tn_plugin_check_shape(call, operation, "residual", 0, &args->residual, 4,
					       args->y.shape);
	return status;
}

/* ---- The plan --------------------------------------------------------------------------------*/

static struct divisor divisor(int64_t by)
{
	uint32_t d = (uint32_t)by, shift = 0;
	while (shift < 31 && (UINT32_C(1) << shift) < d)
		shift++;
	uint64_t m = ((((UINT64_C(1) << shift) - d) << 32) / d) + 1;
	return (struct divisor){.d = d, .m = (uint32_t)m, .shift = shift};
}

static int64_t parts(int64_t n, int64_t each)
{
	return (n + each - 1) / each;
}

/* a b c, or more than the kernels' counters hold. */
static int64_t count(int64_t a, int64_t b, int64_t c)
{
	int64_t product;
	if (__builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product))
		return INT64_MAX;
	return product;
}

/* The kernels' counters have 31 bits, and run one tile past the end. */
static tn_status set_sizes(struct plan *plan, const char *operation)
{
	const struct tn_conv2d_args *args = plan->args;
	const int64_t *x = args->x.shape, *w = args->w.shape, *y = args->y.shape;
	const int64_t inner = plan->pass == INPUT_GRADIENT ? w[O] / args->groups : w[1];
	const int64_t taps = count(inner, w[R], w[S]);
	const int64_t *plane = plan->pass == INPUT_GRADIENT ? x : y;
	const int64_t pixels = count(plane[N], plane[H], plane[W]);
	const int64_t m = plan->pass == INPUT_GRADIENT ? w[1] : w[O] / args->groups;
	int64_t most = pixels > taps ? pixels : taps;
	for (int i = 0; i < 2; i++) {
		int64_t line = x[H + i] + args->padding[i] + args->padding[i + 2];
		most = line > most ? line : most;
	}
	most = x[C] > most ? x[C] : most;
	most = w[O] > most ? w[O] : most;
	if (most > INT32_MAX - 2 * LARGE || parts(m, 32) > MOST_GRID)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, operation,
				      "more pixels, channels or padding than the kernel can count");
	plan->g.m = (int32_t)m;
	plan->g.n = (int32_t)(plan->pass == WEIGHT_GRADIENT ? taps : pixels);
	plan->g.k = (int32_t)(plan->pass == WEIGHT_GRADIENT ? pixels : taps);
	plan->g.by_channels = divisor(inner);
	plan->g.by_window = divisor(taps ? w[R] * w[S] : 1); /* a phase may have no taps */
	plan->g.by_columns = divisor(taps ? w[S] : 1);
	plan->g.by_plane = divisor(plane[H] * plane[W]);
	plan->g.by_width = divisor(plane[W]);
	return TN_OK;
}

static void set_operands(struct plan *plan)
{
	const struct tn_conv2d_args *args = plan->args;
	struct convolution *g = &plan->g;
	const struct tn_operand *source = plan->pass == INPUT_GRADIENT ? &args->y : &args->x;
	const int is_forward = plan->pass == FORWARD;
	g->x = cuda_address(&args->x);
	g->w = cuda_address(&args->w);
	g->y = cuda_address(&args->y);
	memcpy(g->xs, args->x.strides, sizeof(g->xs));
	memcpy(g->ws, args->w.strides, sizeof(g->ws));
	memcpy(g->ys, args->y.strides, sizeof(g->ys));
	if (is_forward && args->has_bias) {
		g->bias = cuda_address(&args->bias);
		g->bias_stride = args->bias.strides[0];
	}
	if (is_forward && args->has_residual) {
		g->residual = cuda_address(&args->residual);
		memcpy(g->rs, args->residual.strides, sizeof(g->rs));
	}
	g->groups = (int32_t)args->groups;
	g->height = (int32_t)source->shape[H];
	g->width = (int32_t)source->shape[W];
	g->o = (int32_t)(args->w.shape[O] / args->groups);
	g->c = (int32_t)args->w.shape[1];
	for (int i = 0; i < 2; i++) {
		g->stride[i] = (int32_t)args->stride[i];
		g->dilation[i] = (int32_t)args->dilation[i];
		g->padding[i] = (int32_t)args->padding[i];
	}
	plan->is_last = cuda_is_channels_last(source);
}

/* The types that tensor cores multiply; f32 if its factors may be rounded. */
static int has_matrix(const struct cuda_device *device, tn_dtype dtype)
{
	if (dtype == TN_F16)
		return 1;
	return device->architecture >= 80 &&
	       (dtype == TN_BF16 || (dtype == TN_F32 && device->uses_tf32));
}

/* The parts into which sums are split, by shape alone, not by the number of multiprocessors: those
 * of the weight gradient, over many pixels, and long sums of the others if there are too few of
 * them to keep a device busy.  Even so, tensor core results differ in their last bits between
 * device generations: 7.5 takes 8 of k at a time, 8.0 and later 16. */
static int64_t count_parts(const struct plan *plan)
{
	const struct convolution *g = &plan->g;
	const int is_sum = plan->pass == WEIGHT_GRADIENT;
	int64_t blocks = parts(g->m, LARGE) * parts(g->n, LARGE) * g->groups;
	int64_t most = is_sum ? parts(g->k, LEAST_PART) : g->k / LEAST_TAPS;
	if (plan->is_depthwise)
		blocks = parts((int64_t)g->groups * g->m, plan->is_last ? LANES : 1) * g->n;
	if (blocks > (is_sum ? BLOCKS : BLOCKS / 4) || most < 1 || (plan->is_depthwise && !is_sum))
		return 1;
	return BLOCKS / blocks < most ? BLOCKS / blocks : most;
}

static void split_sum(struct plan *plan)
{
	struct convolution *g = &plan->g;
	int64_t chunk = parts(parts(g->k, count_parts(plan)), DEPTH) * DEPTH;
	g->chunk = (int32_t)(chunk ? chunk : DEPTH);
	int64_t n_parts = g->k ? parts(g->k, g->chunk) : 1;
	g->by_splits = divisor(n_parts);
	if (n_parts > 1 || (plan->pass == WEIGHT_GRADIENT && plan->is_depthwise))
		plan->bytes = (uint64_t)(n_parts * g->groups * g->m) * (uint64_t)g->n *
			      (plan->args->x.dtype == TN_F64 ? 8 : 4);
}

/* A block's time for each k, in units of some instructions: a thread's multiply-adds, reads of
 * shared memory, loads of A and B, and what each tile takes.  The factors are measured on an H100;
 * tensor cores take less time, and leave more of the rest. */
static int64_t block_cost(const struct plan *plan, int64_t rows, int64_t columns)
{
	return rows * columns + (plan->is_matrix ? 2 : 1) * (16 * rows + 22 * columns + 1600);
}

/* The time of the busiest multiprocessor, which has some blocks at once.  Fewer, or smaller ones,
 * take as long as a large one alone: they wait for memory. */
static int64_t cost(const struct plan *plan, int64_t multiprocessors, int64_t rows, int64_t columns)
{
	const struct convolution *g = &plan->g;
	const int64_t at_once = rows * columns > SMALL * SMALL ? 2 : 3;
	int64_t blocks = parts(g->m, rows) * parts(g->n, columns) * g->groups * g->by_splits.d;
	int64_t load = parts(blocks, multiprocessors), each = block_cost(plan, rows, columns);
	int64_t least = block_cost(plan, LARGE, LARGE) * 11 / 10;
	int64_t together = at_once * each, rest = load % at_once * each;
	together = together > least ? together : least;
	rest = rest > least || !rest ? rest : least;
	return load / at_once * together + rest;
}

/* The sums are the same in every tile. */
static void choose_tile(struct plan *plan, int64_t multiprocessors)
{
	static const uint32_t sides[] = {LARGE, SMALL, 32};
	const struct convolution *g = &plan->g;
	const uint32_t most = plan->args->x.dtype == TN_F64 ? SMALL : LARGE;
	int64_t least = INT64_MAX;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			/* A tile twice as long as what it covers is half empty. */
			if (sides[i] > most || sides[j] > most ||
			    (sides[i] > 32 && (int64_t)sides[i] >= 2 * (int64_t)g->m) ||
			    (sides[j] > 32 && (int64_t)sides[j] >= 2 * (int64_t)g->n))
				continue;
			int64_t now = cost(plan, multiprocessors, sides[i], sides[j]);
			if (now > least) /* of equals the smallest */
				continue;
			least = now;
			plan->rows = sides[i];
			plan->columns = sides[j];
		}
	}
}

static tn_status choose_tiles(struct plan *plan, int64_t multiprocessors, const char *operation)
{
	struct convolution *g = &plan->g;
	plan->is_depthwise = g->c == 1 && g->groups > 1;
	split_sum(plan);
	choose_tile(plan, multiprocessors);
	int64_t depth = (int64_t)g->groups * g->by_splits.d;
	if ((plan->is_depthwise ? (int64_t)g->groups * g->m : depth) > MOST_GRID)
		return tn_plugin_fail(plan->args->call.error, TN_UNSUPPORTED, operation,
				      "%u groups: more than the kernel can count",
				      plan->args->groups);
	return TN_OK;
}

/* ---- Vectors ---------------------------------------------------------------------------------*/

enum { CHANNELS = BIT(C), PLANE = BIT(H) | BIT(W), FILTER = BIT(C) | BIT(R) | BIT(S) };

/* Are elements at neighbouring indices of these axes neighbours in memory? */
static int is_dense(const struct tn_operand *operand, uint64_t axes)
{
	int64_t expected = 1;
	for (int i = 3; i >= 0; i--) {
		if (!(axes & BIT(i)) || operand->shape[i] == 1)
			continue;
		if (operand->strides[i] != expected)
			return 0;
		expected *= operand->shape[i];
	}
	return 1;
}

/* Is every element whose index along these axes is a multiple of n aligned to n elements? */
static int is_aligned(const struct tn_operand *operand, uint64_t axes, int64_t elements)
{
	for (int i = 0; i < 4; i++)
		if (!(axes & BIT(i)) && operand->shape[i] > 1 && operand->strides[i] % elements)
			return 0;
	return cuda_address(operand) % ((uint64_t)elements * tn_dtype_size(operand->dtype)) == 0;
}

/* How many elements can be loaded at once, at most 16 bytes: those that start at a multiple of
 * their number in an index of `length` over these axes.  Fewer than four do not justify a kernel of
 * their own. */
static int64_t vector(const struct tn_operand *operand, uint64_t axes, int64_t length)
{
	int64_t elements = 16 / (int64_t)tn_dtype_size(operand->dtype);
	if (!is_dense(operand, axes))
		return 1;
	while (elements >= 4 && (length % elements || !is_aligned(operand, axes, elements)))
		elements /= 2;
	return elements >= 4 ? elements : 1;
}

static int64_t plane_of(const struct tn_operand *operand)
{
	return operand->shape[H] * operand->shape[W];
}

/* Every pixel meets one tap, at its own position: also of a part, which may have fewer pixels of x
 * than of y, or more. */
static int is_pointwise(const struct tn_conv2d_args *args)
{
	const int64_t *x = args->x.shape, *y = args->y.shape;
	return args->w.shape[R] * args->w.shape[S] == 1 && x[H] == y[H] && x[W] == y[W] &&
	       args->stride[0] == 1 && args->stride[1] == 1 &&
	       !(args->padding[0] | args->padding[1] | args->padding[2] | args->padding[3]);
}

/* A is w, or dy. */
static int64_t left_vector(const struct plan *plan, int *is_along_k)
{
	const struct tn_conv2d_args *args = plan->args;
	const struct tn_operand *w = &args->w, *y = &args->y;
	const struct convolution *g = &plan->g;
	if (plan->pass == WEIGHT_GRADIENT) {
		*is_along_k = !cuda_is_channels_last(y);
		return *is_along_k ? vector(y, PLANE, plane_of(y)) : vector(y, CHANNELS, g->o);
	}
	if (plan->pass == INPUT_GRADIENT) {
		*is_along_k = !plan->is_last && w->strides[C] != 1;
		return *is_along_k ? 1 : vector(w, CHANNELS, g->c);
	}
	*is_along_k = 1;
	return plan->is_last ? vector(w, CHANNELS, g->c) : vector(w, FILTER, g->k);
}

/* B is x, or dy. */
static int64_t right_vector(const struct plan *plan)
{
	const struct tn_operand *from =
		plan->pass == INPUT_GRADIENT ? &plan->args->y : &plan->args->x;
	if (plan->is_last)
		return vector(from, CHANNELS, plan->pass == INPUT_GRADIENT ? plan->g.o : plan->g.c);
	return is_pointwise(plan->args) ? vector(from, PLANE, plane_of(from)) : 1;
}

static int64_t picture_vector(const struct plan *plan, const struct tn_operand *operand,
			      int is_along_m)
{
	return is_along_m ? vector(operand, CHANNELS, plan->g.m)
			  : vector(operand, PLANE, plane_of(operand));
}

static int64_t result_vector(const struct plan *plan, int *is_along_m)
{
	const struct tn_conv2d_args *args = plan->args;
	const struct tn_operand *to = plan->pass == FORWARD ? &args->y : &args->x;
	/* Parts of sums are along n. */
	*is_along_m = plan->pass != WEIGHT_GRADIENT && !plan->bytes && cuda_is_channels_last(to);
	if (plan->bytes)
		return plan->g.n % 4 || args->x.dtype == TN_F64 ? 1 : 4;
	if (plan->pass == WEIGHT_GRADIENT)
		return plan->is_last ? vector(&args->w, CHANNELS, plan->g.c)
				     : vector(&args->w, FILTER, plan->g.n);
	int64_t width = picture_vector(plan, to, *is_along_m);
	if (plan->pass == FORWARD && args->has_residual) {
		int64_t other = picture_vector(plan, &args->residual, *is_along_m);
		width = other < width ? other : width;
	}
	return width;
}

/* ---- Kernels ---------------------------------------------------------------------------------*/

static uint32_t define_product(const struct plan *plan, struct cuda_define *defines)
{
	int is_along_k, is_along_m;
	defines[0] = (struct cuda_define){"ROWS", plan->rows};
	defines[1] = (struct cuda_define){"COLUMNS", plan->columns};
	defines[2] = (struct cuda_define){"MATRIX", plan->is_matrix};
	defines[3] = (struct cuda_define){"LEFT_VECTOR", left_vector(plan, &is_along_k)};
	defines[4] = (struct cuda_define){"LEFT_ALONG_K", is_along_k};
	defines[5] = (struct cuda_define){"RIGHT_VECTOR", right_vector(plan)};
	defines[6] = (struct cuda_define){"RESULT_VECTOR", result_vector(plan, &is_along_m)};
	defines[7] = (struct cuda_define){"RESULT_ALONG_M", is_along_m};
	return 8;
}

static tn_status get_kernel(struct cuda_job *job, const struct plan *plan, const char *name,
			    int is_partial, struct cuda_kernel **kernel)
{
	const struct tn_conv2d_args *args = plan->args;
	const int goes_on = plan->pass == FORWARD && !is_partial;
	struct cuda_define defines[16] = {
		{"DTYPE", args->x.dtype},
		{"PASS", plan->pass},
		{"CHANNELS_LAST", plan->is_last},
		{"ACTIVATION", goes_on ? args->activation : 0},
		{"HAS_BIAS", goes_on && args->has_bias},
		{"HAS_RESIDUAL", goes_on && args->has_residual},
		{"ACCUMULATE", !is_partial && (args->call.flags & TN_ACCUMULATE)},
		{"PARTIAL", is_partial}};
	uint32_t n = 8;
	if (!strcmp(name, "conv2d_product"))
		n += define_product(plan, defines + n);
	return cuda_kernel_get(job, "conv2d", name, defines, n, kernel);
}

static struct cuda_grid grid_of(const struct plan *plan)
{
	const struct convolution *g = &plan->g;
	const int64_t lanes = plan->is_last ? LANES : 1;
	struct cuda_grid grid = {.y = 1, .z = 1, .block_x = BLOCK, .block_y = 1, .block_z = 1};
	if (plan->is_depthwise) {
		int is_sum = plan->pass == WEIGHT_GRADIENT;
		grid.x = (uint32_t)(is_sum ? g->n : parts(g->n, BLOCK / lanes));
		grid.y = (uint32_t)parts((int64_t)g->groups * g->m, lanes);
		grid.z = g->by_splits.d;
		return grid;
	}
	grid.x = (uint32_t)parts(g->n, plan->columns);
	grid.y = (uint32_t)parts(g->m, plan->rows);
	grid.z = (uint32_t)g->groups * g->by_splits.d;
	return grid;
}

static tn_status run_kernels(struct cuda_job *job, struct plan *plan)
{
	struct cuda_kernel *kernel, *sum = NULL;
	struct convolution *g = &plan->g;
	void *arguments[] = {g};
	tn_status status = TN_OK;
	/* The second first: of two kernels, the one made last is certain to be held. */
	if (plan->bytes)
		status = get_kernel(job, plan, "conv2d_sum", 0, &sum);
	if (!status)
		status = get_kernel(job, plan,
				    plan->is_depthwise ? "conv2d_depthwise" : "conv2d_product",
				    plan->bytes != 0, &kernel);
	if (status)
		return status;
	if (plan->bytes)
		g->partial = (uint64_t)(uintptr_t)cuda_workspace_at(&plan->args->call);
	status = cuda_kernel_launch(job, kernel, grid_of(plan), arguments);
	if (status || !plan->bytes)
		return status;
	uint64_t elements = (uint64_t)g->groups * (uint64_t)g->m * (uint64_t)g->n;
	const struct cuda_grid grid = {
		cuda_blocks(job->device, elements, BLOCK), 1, 1, BLOCK, 1, 1, 0};
	return cuda_kernel_launch(job, sum, grid, arguments);
}

/* ---- Parts -----------------------------------------------------------------------------------*/

static tn_status make_plan(const struct cuda_job *job, const struct tn_conv2d_args *args,
			   enum pass pass, struct plan *plan)
{
	*plan = (struct plan){
		.args = args, .pass = pass, .is_matrix = has_matrix(job->device, args->x.dtype)};
	tn_status status = set_sizes(plan, job->operation);
	if (status)
		return status;
	set_operands(plan);
	status = choose_tiles(plan, job->device->processors, job->operation);
	/* Elements of B loaded one at a time need a register each: too many for a wide tile. */
	if (plan->is_matrix && !plan->is_depthwise && plan->columns > SMALL &&
	    right_vector(plan) == 1)
		plan->columns = SMALL;
	return status;
}

struct whole {
	const struct tn_conv2d_args *args;
	enum pass pass;
};

/* The next of the convolutions that it consists of. */
static int next_part(const struct whole *whole, int64_t *number, struct tn_conv2d_args *part)
{
	const struct tn_conv2d_args *args = whole->args;
	if (whole->pass == INPUT_GRADIENT && (args->stride[0] > 1 || args->stride[1] > 1))
		return cuda_conv2d_next_phase(args, number, part);
	*part = *args;
	return (*number)++ == 0;
}

static tn_status count_bytes(const struct cuda_job *job, const struct whole *whole, uint64_t *bytes)
{
	struct tn_conv2d_args part;
	struct plan plan;
	tn_status status = TN_OK;
	for (int64_t number = 0; !status && next_part(whole, &number, &part);) {
		status = make_plan(job, &part, whole->pass, &plan);
		if (!status && plan.bytes > *bytes)
			*bytes = plan.bytes;
	}
	return status;
}

static tn_status run_parts(struct cuda_job *job, void *argument)
{
	const struct whole *whole = argument;
	struct tn_conv2d_args part;
	struct plan plan;
	tn_status status = TN_OK;
	for (int64_t number = 0; !status && next_part(whole, &number, &part);) {
		status = make_plan(job, &part, whole->pass, &plan);
		if (!status)
			status = run_kernels(job, &plan);
	}
	return status;
}

/* ---- The entries -----------------------------------------------------------------------------*/

static tn_status check(const struct cuda_job *job, const struct tn_conv2d_args *args,
		       enum pass pass)
{
	static const enum pass writers[] = {INPUT_GRADIENT, WEIGHT_GRADIENT, FORWARD};
	static const char *const names[] = {"x", "w", "y"};
	const struct tn_operand *operands[] = {&args->x, &args->w, &args->y};
	tn_status status = TN_OK;
	for (int i = 0; i < 3 && !status; i++)
		status = cuda_check_image(&args->call, job->operation, names[i], operands[i],
					  args->x.dtype,
					  writers[i] == pass ? TN_PLUGIN_WRITES : TN_PLUGIN_READS);
	if (!status)
		status = check_settings(args, job->operation);
	if (!status)
		status = check_shapes(args, job->operation);
	if (!status && pass == FORWARD)
		status = check_forward(args, job->operation);
	return status;
}

static tn_status convolve(struct cuda_job *job, const struct tn_conv2d_args *args, enum pass pass)
{
	struct whole whole = {args, pass};
	const struct cuda_dnn_rival own = {run_parts, &whole};
	uint64_t bytes = 0;
	int goes_on = 0;
	tn_status status = check(job, args, pass);
	if (!status)
		status = count_bytes(job, &whole, &bytes);
	if (!status)
		status = tn_plugin_workspace(&args->call, job->operation, bytes, &goes_on);
	if (!status)
		status = cuda_dnn_convolve(job, args, (enum cuda_dnn_pass)pass, &own, &goes_on);
	return status || !goes_on ? status : run_parts(job, &whole);
}

tn_status cuda_conv2d_forward(void *device, const struct tn_conv2d_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "conv2d_forward");
	struct tn_conv2d_args own;
	struct cuda_job job;
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "conv2d_forward");
	return status ? status : convolve(&job, &own, FORWARD);
}

tn_status cuda_conv2d_input_gradient(void *device, const struct tn_conv2d_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "conv2d_input_gradient");
	struct tn_conv2d_args own;
	struct cuda_job job;
	tn_status status = cuda_job_begin_adding(&job, device, &own, sizeof(own), args,
						 "conv2d_input_gradient");
	return status ? status : convolve(&job, &own, INPUT_GRADIENT);
}

tn_status cuda_conv2d_weight_gradient(void *device, const struct tn_conv2d_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "conv2d_weight_gradient");
	struct tn_conv2d_args own;
	struct cuda_job job;
	tn_status status = cuda_job_begin_adding(&job, device, &own, sizeof(own), args,
						 "conv2d_weight_gradient");
	return status ? status : convolve(&job, &own, WEIGHT_GRADIENT);
}
