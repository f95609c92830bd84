/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend's convolutions through cuDNN: when cuDNN is used, when not, and that the results
 * do not depend on it.
 */
#include <math.h>
#include <unistd.h>

#include <cudnn.h>

#include "plugin_fixture.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define ON "TENON_CUDA_CUDNN=on"
#define AUTO "TENON_CUDA_CUDNN=auto"

enum { N = 2, C = 3, O = 4, H = 6, W = 5, R = 3, ROOM = 1 << 20 };
enum {
	X_SIZE = N * C * H * W,
	W_SIZE = O * C * R * R,
	Y_SIZE = N * O * H * W,
	B_SIZE = O,
	MOST = Y_SIZE
};
enum { X, WEIGHT, Y, BIAS, RESIDUAL, BUFFERS };

static const int sizes[BUFFERS] = {X_SIZE, W_SIZE, Y_SIZE, B_SIZE, Y_SIZE};

struct bench {
	struct plugin p;
	const struct tn_nn_table *nn;
	const struct tn_report_table *report;
	uint64_t buffer[BUFFERS], room;
	float host[BUFFERS][MOST];
	uint64_t room_size;
	uint64_t preferred, minimum; /* of the last dry run */
	struct tn_error_info failed; /* the error of a captured call */
};

static float number(int i)
{
	return (float)(i * 7 % 11) - 4;
}

static void refill(struct bench *b)
{
	for (int k = 0; k < BUFFERS; k++) {
		for (int i = 0; i < sizes[k]; i++)
			b->host[k][i] = number(i + k);
		assert_ok(plugin_upload(&b->p, b->buffer[k], b->host[k],
					(size_t)sizes[k] * sizeof(float)));
	}
}

static void begin(struct bench *b, const char *const *settings)
{
	unsetenv("TENON_CUDA_CUDNN");
	unsetenv("TENON_CUDA_TF32");
	b->p.device = NULL;
	plugin_open(&b->p, settings);
	b->nn = b->p.descriptor->query(b->p.instance, TN_TABLE_NN);
	b->report = b->p.descriptor->query(b->p.instance, TN_TABLE_REPORT);
	for (int k = 0; k < BUFFERS; k++)
		b->buffer[k] =
			plugin_take(&b->p, TN_MEMORY_DEVICE, (uint64_t)sizes[k] * sizeof(float));
	b->room = plugin_take(&b->p, TN_MEMORY_DEVICE, ROOM);
	b->room_size = ROOM;
	refill(b);
	simcudaForgetCalls();
}

static void end(struct bench *b)
{
	for (int k = 0; k < BUFFERS; k++)
		assert_ok(plugin_give(&b->p, b->buffer[k]));
	assert_ok(plugin_give(&b->p, b->room));
	plugin_close(&b->p);
	assert_int_equal(simcudaDnnLive(), 0);
	assert_string_equal(simcudaMessage(), "");
}

static struct tn_operand image(uint64_t buffer, int64_t n, int64_t c, int64_t h, int64_t w)
{
	return (struct tn_operand){.buffer = buffer,
				   .dtype = TN_F32,
				   .rank = 4,
				   .shape = {n, c, h, w},
				   .strides = {c * h * w, h * w, w, 1}};
}

static struct tn_conv2d_args arguments(struct bench *b, uint32_t flags)
{
	struct tn_conv2d_args args = {.call = plugin_call(&b->p, sizeof(args), NULL),
				      .x = image(b->buffer[X], N, C, H, W),
				      .w = image(b->buffer[WEIGHT], O, C, R, R),
				      .y = image(b->buffer[Y], N, O, H, W),
				      .groups = 1,
				      .stride = {1, 1},
				      .dilation = {1, 1},
				      .padding = {1, 1, 1, 1}};
	args.bias = (struct tn_operand){.buffer = b->buffer[BIAS],
					.dtype = TN_F32,
					.rank = 1,
					.shape = {O},
					.strides = {1}};
	args.residual = image(b->buffer[RESIDUAL], N, O, H, W);
	args.call.flags = flags;
	return args;
}

typedef tn_status (*entry)(void *device, const struct tn_conv2d_args *args);

/* Calls like the host: a dry run, then with the preferred workspace, if that is available. */
static tn_status call(struct bench *b, entry run, struct tn_conv2d_args args)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	args.call.workspace = &workspace;
	args.call.flags |= TN_DRY_RUN;
	tn_status status = run(b->p.device, &args);
	if (status)
		return status;
	b->minimum = workspace.minimum;
	b->preferred = workspace.preferred;
	workspace.buffer = b->room;
	workspace.size = b->preferred <= b->room_size ? b->preferred : b->minimum;
	args.call.flags &= ~(uint32_t)TN_DRY_RUN;
	if (!workspace.size)
		args.call.workspace = NULL;
	return run(b->p.device, &args);
}

