/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Networks of f64, f16 and bf16: their arrays, files, steps of all optimizers, averages.  Their
 * layers beside PyTorch's are in tests/parity/modules.c.  A backend may be given as the only
 * argument.
 */
#include <unistd.h>

#include <tenon/tenon.h>

#include "unit/mock_fixture.h"

static tn_context *context;

static const char *backend;

static int setup(void **state)
{
	struct tn_context_options options = {.struct_size = sizeof(options), .backend = backend};
	struct tn_error_info error;
	(void)state;
	if (!tn_context_open(&options, &context, &error))
		return 0;
	print_error("%s\n", error.text);
	return 1;
}

static int setup_mock(void **state)
{
	(void)state;
	context = open_mock("");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tn_context_close(context);
	return 0;
}

static void expect_error(tn_status status, const char *part)
{
	assert_kept(context, status, part);
}

enum { IN = 3, HIDDEN = 5, OUT = 2, ROWS = 4, N_ALL = IN * HIDDEN + HIDDEN + HIDDEN * OUT + OUT };

/* Not built. */
static tn_module *make_net(void)
{
	tn_module *net = tn_sequential(context);
	tn_random_state_set(context, (struct tn_random_state){.seed = 3, .stream = 1});
	assert_ok(tn_sequential_add(
		net, "norm",
		tn_module_batch_norm1d(context, IN,
				       TN_OPTIONS(struct tn_module_norm_options, .no_affine = 1))));
	assert_ok(tn_sequential_add(net, "a", tn_module_linear(context, IN, HIDDEN, NULL)));
	assert_ok(tn_sequential_add(net, "b", tn_module_tanh(context)));
	assert_ok(tn_sequential_add(net, "c", tn_module_linear(context, HIDDEN, OUT, NULL)));
	return net;
}

static tn_module *build_net(tn_dtype dtype)
{
	tn_module *net = make_net();
	assert_ok(tn_module_set_dtype(net, dtype));
	assert_ok(tn_module_build(net));
	return net;
}

/* All parameters, in the order of the tree, as doubles. */
static void read_all(const tn_module *net, double values[N_ALL])
{
	size_t n = 0;
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		struct tn_parameter_view view;
		assert_ok(tn_module_parameter_at(net, i, &view));
		size_t size = (size_t)tn_array_size(view.value);
		tn_array *wide = tn_astype(view.value, TN_F64);
		assert_ok(tn_to_host(wide, values + n, size * sizeof(double)));
		tn_array_destroy(wide);
		n += size;
	}
	assert_int_equal(n, N_ALL);
}

static tn_array *input(tn_dtype dtype)
{
	float values[ROWS * IN];
	for (int i = 0; i < ROWS * IN; i++)
		values[i] = (float)(i % 7) - 3;
	return tn_astype(tn_from_host(context, TN_F32, 2, (int64_t[]){ROWS, IN}, values), dtype);
}

