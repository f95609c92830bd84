/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Networks in files.  The metadata of one saved by `tenon train --save` have the model, the
 * preparation of pictures and the names of the classes; of any other the command line tells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "print_error.h"
#include "tool.h"
#include "weights.h"

static int fail(const char *path, const char *key)
{
	print_error("tenon: %s: no metadata '%s': not a network that tenon train saved (tenon "
		    "eval and predict take others with --model)",
		    path, key);
	return EXIT_FAILED;
}

/* An error about what the metadata say; without a key, about the file. */
static int report_of_file(const char *path, const char *key, const struct tn_error_info *error)
{
	struct tn_error_info full = *error;
	if (key)
		snprintf(full.text, sizeof(full.text), "%s: metadata '%s': %.256s", path, key,
			 error->text);
	else
		snprintf(full.text, sizeof(full.text), "%s: %.256s", path, error->text);
	return report_error(&full);
}

/* A terminal obeys what a file says in a class's name, unless it is printable. */
static void make_lines_printable(char *line)
{
	while (line && *line) {
		const size_t length = strcspn(line, "\n");
		const char end = line[length];
		line[length] = '\0';
		tn_text_make_printable(line);
		line[length] = end;
		line += length + (end == '\n');
	}
}

static uint32_t count_lines(const char *text)
{
	uint32_t n = text && *text;
	for (; text && *text; text++)
		n += *text == '\n';
	return n;
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
		return report_of_file(path, "input_format", &error);
	const uint32_t n_names = count_lines(classes);
	if (n_names && n_names != network->format.n_classes) {
		print_error(
			"tenon: %s: metadata 'classes': expected %u names, one a line, found %u",
			path, network->format.n_classes, n_names);
		return EXIT_FAILED;
	}
	*model = strdup(name);
	network->data = strdup(data ? data : "");
	network->classes = strdup(classes ? classes : "");
	make_lines_printable(network->classes);
	return *model && network->data && network->classes ? EXIT_DONE : no_memory("the metadata");
}

static struct tn_model_shape shape_of(const struct tn_input_format *format)
{
	return (struct tn_model_shape){format->channels, format->height, format->width,
				       format->n_classes};
}

/* Weights in other floating types are converted; their names begin with `prefix`.  `key`: that of
 * the metadata that have the model. */
static int make_network(tn_context *context, const char *path, const char *key, const char *model,
			const char *prefix, struct saved_network *network)
{
	const struct tn_model_shape shape = shape_of(&network->format);
	const struct tn_pair rename = {prefix, ""};
	const struct tn_module_load_options options = {.struct_size = sizeof(options),
						       .convert = 1,
						       .n_renames = *prefix != '\0',
						       .renames = &rename};
	network->module = tn_model_create(context, model, &shape);
	if (!network->module && tn_error(context))
		return report_of_file(path, key, tn_error(context));
	if (!tn_module_build(network->module))
		tn_module_load(network->module, path, &options);
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
		code = make_network(context, path, "model", model, "", network);
	free(model);
	if (code != EXIT_DONE)
		saved_network_release(network);
	return code;
}

/* ---- Weights that say nothing of their network -----------------------------------------------*/

/* What a file tells of the network that the command line names. */
struct found_weights {
	char *prefix; /* of the names, owned */
	uint32_t n_classes;
};

/* found->n_classes := the rows of the network's last parameter, one for each class. */
static int count_rows(const tn_safetensors *file, const char *path, const char *model,
		      const tn_module *module, struct found_weights *found)
{
	struct tn_error_info error;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	char *name = NULL;
	size_t i = 0;
	int code = EXIT_FAILED;
	if (tn_module_parameter_at(module, tn_module_parameter_count(module) - 1, &view))
		return code;
	if (asprintf(&name, "%s%s", found->prefix, view.name) < 0)
		return no_memory("the names of tensors");
	if (tn_safetensors_find(file, name, &i, &error) || tn_safetensors_at(file, i, &info))
		print_error(
			"tenon: %s: expected the tensor '%s' of %s, found none: are these weights "
			"of another network, or under other names (tenon convert --rename)?",
			path, name, model);
	else if (info.rank < 1 || info.shape[0] < 1 || info.shape[0] > INT32_MAX)
		print_error("tenon: %s: tensor '%s': expected a row for each class, found none",
			    path, name);
	else
		code = EXIT_DONE;
	found->n_classes = code == EXIT_DONE ? (uint32_t)info.shape[0] : 0;
	free(name);
	return code;
}

static int look_into(const char *path, const char *model, const tn_module *module,
		     struct found_weights *found)
{
	struct tn_error_info error;
	tn_safetensors *file;
	if (tn_safetensors_open(path, &file, &error))
		return report_error(&error);
	found->prefix = weights_prefix(file, module);
	int code = found->prefix ? count_rows(file, path, model, module, found)
				 : no_memory("the names of tensors");
	tn_safetensors_close(file);
	return code;
}

int weights_open(tn_context *context, const char *path, const char *model,
		 const struct tn_input_format *format, const char *classes,
		 struct saved_network *network)
{
	struct found_weights found = {0};
	memset(network, 0, sizeof(*network));
	network->format = *format;
	network->classes = strdup(classes ? classes : "");
	/* Its names, whatever the number of classes. */
	const struct tn_model_shape shape = shape_of(format);
	tn_module *named = tn_model_create(context, model, &shape);
	int code = finish(context);
	if (code == EXIT_DONE)
		code = network->classes ? look_into(path, model, named, &found)
					: no_memory("the names of the classes");
	tn_module_destroy(named);
	network->format.n_classes = found.n_classes;
	if (code == EXIT_DONE)
		code = make_network(context, path, NULL, model, found.prefix, network);
	free(found.prefix);
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

/* ---- Names of classes ------------------------------------------------------------------------*/

char *class_lines(const tn_dataset *dataset)
{
	size_t size = 1;
	uint32_t n = tn_dataset_format(dataset)->n_classes;
	for (uint32_t i = 0; i < n; i++)
		size += strlen(tn_dataset_class_name(dataset, (int32_t)i)) + 1;
	char *lines = calloc(size, 1), *end = lines;
	for (uint32_t i = 0; lines && i < n; i++) {
		end = stpcpy(end, tn_dataset_class_name(dataset, (int32_t)i));
		end = stpcpy(end, i + 1 < n ? "\n" : "");
	}
	return lines;
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