static const float *fetch(struct bench *b, int which)
{
	assert_ok(plugin_download(&b->p, b->buffer[which], b->host[which],
				  (size_t)sizes[which] * sizeof(float)));
	return b->host[which];
}

static unsigned long through_cudnn(void)
{
	return simcudaCalls("cudnnConvolution*");
}

static const char *line(struct bench *b)
{
	static struct tn_report_line found;
	for (uint32_t i = 0; i < TN_REPORT_MOST_LINES; i++) {
		found = (struct tn_report_line){.struct_size = sizeof(found)};
		if (b->report->line(b->p.device, i, &found))
			break;
		if (!strcmp(found.key, "library.cudnn"))
			return found.text;
	}
	return "no such line";
}

/* ---- What the results are --------------------------------------------------------------------*/

static float y_of(int n, int o, int p, int q)
{
	float sum = 0;
	for (int c = 0; c < C; c++)
		for (int r = 0; r < R; r++)
			for (int s = 0; s < R; s++) {
				int h = p + r - 1, w = q + s - 1;
				if (h >= 0 && h < H && w >= 0 && w < W)
					sum += number(((n * C + c) * H + h) * W + w + X) *
					       number(((o * C + c) * R + r) * R + s + WEIGHT);
			}
	return sum;
}

static void check_y(struct bench *b, int has_bias, int has_residual, int is_relu)
{
	const float *y = fetch(b, Y);
	for (int i = 0; i < Y_SIZE; i++) {
		int o = i / (H * W) % O;
		float expected = y_of(i / (O * H * W), o, i / W % H, i % W);
		expected += has_bias ? number(o + BIAS) : 0;
		expected += has_residual ? number(i + RESIDUAL) : 0;
		assert_close(y[i], is_relu && expected < 0 ? 0 : expected, 1e-3);
	}
}

static void it_is_off_unless_it_is_asked_for(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, NULL);
	assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
	check_y(&b, 0, 0, 0);
	assert_int_equal(simcudaCalls("cudnn*"), 0);
	assert_contains(line(&b), "cuda.cudnn is off");
	end(&b);
}

static void a_forward_goes_on_behind_it(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON));
	assert_string_equal(line(&b), "not open yet");
	for (int i = 0; i < 8; i++) {
		struct tn_conv2d_args args = arguments(&b, 0);
		args.has_bias = i & 1;
		args.has_residual = i >> 1 & 1;
		args.activation = i >> 2 ? TN_ACTIVATION_RELU : TN_ACTIVATION_NONE;
		assert_ok(call(&b, b.nn->conv2d_forward, args));
		check_y(&b, i & 1, i >> 1 & 1, i >> 2);
		assert_int_equal(through_cudnn(), i + 1);
	}
	assert_true(b.preferred > b.minimum);
	assert_contains(line(&b), "9.");
	assert_contains(line(&b), ", on, 8 calls");
	end(&b);
}

/* y is the residual. */
static void a_residual_may_be_the_result(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON));
	struct tn_conv2d_args args = arguments(&b, 0);
	args.y.buffer = args.residual.buffer;
	args.has_residual = args.has_bias = 1;
	args.activation = TN_ACTIVATION_RELU;
	assert_ok(call(&b, b.nn->conv2d_forward, args));
	assert_int_equal(through_cudnn(), 1);
	const uint64_t y = b.buffer[Y];
	b.buffer[Y] = b.buffer[RESIDUAL];
	check_y(&b, 1, 1, 1);
	b.buffer[Y] = y;
	end(&b);
}

/* dx and dw of dy. */
static void differentiate(float *dx, float *dw)
{
	for (int y = 0; y < Y_SIZE; y++)
		for (int k = 0; k < C * R * R; k++) {
			int q = y % W, p = y / W % H, o = y / W / H % O, n = y / W / H / O;
			int s = k % R, r = k / R % R, c = k / R / R;
			int h = p + r - 1, w = q + s - 1;
			if (h < 0 || h >= H || w < 0 || w >= W)
				continue;
			int x = ((n * C + c) * H + h) * W + w;
			dx[x] += number(o * C * R * R + k + WEIGHT) * number(y + Y);
			dw[o * C * R * R + k] += number(x + X) * number(y + Y);
		}
}

static void check_gradient(struct bench *b, int which, const float *gradient, int adds)
{
	const float *found = fetch(b, which);
	for (int i = 0; i < sizes[which]; i++)
		assert_close(found[i], gradient[i] + (adds ? number(i + which) : 0), 1e-3);
}

