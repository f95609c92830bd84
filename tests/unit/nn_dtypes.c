/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Networks of f64, f16 and bf16: their arrays, conversion, gradients, files and averages.  Layers
 * beside PyTorch's are in tests/parity/modules.c.
 */
#include <unistd.h>

#include "dtypes_net.h"

static void expect_error(tn_status status, const char *part)
{
	assert_kept(context, status, part);
}

/* ---- Building --------------------------------------------------------------------------------*/

static void parameters_have_the_networks_dtype_and_gradients_f32_at_least(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
	(void)state;
	for (int d = 0; d < N_DTYPES; d++) {
		tn_dtype dtype = all_dtypes[d], wide = dtype == TN_F64 ? TN_F64 : TN_F32;
		tn_module *net = build_net(dtype);
		assert_int_equal(tn_module_dtype(net), dtype);
		assert_int_equal(tn_module_dtype(tn_module_child(net, "norm")), dtype);
		tn_module_set_training(net, 1);
		find_gradients(net);
		for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
			assert_ok(tn_module_parameter_at(net, i, &view));
			assert_int_equal(tn_array_dtype(view.value), dtype);
			assert_int_equal(tn_array_dtype(view.gradient), wide);
		}
		assert_ok(tn_module_buffer_at(net, 0, &buffer));
		assert_string_equal(buffer.name, "norm.running_mean");
		assert_int_equal(buffer.dtype, wide);
		assert_int_equal(tn_array_dtype(buffer.value), wide);
		assert_ok(tn_module_buffer_at(net, 2, &buffer));
		assert_int_equal(buffer.dtype, TN_I64);
		char *text = tn_module_summary(net, NULL);
		assert_contains(text, dtype == TN_F32   ? "32 parameters\n"
				      : dtype == TN_F64 ? "32 parameters of f64\n"
				      : dtype == TN_F16 ? "32 parameters of f16\n"
							: "32 parameters of bf16\n");
		tn_string_free(text);
		tn_module_destroy(net);
	}
}

static void initial_values_are_those_of_f32_rounded(void **state)
{
	double f32[N_ALL], own[N_ALL];
	(void)state;
	tn_module *net = build_net(TN_F32);
	read_all(net, f32);
	tn_module_destroy(net);
	for (int d = 1; d < N_DTYPES; d++) {
		net = build_net(all_dtypes[d]);
		read_all(net, own);
		double unit = all_dtypes[d] == TN_F64   ? 0
			      : all_dtypes[d] == TN_F16 ? 0x1p-11
							: 0x1p-8;
		int n_equal = 0;
		for (int i = 0; i < N_ALL; i++) {
			assert_close(own[i], f32[i], unit * fabs(f32[i]));
			n_equal += own[i] == f32[i];
		}
		assert_true(all_dtypes[d] == TN_F64 ? n_equal == N_ALL : n_equal < N_ALL);
		tn_module_destroy(net);
	}
}

static void a_dtype_is_given_once_to_the_outermost_module(void **state)
{
	(void)state;
	tn_module *net = make_net();
	assert_int_equal(tn_module_dtype(net), TN_F32);
	assert_int_equal(tn_module_dtype(NULL), TN_F32);
	assert_status(tn_module_set_dtype(NULL, TN_F64), TN_INVALID_ARGUMENT);
	assert_status(tn_module_set_dtype(net, TN_I32), TN_DTYPE);
	expect_error(TN_DTYPE, "expected f16, bf16, f32 or f64, found i32");
	assert_status(tn_module_set_dtype(tn_module_child(net, "c"), TN_F64), TN_STATE);
	expect_error(TN_STATE, "the outermost one has the dtype");
	assert_ok(tn_module_set_dtype(net, TN_F64));
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_set_dtype(net, TN_F64));
	tn_module_destroy(net);
	/* A member that has one of its own. */
	net = make_net();
	tn_module *head = tn_module_linear(context, OUT, 1, NULL);
	assert_ok(tn_module_set_dtype(head, TN_F16));
	assert_ok(tn_module_sequential_add(net, "head", head));
	assert_status(tn_module_build(net), TN_DTYPE);
	expect_error(TN_DTYPE, "'head' was given f16, the network is of f32");
	assert_ok(tn_module_set_dtype(net, TN_F16));
	assert_ok(tn_module_build(net));
	tn_module_destroy(net);
}

