/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend's memory and transfers, beyond the conformance kit, which is independent of
 * CUDA.
 */
#include <unistd.h>

#include "plugin_fixture.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

enum { N = 256, BYTES = N * sizeof(float) };

/* ---- Transfers -------------------------------------------------------------------------------*/

/* Where the device reads ordinary memory itself, nothing is staged. */
static void an_uploaded_source_may_be_reused(void **state)
{
	struct plugin p = {.device = NULL};
	float host[N], found[N];
	(void)state;
	plugin_open(&p, SETTINGS("SIMCUDA_DEFER=1", "SIMCUDA_PAGEABLE=1"));
	uint64_t buffer = plugin_take(&p, TN_MEMORY_DEVICE, BYTES);
	for (int i = 0; i < N; i++)
		host[i] = (float)i;
	assert_ok(plugin_upload(&p, buffer, host, BYTES));
	memset(host, 0xff, sizeof(host));
	assert_ok(plugin_download(&p, buffer, found, BYTES));
	for (int i = 0; i < N; i++)
		assert_close(found[i], i, 0);
	assert_ok(plugin_give(&p, buffer));
	plugin_close(&p);
}

static void pinned_memory_is_copied_too(void **state)
{
	struct plugin p = {.device = NULL};
	float found[N];
	(void)state;
	plugin_open(&p, NULL);
	uint64_t from = plugin_take(&p, TN_MEMORY_DEVICE, BYTES);
	uint64_t to = plugin_take(&p, TN_MEMORY_PINNED, BYTES);
	assert_ok(plugin_fill(&p, NULL, from, N, 3));
	const struct tn_copy_args args = {.call = plugin_call(&p, sizeof(args), NULL),
					  .input = plugin_matrix(from, 1, N),
					  .output = plugin_matrix(to, 1, N)};
	if (p.copy->copy(p.device, &args))
		fail_msg("copy: %s", p.error.text);
	assert_ok(plugin_download(&p, to, found, BYTES));
	assert_close(found[N - 1], 3, 0);
	assert_ok(plugin_give(&p, from));
	assert_ok(plugin_give(&p, to));
	plugin_close(&p);
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static uint64_t free_bytes(struct plugin *p)
{
	struct tn_memory_information found = {.struct_size = sizeof(found)};
	assert_ok(p->memory->information(p->device, TN_MEMORY_DEVICE, &found));
	return found.free_bytes;
}

static void what_is_freed_can_be_had_by_others(void **state)
{
	struct plugin p = {.device = NULL};
	(void)state;
	plugin_open(&p, SETTINGS("SIMCUDA_DEFER=1"));
	uint64_t before = free_bytes(&p), buffer = plugin_take(&p, TN_MEMORY_DEVICE, 1 << 20);
	assert_true(free_bytes(&p) < before);
	assert_ok(plugin_give(&p, buffer));
	assert_int_equal(free_bytes(&p), before);
	plugin_close(&p);
}

static void memory_that_cannot_be_had_is_no_fault(void **state)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} cases[] = {{"cudaMallocAsync", TN_MEMORY_DEVICE}, {"cudaHostAlloc", TN_MEMORY_PINNED}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct plugin p = {.device = NULL};
		uint64_t buffer = 0;
		plugin_open(&p, NULL);
		struct tn_alloc_args args = {.call = plugin_call(&p, sizeof(args), NULL),
					     .size = BYTES,
					     .memory_kind = cases[i].kind};
		simcudaInject(cases[i].name, 1, cudaErrorMemoryAllocation, 0);
		assert_status(p.devices->alloc(p.device, &args, &buffer), TN_OUT_OF_MEMORY);
		simcudaInject(cases[i].name, 1, cudaErrorUnknown, 0);
		assert_status(p.devices->alloc(p.device, &args, &buffer), TN_BACKEND_FAILURE);
		assert_contains(p.error.text, cases[i].name);
		assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
		buffer = plugin_take(&p, cases[i].kind, BYTES);
		assert_ok(plugin_fill(&p, NULL, buffer, N, 1));
		assert_ok(plugin_sync(&p, NULL));
		assert_ok(plugin_give(&p, buffer));
		plugin_close(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_uploaded_source_may_be_reused),
		cmocka_unit_test(pinned_memory_is_copied_too),
		cmocka_unit_test(what_is_freed_can_be_had_by_others),
		cmocka_unit_test(memory_that_cannot_be_had_is_no_fault),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
