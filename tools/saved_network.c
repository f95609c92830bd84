/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Networks saved by `tenon train --save`: their metadata has the model, the preparation of pictures
 * and the names of the classes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static int fail(const char *path, const char *key)
{
	fprintf(stderr, "tenon: %s: no metadata '%s': not a network that tenon train saved\n", path,
		key);
	return EXIT_FAILED;
}

/* The model's name must outlive the file that it is read from. */
static int read_metadata(const tn_safetensors *file, const char *path,
			 struct saved_network *network, char **model)
{
	struct tn_error_info error;
	const char *name = tn_safetensors_metadata(file, "model");
	const char *format = tn_safetensors_metadata(file, "input_format");
	const char *data = tn_safetensors_metadata(file, "data");
	const char *classes = tn_safetensors_metadata(file, "classes");
	if (!name)
		return fail(path, "model");
	if (!format)
		return fail(path, "input_format");
	network->format.struct_size = sizeof(network->format);
	if (tn_input_format_parse(format, &network->format, &error))
		return report_error(&error);
	*model = strdup(name);
	network->data = strdup(data ? data : "");
	network->classes = strdup(classes ? classes : "");
	return *model && network->data && network->classes ? EXIT_DONE : EXIT_FAILED;
}

static int make_network(tn_context *context, const char *path, const char *model,
			struct saved_network *network)
{
	const struct tn_model_shape shape = {network->format.channels, network->format.height,
					     network->format.width, network->format.n_classes};
	network->module = tn_model_create(context, model, &shape);
	if (network->module && !tn_module_build(network->module))
		tn_module_load(network->module, path, NULL);
	return finish(context);
}

int saved_network_open(tn_context *context, const char *path, struct saved_network *network)
{
	struct tn_error_info error;
	tn_safetensors *file = NULL;
	char *model = NULL;
	memset(network, 0, sizeof(*network));
	if (tn_safetensors_open(path, &file, &error))
		return report_error(&error);
	int code = read_metadata(file, path, network, &model);
	tn_safetensors_close(file);
	if (code == EXIT_DONE)
		code = make_network(context, path, model, network);
	free(model);
	if (code != EXIT_DONE)
		saved_network_release(network);
	return code;
}

void saved_network_release(struct saved_network *network)
{
	tn_module_destroy(network->module);
	free(network->data);
	free(network->classes);
	memset(network, 0, sizeof(*network));
}

const char *class_name(const char *classes, int64_t label, char *buffer, size_t size)
{
	for (int64_t i = 0; classes && *classes; i++) {
		size_t length = strcspn(classes, "\n");
		if (i == label) {
			snprintf(buffer, size, "%.*s", (int)length, classes);
			return buffer;
		}
		classes += length + (classes[length] == '\n');
	}
	snprintf(buffer, size, "%lld", (long long)label);
	return buffer;
}
