/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Evaluates the test part of a data set with a trainer that trains nothing.
 */
#include "test_part.h"

#include "tool.h"

enum { BATCH = 256 }; /* of each rank */

tn_data_loader *open_part(tn_context *context, const struct train_ranks *ranks,
			  const tn_dataset *dataset, int part)
{
	struct tn_error_info error;
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.context = context;
	options.rank = ranks ? ranks->rank : 0;
	options.n_ranks = ranks ? ranks->size : 1;
	options.batch_size = BATCH * options.n_ranks;
	options.uneven = 1;
	if (tn_data_loader_create(dataset, part, &options, &loader, &error))
		report_error(&error);
	return loader;
}

static int evaluate(tn_trainer *trainer, tn_data_loader *loader, struct test_result *result)
{
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	if (!trainer || !loader || tn_trainer_evaluate(trainer, loader, &values))
		return 0;
	*result = (struct test_result){values.loss, values.metrics[0], values.samples,
				       values.seconds};
	return 1;
}

int test_part(tn_context *context, const struct train_ranks *ranks, tn_module *module,
	      const tn_dataset *dataset, struct test_result *result, uint64_t *confusion)
{
	const size_t n = tn_dataset_class_count(dataset);
	struct tn_metric_options matrix = tn_metric_defaults();
	matrix.kind = TN_METRIC_CONFUSION;
	tn_metric *metrics[] = {tn_metric_create(context, NULL),
				tn_metric_create(context, &matrix)};
	struct tn_trainer_options options = tn_trainer_defaults();
	options.n_metrics = confusion ? 2 : 1;
	options.metrics = metrics;
	options.parallel = ranks ? ranks->parallel : NULL;
	tn_trainer *trainer = tn_trainer_create(module, NULL, &options);
	tn_data_loader *loader = open_part(context, ranks, dataset, TN_PART_TEST);
	const int done = evaluate(trainer, loader, result) &&
			 (!confusion || !tn_metric_counts(metrics[1], confusion, n * n));
	tn_data_loader_destroy(loader);
	tn_trainer_destroy(trainer);
	tn_metric_destroy(metrics[0]);
	tn_metric_destroy(metrics[1]);
	return done;
}
