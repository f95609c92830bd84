/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches with fewer samples than a layer of the network needs to be trained, found before the
 * first step.
 */
#ifndef TN_TRAIN_SHORT_BATCH_H
#define TN_TRAIN_SHORT_BATCH_H

#include <tenon/train.h>

#include "nn/module.h"

/* Of a built module: tn_short_batch_find without its checks. */
void tn_short_batch_look(tn_module *module, const tn_data_loader *loader,
			 struct tn_short_batch *found);
/* TN_SHAPE, kept: there is one. */
tn_status tn_short_batch_refuse(struct tn_runtime *runtime, const tn_data_loader *loader,
				const struct tn_short_batch *found, const char *operation);

/* TN_INVALID_ARGUMENT, kept: an epoch of the loader has no batch. */
tn_status tn_batches_check(struct tn_runtime *runtime, const tn_data_loader *loader,
			   const char *operation);

#endif
