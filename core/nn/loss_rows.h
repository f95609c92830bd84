/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rows with labels: their shapes, factors and reductions.  All arrays that are made are in the
 * innermost scope; errors are kept.
 */
#ifndef TN_NN_LOSS_ROWS_H
#define TN_NN_LOSS_ROWS_H

#include "array/array.h"
#include "device/checks.h"

struct tn_loss_rows {
	const struct tn_check *check; /* of the labels; with the name of the operation */
	const tn_array *input;        /* (rows, C) */
	const tn_array *labels;       /* (rows) */
	int64_t ignored;              /* TN_NO_LABEL: none */
	tn_dtype dtype;               /* of the losses: f64, else f32 */
	/* (rows): the labels, but -1 for ignored ones, and -2 for those out of range. */
	tn_array *known;
	tn_array *factors; /* (rows), of the losses' dtype: each label's weight, 0 if ignored */
};

/* Fills all but known and factors.  TN_SHAPE, TN_DTYPE. */
tn_status tn_loss_rows_of(struct tn_loss_rows *rows, const struct tn_check *check,
			  const tn_array *input, const tn_array *labels, int64_t ignored);
/* TN_INVALID_ARGUMENT: a label is neither ignored nor in range. */
tn_status tn_loss_rows_check(const struct tn_loss_rows *rows);
/* Fills the others.  weight: (C), or NULL for 1. */
tn_status tn_loss_rows_weigh(struct tn_loss_rows *rows, const tn_array *weight);
/* (rows): input[label], in the losses' dtype; any element of the row, without a gradient, where
 * that is not a class. */
tn_array *tn_loss_rows_pick(const struct tn_loss_rows *rows);
/* Losses (rows) in the shape of `labels`, their sum, or the sum divided by that of the factors. */
tn_array *tn_loss_rows_reduce(const struct tn_loss_rows *rows, const tn_array *losses,
			      const tn_array *labels, uint32_t reduction);

#endif