static void find_gradients(tn_module *net)
{
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, input(tn_module_dtype(net)));
	assert_non_null(y);
	assert_int_equal(tn_array_dtype(y), tn_module_dtype(net));
	assert_ok(tn_tape_backward(tape, tn_mean(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
}

static void step(tn_module *net, tn_optimizer *optimizer)
{
	assert_ok(tn_scope_begin(context));
	tn_module_set_training(net, 1);
	find_gradients(net);
	assert_ok(tn_optimizer_step(optimizer));
	tn_scope_end(context, NULL);
}

static const tn_dtype all_dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
enum { N_DTYPES = 4 };

static tn_optimizer *sgd(tn_module *net)
{
	return tn_sgd(net, TN_OPTIONS(struct tn_sgd_options, .lr = 1e-3, .momentum = 0.9,
				      .weight_decay = 0.1));
}

/* ---- Building --------------------------------------------------------------------------------*/

static void parameters_have_the_networks_dtype_and_gradients_f32_at_least(void **state)
{
	struct tn_parameter_view view;
	struct tn_buffer_view buffer;
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
	assert_ok(tn_sequential_add(net, "head", head));
	assert_status(tn_module_build(net), TN_DTYPE);
	expect_error(TN_DTYPE, "'head' was given f16, the network is of f32");
	assert_ok(tn_module_set_dtype(net, TN_F16));
	assert_ok(tn_module_build(net));
	tn_module_destroy(net);
}

static void a_built_network_is_converted(void **state)
{
	double before[N_ALL], after[N_ALL], expected[N_ALL];
	struct tn_buffer_view buffer;
	struct tn_parameter_view view;
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
	tn_average *average = tn_average_create(net, NULL);
	tn_grad_scaler *scaler = tn_grad_scaler_create(net, NULL);
	tn_optimizer_destroy(optimizer);
	assert_status(tn_module_set_dtype(net, TN_F16), TN_STATE);
	expect_error(TN_STATE, "exists");
	tn_average_destroy(average);
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
		struct tn_parameter_view view;
		assert_ok(tn_module_parameter_at(checked, i, &view));
		inputs[1 + i] = view.value;
	}
	assert_ok(tn_gradient_check(context, squares, NULL, 5, inputs, 1e-6, 1e-9, 0, NULL));
	tn_module_destroy(checked);
}

/* 2048 + 1 is not an f16. */
static void gradients_of_several_backwards_add_up_in_f32(void **state)
{
	struct tn_parameter_view view;
	double value;
	(void)state;
	tn_module *net = tn_module_linear(
		context, 1, 1, TN_OPTIONS(struct tn_module_linear_options, .no_bias = 1));
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
		tn_module *net = tn_sequential(context);
		assert_ok(tn_sequential_add(net, "conv",
					    tn_module_conv2d(context, 3, 2, 3, 3, NULL)));
		assert_ok(tn_sequential_add(net, "norm", tn_module_batch_norm2d(context, 2, NULL)));
		assert_ok(tn_sequential_add(net, "relu", tn_module_relu(context)));
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
		assert_ok(tn_module_init_parameters(
			other, "*", TN_OPTIONS(struct tn_init_options, .kind = TN_INIT_CONSTANT)));
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
	assert_ok(
		tn_module_load(net, path, TN_OPTIONS(struct tn_module_load_options, .convert = 1)));
	read_all(net, own);
	assert_memory_equal(own, f32, sizeof(own));
	tn_module_destroy(net);
	remove(path);
}

/* ---- Optimizers ------------------------------------------------------------------------------*/

static tn_optimizer *adam(tn_module *net)
{
	return tn_adam(net, TN_OPTIONS(struct tn_adam_options, .lr = 1e-4, .amsgrad = 1));
}

static tn_optimizer *adamw(tn_module *net)
{
	tn_optimizer *optimizer =
		tn_adamw(net, TN_OPTIONS(struct tn_adamw_options, .lr = 1e-4, .weight_decay = 0.1));
	assert_ok(tn_lookahead(optimizer, TN_OPTIONS(struct tn_lookahead_options, .k = 2)));
	return optimizer;
}

static tn_optimizer *nadam(tn_module *net)
{
	return tn_nadam(net, TN_OPTIONS(struct tn_nadam_options, .lr = 1e-4));
}

static tn_optimizer *rmsprop(tn_module *net)
{
	return tn_rmsprop(net, TN_OPTIONS(struct tn_rmsprop_options, .lr = 1e-4));
}

static tn_optimizer *adagrad(tn_module *net)
{
	return tn_adagrad(net, TN_OPTIONS(struct tn_adagrad_options, .lr = 1e-4));
}

static tn_optimizer *adadelta(tn_module *net)
{
	return tn_adadelta(net, TN_OPTIONS(struct tn_adadelta_options, .lr = 0.1));
}

static tn_optimizer *lion(tn_module *net)
{
	return tn_lion(net, TN_OPTIONS(struct tn_lion_options, .lr = 1e-5, .weight_decay = 0.1));
}

static tn_optimizer *lars(tn_module *net)
{
	return tn_lars(net, TN_OPTIONS(struct tn_lars_options, .lr = 0.01, .momentum = 0.5,
				       .weight_decay = 0.1));
}

static tn_optimizer *lamb(tn_module *net)
{
	return tn_lamb(net, TN_OPTIONS(struct tn_lamb_options, .lr = 1e-4, .weight_decay = 0.1));
}

static tn_optimizer *(*const makers[])(tn_module *net) = {sgd,     adam,     adamw, nadam, rmsprop,
							  adagrad, adadelta, lion,  lars,  lamb};
enum { N_MAKERS = sizeof(makers) / sizeof(makers[0]), STEPS = 20 };

/* The masters, in the order of the tree. */
static void read_masters(tn_optimizer *optimizer, double values[N_ALL])
{
	size_t n = 0;
	for (size_t i = 0; i < tn_optimizer_state_count(optimizer); i++) {
		struct tn_optimizer_state_view view;
		assert_ok(tn_optimizer_state_at(optimizer, i, &view));
		if (strcmp(view.state, "master"))
			continue;
		assert_int_equal(tn_array_dtype(view.value), TN_F32);
		size_t size = (size_t)tn_array_size(view.value);
		tn_array *wide = tn_astype(view.value, TN_F64);
		assert_ok(tn_to_host(wide, values + n, size * sizeof(double)));
		tn_array_destroy(wide);
		n += size;
	}
	assert_int_equal(n, N_ALL);
}

/* The number that a store of f16 or bf16 gives. */
static double rounded(double value, tn_dtype dtype)
{
	double result;
	tn_array *narrow = tn_full(context, dtype, 0, NULL, value);
	assert_ok(tn_item(narrow, &result));
	tn_array_destroy(narrow);
	return result;
}

/* Steps far below the rounding of a weight add up in the masters.  Gradients are those of the f32
 * network at its own weights, so that rounding them is the only difference. */
static void masters_follow_the_f32_network(void **state)
{
	(void)state;
	for (int k = 0; k < N_MAKERS; k++) {
		for (int d = 2; d < N_DTYPES; d++) {
			double start[N_ALL], wide[N_ALL], masters[N_ALL], own[N_ALL];
			tn_module *net = build_net(all_dtypes[d]), *f32 = build_net(TN_F32);
			for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
				struct tn_parameter_view a, b;
				assert_ok(tn_module_parameter_at(net, i, &a));
				assert_ok(tn_module_parameter_at(f32, i, &b));
				assert_ok(tn_assign(b.value, a.value));
			}
			read_all(net, start);
			tn_optimizer *narrow = makers[k](net), *reference = makers[k](f32);
			double largest = 0;
			for (int s = 0; s < STEPS; s++) {
				step(net, narrow);
				step(f32, reference);
			}
			read_all(f32, wide);
			read_all(net, own);
			read_masters(narrow, masters);
			for (int i = 0; i < N_ALL; i++)
				largest = fmax(largest, fabs(wide[i] - start[i]));
			assert_true(largest > 0);
			for (int i = 0; i < N_ALL; i++) {
				assert_true(own[i] == rounded(masters[i], all_dtypes[d]));
				assert_close(masters[i], wide[i], 0.3 * largest);
			}
			tn_optimizer_destroy(narrow);
			tn_optimizer_destroy(reference);
			tn_module_destroy(net);
			tn_module_destroy(f32);
		}
	}
}