static void gradients_are_written_or_added(void **state)
{
	static struct bench b;
	static float dx[X_SIZE], dw[W_SIZE];
	(void)state;
	differentiate(dx, dw);
	begin(&b, SETTINGS(ON));
	for (int adds = 0; adds < 2; adds++) {
		const uint32_t flags = adds ? TN_ACCUMULATE : 0;
		refill(&b);
		assert_ok(call(&b, b.nn->conv2d_input_gradient, arguments(&b, flags)));
		check_gradient(&b, X, dx, adds);
		refill(&b);
		assert_ok(call(&b, b.nn->conv2d_weight_gradient, arguments(&b, flags)));
		check_gradient(&b, WEIGHT, dw, adds);
	}
	assert_int_equal(simcudaCalls("cudnnConvolutionBackwardData"), 2);
	assert_int_equal(simcudaCalls("cudnnConvolutionBackwardFilter"), 2);
	end(&b);
}

struct pass {
	entry run;
	int result;
	const char *function;
};

static void list_passes(const struct bench *b, struct pass passes[3])
{
	passes[0] = (struct pass){b->nn->conv2d_forward, Y, "cudnnConvolutionForward"};
	passes[1] = (struct pass){b->nn->conv2d_input_gradient, X, "cudnnConvolutionBackwardData"};
	passes[2] = (struct pass){b->nn->conv2d_weight_gradient, WEIGHT,
				  "cudnnConvolutionBackwardFilter"};
}

static void check_result(struct bench *b, int which, int adds)
{
	static float gradient[BUFFERS][MOST];
	if (which == Y) {
		check_y(b, 0, 0, 0);
		return;
	}
	memset(gradient, 0, sizeof(gradient));
	differentiate(gradient[X], gradient[WEIGHT]);
	check_gradient(b, which, gradient[which], adds);
}

/* ---- Narrow, channels last, in groups --------------------------------------------------------*/

enum { GROUPS = 2, GC = 4, PER_IN = GC / GROUPS, PER_OUT = O / GROUPS };

/* Small whole numbers and their halves, which every format has. */
static uint16_t to_half(float value)
{
	int exponent = 0;
	if (value == 0)
		return 0;
	const float fraction = frexpf(fabsf(value), &exponent);
	const unsigned bits = (unsigned)lrintf(fraction * 2048);
	return (uint16_t)((value < 0 ? 0x8000u : 0u) + (((unsigned)exponent + 13) << 10) + bits);
}

static float from_half(uint16_t bits)
{
	const float value = ldexpf((float)((bits & 0x3ff) | 0x400), (bits >> 10 & 31) - 25);
	return bits & 0x7fff ? (bits & 0x8000 ? -value : value) : 0;
}

static struct tn_operand last(uint64_t buffer, int64_t n, int64_t c, int64_t h, int64_t w)
{
	struct tn_operand operand = image(buffer, n, c, h, w);
	const int64_t strides[4] = {h * w * c, 1, w * c, c};
	operand.dtype = TN_F16;
	memcpy(operand.strides, strides, sizeof(strides));
	return operand;
}

static struct tn_conv2d_args narrow_arguments(struct bench *b, int is_forward)
{
	struct tn_conv2d_args args = arguments(b, 0);
	args.groups = GROUPS;
	args.x = last(b->buffer[X], 1, GC, H, W);
	args.w = last(b->buffer[WEIGHT], O, PER_IN, R, R);
	args.y = last(b->buffer[Y], 1, O, H, W);
	args.bias.dtype = TN_F16;
	args.has_bias = (uint32_t)is_forward;
	return args;
}

static void fill_narrow(struct bench *b)
{
	uint16_t halves[MOST];
	for (int k = 0; k < BUFFERS; k++) {
		for (int i = 0; i < sizes[k]; i++)
			halves[i] = to_half(number(i + k));
		assert_ok(plugin_upload(&b->p, b->buffer[k], halves,
					(size_t)sizes[k] * sizeof(uint16_t)));
	}
}

/* The results of each pass, by their position in memory. */
static void compute_narrow(float *dx, float *dw, float *y)
{
	for (int i = 0; i < O * H * W; i++)
		y[i] = number(i % O + BIAS);
	for (int i = 0; i < O * H * W * PER_IN * R * R; i++) {
		const int c = i % PER_IN, k = i / PER_IN % (R * R), at = i / PER_IN / (R * R);
		const int o = at % O, p = at / O / W, q = at / O % W;
		const int h = p + k / R - 1, w = q + k % R - 1;
		if (h < 0 || h >= H || w < 0 || w >= W)
			continue;
		const int x = (h * W + w) * GC + o / PER_OUT * PER_IN + c;
		const int weight = (o * R * R + k) * PER_IN + c;
		y[at] += number(x + X) * number(weight + WEIGHT);
		dx[x] += number(at + Y) * number(weight + WEIGHT);
		dw[weight] += number(at + Y) * number(x + X);
	}
}

