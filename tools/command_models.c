/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon models: lists the gallery, and shows the layers of one network.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static const struct tn_model_shape small_shape = {3, 32, 32, 10}, nnott_shape = {1, 28, 28, 10};

/* What a form is for, as <tenon/models.h> says. */
static const struct tn_model_shape *usual_shape(const struct tn_model_info *info, uint32_t form)
{
	return form == TN_FORM_SMALL   ? &small_shape
	       : form == TN_FORM_NNOTT ? &nnott_shape
				       : &info->published;
}

/* ---- The list --------------------------------------------------------------------------------*/

static void list_form(tn_context *context, const struct tn_model_info *info, uint32_t form)
{
	const struct tn_model_shape *shape = usual_shape(info, form);
	char name[64], picture[32];
	snprintf(name, sizeof(name), "%s:%s", info->name, tn_model_form_name(form));
	snprintf(picture, sizeof(picture), "%lldx%lldx%lld", (long long)shape->channels,
		 (long long)shape->height, (long long)shape->width);
	tn_module *module = tn_model_create(context, name, shape);
	printf("  %-28s %-10s %5lld classes %12lld parameters\n", name, picture,
	       (long long)shape->n_classes, (long long)tn_module_size(module, 0));
	tn_module_destroy(module);
}

static void list_models(tn_context *context)
{
	for (size_t i = 0; tn_model_at(i); i++) {
		const struct tn_model_info *info = tn_model_at(i);
		printf("%s: %s%s%s%s\n", info->name, info->text, *info->source ? " (" : "",
		       info->source, *info->source ? ")" : "");
		for (uint32_t form = 0; tn_model_form_name(form); form++) {
			if (info->forms >> form & 1)
				list_form(context, info, form);
		}
	}
}

/* ---- One of them -----------------------------------------------------------------------------*/

static const struct tn_model_info *find_info(const char *name)
{
	const size_t length = strcspn(name, ":");
	for (size_t i = 0; tn_model_at(i); i++) {
		const char *known = tn_model_at(i)->name;
		if (strlen(known) == length && !strncmp(known, name, length))
			return tn_model_at(i);
	}
	return NULL;
}

/* The shape of the form that the name states, else that of the first form that it has. */
static struct tn_model_shape default_shape(const char *name)
{
	const struct tn_model_info *info = find_info(name);
	const char *colon = strchr(name, ':');
	const size_t length = colon ? strcspn(colon + 1, ":") : 0;
	const int has_form = length && !memchr(colon + 1, '=', length); /* or a setting */
	for (uint32_t form = 0; info && tn_model_form_name(form); form++) {
		const char *known = tn_model_form_name(form);
		if (has_form ? strlen(known) == length && !strncmp(colon + 1, known, length)
			     : info->forms >> form & 1)
			return *usual_shape(info, form);
	}
	return small_shape;
}

/* The layers of a model, as it sees one picture. */
static void show_model(tn_context *context, const char *name, const struct tn_model_shape *shape)
{
	const int64_t picture[] = {1, shape->channels, shape->height, shape->width};
	struct tn_summary_options options = tn_summary_defaults();
	options.rank = 4;
	options.shape = picture;
	tn_module *module = tn_model_create(context, name, shape);
	char *text =
		module && !tn_module_build(module) ? tn_module_summary(module, &options) : NULL;
	if (text)
		fputs(text, stdout);
	tn_string_free(text);
	tn_module_destroy(module);
}

/* ---- The command -----------------------------------------------------------------------------*/

struct shape_options {
	int is_given;
	struct tn_model_shape shape;
};

/* "3x224x224" */
static int take_shape(void *values, const char *text)
{
	struct shape_options *options = values;
	int64_t *lengths[] = {&options->shape.channels, &options->shape.height,
			      &options->shape.width};
	for (int i = 0; i < 3; i++) {
		char *end;
		const long long length = *text >= '1' && *text <= '9' ? strtoll(text, &end, 10) : 0;
		if (length < 1 || length > 65536 || *end != (i < 2 ? 'x' : '\0'))
			return 0;
		*lengths[i] = length;
		text = end + 1;
	}
	options->is_given = 1;
	return 1;
}

int command_models(int argc, char **argv)
{
	int code;
	struct common_options options = {0};
	struct shape_options given = {0};
	uint64_t n_classes = 0;
	const struct option_row rows[] = {
		{"shape", "CxHxW", "the pictures; default: those that the form is for",
		 .take = take_shape, .values = &given,
		 .expected = "channels, height and width, as 3x224x224"},
		{"classes", "N", "classes; default: those that the form is for",
		 .count = &n_classes, .lowest = 1, .highest = 1 << 20},
		{"backend", "NAME", "where the layers run; default: TENON_BACKEND, else auto",
		 .text = &options.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &options, .expected = backend_option_form},
	};
	const struct option_table table = {
		.command = "tenon models",
		.operands = "[MODEL[:FORM]]",
		.about = "  Lists the networks and their forms, or the layers of one of them.\n",
		.rows = rows,
		.n_rows = N_ROWS(rows),
	};
	code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (optind + 1 < argc)
		return usage_error("models", "unexpected '%s'", argv[optind + 1]);
	const char *name = optind < argc ? argv[optind] : NULL;
	if (!name && (given.is_given || n_classes))
		return usage_error("models", "--shape and --classes are for one MODEL");
	if (!name && !options.backend)
		options.backend = "reference"; /* which nothing but sizes is asked of */
	tn_context *context = open_context(&options, TN_SEED_FROM_ENVIRONMENT, &code);
	if (!context)
		return code;
	if (name) {
		struct tn_model_shape shape = given.is_given ? given.shape : default_shape(name);
		shape.n_classes = n_classes        ? (int64_t)n_classes
				  : given.is_given ? default_shape(name).n_classes
						   : shape.n_classes;
		show_model(context, name, &shape);
	} else {
		list_models(context);
	}
	code = finish(context);
	tn_context_close(context);
	return code;
}
