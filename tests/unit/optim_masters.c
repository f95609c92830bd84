/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Optimizers of networks of f64, f16 and bf16: masters, states, captured steps.  Numbers beside
 * PyTorch's are in tests/parity/optimizers.c.
 */
#include "dtypes_net.h"

/* ---- Optimizers ------------------------------------------------------------------------------*/

static tn_optimizer *adam(tn_module *net)
{
	struct tn_adam_options options = tn_adam_defaults();
	options.lr = 1e-4;
	options.amsgrad = 1;
	return tn_adam(net, &options);
}

static tn_optimizer *adamw(tn_module *net)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	options.lr = 1e-4;
	options.weight_decay = 0.1;
	tn_optimizer *optimizer = tn_adamw(net, &options);
	struct tn_lookahead_options lookahead = tn_lookahead_defaults();
	lookahead.k = 2;
	assert_ok(tn_lookahead(optimizer, &lookahead));
	return optimizer;
}

static tn_optimizer *nadam(tn_module *net)
{
	struct tn_nadam_options options = tn_nadam_defaults();
	options.lr = 1e-4;
	return tn_nadam(net, &options);
}

static tn_optimizer *rmsprop(tn_module *net)
{
	struct tn_rmsprop_options options = tn_rmsprop_defaults();
	options.lr = 1e-4;
	return tn_rmsprop(net, &options);
}

static tn_optimizer *adagrad(tn_module *net)
{
	struct tn_adagrad_options options = tn_adagrad_defaults();
	options.lr = 1e-4;
	return tn_adagrad(net, &options);
}

static tn_optimizer *adadelta(tn_module *net)
{
	struct tn_adadelta_options options = tn_adadelta_defaults();
	options.lr = 0.1;
	return tn_adadelta(net, &options);
}

static tn_optimizer *lion(tn_module *net)
{
	struct tn_lion_options options = tn_lion_defaults();
	options.lr = 1e-5;
	options.weight_decay = 0.1;
	return tn_lion(net, &options);
}

static tn_optimizer *lars(tn_module *net)
{
	struct tn_lars_options options = tn_lars_defaults();
	options.lr = 0.01;
	options.momentum = 0.5;
	options.weight_decay = 0.1;
	return tn_lars(net, &options);
}

static tn_optimizer *lamb(tn_module *net)
{
	struct tn_lamb_options options = tn_lamb_defaults();
	options.lr = 1e-4;
	options.weight_decay = 0.1;
	return tn_lamb(net, &options);
}

static tn_optimizer *(*const makers[])(tn_module *net) = {sgd,     adam,     adamw, nadam, rmsprop,
							  adagrad, adadelta, lion,  lars,  lamb};
enum { N_MAKERS = sizeof(makers) / sizeof(makers[0]), STEPS = 20 };

