/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays that contexts share or hand over: threads that read, orders in which all ends, writes that
 * are refused, devices of others and lost ones, captured and lent memory, and forks.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "failing_memory.h"
#include "share_backends.h"

static void threads_read_one_memory(void **state)
{
	(void)state;
	share_on_each(share_between_threads);
}

static void end_in_any_order(const struct share_backend *backend)
{
	share_ends_in_any_order(backend, strcmp(backend->name, "mock") ? 7 : 1);
}

static void everything_ends_in_any_order(void **state)
{
	(void)state;
	share_on_each(end_in_any_order);
}

static void memory_is_free_after_the_work(void **state)
{
	(void)state;
	share_on_each(share_ends_after_the_work);
}

static void a_graph_keeps_what_it_reads(void **state)
{
	(void)state;
	share_is_kept_by_graphs(&(struct share_backend){"mock", open_backend, tn_context_close});
}

static void memory_is_handed_over_and_back(void **state)
{
	(void)state;
	share_on_each(share_hands_over);
}

static void no_function_writes_what_is_shared(void **state)
{
	(void)state;
	share_on_each(share_refuses_writers);
}

/* ---- Networks --------------------------------------------------------------------------------*/

static tn_module *make_net(tn_context *context)
{
	tn_module *net = tn_module_sequential(context);
	assert_ok(tn_module_add(net, "fc", tn_module_linear(context, 3, 2, NULL)));
	assert_ok(tn_module_add(net, "bn", tn_module_batch_norm1d(context, 2, NULL)));
	assert_ok(tn_module_build(net));
	return net;
}

static tn_status train(tn_context *context, tn_module *net, tn_optimizer *optimizer)
{
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_random_normal(context, 2, (int64_t[]){4, 3}, 0, 1);
	assert_non_null(optimizer);
	tn_array *loss = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
	tn_status status = loss ? tn_tape_backward(tape, loss, NULL) : tn_error(context)->status;
	tn_tape_end(tape);
	return status ? status : tn_optimizer_step(optimizer);
}

/* One array of them makes the memory of all constant. */
static void nothing_trains_what_is_shared(void **state)
{
	char path[] = "/tmp/tenon-share-XXXXXX";
	struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
	struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
	(void)state;
	tn_context *context = open_backend("mock");
	tn_module *net = make_net(context);
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	tn_optimizer *optimizers[] = {tn_sgd(net, &sgd), tn_adam(net, NULL)};
	const int file = mkstemp(path);
	assert_true(file >= 0 && !close(file));
	assert_ok(tn_module_save(net, path, 0, NULL));
	for (int i = 0; i < 2; i++)
		assert_ok(train(context, net, optimizers[i]));
	assert_ok(tn_module_parameter_at(net, 0, &parameter));
	tn_shared_destroy(tn_share(parameter.value));
	for (int i = 0; i < 2; i++) {
		assert_status(train(context, net, optimizers[i]), TN_STATE);
		assert_kept(context, TN_STATE, "shared with other contexts");
	}
	assert_status(tn_module_load(net, path, NULL), TN_STATE);
	assert_kept(context, TN_STATE, "shared with other contexts");
	assert_ok(tn_module_buffer_at(net, 0, &buffer));
	tn_shared_destroy(tn_share(buffer.value));
	tn_module_set_training(net, 1);
	assert_null(tn_module_forward(net, tn_ones(context, TN_F32, 2, (int64_t[]){4, 3})));
	assert_kept(context, TN_STATE, "shared with other contexts");
	tn_module_set_training(net, 0);
	assert_non_null(tn_module_forward(net, tn_ones(context, TN_F32, 2, (int64_t[]){4, 3})));
	remove(path);
	for (int i = 0; i < 2; i++)
		tn_optimizer_destroy(optimizers[i]);
	tn_module_destroy(net);
	tn_context_close(context);
}

/* ---- What is not shared ----------------------------------------------------------------------*/

static void views_keep_their_layout(void **state)
{
	(void)state;
	tn_context *origin = open_backend("mock"), *taker = open_backend("mock");
	tn_array *line = share_line(origin, 6);
	tn_array *view =
		tn_transpose(tn_slice(tn_reshape(line, 2, (int64_t[]){2, 3}), 1, 1, 3, 1), NULL);
	tn_shared *shared = tn_share(view);
	tn_array *taken = tn_shared_array(taker, shared);
	float values[4];
	assert_int_equal(tn_array_strides(taken)[0], 1);
	assert_int_equal(tn_array_strides(taken)[1], 3);
	assert_ok(tn_to_host(taken, values, sizeof(values)));
	assert_true(values[0] == 1 && values[1] == 4 && values[2] == 2 && values[3] == 5);
	/* The whole memory is constant. */
	assert_status(tn_fill(line, 0), TN_STATE);
	tn_error_clear(origin);
	tn_shared_destroy(shared);
	tn_context_close(origin);
	tn_context_close(taker);
}