static void a_built_network_is_converted(void **state)
{
	double before[N_ALL], after[N_ALL], expected[N_ALL];
	struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	for (int from = 0; from < N_DTYPES; from++) {
		for (int to = 0; to < N_DTYPES; to++) {
			tn_dtype dtype = all_dtypes[to];
			tn_module *net = build_net(all_dtypes[from]), *other = build_net(dtype);
			tn_module_set_training(net, 1);
			find_gradients(net);
			read_all(net, before);
			assert_ok(tn_module_set_dtype(net, dtype));
			assert_int_equal(tn_module_dtype(net), dtype);
			assert_ok(tn_module_buffer_at(net, 0, &buffer));
			assert_int_equal(buffer.dtype, dtype == TN_F64 ? TN_F64 : TN_F32);
			assert_int_equal(tn_array_dtype(buffer.value), buffer.dtype);
			assert_ok(tn_module_parameter_at(net, 0, &view));
			assert_int_equal(tn_array_dtype(view.value), dtype);
			if (from != to)
				assert_null(view.gradient);
			/* What an assignment to a network built so gives, and a step. */
			tn_array *w =
				tn_module_own_parameter(tn_module_child(other, "a"), "weight");
			assert_ok(tn_assign(w, view.value));
			read_all(net, after);
			for (int i = 0; i < N_ALL; i++)
				assert_close(after[i], before[i], 0x1p-8 * fabs(before[i]));
			for (int i = 0; i < N_ALL && to == 1; i++)
				assert_true(after[i] == before[i]);
			tn_optimizer *optimizer = sgd(net);
			step(net, optimizer);
			read_all(net, expected);
			assert_memory_not_equal(after, expected, sizeof(after));
			tn_optimizer_destroy(optimizer);
			tn_module_destroy(other);
			tn_module_destroy(net);
		}
	}
}

static void a_network_in_use_is_not_converted(void **state)
{
	(void)state;
	tn_module *net = build_net(TN_F32);
	const tn_array *w = tn_module_own_parameter(tn_module_child(net, "a"), "weight");
	tn_optimizer *optimizer = sgd(net);
	assert_status(tn_module_set_dtype(net, TN_F16), TN_STATE);
	expect_error(TN_STATE, "an optimizer, average or scaler of the network exists");
	tn_weight_average *average = tn_weight_average_create(net, NULL);
	tn_grad_scaler *scaler = tn_grad_scaler_create(net, NULL);
	tn_optimizer_destroy(optimizer);
	assert_status(tn_module_set_dtype(net, TN_F16), TN_STATE);
	expect_error(TN_STATE, "exists");
	tn_weight_average_destroy(average);
	assert_status(tn_module_set_dtype(net, TN_F16), TN_STATE);
	expect_error(TN_STATE, "exists");
	tn_grad_scaler_destroy(scaler);
	assert_ok(tn_module_freeze(net));
	assert_status(tn_module_set_dtype(net, TN_F16), TN_STATE);
	expect_error(TN_STATE, "frozen");
	tn_module_unfreeze(net);
	tn_tape *tape = tn_tape_begin(context);
	assert_status(tn_module_set_dtype(net, TN_F16), TN_STATE);
	expect_error(TN_STATE, "a tape is open");
	tn_tape_end(tape);
	assert_ptr_equal(tn_module_own_parameter(tn_module_child(net, "a"), "weight"), w);
	assert_int_equal(tn_array_dtype(w), TN_F32);
	assert_ok(tn_module_set_dtype(net, TN_F16));
	assert_non_null(tn_module_forward(net, input(TN_F16)));
	tn_module_destroy(net);
}