/* The masters, in the order of the tree. */
static void read_masters(tn_optimizer *optimizer, double values[N_ALL])
{
	size_t n = 0;
	for (size_t i = 0; i < tn_optimizer_state_count(optimizer); i++) {
		struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
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
				struct tn_parameter_view a = {.struct_size = sizeof(a)},
							 b = {.struct_size = sizeof(b)};
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
			struct tn_parameter_view from = {.struct_size = sizeof(from)},
						 to = {.struct_size = sizeof(to)};
			assert_ok(tn_module_parameter_at(net, i, &from));
			assert_ok(tn_module_parameter_at(f32, i, &to));
			assert_ok(tn_assign(to.value, from.value));
		}
		/* Slow weights start anew. */
		for (int n = 0; n < 2 && makers[k] == adamw; n++) {
			struct tn_lookahead_options lookahead = tn_lookahead_defaults();
			lookahead.k = 2;
			assert_ok(tn_lookahead(optimizers[n], &lookahead));
		}
		for (int n = 0; n < 2; n++) {
			find_gradients(both[n]);
			tn_optimizer_set_lr(optimizers[n], 0.02);
			for (size_t i = 0; i < tn_module_parameter_count(both[n]); i++) {
				struct tn_parameter_view view = {.struct_size = sizeof(view)};
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
		struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
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
			struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
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
			struct tn_parameter_view from = {.struct_size = sizeof(from)},
						 to = {.struct_size = sizeof(to)};
			struct tn_optimizer_parameter_view setting = {.struct_size =
									      sizeof(setting)};
			assert_ok(tn_module_parameter_at(net, i, &from));
			assert_ok(tn_module_parameter_at(other, i, &to));
			assert_ok(tn_assign(to.value, from.value));
			assert_ok(tn_optimizer_parameter_at(optimizer, i, &setting));
			assert_ok(tn_optimizer_set_steps(restored, i, setting.steps));
		}
		for (size_t i = 0; i < tn_optimizer_state_count(optimizer); i++) {
			struct tn_optimizer_state_view from = {.struct_size = sizeof(from)},
						       to = {.struct_size = sizeof(to)};
			assert_ok(tn_optimizer_state_at(optimizer, i, &from));
			assert_ok(tn_optimizer_state_at(restored, i, &to));
			assert_string_equal(from.state, to.state);
			assert_ok(tn_assign(to.value, from.value));
		}
		for (size_t i = 0; i < tn_module_buffer_count(net); i++) {
			struct tn_buffer_view from = {.struct_size = sizeof(from)},
					      to = {.struct_size = sizeof(to)};
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
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	uint64_t n = 0;
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
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
static void take_step(tn_module *net, tn_optimizer *optimizer, tn_weight_average *average,
		      const tn_array *x)
{
	assert_ok(tn_scope_begin(context));
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_astype(tn_module_forward(net, x), TN_F32);
	assert_ok(tn_tape_backward(tape, tn_mean(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
	assert_ok(tn_optimizer_step(optimizer));
	assert_ok(tn_weight_average_update(average));
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
			assert_ok(tn_optimizer_set_gradient_noise(optimizer, 0.01, 0.55));
			tn_weight_average *average = tn_weight_average_create(net, NULL);
			tn_array *x = input(all_dtypes[d]);
			tn_graph *graph = NULL;
			struct tn_weight_average_view view = {.struct_size = sizeof(view)};
			tn_module_set_training(net, 1);
			take_step(net, optimizer, average, x);
			int can_capture = is_captured && !tn_capture_begin(context);
			if (can_capture) {
				take_step(net, optimizer, average, x);
				assert_ok(tn_capture_end(context, &graph));
			} else if (is_captured) {
				assert_kept(context, TN_UNSUPPORTED, "");
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
			assert_ok(tn_weight_average_at(average, 0, &view));
			assert_ok(tn_to_host(tn_astype(view.value, TN_F64), own + 2 * N_ALL,
					     (size_t)tn_array_size(view.value) * sizeof(double)));
			tn_graph_destroy(graph);
			tn_weight_average_destroy(average);
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
		struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
		float masters[N], after[N];
		struct tn_module_linear_options linear = tn_module_linear_defaults();
		linear.no_bias = 1;
		tn_module *net = tn_module_linear(context, N, 1, &linear);
		assert_ok(tn_module_set_dtype(net, all_dtypes[d]));
		assert_ok(tn_module_build(net));
		struct tn_sgd_options sgd = tn_sgd_defaults();
		sgd.lr = 1;
		tn_optimizer *optimizer = tn_sgd(net, &sgd);
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

static int run_all(CMFixtureFunction before, CMFixtureFunction after)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masters_follow_the_f32_network),
		cmocka_unit_test(decay_is_that_of_the_masters),
		cmocka_unit_test(slow_weights_start_as_the_present_ones),
		cmocka_unit_test(optimizers_of_f64_compute_in_f64),
		cmocka_unit_test(an_assigned_parameter_gives_its_master_the_new_value),
		cmocka_unit_test(a_restored_optimizer_of_f16_continues_with_the_same_bits),
		cmocka_unit_test(a_step_with_masters_is_one_program),
		cmocka_unit_test(replayed_steps_give_the_bits_of_eager_ones),
		cmocka_unit_test(masters_that_round_to_the_parameter_remain),
	};
	return cmocka_run_group_tests(tests, before, after);
}

int main(int n_arguments, char **arguments)
{
	return run_everywhere(n_arguments, arguments, run_all);
}
