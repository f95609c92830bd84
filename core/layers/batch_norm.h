/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch norm for callers inside the library.
 */
#ifndef TN_LAYERS_BATCH_NORM_H
#define TN_LAYERS_BATCH_NORM_H

#include "layers/sync_batch_norm.h"

/* tn_batch_norm; with `ranks`, unless it is NULL, in training over all ranks.  `ranks` is borrowed
 * until the tape ends. */
tn_array *tn_batch_norm_of_ranks(const tn_array *x, const tn_array *w, const tn_array *b,
				 const struct tn_batch_norm_options *options,
				 const struct tn_norm_ranks *ranks);

#endif
