/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses as objects, and the loss of one batch.
 */
#ifndef TN_TRAIN_LOSS_OBJECT_H
#define TN_TRAIN_LOSS_OBJECT_H

#include "array/runtime.h"
#include "train/loss_kinds.h"

struct tn_loss {
	tn_context *context;
	struct tn_runtime *runtime;
	const struct tn_loss_kind *kind; /* NULL: of the program's own class */
	struct tn_loss_options options;  /* of a kind; its arrays are held */
	struct tn_loss_class class_; /* the name is the loss's own copy; of a kind, nothing else */
};

/* The loss of a batch, by recorded operations; 0-d arrays. */
struct tn_loss_value {
	tn_array *loss;   /* the mean over the batch; with a weight, the sum */
	tn_array *weight; /* NULL: samples weigh alike, the batch by their number */
};

/* Of a batch of n samples.  Errors are kept. */
tn_status tn_loss_of_batch(const tn_loss *loss, const tn_array *output, const tn_array *target,
			   uint32_t n, struct tn_loss_value *value);
/* From the sum and the weight, which may be NULL, of the program's function of that name. */
tn_status tn_loss_of_own(struct tn_runtime *runtime, const char *name, tn_array *sum,
			 tn_array *weight, uint32_t n, struct tn_loss_value *value);

/* What a sample weighs about: the mean of the class weights where they divide the mean, else 1.
 * Divided by it, a sum of losses over their number is no further from their mean than the labels
 * are from an even mix, which is within the range of f16.  Errors are kept. */
tn_status tn_loss_unit(const tn_loss *loss, double *unit);

/* Do captured steps do what uncaptured ones would? */
int tn_loss_is_repeatable(const tn_loss *loss);
/* The kind's number; UINT32_MAX: of the program's own class. */
uint32_t tn_loss_number(const tn_loss *loss);
/* Of the name, all options that are numbers, and the elements of arrays. */
tn_status tn_loss_hash(const tn_loss *loss, uint64_t *hash);

#endif
