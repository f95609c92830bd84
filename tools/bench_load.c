/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a training has to do, counted from the layers of its network.
 */
#include <string.h>

#include "bench_parts.h"

/* Per picture, and of all parameters. */
struct counts {
	double multiply_adds, of_first; /* of a forward, and of its first layer that has some */
	double output_bytes;            /* results of layers with parameters */
	double parameter_bytes;
};

static void count_row(const struct tn_summary_row *row, int is_leaf, struct counts *counts)
{
	if (!is_leaf)
		return;
	counts->multiply_adds += (double)row->multiply_adds;
	if (counts->of_first <= 0)
		counts->of_first = (double)row->multiply_adds;
	if (row->parameters)
		counts->output_bytes += (double)row->output_bytes;
}

static int count_layers(tn_module *net, const struct tn_model_shape *shape, struct counts *counts)
{
	const int64_t lengths[] = {1, shape->channels, shape->height, shape->width};
	struct tn_summary_options options = tn_summary_defaults();
	options.rank = 4;
	options.shape = lengths;
	struct tn_summary_row row = {.struct_size = sizeof(row)},
			      next = {.struct_size = sizeof(next)};
	tn_summary *summary = tn_summary_create(net, &options);
	const size_t n = tn_summary_count(summary);
	for (size_t i = 0; i < n; i++) {
		if (tn_summary_at(summary, i, &row))
			break;
		const int is_last = i + 1 == n || tn_summary_at(summary, i + 1, &next);
		count_row(&row, is_last || next.depth <= row.depth, counts);
		if (i == 0)
			counts->parameter_bytes = (double)row.parameter_bytes;
	}
	tn_summary_destroy(summary);
	return n > 0;
}

/* A backward computes the gradients of the inputs and those of the weights, each as much work as
 * the forward; that of the inputs of the first layer is not requested.
 *
 * What must be moved, if a layer takes the activation, pool or norm after it along: the input is
 * read by the forward and for the gradient of the weights; a result is written, read by the next
 * layer and read again in the backward, its gradient is written and read; a parameter is read by
 * forward and backward, its gradient is written and read, and the parameter updated. */
static void fill(struct bench_load *load, const struct counts *counts,
		 const struct tn_model_shape *shape)
{
	const double input =
		4.0 * (double)shape->channels * (double)shape->height * (double)shape->width;
	load->operations = 2 * (3 * counts->multiply_adds - counts->of_first) * load->images;
	load->bytes = (2 * input + 5 * counts->output_bytes) * load->images +
		      6 * counts->parameter_bytes * (double)load->steps;
}

int bench_load_of(const char *model, const struct tn_model_shape *shape, uint64_t batch,
		  uint64_t images, uint64_t available, struct bench_load *load)
{
	const struct common_options common = {.backend = "reference!"};
	struct counts counts = {0};
	int code;
	tn_context *context = open_context(&common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (!context)
		return code;
	memset(load, 0, sizeof(*load));
	load->is_part = images > 0 && images < available;
	if (load->is_part)
		load->steps = images < batch ? 1 : images / batch;
	else
		load->steps = (available + batch - 1) / batch;
	load->images = load->is_part && load->steps * batch < available
			       ? (double)(load->steps * batch)
			       : (double)available;
	tn_module *net = tn_model_create(context, model, shape);
	if (net && !tn_module_build(net) && count_layers(net, shape, &counts))
		fill(load, &counts, shape);
	code = finish(context);
	tn_module_destroy(net);
	tn_context_close(context);
	return code;
}
