/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries that begin and test an operation.
 */
#include "local.h"

static tn_status report_failure(const struct local_communicator *communicator, uint32_t operation,
				struct tn_error_info *error)
{
	return tn_plugin_fail(error, communicator->failure.status,
			      communicator_operation_name(operation), "%s",
			      communicator->failure.text);
}

tn_status local_start(void *communicator, const struct tn_collective_args *args, void **request)
{
	struct local_communicator *own = communicator;
	struct tn_collective_args taken;
	tn_status status = communicator_take(&taken, args, own->job.rank, own->job.size);
	if (status)
		return status;
	if (own->failure.status)
		return report_failure(own, taken.operation, taken.call.error);
	struct local_request *begun = tn_plugin_alloc(own->host, sizeof(*begun));
	if (!begun)
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY,
				      communicator_operation_name(taken.operation),
				      "no memory for a request");
	begun->header = communicator_header_of(&taken);
	begun->source = taken.source;
	begun->target = taken.target;
	begun->element = tn_dtype_size(taken.dtype);
	local_append(own, begun);
	local_progress(own);
	*request = begun;
	return TN_OK;
}

tn_status local_test(void *communicator, void *request, struct tn_collective_state *state,
		     struct tn_error_info *error)
{
	struct local_communicator *own = communicator;
	struct local_request *tested = request;
	const uint32_t operation = tested->header.operation;
	struct tn_collective_state answer = {.waits_for = TN_RANK_UNKNOWN};
	if (!tested->is_done)
		local_progress(own);
	if (!tested->is_done && own->failure.status) {
		local_remove(own, tested);
		return report_failure(own, operation, error);
	}
	answer.is_done = (uint32_t)tested->is_done;
	if (tested->is_done)
		local_remove(own, tested);
	else
		answer.waits_for = own->waits_for;
	tn_struct_answer(state, &answer, sizeof(answer));
	return TN_OK;
}
