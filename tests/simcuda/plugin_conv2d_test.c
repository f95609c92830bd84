/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution by the tensor cores of simulated devices, and its sums in parts.  All elements are
 * small whole numbers, so that the sums are exact in every order, and only the last rounding is
 * tolerated.
 *
 *     plugin_conv2d_test [PATTERN]    only the tests whose names match
 */
#include <unistd.h>

#include "plugin_fixture.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST = 1 << 20, ROOM = 1 << 20 };

struct shape {
	int64_t n, c, h, w, o, r, s;
	uint32_t groups;
	int64_t stride, padding, dilation;
	uint64_t offset; /* in elements, from the start of the buffers */
};

static const struct shape shapes[] = {
	{2, 16, 9, 8, 40, 3, 3, 1, 1, 1, 1, 0},  /* packed along channels, several steps of k */
	{1, 32, 8, 8, 136, 1, 1, 1, 1, 0, 1, 0}, /* one tap per pixel */
	{3, 8, 9, 7, 70, 2, 3, 2, 2, 1, 1, 0},   /* two groups, strides */
	{2, 8, 12, 12, 8, 3, 3, 1, 1, 2, 2, 4},  /* with gaps, aligned to 8 bytes */
	{2, 8, 6, 6, 16, 3, 3, 1, 1, 1, 1, 1},   /* not aligned */
	{5, 3, 11, 12, 7, 5, 5, 1, 1, 2, 1, 0},  /* nothing is packed */
};

/* Enough blocks for the largest tiles, with and without vectors.  Forward only, since they take the
 * simulated device a second each. */
static const struct shape large[] = {
	{1, 5120, 8, 9, 9216, 1, 1, 128, 1, 0, 1, 0},
	{1, 512, 8, 9, 9216, 3, 3, 128, 1, 1, 1, 0},
};

/* Input gradients with strides are cut into phases. */
static const struct shape strided[] = {
	{2, 8, 11, 9, 24, 3, 3, 1, 2, 1, 1, 0},  /* every residue has a tap */
	{2, 8, 12, 9, 8, 2, 3, 1, 3, 0, 1, 0},   /* more residues than taps */
	{1, 3, 9, 10, 5, 3, 4, 1, 2, 3, 3, 0},   /* wide padding, dilation */
	{2, 4, 13, 12, 6, 3, 3, 1, 4, 2, 2, 0},  /* a common divisor of stride and dilation */
	{3, 16, 8, 8, 32, 1, 1, 1, 2, 0, 1, 0},  /* one tap */
	{2, 4, 2, 3, 4, 3, 3, 1, 5, 2, 1, 0},    /* more residues than pixels */
	{2, 32, 9, 9, 32, 3, 3, 32, 2, 1, 1, 0}, /* depthwise */
	{2, 2, 4, 5, 3, 1, 2, 1, 2, 0, 1, 0},    /* a phase wider than y, which is packed */
};

/* Few results, and sums that are long enough for several parts, in the passes 1, 0 and 0. */
static const struct shape split[] = {
	{1, 24, 6, 6, 128, 3, 3, 1, 1, 1, 1, 0},
	{1, 128, 6, 5, 24, 3, 3, 1, 1, 1, 1, 0},
	{2, 1200, 3, 3, 8, 1, 1, 1, 1, 0, 1, 0},
};

enum { X, W, Y };

struct tensor {
	int64_t shape[4], strides[4];
	size_t n;
	float value[MOST], expected[MOST];
};

static struct tensor tensors[3];

/* ---- What is expected ------------------------------------------------------------------------*/

static int64_t windows(const struct shape *t, int64_t length, int64_t kernel)
{
	return (length + 2 * t->padding - t->dilation * (kernel - 1) - 1) / t->stride + 1;
}

static void lay_out(struct tensor *t, const int64_t shape[4], int is_last)
{
	static const int orders[2][4] = {{3, 2, 1, 0}, {1, 3, 2, 0}};
	static unsigned seed = 1;
	int64_t step = 1;
	memcpy(t->shape, shape, sizeof(t->shape));
	for (int i = 0; i < 4; i++) {
		int axis = orders[is_last][i];
		t->strides[axis] = step;
		step *= shape[axis];
	}
	assert_in_range(step, 1, MOST);
	t->n = (size_t)step;
	for (size_t i = 0; i < t->n; i++) {
		seed = seed * 1664525 + 1013904223;
		t->value[i] = (float)(seed >> 24) / 43 - 3;
		t->value[i] = (float)(int)t->value[i];
		t->expected[i] = 0;
	}
}

static size_t place(const struct tensor *t, int64_t a, int64_t b, int64_t c, int64_t d)
{
	return (size_t)(a * t->strides[0] + b * t->strides[1] + c * t->strides[2] +
			d * t->strides[3]);
}

