/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The same kernels and inputs on two devices: the simulated one and a GPU.
 *
 *     answers FILE               runs all cases on the backend of TENON_BACKEND, and stores
 *                                their results
 *     answers --brief FILE       without the largest, which take the simulated device seconds
 *     answers --tf32 FILE        only what TENON_CUDA_TF32=1 changes; may stand before --brief
 *     answers --compare A B      exit status 1: they differ
 *
 * Integers and copied values must agree to the bit.  Floats may differ by units in the last place
 * of the larger of the two and of the case's scale: the device's exp, sin, ... are its own, and so
 * is the order of cuBLAS's sums.  With TENON_CUDA_TF32=1 products of f32 differ by more: see
 * products_differ.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

enum { MOST_BYTES = 1 << 22, MOST_NAME = 64 };

static tn_context *context;
static FILE *out;
static int failed, is_brief, is_partial;

/* ---- Keeping ---------------------------------------------------------------------------------*/

/* `ulps` of f32 are allowed, at `scale` or above; 0: none. */
static void keep(const char *name, const tn_array *array, double ulps, double scale)
{
	static char data[MOST_BYTES];
	size_t bytes =
		array ? (size_t)tn_array_size(array) * tn_dtype_size(tn_array_dtype(array)) : 0;
	if (!array || bytes > sizeof(data) || tn_to_host(array, data, bytes)) {
		fprintf(stderr, "%s: %s\n", name,
			tn_error(context) ? tn_error(context)->text : "too large");
		tn_error_clear(context);
		failed = 1;
		return;
	}
	fprintf(out, "%s %d %zu %g %g\n", name, (int)tn_array_dtype(array), bytes, ulps, scale);
	fwrite(data, 1, bytes, out);
	fputc('\n', out);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

/* Floats in [low, high), the same on every device. */
static tn_array *floats(int rank, const int64_t *shape, float low, float high)
{
	static float data[MOST_BYTES / sizeof(float)];
	uint32_t state = 12345;
	size_t n = 1;
	for (int d = 0; d < rank; d++)
		n *= (size_t)shape[d];
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		data[i] = low + (high - low) * (float)(state >> 8) * 0x1p-24f;
	}
	return tn_from_host(context, TN_F32, rank, shape, data);
}

static void keep_map(const char *name, const char *text, double ulps)
{
	const int64_t shape[] = {7, 130};
	const tn_array *inputs[] = {floats(2, shape, -4, 4), floats(2, shape, 0.5f, 3)};
	keep(name, tn_map(text, 2, (const char *[]){"x", "y"}, inputs, 0, NULL, NULL), ulps, 1);
}

static void element_programs(void)
{
	keep_map("add", "z = x + y", 0);
	keep_map("multiply", "z = x * y", 0);
	keep_map("divide", "z = x / y", 0);
	keep_map("fused", "z = 2*x + y*y - x*y", 4);
	keep_map("select", "z = x > y ? x : max(y, 1)", 0);
	keep_map("exp", "z = exp(x)", 4);
	keep_map("log", "z = log(y)", 4);
	keep_map("sin", "z = sin(x) + cos(y)", 8);
	keep_map("tanh", "z = tanh(x*y)", 8);
	keep_map("erf", "z = erf(x)", 8);
	keep_map("sqrt", "z = sqrt(y)", 2);
	keep_map("power", "z = pow(y, x)", 32);
}

static void casts(void)
{
	static const tn_dtype to[] = {TN_BOOL, TN_I8,  TN_I16, TN_I32, TN_I64,  TN_U8,
				      TN_U16,  TN_U32, TN_U64, TN_F16, TN_BF16, TN_F64};
	tn_array *x = floats(2, (int64_t[]){5, 67}, -300, 300);
	char name[MOST_NAME];
	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		snprintf(name, sizeof(name), "cast-%s", tn_dtype_name(to[i]));
		keep(name, tn_astype(x, to[i]), 0, 1);
		snprintf(name, sizeof(name), "cast-%s-f32", tn_dtype_name(to[i]));
		keep(name, tn_astype(tn_astype(x, to[i]), TN_F32), 0, 1);
	}
}