static void inputs_of_another_floating_type_are_refused(void **state)
{
	(void)state;
	tn_module *net = build_net(TN_F16);
	assert_null(tn_module_forward(net, input(TN_F32)));
	expect_error(TN_DTYPE,
		     "expected an input of f16, like the network's parameters, found f32");
	assert_non_null(tn_module_forward(net, input(TN_F16)));
	tn_module_destroy(net);
	net = tn_module_lstm(context, IN, HIDDEN, NULL);
	assert_ok(tn_module_set_dtype(net, TN_F64));
	assert_ok(tn_module_build(net));
	tn_array *x = tn_zeros(context, TN_F64, 3, (int64_t[]){ROWS, 2, IN});
	tn_array *h0 = tn_zeros(context, TN_F32, 3, (int64_t[]){1, ROWS, HIDDEN});
	assert_null(tn_module_recurrent_forward(net, x, h0, NULL, NULL, NULL));
	expect_error(TN_DTYPE, "expected an input of f64");
	assert_non_null(tn_module_recurrent_forward(net, x, NULL, NULL, NULL, NULL));
	tn_module_destroy(net);
}

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_module *checked;

static tn_array *squares(void *user, tn_array *const *inputs)
{
	(void)user;
	return tn_mean(tn_square(tn_module_forward(checked, inputs[0])), TN_ALL_AXES, NULL, 0);
}

static void gradients_of_f64_networks_agree_with_differences(void **state)
{
	(void)state;
	checked = build_net(TN_F64);
	tn_array *inputs[5] = {input(TN_F64)};
	for (size_t i = 0; i < 4; i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(checked, i, &view));
		inputs[1 + i] = view.value;
	}
	assert_ok(tn_gradient_check(context, squares, NULL, 5, inputs, 1e-6, 1e-9, 0, NULL));
	tn_module_destroy(checked);
}

/* 2048 + 1 is not an f16. */
static void gradients_of_several_backwards_add_up_in_f32(void **state)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	double value;
	(void)state;
	struct tn_module_linear_options linear = tn_module_linear_defaults();
	linear.no_bias = 1;
	tn_module *net = tn_module_linear(context, 1, 1, &linear);
	assert_ok(tn_module_set_dtype(net, TN_F16));
	assert_ok(tn_module_build(net));
	for (int i = 0; i < 2; i++) {
		tn_array *x = tn_full(context, TN_F16, 2, (int64_t[]){1, 1}, i ? 1 : 2048);
		tn_tape *tape = tn_tape_begin(context);
		assert_ok(tn_tape_backward(tape, tn_module_forward(net, x), NULL));
		tn_tape_end(tape);
	}
	assert_ok(tn_module_parameter_at(net, 0, &view));
	assert_ok(tn_item(view.gradient, &value));
	assert_true(value == 2049);
	tn_module_destroy(net);
}

static void frozen_networks_of_all_dtypes_compute_what_they_did(void **state)
{
	(void)state;
	for (int d = 0; d < N_DTYPES; d++) {
		double before[ROWS * 2 * 16], after[ROWS * 2 * 16];
		tn_module *net = tn_module_sequential(context);
		assert_ok(tn_module_sequential_add(net, "conv",
						   tn_module_conv2d(context, 3, 2, 3, 3, NULL)));
		assert_ok(tn_module_sequential_add(net, "norm",
						   tn_module_batch_norm2d(context, 2, NULL)));
		assert_ok(tn_module_sequential_add(net, "relu", tn_module_relu(context)));
		assert_ok(tn_module_set_dtype(net, all_dtypes[d]));
		assert_ok(tn_module_build(net));
		assert_ok(tn_fill(
			tn_module_own_buffer(tn_module_child(net, "norm"), "running_mean"), 0.25));
		tn_array *x = tn_full(context, all_dtypes[d], 4, (int64_t[]){ROWS, 3, 6, 6}, 0.5);
		tn_array *y = tn_astype(tn_module_forward(net, x), TN_F64);
		assert_ok(tn_to_host(y, before, sizeof(before)));
		assert_ok(tn_module_freeze(net));
		y = tn_astype(tn_module_forward(net, x), TN_F64);
		assert_ok(tn_to_host(y, after, sizeof(after)));
		for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
			assert_close(after[i], before[i],
				     all_dtypes[d] == TN_F64   ? 1e-14
				     : all_dtypes[d] == TN_F32 ? 1e-6
							       : 0.03);
		tn_module_destroy(net);
	}
}

