/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a training minimises: the loss of a batch.
 */
#ifndef TN_TRAIN_OBJECTIVE_H
#define TN_TRAIN_OBJECTIVE_H

#include <tenon/train.h>

#include "train/loss_object.h"

struct tn_objective {
	tn_module *module;
	tn_context *context;
	struct tn_runtime *runtime;
	tn_dtype dtype;      /* of the network */
	const tn_loss *loss; /* NULL: step_function */
	tn_loss *standard;   /* owned: the loss without one in the options; NULL: none */
	double unit;         /* tn_loss_unit; 1 of a step_function */
	tn_step_function step_function;
	void *user;
};

/* Of a built module, with the options' loss; keeps the error. */
tn_status tn_objective_take(struct tn_objective *objective, tn_module *module,
			    const struct tn_trainer_options *options);
void tn_objective_release(struct tn_objective *objective); /* takes a zeroed struct */
/* Forward and loss of a batch of n samples; *output may become NULL when there is none to be
 * compared with the target.  Errors are kept. */
tn_status tn_objective_loss(const struct tn_objective *objective, uint32_t n_fields,
			    tn_array *const *fields, uint32_t n, struct tn_loss_value *value,
			    tn_array **output, tn_array **target);

#endif
