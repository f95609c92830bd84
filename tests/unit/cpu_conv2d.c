/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's direct convolutions against loops over the definition: every pass, layouts,
 * levels of the processor, epilogues, packed weights, sentinels around outputs.  Numbers are small
 * integers, whose f32 sums are exact in any order: results are compared for equality.  Only some
 * activations round.
 */
#include <math.h>

#include "cpu_conv_walk.h"

/* A plane with as much padding has more elements than memory could hold. */
#define FAR ((1 << 30) - 1)

static const struct conv_shape shapes[] = {
	{"one element", 1, 1, 1, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0}},
	{"1x1", 2, 5, 3, 4, 7, 1, 1, 1, {1, 1}, {1, 1}, {0}},
	{"1x1, whole panels", 2, 64, 5, 5, 64, 1, 1, 1, {1, 1}, {1, 1}, {0}},
	{"1x1 stride 2", 2, 16, 7, 8, 33, 1, 1, 1, {2, 2}, {1, 1}, {0}},
	{"3x3", 2, 20, 7, 9, 40, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"3x3 stride 2", 3, 17, 9, 8, 31, 3, 3, 1, {2, 2}, {1, 1}, {1, 1, 1, 1}},
	{"first layer", 2, 3, 11, 13, 64, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"first layer, stride 2", 2, 3, 12, 13, 24, 3, 3, 1, {2, 2}, {1, 1}, {0, 1, 1, 1}},
	{"LeNet 1", 3, 1, 28, 28, 6, 5, 5, 1, {1, 1}, {1, 1}, {2, 2, 2, 2}},
	{"LeNet 2", 3, 6, 14, 14, 16, 5, 5, 1, {1, 1}, {1, 1}, {0}},
	{"stem 4x4", 2, 3, 16, 20, 96, 4, 4, 1, {4, 4}, {1, 1}, {0}},
	{"2x2 stride 2", 2, 48, 8, 6, 50, 2, 2, 1, {2, 2}, {1, 1}, {0}},
	{"window larger than the plane", 1, 4, 2, 2, 5, 5, 5, 1, {1, 1}, {1, 1}, {2, 2, 2, 2}},
	{"dilated", 2, 18, 12, 13, 20, 3, 3, 1, {1, 1}, {2, 3}, {2, 3, 2, 3}},
	{"dilated, few channels", 2, 2, 12, 13, 5, 3, 2, 1, {2, 1}, {2, 3}, {1, 0, 2, 1}},
	{"grouped", 2, 24, 6, 7, 36, 3, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"depthwise", 2, 19, 6, 7, 19, 3, 3, 19, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"padded on one side", 1, 9, 5, 6, 10, 2, 3, 1, {1, 1}, {1, 1}, {0, 2, 1, 0}},
	{"stride 3 of a 2x2 window", 2, 8, 10, 11, 12, 2, 2, 1, {3, 3}, {1, 1}, {0}},
	{"one output channel", 2, 30, 6, 6, 1, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"one input channel", 2, 1, 9, 9, 40, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"a long window", 1, 2, 40, 9, 3, 36, 1, 1, {1, 1}, {1, 1}, {3, 0, 3, 0}},
	{"many taps", 1, 17, 8, 8, 18, 7, 7, 1, {1, 1}, {1, 1}, {3, 3, 3, 3}},
	{"deep, small plane", 1, 160, 4, 4, 130, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"far padding", 2, 3, 2, 3, 5, 2, 2, 1, {FAR, FAR}, {1, 1}, {FAR, FAR, FAR, FAR}},
	{"many pixels", 4, 16, 33, 32, 32, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

/* The algorithm for few channels, and its edge cases. */
static const struct conv_shape few[] = {
	{"one element", 1, 1, 1, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0}},
	{"LeNet 1", 3, 1, 28, 28, 6, 5, 5, 1, {1, 1}, {1, 1}, {2, 2, 2, 2}},
	{"LeNet 2", 3, 6, 14, 14, 16, 5, 5, 1, {1, 1}, {1, 1}, {0}},
	{"pieces", 7, 6, 14, 14, 16, 5, 5, 1, {1, 1}, {1, 1}, {0}},
	{"2 to 1", 2, 2, 5, 9, 1, 3, 2, 1, {1, 1}, {1, 1}, {1, 0, 2, 1}},
	{"3 to 2", 2, 3, 7, 17, 2, 1, 7, 1, {1, 1}, {1, 1}, {0, 6, 0, 0}},
	{"4 to 3", 2, 4, 9, 16, 3, 7, 7, 1, {1, 1}, {1, 1}, {3, 3, 3, 3}},
	{"5 to 4", 1, 5, 6, 3, 4, 3, 3, 1, {1, 1}, {1, 1}, {2, 2, 2, 2}},
	{"7 to 5", 1, 7, 8, 33, 5, 4, 3, 1, {1, 1}, {1, 1}, {0, 2, 3, 0}},
	{"8 to 7", 2, 8, 5, 6, 7, 2, 2, 1, {1, 1}, {1, 1}, {0, 0, 1, 1}},
	{"9 to 8", 2, 9, 4, 15, 8, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
	{"16 to 9", 1, 16, 7, 5, 9, 7, 1, 1, {1, 1}, {1, 1}, {3, 0, 3, 0}},
	{"10 to 15", 1, 10, 6, 12, 15, 1, 1, 1, {1, 1}, {1, 1}, {0}},
	{"13 to 12", 1, 13, 7, 7, 12, 5, 3, 1, {1, 1}, {1, 1}, {4, 2, 4, 2}},
	{"window larger than the plane", 1, 4, 2, 2, 5, 5, 5, 1, {1, 1}, {1, 1}, {2, 2, 2, 2}},
};

#define N_FEW (sizeof(few) / sizeof(*few))

static void check_exactly(struct fixture *f, const struct conv_case *c)
{
	conv_check(f, c, 0);
}

static void every_pass_gives_the_definition(void **state)
{
	(void)state;
	conv_walk(&(struct conv_walk){"implicit", shapes, N_SHAPES, N_SHAPES, check_exactly});
}

static void few_channels_give_the_definition(void **state)
{
	(void)state;
	conv_walk(&(struct conv_walk){"few", few, N_FEW, N_FEW, check_exactly});
}

/* Sums up to some tens; the kernels' functions err by 4 ulp. */
static void check_activation(struct fixture *f, const struct conv_shape *shape, uint32_t activation)
{
	struct conv_case c = {.shape = shape, .has_bias = 1, .activation = activation};
	conv_check(f, &c, 4e-6);
	c.layout = 1;
	c.has_residual = 1;
	conv_check(f, &c, 4e-6);
	c.layout = 2;
	conv_check(f, &c, 4e-6);
}

static void every_activation_is_applied(void **state)
{
	(void)state;
	for (unsigned level = 0; conv_levels(level); level++) {
		struct fixture f = {.variant = conv_levels(level), .convolution = "implicit"};
		fixture_open(&f, 2);
		for (uint32_t a = 0; a <= TN_ACTIVATION_GELU; a++)
			check_activation(&f, &shapes[4], a);
		fixture_close(&f);
		f = (struct fixture){.variant = conv_levels(level), .convolution = "few"};
		fixture_open(&f, 2);
		for (uint32_t a = 0; a <= TN_ACTIVATION_GELU; a++)
			check_activation(&f, &few[2], a);
		fixture_close(&f);
	}
}

/* The packed weights belong to the other shape: w itself is read. */
static void packed_weights_of_another_call_are_not_taken(void **state)
{
	struct fixture f = {.convolution = "implicit"};
	(void)state;
	fixture_open(&f, 2);
	struct conv_case c = {.shape = &shapes[4], .layout = 1, .packed = 1, .foreign = 1};
	conv_check(&f, &c, 0);
	fixture_close(&f);
}

static void the_number_of_threads_does_not_change_a_bit(void **state)
{
	(void)state;
	conv_walk_threads(&shapes[25]);
	conv_walk_threads(&few[3]);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct fixture f = {.convolution = "auto"};
	(void)state;
	fixture_open(&f, 1);
	struct conv_case c = {.shape = &shapes[4]};
	struct tn_conv2d_args args = conv_dry(&c);
	struct tn_error_info error = {.struct_size = sizeof(error)};
	args.call.error = &error;
	assert_ok(f.nn->conv2d_forward(f.device, &args));
	args.y.shape[2]++;
	assert_int_equal(f.nn->conv2d_forward(f.device, &args), TN_SHAPE);
	assert_non_null(strstr(error.text, "y: expected (2, 40, 7, 9), found (2, 40, 8, 9)"));
	args = conv_dry(&c);
	args.groups = 3;
	assert_int_equal(f.nn->conv2d_weight_gradient(f.device, &args), TN_SHAPE);
	args = conv_dry(&c);
	args.stride[1] = 0;
	assert_int_equal(f.nn->conv2d_input_gradient(f.device, &args), TN_INVALID_ARGUMENT);
	args = conv_dry(&c);
	args.w.dtype = args.x.dtype = args.y.dtype = TN_F64;
	assert_int_equal(f.nn->conv2d_forward(f.device, &args), TN_UNSUPPORTED);
	args = conv_dry(&c);
	args.activation = TN_ACTIVATION_GELU + 1;
	assert_int_equal(f.nn->conv2d_forward(f.device, &args), TN_UNSUPPORTED);
	args = conv_dry(&c);
	args.call.flags |= TN_ACCUMULATE;
	assert_int_equal(f.nn->conv2d_forward(f.device, &args), TN_UNSUPPORTED);
	args = conv_dry(&c);
	args.w.shape[0] = args.y.shape[1] = INT64_C(1) << 50; /* as a broadcast view has */
	args.call.error = &error;
	assert_int_equal(f.nn->conv2d_forward(f.device, &args), TN_UNSUPPORTED);
	assert_non_null(strstr(error.text, "w: expected at most 2^48 elements"));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pass_gives_the_definition),
		cmocka_unit_test(few_channels_give_the_definition),
		cmocka_unit_test(every_activation_is_applied),
		cmocka_unit_test(packed_weights_of_another_call_are_not_taken),
		cmocka_unit_test(the_number_of_threads_does_not_change_a_bit),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