/* Without gradients, only the decay moves the weights: by the masters' values, not by the rounded
 * weights'. */
static void decay_is_that_of_the_masters(void **state)
{
	(void)state;
	for (int k = 0; k < N_MAKERS; k++) {
		double wide[N_ALL], masters[N_ALL];
		tn_module *net = build_net(TN_BF16), *f32 = build_net(TN_F32);
		tn_module *both[] = {net, f32};
		tn_optimizer *optimizers[] = {makers[k](net), makers[k](f32)};
		for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
			struct tn_parameter_view from, to;
			assert_ok(tn_module_parameter_at(net, i, &from));
			assert_ok(tn_module_parameter_at(f32, i, &to));
			assert_ok(tn_assign(to.value, from.value));
		}
		/* Slow weights start anew. */
		for (int n = 0; n < 2 && makers[k] == adamw; n++)
			assert_ok(tn_lookahead(optimizers[n],
					       TN_OPTIONS(struct tn_lookahead_options, .k = 2)));
		for (int n = 0; n < 2; n++) {
			find_gradients(both[n]);
			tn_optimizer_set_lr(optimizers[n], 0.02);
			for (size_t i = 0; i < tn_module_parameter_count(both[n]); i++) {
				struct tn_parameter_view view;
				assert_ok(tn_module_parameter_at(both[n], i, &view));
				assert_ok(tn_fill(view.gradient, 0));
			}
			for (int s = 0; s < STEPS; s++)
				assert_ok(tn_optimizer_step(optimizers[n]));
		}
		read_all(f32, wide);
		read_masters(optimizers[0], masters);
		for (int i = 0; i < N_ALL; i++)
			assert_close(masters[i], wide[i], 1e-6 * fabs(wide[i]));
		for (int n = 0; n < 2; n++) {
			tn_optimizer_destroy(optimizers[n]);
			tn_module_destroy(both[n]);
		}
	}
}

