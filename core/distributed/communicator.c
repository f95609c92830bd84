/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What an open communicator tells of itself, its failure and its end.
 */
#include "distributed/communicator.h"

#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "base/memory.h"
#include "loader/load.h"

uint32_t tn_communicator_rank(const tn_communicator *communicator)
{
	return communicator ? communicator->description.rank : 0;
}

uint32_t tn_communicator_size(const tn_communicator *communicator)
{
	return communicator ? communicator->description.size : 0;
}

uint32_t tn_communicator_local_rank(const tn_communicator *communicator)
{
	return communicator ? communicator->description.local_rank : 0;
}

uint32_t tn_communicator_local_size(const tn_communicator *communicator)
{
	return communicator ? communicator->description.local_size : 0;
}

const char *tn_communicator_name(const tn_communicator *communicator)
{
	return communicator ? communicator->name : "";
}

const struct tn_communicator_description *
tn_communicator_describe(const tn_communicator *communicator)
{
	return communicator ? &communicator->description : NULL;
}

tn_load_report *tn_communicator_report(const tn_communicator *communicator)
{
	return communicator ? communicator->report : NULL;
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

void tn_communicator_close(tn_communicator *communicator)
{
	if (!communicator)
		return;
	int ours = communicator->fork_generation == tn_fork_generation();
	struct tn_communicator_plugin *plugin = communicator->plugin;
	/* The plugin abandons its requests: only then may their memory go. */
	if (plugin && communicator->handle && ours)
		plugin->table.close(communicator->handle);
	while (communicator->oldest)
		tn_request_free(communicator->oldest);
	if (plugin)
		tn_plugin_destroy(&plugin->plugin, ours);
	tn_load_report_destroy(communicator->report);
	tn_mem_free(communicator);
}

void tn_communicator_abort(tn_communicator *communicator, int32_t code, const char *reason)
{
	struct tn_error_info error;
	if (!communicator)
		return;
	const struct tn_communicator_description *own = &communicator->description;
	const char *text = reason ? reason : "no reason was given";
	tn_log_format(communicator->runtime->logger, TN_LOG_ERROR, "communicator",
		      "rank %u of %u ends the program: %s", own->rank, own->size, text);
	if (!communicator->plugin || communicator->fork_generation != tn_fork_generation())
		return;
	communicator->plugin->table.abort(communicator->handle, code, text);
	if (!communicator->failure.status) {
		tn_fail(&error, TN_PEER_LOST, "communicator_abort",
			"this rank ended the program: %s", text);
		communicator->failure = error;
	}
}
