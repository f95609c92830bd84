/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include <getopt.h>
#include <stdio.h>

#include "tool.h"

/* The number of parameters of a model for 28 x 28 grey pictures and ten classes. */
static int64_t size_of(tn_context *context, const char *name)
{
	const struct tn_model_shape shape = {1, 28, 28, 10};
	tn_module *module = tn_model_create(context, name, &shape);
	int64_t size = tn_module_size(module, 0);
	tn_module_destroy(module);
	return size;
}

int command_models(int argc, char **argv)
{
	int code;
	struct common_options options = {.backend = "reference"};
	const struct option_table table = {
		.command = "tenon models",
		.operands = "",
		.about = "  Lists the networks with their parameters for 28 x 28 pictures and 10 "
			 "classes.\n",
	};
	code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (optind < argc)
		return usage_error("models", "unexpected '%s'", argv[optind]);
	tn_context *context = open_context(&options, 0, &code);
	if (!context)
		return code;
	printf("%-8s %12s  %s\n", "model", "parameters", "what it is");
	for (size_t i = 0; tn_model_at(i); i++) {
		const struct tn_model_info *info = tn_model_at(i);
		printf("%-8s %12lld  %s\n", info->name, (long long)size_of(context, info->name),
		       info->text);
	}
	code = finish(context);
	tn_context_close(context);
	return code;
}
