/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Data parallel training, step by step: a program's own loop on 1 to 4 ranks computes what it
 * computes on one, whatever the sizes of buckets, the dtype that is sent, and the device.
 */
#include "distributed/training.h"

#include <tenon/loss.h>
#include <tenon/optim.h>

#include "check.h"
#include "distributed/data_parallel.h"

enum {
	STEPS = 6,
	BATCH = 24,
	PARTS = 4,
	WIDTH = 6,
	CLASSES = 3,
	PARAMETERS = 4096,
	MOST_RANKS = 4
};

/* What a program does. */
struct program {
	const char *backend;
	tn_dtype dtype;
	uint64_t bucket_bytes;
	tn_dtype wire;
	int accumulate; /* backwards in a step */
	int is_partial; /* a branch that only the samples of some ranks take */
	int is_frozen;  /* a layer in the middle is not trained; 2: from the third step on */
	int recomputes;
	int is_sharded;
};

struct outcome {
	double losses[STEPS];
	uint64_t n;
	double values[PARAMETERS];
};

static tn_module *make_branch(tn_context *context)
{
	tn_module *branch = tn_module_sequential(context);
	need_ok(context,
		tn_module_sequential_add(branch, "in", tn_module_linear(context, WIDTH, 40, NULL)));
	need_ok(context, tn_module_sequential_add(branch, "act", tn_module_tanh(context)));
	need_ok(context,
		tn_module_sequential_add(branch, "mid", tn_module_linear(context, 40, 24, NULL)));
	need_ok(context, tn_module_sequential_add(branch, "act2", tn_module_tanh(context)));
	need_ok(context, tn_module_sequential_add(branch, "out",
						  tn_module_linear(context, 24, CLASSES, NULL)));
	return branch;
}

static tn_module *make_network(tn_context *context, const struct program *p)
{
	tn_module *net = tn_module_sequential(context);
	tn_module *a = make_branch(context);
	tn_random_set_state(context, (struct tn_random_state){7, 1});
	tn_module_set_recompute(a, p->recomputes);
	need_ok(context, tn_module_sequential_add(net, "a", a));
	need_ok(context, tn_module_sequential_add(net, "b", make_branch(context)));
	need_ok(context, tn_module_set_dtype(net, p->dtype));
	need_ok(context, tn_module_build(net));
	if (p->is_frozen == 1)
		need_ok(context, tn_module_set_trainable(net, "a.mid", 0));
	tn_module_set_training(net, 1);
	return net;
}

/* Samples `first` to `end` of a step's batch: input (n, WIDTH) and target (n, CLASSES). */
static tn_array *make_samples(tn_context *context, tn_dtype dtype, int step, int first, int end,
			      int width)
{
	double values[BATCH * WIDTH];
	size_t n = 0;
	for (int i = first; i < end; i++) {
		for (int k = 0; k < width; k++)
			values[n++] = sin(1.7 * step + 0.61 * i + 2.3 * k + width);
	}
	return tn_astype(tn_from_host(context, TN_F64, 2, (int64_t[]){end - first, width}, values),
			 dtype);
}

/* The mean over these samples; branch b takes part for samples from BATCH / 2 on, or for all. */
static tn_array *loss_of(const struct program *p, tn_context *context, tn_module *net, int step,
			 int first, int end)
{
	tn_array *x = make_samples(context, p->dtype, step, first, end, WIDTH);
	tn_array *y = tn_module_forward(tn_module_child(net, "a"), x);
	if (!p->is_partial || first >= BATCH / 2)
		y = tn_add(y, tn_module_forward(tn_module_child(net, "b"), x));
	return tn_mse_loss(y, make_samples(context, p->dtype, step, first, end, CLASSES),
			   TN_REDUCTION_MEAN);
}

/* A part of a step's samples, from `first` on, in `accumulate` backwards. */
static double run_part(const struct program *p, const struct ranked *ranked, tn_module *net,
		       tn_data_parallel *parallel, int step, int first)
{
	tn_context *context = ranked->context;
	/* With ranks the share is that of a part. */
	const double scale = (ranked->communicator ? 1.0 : 1.0 / PARTS) / p->accumulate;
	const int n = BATCH / PARTS / p->accumulate;
	double sum = 0;
	for (int i = 0; i < p->accumulate; i++) {
		if (parallel)
			need_ok(context, tn_data_parallel_hold(parallel, i + 1 < p->accumulate));
		tn_tape *tape = tn_tape_begin(context);
		tn_array *loss = loss_of(p, context, net, step, first + i * n, first + (i + 1) * n);
		tn_array *scaled = tn_affine(loss, scale, 0);
		need_ok(context, tn_tape_backward(tape, scaled, NULL));
		sum += item_of(loss) / p->accumulate;
		tn_tape_end(tape);
	}
	return sum;
}

