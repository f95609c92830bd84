/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of statuses, with their names and meanings, and the library's version.
 */
#include <tenon/status.h>

#include "config.h"

/* One row per status: its name and meaning. */
static const struct {
	tn_status status;
	const char *name;
	const char *text;
} rows[] = {
	{TN_OK, "OK", "done"},
	{TN_INVALID_ARGUMENT, "INVALID_ARGUMENT", "an argument is outside its documented range"},
	{TN_SHAPE, "SHAPE", "shapes do not match each other or the operation"},
	{TN_DTYPE, "DTYPE", "an element type does not match the operation"},
	{TN_DEVICE, "DEVICE", "operands are on different devices or in different contexts"},
	{TN_UNSUPPORTED, "UNSUPPORTED", "legal, but not implemented here"},
	{TN_OUT_OF_MEMORY, "OUT_OF_MEMORY", "host or device memory is exhausted"},
	{TN_IO, "IO", "a file operation of the system failed"},
	{TN_FORMAT, "FORMAT", "a file or a text violates its format"},
	{TN_NOT_FOUND, "NOT_FOUND", "a name, file or key does not exist"},
	{TN_LIMIT, "LIMIT", "a stated limit is exceeded"},
	{TN_STATE, "STATE", "not allowed in this state"},
	{TN_MODIFIED, "MODIFIED", "an array saved for backward was changed in place"},
	{TN_PENDING_ERROR, "PENDING_ERROR", "the context keeps an earlier error"},
	{TN_CANCELLED, "CANCELLED", "the caller asked to stop"},
	{TN_FORKED, "FORKED", "called in a forked child of the process that opened the backend"},
	{TN_NOT_CAPTURABLE, "NOT_CAPTURABLE", "not possible while a step is being captured"},
	{TN_BACKEND_FAILURE, "BACKEND_FAILURE", "the backend failed"},
	{TN_DEVICE_LOST, "DEVICE_LOST", "the device and its arrays are gone"},
	{TN_INTERNAL, "INTERNAL", "a violated invariant inside the library"},
	{TN_PEER_LOST, "PEER_LOST", "a rank of the communicator has ended"},
	{TN_TIMED_OUT, "TIMED_OUT", "another rank did not come in time"},
	{TN_NOT_FINITE, "NOT_FINITE", "a number that must be finite is not"},
	{TN_NOT_EQUAL, "NOT_EQUAL", "what must be equal is not"},
	{TN_SINGULAR, "SINGULAR",
	 "a matrix is singular or not positive definite, or does not converge"},
	{TN_NO_PLUGIN, "NO_PLUGIN", "no plugin file of that name in the search path"},
	{TN_BAD_PLUGIN, "BAD_PLUGIN", "the file is not a usable plugin"},
	{TN_ABI_MISMATCH, "ABI_MISMATCH", "built for another version of the backend interface"},
	{TN_MISSING_LIBRARY, "MISSING_LIBRARY", "a library that the backend needs is missing"},
	{TN_NO_DRIVER, "NO_DRIVER", "the device's driver is not installed"},
	{TN_DRIVER_TOO_OLD, "DRIVER_TOO_OLD", "the device's driver is too old"},
	{TN_NO_DEVICE, "NO_DEVICE", "this machine has no such device"},
	{TN_PROBE_FAILED, "PROBE_FAILED",
	 "the backend crashed, hung or failed while being started"},
	{TN_REFUSED, "REFUSED", "ownership or privilege forbids loading it"},
	{TN_EXCLUDED, "EXCLUDED", "the selection excludes it"},
	{TN_DUPLICATE, "DUPLICATE", "the same backend was found earlier in the search"},
};

const char *tn_status_name(tn_status status)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].status == status)
			return rows[i].name;
	}
	return "UNKNOWN";
}

const char *tn_status_text(tn_status status)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].status == status)
			return rows[i].text;
	}
	return "an unknown status";
}

const char *tn_version(void)
{
	return PACKAGE_VERSION;
}
