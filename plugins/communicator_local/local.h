/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * communicator_local.so: the ranks are processes of one machine, which share memory.
 *
 *	job.c       the launcher's variables
 *	shared.c    the shared memory: its layout, making, joining and leaving it
 *	peer.c      looks whether the other ranks still live
 *	stream.c    moves operands through the shared memory
 *	failure.c   the first failure of any rank, which all of them report
 *	request.c   the entries start and test
 *	plugin.c    the other entries
 *
 * Every rank has an area of shared memory, divided into slots.  All operations, in the order in
 * which they were started, are one stream of chunks, and chunk c passes through slot
 * c % LOCAL_SLOTS of every area in three stages:
 *
 *	post     a rank copies its part of the operand into its area, once all ranks have taken what
 *	         was in the slot before;
 *	reduce   it combines its segment of all ranks' parts, in the order of the ranks, and puts
 *	         the result into its own area;
 *	take     it copies what it needs from the areas into its target.
 *
 * Three counters of each rank say how many chunks have passed each stage.  Only that rank writes
 * them, and they only grow: there is no lock that a dead rank could hold.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include <stdalign.h>
#include <stdatomic.h>

#include <communicator/communicator.h>
#include <communicator/process.h>

enum {
	LOCAL_MOST_RANKS = 128,
	LOCAL_MOST_JOB = 64, /* characters of its name */
	LOCAL_MOST_FOLDER = 1023,
	LOCAL_MOST_PATH = LOCAL_MOST_FOLDER + LOCAL_MOST_JOB + 16,
	LOCAL_SLOTS = 8, /* of an area */
	/* Kept by a rank.  It starts operation k when all have taken the chunk LOCAL_SLOTS before
	 * k's first, hence finished k - LOCAL_SLOTS; that one they started likewise, when all
	 * headers up to k - 2 LOCAL_SLOTS were there, and compared these.  Nobody reads older
	 * ones. */
	LOCAL_HEADERS = 4 * LOCAL_SLOTS,
	LOCAL_LINE = 64, /* of the cache */
};
#define LOCAL_LAYOUT 1u /* changes with the structs below */

/* ---- The job, job.c --------------------------------------------------------------------------*/

struct local_job {
	uint32_t rank, size;
	char name[LOCAL_MOST_JOB + 1];
	int is_step;                           /* of Slurm */
	char folder[LOCAL_MOST_FOLDER + 1];    /* of the shared memory; "": by room */
	char temporary[LOCAL_MOST_FOLDER + 1]; /* the folder for temporary files, or "" */
	uint64_t area_bytes;                   /* of each rank */
	double timeout;                        /* seconds to wait for the other ranks to join */
};

/* The variables as the host gives them; NULL: not set. */
struct local_variables {
	const char *rank, *size, *job, *bytes, *folder, *temporary, *timeout;
	/* Of a step that srun has started, where none of the first three is set. */
	const char *slurm_rank, *slurm_size, *slurm_nodes, *slurm_job, *slurm_step, *slurm_restarts;
};

void local_variables_read(const struct tn_host *host, struct local_variables *variables);

/* TN_NOT_FOUND: not started by a launcher.  TN_FORMAT: a variable is malformed. */
tn_status local_job_parse(const struct local_variables *variables, struct local_job *job,
			  struct tn_error_info *error);

/* ---- The shared memory, shared.c -------------------------------------------------------------*/

enum { LOCAL_ABSENT = 0, LOCAL_JOINING, LOCAL_JOINED, LOCAL_LEFT };

/* What a rank shows the others; all 0 at first.  Only the rank itself writes. */
struct local_rank {
	_Atomic uint32_t state;              /* LOCAL_ABSENT, ... */
	struct communicator_process process; /* valid from LOCAL_JOINED on */

	alignas(LOCAL_LINE) _Atomic uint64_t started; /* operations whose header is there */
	_Atomic uint64_t finished;                    /* operations of which it has everything */
	_Atomic uint64_t posted, reduced, taken;      /* chunks */

	alignas(LOCAL_LINE) struct communicator_header headers[LOCAL_HEADERS];
};

