/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 5: asynchrony, threads, faults and life.
 */
#include "slots.h"

const struct check level5_checks[] = {
	{"call.unknown", 5,
	 "unknown numbers, flags and fields, and shapes that do not fit, are refused untouched",
	 check_arguments},
	{"call.dry_run", 5,
	 "a dry run answers what the call will, looks at no handle, and touches nothing",
	 check_call_dry_run},
	{"call.untouched", 5, "a call that is refused has touched nothing", check_call_untouched},
	{"call.bounds", 5, "a call writes to the elements of its outputs alone", check_call_bounds},
	{"call.workspace", 5, "a call keeps to the workspace that its dry run asked for",
	 check_call_workspace},
	{"call.borrowed", 5,
	 "arguments, operands, scalars and programs are not read after the return",
	 check_call_borrowed},
	{"call.error", 5, "a failure fills the error that it is given, and needs none",
	 check_call_error},
	{"call.deterministic", 5,
	 "results have the same bits from run to run where that is promised",
	 check_call_deterministic},
	{"memory.host_balance", 5, "host memory that an instance took comes back",
	 check_memory_host_balance},
	{"memory.exhausted_open", 5,
	 "create, open and alloc say so when host memory runs out, and leave nothing behind",
	 check_memory_exhausted_open},
	{"memory.exhausted_calls", 5,
	 "a call that runs out of host memory says so or does without, and works afterwards",
	 check_memory_exhausted_calls},
	{"threads.instances", 5, "instances in different threads do not disturb one another",
	 check_threads_instances},
	{"threads.devices", 5, "two devices of an instance may be used at once by two threads",
	 check_threads_devices},
	{NULL, 0, NULL, NULL},
};
