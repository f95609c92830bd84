/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kinds of losses that tn_loss_create knows: one row each.
 */
#ifndef TN_TRAIN_LOSS_KINDS_H
#define TN_TRAIN_LOSS_KINDS_H

#include <tenon/loss.h>

#include "device/checks.h"

/* Members of tn_loss_options that not every kind uses. */
enum {
	TN_USES_WEIGHT = 1 << 0,
	TN_USES_POS_WEIGHT = 1 << 1,
	TN_USES_LABEL_SMOOTHING = 1 << 2,
	TN_USES_IGNORE_LABEL = 1 << 3,
	TN_USES_BETA = 1 << 4,
	TN_USES_DELTA = 1 << 5,
	TN_USES_LOG_TARGET = 1 << 6,
	TN_USES_P = 1 << 7,
	TN_USES_MARGIN = 1 << 8,
};

/* What a mean is taken over, unless labels have weights. */
enum tn_loss_unit { TN_LOSS_OF_ELEMENTS, TN_LOSS_OF_ROWS, TN_LOSS_OF_FIRST_AXIS };

struct tn_loss_kind {
	const char *name;
	uint32_t uses; /* TN_USES_... */
	enum tn_loss_unit unit;
	int has_labels; /* a target of one axis less than the output is labels */
	/* The check of labels whose weights divide the sum; NULL: the unit always does. */
	const struct tn_check *weighs;
	tn_array *(*compute)(const struct tn_loss_options *options, const tn_array *output,
			     const tn_array *target, uint32_t reduction);
};

/* NULL: there is no such kind. */
const struct tn_loss_kind *tn_loss_kind_at(uint32_t kind);

#endif