/* With the workspace, and without, where only Winograd's algorithms would remain. */
static void halves_with_the_channels_last_in_groups(void **state)
{
	static const int lengths[BUFFERS] = {GC * H * W, O * PER_IN * R * R, O * H * W, 0, 0};
	static struct bench b;
	static float expected[BUFFERS][MOST];
	struct pass passes[3];
	(void)state;
	compute_narrow(expected[X], expected[WEIGHT], expected[Y]);
	begin(&b, SETTINGS(ON));
	list_passes(&b, passes);
	for (int i = 0; i < 6; i++) {
		const struct pass *pass = &passes[i % 3];
		uint16_t found[MOST];
		fill_narrow(&b);
		b.room_size = i < 3 ? ROOM : 256;
		assert_ok(call(&b, pass->run, narrow_arguments(&b, pass->result == Y)));
		assert_ok(plugin_download(&b.p, b.buffer[pass->result], found,
					  (size_t)lengths[pass->result] * sizeof(uint16_t)));
		for (int k = 0; k < lengths[pass->result]; k++)
			assert_close(from_half(found[k]), expected[pass->result][k], 0.26);
	}
	assert_int_equal(through_cudnn(), 4);
	assert_contains(line(&b), ", on, 4 calls");
	end(&b);
}

/* ---- What it does not do ---------------------------------------------------------------------*/

static void check_own(struct bench *b, struct tn_conv2d_args args)
{
	const unsigned long before = through_cudnn();
	if (call(b, b->nn->conv2d_forward, args))
		fail_msg("%s", b->p.error.text);
	assert_int_equal(through_cudnn(), before);
	assert_int_equal(b->preferred, b->minimum);
	check_y(b, 0, 0, 0);
}

static void the_same_bits_each_time_come_from_the_own_kernels(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON));
	check_own(&b, arguments(&b, TN_DETERMINISTIC));
	end(&b);
}

/* One picture of one channel, whose rows are read backwards, with each filter's first channel. */
static void run_backwards(struct bench *b)
{
	struct tn_conv2d_args args = arguments(b, 0);
	args.x.shape[0] = args.x.shape[1] = args.y.shape[0] = 1;
	args.w.shape[1] = 1;
	args.x.strides[3] = -1;
	args.x.offset = (W - 1) * sizeof(float);
	assert_ok(call(b, b->nn->conv2d_forward, args));
	const float *y = fetch(b, Y);
	for (int i = 0; i < O * H * W; i++) {
		float sum = 0;
		for (int k = 0; k < R * R; k++) {
			int h = i / W % H + k / R - 1, w = i % W + k % R - 1;
			if (h >= 0 && h < H && w >= 0 && w < W)
				sum += number(h * W + W - 1 - w + X) *
				       number(i / W / H * C * R * R + k + WEIGHT);
		}
		assert_close(y[i], sum, 1e-3);
	}
}

/* Two rows of padding below, and none above: row p is row p + 1 of an even padding, and the last
 * one reads the last row of x by its first row of weights. */
static void run_unevenly(struct bench *b)
{
	struct tn_conv2d_args args = arguments(b, 0);
	args.padding[0] = 0;
	args.padding[2] = 2;
	assert_ok(call(b, b->nn->conv2d_forward, args));
	const float *y = fetch(b, Y);
	for (int i = 0; i < Y_SIZE; i++)
		assert_close(y[i], y_of(i / (O * H * W), i / (H * W) % O, i / W % H + 1, i % W),
			     1e-3);
}

/* x is one element past an address aligned to 16 bytes, and unchanged. */
static void run_unaligned(struct bench *b)
{
	struct tn_conv2d_args args = arguments(b, 0);
	args.x.offset = sizeof(float);
	args.x.shape[0] = args.y.shape[0] = 1;
	for (int i = X_SIZE - 1; i > 0; i--)
		b->host[X][i] = number(i - 1 + X);
	assert_ok(plugin_upload(&b->p, b->buffer[X], b->host[X], X_SIZE * sizeof(float)));
	assert_ok(call(b, b->nn->conv2d_forward, args));
	const float *y = fetch(b, Y);
	for (int i = 0; i < O * H * W; i++)
		assert_close(y[i], y_of(0, i / (H * W), i / W % H, i % W), 1e-3);
}

static void what_it_does_not_do_the_own_kernels_do(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON));
	run_backwards(&b);
	run_unevenly(&b);
	run_unaligned(&b);
	assert_int_equal(simcudaCalls("cudnn*"), 0);
	end(&b);
}

