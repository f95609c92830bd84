/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The interface between Tenon and a communicator: all that such a plugin includes.  Programs use
 * <tenon/distributed.h>.
 *
 * A communicator connects the ranks, the processes of one program that a launcher (mpirun, srun)
 * has started, and moves host memory between them.  A plugin is a file `communicator_NAME.so` that
 * exports one symbol, `tenon_communicator`, and carries an ELF note; TN_COMMUNICATOR_PLUGIN emits
 * both.  It is found, checked and negotiated as a backend is (<tenon/backend.h>), has the same
 * descriptor, options and services, and keeps the same rules for entries, statuses, errors and
 * structs.
 *
 * Life:   create -> query -> open -> describe, (start -> test ...) ... -> close -> destroy
 *
 * With the flag TN_COMMUNICATOR_PROCESS_WIDE the engine exists once in a process, like MPI: a
 * second `create` beside a living instance is TN_STATE, one after the engine has ended is
 * TN_REFUSED, and the text says which.  `destroy` ends the engine if `create` or `open` began it,
 * and nothing else: an engine that the program had begun stays as it was.
 *
 * Thread tags as in <tenon/backend.h>; [communicator]: one thread at a time per open communicator,
 * always the one that opened it.
 *
 * A communicator may own a thread that makes progress while the program computes, under the rule of
 * backends (R28 of tenon-backend(7)): `open` or a later entry starts it, with all signals blocked;
 * `close` tells it to stop at once, whatever is under way, and joins it; it calls services of the
 * host but `parameter`, and no entry.  A forked child has no such thread, and the host calls no
 * entry of the communicator there.
 */
#ifndef TENON_COMMUNICATOR_H
#define TENON_COMMUNICATOR_H

#include <tenon/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version: as TN_ABI_... of a backend -----------------------------------------------------*/

#define TN_COMMUNICATOR_ABI_MAJOR 1u
#define TN_COMMUNICATOR_ABI_MINOR 0u
/* As TN_ABI_OLDEST_HOST: a plugin that needs a later one defines it before. */
#ifndef TN_COMMUNICATOR_ABI_OLDEST_HOST
#define TN_COMMUNICATOR_ABI_OLDEST_HOST 0u
#endif

#define TN_COMMUNICATOR_SYMBOL "tenon_communicator"
#define TN_COMMUNICATOR_NOTE_TYPE 2u /* of an ELF note whose owner is TN_BACKEND_NOTE_OWNER */

/* Flags of the descriptor and the note. */
enum {
	TN_COMMUNICATOR_PROCESS_WIDE = 1u << 0, /* see above */
};

/* ---- Table "tenon.communicator/1": mandatory -------------------------------------------------*/

struct tn_communicator_open_args {
	struct tn_call call;
};

/* Flags of the description. */
enum {
	/* The bits of a sum do not depend on timing, the number of threads or the placement of
	 * ranks: see TN_COLLECTIVE_ALL_REDUCE. */
	TN_COMMUNICATOR_ORDERED = 1u << 0,
};

struct tn_communicator_description {
	uint32_t struct_size;
	uint32_t flags;
	uint32_t rank; /* of this process, below size */
	uint32_t size;
	uint32_t local_rank; /* among the ranks of this machine, in the order of their ranks */
	uint32_t local_size;
	uint64_t max_bytes; /* of the larger operand of one operation; 0: without limit */
	char host[64];      /* the name of this machine */
	char engine[128];   /* "Open MPI 4.1.4" */
};

/* Operations.  All ranks start the same ones in the same order, with the same dtype, n, combiner
 * and root; an error that names both ranks is better than a hang where they do not. */
enum {
	/* Done when every rank has started it.  n is 0. */
	TN_COLLECTIVE_BARRIER = 1,
	/* target[0..n) := the root's.  `source` is NULL. */
	TN_COLLECTIVE_BROADCAST = 2,
	/* target[i] := combiner over the ranks of source[i], i < n.
	 * A sum is ((x0 + x1) + x2) + ... in the order of the ranks; f16 and bf16 are added in f32
	 * and rounded once, at the end.  A communicator that cannot keep the order leaves out
	 * TN_COMMUNICATOR_ORDERED and answers TN_UNSUPPORTED to a start with TN_DETERMINISTIC.
	 * Maximum and minimum propagate NaN. */
	TN_COLLECTIVE_ALL_REDUCE = 3,
	/* target[i] := combiner over the ranks of source[rank * n + i], i < n.  `source` has
	 * size * n elements. */
	TN_COLLECTIVE_REDUCE_SCATTER = 4,
	/* target[r * n + i] := source[i] of rank r.  `target` has size * n elements. */
	TN_COLLECTIVE_ALL_GATHER = 5,
	TN_COLLECTIVE_UNASSIGNED = 0x7fff, /* no operation will have this number: for tests */
};

/* Combiners are TN_REDUCE_SUM, TN_REDUCE_MAX and TN_REDUCE_MIN; dtypes of reductions f16, bf16,
 * f32, f64, i32, i64 and u64, of the others all.  In place: all_reduce with target == source,
 * reduce_scatter with target == source + rank * n, all_gather with source == target + rank * n
 * elements.  Otherwise operands do not overlap.  Anything else is TN_UNSUPPORTED, found by `start`
 * before anything is sent. */