/* Backward has started all buckets, or but for one that is still being copied. */
static void need_started(const tn_data_parallel *parallel)
{
	const struct tn_buckets *buckets = &parallel->buckets;
	need(buckets->n > 0);
	need(buckets->n_posted == buckets->n);
	need(buckets->n_started == buckets->n - (buckets->list[0].host != NULL));
}

/* A batch has PARTS parts, whose losses count alike; each rank has as many of them, in a backward
 * each. */
static double run_step(const struct program *p, tn_module *net, const struct ranked *ranked,
		       tn_data_parallel *parallel, int step)
{
	const int part = BATCH / PARTS, each = PARTS / (int)ranked->size;
	double sum = 0;
	tn_module_zero_gradients(net);
	for (int i = 0; i < each; i++) {
		const int first = ((int)ranked->rank * each + i) * part;
		if (parallel)
			need_ok(ranked->context, tn_data_parallel_hold(parallel, i + 1 < each));
		sum += run_part(p, ranked, net, i + 1 < each ? NULL : parallel, step, first);
	}
	if (parallel) {
		need_started(parallel);
		need_ok(ranked->context, tn_data_parallel_finish(parallel));
	}
	return sum / PARTS;
}

/* Losses are those of all ranks. */
static void train(const struct ranked *ranked, const void *argument, void *out)
{
	const struct program *p = argument;
	struct outcome *outcome = out;
	tn_context *context = ranked->context;
	tn_module *net = make_network(context, p);
	struct tn_data_parallel_options options = tn_data_parallel_defaults();
	if (p->bucket_bytes)
		options.bucket_bytes = p->bucket_bytes;
	options.wire_dtype = p->wire;
	options.sharded = p->is_sharded != 0;
	tn_data_parallel *parallel =
		ranked->communicator ? tn_data_parallel_create(net, ranked->communicator, &options)
				     : NULL;
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	sgd.momentum = 0.9;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	need_ok(context, TN_OK);
	if (parallel && ranked->size != PARTS) /* which is the share at first */
		need_ok(context, tn_data_parallel_set_share(parallel, 1.0 / PARTS));
	for (int step = 0; step < STEPS; step++) {
		need_ok(context, tn_scope_begin(context));
		if (p->is_frozen == 2 && step == 2)
			need_ok(context, tn_module_set_trainable(net, "a.mid", 0));
		double loss = run_step(p, net, ranked, parallel, step);
		tn_array *sum = tn_full(context, TN_F64, 0, NULL, loss);
		if (parallel)
			need_ok(context, tn_all_reduce(ranked->communicator, sum, TN_REDUCE_SUM));
		outcome->losses[step] = item_of(sum);
		need_ok(context, tn_optimizer_step(optimizer));
		tn_scope_end(context, NULL);
	}
	outcome->n = read_parameters(net, outcome->values, PARAMETERS);
	tn_data_parallel_destroy(parallel);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void compare(const struct outcome *found, const struct outcome *expected, double tolerance)
{
	assert_int_equal(found->n, expected->n);
	for (int i = 0; i < STEPS; i++)
		assert_close(found->losses[i], expected->losses[i], tolerance);
	for (size_t i = 0; i < found->n; i++)
		assert_close(found->values[i], expected->values[i], tolerance);
}

/* On 1, 2 and 4 ranks as without ranks, and with the same bits on all of them. */
static void check(const struct program *program, double tolerance)
{
	static struct outcome alone, ranks[MOST_RANKS];
	run_ranked(0, program->backend, train, program, &alone, sizeof(alone));
	assert_true(alone.losses[STEPS - 1] < alone.losses[0]);
	for (uint32_t size = 1; size <= MOST_RANKS; size *= 2) {
		run_ranked(size, program->backend, train, program, ranks, sizeof(*ranks));
		for (uint32_t rank = 1; rank < size; rank++)
			assert_memory_equal(&ranks[rank], &ranks[0], sizeof(*ranks));
		compare(&ranks[0], &alone, tolerance);
	}
}

static const struct program plain = {.backend = "auto", .dtype = TN_F64, .accumulate = 1};

static void ranks_compute_what_one_computes(void **state)
{
	struct program program = plain;
	(void)state;
	check(&program, 1e-12);
	program.dtype = TN_F32;
	check(&program, 1e-5);
}

static void with_many_small_buckets(void **state)
{
	struct program program = plain;
	(void)state;
	program.bucket_bytes = 1024;
	check(&program, 1e-12);
}

static void with_several_backwards_in_a_step(void **state)
{
	struct program program = plain;
	(void)state;
	program.accumulate = 3;
	program.bucket_bytes = 2048;
	check(&program, 1e-12);
}

static void with_a_branch_that_some_ranks_do_not_use(void **state)
{
	struct program program = plain;
	(void)state;
	program.is_partial = 1;
	program.bucket_bytes = 1024;
	check(&program, 1e-12);
}

static void with_a_layer_that_is_not_trained(void **state)
{
	struct program program = plain;
	(void)state;
	program.bucket_bytes = 1024;
	for (program.is_frozen = 1; program.is_frozen < 3; program.is_frozen++)
		check(&program, 1e-12);
}

static void with_parts_that_are_computed_again(void **state)
{
	struct program program = plain;
	(void)state;
	program.recomputes = 1;
	program.bucket_bytes = 1024;
	check(&program, 1e-12);
}

static void with_a_share_of_the_optimizers_state(void **state)
{
	struct program program = plain;
	(void)state;
	program.is_sharded = 1;
	program.bucket_bytes = 1024;
	check(&program, 1e-12);
	program.is_frozen = 1;
	check(&program, 1e-12);
	program.backend = "mock";
	program.dtype = TN_F32;
	program.is_frozen = 0;
	program.is_partial = 1;
	check(&program, 1e-5);
}

/* Rounding to 11 or 8 bits, once for what is sent and once for the sum. */
static void with_narrow_gradients_on_the_wire(void **state)
{
	struct program program = plain;
	(void)state;
	program.dtype = TN_F32;
	program.bucket_bytes = 2048;
	program.wire = TN_F16;
	check(&program, 1e-3);
	program.wire = TN_BF16;
	check(&program, 1e-2);
}

/* Memory that the host does not address, work that is not done when a call returns. */
static void on_a_device_of_its_own(void **state)
{
	struct program program = plain;
	(void)state;
	program.backend = "mock";
	program.dtype = TN_F32;
	program.bucket_bytes = 1024;
	check(&program, 1e-5);
	program.wire = TN_F16;
	check(&program, 1e-3);
}

/* ---- Buckets ---------------------------------------------------------------------------------*/

/* Two layers of 100 x 100 and a bias each, in buckets of 1024 elements, the first of 256: they
 * cover the weights from the last to the first.  The biases have one, which starts before those of
 * the first layer's weight. */
static void list_buckets(const struct ranked *ranked, const void *argument, void *out)
{
	enum { EACH = 1024, FIRST = EACH / 4 };
	tn_context *context = ranked->context;
	tn_module *net = tn_module_sequential(context);
	(void)argument;
	(void)out;
	need_ok(context,
		tn_module_sequential_add(net, "a", tn_module_linear(context, 100, 100, NULL)));
	need_ok(context,
		tn_module_sequential_add(net, "b", tn_module_linear(context, 100, 100, NULL)));
	need_ok(context, tn_module_build(net));
	struct tn_data_parallel_options options = tn_data_parallel_defaults();
	options.bucket_bytes = EACH * sizeof(float);
	tn_data_parallel *p = tn_data_parallel_create(net, ranked->communicator, &options);
	need_ok(context, TN_OK);
	need_ok(context, tn_data_parallel_finish(p)); /* makes the list */
	const struct tn_bucket *list = p->buckets.list;
	const size_t n = p->buckets.n;
	const int64_t matrices = net->listing[1].weight->offset; /* a.bias, after b.weight */
	int64_t end = matrices;
	size_t n_biases = 0;
	need(list[0].end - list[0].begin == FIRST);
	for (size_t i = 0; i < n; i++) {
		const int is_of_biases = list[i].begin >= matrices;
		n_biases += is_of_biases;
		if (is_of_biases) {
			need(list[i].begin == matrices && list[i].end == net->arena.size);
			need(list[i].n_weights == 2 && list[i].first_weight == 1);
			continue;
		}
		need(list[i].end == end);
		need(list[i].end - list[i].begin <= EACH);
		need(n_biases == (list[i].first_weight == 0));
		end = list[i].begin;
	}
	need(end == 0 && n_biases == 1);
	tn_data_parallel_destroy(p);
	tn_module_destroy(net);
}

static void buckets_go_from_the_last_weight_to_the_first(void **state)
{
	char outcomes[2];
	(void)state;
	run_ranked(2, "auto", list_buckets, NULL, outcomes, 1);
}

/* ---- Refusals --------------------------------------------------------------------------------*/

struct refusal {
	tn_status status;
	char text[512];
};

/* argument: what rank 1 has of its own. */
static void differ(const struct ranked *ranked, const void *argument, void *out)
{
	const char *what = argument;
	struct refusal *refusal = out;
	tn_context *context = ranked->context;
	const int is_other = ranked->rank == 1;
	struct tn_data_parallel_options options = tn_data_parallel_defaults();
	tn_random_set_state(
		context, (struct tn_random_state){!strcmp(what, "values") && is_other ? 8 : 7, 1});
	tn_module *net =
		tn_module_linear(context, !strcmp(what, "shapes") && is_other ? 5 : 4, 3, NULL);
	need_ok(context, tn_module_build(net));
	if (!strcmp(what, "trained") && is_other)
		need_ok(context, tn_module_set_trainable(net, "bias", 0));
	if (!strcmp(what, "options") && is_other)
		options.wire_dtype = TN_F16;
	tn_data_parallel *parallel = tn_data_parallel_create(net, ranked->communicator, &options);
	need(!parallel == (strcmp(what, "nothing") != 0));
	const struct tn_error_info *error = tn_error(context);
	if (error) {
		refusal->status = error->status;
		memcpy(refusal->text, error->text, sizeof(refusal->text));
	}
	tn_error_clear(context);
	tn_data_parallel_destroy(parallel);
	tn_module_destroy(net);
}

/* Rank 1 alone cannot: no rank waits for it, and all can do it better afterwards. */
static void refuse_one(const struct ranked *ranked, const void *argument, void *out)
{
	struct {
		struct tn_data_parallel_options known;
		uint64_t unknown;
	} newer = {.known = tn_data_parallel_defaults(), .unknown = 1};
	newer.known.struct_size = sizeof(newer);
	struct tn_data_parallel_options wrong = tn_data_parallel_defaults();
	wrong.wire_dtype = TN_I32;
	struct refusal *refusal = out;
	tn_context *context = ranked->context;
	tn_module *net = tn_module_linear(context, 4, 2, NULL);
	need_ok(context, tn_module_build(net));
	(void)argument;
	for (int i = 0; i < 3; i++) {
		const int is_other = ranked->rank == 1;
		if (is_other && i == 2) /* the context keeps an error of something else */
			need(!tn_zeros(context, TN_F32, 1, (int64_t[]){-1}));
		need(!tn_data_parallel_create(net, ranked->communicator,
					      is_other ? i ? &wrong : &newer.known : NULL));
		memcpy(refusal[i].text, tn_error(context)->text, sizeof(refusal->text));
		tn_error_clear(context);
	}
	tn_data_parallel *parallel = tn_data_parallel_create(net, ranked->communicator, NULL);
	need(parallel);
	tn_data_parallel_destroy(parallel);
	tn_module_destroy(net);
}

static void what_one_rank_cannot_fails_on_all(void **state)
{
	static struct refusal refusals[3][3];
	(void)state;
	run_ranked(3, "auto", refuse_one, NULL, refusals, sizeof(refusals[0]));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(strncmp(refusals[1][i].text, "rank 1: ", 8) != 0, 1);
		for (int rank = 0; rank < 3; rank += 2) {
			assert_int_equal(strncmp(refusals[rank][i].text, "rank 1: ", 8), 0);
			assert_string_equal(refusals[rank][i].text + 8, refusals[1][i].text);
		}
	}
}

