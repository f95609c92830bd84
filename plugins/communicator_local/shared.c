/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The shared memory of a job: its layout, and how ranks join.  The rank that joins last removes the
 * file, so that nothing is left behind however the ranks end.
 */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "local.h"

enum { PAGE = 4096 };

double local_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Layout ----------------------------------------------------------------------------------*/

static uint64_t areas_offset(const struct local_job *job)
{
	const uint64_t bytes = sizeof(struct local_shared) + job->size * sizeof(struct local_rank);
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint64_t slot_bytes(const struct local_job *job)
{
	return job->area_bytes / LOCAL_SLOTS / PAGE * PAGE;
}

uint64_t local_shared_bytes(const struct local_job *job)
{
	return areas_offset(job) + job->size * slot_bytes(job) * LOCAL_SLOTS;
}

/* Equal for ranks that divide the memory alike; not 0. */
static uint64_t layout_of(const struct local_job *job)
{
	return (uint64_t)LOCAL_LAYOUT << 48 | (uint64_t)job->size << 32 | slot_bytes(job) / PAGE;
}

/* ---- Joining ---------------------------------------------------------------------------------*/

static tn_status take_place(struct local_communicator *communicator, struct tn_error_info *error)
{
	struct local_shared *shared = communicator->shared;
	const struct local_job *job = &communicator->job;
	struct local_rank *own = &shared->ranks[job->rank];
	uint64_t layout = 0;
	uint32_t state = LOCAL_ABSENT;
	if (!atomic_compare_exchange_strong(&shared->layout, &layout, layout_of(job)) &&
	    layout != layout_of(job))
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "open",
				      "job '%s': rank %u disagrees with an earlier one in "
				      "TENON_LOCAL_SIZE, TENON_LOCAL_BYTES or version",
				      job->name, job->rank);
	if (!atomic_compare_exchange_strong(&own->state, &state, LOCAL_JOINING))
		return tn_plugin_fail(error, TN_STATE, "open",
				      "job '%s' has a rank %u already: process %lld", job->name,
				      job->rank,
				      state >= LOCAL_JOINED ? (long long)own->process.pid : 0);
	communicator->has_place = 1;
	communicator_process_self(&own->process);
	atomic_store_explicit(&own->state, LOCAL_JOINED, memory_order_release);
	return TN_OK;
}

static uint32_t first_absent(const struct local_communicator *communicator)
{
	uint32_t rank = 0;
	while (rank + 1 < communicator->job.size &&
	       atomic_load(&communicator->shared->ranks[rank].state) >= LOCAL_JOINED)
		rank++;
	return rank;
}

static void wait_for_all(struct local_communicator *communicator)
{
	struct local_shared *shared = communicator->shared;
	const double start = local_now();
	const struct timespec pause = {0, 200000};
	char text[256];
	while (!atomic_load_explicit(&shared->is_complete, memory_order_acquire) &&
	       !local_has_failed(communicator)) {
		int is_lost;
		local_watch(communicator, UINT64_MAX, &is_lost, text, sizeof(text));
		if (is_lost && !atomic_load(&shared->is_complete))
			local_fail(communicator, TN_PEER_LOST, text);
		if (local_now() - start > communicator->job.timeout) {
			(void)snprintf(text, sizeof(text),
				       "rank %u has not joined job '%s' within %g s%s",
				       first_absent(communicator), communicator->job.name,
				       communicator->job.timeout,
				       communicator->job.is_step
					       ? " (a task of srun that is a program of its own "
						 "gets TENON_COMMUNICATOR=none)"
					       : "");
			local_fail(communicator, TN_TIMED_OUT, text);
		}
		(void)nanosleep(&pause, NULL);
	}
}

tn_status local_join(struct local_communicator *communicator, void *memory, const char *path,
		     struct tn_error_info *error)
{
	struct local_shared *shared = memory;
	communicator->shared = shared;
	communicator->areas = (unsigned char *)memory + areas_offset(&communicator->job);
	communicator->slot_bytes = slot_bytes(&communicator->job);
	communicator->waits_for = TN_RANK_UNKNOWN;
	tn_status status = take_place(communicator, error);
	if (status)
		return status;
	if (atomic_fetch_add(&shared->joined, 1) + 1 == communicator->job.size) {
		if (path)
			(void)unlink(path);
		atomic_store_explicit(&shared->is_complete, 1, memory_order_release);
	}
	wait_for_all(communicator);
	/* Once all have joined, a failure is one of the first operation. */
	if (atomic_load_explicit(&shared->is_complete, memory_order_acquire))
		return TN_OK;
	if (path)
		(void)unlink(path);
	return tn_plugin_fail(error, communicator->failure.status, "open", "%s",
			      communicator->failure.text);
}

/* ---- All -------------------------------------------------------------------------------------*/

tn_status local_open(struct local_communicator *communicator, struct tn_error_info *error)
{
	const uint64_t bytes = local_shared_bytes(&communicator->job);
	char path[LOCAL_MOST_PATH];
	void *memory = NULL;
	tn_status status = local_file_map(&communicator->job, bytes, path, &memory, error);
	if (status)
		return status;
	communicator->mapped_bytes = bytes;
	status = local_join(communicator, memory, path, error);
	if (status)
		local_leave(communicator);
	return status;
}

void local_leave(struct local_communicator *communicator)
{
	struct local_rank *own = &communicator->shared->ranks[communicator->job.rank];
	/* The place may be another process's, if joining has failed. */
	if (communicator->has_place)
		atomic_store_explicit(&own->state, LOCAL_LEFT, memory_order_release);
	if (communicator->mapped_bytes)
		(void)munmap(communicator->shared, communicator->mapped_bytes);
}
