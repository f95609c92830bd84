/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon trace: what every layer of a network makes of one picture, and the gradients on the way
 * back.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/statistics.h>
#include <unistd.h>

#include "print_error.h"
#include "tool.h"

enum { MOST_VALUES = 4096 };

struct trace_command {
	struct common_options common;
	const char *network; /* a file, or a model's name */
	const char *data;
	uint64_t index;
	uint64_t values; /* are printed of arrays of at most this many elements */
	uint64_t seed;
	int forward_only;
	tn_module *module;
};

static int parse_arguments(struct trace_command *c, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"data", "NAME|DIR", "the data set; default: that which FILE was trained on",
		 .text = &c->data},
		{"index", "N", "the picture's number in the test part (0)", .count = &c->index,
		 .highest = UINT32_MAX},
		{"values", "N", "print all values of arrays of at most N elements (16)",
		 .count = &c->values, .highest = MOST_VALUES},
		{"forward-only", NULL, "no loss and no gradients", .flag = &c->forward_only},
		{"seed", "N", "of the weights of a MODEL (0)", .count = &c->seed,
		 .highest = UINT32_MAX},
		{"backend", "NAME", "as TENON_BACKEND", .text = &c->common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &c->common, .expected = backend_option_form},
	};
	const struct option_table table = {
		"tenon trace",
		"FILE|MODEL[:FORM]",
		"  FILE   a network that tenon train saved\n"
		"  MODEL  a network with its initial weights; needs --data\n",
		rows,
		N_ROWS(rows),
		NULL,
		0};
	int code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind != 1)
		return usage_error("trace", "expected one FILE or MODEL, found %d words",
				   argc - optind);
	c->network = argv[optind];
	return OPTIONS_READ;
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

static double number(const tn_array *a)
{
	double value = 0;
	/* An error stays in the context, which is asked at the end. */
	return tn_item(a, &value) ? 0 : value;
}

static void print_values(const tn_array *wide, size_t n)
{
	double values[MOST_VALUES];
	if (!n || tn_to_host(wide, values, n * sizeof(*values)))
		return;
	for (size_t i = 0; i < n; i++)
		printf("%s%.4g", i % 8 ? " " : i ? "\n    " : "    ", values[i]);
	printf("\n");
}

/* "(1, 6, 28, 28)" */
static void shape_text(const tn_array *a, char *text, size_t size)
{
	const int rank = tn_array_rank(a);
	int n = snprintf(text, size, "(");
	for (int i = 0; i < rank && (size_t)n < size; i++)
		n += snprintf(text + n, size - (size_t)n, "%s%" PRId64, i ? ", " : "",
			      tn_array_shape(a)[i]);
	if ((size_t)n < size)
		snprintf(text + n, size - (size_t)n, rank == 1 ? ",)" : ")");
}

/* A line of the shape and statistics of an array, below its name and class. */
static void print_array(const struct trace_command *c, const char *name, const char *class_name,
			const tn_array *a)
{
	tn_context *context = tn_array_context(a);
	const int64_t size = tn_array_size(a);
	char shape[80];
	if (tn_scope_begin(context) || tn_no_grad_begin(context))
		return;
	const tn_array *wide = tn_astype(a, TN_F64);
	shape_text(a, shape, sizeof(shape));
	printf("%s%s%s  %s\n", *name ? name : "(whole)", *class_name ? "  " : "", class_name,
	       shape);
	if (size)
		printf("    min %.4g  max %.4g  mean %.4g  deviation %.4g  zeros %.0f%%\n",
		       number(tn_min(wide, TN_ALL_AXES, NULL, 0)),
		       number(tn_max(wide, TN_ALL_AXES, NULL, 0)),
		       number(tn_mean(wide, TN_ALL_AXES, NULL, 0)),
		       number(tn_std(wide, TN_ALL_AXES, NULL, 0, 0)),
		       100 - 100 * number(tn_count_nonzero(wide, TN_ALL_AXES, NULL, 0)) /
				       (double)size);
	if ((uint64_t)size <= c->values)
		print_values(wide, (size_t)size);
	tn_no_grad_end(context);
	tn_scope_end(context, NULL);
}

/* ---- Hooks -----------------------------------------------------------------------------------*/

static const char *path_of(const struct trace_command *c, const tn_module *module)
{
	struct tn_module_view view = {.struct_size = sizeof(view)};
	for (size_t i = 0; !tn_module_at(c->module, i, &view); i++) {
		if (view.module == module)
			return view.path;
	}
	return "";
}

static void on_forward(void *user, tn_module *module, const tn_array *x, const tn_array *y)
{
	const struct trace_command *c = user;
	(void)x;
	print_array(c, path_of(c, module), tn_module_class_name(module), y);
}

static void on_backward(void *user, tn_module *module, const tn_array *dy)
{
	const struct trace_command *c = user;
	print_array(c, path_of(c, module), tn_module_class_name(module), dy);
}

static tn_status set_hooks(struct trace_command *c)
{
	struct tn_module_view view = {.struct_size = sizeof(view)};
	tn_status status = TN_OK;
	for (size_t i = 0; !status && !tn_module_at(c->module, i, &view); i++) {
		status = tn_module_set_forward_hook(view.module, on_forward, c);
		if (!status)
			status = tn_module_set_backward_hook(view.module, on_backward, c);
	}
	return status;
}

/* ---- The trace -------------------------------------------------------------------------------*/

