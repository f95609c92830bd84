/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a training minimises: the loss of a batch.
 */
#ifndef TN_TRAIN_OBJECTIVE_H
#define TN_TRAIN_OBJECTIVE_H

#include <tenon/train.h>

#include "array/runtime.h"

struct tn_objective {
	tn_module *module;
	tn_context *context;
	struct tn_runtime *runtime;
	tn_dtype dtype; /* of the network */
	uint32_t loss;
	struct tn_cross_entropy_options cross_entropy;
	struct tn_nll_loss_options nll;
	struct tn_binary_cross_entropy_options binary_cross_entropy;
	double beta;
	int log_target;
	tn_loss_function loss_function;
	tn_step_function step_function;
	void *user;
};

/* Of a built module, with the options' loss; keeps the error. */
tn_status tn_objective_take(struct tn_objective *objective, tn_module *module,
			    const struct tn_trainer_options *options);
/* Forward and loss; *output may become NULL when there is none to be compared with the target.
 * NULL: the error is kept. */
tn_array *tn_objective_loss(const struct tn_objective *objective, uint32_t n_fields,
			    tn_array *const *fields, tn_array **output, tn_array **target);

#endif