static void arrays_with_others_are_not_handed_over(void **state)
{
	(void)state;
	tn_context *context = open_backend("mock");
	tn_array *line = share_line(context, 6), *view = tn_slice(line, 0, 0, 2, 1);
	assert_refused(context, tn_hand_over(line), TN_STATE, "hand_over", "1 other view");
	assert_refused(context, tn_hand_over(view), TN_STATE, "hand_over", "1 other view");
	tn_array_destroy(view);
	tn_keep(tn_keep(line));
	assert_refused(context, tn_hand_over(line), TN_STATE, "hand_over", "another owner");
	tn_array_destroy(line);
	tn_shared *shared = tn_hand_over(line);
	assert_non_null(shared);
	tn_shared_destroy(shared);
	tn_context_close(context);
}

static void tapes_and_graphs_keep_their_arrays(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_backend("mock");
	tn_array *line = share_line(context, 4), *written = share_line(context, 4), *made;
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, line));
	assert_refused(context, tn_share(line), TN_STATE, "share", "a tape follows");
	assert_refused(context, tn_hand_over(line), TN_STATE, "hand_over", "a tape follows");
	tn_tape_end(tape);
	assert_ok(tn_capture_begin(context));
	made = tn_keep(tn_add(line, line));
	assert_ok(tn_add_into(written, line, line));
	assert_refused(context, tn_share(line), TN_NOT_CAPTURABLE, "share", "");
	assert_ok(tn_capture_end(context, &graph));
	assert_refused(context, tn_share(made), TN_STATE, "share", "captured graph");
	assert_refused(context, tn_hand_over(written), TN_STATE, "hand_over", "captured graph");
	assert_ok(tn_graph_replay(graph));
	tn_graph_destroy(graph);
	tn_shared *shared = tn_share(written);
	assert_non_null(shared);
	tn_shared_destroy(shared);
	tn_array_destroy(made);
	tn_context_close(context);
}

static void a_null_is_named(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	assert_null(tn_share(NULL));
	assert_null(tn_hand_over(NULL));
	assert_null(tn_shared_array(NULL, NULL));
	assert_refused(context, tn_shared_array(context, NULL), TN_INVALID_ARGUMENT, "shared_array",
		       "shared is NULL");
	tn_shared_destroy(NULL);
	tn_context_close(context);
}

/* ---- Lent memory -----------------------------------------------------------------------------*/

static void count(void *user)
{
	++*(int *)user;
}

/* The program has it back when the last context has ended with it. */
static void lent_memory_is_shared_too(void **state)
{
	float values[4] = {1, 2, 3, 4};
	const int64_t shape[] = {4};
	int returned = 0;
	(void)state;
	tn_context *origin = open_backend("cpu"), *taker = open_backend("cpu");
	struct tn_wrap_options options = tn_wrap_defaults();
	options.dtype = TN_F32;
	options.rank = 1;
	options.shape = shape;
	options.data = values;
	options.size_bytes = sizeof(values);
	options.release = count;
	options.user = &returned;
	tn_array *line = tn_array_wrap(origin, &options);
	tn_shared *shared = tn_share(line);
	tn_array *taken = tn_shared_array(taker, shared);
	assert_ptr_equal(share_address(taken), values);
	struct tn_dlpack_managed *managed = tn_to_dlpack(taken, NULL);
	assert_ptr_equal(managed->tensor.data, values);
	assert_int_equal(managed->flags, TN_DLPACK_READ_ONLY);
	managed->deleter(managed);
	tn_shared_destroy(shared);
	tn_array_destroy(line);
	tn_context_close(origin);
	assert_true(share_sum(taken) == 10);
	assert_int_equal(returned, 0);
	tn_context_close(taker);
	assert_int_equal(returned, 1);
}

/* ---- Other devices ---------------------------------------------------------------------------*/

