/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The same kernels and inputs on two devices: the simulated one and a GPU.
 *
 *     answers FILE               runs all cases on the backend of TENON_BACKEND, and keeps what they gave
 *     answers --compare A B      1: they differ
 *
 * Integers and what is only moved must agree to the bit.  Floats may differ by units in the last place of the
 * larger of the two and of the case's scale: the device's exp, sin, ... are its own, and so is the order
 * of cuBLAS's sums.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

enum { MOST_BYTES = 1 << 20, MOST_NAME = 64 };

static tn_context *context;
static FILE *out;
static int failed;

/* ---- Keeping ---------------------------------------------------------------------------------*/

/* `ulps` of f32 are allowed, at `scale` at least; 0: none. */
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
	keep("take", tn_take(x, indices, 0), 0, 1);
	keep("uniform", tn_random_uniform(context, 1, (int64_t[]){1000}, 0, 1), 0, 1);
	keep("normal", tn_random_normal(context, 1, (int64_t[]){1000}, 0, 1), 0, 1);
}

/* How a sum is cut into chunks depends on the device's multiprocessors. */
static void reductions(void)
{
	tn_array *x = floats(3, (int64_t[]){9, 65, 130}, -1, 1);
	keep("sum-last", tn_sum(x, 1, (int[]){2}, 0), 32, 1);
	keep("sum-first", tn_sum(x, 1, (int[]){0}, 0), 32, 1);
	keep("sum-all", tn_sum(x, 0, NULL, 0), 64, 16);
	keep("product", tn_prod(x, 1, (int[]){0}, 0), 16, 1e-3);
	keep("max", tn_max(x, 2, (int[]){0, 2}, 0), 0, 1);
	keep("argmax", tn_argmax(x, 1), 0, 1);
	keep("argmin", tn_argmin(x, 2), 0, 1);
	keep("logsumexp", tn_logsumexp(x, 1, (int[]){2}, 0), 16, 1);
}

static void products(void)
{
	tn_array *a = floats(2, (int64_t[]){37, 96}, -1, 1);
	tn_array *b = floats(2, (int64_t[]){96, 41}, -1, 1);
	tn_array *w = floats(2, (int64_t[]){29, 96}, -1, 1);
	keep("matmul", tn_matmul(a, b), 96, 1);
	keep("matmul-f64", tn_matmul(tn_astype(a, TN_F64), tn_astype(b, TN_F64)), 1, 1);
	keep("linear", tn_linear(a, w, floats(1, (int64_t[]){29}, -1, 1)), 96, 1);
}

static void layers(void)
{
	const struct tn_conv2d_options window = {.struct_size = sizeof(window), .padding = {1, 1}};
	const struct tn_pool2d_options pool = {.struct_size = sizeof(pool), .kernel = {2, 2}};
	tn_array *x = floats(4, (int64_t[]){2, 4, 12, 12}, -1, 1);
	tn_array *w = floats(4, (int64_t[]){6, 4, 3, 3}, -1, 1);
	tn_array *one = floats(1, (int64_t[]){4}, 0.5f, 1.5f);
	const struct tn_batch_norm_options norm = {.struct_size = sizeof(norm), .training = 1};
	tn_array *rows = floats(2, (int64_t[]){12, 33}, -3, 3);
	const int32_t labels[12] = {1, 5, 32, 0, 7, 7, 8, 9, 30, 2, 2, 3};
	keep("conv2d", tn_conv2d(x, w, NULL, &window), 64, 1);
	keep("max-pool", tn_max_pool2d(x, &pool), 0, 1);
	keep("avg-pool", tn_avg_pool2d(x, &pool), 4, 1);
	keep("batch-norm", tn_batch_norm(x, one, one, &norm), 64, 1);
	keep("layer-norm", tn_layer_norm(rows, NULL, NULL, 1, 1e-5), 64, 1);
	keep("softmax", tn_softmax(rows, 1), 32, 0.1);
	keep("cross-entropy",
	     tn_cross_entropy(rows, tn_from_host(context, TN_I32, 1, (int64_t[]){12}, labels),
			      TN_NO_LABEL),
	     32, 1);
}

/* What three steps of a small network leave in its first layer. */
static void training(void)
{
	const struct tn_model_shape shape = {1, 28, 28, 10};
	const struct tn_sgd_options sgd = {.struct_size = sizeof(sgd), .lr = 0.05, .momentum = 0.9};
	const int32_t labels[] = {1, 5, 9, 0};
	tn_module *net = tn_model_create(context, "lenet", &shape);
	tn_optimizer *optimizer = net && !tn_module_build(net) ? tn_sgd(net, &sgd) : NULL;
	tn_array *x = floats(4, (int64_t[]){4, 1, 28, 28}, -1, 1);
	tn_array *t = tn_from_host(context, TN_I32, 1, (int64_t[]){4}, labels);
	for (int step = 0; optimizer && step < 3; step++) {
		tn_module_set_training(net, 1);
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *loss = tn_cross_entropy(tn_module_forward(net, x), t, TN_NO_LABEL);
		(void)tn_tape_backward(tape, loss, NULL);
		tn_tape_end(tape);
		(void)tn_optimizer_step(optimizer);
		keep("loss", loss, 256, 1);
	}
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

static int run(const char *path)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	static void (*const cases[])(void) = {element_programs, casts,  moves,   reductions,
					      products,         layers, training};
	out = fopen(path, "wb");
	if (!out || tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "%s\n", out ? error.text : path);
		return 1;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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

/* How much of what is allowed they differ by; more than 1 is wrong. */
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
	if (argc == 2)
		return run(argv[1]);
	if (argc == 4 && !strcmp(argv[1], "--compare"))
		return compare_files(argv[2], argv[3]);
	fprintf(stderr, "usage: answers FILE | answers --compare A B\n");
	return 2;
}