struct tn_collective_args {
	struct tn_call call; /* flags: TN_DETERMINISTIC; no dry run, stream or workspace */
	uint32_t operation;
	uint32_t combiner; /* 0 for operations without one */
	tn_dtype dtype;    /* 0 for a barrier */
	uint32_t root;
	uint64_t n;
	const void *source;
	void *target;
};

/* The answer of `test`. */
struct tn_collective_state {
	uint32_t struct_size;
	uint32_t is_done;
	/* The lowest rank for which this one is known to wait, or TN_RANK_UNKNOWN. */
	uint32_t waits_for;
	uint32_t reserved;
};
#define TN_RANK_UNKNOWN UINT32_MAX

struct tn_communicator_table {
	uint32_t struct_size;
	uint32_t reserved;

	/* Joins the other ranks; waits for them.  [instance] */
	tn_status (*open)(void *instance, const struct tn_communicator_open_args *args,
			  void **communicator);
	/* Leaves.  Never waits: requests that are not done are abandoned.  [communicator] */
	void (*close)(void *communicator);
	tn_status (*describe)(void *communicator, struct tn_communicator_description *description);
	/* Begins an operation.  Its operands are borrowed, and not touched by the caller, until it
	 * is done.  Any number of operations may be under way; each makes progress whenever the
	 * caller is in `start` or `test` for any of them, beside a thread of the plugin too.
	 * [communicator] */
	tn_status (*start)(void *communicator, const struct tn_collective_args *args,
			   void **request);
	/* Makes progress with all operations under way, and says whether this one is done; never
	 * waits longer than some tens of microseconds.  After is_done = 1, or a failure, the
	 * request is gone.  TN_PEER_LOST: a rank has ended; TN_BACKEND_FAILURE: the engine's error.
	 * After a failure every `start` and `test` fails likewise.  [communicator] */
	tn_status (*test)(void *communicator, void *request, struct tn_collective_state *state,
			  struct tn_error_info *error);
	/* Ends the other ranks of the program, which learn `reason` if the engine can tell them.
	 * `code` becomes the launcher's exit status where it can.  Does not return where the engine
	 * ends this process, too (MPI); the reason has then been written by nobody else: the host
	 * writes it before it calls.  [communicator] */
	void (*abort)(void *communicator, int32_t code, const char *reason);
};
#define TN_TABLE_COMMUNICATOR "tenon.communicator/1"

/* ---- The descriptor and its note -------------------------------------------------------------*/

/* As TN_BACKEND_PLUGIN; FLAGS are those of the descriptor. */
#define TN_COMMUNICATOR_PLUGIN(UUID, NAME, VERSION, LICENCE, FLAGS, CREATE, DESTROY, QUERY)        \
	TN_COMMUNICATOR_PLUGIN_ROWS(0, NULL, NAME, VERSION, LICENCE, FLAGS, CREATE, DESTROY,       \
				    QUERY, UUID)

/* The same for a plugin with options, as TN_BACKEND_PLUGIN_OPTIONS. */
#define TN_COMMUNICATOR_PLUGIN_OPTIONS(UUID, NAME, VERSION, LICENCE, FLAGS, CREATE, DESTROY,       \
				       QUERY, OPTIONS)                                             \
	TN_COMMUNICATOR_PLUGIN_ROWS(sizeof(OPTIONS) / sizeof((OPTIONS)[0]), OPTIONS, NAME,         \
				    VERSION, LICENCE, FLAGS, CREATE, DESTROY, QUERY, UUID)

/* What both emit; the UUID's bytes come last. */
#define TN_COMMUNICATOR_PLUGIN_ROWS(N, OPTIONS, NAME, VERSION, LICENCE, FLAGS, CREATE, DESTROY,    \
				    QUERY, ...)                                                    \
	__attribute__((section(".note.tenon"), used,                                               \
		       aligned(4))) static const struct tn_backend_note_section                    \
		tn_backend_note_section_ = {6,                                                     \
					    40,                                                    \
					    TN_COMMUNICATOR_NOTE_TYPE,                             \
					    TN_BACKEND_NOTE_OWNER,                                 \
					    TN_BACKEND_MAGIC,                                      \
					    TN_COMMUNICATOR_ABI_MAJOR,                             \
					    TN_COMMUNICATOR_ABI_MINOR,                             \
					    TN_COMMUNICATOR_ABI_OLDEST_HOST,                       \
					    {__VA_ARGS__},                                         \
					    {FLAGS, 0}};                                           \
	TN_EXTERN_C __attribute__((visibility("default")))                                         \
	const struct tn_backend_descriptor tenon_communicator;                                     \
	const struct tn_backend_descriptor tenon_communicator = {                                  \
		sizeof(struct tn_backend_descriptor),                                              \
		TN_BACKEND_MAGIC,                                                                  \
		TN_COMMUNICATOR_ABI_MAJOR,                                                         \
		TN_COMMUNICATOR_ABI_MINOR,                                                         \
		TN_COMMUNICATOR_ABI_OLDEST_HOST,                                                   \
		0,                                                                                 \
		FLAGS,                                                                             \
		{__VA_ARGS__},                                                                     \
		NAME,                                                                              \
		VERSION,                                                                           \
		LICENCE,                                                                           \
		CREATE,                                                                            \
		DESTROY,                                                                           \
		QUERY,                                                                             \
		N,                                                                                 \
		0,                                                                                 \
		OPTIONS}

#ifdef __cplusplus
}
#endif
#endif
