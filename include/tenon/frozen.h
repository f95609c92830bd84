/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Networks in several threads: one frozen network that each thread runs in a context of its own,
 * and copies for other contexts.
 *
 *     tn_frozen *served = tn_frozen_create(net);            // net is frozen, and may end then
 *     tn_status status = tn_frozen_run(served, x, y, NULL); // in a thread: x and y are its own
 *
 * Memory has the weights, and what freezing makes of them, once for all threads.
 */
#ifndef TENON_FROZEN_H
#define TENON_FROZEN_H

#include <tenon/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Copies ----------------------------------------------------------------------------------*/

/* A network like `module`, which may be of another context: the same classes, options, names, modes
 * and dtype, with copies of the values of parameters and buffers, on the context's current device.
 * Parameters that modules share are shared in the copy; a member of a network becomes a network.
 * What belongs to the use of a network is not copied: gradients, hooks, a profile, and what
 * freezing made.  The copy of a module that is not built is not built either.
 *
 * NULL on failure, with the error kept by `context`: TN_UNSUPPORTED, a class of the program has a
 * state and no function that copies it (struct tn_module_class, copy); TN_OUT_OF_MEMORY.
 * [thread: one per context, of both | since 0.1] */
TN_API tn_module *tn_module_copy(tn_context *context, const tn_module *module);

/* ---- One network, many threads ---------------------------------------------------------------*/

typedef struct tn_frozen tn_frozen;

/* A frozen network (tn_module_freeze) for all contexts of the process that have its device.  The
 * values of the module are constant from now on (tn_share), also where a member or a view has them;
 * nothing else of it is used: the module may be destroyed, and its context closed.  Contexts that
 * are opened alike (options, variables, log, number of threads) share any device, others only one
 * of host memory that takes any address; the current device of a context may be another.
 *
 * NULL on failure, with the error kept by the module's context: TN_STATE, not frozen or in training
 * mode; TN_UNSUPPORTED, a class of the program has a state and no function that copies it (struct
 * tn_module_class, copy); the errors of tn_share; TN_NOT_CAPTURABLE; TN_OUT_OF_MEMORY.
 * Owned (tn_frozen_destroy).  [thread: one per context, of the module | since 0.1] */
TN_API tn_frozen *tn_frozen_create(tn_module *module);

struct tn_frozen_run_options {
	uint32_t struct_size;
	uint32_t n_threads; /* of the library's, at most, for the run; 0: all of the context */
	/* NULL, or a number that any thread may change while the run is going on, as an atomic
	 * object (_Atomic int, or __atomic_store_n): not 0 ends the run before its next call. */
	const int *cancel;
};
static inline struct tn_frozen_run_options tn_frozen_run_defaults(void)
{
	struct tn_frozen_run_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* y := network(x), without a copy of x or, usually, of y; x and y are arrays of the calling
 * thread's context, on the network's device.  y has the shape and dtype of the result, which has
 * the same bits in every thread, whatever n_threads is.  The context's first run makes its view of
 * the network, and the first for a shape of x records its calls; later ones take no lock, except
 * in turns for a device that is not TN_DEVICE_CONCURRENT_STREAMS.  The work is of the current
 * stream.
 *
 * TN_CANCELLED: `cancel` ended the run, and the context keeps no error.  It keeps all others:
 * TN_SHAPE, TN_DTYPE, x or y; TN_DEVICE, they are of two devices or contexts; TN_STATE, x requires
 * a gradient, or y is constant; the errors of tn_shared_array; TN_FORKED.  y is then undefined.
 * [thread: one per context; of one network any number at once | since 0.1] */
TN_API tn_status tn_frozen_run(tn_frozen *frozen, const tn_array *x, tn_array *y,
			       const struct tn_frozen_run_options *options);
/* The same with a new y.  NULL on failure. */
TN_API tn_array *tn_frozen_forward(tn_frozen *frozen, const tn_array *x);

/* No run begins from now on; runs in other threads go on to their end.  A context frees its view of
 * the network when it runs another one or is closed, and the last of them the values.  Takes NULL.
 * [thread: any | since 0.1] */
TN_API void tn_frozen_destroy(tn_frozen *frozen);

#ifdef __cplusplus
}
#endif
#endif
