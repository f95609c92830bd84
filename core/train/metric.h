/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Metrics as objects, and passes of them: what one pass over the data sums up.
 */
#ifndef TN_TRAIN_METRIC_H
#define TN_TRAIN_METRIC_H

#include "train/metric_sums.h"

struct tn_metric {
	tn_context *context;
	struct tn_runtime *runtime;
	struct tn_metric_class class_;     /* the name is the metric's own copy */
	const struct tn_metric_kind *kind; /* NULL: of the program's own class */
	struct tn_metric_options options;  /* with the defaults */
	struct tn_metric_form form;
	void *pass;      /* of tn_metric_begin; NULL: none */
	int has_samples; /* of that pass */
};

/* *pass is the state of a new pass. */
tn_status tn_metric_pass_begin(tn_metric *metric, void **pass);
tn_status tn_metric_pass_add(tn_metric *metric, void *pass, const tn_array *output,
			     const tn_array *target);
tn_status tn_metric_pass_value(tn_metric *metric, void *pass, double *value);
size_t tn_metric_pass_arrays(tn_metric *metric, void *pass, tn_array **arrays, size_t room);
/* Makes the pass that of the samples of all ranks.  The class is_sum. */
tn_status tn_metric_pass_join(tn_metric *metric, void *pass, tn_communicator *communicator);
void tn_metric_pass_end(tn_metric *metric, void *pass); /* NULL as pass: nothing */

/* Of the name, the direction and all options. */
void tn_metric_hash(const tn_metric *metric, uint64_t *hash);

#endif
