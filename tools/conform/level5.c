/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 5: asynchrony, threads, faults and lifetimes.
 */
#include "slots.h"

const struct check level5_checks[] = {
	{"call.unknown", 5,
	 "unknown numbers, flags and fields, and invalid shapes, are refused without effect",
	 check_arguments},
	{"call.dry_run", 5,
	 "a dry run returns the call's status, ignores handles, and has no effect",
	 check_call_dry_run},
	{"call.untouched", 5, "a refused call has no effect", check_call_untouched},
	{"call.bounds", 5, "a call writes only to the elements of its outputs", check_call_bounds},
	{"call.workspace", 5, "a call uses only the workspace that its dry run requested",
	 check_call_workspace},
	{"call.borrowed", 5,
	 "arguments, operands, scalars and programs are not read after the return",
	 check_call_borrowed},
	{"call.error", 5, "a failure fills the error, if one is given", check_call_error},
	{"call.deterministic", 5, "results have the same bits from run to run, if that is promised",
	 check_call_deterministic},
	{"memory.host_balance", 5, "an instance frees all host memory that it allocated",
	 check_memory_host_balance},
	{"memory.exhausted_open", 5,
	 "create, open and alloc report exhausted host memory, and leak nothing",
	 check_memory_exhausted_open},
	{"memory.exhausted_calls", 5,
	 "a call without host memory reports it or manages without, and works afterwards",
	 check_memory_exhausted_calls},
	{"host.oldest", 5, "it works under the oldest host that its note accepts",
	 check_oldest_host},
	{"threads.instances", 5, "instances in different threads do not disturb one another",
	 check_threads_instances},
	{"threads.devices", 5, "two open devices of an instance may be used at once by two threads",
	 check_threads_devices},
	{"threads.sizes", 5,
	 "the same holds for arrays of the sizes at which backends use memory of their own",
	 check_threads_sizes},
	{"threads.streams", 5,
	 "two threads may use two streams of a device at once, where it says so",
	 check_threads_streams},
	{NULL, 0, NULL, NULL},
};
