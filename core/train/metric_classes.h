/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Metrics of classes.
 */
#ifndef TN_TRAIN_METRIC_CLASSES_H
#define TN_TRAIN_METRIC_CLASSES_H

#include "train/metric_sums.h"

extern const struct tn_metric_kind tn_metric_accuracy, tn_metric_top_k, tn_metric_f1,
	tn_metric_confusion;

#endif
