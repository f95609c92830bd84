/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies of arrays between CUDA devices: two simulated ones, whose streams are deferred and mixed
 * by a seed, so that unordered work runs out of order.
 */
#include <unistd.h>

#include "cuda_fixture.h"
#include "peer_cases.h"

#define SETTINGS(...) ((const char *const[]){"SIMCUDA_DEVICES=2", __VA_ARGS__, NULL})

static tn_array *send(tn_context *context, const tn_array *array)
{
	return tn_to(array, tn_context_device(context, 1));
}

static void check_peers(peer_case *check)
{
	enum { SEEDS = 6 };
	for (int seed = 1; seed <= SEEDS; seed++) {
		char text[32];
		snprintf(text, sizeof(text), "SIMCUDA_SEED=%d", seed);
		tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1", text));
		check(context);
		close_cuda(context);
	}
}

/* ---- Cases -----------------------------------------------------------------------------------*/

/* Access is granted to the source's pool only, for the destination, while it is open. */
static void assert_pool_is_open(void)
{
	struct cudaMemLocation taker = {.type = cudaMemLocationTypeDevice, .id = 1};
	enum cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
	cudaMemPool_t pool = NULL;
	assert_cuda(cudaDeviceGetMemPool(&pool, 0), cudaSuccess);
	assert_cuda(cudaMemPoolGetAccess(&flags, pool, &taker), cudaSuccess);
	assert_int_equal(flags, cudaMemAccessFlagsProtReadWrite);
	assert_int_equal(simcudaCalls("cudaMemPoolSetAccess"), 1);
	assert_int_equal(simcudaCalls("cudaDeviceEnablePeerAccess"), 0);
}

static void nobody_waits_for_a_copy_between_peers(void **state)
{
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	tn_array *x = numbers(context, 3);
	assert_true(first_of(send(context, x)) == 3);
	assert_pool_is_open();
	tn_array *twice = tn_add(x, x);
	simcudaForgetCalls();
	tn_array *there = send(context, twice);
	assert_non_null(there);
	assert_int_equal(simcudaCalls("cudaMemcpyPeerAsync"), 1);
	assert_int_equal(simcudaCalls("cudaMemcpyAsync"), 0);
	assert_int_equal(simcudaCalls("cudaStreamSynchronize"), 0);
	assert_int_equal(simcudaCalls("cudaDevice*"), 0);
	assert_true(first_of(there) == 6);
	assert_true(first_of(twice) == 6);
	close_cuda(context);
}

static void peers_out_of_reach_go_by_way_of_the_host(void **state)
{
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1", "SIMCUDA_PEER=0"));
	tn_array *x = numbers(context, 3);
	for (int i = 0; i < 3; i++) {
		tn_array *there = send(context, tn_add(x, x));
		assert_true(first_of(there) == 6);
	}
	assert_int_equal(simcudaCalls("cudaMemcpyPeerAsync"), 0);
	assert_int_equal(simcudaCalls("cudaDeviceCanAccessPeer"), 1);
	close_cuda(context);
}

/* For memory outside pools, access to the whole device is granted. */
static void memory_without_a_pool_is_opened_with_the_device(void **state)
{
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1", "SIMCUDA_POOLS=0"));
	tn_array *x = numbers(context, 3);
	for (int i = 0; i < 2; i++)
		assert_true(first_of(send(context, x)) == 3);
	assert_int_equal(simcudaCalls("cudaDeviceEnablePeerAccess"), 1);
	assert_int_equal(simcudaCalls("cudaMemPoolSetAccess"), 0);
	assert_int_equal(simcudaCalls("cudaMemcpyPeerAsync"), 2);
	close_cuda(context);
}

/* The other device's streams do not report it, and the copied data is invalid. */
static void a_giver_that_is_lost_is_told_to_who_waits(void **state)
{
	float values[PEER_N];
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	tn_array *there = send(context, numbers(context, 1));
	/* The source reports next. */
	simcudaInject("cudaMemGetInfo", 1, cudaErrorIllegalAddress, 1);
	assert_int_equal(tn_to_host(there, values, sizeof(values)), TN_BACKEND_FAILURE);
	assert_error(context, TN_BACKEND_FAILURE, "download", "the source of a copy, is lost");
	assert_ok(tn_device_set_current(context, tn_context_device(context, 1)));
	assert_true(first_of(tn_add(numbers(context, 4), numbers(context, 4))) == 8);
	tn_context_close(context);
	restart_simcuda(NULL);
}

