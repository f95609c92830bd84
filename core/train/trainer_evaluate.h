/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Evaluation over a loader's part.
 */
#ifndef TN_TRAIN_TRAINER_EVALUATE_H
#define TN_TRAIN_TRAINER_EVALUATE_H

#include "train/batches.h"
#include "train/objective.h"
#include "train/sums.h"

/* Values of the loss and of metrics, whose own passes this uses; `numbers` receives the metrics.
 * The loader's position and the network's mode stay as they are. */
tn_status tn_evaluate_loader(const struct tn_objective *objective, tn_data_loader *loader,
			     size_t n_metrics, tn_metric *const *metrics, double *numbers,
			     struct tn_trainer_values *values);

#endif
