/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the prefix of a file's names, loads what fits a network, and freezes parameters by
 * pattern.
 */
#include "weights.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print_error.h"
#include "terminal.h"

/* ---- Prefixes --------------------------------------------------------------------------------*/

static const char *name_at(const tn_safetensors *file, size_t i)
{
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	return tn_safetensors_at(file, i, &info) ? "" : info.name;
}

/* Those of a checkpoint that begin with a dot are not the network's. */
static int is_of_network(const char *name)
{
	return *name != '.';
}

/* The first `*length` bytes of the name that is returned begin all names, to a dot. */
static const char *shared_prefix(const tn_safetensors *file, size_t *length)
{
	const char *first = "";
	size_t shared = 0;
	for (size_t i = 0; i < tn_safetensors_count(file); i++) {
		const char *name = name_at(file, i);
		if (!is_of_network(name))
			continue;
		if (!*first)
			shared = strlen(first = name);
		for (size_t k = 0; k < shared; k++)
			shared = name[k] == first[k] ? shared : k;
	}
	while (shared && first[shared - 1] != '.')
		shared--;
	*length = shared;
	return first;
}

static int has_tensor(const tn_module *module, const char *name)
{
	struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
	struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
	if (!tn_module_parameter(module, name, &parameter))
		return 1;
	for (size_t i = 0; i < tn_module_buffer_count(module); i++) {
		if (!tn_module_buffer_at(module, i, &buffer) && !strcmp(buffer.name, name))
			return 1;
	}
	return 0;
}

/* Whether the network has a tensor of the file, without the first `length` bytes of its name. */
static int fits(const tn_safetensors *file, const tn_module *module, size_t length)
{
	for (size_t i = 0; i < tn_safetensors_count(file); i++) {
		const char *name = name_at(file, i);
		if (is_of_network(name) && has_tensor(module, name + length))
			return 1;
	}
	return 0;
}

char *weights_prefix(const tn_safetensors *file, const tn_module *module)
{
	size_t shared, length = 0;
	const char *name = shared_prefix(file, &shared);
	while (length < shared && !fits(file, module, length))
		length += strcspn(name + length, ".") + 1;
	return strndup(name, fits(file, module, length) ? length : 0);
}

/* ---- Weights to begin with -------------------------------------------------------------------*/

struct beginning {
	const char *path;
	int quiet;
	size_t n_taken;
};

/* Tensors of another shape, as of the last layer for other classes, keep their values. */
static void on_problem(void *user, uint32_t problem, const char *name, const char *text)
{
	struct beginning *b = user;
	if (problem != TN_LOAD_MISMATCH)
		return;
	b->n_taken--;
	if (!b->quiet)
		say("%s: %s keeps its initial values: %s\n", b->path, name, text);
}

/* The prefix of the names of the file's tensors, owned, and their number; NULL after a message. */
static char *look_into(const char *path, const tn_module *module, size_t *n)
{
	struct tn_error_info error;
	tn_safetensors *file;
	if (tn_safetensors_open(path, &file, &error)) {
		report_error(&error);
		return NULL;
	}
	char *prefix = weights_prefix(file, module);
	*n = 0;
	for (size_t i = 0; i < tn_safetensors_count(file); i++)
		*n += (size_t)is_of_network(name_at(file, i));
	tn_safetensors_close(file);
	if (!prefix)
		no_memory("the names of tensors");
	return prefix;
}

int weights_begin(tn_context *context, tn_module *module, const char *path, int quiet)
{
	struct beginning b = {.path = path, .quiet = quiet};
	size_t n;
	char *prefix = look_into(path, module, &n);
	if (!prefix)
		return EXIT_FAILED;
	const struct tn_pair rename = {prefix, ""};
	const struct tn_module_load_options options = {.struct_size = sizeof(options),
						       .allow_mismatch = 1,
						       .convert = 1,
						       .n_renames = *prefix != '\0',
						       .renames = &rename,
						       .report = on_problem,
						       .user = &b};
	b.n_taken = n;
	if (*prefix && !quiet)
		say("%s: names without their prefix '%s'\n", path, prefix);
	int code = tn_module_load(module, path, &options) ? finish(context) : EXIT_DONE;
	if (code == EXIT_DONE && !b.n_taken) {
		print_error("tenon train: --init %s: none of its %zu tensors fits", path, n);
		code = EXIT_FAILED;
	}
	if (code == EXIT_DONE && !quiet)
		say("%s: %zu of %zu tensors taken\n", path, b.n_taken, n);
	free(prefix);
	return code;
}

/* ---- Parameters that stay --------------------------------------------------------------------*/

int weights_freeze(tn_module *module, const char *model, const char *pattern, int quiet)
{
	const size_t n = tn_module_parameter_count(module);
	size_t n_frozen = 0;
	if (!pattern)
		return EXIT_DONE;
	for (size_t i = 0; i < n; i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		if (tn_module_parameter_at(module, i, &view) || fnmatch(pattern, view.name, 0))
			continue;
		if (!tn_module_set_trainable(module, view.name, 0))
			n_frozen++;
	}
	if (!n_frozen || n_frozen == n) {
		print_error("tenon train: --freeze: '%s' matches %s parameter of %s", pattern,
			    n_frozen ? "every" : "no", model);
		return EXIT_FAILED;
	}
	if (!quiet)
		say("%s: %zu of %zu parameters are not trained\n", pattern, n_frozen, n);
	return EXIT_DONE;
}
