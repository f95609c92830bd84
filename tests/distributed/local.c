/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The communicator of one machine: every operation, with 1 to 4 ranks.
 */
#include "distributed/operations.h"

#include "check.h"

static void run_operations(uint32_t number, const void *argument)
{
	/* With 64 KiB a slot has 8 KiB: 1025 elements of f64 need two, and 9001 pass through the
	 * whole area more than once. */
	static const uint64_t lengths[] = {0, 1, 33, 1025, 9001};
	struct rank rank;
	(void)argument;
	(void)number;
	if (rank_open(&rank, "local"))
		rank_fail(&rank, "open: %s", rank.error.text);
	operations_run(&rank, lengths, 5);
	rank_close(&rank);
}

static void every_operation_gives_the_bits_of_its_definition(void **state)
{
	(void)state;
	for (uint32_t size = 1; size <= 4; size++)
		ranks_run(size, run_operations, NULL, NULL);
}

static void run_together(uint32_t number, const void *argument)
{
	struct rank rank;
	(void)argument;
	(void)number;
	if (rank_open(&rank, "local"))
		rank_fail(&rank, "open: %s", rank.error.text);
	operations_run_together(&rank, 100, 10000);
	rank_close(&rank);
}

static void many_operations_are_under_way_at_once(void **state)
{
	(void)state;
	for (uint32_t size = 1; size <= 4; size++)
		ranks_run(size, run_together, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_gives_the_bits_of_its_definition),
		cmocka_unit_test(many_operations_are_under_way_at_once),
	};
	(void)setenv("TENON_LOCAL_BYTES", "64K", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
