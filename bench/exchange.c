/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One step's results of a network, for comparison with PyTorch (tests/parity/blocks.py exchange):
 *
 *     bench/exchange NETWORK BATCH WEIGHTS RESULTS
 *
 * reads the weights from a safetensors file and writes another with the logits in evaluation,
 * before and after freezing, logits and loss in training, every gradient, and the buffers
 * afterwards.  Picture element i is noise(1000, i), label n is 3 n mod classes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "networks.h"

enum { MAX_TENSORS = 1000 };

struct results {
	size_t n;
	struct tn_tensor_source tensors[MAX_TENSORS];
	char names[MAX_TENSORS][128];
};

static double noise(uint32_t k, uint32_t i)
{
	uint32_t h = i * 2654435761u + k * 97u;
	h = (h ^ (h >> 15)) * 2246822519u;
	h = (h ^ (h >> 13)) * 3266489917u;
	return (h >> 8) / 8388608.0 - 1.0;
}

/* Keeps an array's elements under a name; 0: it is NULL, or memory ran out. */
static int keep(struct results *results, const char *prefix, const char *name,
		const tn_array *array)
{
	if (!array || results->n == MAX_TENSORS)
		return 0;
	size_t size = (size_t)tn_array_size(array) * (tn_array_dtype(array) == TN_I64 ? 8 : 4);
	struct tn_tensor_source *tensor = &results->tensors[results->n];
	void *data = malloc(size);
	if (!data || tn_to_host(array, data, size)) {
		free(data);
		return 0;
	}
	snprintf(results->names[results->n], sizeof(results->names[0]), "%s%s", prefix, name);
	*tensor = (struct tn_tensor_source){.name = results->names[results->n++],
					    .dtype = tn_array_dtype(array),
					    .rank = (uint32_t)tn_array_rank(array),
					    .shape = tn_array_shape(array),
					    .data = data};
	return 1;
}

static tn_array *pictures(tn_context *context, const struct tn_model_shape *shape, int64_t batch)
{
	int64_t n = batch * shape->channels * shape->height * shape->width;
	float *values = malloc((size_t)n * sizeof(*values));
	for (int64_t i = 0; values && i < n; i++)
		values[i] = (float)noise(1000, (uint32_t)i);
	tn_array *x = values ? tn_from_host(context, TN_F32, 4,
					    (int64_t[]){batch, shape->channels, shape->height,
							shape->width},
					    values)
			     : NULL;
	free(values);
	return x;
}

static tn_array *labels(tn_context *context, const struct tn_model_shape *shape, int64_t batch)
{
	int32_t values[1024];
	for (int64_t i = 0; i < batch; i++)
		values[i] = (int32_t)(3 * i % shape->n_classes);
	return tn_from_host(context, TN_I32, 1, &batch, values);
}

static int train(tn_module *net, tn_context *context, const struct tn_model_shape *shape,
		 const tn_array *x, struct results *results)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
	int done = 1;
	tn_module_set_training(net, 1);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *logits = tn_module_forward(net, x);
	tn_array *targets = labels(context, shape, tn_array_shape(x)[0]);
	tn_array *loss = tn_cross_entropy(logits, targets, NULL);
	tn_status status = loss ? tn_tape_backward(tape, loss, NULL) : TN_INTERNAL;
	tn_tape_end(tape);
	done = !status && keep(results, "logits", "", logits) && keep(results, "loss", "", loss);
	for (size_t i = 0; done && !tn_module_parameter_at(net, i, &view); i++)
		done = keep(results, "gradient of ", view.name, view.gradient);
	for (size_t i = 0; done && !tn_module_buffer_at(net, i, &buffer); i++)
		done = keep(results, "", buffer.name, buffer.value);
	return done;
}

/* The second forward of a frozen network repeats the first one's calls. */
static int freeze(tn_module *net, const tn_array *x, struct results *results)
{
	if (tn_module_freeze(net))
		return 0;
	tn_array_destroy(tn_module_forward(net, x));
	int done = keep(results, "frozen", "", tn_module_forward(net, x));
	tn_module_unfreeze(net);
	return done;
}

static int run(tn_context *context, tn_module *net, const struct network *network, int64_t batch,
	       char **files)
{
	static struct results results;
	struct tn_error_info error;
	if (tn_module_build(net) || tn_module_load(net, files[0], NULL))
		return 0;
	tn_array *x = pictures(context, &network->shape, batch);
	int done = keep(&results, "evaluated", "", tn_module_forward(net, x)) &&
		   freeze(net, x, &results) && train(net, context, &network->shape, x, &results);
	if (done && tn_safetensors_write(files[1], results.tensors, results.n, NULL, 0, &error)) {
		fprintf(stderr, "%s\n", error.text);
		done = 0;
	}
	for (size_t i = 0; i < results.n; i++)
		free((void *)(uintptr_t)results.tensors[i].data);
	return done;
}

int main(int argc, char **argv)
{
	const struct network network = network_find(argc == 5 ? argv[1] : "");
	int64_t batch = argc == 5 ? atoll(argv[2]) : 0;
	struct tn_error_info error;
	tn_context *context;
	if (!network.name || batch < 1 || batch > 1024) {
		fprintf(stderr, "usage: bench/exchange NETWORK BATCH WEIGHTS RESULTS\n");
		return 2;
	}
	if (tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	tn_module *net = network_create(context, &network);
	int done = net && run(context, net, &network, batch, argv + 3);
	if (!done && tn_error(context))
		fprintf(stderr, "%s\n", tn_error_text(context));
	tn_module_destroy(net);
	tn_context_close(context);
	return !done;
}
