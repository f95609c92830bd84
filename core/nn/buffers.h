/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Buffers of a tree, made and freed.
 */
#ifndef TN_NN_BUFFERS_H
#define TN_NN_BUFFERS_H

#include "nn/module.h"

/* Makes the arrays of a listing, or frees them. */
tn_status tn_buffers_make(tn_module *module);
void tn_buffers_unmake(tn_module *module);
void tn_buffers_free(tn_module *module); /* the module's own */

/* Converts the values of a built tree to the dtypes that they have in a network of `dtype`, all or
 * none.  In a scope of the caller; errors are kept. */
tn_status tn_buffers_convert(tn_module *module, tn_dtype dtype);

#endif