static void slow_weights_start_as_the_present_ones(void **state)
{
	double value;
	(void)state;
	tn_module *net = build_net(TN_F16);
	tn_optimizer *optimizer = sgd(net);
	step(net, optimizer);
	assert_ok(tn_fill(tn_module_own_parameter(tn_module_child(net, "c"), "bias"), 5));
	assert_ok(tn_lookahead(optimizer, NULL));
	for (size_t i = 0; i < tn_optimizer_state_count(optimizer); i++) {
		struct tn_optimizer_state_view view;
		assert_ok(tn_optimizer_state_at(optimizer, i, &view));
		if (strcmp(view.state, "slow") || strcmp(view.parameter, "c.bias"))
			continue;
		assert_ok(tn_item(tn_slice(view.value, 0, 0, 1, 1), &value));
		assert_true(value == 5);
	}
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

/* In f64 the same step twice as precise: rounding of the f32 one is what differs. */
static void optimizers_of_f64_compute_in_f64(void **state)
{
	(void)state;
	for (int k = 0; k < N_MAKERS; k++) {
		double f32[N_ALL], f64[N_ALL];
		int n_other = 0;
		for (int d = 0; d < 2; d++) {
			tn_module *net = build_net(all_dtypes[d]);
			tn_optimizer *optimizer = makers[k](net);
			struct tn_optimizer_state_view view;
			for (int s = 0; s < STEPS; s++)
				step(net, optimizer);
			for (size_t i = 0; i < tn_optimizer_state_count(optimizer); i++) {
				assert_ok(tn_optimizer_state_at(optimizer, i, &view));
				assert_int_equal(tn_array_dtype(view.value), all_dtypes[d]);
				assert_string_not_equal(view.state, "master");
			}
			read_all(net, d ? f64 : f32);
			tn_optimizer_destroy(optimizer);
			tn_module_destroy(net);
		}
		for (int i = 0; i < N_ALL; i++) {
			assert_close(f32[i], f64[i], 1e-5);
			n_other += f64[i] != (double)(float)f64[i];
		}
		assert_true(n_other > N_ALL / 2);
	}
}

static void an_assigned_parameter_gives_its_master_the_new_value(void **state)
{
	(void)state;
	for (int d = 2; d < N_DTYPES; d++) {
		for (int k = 0; k < N_MAKERS; k++) {
			double before[N_ALL], after[N_ALL];
			tn_module *net = build_net(all_dtypes[d]);
			tn_optimizer *optimizer = makers[k](net);
			for (int s = 0; s < 3; s++)
				step(net, optimizer);
			read_masters(optimizer, before);
			tn_array *bias = tn_module_own_parameter(tn_module_child(net, "c"), "bias");
			assert_ok(tn_fill(bias, 5));
			step(net, optimizer);
			read_masters(optimizer, after);
			for (int i = 0; i < N_ALL - OUT; i++)
				assert_close(after[i], before[i], 0.2);
			for (int i = N_ALL - OUT; i < N_ALL; i++)
				assert_true(fabs(before[i]) < 1 && fabs(after[i] - 5) < 2.6);
			tn_optimizer_destroy(optimizer);
			tn_module_destroy(net);
		}
	}
}

static void a_restored_optimizer_of_f16_continues_with_the_same_bits(void **state)
{
	double a[N_ALL], b[N_ALL];
	(void)state;
	for (int k = 0; k < N_MAKERS; k++) {
		tn_module *net = build_net(TN_F16), *other = build_net(TN_F16);
		tn_optimizer *optimizer = makers[k](net), *restored = makers[k](other);
		for (int s = 0; s < 3; s++)
			step(net, optimizer);
		for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
			struct tn_parameter_view from, to;
			struct tn_optimizer_parameter_view setting;
			assert_ok(tn_module_parameter_at(net, i, &from));
			assert_ok(tn_module_parameter_at(other, i, &to));
			assert_ok(tn_assign(to.value, from.value));
			assert_ok(tn_optimizer_parameter_at(optimizer, i, &setting));
			assert_ok(tn_optimizer_set_steps(restored, i, setting.steps));
		}
		for (size_t i = 0; i < tn_optimizer_state_count(optimizer); i++) {
			struct tn_optimizer_state_view from, to;
			assert_ok(tn_optimizer_state_at(optimizer, i, &from));
			assert_ok(tn_optimizer_state_at(restored, i, &to));
			assert_string_equal(from.state, to.state);
			assert_ok(tn_assign(to.value, from.value));
		}
		for (size_t i = 0; i < tn_module_buffer_count(net); i++) {
			struct tn_buffer_view from, to;
			assert_ok(tn_module_buffer_at(net, i, &from));
			assert_ok(tn_module_buffer_at(other, i, &to));
			assert_ok(tn_assign(to.value, from.value));
		}
		if (makers[k] == adamw)
			assert_ok(tn_lookahead_set_steps(restored, tn_lookahead_steps(optimizer)));
		for (int s = 0; s < 3; s++) {
			step(net, optimizer);
			step(other, restored);
		}
		read_masters(optimizer, a);
		read_masters(restored, b);
		assert_memory_equal(a, b, sizeof(a));
		tn_optimizer_destroy(optimizer);
		tn_optimizer_destroy(restored);
		tn_module_destroy(net);
		tn_module_destroy(other);
	}
}

