/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Several processes that work as one program: communicators.
 *
 * A launcher (mpirun, srun, tenon launch) starts the program several times; each process is a rank,
 * from 0, of `size` ranks.  A communicator connects them.  It comes from a plugin, which is found
 * as backends are; a process that no launcher has started gets a communicator of one rank, which
 * needs no plugin.
 *
 *     tn_communicator *ranks;
 *     struct tn_error_info error;
 *     if (tn_communicator_open(ctx, NULL, &ranks, &error))
 *             fprintf(stderr, "%s: %s\n", error.operation, error.text);
 *     else
 *             tn_all_reduce(ranks, x, TN_REDUCE_SUM);
 *
 * All ranks call the same collective functions in the same order, with the same dtypes, sizes,
 * combiners and roots.  Communicators that are `ordered` give the same bits on all ranks and in
 * every run: sums are made in the order of the ranks.
 *
 * After TN_PEER_LOST, TN_TIMED_OUT or a failure of the engine the communicator is broken: every
 * function fails with that status and names the first failure.  Then the other ranks cannot be
 * told anything but by tn_communicator_abort.
 *
 * tn_communicator(3) has examples; tenon-distributed(7) says how programs are started.
 */
#ifndef TENON_DISTRIBUTED_H
#define TENON_DISTRIBUTED_H

#include <string.h>

#include <tenon/array.h>
#include <tenon/communicator.h>
#include <tenon/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Communicators ---------------------------------------------------------------------------*/

typedef struct tn_communicator tn_communicator;

