/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Networks in several threads: copies for other contexts.
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
 * What belongs to the use of a network is not copied: gradients, hooks, a profile, and what freezing
 * made.  The copy of a module that is not built is not built either.
 *
 * NULL on failure, with the error kept by `context`: TN_UNSUPPORTED, a class of the program has a
 * state and no function that copies it (struct tn_module_class, copy); TN_OUT_OF_MEMORY.
 * [thread: one per context, of both | since 0.14] */
TN_API tn_module *tn_module_copy(tn_context *context, const tn_module *module);

#ifdef __cplusplus
}
#endif
#endif
