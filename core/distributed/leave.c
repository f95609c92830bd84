/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The end of a communicator: closed, or with all ranks.
 */
#include "base/fork.h"
#include "array/handle.h"
#include "base/memory.h"
#include "distributed/request.h"
#include "loader/load.h"

void tn_communicator_close(tn_communicator *communicator)
{
	if (!communicator ||
	    tn_handle_has_ended(communicator->runtime, communicator, "communicator_close"))
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
	communicator->report = NULL;
	communicator->plugin = NULL;
	tn_handle_end(&communicator->runtime, communicator, "the communicator");
}

void tn_communicator_abort(tn_communicator *communicator, int32_t code, const char *reason)
{
	struct tn_error_info error;
	if (!communicator || tn_handle_check(communicator->runtime, "communicator_abort"))
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
