/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies of arrays between mock devices: in order, without waiting.
 */
#include "mock_fixture.h"
#include "peer_cases.h"

static void check_peers(peer_case *check)
{
	tn_context *context = open_mock("devices:2");
	check(context);
	tn_context_close(context);
}

/* The number of pieces of work done by the mock devices. */
static unsigned long work_done(tn_device *device)
{
	struct tn_report_line line = {.struct_size = sizeof(line)};
	for (uint32_t i = 0; !tn_device_report_at(device, i, &line); i++) {
		if (!strcmp(line.key, "work"))
			return strtoul(line.text, NULL, 10);
	}
	fail();
	return 0;
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void nobody_waits_for_a_copy_between_peers(void **state)
{
	(void)state;
	static const char *const ways[] = {"devices:2", "devices:2,no-peers"};
	for (int i = 0; i < 2; i++) {
		tn_context *context = open_mock(ways[i]);
		tn_device *first = tn_context_device(context, 0),
			  *second = tn_context_device(context, 1);
		tn_array *x = numbers(context, 3);
		tn_array *twice = tn_add(x, x);
		unsigned long before = work_done(first);
		tn_array *there = tn_to(twice, second);
		assert_int_equal(work_done(first) > before, i);
		assert_ptr_equal(tn_array_device(there), second);
		assert_true(first_of(there) == 6);
		assert_true(first_of(twice) == 6);
		tn_context_close(context);
	}
}

static void chunks_go_while_the_copy_waits(void **state)
{
	(void)state;
	for (int which = 0; which < 2; which++) {
		tn_context *context = open_mock("devices:2,oom-after:6M");
		tn_device *second = tn_context_device(context, 1);
		const int64_t shape[] = {800, 1000};
		tn_array *x = tn_full(context, TN_F32, 2, shape, 2);
		tn_array *there = tn_to(x, second);
		if (which)
			tn_array_destroy(there);
		else
			tn_array_destroy(x);
		/* Another size, for which the device must free its cached memory. */
		assert_ok(
			tn_device_set_current(context, tn_context_device(context, (size_t)which)));
		assert_non_null(tn_full(context, TN_F32, 2, (int64_t[]){1300, 1000}, 1));
		if (!which) {
			double sum = 0;
			assert_ok(tn_item(tn_sum(there, TN_ALL_AXES, NULL, 0), &sum));
			assert_true(sum == 1.6e6);
		}
		tn_context_close(context);
	}
}

static void views_and_other_devices_go_their_way(void **state)
{
	(void)state;
	tn_context *context = open_mock("devices:3");
	tn_array *x = tn_arange(context, TN_I32, 0, 100, 1);
	tn_array *part = tn_slice(x, 0, 90, 20, -7);
	for (size_t i = 0; i < 4; i++) {
		int32_t values[10];
		part = tn_to(part, tn_context_device(context, (5 - i) % 4));
		assert_ok(tn_to_host(part, values, sizeof(values)));
		for (int k = 0; k < 10; k++)
			assert_int_equal(values[k], 90 - 7 * k);
	}
	tn_context_close(context);
}

/* Data from a failed device is not treated as valid on the other. */
static void an_error_of_the_giver_is_one_of_the_taker(void **state)
{
	float values[PEER_N];
	(void)state;
	tn_context *context = open_mock("devices:2,async-error:2");
	tn_array *x = numbers(context, 1);
	tn_array *there = tn_to(tn_add(x, x), tn_context_device(context, 1));
	assert_int_equal(tn_to_host(there, values, sizeof(values)), TN_BACKEND_FAILURE);
	assert_kept(context, TN_BACKEND_FAILURE, "mock device 0, the source, failed in map");
	assert_int_equal(tn_synchronize(context), TN_BACKEND_FAILURE);
	tn_error_clear(context);
	assert_true(first_of(tn_to(x, tn_context_device(context, 1))) == 1);
	tn_context_close(context);
}

static void a_giver_that_is_lost_takes_nobody_with_it(void **state)
{
	float values[PEER_N];
	(void)state;
	tn_context *context = open_mock("devices:2,lost:2");
	tn_device *second = tn_context_device(context, 1);
	tn_array *x = numbers(context, 1);
	tn_array *there = tn_to(tn_add(x, x), second);
	assert_int_equal(tn_to_host(there, values, sizeof(values)), TN_BACKEND_FAILURE);
	assert_kept(context, TN_BACKEND_FAILURE, "mock device 0, the source");
	/* The first device has not reported it yet. */
	assert_null(tn_to(x, second));
	assert_kept(context, TN_DEVICE_LOST, "mock:0");
	assert_null(tn_to(x, second));
	assert_kept(context, TN_DEVICE_LOST, "mock:0");
	assert_ok(tn_device_set_current(context, second));
	assert_true(first_of(numbers(context, 4)) == 4);
	tn_context_close(context);
}

static void a_taker_that_is_lost_takes_nobody_with_it(void **state)
{
	(void)state;
	tn_context *context = open_mock("devices:2,lost:2");
	tn_array *x = numbers(context, 1);
	tn_array *there = tn_to(x, tn_context_device(context, 1));
	tn_array_destroy(there);
	assert_true(first_of(tn_add(x, x)) == 2);
	assert_null(tn_to(x, tn_context_device(context, 1)));
	assert_kept(context, TN_DEVICE_LOST, "mock:1");
	assert_true(first_of(tn_add(x, x)) == 2);
	tn_context_close(context);
}

/* ---- Gradients -------------------------------------------------------------------------------*/

enum { N_LEAVES = 5 };

struct sample {
	tn_array *x, *w, *scale, *shift, *matrix;
};

static tn_array *part_of_a_circle(tn_context *context, int rank, const int64_t *shape, double step)
{
	int64_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= shape[i];
	return tn_reshape(tn_sin(tn_affine(tn_arange(context, TN_F32, 0, (double)n, 1), step, 0.3)),
			  rank, shape);
}

/* On the current device. */
static struct sample make_sample(tn_context *context)
{
	return (struct sample){
		.x = part_of_a_circle(context, 4, (int64_t[]){2, 3, 6, 6}, 0.7),
		.w = part_of_a_circle(context, 4, (int64_t[]){4, 3, 3, 3}, 1.1),
		.scale = part_of_a_circle(context, 1, (int64_t[]){4}, 0.9),
		.shift = part_of_a_circle(context, 1, (int64_t[]){4}, 1.3),
		.matrix = part_of_a_circle(context, 2, (int64_t[]){5, 36}, 0.8),
	};
}

/* Operations that create arrays in forward or backward: layers, and gradients of views and
 * selections. */
static tn_array *loss_of(const struct sample *s, tn_device *second)
{
	tn_context *context = tn_array_context(s->x);
	struct tn_conv2d_options same = tn_conv2d_defaults();
	same.padding[0] = same.padding[1] = 1;
	struct tn_batch_norm_options norm = tn_batch_norm_defaults();
	norm.training = 1;
	struct tn_pool2d_options two = {.struct_size = sizeof(two), .kernel = {2, 2}};
	tn_array *y = tn_conv2d(s->x, s->w, s->shift, &same);
	y = tn_batch_norm(y, s->scale, s->shift, &norm);
	y = tn_multiply(y, tn_max(y, 1, (int[]){0}, 1));
	y = tn_to(y, second);
	tn_array *pooled = tn_max_pool2d(y, &two);
	y = tn_slice(y, 2, 1, 4, 1);
	y = tn_concatenate(2, (const tn_array *[]){tn_slice(y, 3, 5, 2, -1), pooled}, 3);
	y = tn_slice(tn_multiply(y, tn_adaptive_avg_pool2d(y, 3, 6)), 3, 0, 3, 1);
	y = tn_dropout(tn_reshape(y, 2, (int64_t[]){2, 36}), 0.25);
	tn_array *matrix = tn_to(s->matrix, second);
	tn_array *at = tn_to(tn_from_host(context, TN_I32, 1, (int64_t[]){3}, (int32_t[]){4, 0, 4}),
			     second);
	tn_array *labels =
		tn_to(tn_from_host(context, TN_I32, 1, (int64_t[]){2}, (int32_t[]){2, 1}), second);
	y = tn_linear(y, tn_take(matrix, at, 0, TN_RAISE), NULL);
	y = tn_add(y, tn_softmax(y, 1));
	struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.has_ignore_label = 1;
	cross_entropy.ignore_label = 1;
	tn_array *loss = tn_cross_entropy(y, labels, &cross_entropy);
	return tn_to(loss, tn_array_device(s->x));
}

/* The gradients of a sample on the first device, with the second half computed on `second`, and the
 * caller's new arrays created on `current`. */
static void gradients(tn_context *context, size_t second, size_t current,
		      float values[N_LEAVES][300])
{
	assert_ok(tn_device_set_current(context, tn_context_device(context, 0)));
	struct sample s = make_sample(context);
	tn_array *leaves[N_LEAVES] = {s.x, s.w, s.scale, s.shift, s.matrix};
	tn_random_set_state(context, (struct tn_random_state){.seed = 5});
	tn_tape *tape = tn_tape_begin(context);
	for (int i = 0; i < N_LEAVES; i++)
		assert_ok(tn_tape_watch(tape, leaves[i]));
	assert_ok(tn_device_set_current(context, tn_context_device(context, current)));
	assert_ok(tn_tape_backward(tape, loss_of(&s, tn_context_device(context, second)), NULL));
	assert_ptr_equal(tn_device_current(context), tn_context_device(context, current));
	for (int i = 0; i < N_LEAVES; i++) {
		tn_array *gradient = tn_tape_gradient(tape, leaves[i]);
		assert_ptr_equal(tn_array_device(gradient), tn_context_device(context, 0));
		assert_ok(tn_to_host(gradient, values[i],
				     (size_t)tn_array_size(gradient) * sizeof(float)));
	}
	tn_tape_end(tape);
}

static void backward_runs_where_arrays_lie(void **state)
{
	static const char *const ways[] = {"devices:2", "devices:2,no-peers"};
	float expected[N_LEAVES][300], found[N_LEAVES][300];
	(void)state;
	for (int way = 0; way < 2; way++) {
		tn_context *context = open_mock(ways[way]);
		memset(expected, 0, sizeof(expected));
		gradients(context, 0, 0, expected);
		/* The built-in backend is the last. */
		for (size_t current = 0; current < tn_context_device_count(context); current++) {
			memset(found, 0, sizeof(found));
			gradients(context, 1, current, found);
			assert_memory_equal(found, expected, sizeof(found));
		}
		tn_context_close(context);
	}
}

static void gradients_of_another_device_are_refused(void **state)
{
	(void)state;
	tn_context *context = open_mock("devices:2");
	tn_array *x = numbers(context, 2);
	tn_array *there = tn_to(x, tn_context_device(context, 1));
	int filled = 0;
	tn_tape *tape = tn_tape_begin(context);
	assert_int_equal(tn_tape_watch_into(tape, x, there, &filled), TN_DEVICE);
	assert_kept(context, TN_DEVICE, "the gradient is on mock:1, the array on mock:0");
	tn_tape_end(tape);
	tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	assert_int_equal(tn_tape_backward(tape, tn_square(x), there), TN_DEVICE);
	assert_kept(context, TN_DEVICE, "output_gradient is on mock:1, the output on mock:0");
	tn_tape_end(tape);
	tn_context_close(context);
}

/* ---- Capture ---------------------------------------------------------------------------------*/

static void captured_work_copies_from_nobody(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *context = open_mock("devices:2");
	tn_array *x = numbers(context, 1);
	tn_array *there = tn_to(x, tn_context_device(context, 1));
	assert_ok(tn_capture_begin(context));
	assert_null(tn_to(x, tn_context_device(context, 1)));
	assert_kept(context, TN_NOT_CAPTURABLE, "work is captured");
	assert_null(tn_to(there, tn_context_device(context, 0)));
	assert_kept(context, TN_NOT_CAPTURABLE, "work is captured");
	assert_ok(tn_capture_end(context, &graph));
	tn_graph_destroy(graph);
	assert_true(first_of(there) == 1);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_for_a_copy_between_peers),
		cmocka_unit_test(memory_is_given_back_while_the_copy_waits),
		cmocka_unit_test(memory_is_not_used_again_before_another_stream_has_copied),
		cmocka_unit_test(chunks_go_while_the_copy_waits),
		cmocka_unit_test(views_and_other_devices_go_their_way),
		cmocka_unit_test(an_error_of_the_giver_is_one_of_the_taker),
		cmocka_unit_test(a_giver_that_is_lost_takes_nobody_with_it),
		cmocka_unit_test(a_taker_that_is_lost_takes_nobody_with_it),
		cmocka_unit_test(backward_runs_where_arrays_lie),
		cmocka_unit_test(gradients_of_another_device_are_refused),
		cmocka_unit_test(captured_work_copies_from_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
