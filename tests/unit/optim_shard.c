/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sharded optimizer state without a communicator: N optimizers of N copies of a network, each with
 * one share, are the ranks; the test puts the shares together.
 */
#include <unistd.h>

#include "array/array.h"
#include "optim/shard.h"
#include "optim/state.h"
#include "unit/dtypes_net.h"

/* 11 rows of the arena: a matrix of 6, one of 3, two biases. */
enum { WIDTH = 20, MIDDLE = 17, END = 9, MOST_RANKS = 16, STEPS = 4 };

struct ranks {
	uint32_t n;
	uint32_t self; /* of one that is handed to `gather` */
	tn_module *nets[MOST_RANKS];
	tn_optimizer *optimizers[MOST_RANKS];
	struct ranks *all;
};

static tn_module *make_wide(tn_dtype dtype)
{
	tn_module *net = tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){.seed = 5, .stream = 1});
	assert_ok(
		tn_module_sequential_add(net, "a", tn_module_linear(context, WIDTH, MIDDLE, NULL)));
	assert_ok(tn_module_sequential_add(net, "b", tn_module_tanh(context)));
	assert_ok(tn_module_sequential_add(net, "c", tn_module_linear(context, MIDDLE, END, NULL)));
	assert_ok(tn_module_set_dtype(net, dtype));
	assert_ok(tn_module_build(net));
	return net;
}

/* ---- Optimizers ------------------------------------------------------------------------------*/

static tn_optimizer *plain(tn_module *net)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	return tn_sgd(net, &sgd);
}

static tn_optimizer *nesterov(tn_module *net)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	sgd.momentum = 0.9;
	sgd.nesterov = 1;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	assert_ok(tn_optimizer_set_lasso(optimizer, 1e-3));
	assert_ok(tn_optimizer_set_gradient_noise(optimizer, 0.1, 0.55));
	return optimizer;
}

static tn_optimizer *amsgrad(tn_module *net)
{
	struct tn_adam_options adam = tn_adam_defaults();
	adam.lr = 0.01;
	adam.amsgrad = 1;
	return tn_adam(net, &adam);
}

static tn_optimizer *adamw(tn_module *net)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	options.lr = 0.01;
	options.weight_decay = 0.1;
	tn_optimizer *optimizer = tn_adamw(net, &options);
	struct tn_group_options group = tn_group_defaults();
	group.max_rank = 1;
	group.weight_decay = 0;
	assert_ok(tn_optimizer_set_group(optimizer, &group));
	struct tn_lookahead_options lookahead = tn_lookahead_defaults();
	lookahead.k = 2;
	assert_ok(tn_lookahead(optimizer, &lookahead));
	return optimizer;
}

static tn_optimizer *nadam(tn_module *net)
{
	struct tn_nadam_options options = tn_nadam_defaults();
	options.lr = 0.01;
	return tn_nadam(net, &options);
}

static tn_optimizer *centered(tn_module *net)
{
	struct tn_rmsprop_options rmsprop = tn_rmsprop_defaults();
	rmsprop.lr = 0.01;
	rmsprop.momentum = 0.9;
	rmsprop.centered = 1;
	return tn_rmsprop(net, &rmsprop);
}

static tn_optimizer *adagrad(tn_module *net)
{
	struct tn_adagrad_options options = tn_adagrad_defaults();
	options.lr = 0.05;
	options.initial_accumulator_value = 0.5;
	return tn_adagrad(net, &options);
}

static tn_optimizer *adadelta(tn_module *net)
{
	struct tn_adadelta_options options = tn_adadelta_defaults();
	options.lr = 1;
	return tn_adadelta(net, &options);
}

static tn_optimizer *lion(tn_module *net)
{
	struct tn_lion_options options = tn_lion_defaults();
	options.lr = 1e-3;
	options.weight_decay = 0.1;
	return tn_lion(net, &options);
}

static tn_optimizer *(*const makers[])(tn_module *net) = {
	plain, nesterov, amsgrad, adamw, nadam, centered, adagrad, adadelta, lion};
