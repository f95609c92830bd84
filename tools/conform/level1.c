/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 1: memory, copies, streams and events.
 */
#include "slots.h"

const struct check level1_checks[] = {
	{"device.describe", 1,
	 "describe tells kind, name, memory, alignment and the dtypes that every backend has",
	 check_describe},
	{"device.absent", 1, "a device that is not there is TN_INVALID_ARGUMENT",
	 check_describe_absent},
	{"device.older_caller", 1, "nothing is written past the end of an older caller's struct",
	 check_describe_older_caller},
	{"memory.alignment", 1, "an allocation has the alignment that was asked for, at least 256",
	 check_alloc_alignment},
	{"memory.impossible", 1,
	 "an allocation that cannot be had is refused and leaves the handle alone",
	 check_alloc_impossible},
	{"memory.transfers", 1, "upload and download move bytes at any offset and size",
	 check_transfer_offsets},
	{"memory.information", 1, "free memory is at most all memory", check_memory_information},
	{"stream.sync", 1, "sync and async_error have nothing to say when all is well", check_sync},
	{NULL, 0, NULL, NULL},
};