/* The same number of windows with equal padding on both sides. */
static void padding_that_no_window_meets_does_not_matter(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON));
	struct tn_conv2d_args args = arguments(&b, 0);
	args.stride[0] = 2;
	args.padding[2] = 0;
	args.y.shape[2] = H / 2;
	args.y.strides[1] = H / 2 * W;
	args.y.strides[0] = O * H / 2 * W;
	assert_ok(call(&b, b.nn->conv2d_forward, args));
	assert_int_equal(through_cudnn(), 1);
	const float *y = fetch(&b, Y);
	for (int i = 0; i < Y_SIZE / 2; i++)
		assert_close(
			y[i],
			y_of(i / (O * H / 2 * W), i / (H / 2 * W) % O, i / W % (H / 2) * 2, i % W),
			1e-3);
	end(&b);
}

static void what_cudnn_refuses_is_asked_once(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON));
	simcudaInject("cudnnGetConvolutionForwardAlgorithm_v7", 1, CUDNN_STATUS_NOT_SUPPORTED, 0);
	check_own(&b, arguments(&b, 0));
	check_own(&b, arguments(&b, 0));
	assert_int_equal(simcudaCalls("cudnnGetConvolutionForwardAlgorithm_v7"), 1);
	end(&b);
	begin(&b, SETTINGS(ON));
	simcudaInject("cudnnConvolutionForward", 1, CUDNN_STATUS_NOT_SUPPORTED, 0);
	assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
	check_y(&b, 0, 0, 0);
	check_own(&b, arguments(&b, 0));
	end(&b);
}

/* Another algorithm, or the backend's own kernels. */
static void it_can_do_without_the_workspace(void **state)
{
	static struct bench b;
	struct pass passes[3];
	(void)state;
	for (int i = 0; i < 6; i++) {
		const int is_auto = i / 3;
		begin(&b, is_auto ? SETTINGS(AUTO) : SETTINGS(ON));
		list_passes(&b, passes);
		const struct pass *pass = &passes[i % 3];
		b.room_size = 256;
		assert_ok(call(&b, pass->run, arguments(&b, 0)));
		assert_true(b.preferred > b.room_size && b.preferred <= 64 << 20);
		assert_int_equal(b.minimum, 0);
		assert_int_equal(simcudaCalls(pass->function), !is_auto);
		assert_contains(line(&b), is_auto ? ", auto, 0 calls" : ", on, 1 calls");
		check_result(&b, pass->result, 0);
		end(&b);
	}
}

/* Refusing the one without workspace does not affect the other. */
static void a_refused_spare_is_no_refused_plan(void **state)
{
	static struct bench b;
	struct pass passes[3];
	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(&b, SETTINGS(ON));
		list_passes(&b, passes);
		b.room_size = 256;
		simcudaInject(passes[i].function, 1, CUDNN_STATUS_NOT_SUPPORTED, 0);
		for (int round = 0; round < 3; round++) {
			refill(&b);
			assert_ok(call(&b, passes[i].run, arguments(&b, 0)));
			check_result(&b, passes[i].result, 0);
			assert_int_equal(simcudaCalls(passes[i].function), 1 + round / 2);
			b.room_size = round ? ROOM : 256;
		}
		end(&b);
	}
}

static void f32_is_multiplied_in_f32_unless_tf32_is_asked_for(void **state)
{
	static struct bench b;
	static float x[X_SIZE];
	(void)state;
	for (int i = 0; i < X_SIZE; i++)
		x[i] = number(i) * (1 + 0x1p-12f);
	for (int is_narrow = 0; is_narrow < 2; is_narrow++) {
		int differs = 0;
		begin(&b, is_narrow ? SETTINGS(ON, "TENON_CUDA_TF32=1") : SETTINGS(ON));
		assert_ok(plugin_upload(&b.p, b.buffer[X], x, sizeof(x)));
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
		assert_int_equal(through_cudnn(), 1);
		const float *y = fetch(&b, Y);
		for (int i = 0; i < Y_SIZE; i++)
			differs |=
				fabsf(y[i] - (1 + 0x1p-12f) * y_of(i / (O * H * W), i / (H * W) % O,
								   i / W % H, i % W)) > 1e-3f;
		assert_int_equal(differs, is_narrow);
		end(&b);
	}
}

/* Of the gradients the algorithms without workspace are Winograd's, which are accurate enough for
 * f32 with windows of 3 x 3. */
static void what_is_narrow_is_not_enlarged(void **state)
{
	static struct bench b;
	struct pass passes[3];
	(void)state;
	for (int i = 1; i < 6; i++) {
		const int is_narrow = i / 3;
		begin(&b, is_narrow ? SETTINGS(ON, "TENON_CUDA_TF32=1") : SETTINGS(ON));
		list_passes(&b, passes);
		const struct pass *pass = &passes[i % 3];
		b.room_size = 256;
		assert_ok(call(&b, pass->run, arguments(&b, 0)));
		assert_int_equal(simcudaCalls(pass->function), !is_narrow || pass->result == Y);
		check_result(&b, pass->result, 0);
		end(&b);
	}
}