static tn_context *open_with(const char *backend, uint32_t n_threads)
{
	struct tn_context_options options = tn_context_defaults();
	tn_context *context = NULL;
	tn_context_close(open_backend("cpu")); /* the environment */
	options.backend = backend;
	options.n_threads = n_threads;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static void another_device_is_named(void **state)
{
	(void)state;
	tn_context *mock = open_backend("mock"), *reference = open_backend("reference!");
	tn_shared *shared = tn_share(share_line(mock, 4));
	assert_refused(reference, tn_shared_array(reference, shared), TN_INVALID_ARGUMENT,
		       "shared_array",
		       "the array is on mock:0, which this context does not have: its current one "
		       "is reference:0");
	tn_shared_destroy(shared);
	tn_context_close(reference);
	tn_context *other = open_mock("identity:0123456789abcdef0123456789abcdef");
	shared = tn_share(share_line(mock, 4));
	assert_refused(other, tn_shared_array(other, shared), TN_UNSUPPORTED, "shared_array",
		       "have opened mock:0 apart: options, variables, log or threads");
	tn_shared_destroy(shared);
	tn_context_close(other);
	tn_context_close(mock);
}

/* Memory of the host is one, however the device was opened. */
static void addresses_need_no_common_device(void **state)
{
	(void)state;
	tn_context *one = open_with("cpu", 1), *two = open_with("cpu", 2);
	assert_ptr_not_equal(tn_device_current(one)->opened, tn_device_current(two)->opened);
	tn_shared *shared = tn_share(share_line(one, SHARE_N));
	tn_array *taken = tn_shared_array(two, shared);
	assert_non_null(taken);
	tn_shared_destroy(shared);
	tn_context_close(one);
	assert_true(share_sum(taken) == 44850);
	tn_context_close(two);
}

static void a_lost_device_is_lost_for_all(void **state)
{
	(void)state;
	tn_context *one = open_mock("lost:9"), *two = open_mock("lost:9");
	tn_array *line = share_line(one, 4);
	tn_shared *shared = tn_share(line);
	tn_array *taken = tn_shared_array(two, shared);
	assert_non_null(taken);
	for (int k = 0; k < 12; k++)
		tn_ones(one, TN_F32, 1, (int64_t[]){4});
	assert_status(tn_synchronize(one), TN_DEVICE_LOST);
	tn_error_clear(one);
	assert_refused(two, tn_shared_array(two, shared), TN_DEVICE_LOST, "shared_array",
		       "mock:0 was lost earlier");
	assert_null(tn_share(line));
	assert_kept(one, TN_DEVICE_LOST, "lost");
	tn_array_destroy(taken);
	tn_shared_destroy(shared);
	tn_context_close(one);
	tn_context_close(two);
}

/* ---- Forks -----------------------------------------------------------------------------------*/

static void a_forked_child_only_frees(void **state)
{
	int result;
	(void)state;
	for (const char *const *name = share_names(); *name; name++) {
		tn_context *origin = open_backend(*name);
		tn_context *taker = open_backend(*name);
		tn_shared *shared = tn_share(share_line(origin, 4));
		tn_array *taken = tn_shared_array(taker, shared);
		pid_t child = fork();
		if (!child) {
			tn_context *own = open_backend("reference");
			int is_right =
				!tn_shared_array(own, shared) && tn_error(own)->status == TN_FORKED;
			tn_context_close(own);
			tn_array_destroy(taken);
			tn_context_close(origin);
			tn_shared_destroy(shared);
			tn_context_close(taker);
			_exit(is_right ? 0 : 1);
		}
		assert_int_equal(waitpid(child, &result, 0), child);
		assert_int_equal(result, 0);
		assert_true(share_sum(taken) == 6);
		tn_shared_destroy(shared);
		tn_context_close(taker);
		tn_context_close(origin);
	}
}

/* ---- Without memory --------------------------------------------------------------------------*/

static tn_array *pass_on(tn_context *taker, tn_array *line, int is_constant)
{
	tn_shared *shared = is_constant ? tn_share(line) : tn_hand_over(line);
	tn_array *taken = shared ? tn_shared_array(taker, shared) : NULL;
	if (shared && !taken) {
		/* The next attempt may take what was handed over. */
		memory_works();
		assert_kept(taker, TN_OUT_OF_MEMORY, "");
		taken = tn_shared_array(taker, shared);
		assert_non_null(taken);
		tn_array_destroy(taken);
		taken = NULL;
	}
	tn_shared_destroy(shared);
	return taken;
}

static void host_memory_runs_out(void **state)
{
	(void)state;
	tn_context *origin = open_backend("mock"), *taker = open_backend("mock");
	for (int is_constant = 0; is_constant < 2; is_constant++) {
		tn_array *taken = NULL;
		for (int n = 0; !taken; n++) {
			assert_true(n < 20);
			tn_array *line = share_line(origin, 4);
			memory_fails_at(n, 1);
			taken = pass_on(taker, line, is_constant);
			memory_works();
			if (tn_error(origin)) {
				assert_kept(origin, TN_OUT_OF_MEMORY, "");
				assert_true(share_sum(line) == 6);
			}
		}
		assert_true(share_sum(taken) == 6);
		tn_array_destroy(taken);
	}
	tn_context_close(origin);
	tn_context_close(taker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_read_one_memory),
		cmocka_unit_test(everything_ends_in_any_order),
		cmocka_unit_test(memory_is_free_after_the_work),
		cmocka_unit_test(a_graph_keeps_what_it_reads),
		cmocka_unit_test(memory_is_handed_over_and_back),
		cmocka_unit_test(no_function_writes_what_is_shared),
		cmocka_unit_test(nothing_trains_what_is_shared),
		cmocka_unit_test(views_keep_their_layout),
		cmocka_unit_test(arrays_with_others_are_not_handed_over),
		cmocka_unit_test(tapes_and_graphs_keep_their_arrays),
		cmocka_unit_test(a_null_is_named),
		cmocka_unit_test(lent_memory_is_shared_too),
		cmocka_unit_test(another_device_is_named),
		cmocka_unit_test(addresses_need_no_common_device),
		cmocka_unit_test(a_lost_device_is_lost_for_all),
		cmocka_unit_test(a_forked_child_only_frees),
		cmocka_unit_test(host_memory_runs_out),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