enum { N_MAKERS = sizeof(makers) / sizeof(makers[0]) };

/* ---- Ranks -----------------------------------------------------------------------------------*/

/* Puts the shares of the peers into an arena. */
static tn_status gather_from_peers(void *user, tn_array *arena, const char *label)
{
	const struct ranks *self = user, *all = self->all;
	for (uint32_t r = 0; r < all->n; r++) {
		const tn_optimizer *peer = all->optimizers[r];
		if (!strcmp(label, "parameters") || r == self->self)
			continue;
		const char *name = "";
		size_t i = 0;
		while (tn_state_arena(peer, i, &name) && strcmp(name, label))
			i++;
		tn_array *part = tn_slice(arena, 0, peer->share.begin, peer->share.end, 1);
		tn_status status = tn_assign(part, tn_state_arena(peer, i, &name));
		if (status)
			return status;
	}
	return TN_OK;
}

static struct ranks selves[MOST_RANKS];

static void make_ranks(struct ranks *ranks, uint32_t n, tn_dtype dtype,
		       tn_optimizer *(*make)(tn_module *))
{
	*ranks = (struct ranks){.n = n};
	for (uint32_t r = 0; r < n; r++) {
		selves[r] = (struct ranks){.self = r, .all = ranks};
		const struct tn_shard shard = {
			.rank = r, .n_ranks = n, .gather = gather_from_peers, .user = &selves[r]};
		ranks->nets[r] = make_wide(dtype);
		assert_ok(tn_module_set_shard(ranks->nets[r], &shard));
		ranks->optimizers[r] = make(ranks->nets[r]);
		assert_non_null(ranks->optimizers[r]);
	}
}

static void free_ranks(struct ranks *ranks)
{
	for (uint32_t r = 0; r < ranks->n; r++) {
		tn_optimizer_destroy(ranks->optimizers[r]);
		tn_module_destroy(ranks->nets[r]);
	}
}

