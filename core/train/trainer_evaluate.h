/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Evaluation over a loader's part.
 */
#ifndef TN_TRAIN_TRAINER_EVALUATE_H
#define TN_TRAIN_TRAINER_EVALUATE_H

#include "distributed/data_parallel.h"
#include "train/batches.h"
#include "train/objective.h"
#include "train/sums.h"

/* Values of the loss and of metrics, whose own passes this uses; `numbers` receives the metrics.
 * The loader's position and the network's mode stay as they are.  With `parallel`, which may be
 * NULL, each rank computes its share, and all get the values of the whole. */
tn_status tn_evaluate_loader(const struct tn_objective *objective, tn_data_parallel *parallel,
			     tn_data_loader *loader, size_t n_metrics, tn_metric *const *metrics,
			     double *numbers, struct tn_trainer_values *values);

#endif