static void moves(void)
{
	tn_array *x = floats(3, (int64_t[]){6, 50, 70}, -1, 1);
	const int64_t places[] = {3, 0, 5, 5, 1};
	tn_array *indices = tn_from_host(context, TN_I64, 1, (int64_t[]){5}, places);
	keep("transpose", tn_contiguous(tn_transpose(x, NULL)), 0, 1);
	keep("steps", tn_contiguous(tn_slice(x, 2, 1, INT64_MIN, 3)), 0, 1);
	keep("backward", tn_contiguous(tn_slice(x, 1, INT64_MIN, INT64_MIN, -1)), 0, 1);
	keep("concatenate", tn_concatenate(2, (const tn_array *[]){x, x}, 1), 0, 1);
	keep("take", tn_take(x, indices, 0, TN_RAISE), 0, 1);
	keep("uniform", tn_random_uniform(context, 1, (int64_t[]){1000}, 0, 1), 0, 1);
	keep("normal", tn_random_normal(context, 1, (int64_t[]){1000}, 0, 1), 0, 1);
}

/* The chunks of a sum depend on the number of multiprocessors. */
static void reductions(void)
{
	tn_array *x = floats(3, (int64_t[]){9, 65, 130}, -1, 1);
	keep("sum-last", tn_sum(x, 1, (int[]){2}, 0), 32, 1);
	keep("sum-first", tn_sum(x, 1, (int[]){0}, 0), 32, 1);
	keep("sum-all", tn_sum(x, TN_ALL_AXES, NULL, 0), 64, 16);
	keep("product", tn_prod(x, 1, (int[]){0}, 0), 16, 1e-3);
	keep("max", tn_max(x, 2, (int[]){0, 2}, 0), 0, 1);
	keep("argmax", tn_argmax(x, 1, 0), 0, 1);
	keep("argmin", tn_argmin(x, 2, 0), 0, 1);
	keep("logsumexp", tn_logsumexp(x, 1, (int[]){2}, 0), 16, 1);
}

/* The tolerance of sums of k products of factors below 1.
 *
 * Tensor cores: the simulated device adds up the products of each mma exactly, in f64, and rounds
 * once.  A GPU's shift the products to the largest exponent and truncate lower bits, so that each
 * mma may lose some units of the sum so far.  The kernels of convolutions round the factors
 * themselves, the same on both.
 *
 * cuBLAS: if it leaves rounding to the tensor cores, they truncate factors to TF32's 10 bits, which
 * the simulated one rounds: up to 2^-10 of each, with either sign.  The difference grows as the
 * root of k. */
static int is_tf32(void)
{
	const char *asks = getenv("TENON_CUDA_TF32");
	return asks && !strcmp(asks, "1");
}

static double convolutions_differ(double k)
{
	return is_tf32() ? 16 * k : k;
}

static double products_differ(double k)
{
	return is_tf32() ? 0x1p14 * sqrt(k) : k;
}

static void products(void)
{
	tn_array *a = floats(2, (int64_t[]){37, 96}, -1, 1);
	tn_array *b = floats(2, (int64_t[]){96, 41}, -1, 1);
	tn_array *w = floats(2, (int64_t[]){29, 96}, -1, 1);
	keep("matmul", tn_matmul(a, b), products_differ(96), 1);
	keep("matmul-f64", tn_matmul(tn_astype(a, TN_F64), tn_astype(b, TN_F64)), 1, 1);
	keep("linear", tn_linear(a, w, floats(1, (int64_t[]){29}, -1, 1)), products_differ(96), 1);
}

/* Indices, also of equal elements, are the same everywhere. */
static void orders(void)
{
	keep("argsort", tn_argsort(floats(2, (int64_t[]){3, 2049}, -4, 4), 1, 0), 0, 1);
	keep("cumsum", tn_cumsum(floats(1, (int64_t[]){12289}, -1, 1), 0), 64, 16);
	if (!is_brief)
		keep("argsort-long", tn_argsort(floats(2, (int64_t[]){2, 9000}, -4, 4), 1, 1), 0,
		     1);
}

/* ---- Convolutions ----------------------------------------------------------------------------*/

struct convolution {
	const char *name;
	int64_t x[4], w[4], groups, stride, padding;
	double k; /* number of products in a sum, the largest of the three */
};

static const struct convolution convolutions[] = {
	{"packed", {2, 16, 9, 8}, {40, 16, 3, 3}, 1, 1, 1, 360},
	{"strided", {3, 8, 9, 7}, {70, 4, 2, 3}, 2, 2, 1, 210},
};

/* Enough blocks for the largest tiles. */
static const struct convolution largest = {"largest", {1, 5120, 8, 9}, {9216, 40, 1, 1}, 128, 1, 0,
					   40};

/* Units of f32; f16 and bf16 are summed in f32 and rounded once,
 * and may differ by four units of theirs. */
static double ulps_of(const struct convolution *c, tn_dtype dtype)
{
	return dtype == TN_F16    ? 4 * 0x1p13
	       : dtype == TN_BF16 ? 4 * 0x1p16
				  : convolutions_differ(c->k);
}