static void find_wide_gradients(tn_module *net)
{
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_arange(context, TN_F32, 0, 3 * WIDTH, 1);
	x = tn_astype(tn_reshape(tn_sin(x), 2, (int64_t[]){3, WIDTH}), tn_module_dtype(net));
	tn_array *y = tn_module_forward(net, x);
	assert_ok(tn_tape_backward(tape, tn_mean(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
}

/* One step with the gradients of `from`, and with the noise of this step. */
static void step_with(tn_module *net, tn_optimizer *optimizer, const tn_array *gradients, int step)
{
	assert_ok(tn_assign(net->arena.gradients, gradients));
	tn_random_set_state(context, (struct tn_random_state){.seed = 9, .stream = (uint64_t)step});
	assert_ok(tn_optimizer_step(optimizer));
}

/* What an all-gather of the weights does. */
static void put_together(const struct ranks *ranks)
{
	for (uint32_t r = 0; r < ranks->n; r++) {
		const struct tn_share share = ranks->optimizers[r]->share;
		for (uint32_t to = 0; to < ranks->n; to++) {
			if (to == r)
				continue;
			const tn_array *from = ranks->nets[r]->arena.values;
			tn_array *part = ranks->nets[to]->arena.values;
			assert_ok(tn_assign(tn_slice(part, 0, share.begin, share.end, 1),
					    tn_slice(from, 0, share.begin, share.end, 1)));
		}
	}
}

static void step_all(const struct ranks *ranks, tn_module *whole, tn_optimizer *optimizer, int step)
{
	assert_ok(tn_scope_begin(context));
	find_wide_gradients(whole);
	const tn_array *gradients = tn_copy(whole->arena.gradients);
	step_with(whole, optimizer, gradients, step);
	for (uint32_t r = 0; r < ranks->n; r++) {
		if (!step)
			find_wide_gradients(ranks->nets[r]);
		step_with(ranks->nets[r], ranks->optimizers[r], gradients, step);
	}
	put_together(ranks);
	tn_scope_end(context, NULL);
}

static void assert_same(const tn_array *a, const tn_array *b)
{
	unsigned char x[8 * 1024], y[8 * 1024];
	assert_int_equal(tn_array_size(a), tn_array_size(b));
	size_t size = (size_t)tn_array_size(a) * tn_dtype_size(tn_array_dtype(a));
	assert_true(size <= sizeof(x));
	assert_ok(tn_to_host(a, x, size));
	assert_ok(tn_to_host(b, y, size));
	assert_memory_equal(x, y, size);
}

static void assert_same_states(tn_optimizer *a, tn_optimizer *b)
{
	assert_int_equal(tn_optimizer_state_count(a), tn_optimizer_state_count(b));
	for (size_t i = 0; i < tn_optimizer_state_count(a); i++) {
		struct tn_optimizer_state_view x = {.struct_size = sizeof(x)},
					       y = {.struct_size = sizeof(y)};
		assert_ok(tn_optimizer_state_at(a, i, &x));
		assert_ok(tn_optimizer_state_at(b, i, &y));
		assert_string_equal(x.state, y.state);
		assert_same(x.value, y.value);
	}
	for (size_t i = 0; i < tn_module_parameter_count(a->module); i++) {
		struct tn_optimizer_parameter_view x = {.struct_size = sizeof(x)},
						   y = {.struct_size = sizeof(y)};
		assert_ok(tn_optimizer_parameter_at(a, i, &x));
		assert_ok(tn_optimizer_parameter_at(b, i, &y));
		assert_int_equal(x.steps, y.steps);
	}
}

/* ---- Tests -----------------------------------------------------------------------------------*/

static void shares_cover_the_arena_once(void **state)
{
	(void)state;
	for (int64_t rows = 1; rows < 40; rows++) {
		for (uint32_t n = 1; n < 20; n++) {
			int64_t end = 0, each = tn_share_each(rows * TN_ARENA_ALIGNMENT, n);
			for (uint32_t r = 0; r < n; r++) {
				const struct tn_share share =
					tn_share_of(rows * TN_ARENA_ALIGNMENT, r, n);
				assert_int_equal(share.begin, end);
				assert_int_equal(share.begin, r * each);
				assert_int_equal(share.begin % TN_ARENA_ALIGNMENT, 0);
				end = share.end;
			}
			assert_int_equal(end, rows * TN_ARENA_ALIGNMENT);
			assert_true(end - (int64_t)n * each < (int64_t)n * TN_ARENA_ALIGNMENT);
		}
	}
}

static void shares_together_give_the_bits_of_the_whole(void **state)
{
	static const uint32_t counts[] = {1, 2, 3, MOST_RANKS};
	struct ranks ranks;
	(void)state;
	for (size_t k = 0; k < N_MAKERS; k++) {
		for (int d = 0; d < N_DTYPES; d++) {
			tn_module *net = make_wide(all_dtypes[d]);
			tn_optimizer *optimizer = makers[k](net);
			make_ranks(&ranks, counts[(k + (size_t)d) % 4], all_dtypes[d], makers[k]);
			tn_array *start = tn_copy(net->arena.values);
			for (int s = 0; s < STEPS; s++) {
				step_all(&ranks, net, optimizer, s);
				for (uint32_t r = 0; r < ranks.n; r++)
					assert_same(ranks.nets[r]->arena.values, net->arena.values);
			}
			double is_equal;
			assert_ok(tn_item(tn_array_equal(start, net->arena.values, 0), &is_equal));
			assert_true(is_equal == 0);
			tn_array_destroy(start);
			free_ranks(&ranks);
			tn_optimizer_destroy(optimizer);
			tn_module_destroy(net);
		}
	}
}

static void gathered_state_is_the_whole_one(void **state)
{
	struct ranks ranks;
	struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
	(void)state;
	for (size_t k = 1; k < N_MAKERS; k++) {
		const tn_dtype dtype = all_dtypes[k % N_DTYPES];
		tn_module *net = make_wide(dtype);
		tn_optimizer *optimizer = makers[k](net);
		make_ranks(&ranks, 3, dtype, makers[k]);
		for (int s = 0; s < 2 * STEPS; s++) {
			step_all(&ranks, net, optimizer, s);
			if (s != STEPS)
				continue;
			/* Twice: the second begins from gathered ones. */
			for (int i = 0; i < 2; i++) {
				for (uint32_t r = 0; r < 3; r++)
					assert_ok(tn_optimizer_gather_state(ranks.optimizers[r]));
			}
			for (uint32_t r = 0; r < 3; r++)
				assert_same_states(ranks.optimizers[r], optimizer);
		}
		/* The step has freed them. */
		assert_status(tn_optimizer_state_at(ranks.optimizers[1], 0, &view), TN_STATE);
		assert_contains(tn_error(context)->text, "sharded over 3 ranks");
		tn_error_clear(context);
		assert_same(ranks.nets[2]->arena.values, net->arena.values);
		free_ranks(&ranks);
		tn_optimizer_destroy(optimizer);
		tn_module_destroy(net);
	}
}

/* Saved by one of three ranks; two ranks, and a training of one, continue. */
static void a_checkpoint_continues_on_another_number_of_ranks(void **state)
{
	char path[] = "/tmp/optim_shard.XXXXXX";
	struct ranks three, two;
	(void)state;
	int file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
	for (int d = 0; d < N_DTYPES; d += 2) {
		tn_module *net = make_wide(all_dtypes[d]), *other = make_wide(all_dtypes[d]);
		tn_optimizer *optimizer = adamw(net), *resumed = adamw(other);
		make_ranks(&three, 3, all_dtypes[d], adamw);
		for (int s = 0; s < 3; s++)
			step_all(&three, net, optimizer, s);
		for (uint32_t r = 0; r < 3; r++)
			assert_ok(tn_optimizer_gather_state(three.optimizers[r]));
		struct tn_checkpoint checkpoint = tn_checkpoint_defaults();
		checkpoint.module = three.nets[1];
		checkpoint.optimizer = three.optimizers[1];
		assert_ok(tn_checkpoint_save(path, &checkpoint));
		free_ranks(&three);
		make_ranks(&two, 2, all_dtypes[d], adamw);
		for (uint32_t r = 0; r < 2; r++) {
			assert_ok(tn_optimizer_gather_state(two.optimizers[r]));
			struct tn_checkpoint objects = tn_checkpoint_defaults();
			objects.module = two.nets[r];
			objects.optimizer = two.optimizers[r];
			assert_ok(tn_checkpoint_load(path, &objects));
		}
		checkpoint.module = other;
		checkpoint.optimizer = resumed;
		assert_ok(tn_checkpoint_load(path, &checkpoint));
		for (int s = 0; s < 3; s++) {
			assert_ok(tn_scope_begin(context));
			find_wide_gradients(other);
			step_with(other, resumed, tn_copy(other->arena.gradients), s);
			tn_scope_end(context, NULL);
			step_all(&two, net, optimizer, s);
			assert_same(two.nets[0]->arena.values, net->arena.values);
			assert_same(other->arena.values, net->arena.values);
		}
		free_ranks(&two);
		tn_optimizer_destroy(optimizer);
		tn_optimizer_destroy(resumed);
		tn_module_destroy(net);
		tn_module_destroy(other);
	}
	unlink(path);
}

/* The pool's bytes, also while the optimizer is being made, for the last rank of 1, 2 and 4; blocks
 * of the pool may be larger than what is asked for. */
static void each_rank_has_its_part_of_the_memory(void **state)
{
	uint64_t used[5] = {0}, peak[5] = {0};
	enum { SIDE = 512 };
	(void)state;
	for (uint32_t n = 1; n <= 4; n *= 2) {
		struct tn_memory_use before = {.struct_size = sizeof(before)},
				     after = {.struct_size = sizeof(after)};
		tn_device *device = tn_device_current(context);
		struct tn_module_linear_options linear = tn_module_linear_defaults();
		linear.no_bias = 1;
		tn_module *net = tn_module_linear(context, SIDE, SIDE, &linear);
		assert_ok(tn_module_build(net));
		const struct tn_shard shard = {.rank = n - 1, .n_ranks = n};
		assert_ok(tn_module_set_shard(net, &shard));
		tn_device_get_memory_use(device, &before);
		tn_device_memory_reset_peak(device);
		tn_optimizer *optimizer = amsgrad(net);
		tn_device_get_memory_use(device, &after);
		used[n] = after.used - before.used;
		peak[n] = after.peak - before.used;
		tn_optimizer_destroy(optimizer);
		tn_module_destroy(net);
	}
	assert_true(used[1] >= 3ull * SIDE * SIDE * sizeof(float));
	for (uint32_t n = 2; n <= 4; n *= 2) {
		assert_true(used[n] <= used[1] / n + used[1] / 16);
		assert_true(peak[n] <= used[n]);
	}
}

static void what_shares_cannot_do_is_refused(void **state)
{
	const struct tn_shard second = {.rank = 1, .n_ranks = 2}, none = {0};
	(void)state;
	tn_module *net = make_wide(TN_F32);
	assert_status(tn_module_set_shard(net, &(struct tn_shard){.rank = 2, .n_ranks = 2}),
		      TN_INVALID_ARGUMENT);
	tn_error_clear(context);
	assert_ok(tn_module_set_shard(net, &second));
	struct tn_lars_options lars = tn_lars_defaults();
	lars.lr = 0.1;
	assert_null(tn_lars(net, &lars));
	assert_int_equal(tn_error(context)->status, TN_UNSUPPORTED);
	assert_string_equal(tn_error(context)->operation, "lars");
	assert_contains(tn_error(context)->text, "2 ranks");
	tn_error_clear(context);
	assert_null(tn_lamb(net, NULL));
	assert_int_equal(tn_error(context)->status, TN_UNSUPPORTED);
	tn_error_clear(context);
	tn_optimizer *optimizer = amsgrad(net);
	assert_ok(tn_module_set_shard(net, &none));
	assert_status(tn_optimizer_step(optimizer), TN_STATE);
	assert_contains(tn_error(context)->text, "share 1 of 2");
	tn_error_clear(context);
	assert_status(tn_optimizer_gather_state(optimizer), TN_STATE);
	tn_error_clear(context);
	assert_ok(tn_module_set_shard(net, &(struct tn_shard){.rank = 0, .n_ranks = 2}));
	assert_status(tn_optimizer_step(optimizer), TN_STATE);
	assert_contains(tn_error(context)->text, "rank 0 of 2");
	tn_error_clear(context);
	assert_ok(tn_module_set_shard(net, &second));
	assert_ok(tn_optimizer_step(optimizer));
	if (!tn_capture_begin(context)) {
		tn_graph *graph = NULL;
		assert_status(tn_optimizer_step(optimizer), TN_NOT_CAPTURABLE);
		tn_error_clear(context);
		tn_capture_end(context, &graph);
		tn_graph_destroy(graph);
	}
	tn_error_clear(context);
	assert_int_equal(tn_optimizer_gather_state(NULL), TN_INVALID_ARGUMENT);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

static int run_all(CMFixtureFunction before, CMFixtureFunction after)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_cover_the_arena_once),
		cmocka_unit_test(shares_together_give_the_bits_of_the_whole),
		cmocka_unit_test(gathered_state_is_the_whole_one),
		cmocka_unit_test(a_checkpoint_continues_on_another_number_of_ranks),
		cmocka_unit_test(each_rank_has_its_part_of_the_memory),
		cmocka_unit_test(what_shares_cannot_do_is_refused),
	};
	return cmocka_run_group_tests(tests, before, after);
}

int main(int n_arguments, char **arguments)
{
	return run_everywhere(n_arguments, arguments, run_all);
}
