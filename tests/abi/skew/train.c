/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * LeNet trained on the digits for a few steps, by the whole library on one plugin: the layers above
 * the loader meet a plugin of another version.  Prints the losses and the weights' hash, to the
 * last bit, and how many operations the backend ran itself.
 *
 *	train own|MAJOR.MINOR BACKEND FILE.so
 *
 * The library claims that version, and accepts the plugins that it always accepts.  Linked with
 * --wrap=tn_registry_open, since no option of a context sets a version.  Exit status: 0, 1: it
 * failed, 2: wrong usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "loader/backend.h"
#include "loader/registry.h"
#include "program/hash.h"

enum { BATCH = 8, STEPS = 3 };

static struct tn_abi_version claimed; /* major and minor 0: the library's own */

tn_status __real_tn_registry_open(const struct tn_registry_options *options,
				  struct tn_registry **registry, tn_load_report **report,
				  struct tn_error_info *error);
tn_status __wrap_tn_registry_open(const struct tn_registry_options *options,
				  struct tn_registry **registry, tn_load_report **report,
				  struct tn_error_info *error);

tn_status __wrap_tn_registry_open(const struct tn_registry_options *options,
				  struct tn_registry **registry, tn_load_report **report,
				  struct tn_error_info *error)
{
	/* The built-in backend is part of the library: it has the claimed version too. */
	static struct tn_backend_descriptor reference;
	static const struct tn_backend_descriptor *const built_in[] = {&reference};
	struct tn_registry_options own = *options;
	reference = *options->built_in[0];
	if (claimed.major || claimed.minor) {
		own.host = claimed;
		own.host.oldest_peer = TN_ABI_OLDEST_PLUGIN;
		own.built_in = built_in;
		reference.abi_major = claimed.major;
		reference.abi_minor = claimed.minor;
		reference.oldest_host = 0;
	}
	return __real_tn_registry_open(&own, registry, report, error);
}

/* Ends the program unless the status is TN_OK. */
static void require(tn_status status, const char *what, const char *text)
{
	if (!status)
		return;
	printf("FAILED: %s: %s: %s\n", what, tn_status_name(status), text);
	exit(1);
}

static void require_no_error(tn_context *context, const char *what)
{
	const struct tn_error_info *error = tn_error(context);
	if (error)
		require(error->status, what, error->text);
}

static void train(tn_context *context, tn_module *net, tn_data_loader *loader)
{
	static const int64_t shape[] = {BATCH, 1, 28, 28};
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.05;
	options.momentum = 0.9;
	struct tn_error_info error;
	tn_optimizer *optimizer = tn_sgd(net, &options);
	for (int step = 0; step < STEPS; step++) {
		struct tn_batch batch = {.struct_size = sizeof(batch)};
		double loss = 0;
		require(tn_data_loader_next(loader, &batch, &error), "next", error.text);
		require(tn_scope_begin(context), "scope", "");
		tn_array *x = tn_from_host(context, TN_F32, 4, shape, batch.data[0]);
		tn_array *y = tn_from_host(context, TN_I32, 1, shape, batch.data[1]);
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *mean = tn_cross_entropy(tn_module_forward(net, x), y, NULL);
		(void)tn_tape_backward(tape, mean, NULL);
		tn_tape_end(tape);
		(void)tn_optimizer_step(optimizer);
		require(tn_item(mean, &loss), "the loss", "");
		tn_scope_end(context, NULL);
		require_no_error(context, "a step");
		printf("loss %a\n", loss);
	}
	tn_optimizer_destroy(optimizer);
}

static void print_weights(tn_context *context, tn_module *net)
{
	uint64_t hash[2] = {0, 0};
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
		require(tn_module_parameter_at(net, i, &parameter), "parameter", "");
		size_t size = (size_t)tn_array_size(parameter.value) * sizeof(float);
		char *data = malloc(size + sizeof(hash));
		require(data ? TN_OK : TN_OUT_OF_MEMORY, "weights", "");
		require(tn_to_host(parameter.value, data, size), "to_host", "");
		memcpy(data + size, hash, sizeof(hash));
		tn_hash_bytes(data, size + sizeof(hash), hash);
		free(data);
	}
	require_no_error(context, "the weights");
	printf("weights %016llx%016llx\n", (unsigned long long)hash[0],
	       (unsigned long long)hash[1]);
}

static void print_routes(const tn_context *context)
{
	uint64_t native = 0, composed = 0, host = 0;
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		struct tn_ledger_row row = {.struct_size = sizeof(row)};
		require(tn_ledger_at(context, i, &row), "ledger", "");
		native += row.native;
		composed += row.composed;
		host += row.host;
	}
	printf("native %llu, composed %llu, host %llu\n", (unsigned long long)native,
	       (unsigned long long)composed, (unsigned long long)host);
}

int main(int argc, char **argv)
{
	static const struct tn_model_shape shape = {1, 28, 28, 10};
	struct tn_data_loader_options loading = tn_data_loader_defaults();
	loading.batch_size = BATCH;
	loading.shuffle = 1;
	loading.seed = 3;
	struct tn_error_info error;
	tn_dataset *digits;
	tn_data_loader *loader;
	tn_context *context;
	char selection[64];
	if (argc != 4 || (strcmp(argv[1], "own") &&
			  sscanf(argv[1], "%u.%u", &claimed.major, &claimed.minor) != 2)) {
		fprintf(stderr, "usage: train own|MAJOR.MINOR BACKEND FILE.so\n");
		return 2;
	}
	const char *path = argv[3];
	snprintf(selection, sizeof(selection), "%s!", argv[2]);
	struct tn_context_options options = tn_context_defaults();
	options.backend = selection;
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.seed = 7;
	options.n_threads = 1;
	options.deterministic = 1;
	require(tn_context_open(&options, &context, &error), "context", error.text);
	require(tn_dataset_open("digits", NULL, &digits, &error), "digits", error.text);
	require(tn_data_loader_create(digits, TN_PART_TRAIN, &loading, &loader, &error), "loader",
		error.text);
	tn_module *net = tn_model_create(context, "lenet", &shape);
	require(tn_module_build(net), "build", "");
	tn_module_set_training(net, 1);
	train(context, net, loader);
	print_weights(context, net);
	print_routes(context);
	tn_module_destroy(net);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(digits);
	tn_context_close(context);
	return 0;
}