static tn_array *laid_out(const tn_array *array, tn_dtype dtype, int is_last)
{
	tn_array *own = tn_astype(array, dtype);
	return is_last ? tn_channels_last(own) : own;
}

static void keep_convolved(const struct convolution *c, tn_dtype dtype, int is_last,
			   const char *what, const tn_array *array)
{
	char name[MOST_NAME];
	snprintf(name, sizeof(name), "conv2d-%s-%s-%s-%s", c->name, tn_dtype_name(dtype),
		 is_last ? "nhwc" : "nchw", what);
	keep(name, array, ulps_of(c, dtype), 16);
}

/* The result, and the gradients of x and w if requested.  Gradients exist for f32 arrays, so these
 * are watched and kept; the convolution is of dtype. */
static void convolve(const struct convolution *c, tn_dtype dtype, int is_last, int has_gradients)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.stride[0] = c->stride;
	window.stride[1] = c->stride;
	window.padding[0] = c->padding;
	window.padding[1] = c->padding;
	window.groups = c->groups;
	tn_array *x = floats(4, c->x, -1, 1), *w = floats(4, c->w, -1, 1);
	tn_tape *tape = has_gradients ? tn_tape_begin(context) : NULL;
	if (tape && (tn_tape_watch(tape, x) || tn_tape_watch(tape, w)))
		failed = 1;
	tn_array *y =
		tn_conv2d(laid_out(x, dtype, is_last), laid_out(w, dtype, is_last), NULL, &window);
	y = tn_astype(y, TN_F32);
	keep_convolved(c, dtype, is_last, "y", y);
	tn_array *dy = tape && y ? floats(4, tn_array_shape(y), -1, 1) : NULL;
	if (dy && !tn_tape_backward(tape, y, laid_out(dy, TN_F32, is_last))) {
		keep_convolved(c, dtype, is_last, "dx", tn_tape_gradient(tape, x));
		keep_convolved(c, dtype, is_last, "dw", tn_tape_gradient(tape, w));
	} else if (tape) {
		keep_convolved(c, dtype, is_last, "dx", NULL);
	}
	tn_tape_end(tape);
}

static void convolution(void)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16, TN_F64};
	const int n = is_partial ? 1 : is_brief ? 2 : 4;
	for (int d = 0; d < n; d++)
		for (int i = 0; i < 2; i++)
			for (int is_last = 0; is_last < 2; is_last++)
				if (!is_brief || (i + d) % 2 == is_last)
					convolve(&convolutions[i], dtypes[d], is_last, 1);
	if (!is_brief && !is_partial)
		convolve(&largest, TN_F16, 1, 0);
}

static void layers(void)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.padding[0] = window.padding[1] = 1;
	const struct tn_pool2d_options pool = {.struct_size = sizeof(pool), .kernel = {2, 2}};
	tn_array *x = floats(4, (int64_t[]){2, 4, 12, 12}, -1, 1);
	tn_array *w = floats(4, (int64_t[]){6, 4, 3, 3}, -1, 1);
	tn_array *one = floats(1, (int64_t[]){4}, 0.5f, 1.5f);
	struct tn_batch_norm_options norm = tn_batch_norm_defaults();
	norm.training = 1;
	tn_array *rows = floats(2, (int64_t[]){12, 33}, -3, 3);
	const int32_t labels[12] = {1, 5, 32, 0, 7, 7, 8, 9, 30, 2, 2, 3};
	keep("conv2d", tn_conv2d(x, w, NULL, &window), convolutions_differ(64), 1);
	keep("max-pool", tn_max_pool2d(x, &pool), 0, 1);
	keep("avg-pool", tn_avg_pool2d(x, &pool), 4, 1);
	keep("batch-norm", tn_batch_norm(x, one, one, &norm), 64, 1);
	keep("layer-norm", tn_layer_norm(rows, NULL, NULL, 1, 1e-5), 64, 1);
	keep("softmax", tn_softmax(rows, 1), 32, 0.1);
	keep("cross-entropy",
	     tn_cross_entropy(rows, tn_from_host(context, TN_I32, 1, (int64_t[]){12}, labels),
			      NULL),
	     32, 1);
}