static void module_of_another_context(const struct ranked *ranked, const void *argument, void *out)
{
	tn_context *other;
	struct tn_error_info error;
	(void)argument;
	need(!tn_context_open(NULL, &other, &error));
	tn_module *net = tn_module_linear(other, 4, 2, NULL);
	need_ok(other, tn_module_build(net));
	need(!tn_data_parallel_create(net, ranked->communicator, NULL));
	*(tn_status *)out = tn_error(other)->status;
	tn_error_clear(other);
	tn_module_destroy(net);
	tn_context_close(other);
}

static void a_module_of_another_context_is_refused(void **state)
{
	tn_status statuses[2] = {TN_OK, TN_OK};
	(void)state;
	run_ranked(2, "auto", module_of_another_context, NULL, statuses, sizeof(statuses[0]));
	assert_int_equal(statuses[0], TN_DEVICE);
	assert_int_equal(statuses[1], TN_DEVICE);
}

static void ranks_that_differ_are_refused_by_name(void **state)
{
	static const char *const cases[][2] = {
		{"values", "rank 1 in the values of parameters and buffers"},
		{"shapes", "rank 1 in the names, shapes or dtypes of the network and the values"},
		{"trained", "rank 1 in which parameters are trained"},
		{"options", "rank 1 in the options of data parallel training"}};
	struct refusal refusals[3];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run_ranked(3, "auto", differ, cases[i][0], refusals, sizeof(*refusals));
		for (int rank = 0; rank < 3; rank++) {
			assert_int_equal(refusals[rank].status, TN_NOT_EQUAL);
			assert_non_null(strstr(refusals[rank].text, cases[i][1]));
			assert_null(strstr(refusals[rank].text, "rank 2"));
		}
	}
	run_ranked(3, "auto", differ, "nothing", refusals, sizeof(*refusals));
	assert_int_equal(refusals[0].status, TN_OK);
}