static uint64_t calls_of(const char *operation)
{
	struct tn_ledger_row row;
	uint64_t n = 0;
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_get(context, i, &row));
		if (!strcmp(row.operation, operation))
			n = row.native + row.lent + row.composed + row.host;
	}
	return n;
}

static void a_step_with_masters_is_one_program(void **state)
{
	(void)state;
	tn_module *net = build_net(TN_F16);
	tn_optimizer *optimizer = tn_adam(net, NULL);
	uint64_t adam_before = calls_of("adam"), masters_before = calls_of("masters");
	step(net, optimizer);
	assert_int_equal(calls_of("adam") - adam_before, 1);
	assert_int_equal(calls_of("masters") - masters_before, 0);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

/* A step with all that optimizers have, from arrays that stay. */
static void take_step(tn_module *net, tn_optimizer *optimizer, tn_average *average,
		      const tn_array *x)
{
	assert_ok(tn_scope_begin(context));
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_astype(tn_module_forward(net, x), TN_F32);
	assert_ok(tn_tape_backward(tape, tn_mean(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(optimizer));
	assert_ok(tn_average_update(average));
	tn_scope_end(context, NULL);
}

static void replayed_steps_give_the_bits_of_eager_ones(void **state)
{
	(void)state;
	for (int d = 0; d < N_DTYPES; d++) {
		double values[2][3 * N_ALL];
		for (int is_captured = 0; is_captured < 2; is_captured++) {
			tn_module *net = build_net(all_dtypes[d]);
			tn_optimizer *optimizer = adamw(net);
			assert_ok(tn_optimizer_set_lasso(optimizer, 0.01));
			assert_ok(tn_optimizer_set_gradient_noise(optimizer, 0.01, 0));
			tn_average *average = tn_average_create(net, NULL);
			tn_array *x = input(all_dtypes[d]);
			tn_graph *graph = NULL;
			struct tn_average_view view;
			tn_module_set_training(net, 1);
			take_step(net, optimizer, average, x);
			int can_capture = is_captured && !tn_capture_begin(context);
			if (can_capture) {
				take_step(net, optimizer, average, x);
				assert_ok(tn_capture_end(context, &graph));
			} else if (is_captured) {
				expect_error(TN_UNSUPPORTED, "");
			}
			for (int s = 0; s < 4; s++) {
				if (graph)
					assert_ok(tn_graph_replay(graph));
				else
					take_step(net, optimizer, average, x);
			}
			double *own = values[is_captured];
			memset(own, 0, sizeof(values[0]));
			read_all(net, own);
			if (d >= 2)
				read_masters(optimizer, own + N_ALL);
			assert_ok(tn_average_at(average, 0, &view));
			assert_ok(tn_to_host(tn_astype(view.value, TN_F64), own + 2 * N_ALL,
					     (size_t)tn_array_size(view.value) * sizeof(double)));
			tn_graph_destroy(graph);
			tn_average_destroy(average);
			tn_optimizer_destroy(optimizer);
			tn_module_destroy(net);
		}
		assert_memory_equal(values[0], values[1], sizeof(values[0]));
	}
}

/* Masters at the edges of rounding: a tie, a subnormal, beyond the largest. */
static void masters_that_round_to_the_parameter_remain(void **state)
{
	static const double values[] = {1 + 0x1p-8,    1 + 0x1.8p-7, 1 + 0x1p-11, 1 + 0x1.8p-10,
					0x1p-25 * 1.5, 0x1.3p-17,    -65503,      65530,
					70000,         -0x1.ffffp-15};
	enum { N = sizeof(values) / sizeof(values[0]) };
	(void)state;
	for (int d = 2; d < N_DTYPES; d++) {
		struct tn_optimizer_state_view view;
		float masters[N], after[N];
		tn_module *net = tn_module_linear(
			context, N, 1, TN_OPTIONS(struct tn_module_linear_options, .no_bias = 1));
		assert_ok(tn_module_set_dtype(net, all_dtypes[d]));
		assert_ok(tn_module_build(net));
		tn_optimizer *optimizer = tn_sgd(net, TN_OPTIONS(struct tn_sgd_options, .lr = 1));
		for (int i = 0; i < N; i++)
			masters[i] = (float)values[i];
		tn_array *wide = tn_from_host(context, TN_F32, 2, (int64_t[]){1, N}, masters);
		assert_ok(tn_assign(tn_module_own_parameter(net, "weight"), wide));
		assert_ok(tn_optimizer_state_at(optimizer, 0, &view));
		assert_ok(tn_assign(view.value, wide));
		tn_tape *tape = tn_tape_begin(context);
		tn_array *x = tn_zeros(context, all_dtypes[d], 2, (int64_t[]){1, N});
		assert_ok(tn_tape_backward(tape, tn_module_forward(net, x), NULL));
		tn_tape_end(tape);
		/* 0 times an infinite weight is no number, but the gradient is 0. */
		assert_ok(tn_optimizer_step(optimizer));
		assert_ok(tn_to_host(view.value, after, sizeof(after)));
		assert_memory_equal(masters, after, sizeof(after));
		tn_optimizer_destroy(optimizer);
		tn_module_destroy(net);
	}
}

/* ---- Averages and clipping -------------------------------------------------------------------*/

static void averages_of_narrow_networks_are_f32_and_swap_without_loss(void **state)
{
	(void)state;
	for (int d = 0; d < N_DTYPES; d++) {
		double before[N_ALL], swapped[N_ALL], after[N_ALL], averages[2][N_ALL];
		struct tn_average_view view;
		tn_module *net = build_net(all_dtypes[d]);
		tn_optimizer *optimizer = sgd(net);
		tn_average *average =
			tn_average_create(net, TN_OPTIONS(struct tn_average_options, .decay = 0.9));
		for (int s = 0; s < 5; s++) {
			step(net, optimizer);
			assert_ok(tn_average_update(average));
		}
		read_all(net, before);
		assert_ok(tn_average_swap(average));
		read_all(net, swapped);
		for (int round = 0; round < 2; round++) {
			size_t n = 0;
			assert_ok(tn_average_swap(average));
			for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
				assert_ok(tn_average_at(average, i, &view));
				assert_int_equal(tn_array_dtype(view.value),
						 all_dtypes[d] == TN_F64 ? TN_F64 : TN_F32);
				size_t size = (size_t)tn_array_size(view.value);
				assert_ok(tn_to_host(tn_astype(view.value, TN_F64),
						     averages[round] + n, size * sizeof(double)));
				n += size;
			}
			if (!round)
				assert_ok(tn_average_swap(average));
		}
		read_all(net, after);
		assert_memory_equal(before, after, sizeof(before));
		assert_memory_equal(averages[0], averages[1], sizeof(before));
		for (int i = 0; i < N_ALL; i++)
			assert_true(swapped[i] ==
				    (all_dtypes[d] > TN_BF16
					     ? averages[0][i]
					     : rounded(averages[0][i], all_dtypes[d])));
		tn_average_destroy(average);
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

int main(int n_arguments, char **arguments)
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
		cmocka_unit_test(masters_follow_the_f32_network),
		cmocka_unit_test(decay_is_that_of_the_masters),
		cmocka_unit_test(slow_weights_start_as_the_present_ones),
		cmocka_unit_test(optimizers_of_f64_compute_in_f64),
		cmocka_unit_test(an_assigned_parameter_gives_its_master_the_new_value),
		cmocka_unit_test(a_restored_optimizer_of_f16_continues_with_the_same_bits),
		cmocka_unit_test(a_step_with_masters_is_one_program),
		cmocka_unit_test(replayed_steps_give_the_bits_of_eager_ones),
		cmocka_unit_test(masters_that_round_to_the_parameter_remain),
		cmocka_unit_test(averages_of_narrow_networks_are_f32_and_swap_without_loss),
		cmocka_unit_test(clipping_works_in_the_gradients_dtype),
	};
	backend = n_arguments > 1 ? arguments[1] : "reference!";
	int n_failed = cmocka_run_group_tests(tests, setup, teardown);
	if (n_arguments > 1)
		return n_failed;
	backend = NULL;
	n_failed += cmocka_run_group_tests(tests, setup, teardown);
	/* Last: the fixture changes the environment. */
	return n_failed + cmocka_run_group_tests(tests, setup_mock, teardown);
}
