/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include <getopt.h>
#include <stdio.h>

#include "tool.h"

/* Grey pictures of 28 x 28 pixels and ten classes. */
static const struct tn_model_shape shape = {1, 28, 28, 10};

static int64_t size_of(tn_context *context, const char *name)
{
	tn_module *module = tn_model_create(context, name, &shape);
	int64_t size = tn_module_size(module, 0);
	tn_module_destroy(module);
	return size;
}

static void list_models(tn_context *context)
{
	printf("%-8s %12s  %s\n", "model", "parameters", "what it is");
	for (size_t i = 0; tn_model_at(i); i++) {
		const struct tn_model_info *info = tn_model_at(i);
		printf("%-8s %12lld  %s\n", info->name, (long long)size_of(context, info->name),
		       info->text);
	}
}

/* The layers of a model, as it sees one picture. */
static void show_model(tn_context *context, const char *name)
{
	const int64_t picture[] = {1, shape.channels, shape.height, shape.width};
	const struct tn_summary_options options = {
		.struct_size = sizeof(options), .rank = 4, .shape = picture};
	tn_module *module = tn_model_create(context, name, &shape);
	char *text = !tn_module_build(module) ? tn_module_summary(module, &options) : NULL;
	if (text)
		fputs(text, stdout);
	tn_string_free(text);
	tn_module_destroy(module);
}

int command_models(int argc, char **argv)
{
	int code;
	struct common_options options = {.backend = "reference"};
	const struct option_table table = {
		.command = "tenon models",
		.operands = "[MODEL]",
		.about = "  Lists the networks with their parameters for 28 x 28 pictures and 10 "
			 "classes,\n  or the layers of one of them.\n",
	};
	code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (optind + 1 < argc)
		return usage_error("models", "unexpected '%s'", argv[optind + 1]);
	tn_context *context = open_context(&options, 0, &code);
	if (!context)
		return code;
	if (optind < argc)
		show_model(context, argv[optind]);
	else
		list_models(context);
	code = finish(context);
	tn_context_close(context);
	return code;
}
