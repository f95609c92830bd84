/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradients of a module as a whole.
 */
#ifndef TN_OPTIM_CLIP_H
#define TN_OPTIM_CLIP_H

#include <tenon/optim.h>

/* Multiplies all gradients of a built module by a number. */
tn_status tn_gradient_scale(tn_module *module, double factor);
/* The joint 2-norm of all gradients of a built module; waits for the device. */
tn_status tn_gradient_norm(const tn_module *module, double *norm);

#endif
