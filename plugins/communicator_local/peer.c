/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Looks whether the other ranks still live while nothing moves.
 */
#include <stdio.h>

#include "local.h"

/* How often, in seconds, one of the other ranks is looked at while nothing moves. */
static const double look_interval = 0.002;

void local_watch(struct local_communicator *communicator, uint64_t index, int *is_lost, char *text,
		 size_t size)
{
	const double now = local_now();
	char how[96] = "has left";
	*is_lost = 0;
	if (now - communicator->last_look < look_interval)
		return;
	communicator->last_look = now;
	const uint32_t rank = communicator->next_look;
	communicator->next_look = (rank + 1) % communicator->job.size;
	const struct local_rank *other = &communicator->shared->ranks[rank];
	const uint32_t state = atomic_load_explicit(&other->state, memory_order_acquire);
	if (rank == communicator->job.rank || state < LOCAL_JOINED)
		return;
	const struct communicator_process *own =
		&communicator->shared->ranks[communicator->job.rank].process;
	if (state == LOCAL_JOINED &&
	    (!communicator_process_is_visible(own, &other->process) ||
	     !communicator_process_has_ended(&other->process, how, sizeof(how))))
		return;
	/* What it did before it ended counts. */
	if (atomic_load_explicit(&other->finished, memory_order_acquire) > index)
		return;
	*is_lost = 1;
	(void)snprintf(text, size, "rank %u (process %lld) %s", rank, (long long)other->process.pid,
		       how);
}
