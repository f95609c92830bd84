/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The history of a training.
 */
#ifndef TN_TRAIN_HISTORY_H
#define TN_TRAIN_HISTORY_H

#include <tenon/train.h>

struct tn_history {
	size_t n_metrics;
	tn_metric *const *metrics; /* of the trainer */
	size_t n;
	struct tn_trainer_epoch **epochs; /* each with its metrics */
};

/* Appends an epoch, whose metrics are copied.  0: no host memory. */
int tn_history_add(struct tn_history *history, const struct tn_trainer_epoch *epoch);
void tn_history_release(struct tn_history *history);
/* As JSON lines, owned; NULL: no host memory. */
char *tn_history_json(const struct tn_history *history);

#endif