/* ---- Files -----------------------------------------------------------------------------------*/

static void files_have_the_networks_dtype_and_are_converted_on_request(void **state)
{
	char path[] = "/tmp/tenon-dtypes-XXXXXX";
	double f32[N_ALL], own[N_ALL];
	(void)state;
	close(mkstemp(path));
	for (int d = 0; d < N_DTYPES; d++) {
		tn_module *net = build_net(all_dtypes[d]), *other = build_net(all_dtypes[d]);
		read_all(net, f32);
		assert_ok(tn_module_save(net, path, 0, NULL));
		struct tn_init_options init = tn_init_defaults();
		init.kind = TN_INIT_CONSTANT;
		assert_ok(tn_module_init_parameters(other, "*", &init));
		assert_ok(tn_module_load(other, path, NULL));
		read_all(other, own);
		assert_memory_equal(own, f32, sizeof(own));
		tn_module_destroy(other);
		tn_module_destroy(net);
	}
	/* The file is of bf16 now, its buffers of f32. */
	tn_module *net = build_net(TN_F64);
	assert_status(tn_module_load(net, path, NULL), TN_DTYPE);
	expect_error(TN_DTYPE, "expected f64, found F32 (and 5 more)");
	struct tn_module_load_options options = tn_module_load_defaults();
	options.convert = 1;
	assert_ok(tn_module_load(net, path, &options));
	read_all(net, own);
	assert_memory_equal(own, f32, sizeof(own));
	tn_module_destroy(net);
	remove(path);
}

/* ---- Prediction ------------------------------------------------------------------------------*/

static void predictions_are_f32_for_networks_of_all_dtypes(void **state)
{
	static const struct tn_input_format format = {.struct_size = sizeof(format),
						      .channels = 1,
						      .height = 2,
						      .width = 2,
						      .source_height = 2,
						      .source_width = 2,
						      .zoom = 1,
						      .scale = 255,
						      .deviation = {1},
						      .n_classes = OUT};
	static const float images[] = {0.5F, -1, 0.25F, 1, 2, 0, -0.5F, 1};
	float all[N_DTYPES][2 * OUT];
	(void)state;
	for (int d = 0; d < N_DTYPES; d++) {
		tn_module *net = tn_module_sequential(context);
		tn_random_set_state(context, (struct tn_random_state){.seed = 3, .stream = 1});
		assert_ok(tn_module_sequential_add(net, "flatten", tn_module_flatten(context)));
		assert_ok(tn_module_sequential_add(net, "fc",
						   tn_module_linear(context, 4, OUT, NULL)));
		assert_ok(tn_module_set_dtype(net, all_dtypes[d]));
		assert_ok(tn_module_build(net));
		assert_ok(tn_predict(net, &format, 2, images, all[d]));
		for (int i = 0; i < 2 * OUT; i++)
			assert_close(all[d][i], all[0][i],
				     all_dtypes[d] == TN_BF16  ? 0x1p-6
				     : all_dtypes[d] == TN_F16 ? 0x1p-9
							       : 1e-6);
		tn_module_destroy(net);
	}
}

/* ---- Averages and clipping -------------------------------------------------------------------*/