static void trace(struct trace_command *c, tn_context *context, const tn_array *x, int32_t label)
{
	if (set_hooks(c))
		return;
	tn_tape *tape = c->forward_only ? NULL : tn_tape_begin(context);
	if (!tape && !c->forward_only)
		return;
	print_array(c, "x", "", x);
	printf("\nForward: the result of each layer, after those that it consists of\n\n");
	tn_array *y = tn_module_forward(c->module, x);
	if (tape) {
		tn_array *labels = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &label);
		tn_array *loss = tn_cross_entropy(y, labels, NULL);
		const double value = number(loss);
		if (tn_error(context)) {
			tn_tape_end(tape);
			return;
		}
		printf("\nLoss: %.6g, the cross-entropy with label %" PRId32 "\n", value, label);
		printf("\nBackward: the loss differentiated by the result of each layer\n\n");
		if (!tn_tape_backward(tape, loss, NULL))
			printf("\nThe loss differentiated by each parameter\n\n");
		for (size_t i = 0; i < tn_module_parameter_count(c->module); i++) {
			struct tn_parameter_view view = {.struct_size = sizeof(view)};
			if (!tn_error(context) && !tn_module_parameter_at(c->module, i, &view) &&
			    view.gradient)
				print_array(c, view.name, "", view.gradient);
		}
	}
	tn_tape_end(tape);
}

/* The picture as the network gets it, and its label. */
static int read_picture(const struct trace_command *c, const tn_dataset *dataset,
			tn_context *context, tn_array **x, int32_t *label)
{
	struct tn_error_info error;
	const struct tn_input_format *f = tn_dataset_format(dataset);
	const uint64_t n = tn_dataset_count(dataset, TN_PART_TEST);
	struct tn_data_loader_options o = tn_data_loader_defaults();
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	tn_data_loader *loader;
	if (c->index >= n) {
		print_error("tenon trace: --index: expected less than the %" PRIu64
			    " pictures of the test part of %s, found %" PRIu64,
			    n, tn_dataset_name(dataset), c->index);
		return EXIT_FAILED;
	}
	o.batch_size = 1;
	if (tn_data_loader_create(dataset, TN_PART_TEST, &o, &loader, &error))
		return report_error(&error);
	tn_status status =
		tn_data_loader_seek(loader, (struct tn_data_position){0, c->index}, &error);
	if (!status)
		status = tn_data_loader_next(loader, &batch, &error);
	if (!status) {
		const int64_t shape[] = {1, f->channels, f->height, f->width};
		*x = tn_from_host(context, TN_F32, 4, shape, batch.data[0]);
		*label = ((const int32_t *)batch.data[1])[0];
		printf("%s, test image %" PRIu64 ": %s\n\n", tn_dataset_name(dataset), c->index,
		       tn_dataset_class_name(dataset, *label));
	}
	tn_data_loader_destroy(loader);
	return status ? report_error(&error) : EXIT_DONE;
}

/* Has the network the class of the picture, for the loss?  The exit code. */
static int check_label(const struct trace_command *c, uint32_t n_classes, int32_t label)
{
	if (c->forward_only || (label >= 0 && (uint32_t)label < n_classes))
		return EXIT_DONE;
	print_error("tenon trace: %s: expected a label of the network's %u classes, found %" PRId32
		    " (--forward-only needs none)",
		    c->network, n_classes, label);
	return EXIT_FAILED;
}

static tn_module *make_model(const struct trace_command *c, tn_context *context,
			     const struct tn_input_format *f)
{
	const struct tn_model_shape shape = {f->channels, f->height, f->width, f->n_classes};
	tn_module *module = tn_model_create(context, c->network, &shape);
	if (!module || !tn_module_build(module))
		return module;
	tn_module_destroy(module);
	return NULL;
}

/* The data set, prepared as a saved network expects it; all of another set than its own is for
 * tests.  The exit code. */
static int open_data(const struct trace_command *c, const struct saved_network *saved,
		     tn_dataset **dataset)
{
	struct tn_error_info error;
	struct tn_dataset_options o = tn_dataset_defaults();
	o.normalise_as = saved->module ? &saved->format : NULL;
	o.test_fraction = c->data && saved->module ? 1.0 : 0.0;
	o.keep_own_parts = 1;
	if (tn_dataset_open(c->data ? c->data : saved->data, &o, dataset, &error))
		return report_error(&error);
	return tn_dataset_format(*dataset) ? EXIT_DONE : not_pictures("trace", *dataset);
}

static int run(struct trace_command *c, tn_context *context)
{
	struct saved_network saved = {0};
	tn_dataset *dataset = NULL;
	tn_module *made = NULL;
	tn_array *x = NULL;
	int32_t label = 0;
	const int is_file = !access(c->network, F_OK);
	if (!is_file && !c->data)
		return usage_error("trace", "there is no file '%s', and a MODEL needs --data",
				   c->network);
	int code = is_file ? saved_network_open(context, c->network, &saved) : EXIT_DONE;
	if (code == EXIT_DONE)
		code = open_data(c, &saved, &dataset);
	if (code == EXIT_DONE && !is_file)
		made = make_model(c, context, tn_dataset_format(dataset));
	c->module = is_file ? saved.module : made;
	if (code == EXIT_DONE)
		code = c->module ? read_picture(c, dataset, context, &x, &label) : finish(context);
	if (code == EXIT_DONE && is_file)
		code = check_label(c, saved.format.n_classes, label);
	if (code == EXIT_DONE) {
		trace(c, context, x, label);
		code = finish(context);
	}
	tn_module_destroy(made);
	saved_network_release(&saved);
	tn_dataset_destroy(dataset);
	return code;
}

int command_trace(int argc, char **argv)
{
	struct trace_command c = {.values = 16, .seed = TN_SEED_FROM_ENVIRONMENT};
	int code = parse_arguments(&c, argc, argv);
	if (code >= 0)
		return code;
	tn_context *context = open_context(&c.common, c.seed, &code);
	if (context)
		code = run(&c, context);
	tn_context_close(context);
	return code;
}