/* The first layer of a small network after three steps. */
static void training(void)
{
	const struct tn_model_shape shape = {1, 28, 28, 10};
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	sgd.momentum = 0.9;
	const int32_t labels[] = {1, 5, 9, 0};
	tn_module *net = tn_model_create(context, "lenet", &shape);
	tn_optimizer *optimizer = net && !tn_module_build(net) ? tn_sgd(net, &sgd) : NULL;
	tn_array *x = floats(4, (int64_t[]){4, 1, 28, 28}, -1, 1);
	tn_array *t = tn_from_host(context, TN_I32, 1, (int64_t[]){4}, labels);
	for (int step = 0; optimizer && step < 3; step++) {
		tn_module_set_training(net, 1);
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *loss = tn_cross_entropy(tn_module_forward(net, x), t, NULL);
		(void)tn_tape_backward(tape, loss, NULL);
		tn_tape_end(tape);
		(void)tn_optimizer_step(optimizer);
		keep("loss", loss, products_differ(256), 1);
	}
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

static int run(const char *path)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	/* The last four multiply. */
	static void (*const cases[])(void) = {element_programs, casts,  moves,
					      reductions,       orders, products,
					      convolution,      layers, training};
	size_t n = sizeof(cases) / sizeof(cases[0]);
	out = fopen(path, "wb");
	if (!out || tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "%s\n", out ? error.text : path);
		return 1;
	}
	for (size_t i = is_partial ? n - 4 : 0; i < n; i++) {
		(void)tn_scope_begin(context);
		cases[i]();
		tn_scope_end(context, NULL);
	}
	printf("%s\n", tn_device_name(tn_device_current(context)));
	tn_context_close(context);
	return (fclose(out) != 0) | failed;
}

/* ---- Comparing -------------------------------------------------------------------------------*/

struct answer {
	char name[MOST_NAME];
	int dtype;
	size_t bytes;
	double ulps, scale;
	char data[MOST_BYTES];
};

static int read_answer(FILE *file, struct answer *answer)
{
	return fscanf(file, "%63s %d %zu %lg %lg", answer->name, &answer->dtype, &answer->bytes,
		      &answer->ulps, &answer->scale) == 5 &&
	       fgetc(file) == '\n' && answer->bytes <= MOST_BYTES &&
	       fread(answer->data, 1, answer->bytes, file) == answer->bytes;
}

static double number_at(const struct answer *answer, size_t i)
{
	float narrow;
	double wide;
	if (answer->dtype == TN_F64) {
		memcpy(&wide, answer->data + i * sizeof(wide), sizeof(wide));
		return wide;
	}
	memcpy(&narrow, answer->data + i * sizeof(narrow), sizeof(narrow));
	return (double)narrow;
}

/* The difference divided by the tolerance; wrong if above 1. */
static double difference(const struct answer *a, const struct answer *b)
{
	size_t size = tn_dtype_size((tn_dtype)a->dtype);
	double worst = 0;
	if (a->ulps == 0 || (a->dtype != TN_F32 && a->dtype != TN_F64))
		return memcmp(a->data, b->data, a->bytes) ? INFINITY : 0;
	for (size_t i = 0; i < a->bytes / size; i++) {
		double x = number_at(a, i), y = number_at(b, i);
		double scale = fmax(a->scale, fmax(fabs(x), fabs(y)));
		double allowed = a->ulps * scale * (a->dtype == TN_F64 ? 0x1p-40 : 0x1p-23);
		if (isnan(x) && isnan(y))
			continue;
		double part = x == y ? 0 : fabs(x - y) / allowed;
		worst = part <= worst ? worst : part; /* NaN counts */
	}
	return worst;
}

static int compare_files(const char *first, const char *second)
{
	static struct answer a, b;
	FILE *one = fopen(first, "rb"), *two = fopen(second, "rb");
	int n = 0, bad = 0, equal = 0;
	while (one && two && read_answer(one, &a)) {
		if (!read_answer(two, &b) || strcmp(a.name, b.name) != 0 || a.bytes != b.bytes ||
		    a.dtype != b.dtype) {
			printf("%s: the other file has %s here\n", a.name, b.name);
			return 1;
		}
		double part = difference(&a, &b);
		n++;
		equal += memcmp(a.data, b.data, a.bytes) == 0;
		if (!(part <= 1)) {
			printf("%s: they differ, by %g of what is allowed\n", a.name, part);
			bad++;
		}
	}
	printf("%d answers, %d equal to the bit, %d wrong\n", n, equal, bad);
	return n == 0 || bad != 0 || !two || read_answer(two, &b);
}

int main(int argc, char **argv)
{
	int at = 1;
	is_partial = argc > at + 1 && !strcmp(argv[at], "--tf32");
	at += is_partial;
	is_brief = argc > at + 1 && !strcmp(argv[at], "--brief");
	at += is_brief;
	if (argc == at + 1)
		return run(argv[at]);
	if (argc == 4 && !strcmp(argv[1], "--compare"))
		return compare_files(argv[2], argv[3]);
	fprintf(stderr, "usage: answers [--tf32] [--brief] FILE | answers --compare A B\n");
	return 2;
}
