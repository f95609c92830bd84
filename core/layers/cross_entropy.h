/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cross-entropy by rows, and its gradient.  Nothing is recorded; errors are kept.
 */
#ifndef TN_LAYERS_CROSS_ENTROPY_H
#define TN_LAYERS_CROSS_ENTROPY_H

#include <tenon/array.h>

#include "device/checks.h"

/* No label is ignored: none has this value. */
#define TN_NO_LABEL INT64_MIN

/* The checks of labels, one for each operation that takes them. */
enum { TN_LABELS_OF_CROSS_ENTROPY, TN_LABELS_OF_NLL_LOSS, TN_LABELS_OF_MULTI_MARGIN_LOSS };
extern const struct tn_check tn_label_checks[];

/* loss, maximum and log_sum have one element a row; the gradient needs the latter two apart, as
 * tn_cross_entropy_args of <tenon/backend.h> defines them.  Checks the labels; the backward takes
 * the same ones. */
tn_status tn_cross_entropy_forward(const tn_array *x, const tn_array *labels, int64_t ignore_label,
				   tn_array **loss, tn_array **maximum, tn_array **log_sum);
tn_array *tn_cross_entropy_backward(const tn_array *x, const tn_array *labels,
				    const tn_array *maximum, const tn_array *log_sum,
				    const tn_array *dloss, int64_t ignore_label);

#endif