/* The sum of all terms of one weight. */
static void meet(const struct shape *t, int64_t o, int64_t c, int64_t r, int64_t s)
{
	struct tensor *x = &tensors[X], *w = &tensors[W], *y = &tensors[Y];
	int64_t channel = o / (t->o / t->groups) * (t->c / t->groups) + c;
	size_t k = place(w, o, c, r, s);
	for (int64_t n = 0; n < t->n; n++)
		for (int64_t p = 0; p < y->shape[2]; p++)
			for (int64_t q = 0; q < y->shape[3]; q++) {
				int64_t h = p * t->stride + r * t->dilation - t->padding;
				int64_t v = q * t->stride + s * t->dilation - t->padding;
				if (h < 0 || h >= t->h || v < 0 || v >= t->w)
					continue;
				size_t i = place(x, n, channel, h, v), j = place(y, n, o, p, q);
				y->expected[j] += x->value[i] * w->value[k];
				x->expected[i] += y->value[j] * w->value[k];
				w->expected[k] += x->value[i] * y->value[j];
			}
}

static void prepare(const struct shape *t, int is_last)
{
	const int64_t x[] = {t->n, t->c, t->h, t->w};
	const int64_t w[] = {t->o, t->c / t->groups, t->r, t->s};
	const int64_t y[] = {t->n, t->o, windows(t, t->h, t->r), windows(t, t->w, t->s)};
	lay_out(&tensors[X], x, is_last);
	lay_out(&tensors[W], w, is_last);
	lay_out(&tensors[Y], y, is_last);
	for (int64_t o = 0; o < w[0]; o++)
		for (int64_t c = 0; c < w[1]; c++)
			for (int64_t r = 0; r < w[2]; r++)
				for (int64_t s = 0; s < w[3]; s++)
					meet(t, o, c, r, s);
}

/* ---- Types -----------------------------------------------------------------------------------*/