/* ---- Measuring -------------------------------------------------------------------------------*/

static void auto_times_both_once_for_a_shape(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(AUTO));
	struct tn_conv2d_args args = arguments(&b, 0);
	args.has_bias = 1;
	assert_ok(call(&b, b.nn->conv2d_forward, args));
	check_y(&b, 1, 0, 0);
	const unsigned long timed = through_cudnn();
	assert_in_range(timed, 2, 8);
	assert_contains(b.p.log, "cuDNN ");
	const unsigned long events = simcudaCalls("cudaEventRecord");
	for (int i = 0; i < 3; i++) {
		refill(&b);
		assert_ok(call(&b, b.nn->conv2d_forward, args));
		check_y(&b, 1, 0, 0);
	}
	assert_true(through_cudnn() == timed || through_cudnn() == timed + 3);
	assert_int_equal(simcudaCalls("cudaEventRecord"), events);
	end(&b);
}

/* Timing an accumulating call would accumulate repeatedly. */
static void auto_times_nothing_that_adds(void **state)
{
	static struct bench b;
	static float dx[X_SIZE], dw[W_SIZE];
	(void)state;
	differentiate(dx, dw);
	begin(&b, SETTINGS(AUTO));
	assert_ok(call(&b, b.nn->conv2d_weight_gradient, arguments(&b, TN_ACCUMULATE)));
	check_gradient(&b, WEIGHT, dw, 1);
	assert_int_equal(through_cudnn(), 0);
	end(&b);
}

/* ---- Failures --------------------------------------------------------------------------------*/

static void a_library_that_does_not_start_is_not_used(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON));
	simcudaInject("cudnnCreate", 1, CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, 0);
	check_own(&b, arguments(&b, 0));
	check_own(&b, arguments(&b, 0));
	assert_int_equal(simcudaCalls("cudnnCreate"), 1);
	assert_contains(line(&b), "not used: cudnnCreate: CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED");
	assert_contains(b.p.log, "cuDNN is not used: cudnnCreate");
	end(&b);
}

static void dry_run(struct bench *b)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_conv2d_args args = arguments(b, TN_DRY_RUN);
	args.call.workspace = &workspace;
	assert_ok(b->nn->conv2d_forward(b->p.device, &args));
	b->preferred = workspace.preferred;
}

/* Neither retried at every call, nor given up for good. */
static void without_memory_it_is_tried_again_later(void **state)
{
	static const char *const functions[] = {"cudnnCreate", "cudnnCreateTensorDescriptor"};
	static struct bench b;
	(void)state;
	for (int i = 0; i < 2; i++) {
		int n = 0;
		begin(&b, SETTINGS(ON));
		simcudaInject(functions[i], 1, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
			      0);
		check_own(&b, arguments(&b, 0));
		for (b.preferred = 0; !b.preferred && n < 1000; n++) {
			assert_int_equal(simcudaCalls(functions[i]), 1);
			dry_run(&b);
		}
		assert_in_range(n, 10, 100);
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
		assert_int_equal(through_cudnn(), 1);
		check_y(&b, 0, 0, 0);
		end(&b);
	}
}

static void a_failed_call_says_what_failed(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON));
	simcudaInject("cudnnConvolutionForward", 1, CUDNN_STATUS_EXECUTION_FAILED, 0);
	assert_status(call(&b, b.nn->conv2d_forward, arguments(&b, 0)), TN_BACKEND_FAILURE);
	assert_string_equal(b.p.error.operation, "conv2d_forward");
	assert_contains(b.p.error.text,
			"cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED (5000)");
	assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
	check_y(&b, 0, 0, 0);
	end(&b);
}

/* The own kernels compute it, unless an accumulating call may have lost old contents. */
static void a_lack_of_memory_is_no_failure(void **state)
{
	static struct bench b;
	static float dx[X_SIZE], dw[W_SIZE];
	(void)state;
	differentiate(dx, dw);
	for (int is_auto = 0; is_auto < 2; is_auto++) {
		begin(&b, is_auto ? SETTINGS(AUTO) : SETTINGS(ON));
		simcudaInject("cudnnConvolutionForward", 1,
			      CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, 0);
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
		assert_int_equal(through_cudnn(), 1);
		check_y(&b, 0, 0, 0);
		assert_contains(b.p.log, "conv2d_forward: the own kernels compute: "
					 "cudnnConvolutionForward: ");
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
		assert_true(through_cudnn() > 1);
		check_y(&b, 0, 0, 0);
		end(&b);
	}
	begin(&b, SETTINGS(ON));
	simcudaInject("cudnnConvolutionBackwardData", 1,
		      CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, 0);
	assert_status(call(&b, b.nn->conv2d_input_gradient, arguments(&b, TN_ACCUMULATE)),
		      TN_OUT_OF_MEMORY);
	assert_contains(b.p.error.text, "cudnnConvolutionBackwardData: ");
	assert_ok(call(&b, b.nn->conv2d_input_gradient, arguments(&b, TN_ACCUMULATE)));
	check_gradient(&b, X, dx, 1);
	end(&b);
}

