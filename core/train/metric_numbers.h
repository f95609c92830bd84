/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Metrics of numbers.
 */
#ifndef TN_TRAIN_METRIC_NUMBERS_H
#define TN_TRAIN_METRIC_NUMBERS_H

#include "train/metric_sums.h"

extern const struct tn_metric_kind tn_metric_mse, tn_metric_mae, tn_metric_r2;

#endif