/* Each call of a copy may fail: the error is reported, nothing has changed, and the next copy
 * succeeds. */
static void a_call_that_fails_spoils_one_copy(void **state)
{
	static const struct {
		const char *name;
		unsigned n;
	} calls[] = {{"cudaDeviceCanAccessPeer", 1},  {"cudaDeviceGetMemPool", 1},
		     {"cudaMemPoolSetAccess", 1},     {"cudaDeviceEnablePeerAccess", 1},
		     {"cudaEventCreateWithFlags", 1}, {"cudaEventCreateWithFlags", 2},
		     {"cudaEventRecord", 1},          {"cudaStreamWaitEvent", 1},
		     {"cudaMemcpyPeerAsync", 1},      {"cudaEventRecord", 2},
		     {"cudaStreamWaitEvent", 2}};
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int is_enabled = !strcmp(calls[i].name, "cudaDeviceEnablePeerAccess");
		tn_context *context = open_cuda(SETTINGS(
			"SIMCUDA_DEFER=1", is_enabled ? "SIMCUDA_POOLS=0" : "SIMCUDA_POOLS=1"));
		tn_array *x = numbers(context, 5);
		/* So that the second device is open. */
		assert_non_null(tn_to(numbers(context, 1), tn_context_device(context, 2)));
		assert_ok(tn_device_set_current(context, tn_context_device(context, 1)));
		tn_array_destroy(numbers(context, -1));
		simcudaInject(calls[i].name, calls[i].n, cudaErrorUnknown, 0);
		assert_null(send(context, x));
		assert_error(context, TN_BACKEND_FAILURE, "peer_copy", calls[i].name);
		assert_true(first_of(send(context, x)) == 5);
		assert_true(first_of(x) == 5);
		close_cuda(context);
	}
}

static void a_refusal_is_no_failure(void **state)
{
	static const struct {
		const char *pools, *name;
		cudaError_t code;
	} cases[] = {{"SIMCUDA_POOLS=1", "cudaMemPoolSetAccess", cudaErrorNotSupported},
		     {"SIMCUDA_POOLS=0", "cudaDeviceEnablePeerAccess", cudaErrorTooManyPeers}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1", cases[i].pools));
		simcudaInject(cases[i].name, 1, cases[i].code, 0);
		tn_array *x = numbers(context, 5);
		assert_true(first_of(send(context, x)) == 5);
		assert_true(first_of(send(context, x)) == 5);
		assert_int_equal(simcudaCalls("cudaMemcpyPeerAsync"), 0);
		close_cuda(context);
	}
}

/* A gradient takes the path of its array in reverse. */
static void gradients_go_back(void **state)
{
	(void)state;
	tn_context *context = open_cuda(SETTINGS("SIMCUDA_DEFER=1"));
	tn_array *x = numbers(context, 3);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *there = send(context, x);
	tn_array *loss = tn_sum(tn_multiply(there, there), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_array *gradient = tn_tape_gradient(tape, x);
	assert_ptr_equal(tn_array_device(gradient), tn_context_device(context, 0));
	assert_true(first_of(gradient) == 6);
	tn_tape_end(tape);
	close_cuda(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_for_a_copy_between_peers),
		cmocka_unit_test(peers_out_of_reach_go_by_way_of_the_host),
		cmocka_unit_test(memory_without_a_pool_is_opened_with_the_device),
		cmocka_unit_test(memory_is_given_back_while_the_copy_waits),
		cmocka_unit_test(memory_is_not_used_again_before_another_stream_has_copied),
		cmocka_unit_test(a_giver_that_is_lost_is_told_to_who_waits),
		cmocka_unit_test(a_call_that_fails_spoils_one_copy),
		cmocka_unit_test(a_refusal_is_no_failure),
		cmocka_unit_test(gradients_go_back),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
