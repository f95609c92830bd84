/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sets the initial values of parameters by patterns of their names.
 */
#include "models/initial.h"

#include <fnmatch.h>
#include <math.h>

#include "nn/module.h"
#include "nn/tree.h"

static void set(struct tn_weight *weight, const struct tn_initial *rule)
{
	const double rows = (double)weight->shape[0];
	const double fan_in = (double)weight->size / rows;
	weight->bound = weight->constant = weight->deviation = 0;
	switch (rule->kind) {
	case TN_INITIAL_ZERO:
		break;
	case TN_INITIAL_NORMAL:
		weight->deviation = rule->deviation;
		break;
	case TN_INITIAL_HE_IN:
		weight->deviation = sqrt(2 / fan_in);
		break;
	case TN_INITIAL_HE_OUT:
		weight->deviation = sqrt(2 * (double)weight->shape[1] / (double)weight->size);
		break;
	case TN_INITIAL_HE_UNIFORM:
		weight->bound = sqrt(6 / fan_in);
		break;
	case TN_INITIAL_UNIFORM_ROWS:
		weight->bound = 1 / sqrt(rows);
		break;
	}
}

void tn_model_initial(tn_module *net, const struct tn_initial *rules, tn_status *status)
{
	if (!*status)
		*status = tn_module_list(net);
	for (const struct tn_initial *rule = rules; rule->pattern && !*status; rule++) {
		for (size_t k = 0; k < net->n_listing; k++) {
			struct tn_weight *weight = net->listing[k].weight;
			if (weight->rank == rule->rank &&
			    !fnmatch(rule->pattern, net->listing[k].name, 0))
				set(weight, rule);
		}
	}
}