static void refuse(const struct ranked *ranked, const void *argument, void *out)
{
	tn_context *context = ranked->context;
	(void)argument;
	(void)out;
	tn_module *net = tn_module_linear(context, 4, 3, NULL);
	need(!tn_data_parallel_create(net, ranked->communicator, NULL));
	need(tn_error(context)->status == TN_STATE); /* not built */
	tn_error_clear(context);
	need_ok(context, tn_module_build(net));
	struct tn_data_parallel_options wrong = tn_data_parallel_defaults();
	wrong.wire_dtype = TN_I32;
	need(!tn_data_parallel_create(net, ranked->communicator, &wrong));
	need(tn_error(context)->status == TN_INVALID_ARGUMENT);
	tn_error_clear(context);
	tn_data_parallel *p = tn_data_parallel_create(net, ranked->communicator, NULL);
	need_ok(context, TN_OK);
	need(!tn_data_parallel_create(net, ranked->communicator, NULL));
	need(tn_error(context)->status == TN_STATE); /* it has one */
	tn_error_clear(context);
	need(tn_data_parallel_set_share(p, -1) == TN_INVALID_ARGUMENT);
	tn_error_clear(context);
	need_ok(context, tn_data_parallel_hold(p, 1));
	need(tn_data_parallel_finish(p) == TN_STATE);
	tn_error_clear(context);
	need_ok(context, tn_data_parallel_hold(p, 0));
	for (int i = 0; i < 2; i++) {
		tn_tape *tape = tn_tape_begin(context);
		tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){2, 4});
		tn_array *loss = tn_mean(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
		/* The second is one too many. */
		need(tn_tape_backward(tape, loss, NULL) == (i ? TN_STATE : TN_OK));
		tn_error_clear(context);
		tn_tape_end(tape);
		need(tn_data_parallel_hold(p, 1) == TN_STATE);
		tn_error_clear(context);
	}
	need_ok(context, tn_data_parallel_finish(p));
	tn_data_parallel_destroy(p);
	tn_module_destroy(net);
}

static void what_cannot_be_is_refused(void **state)
{
	char outcomes[2];
	(void)state;
	run_ranked(2, "auto", refuse, NULL, outcomes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_compute_what_one_computes),
		cmocka_unit_test(with_many_small_buckets),
		cmocka_unit_test(with_several_backwards_in_a_step),
		cmocka_unit_test(with_a_branch_that_some_ranks_do_not_use),
		cmocka_unit_test(with_a_layer_that_is_not_trained),
		cmocka_unit_test(with_parts_that_are_computed_again),
		cmocka_unit_test(with_a_share_of_the_optimizers_state),
		cmocka_unit_test(with_narrow_gradients_on_the_wire),
		cmocka_unit_test(on_a_device_of_its_own),
		cmocka_unit_test(buckets_go_from_the_last_weight_to_the_first),
		cmocka_unit_test(ranks_that_differ_are_refused_by_name),
		cmocka_unit_test(what_one_rank_cannot_fails_on_all),
		cmocka_unit_test(a_module_of_another_context_is_refused),
		cmocka_unit_test(what_cannot_be_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