struct tn_communicator_options {
	uint32_t struct_size;
	uint32_t reserved;
	/* A communicator's name, or "none": one rank, whatever launcher has started the process.
	 * NULL: TENON_COMMUNICATOR, else that of the launcher whose variables are set, else none.
	 * A launcher that has started one rank alone counts as none. */
	const char *name;
	/* The most seconds that an operation waits for other ranks; 0: TENON_COMMUNICATOR_TIMEOUT,
	 * else 300.  After a tenth of it a warning says which rank waits in which operation.  Not
	 * of joining the others, for which the engine has a time of its own, or none. */
	double timeout;
	/* Options of communicators, as {"local.bytes", "8M"} is one, by the rules of
	 * backend_options in <tenon/context.h>.  Those of others than the one that is opened are
	 * ignored, which is logged as information. */
	size_t n_communicator_options;
	const struct tn_pair *communicator_options;
};
static inline struct tn_communicator_options tn_communicator_defaults(void)
{
	struct tn_communicator_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* Connects this process with the other ranks; waits for them.  `options` and `error` may be NULL.
 *   TN_NO_PLUGIN ... TN_DUPLICATE  the communicator's plugin is absent for that reason; the text
 *                        names the launcher, the file and the packages
 *   TN_REFUSED           the launchers of two communicators have set their variables; or the
 *                        launcher has started several ranks and the communicator does not connect
 *                        that number, because it belongs to another launcher: the text names both
 *   TN_STATE             a second one, where a process can have one (TN_COMMUNICATOR_PROCESS_WIDE)
 *   TN_FORMAT            a malformed name, variable or key of an option
 *   TN_INVALID_ARGUMENT  the timeout is negative or not finite; an option's value
 *   TN_NOT_FOUND         the communicator has no such option
 *   TN_OUT_OF_MEMORY, TN_UNSUPPORTED (options of a newer version), or the engine's failure.
 * Owned (tn_communicator_close), and to be closed before the context.
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_communicator_open(tn_context *context,
						 const struct tn_communicator_options *options,
						 tn_communicator **communicator,
						 struct tn_error_info *error);

/* Leaves the other ranks without waiting for them, unless the engine's end does: MPI's waits until
 * all ranks have come to it, however long that is.  Requests that were not waited for are gone;
 * their memory may be freed afterwards.  Takes NULL.
 * [thread: the one that opened it, here and below | since 0.1] */
TN_API void tn_communicator_close(tn_communicator *communicator);

/* The rank of this process, the number of ranks, and both among the ranks of this machine. */
TN_API uint32_t tn_communicator_rank(const tn_communicator *communicator);
TN_API uint32_t tn_communicator_size(const tn_communicator *communicator);
TN_API uint32_t tn_communicator_local_rank(const tn_communicator *communicator);
TN_API uint32_t tn_communicator_local_size(const tn_communicator *communicator);

/* "openmpi", "local", "none".  Borrowed, valid until close. */
TN_API const char *tn_communicator_name(const tn_communicator *communicator);

/* Rank, size, machine, engine and flags.  Borrowed, valid until close. */
TN_API const struct tn_communicator_description *
tn_communicator_describe(const tn_communicator *communicator);

/* Which communicators were found, and why the others are absent: a row for each, with its launcher
 * as `hardware`.  Only the chosen one has been loaded.  Borrowed, valid until close. */
TN_API tn_load_report *tn_communicator_report(const tn_communicator *communicator);

/* The same without opening one: files are inspected, and those of engines that a process may have
 * more than once are opened for the list of their options; no instance is made.  *report is owned
 * (tn_load_report_destroy); its selection is the communicator that would be opened, and if that
 * could not be chosen, a notice has the reason.  TN_FORMAT: a malformed TENON_SIMULATE.
 * TN_OUT_OF_MEMORY.  `error` may be NULL.  [thread: one per context | since 0.1] */
TN_API tn_status tn_communicator_list(tn_context *context, tn_load_report **report,
				      struct tn_error_info *error);

/* Ends all ranks, because this one cannot go on: logs `reason` as an error, tells the other ranks
 * if the engine can, and gives the launcher `code` as exit status where it takes one.  Does not
 * return where the engine ends this process too; otherwise the program ends next.  Without a plugin
 * it only logs. */
TN_API void tn_communicator_abort(tn_communicator *communicator, int32_t code, const char *reason);

/* ---- Host memory -----------------------------------------------------------------------------*/

/* An operation as <tenon/communicator.h> has it (TN_COLLECTIVE_...), whose rules for operands,
 * overlap, dtypes and combiners hold. */
struct tn_collective_host {
	uint32_t struct_size;
	uint32_t operation;
	uint32_t combiner; /* TN_REDUCE_SUM, _MAX or _MIN; 0 for operations without one */
	tn_dtype dtype;    /* 0 for a barrier */
	uint32_t root;     /* of a broadcast */
	uint32_t reserved;
	uint64_t n; /* elements */
	const void *source;
	void *target;
	const char
		*label; /* for errors and warnings, "gradients 3 of step 17"; copied; NULL: none */
};
static inline struct tn_collective_host tn_collective_host_defaults(void)
{
	struct tn_collective_host host;
	memset(&host, 0, sizeof(host));
	host.struct_size = sizeof(host);
	return host;
}

typedef struct tn_request tn_request;

/* Begins an operation.  Its memory is not touched until it is done, which the other ranks decide:
 * work between start and wait overlaps with it.  The operation makes progress whenever this rank is
 * in a function of the communicator, and not otherwise.  *request is owned (tn_request_wait).
 * The context keeps the error, here and below.
 *   TN_INVALID_ARGUMENT  an operation, root or combiner that does not exist, memory that is NULL or
 *                        overlaps, or a member that must be 0
 *   TN_DTYPE             it cannot be reduced, or is not a dtype
 *   TN_LIMIT             more bytes than can be addressed
 *   TN_UNSUPPORTED       the context is deterministic and the communicator is not ordered
 *   TN_STATE             another rank has started something else
 *   TN_PEER_LOST         a rank has ended
 *   TN_BACKEND_FAILURE, TN_OUT_OF_MEMORY, TN_FORKED, TN_PENDING_ERROR
 * After TN_INVALID_ARGUMENT, TN_DTYPE, TN_LIMIT, TN_UNSUPPORTED and TN_PENDING_ERROR nothing was
 * sent; the communicator is not broken, but the other ranks may wait for this one.
 * [since 0.1] */
TN_API TN_CHECKED tn_status tn_communicator_start(tn_communicator *communicator,
						  const struct tn_collective_host *operation,
						  tn_request **request);

/* Makes progress, and says whether the operation is done; does not wait.  The request stays. */
TN_API TN_CHECKED tn_status tn_request_test(tn_request *request, int *is_done);

/* Waits until it is done, or fails; the request is then gone.  TN_TIMED_OUT: another rank did not
 * come in time; the text names it where it is known.  After a failure the engine may still use the
 * memory of operations under way, until tn_communicator_close.  Works while the context keeps an
 * error.  Takes NULL: TN_OK. */
TN_API tn_status tn_request_wait(tn_request *request);

/* Starts an operation and waits for it. */
TN_API tn_status tn_communicator_run(tn_communicator *communicator,
				     const struct tn_collective_host *operation);

/* The seconds that this rank has waited for others so far, in tn_request_wait and what calls it. */
TN_API double tn_communicator_waited(const tn_communicator *communicator);

/* Makes progress with all operations under way; cheap when there is none. */
TN_API tn_status tn_communicator_progress(tn_communicator *communicator);

/* ---- Arrays ----------------------------------------------------------------------------------
 *
 * They wait for the work that makes the array, and until the operation is done.  Arrays may be on
 * any device of the context, with any strides; memory that the host cannot address goes through
 * pinned host memory.  They have no derivative.  The context keeps the error: those of
 * tn_communicator_start and tn_request_wait, TN_DEVICE (an array of another context), TN_SHAPE.
 */

/* Returns when every rank has called it.  [since 0.1] */
TN_API tn_status tn_barrier(tn_communicator *communicator);

/* x := the root's x. */
TN_API tn_status tn_broadcast(tn_communicator *communicator, tn_array *x, uint32_t root);

/* x := the sum (TN_REDUCE_SUM), maximum or minimum over the ranks' x, element by element. */
TN_API tn_status tn_all_reduce(tn_communicator *communicator, tn_array *x, uint32_t combiner);

/* The ranks' x, which have one shape: an array (size, ...shape of x). */
TN_API tn_array *tn_all_gather(tn_communicator *communicator, const tn_array *x);

/* This rank's part of tn_all_reduce(x), where axis 0 of x has size * k elements: those from
 * rank * k on, an array (k, ...).  TN_SHAPE: the length is not a multiple of size. */
TN_API tn_array *tn_reduce_scatter(tn_communicator *communicator, const tn_array *x,
				   uint32_t combiner);

/* ---- Data parallel training ------------------------------------------------------------------*/

/* Each rank has the same network on a device of its own, and computes the gradients of its share of
 * a batch; then the gradients are summed over the ranks, and each rank makes the same step.
 *
 *     tn_communicator *ranks;
 *     if (tn_communicator_open(ctx, NULL, &ranks, &error))
 *             return error.status;
 *     tn_data_parallel *parallel = tn_data_parallel_create(net, ranks, NULL);
 *     tn_module_zero_gradients(net);
 *     tn_tape *tape = tn_tape_begin(ctx);
 *     tn_array *loss = tn_cross_entropy(tn_module_forward(net, x), labels, NULL);
 *     tn_tape_backward(tape, loss, NULL); // starts to sum what is complete
 *     tn_tape_end(tape);
 *     if (!tn_data_parallel_finish(parallel)) // now the gradients are those of all ranks
 *             tn_optimizer_step(optimizer);
 *
 * A trainer does all this itself (.parallel of struct tn_trainer_options).
 *
 * The gradients are summed in buckets, ranges of the network's gradients, each as soon as the
 * backward has completed it, while the rest of the backward runs: the communicator makes progress
 * each time a gradient is complete.  Sums are in the order of the ranks, so that every rank has the
 * same bits, which do not depend on timing.
 *
 * All ranks must do the same: the same backwards and the same calls of these functions in the same
 * order.  When one fails, or ends, the others fail too: TN_PEER_LOST or TN_TIMED_OUT.
 * Errors are kept by the context.  All functions: [thread: one per context | since 0.1]. */
typedef struct tn_data_parallel tn_data_parallel;

struct tn_data_parallel_options {
	uint32_t struct_size;
	/* 1: batch norms in training take mean and variance over the samples of all ranks. */
	int sync_batch_norm;
	uint64_t bucket_bytes; /* of gradients; default 4 MiB.  The first bucket has a quarter */
	/* TN_F16 or TN_BF16: gradients are rounded to it to be sent; sums are made in f32 and
	 * rounded once.  0: as they are. */
	tn_dtype wire_dtype;
	/* 1: of optimizers that are made afterwards each rank has the state of its share of the
	 * parameters alone: an n-th of the memory on n ranks.  Their tn_optimizer_step is then a
	 * function of all ranks together, which exchanges the parameters; it is refused while work
	 * is captured (TN_NOT_CAPTURABLE) and after tn_data_parallel_destroy (TN_STATE).  tn_lars
	 * and tn_lamb are refused (TN_UNSUPPORTED).  tn_optimizer_gather_state is for checkpoints.
	 * The same bits as without.  (ZeRO, stage 1: Rajbhandari et al. 2020.) */
	int sharded;
};
static inline struct tn_data_parallel_options tn_data_parallel_defaults(void)
{
	struct tn_data_parallel_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.bucket_bytes = 4194304;
	return options;
}

/* Compares the ranks: the library's version, the backend, the names, shapes and dtypes of
 * parameters and buffers, which of them are trained, their values, and these options.  They must be
 * the same: build the network from the same seed on all ranks, or load the same file.  Both objects
 * are borrowed until tn_data_parallel_destroy.  Owned.
 * NULL: TN_STATE (the module is not built, is not outermost, or has one already), TN_NOT_EQUAL
 * (ranks differ: the text, the same on all, says which and in what), TN_INVALID_ARGUMENT and
 * TN_UNSUPPORTED (options), TN_DEVICE (module and communicator are of different contexts),
 * TN_OUT_OF_MEMORY; errors of the communicator.  What is refused on one rank fails on all. */
TN_API tn_data_parallel *tn_data_parallel_create(tn_module *module, tn_communicator *communicator,
						 const struct tn_data_parallel_options *options);
/* Waits for sums that are under way.  Takes NULL. */
TN_API void tn_data_parallel_destroy(tn_data_parallel *parallel);

/* The factor of this rank's gradients in the sum: of mean losses, this rank's samples over those of
 * all ranks.  It holds until it is changed; at first it is 1 / size.  1: gradients are added as
 * they are.  TN_INVALID_ARGUMENT: not finite or negative; TN_STATE: sums are under way. */
TN_API TN_CHECKED tn_status tn_data_parallel_set_share(tn_data_parallel *parallel, double share);
/* 1: backwards only add to this rank's gradients; 0: the next backward is the last of the step.
 * TN_STATE: sums are under way. */
TN_API TN_CHECKED tn_status tn_data_parallel_hold(tn_data_parallel *parallel, int holds);
/* Sums what is not under way yet, and waits.  Afterwards all ranks have the same gradients; a
 * weight has one if it has one on any rank.  A rank whose share is empty calls it without a
 * backward.  TN_STATE: tn_data_parallel_hold says 1. */
TN_API TN_CHECKED tn_status tn_data_parallel_finish(tn_data_parallel *parallel);

/* Gives all ranks the buffers of rank 0, such as the running statistics of batch norms, which
 * differ where these are not synchronised. */
TN_API TN_CHECKED tn_status tn_data_parallel_broadcast_buffers(tn_data_parallel *parallel);

#ifdef __cplusplus
}
#endif
#endif