struct local_failure {
	_Atomic uint32_t is_claimed, is_published;
	int32_t status;
	char text[256];
};

struct local_shared {
	_Atomic uint64_t layout; /* 0 until the first rank has come */
	_Atomic uint32_t joined; /* ranks that have come */
	_Atomic uint32_t is_complete;
	struct local_failure failure;
	alignas(LOCAL_LINE) struct local_rank ranks[]; /* of the job; then the areas */
};

/* ---- An open communicator --------------------------------------------------------------------*/

struct local_request {
	struct local_request *previous, *next; /* in the order of their starts */
	struct communicator_header header;
	uint64_t index; /* among the operations of the communicator */
	const unsigned char *source;
	unsigned char *target;
	uint64_t element;   /* bytes */
	uint64_t per_chunk; /* elements of a chunk; of each segment for reduce_scatter */
	uint64_t n_chunks;
	int is_done;
};

/* The next chunk of one stage.  `request` is NULL behind the last one. */
struct local_cursor {
	struct local_request *request;
	uint64_t chunk;    /* of the request */
	uint64_t sequence; /* of the stream */
};

struct local_communicator {
	const struct tn_host *host;
	struct local_job job;
	struct local_shared *shared;
	unsigned char *areas;
	uint64_t slot_bytes;
	uint64_t mapped_bytes; /* 0: the memory is the caller's */
	int has_place;         /* among the ranks of the shared memory */

	struct local_request *first, *last; /* of all requests that the host has not given back */
	struct local_cursor post, reduce, take;
	uint64_t n_started, n_finished;     /* operations */
	uint64_t checked[LOCAL_MOST_RANKS]; /* headers of each rank that were compared */
	uint32_t waits_for;
	/* The watch over the other ranks. */
	double last_look;
	uint32_t next_look;           /* a rank */
	struct tn_error_info failure; /* status 0: none */
};

/* The bytes of shared memory that a job needs. */
uint64_t local_shared_bytes(const struct local_job *job);

/* Maps the file of the job, which the first rank makes; `path`, of LOCAL_MOST_PATH bytes, receives
 * where it is. */
tn_status local_file_map(const struct local_job *job, uint64_t bytes, char *path, void **memory,
			 struct tn_error_info *error);

/* Joins over memory that is all 0 or that other ranks have joined; waits for them.  `path` is the
 * memory's file, to be removed as soon as all have come; NULL: none. */
tn_status local_join(struct local_communicator *communicator, void *memory, const char *path,
		     struct tn_error_info *error);
/* The same over the file of the job's name, which is gone when this returns. */
tn_status local_open(struct local_communicator *communicator, struct tn_error_info *error);
void local_leave(struct local_communicator *communicator);

/* Seconds of a clock that only goes forward. */
double local_now(void);

/* ---- Peers, peer.c ---------------------------------------------------------------------------*/

/* Looks at one of the other ranks, if the last look is some time ago; *is_lost: it will never
 * finish operation `index`, and `text` says why. */
void local_watch(struct local_communicator *communicator, uint64_t index, int *is_lost, char *text,
		 size_t size);

/* ---- Failures, failure.c ---------------------------------------------------------------------*/

/* From now on every call on this communicator fails with that status and text, and so it does on
 * the other ranks, unless one of them was first: then with that one's. */
void local_fail(struct local_communicator *communicator, tn_status status, const char *text);
/* Takes over what another rank has published; is there a failure?  Asked when nothing moves. */
int local_has_failed(struct local_communicator *communicator);

/* ---- The stream, stream.c --------------------------------------------------------------------*/

/* Appends an operation. */
void local_append(struct local_communicator *communicator, struct local_request *request);
/* Does all that can be done now.  A failure is kept by the communicator. */
void local_progress(struct local_communicator *communicator);
void local_remove(struct local_communicator *communicator, struct local_request *request);

/* ---- Entries, request.c ----------------------------------------------------------------------*/

tn_status local_start(void *communicator, const struct tn_collective_args *args, void **request);
tn_status local_test(void *communicator, void *request, struct tn_collective_state *state,
		     struct tn_error_info *error);

#endif