static uint32_t bits_of(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float with_bits(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Exact for the numbers stored here, which have few bits and are not tiny. */
static uint32_t narrow(tn_dtype dtype, float value)
{
	uint32_t bits = bits_of(value);
	if (dtype == TN_F32)
		return bits;
	if (dtype == TN_BF16)
		return bits >> 16;
	return value == 0 ? 0 : (bits >> 16 & 0x8000) | ((bits >> 13 & 0x3ffff) - (112u << 10));
}

static float widen(tn_dtype dtype, uint32_t bits)
{
	if (dtype == TN_F32)
		return with_bits(bits);
	if (dtype == TN_BF16)
		return with_bits(bits << 16);
	if (!(bits & 0x7fff))
		return 0;
	return with_bits((bits & 0x8000) << 16 | ((bits & 0x7fff) + (112u << 10)) << 13);
}

static double rounding_of(tn_dtype dtype)
{
	return dtype == TN_F32 ? 0 : dtype == TN_BF16 ? 0x1p-8 : 0x1p-11;
}

static size_t size_of(tn_dtype dtype)
{
	return dtype == TN_F32 ? 4 : 2;
}

/* ---- On the device ---------------------------------------------------------------------------*/

static unsigned char staged[4 * MOST];

static void put(struct plugin *p, uint64_t buffer, const struct tensor *t, tn_dtype dtype)
{
	size_t size = size_of(dtype);
	for (size_t i = 0; i < t->n; i++) {
		uint32_t bits = narrow(dtype, t->value[i]);
		memcpy(staged + i * size, &bits, size);
	}
	assert_ok(plugin_upload(p, buffer, staged, t->n * size));
}

static void compare(struct plugin *p, uint64_t buffer, const struct tensor *t, tn_dtype dtype,
		    const char *what)
{
	size_t size = size_of(dtype);
	if (plugin_download(p, buffer, staged, t->n * size))
		fail_msg("%s: %s", what, p->error.text);
	for (size_t i = 0; i < t->n; i++) {
		uint32_t bits = 0;
		memcpy(&bits, staged + i * size, size);
		double found = (double)widen(dtype, bits), expected = (double)t->expected[i];
		double error = found > expected ? found - expected : expected - found;
		double magnitude = expected < 0 ? -expected : expected;
		if (!(error <= rounding_of(dtype) * magnitude))
			fail_msg("%s, element %zu: expected %g, found %g", what, i, expected,
				 found);
	}
}

typedef tn_status (*entry)(void *device, const struct tn_conv2d_args *args);

struct device_side {
	uint64_t buffer[3], room;
	struct tn_workspace workspace;
	struct tn_conv2d_args args;
};

static void begin(struct plugin *p, const struct shape *t, tn_dtype dtype, struct device_side *side)
{
	struct tn_operand *operands[] = {&side->args.x, &side->args.w, &side->args.y};
	side->args = (struct tn_conv2d_args){.groups = t->groups};
	side->room = plugin_take(p, TN_MEMORY_DEVICE, ROOM);
	side->workspace = (struct tn_workspace){
		.struct_size = sizeof(side->workspace), .buffer = side->room, .size = ROOM};
	for (int i = 0; i < 3; i++) {
		const struct tensor *own = &tensors[i];
		uint64_t offset = t->offset * size_of(dtype);
		side->buffer[i] =
			plugin_take(p, TN_MEMORY_DEVICE, own->n * size_of(dtype) + offset);
		*operands[i] = (struct tn_operand){
			.buffer = side->buffer[i], .offset = offset, .dtype = dtype, .rank = 4};
		memcpy(operands[i]->shape, own->shape, sizeof(own->shape));
		memcpy(operands[i]->strides, own->strides, sizeof(own->strides));
	}
	for (int i = 0; i < 2; i++) {
		side->args.stride[i] = t->stride;
		side->args.dilation[i] = t->dilation;
		side->args.padding[i] = side->args.padding[i + 2] = t->padding;
	}
}

static void end(struct plugin *p, const struct device_side *side)
{
	for (int i = 0; i < 3; i++)
		assert_ok(plugin_give(p, side->buffer[i]));
	assert_ok(plugin_give(p, side->room));
}

/* `adds`: to the previous contents, which are those of the tensor. */
static void expect_sum(struct tensor *t, int adds)
{
	for (size_t i = 0; i < t->n; i++)
		t->expected[i] += (float)adds * t->value[i];
}

static void convolve(struct plugin *p, const struct shape *t, tn_dtype dtype, int first,
		     const char *what)
{
	const struct tn_nn_table *nn = p->descriptor->query(p->instance, TN_TABLE_NN);
	const entry entries[] = {nn->conv2d_input_gradient, nn->conv2d_weight_gradient,
				 nn->conv2d_forward};
	struct device_side side;
	char words[160];
	begin(p, t, dtype, &side);
	for (int written = first; written < 3; written++) {
		for (int i = 0; i < 3; i++)
			put(p, side.buffer[i] + t->offset * size_of(dtype), &tensors[i], dtype);
		side.args.call = plugin_call(p, sizeof(side.args), NULL);
		side.args.call.workspace = &side.workspace;
		snprintf(words, sizeof(words), "%s, output %d", what, written);
		if (entries[written](p->device, &side.args))
			fail_msg("%s: %s", words, p->error.text);
		compare(p, side.buffer[written] + t->offset * size_of(dtype), &tensors[written],
			dtype, words);
	}
	end(p, &side);
}

/* The input gradient, added to what is there. */
static void add_input_gradient(struct plugin *p, const struct shape *t, tn_dtype dtype,
			       const char *what)
{
	const struct tn_nn_table *nn = p->descriptor->query(p->instance, TN_TABLE_NN);
	struct device_side side;
	begin(p, t, dtype, &side);
	for (int i = 0; i < 3; i++)
		put(p, side.buffer[i], &tensors[i], dtype);
	side.args.call = plugin_call(p, sizeof(side.args), NULL);
	side.args.call.workspace = &side.workspace;
	side.args.call.flags = TN_ACCUMULATE;
	expect_sum(&tensors[X], 1);
	if (nn->conv2d_input_gradient(p->device, &side.args))
		fail_msg("%s: %s", what, p->error.text);
	compare(p, side.buffer[X], &tensors[X], dtype, what);
	expect_sum(&tensors[X], -1);
	end(p, &side);
}

/* ---- Tests -----------------------------------------------------------------------------------*/

/* The folder in which tests/with-simcuda keeps compiled kernels. */
static const char *kept(void)
{
	static char folder[4096];
	const char *shared = getenv("TENON_SIMCUDA_CACHE"), *build = getenv("TENON_BUILD");
	snprintf(folder, sizeof(folder), "%s%s", shared ? shared : build,
		 shared ? "" : "/tests/simcuda/cache");
	return shared || build ? folder : "";
}

/* The first `n` shapes; both layouts, over the types together. */
static void shapes_of(const char *const *settings, tn_dtype dtype, size_t n)
{
	struct plugin p = {.cache = kept()};
	char what[80];
	plugin_open(&p, settings);
	for (size_t i = 0; i < n; i++) {
		int is_last = (i + (dtype == TN_BF16)) % 2 == 0;
		snprintf(what, sizeof(what), "shape %zu, dtype %d, %s", i, (int)dtype,
			 is_last ? "channels last" : "planes");
		prepare(&shapes[i], is_last);
		convolve(&p, &shapes[i], dtype, X, what);
	}
	plugin_close(&p);
}

static void strided_input_gradients_are_phases(void **state)
{
	struct plugin p = {.cache = kept()};
	char what[80];
	(void)state;
	plugin_open(&p, NULL);
	for (size_t i = 0; i < 2 * COUNT(strided); i++) {
		const struct shape *t = &strided[i / 2];
		const tn_dtype dtype = i % 4 < 2 ? TN_F32 : TN_F16;
		snprintf(what, sizeof(what), "shape %zu, %s", i / 2,
			 i % 2 ? "channels last" : "planes");
		prepare(t, i % 2);
		convolve(&p, t, dtype, X, what);
		add_input_gradient(&p, t, dtype, what);
	}
	plugin_close(&p);
}

static void long_sums_of_few_results_are_split(void **state)
{
	struct plugin p = {.cache = kept()};
	char what[80];
	(void)state;
	plugin_open(&p, NULL);
	for (size_t i = 0; i < 2 * COUNT(split); i++) {
		const struct shape *t = &split[i / 2];
		snprintf(what, sizeof(what), "shape %zu, %s", i / 2,
			 i % 2 ? "channels last" : "planes");
		prepare(t, i % 2);
		convolve(&p, t, TN_F32, X, what);
		add_input_gradient(&p, t, TN_F32, what);
	}
	plugin_close(&p);
}

static void halves_are_multiplied_sixteen_deep(void **state)
{
	(void)state;
	shapes_of(NULL, TN_F16, COUNT(shapes));
}

static void halves_are_multiplied_in_the_largest_tiles(void **state)
{
	struct plugin p = {.cache = kept()};
	(void)state;
	if (getenv("TENON_TEST_BRIEF")) /* another build runs it */
		skip();
	plugin_open(&p, NULL);
	for (size_t i = 0; i < COUNT(large); i++) {
		prepare(&large[i], i == 0);
		convolve(&p, &large[i], TN_F16, Y,
			 i ? "elements, planes" : "vectors, channels last");
	}
	plugin_close(&p);
}

static void halves_are_multiplied_eight_deep_on_older_devices(void **state)
{
	(void)state;
	shapes_of(SETTINGS("SIMCUDA_ARCH=75"), TN_F16, 2);
}

static void bfloats_are_multiplied(void **state)
{
	(void)state;
	shapes_of(SETTINGS("SIMCUDA_ARCH=80"), TN_BF16, 2);
}

static void tf32_is_multiplied(void **state)
{
	(void)state;
	setenv("TENON_CUDA_TF32", "1", 1); /* NOLINT(concurrency-mt-unsafe) */
	shapes_of(NULL, TN_F32, 4);
	unsetenv("TENON_CUDA_TF32"); /* NOLINT(concurrency-mt-unsafe) */
}

/* A factor of 12 bits after a convolution with one weight of 1. */
static float narrowed(const char *const *settings, const char *tf32, float factor)
{
	static const struct shape one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0};
	struct plugin p = {.cache = kept()};
	struct device_side side;
	float found = 0;
	setenv("TENON_CUDA_TF32", tf32, 1); /* NOLINT(concurrency-mt-unsafe) */
	plugin_open(&p, settings);
	const struct tn_nn_table *nn = p.descriptor->query(p.instance, TN_TABLE_NN);
	prepare(&one, 0);
	tensors[X].value[0] = factor;
	tensors[W].value[0] = 1;
	begin(&p, &one, TN_F32, &side);
	for (int i = 0; i < 3; i++)
		put(&p, side.buffer[i], &tensors[i], TN_F32);
	side.args.call = plugin_call(&p, sizeof(side.args), NULL);
	assert_ok(nn->conv2d_forward(p.device, &side.args));
	assert_ok(plugin_download(&p, side.buffer[Y], &found, sizeof(found)));
	end(&p, &side);
	plugin_close(&p);
	unsetenv("TENON_CUDA_TF32"); /* NOLINT(concurrency-mt-unsafe) */
	return found;
}

static void tf32_has_to_be_asked_for(void **state)
{
	const float factor = 1 + 0x1p-11f;
	(void)state;
	assert_close(narrowed(NULL, "0", factor), factor, 0);
	assert_close(narrowed(NULL, "1", factor), 1 + 0x1p-10f, 0);
	assert_close(narrowed(SETTINGS("SIMCUDA_ARCH=75"), "1", factor), factor, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strided_input_gradients_are_phases),
		cmocka_unit_test(long_sums_of_few_results_are_split),
		cmocka_unit_test(halves_are_multiplied_sixteen_deep),
		cmocka_unit_test(halves_are_multiplied_in_the_largest_tiles),
		cmocka_unit_test(halves_are_multiplied_eight_deep_on_older_devices),
		cmocka_unit_test(bfloats_are_multiplied),
		cmocka_unit_test(tf32_is_multiplied),
		cmocka_unit_test(tf32_has_to_be_asked_for),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