static void a_stream_that_goes_is_left(void **state)
{
	static struct bench b;
	(void)state;
	begin(&b, SETTINGS(ON, "SIMCUDA_DEFER=1"));
	for (int i = 0; i < 2; i++) {
		void *stream = plugin_stream(&b.p);
		struct tn_conv2d_args args = arguments(&b, 0);
		args.call.stream = stream;
		assert_ok(call(&b, b.nn->conv2d_forward, args));
		assert_ok(plugin_sync(&b.p, stream));
		check_y(&b, 0, 0, 0);
		assert_ok(plugin_stream_end(&b.p, stream));
	}
	assert_int_equal(through_cudnn(), 2);
	end(&b);
}

/* ---- Capture ---------------------------------------------------------------------------------*/

static tn_status capture_call(struct bench *b, void *stream, entry run, uint32_t flags,
			      void **graph)
{
	const struct tn_capture_table *table =
		b->p.descriptor->query(b->p.instance, TN_TABLE_CAPTURE);
	const struct tn_graph_args args = {.call = plugin_call(&b->p, sizeof(args), stream)};
	struct tn_conv2d_args work = arguments(b, flags);
	work.call.stream = stream;
	assert_ok(table->capture_begin(b->p.device, &args));
	tn_status status = call(b, run, work);
	b->failed = b->p.error;
	assert_ok(table->capture_end(b->p.device, &args, graph));
	return status;
}

static tn_status capture(struct bench *b, void *stream, void **graph)
{
	return capture_call(b, stream, b->nn->conv2d_forward, 0, graph);
}

static void release(struct bench *b, void *stream, void *graph)
{
	const struct tn_capture_table *table =
		b->p.descriptor->query(b->p.instance, TN_TABLE_CAPTURE);
	const struct tn_graph_args args = {.call = plugin_call(&b->p, sizeof(args), stream),
					   .graph = graph};
	assert_ok(table->graph_release(b->p.device, &args));
}

static void launch(struct bench *b, void *stream, void *graph)
{
	const struct tn_capture_table *table =
		b->p.descriptor->query(b->p.instance, TN_TABLE_CAPTURE);
	const struct tn_graph_args args = {.call = plugin_call(&b->p, sizeof(args), stream),
					   .graph = graph};
	refill(b);
	assert_ok(table->graph_launch(b->p.device, &args));
	assert_ok(plugin_sync(&b->p, stream));
	release(b, stream, graph);
}

static void replay(struct bench *b, void *stream, void *graph)
{
	launch(b, stream, graph);
	check_y(b, 0, 0, 0);
}

/* A plan that has not run before might load code or be timed during a capture: cuDNN is not
 * used. */
static void a_capture_has_what_has_run(void **state)
{
	static const char *const modes[] = {ON, AUTO};
	static struct bench b;
	void *graph = NULL;
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&b, SETTINGS(modes[i]));
		void *stream = plugin_stream(&b.p);
		/* The own kernels are already loaded. */
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, TN_DETERMINISTIC)));
		struct tn_conv2d_args dry = arguments(&b, TN_DRY_RUN);
		assert_ok(b.nn->conv2d_forward(b.p.device, &dry));
		assert_ok(capture(&b, stream, &graph));
		assert_int_equal(through_cudnn(), 0);
		replay(&b, stream, graph);
		if (i == 0) {
			assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
			assert_ok(capture(&b, stream, &graph));
			assert_int_equal(through_cudnn(), 2);
			replay(&b, stream, graph);
		}
		assert_ok(plugin_stream_end(&b.p, stream));
		end(&b);
	}
}

/* Of another context, which shares the device. */
static void the_capture_of_another_stream_does_not_matter(void **state)
{
	static const char *const modes[] = {ON, AUTO};
	static struct bench b;
	void *graph = NULL;
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&b, SETTINGS(modes[i]));
		void *stream = plugin_stream(&b.p);
		const struct tn_capture_table *table =
			b.p.descriptor->query(b.p.instance, TN_TABLE_CAPTURE);
		const struct tn_graph_args args = {.call = plugin_call(&b.p, sizeof(args), stream)};
		assert_ok(table->capture_begin(b.p.device, &args));
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
		assert_true(through_cudnn() > 0);
		check_y(&b, 0, 0, 0);
		assert_ok(table->capture_end(b.p.device, &args, &graph));
		release(&b, stream, graph);
		assert_ok(plugin_stream_end(&b.p, stream));
		end(&b);
	}
}