static void averages_of_narrow_networks_are_f32_and_swap_without_loss(void **state)
{
	(void)state;
	for (int d = 0; d < N_DTYPES; d++) {
		double before[N_ALL], swapped[N_ALL], after[N_ALL], averages[2][N_ALL];
		struct tn_weight_average_view view = {.struct_size = sizeof(view)};
		tn_module *net = build_net(all_dtypes[d]);
		tn_optimizer *optimizer = sgd(net);
		struct tn_weight_average_options averaging = tn_weight_average_defaults();
		averaging.decay = 0.9;
		tn_weight_average *average = tn_weight_average_create(net, &averaging);
		for (int s = 0; s < 5; s++) {
			step(net, optimizer);
			assert_ok(tn_weight_average_update(average));
		}
		read_all(net, before);
		assert_ok(tn_weight_average_swap(average));
		read_all(net, swapped);
		for (int round = 0; round < 2; round++) {
			size_t n = 0;
			assert_ok(tn_weight_average_swap(average));
			for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
				assert_ok(tn_weight_average_at(average, i, &view));
				assert_int_equal(tn_array_dtype(view.value),
						 all_dtypes[d] == TN_F64 ? TN_F64 : TN_F32);
				size_t size = (size_t)tn_array_size(view.value);
				assert_ok(tn_to_host(tn_astype(view.value, TN_F64),
						     averages[round] + n, size * sizeof(double)));
				n += size;
			}
			if (!round)
				assert_ok(tn_weight_average_swap(average));
		}
		read_all(net, after);
		assert_memory_equal(before, after, sizeof(before));
		assert_memory_equal(averages[0], averages[1], sizeof(before));
		for (int i = 0; i < N_ALL; i++)
			assert_true(swapped[i] ==
				    (all_dtypes[d] > TN_BF16
					     ? averages[0][i]
					     : rounded(averages[0][i], all_dtypes[d])));
		tn_weight_average_destroy(average);
		tn_optimizer_destroy(optimizer);
		tn_module_destroy(net);
	}
}

static void clipping_works_in_the_gradients_dtype(void **state)
{
	(void)state;
	for (int d = 0; d < N_DTYPES; d++) {
		double norm, clipped;
		tn_module *net = build_net(all_dtypes[d]);
		tn_module_set_training(net, 1);
		find_gradients(net);
		assert_ok(tn_clip_grad_norm(net, 1e-3, &norm));
		assert_ok(tn_clip_grad_norm(net, 1, &clipped));
		assert_true(norm > 1e-2);
		assert_close(clipped, 1e-3 * norm / (norm + 1e-6),
			     all_dtypes[d] == TN_F64 ? 1e-17 : 1e-9);
		assert_ok(tn_clip_grad_value(net, 1e-5));
		assert_ok(tn_clip_grad_norm(net, 1, &clipped));
		assert_true(clipped <= 1e-5 * sqrt(N_ALL));
		tn_module_destroy(net);
	}
}

static int run_all(CMFixtureFunction before, CMFixtureFunction after)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_have_the_networks_dtype_and_gradients_f32_at_least),
		cmocka_unit_test(initial_values_are_those_of_f32_rounded),
		cmocka_unit_test(a_dtype_is_given_once_to_the_outermost_module),
		cmocka_unit_test(a_built_network_is_converted),
		cmocka_unit_test(a_network_in_use_is_not_converted),
		cmocka_unit_test(inputs_of_another_floating_type_are_refused),
		cmocka_unit_test(gradients_of_f64_networks_agree_with_differences),
		cmocka_unit_test(gradients_of_several_backwards_add_up_in_f32),
		cmocka_unit_test(frozen_networks_of_all_dtypes_compute_what_they_did),
		cmocka_unit_test(files_have_the_networks_dtype_and_are_converted_on_request),
		cmocka_unit_test(predictions_are_f32_for_networks_of_all_dtypes),
		cmocka_unit_test(averages_of_narrow_networks_are_f32_and_swap_without_loss),
		cmocka_unit_test(clipping_works_in_the_gradients_dtype),
	};
	return cmocka_run_group_tests(tests, before, after);
}

int main(int n_arguments, char **arguments)
{
	return run_everywhere(n_arguments, arguments, run_all);
}
