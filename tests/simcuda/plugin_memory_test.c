/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend's memory and transfers, where the conformance kit, which knows of no CUDA, cannot look.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_uploaded_source_may_be_reused),
		cmocka_unit_test(pinned_memory_is_copied_too),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
