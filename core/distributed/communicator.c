/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What an open communicator tells of itself, and its failure.
 */
#include "distributed/communicator.h"

#include "array/handle.h"
#include "base/fork.h"

uint32_t tn_communicator_rank(const tn_communicator *communicator)
{
	return communicator && !tn_handle_check(communicator->runtime, "communicator_rank")
		       ? communicator->description.rank
		       : 0;
}

uint32_t tn_communicator_size(const tn_communicator *communicator)
{
	return communicator && !tn_handle_check(communicator->runtime, "communicator_size")
		       ? communicator->description.size
		       : 0;
}

uint32_t tn_communicator_local_rank(const tn_communicator *communicator)
{
	return communicator && !tn_handle_check(communicator->runtime, "communicator_local_rank")
		       ? communicator->description.local_rank
		       : 0;
}

uint32_t tn_communicator_local_size(const tn_communicator *communicator)
{
	return communicator && !tn_handle_check(communicator->runtime, "communicator_local_size")
		       ? communicator->description.local_size
		       : 0;
}

const char *tn_communicator_name(const tn_communicator *communicator)
{
	return communicator && !tn_handle_check(communicator->runtime, "communicator_name")
		       ? communicator->name
		       : "";
}

const struct tn_communicator_description *
tn_communicator_describe(const tn_communicator *communicator)
{
	return communicator && !tn_handle_check(communicator->runtime, "communicator_describe")
		       ? &communicator->description
		       : NULL;
}

tn_load_report *tn_communicator_report(const tn_communicator *communicator)
{
	return communicator && !tn_handle_check(communicator->runtime, "communicator_report")
		       ? communicator->report
		       : NULL;
}

tn_status tn_communicator_break(tn_communicator *communicator, const struct tn_error_info *error)
{
	if (!communicator->failure.status)
		communicator->failure = *error;
	return tn_runtime_keep(communicator->runtime, error);
}

tn_status tn_communicator_ready(const tn_communicator *communicator, const char *operation,
				struct tn_error_info *error)
{
	const struct tn_error_info *failure = &communicator->failure;
	const struct tn_communicator_description *own = &communicator->description;
	if (communicator->fork_generation != tn_fork_generation())
		return tn_fail(error, TN_FORKED, operation,
			       "the communicator is that of the parent process");
	if (!failure->status)
		return TN_OK;
	tn_fail(error, failure->status, operation,
		"rank %u of %u: the communicator is broken since %s: %s", own->rank, own->size,
		failure->operation, failure->text);
	error->native_code = failure->native_code;
	return failure->status;
}