/* The other algorithm has other kernels, and so may an accumulating one. */
static void a_capture_has_no_other_way_than_what_has_run(void **state)
{
	static struct bench b;
	static const uint64_t rooms[] = {ROOM, 256};
	void *graph = NULL;
	(void)state;
	begin(&b, SETTINGS(ON));
	const entry run = b.nn->conv2d_weight_gradient;
	void *stream = plugin_stream(&b.p);
	for (int i = 0; i < 2; i++)
		assert_ok(call(&b, run, arguments(&b, TN_DETERMINISTIC | (i ? TN_ACCUMULATE : 0))));
	for (int i = 0; i < 4; i++) {
		const uint32_t flags = i % 2 ? TN_ACCUMULATE : 0;
		const unsigned long before = through_cudnn();
		b.room_size = rooms[i / 2];
		/* A plan that never ran is not used in a capture: see above. */
		if (i == 0)
			assert_ok(call(&b, run, arguments(&b, flags)));
		assert_ok(capture_call(&b, stream, run, flags, &graph));
		assert_int_equal(through_cudnn(), before + (i == 0 ? 2 : 0));
		launch(&b, stream, graph);
		check_result(&b, WEIGHT, flags != 0);
		assert_ok(call(&b, run, arguments(&b, flags)));
		assert_ok(capture_call(&b, stream, run, flags, &graph));
		assert_int_equal(through_cudnn(), before + (i == 0 ? 4 : 2));
		launch(&b, stream, graph);
		check_result(&b, WEIGHT, flags != 0);
	}
	assert_ok(plugin_stream_end(&b.p, stream));
	end(&b);
}

/* The caller continues without a capture, or captures again with the own kernels. */
static void what_fails_in_a_capture_is_not_captured(void **state)
{
	static struct bench b;
	void *graph = NULL;
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&b, SETTINGS(ON));
		void *stream = plugin_stream(&b.p);
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, TN_DETERMINISTIC)));
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
		const unsigned long queries = simcudaCalls("cudaStreamQuery");
		simcudaInject(i ? "cudnnSetStream" : "cudnnConvolutionForward", 1,
			      CUDNN_STATUS_EXECUTION_FAILED, 0);
		assert_status(capture(&b, stream, &graph), TN_NOT_CAPTURABLE);
		assert_contains(b.failed.text, "CUDNN_STATUS_EXECUTION_FAILED (5000)");
		assert_int_equal(simcudaCalls("cudaStreamQuery"), queries);
		release(&b, stream, graph);
		const unsigned long before = through_cudnn();
		assert_ok(capture(&b, stream, &graph));
		assert_int_equal(through_cudnn(), before);
		replay(&b, stream, graph);
		assert_ok(call(&b, b.nn->conv2d_forward, arguments(&b, 0)));
		assert_int_equal(through_cudnn(), before + 1);
		check_y(&b, 0, 0, 0);
		assert_ok(plugin_stream_end(&b.p, stream));
		end(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_off_unless_it_is_asked_for),
		cmocka_unit_test(a_forward_goes_on_behind_it),
		cmocka_unit_test(a_residual_may_be_the_result),
		cmocka_unit_test(gradients_are_written_or_added),
		cmocka_unit_test(halves_with_the_channels_last_in_groups),
		cmocka_unit_test(the_same_bits_each_time_come_from_the_own_kernels),
		cmocka_unit_test(what_it_does_not_do_the_own_kernels_do),
		cmocka_unit_test(padding_that_no_window_meets_does_not_matter),
		cmocka_unit_test(what_cudnn_refuses_is_asked_once),
		cmocka_unit_test(it_can_do_without_the_workspace),
		cmocka_unit_test(a_refused_spare_is_no_refused_plan),
		cmocka_unit_test(f32_is_multiplied_in_f32_unless_tf32_is_asked_for),
		cmocka_unit_test(what_is_narrow_is_not_enlarged),
		cmocka_unit_test(auto_times_both_once_for_a_shape),
		cmocka_unit_test(auto_times_nothing_that_adds),
		cmocka_unit_test(a_library_that_does_not_start_is_not_used),
		cmocka_unit_test(without_memory_it_is_tried_again_later),
		cmocka_unit_test(a_failed_call_says_what_failed),
		cmocka_unit_test(a_lack_of_memory_is_no_failure),
		cmocka_unit_test(a_stream_that_goes_is_left),
		cmocka_unit_test(a_capture_has_what_has_run),
		cmocka_unit_test(the_capture_of_another_stream_does_not_matter),
		cmocka_unit_test(a_capture_has_no_other_way_than_what_has_run),
		cmocka_unit_test(what_fails_in_a_capture_is_not_captured),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
