/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * For each struct with a struct_size a call of each function that has one: given, filled or lent.
 * program.c makes them as programs of other versions, tests/unit/sized_structs.c with structs that
 * are wrong or cut.  They set and read members that every version has, and note what became of it
 * (saw): where a member of an older version is missing, its default shows there.  The output of
 * structs.awk comes before.
 */
#ifndef TN_TESTS_PROGRAM_CALLS_H
#define TN_TESTS_PROGRAM_CALLS_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenon/tenon.h>

static const char *folder;
static const void *untouched; /* a struct that a call leaves as it is given */
static double seen[4096];     /* by the last call */
static size_t n_seen;
static tn_context *context;
static struct tn_error_info error; /* of the last call */
static tn_array *picture, *filters, *scores, *labels;
static tn_module *net; /* y = x w^T + b, two inputs and one output, built */

/* Where a call sets members: in what it is given, or nowhere. */
static void *members(void *given)
{
	static _Alignas(16) unsigned char nowhere[1024];
	return !given || given == untouched ? nowhere : given;
}

/* Whether members that were filled may be read. */
static int is_filled(tn_status status, const void *out)
{
	return !status && out && out != untouched;
}

/* ---- Around each call ------------------------------------------------------------------------*/

static void give_up(const char *what)
{
	printf("FAILED: %s: %s\n", what,
	       context && tn_error(context) ? tn_error(context)->text : error.text);
	exit(1);
}

static void needs(int condition, const char *what)
{
	if (!condition)
		give_up(what);
}

static void saw(double number)
{
	needs(n_seen < sizeof(seen) / sizeof(seen[0]), "few numbers");
	seen[n_seen++] = number;
}

static struct tn_context_options on_the_reference(void)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	return options;
}

/* start, start + step, ... in a shape of so many elements. */
static tn_array *ramp(int rank, const int64_t *shape, double start, double step)
{
	int64_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= shape[i];
	return tn_reshape(tn_arange(context, TN_F32, start, start + step * ((double)n - 0.5), step),
			  rank, shape);
}

static void begin(void)
{
	const struct tn_context_options options = on_the_reference();
	memset(&error, 0, sizeof(error));
	n_seen = 0;
	needs(!tn_context_open(&options, &context, &error), "a context");
	picture = ramp(4, (const int64_t[]){1, 2, 8, 8}, -1, 0.03125);
	filters = ramp(4, (const int64_t[]){2, 2, 3, 3}, -0.5, 0.0625);
	scores = ramp(2, (const int64_t[]){4, 3}, -1, 0.25);
	labels = tn_astype(ramp(1, (const int64_t[]){4}, 0, 0.5), TN_I32);
	net = tn_module_linear(context, 2, 1, NULL);
	needs(!tn_module_build(net), "a module");
}

/* The status of a call that keeps its error. */
static tn_status kept(int made)
{
	const struct tn_error_info *found = tn_error(context);
	if (found)
		error = *found;
	tn_status status = found ? found->status : TN_OK;
	tn_error_clear(context);
	return made || status ? status : TN_INTERNAL;
}

/* Keeps the error of a call that has none of its own. */
static void end(void)
{
	(void)kept(1);
	tn_module_destroy(net);
	tn_context_close(context);
	context = NULL;
}

/* Every element counts, at its place. */
static void saw_array(const tn_array *a)
{
	double numbers[1024], sum = 0;
	size_t n = (size_t)tn_array_size(a);
	needs(n <= 1024 && !tn_to_host(tn_astype(a, TN_F64), numbers, n * sizeof(double)),
	      "the elements of an array");
	for (size_t i = 0; i < n; i++)
		sum += numbers[i] * (double)(i + 1);
	saw((double)n);
	saw(sum);
}

static tn_status array(tn_array *made)
{
	if (made)
		saw_array(made);
	return kept(made != NULL);
}

static void saw_weights(tn_module *module)
{
	for (size_t i = 0; i < tn_module_parameter_count(module); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		needs(!tn_module_parameter_at(module, i, &view), "a parameter");
		saw_array(view.value);
	}
}

/* What a module answers to x, and its weights. */
static tn_status module(tn_module *made, const tn_array *x)
{
	tn_array *y = NULL;
	if (made && !tn_module_build(made)) {
		y = tn_module_forward(made, x);
		saw_weights(made);
	}
	tn_status status = array(y);
	tn_module_destroy(made);
	return status;
}

/* Three steps of the net towards 0, on inputs of which one is rare. */
static void train(tn_status (*step)(void *of), void *of)
{
	for (int i = 0; i < 3; i++) {
		tn_tape *tape = tn_tape_begin(context);
		tn_array *x = ramp(2, (const int64_t[]){2, 2}, 1, i == 1 ? -0.75 : 0.5);
		tn_array *y = tn_module_forward(net, x);
		tn_array *loss = tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0);
		needs(!tn_tape_backward(tape, loss, NULL), "backward");
		tn_tape_end(tape);
		needs(!step(of), "a step");
		tn_module_zero_gradients(net);
	}
	saw_weights(net);
}

static tn_status make_step(void *optimizer)
{
	return tn_optimizer_step(optimizer);
}

/* ---- The context -----------------------------------------------------------------------------*/

static tn_status context_options(void *given)
{
	struct tn_context_options *options = members(given);
	tn_context *own = NULL;
	options->backend = "reference";
	tn_status status = tn_context_open(options, &own, &error);
	saw(own ? (double)tn_context_device_count(own) : 0);
	tn_context_close(own);
	return status;
}

static tn_status variable(void *out)
{
	const struct tn_variable *found = out;
	tn_status status = tn_variable_at(context, 0, out);
	saw(is_filled(status, out) ? (double)strlen(found->name) : 0);
	return status;
}

static tn_status load_row(void *size)
{
	const struct tn_load_row *row =
		tn_load_report_find(tn_context_report(context), "reference");
	needs(row != NULL, "a row of the reference");
	saw(row->status);
	*(uint32_t *)size = row->struct_size;
	return TN_OK;
}

static tn_status first_load_row(void *size)
{
	const struct tn_load_row *row = tn_load_report_at(tn_context_report(context), 0);
	*(uint32_t *)size = row->struct_size;
	return TN_OK;
}

static tn_status load_option(void *size)
{
	const struct tn_load_row *row = tn_load_report_find(tn_context_report(context), "cpu");
	needs(row && row->options, "a row of the cpu backend, with its options");
	saw(strlen(row->options[0]->name) > 0);
	*(uint32_t *)size = row->options[0]->struct_size;
	return TN_OK;
}

static tn_status device_description(void *size)
{
	const struct tn_device_description *device = tn_device_describe(tn_device_current(context));
	saw((double)strlen(device->name));
	saw(tn_device_same(device, device));
	*(uint32_t *)size = device->struct_size;
	return TN_OK;
}

static tn_status memory_statistics(void *out)
{
	const struct tn_memory_statistics *statistics = out;
	tn_status status = tn_device_get_memory_statistics(tn_device_current(context), out);
	saw(is_filled(status, out) ? (double)statistics->used : 0);
	return status;
}

static tn_status memory_use(void *out)
{
	const struct tn_memory_use *use = out;
	tn_status status = tn_device_get_memory_use(tn_device_current(context), out);
	saw(is_filled(status, out) ? (double)use->used : 0);
	return status;
}

static tn_status ledger_row(void *out)
{
	const struct tn_ledger_row *row = out;
	tn_status status = tn_ledger_at(context, 0, out);
	saw(is_filled(status, out) ? (double)row->native : 0);
	return status;
}

static void keep_size_of_event(void *size, const struct tn_memory_event *event)
{
	*(uint32_t *)size = event->struct_size;
}

static tn_status memory_event(void *size)
{
	tn_memory_set_hook(context, keep_size_of_event, size);
	saw_array(tn_ones(context, TN_F32, 1, (const int64_t[]){7}));
	tn_memory_set_hook(context, NULL, NULL);
	return TN_OK;
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

static const float numbers[4] = {3, 1, 4, 1};

/* Four numbers of the program. */
static const struct tn_wrap_options *four_numbers(struct tn_wrap_options *given)
{
	static const int64_t shape[1] = {4};
	struct tn_wrap_options *options = members(given);
	options->dtype = TN_F32;
	options->rank = 1;
	options->shape = shape;
	options->is_read_only = 1;
	options->data = (void *)(uintptr_t)numbers;
	options->size_bytes = sizeof(numbers);
	return given;
}

static tn_status wrap(void *given)
{
	return array(tn_array_wrap(context, four_numbers(given)));
}

static tn_status import(void *given)
{
	return array(tn_array_import(tn_device_current(context), four_numbers(given)));
}

static tn_status asarray_memory(void *given)
{
	return array(tn_asarray_host(context, four_numbers(given), NULL));
}

static tn_status asarray_host(void *given)
{
	struct tn_wrap_options memory = tn_wrap_defaults();
	return array(tn_asarray_host(context, four_numbers(&memory), given));
}

static tn_status asarray(void *given)
{
	return array(tn_asarray(scores, given));
}

static tn_status to_dlpack(void *given)
{
	struct tn_dlpack_managed *managed = tn_to_dlpack(scores, given);
	tn_status status = kept(managed != NULL);
	if (managed)
		managed->deleter(managed);
	return status;
}

static tn_status to_dlpack_unversioned(void *given)
{
	struct tn_dlpack_managed_unversioned *managed = tn_to_dlpack_unversioned(scores, given);
	tn_status status = kept(managed != NULL);
	if (managed)
		managed->deleter(managed);
	return status;
}

static tn_status from_dlpack_unversioned(void *given)
{
	struct tn_dlpack_managed_unversioned *managed = tn_to_dlpack_unversioned(scores, NULL);
	tn_status status = array(tn_from_dlpack_unversioned(context, managed, given));
	if (status)
		managed->deleter(managed);
	return status;
}

static tn_status from_dlpack(void *given)
{
	struct tn_dlpack_managed *managed = tn_to_dlpack(scores, NULL);
	tn_status status = array(tn_from_dlpack(context, managed, given));
	if (status)
		managed->deleter(managed);
	return status;
}

static void saw_text(const char *text)
{
	double sum = 0;
	for (size_t i = 0; text[i]; i++)
		sum += (unsigned char)text[i] * (double)(i + 1);
	saw(sum);
}

static tn_status text(char *made)
{
	if (made)
		saw_text(made);
	tn_status status = kept(made != NULL);
	tn_string_free(made);
	return status;
}

static tn_status array2string(void *given)
{
	return text(tn_array2string(scores, given));
}

static tn_status array_str(void *given)
{
	return text(tn_array_str(scores, given));
}

static tn_status array_repr(void *given)
{
	return text(tn_array_repr(scores, given));
}

static tn_status compared(tn_status status, char *difference)
{
	tn_string_free(difference);
	return status;
}

static tn_status assert_allclose(void *given)
{
	char *difference = NULL;
	tn_status status = tn_assert_allclose(scores, scores, 0, 0, given, &difference);
	return compared(status, difference);
}

static tn_status assert_array_equal(void *given)
{
	char *difference = NULL;
	tn_status status = tn_assert_array_equal(scores, scores, given, &difference);
	return compared(status, difference);
}

static tn_status assert_array_less(void *given)
{
	char *difference = NULL;
	const tn_array *less = tn_affine(scores, 1, -1);
	tn_status status = tn_assert_array_less(less, scores, given, &difference);
	return compared(status, difference);
}

/* The path of a file in the folder of this run. */
static const char *file(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static tn_status savetxt(void *given)
{
	tn_status status = tn_savetxt(file("table.txt"), scores, given);
	return status;
}

static tn_status loadtxt(void *given)
{
	needs(!tn_savetxt(file("table.txt"), scores, NULL), "a table");
	return array(tn_loadtxt(context, file("table.txt"), given));
}

static tn_status tensor_info(void *out)
{
	const struct tn_tensor_info *info = out;
	tn_safetensors *tensors = NULL;
	needs(!tn_module_save(net, file("net.safetensors"), 0, NULL) &&
		      !tn_safetensors_open(file("net.safetensors"), &tensors, &error),
	      "a file of tensors");
	tn_status status = tn_safetensors_at(tensors, 0, out);
	saw(is_filled(status, out) ? (double)info->size_bytes : 0);
	tn_safetensors_close(tensors);
	return status;
}

static tn_status reduce(void *given)
{
	return array(tn_reduce(scores, TN_REDUCER_VAR, TN_ALL_AXES, NULL, given));
}

static const double q = 0.25;

static tn_status quantile(void *given)
{
	return array(tn_quantile(scores, 1, &q, given));
}

static tn_status nanquantile(void *given)
{
	return array(tn_nanquantile(scores, 1, &q, given));
}

static tn_status percentile(void *given)
{
	return array(tn_percentile(scores, 1, &q, given));
}

static tn_status nanpercentile(void *given)
{
	return array(tn_nanpercentile(scores, 1, &q, given));
}

static tn_status histogram(void *given)
{
	return array(tn_histogram(scores, given, NULL));
}

static tn_status histogramdd(void *given)
{
	return array(tn_histogramdd(scores, given, NULL));
}

static tn_status histogram2d(void *given)
{
	return array(tn_histogram2d(labels, labels, given, NULL));
}

static tn_status ufunc_call(void *given)
{
	const tn_array *const inputs[] = {scores, scores};
	return array(tn_ufunc_call(tn_ufunc_find("add"), 2, inputs, given));
}

static tn_status ufunc_outer(void *given)
{
	return array(tn_ufunc_outer(tn_ufunc_find("add"), labels, labels, given));
}

static tn_status ufunc_reduce(void *given)
{
	return array(tn_ufunc_reduce(tn_ufunc_find("add"), scores, TN_ALL_AXES, NULL, 0, given));
}

static tn_status ufunc_accumulate(void *given)
{
	return array(tn_ufunc_accumulate(tn_ufunc_find("add"), scores, 0, given));
}

static const char *const names[] = {"x"};

static tn_status map(void *given)
{
	tn_array *y = NULL;
	tn_status status = tn_map_outputs("z = x * x + 1", 1, names,
					  (const tn_array *const[]){scores}, given, &y);
	return status ? status : array(y);
}

static tn_status reduce_map(void *given)
{
	return array(
		tn_reduce_map("z = x * x", 1, names, (const tn_array *const[]){scores}, given));
}

static tn_status scan_map(void *given)
{
	return array(tn_scan_map("z = x + 2 * y", scores, 0, given));
}

static tn_status memo_statistics(void *out)
{
	const struct tn_memo_statistics *statistics = out;
	tn_status status = tn_memo_get_statistics(context, out);
	saw(is_filled(status, out) ? statistics->n_programs : 0);
	return status;
}

static tn_program *parse(const struct tn_program_names *of)
{
	tn_program *program = NULL;
	tn_status status = tn_program_parse("z = x * x", of, &program, &error);
	if (status)
		error.status = status;
	return program;
}

static const tn_dtype f32[1] = {TN_F32};

static tn_status program_names(void *given)
{
	struct tn_program_names *own = members(given);
	own->n_inputs = 1;
	own->inputs = names;
	own->input_dtypes = f32;
	error.status = TN_OK;
	tn_program_destroy(parse(given));
	return error.status;
}

static tn_status program_wants(void *given)
{
	static const uint32_t first[1] = {0};
	struct tn_program_wants *wants = members(given);
	struct tn_program_names own = tn_program_names_defaults();
	own.n_inputs = 1;
	own.inputs = names;
	own.input_dtypes = f32;
	tn_program *program = parse(&own), *gradient = NULL;
	wants->n_inputs = 1;
	wants->inputs = first;
	tn_status status = tn_program_differentiate(program, given, &gradient, &error);
	tn_program_destroy(gradient);
	tn_program_destroy(program);
	return status;
}

static tn_status kernel_source(void *given)
{
	struct tn_kernel_source *source = members(given);
	source->format = "cuda-c";
	source->text = "";
	source->name = "none";
	tn_kernel *kernel = tn_kernel_compile(context, given);
	tn_status status = kept(kernel != NULL);
	tn_kernel_destroy(kernel);
	return status;
}

static tn_status do_nothing(void *data)
{
	(void)data;
	return TN_OK;
}

static tn_status benchmark(void *given)
{
	struct tn_benchmark_options *options = members(given);
	struct tn_benchmark_result result = {.struct_size = sizeof(result)};
	options->repeats = 2;
	tn_status status = tn_benchmark(context, do_nothing, NULL, given, &result);
	saw((double)result.n);
	return status;
}

static tn_status benchmark_result(void *out)
{
	const struct tn_benchmark_result *result = out;
	struct tn_benchmark_options options = tn_benchmark_defaults();
	options.repeats = 2;
	tn_status status = tn_benchmark(context, do_nothing, NULL, &options, out);
	if (is_filled(status, out)) {
		char *made = tn_benchmark_text("nothing", out);
		needs(made != NULL, "the text of a benchmark");
		tn_string_free(made);
	}
	saw(is_filled(status, out) ? (double)result->n : 0);
	return status;
}

/* ---- Gradients and layers --------------------------------------------------------------------*/

static tn_status gradients(void *given)
{
	tn_array *x = tn_scalar_f32(context, 2), *g = NULL;
	tn_tape *tape = tn_tape_begin(context);
	needs(!tn_tape_watch(tape, x), "a watched array");
	tn_array *y = tn_square(x);
	tn_status status = tn_tape_gradients(tape, 1, &y, NULL, 1, &x, &g, given);
	tn_tape_end(tape);
	return status ? status : array(g);
}

static tn_status no_backward(void *state, const struct tn_node_call *of)
{
	(void)state, (void)of;
	return TN_OK;
}

static tn_status keep_size_of_call(void *size, const struct tn_node_call *of)
{
	*(uint32_t *)size = of->struct_size;
	return TN_OK;
}

static tn_status node_call(void *size)
{
	struct tn_node_options options = tn_node_defaults();
	tn_array *x = tn_scalar_f32(context, 2), *y = tn_scalar_f32(context, 3);
	tn_tape *tape = tn_tape_begin(context);
	needs(!tn_tape_watch(tape, x), "a watched array");
	options.name = "own";
	options.n_inputs = options.n_outputs = 1;
	options.inputs = &x;
	options.outputs = &y;
	options.backward = keep_size_of_call;
	options.state = size;
	needs(!tn_node_record(context, &options), "a node");
	tn_status status = tn_tape_backward(tape, y, NULL);
	tn_tape_end(tape);
	return status;
}

static tn_array *square_of_first(void *user, tn_array *const *inputs)
{
	(void)user;
	return tn_square(inputs[0]);
}

static tn_status gradient_report(void *out)
{
	const struct tn_gradient_report *report = out;
	tn_array *x = tn_full(context, TN_F64, 0, NULL, 2);
	tn_status status =
		tn_gradient_check(context, square_of_first, NULL, 1, &x, 1e-6, 1e-3, 0, out);
	saw(is_filled(status, out) ? report->input : 0);
	return status;
}

static tn_status node(void *given)
{
	struct tn_node_options *options = members(given);
	options->name = "own";
	options->n_outputs = 1;
	options->outputs = &filters;
	options->backward = no_backward;
	return tn_node_record(context, given);
}

static tn_status conv2d(void *given)
{
	return array(tn_conv2d(picture, filters, NULL, given));
}

static tn_status conv1d(void *given)
{
	tn_array *lines = tn_reshape(picture, 3, (const int64_t[]){1, 2, 64});
	tn_array *kernels = tn_reshape(filters, 3, (const int64_t[]){2, 2, 9});
	return array(tn_conv1d(lines, kernels, NULL, given));
}

static tn_status conv_transpose2d(void *given)
{
	return array(tn_conv_transpose2d(picture, filters, NULL, given));
}

static tn_status avg_pool2d(void *given)
{
	struct tn_pool2d_options *options = members(given);
	options->kernel[0] = options->kernel[1] = 2;
	options->padding[0] = 1;
	return array(tn_avg_pool2d(picture, given));
}

static tn_status max_pool2d(void *given)
{
	struct tn_pool2d_options *options = members(given);
	options->kernel[0] = options->kernel[1] = 2;
	return array(tn_max_pool2d(picture, given));
}

static tn_status interpolate(void *given)
{
	struct tn_interpolate_options *options = members(given);
	options->scale[0] = options->scale[1] = 2;
	return array(tn_interpolate(picture, given));
}

static tn_status local_response_norm(void *given)
{
	return array(tn_local_response_norm(picture, 2, given));
}

static tn_status batch_norm(void *given)
{
	struct tn_batch_norm_options *options = members(given);
	options->training = 1;
	return array(tn_batch_norm(tn_multiply(picture, tn_scalar_f32(context, 1e-3f)), NULL, NULL,
				   given));
}

static tn_status attention(void *given)
{
	return array(tn_scaled_dot_product_attention(picture, picture, picture, given));
}

static tn_status lstm(void *given)
{
	tn_array *steps = tn_reshape(picture, 3, (const int64_t[]){2, 8, 8});
	tn_array *w_ih = ramp(2, (const int64_t[]){8, 8}, -0.5, 0.0625);
	tn_array *w_hh = ramp(2, (const int64_t[]){8, 2}, -0.5, 0.0625);
	return array(tn_lstm(steps, w_ih, w_hh, NULL, NULL, given, NULL, NULL));
}

static tn_status gru(void *given)
{
	tn_array *steps = tn_reshape(picture, 3, (const int64_t[]){2, 8, 8});
	tn_array *w_ih = ramp(2, (const int64_t[]){6, 8}, -0.5, 0.0625);
	tn_array *w_hh = ramp(2, (const int64_t[]){6, 2}, -0.5, 0.0625);
	return array(tn_gru(steps, w_ih, w_hh, NULL, NULL, given, NULL));
}

static tn_status cross_entropy(void *given)
{
	return array(tn_cross_entropy(scores, labels, given));
}

static tn_status nll_loss(void *given)
{
	return array(tn_nll_loss(scores, labels, given));
}

static tn_status binary_cross_entropy(void *given)
{
	tn_array *target = ramp(2, (const int64_t[]){4, 3}, 0, 0.0625);
	return array(tn_binary_cross_entropy_with_logits(scores, target, given));
}

static tn_status kaiming_uniform(void *given)
{
	tn_status status = tn_init_kaiming_uniform(filters, given);
	return status ? status : array(filters);
}

static tn_status kaiming_normal(void *given)
{
	tn_status status = tn_init_kaiming_normal(filters, given);
	return status ? status : array(filters);
}

/* ---- Modules ---------------------------------------------------------------------------------*/

static tn_status module_linear(void *given)
{
	return module(tn_module_linear(context, 3, 2, given), scores);
}

static tn_status module_conv2d(void *given)
{
	struct tn_module_conv2d_options *options = members(given);
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.padding[0] = 1;
	options->window = &window;
	options->no_bias = 1;
	return module(tn_module_conv2d(context, 2, 2, 3, 3, given), picture);
}

static tn_status module_conv1d(void *given)
{
	struct tn_module_conv1d_options *options = members(given);
	struct tn_conv1d_options window = tn_conv1d_defaults();
	window.padding = 1;
	options->window = &window;
	options->no_bias = 1;
	return module(tn_module_conv1d(context, 2, 2, 3, given),
		      tn_reshape(picture, 3, (const int64_t[]){1, 2, 64}));
}

static tn_status module_conv_transpose2d(void *given)
{
	struct tn_module_conv_transpose2d_options *options = members(given);
	struct tn_conv_transpose2d_options window = tn_conv_transpose2d_defaults();
	window.padding[0] = 1;
	options->window = &window;
	options->no_bias = 1;
	return module(tn_module_conv_transpose2d(context, 2, 2, 3, 3, given), picture);
}

static tn_status module_embedding(void *given)
{
	return module(tn_module_embedding(context, 4, 2, given), labels);
}

static tn_status module_max_pool2d(void *given)
{
	struct tn_pool2d_options *options = members(given);
	options->kernel[0] = options->kernel[1] = 2;
	return module(tn_module_max_pool2d(context, given), picture);
}

static tn_status module_avg_pool2d(void *given)
{
	struct tn_pool2d_options *options = members(given);
	options->kernel[0] = options->kernel[1] = 2;
	options->padding[0] = 1;
	return module(tn_module_avg_pool2d(context, given), picture);
}

static tn_status module_upsample(void *given)
{
	struct tn_interpolate_options *options = members(given);
	options->scale[0] = options->scale[1] = 2;
	return module(tn_module_upsample(context, given), picture);
}

static tn_status module_local_response_norm(void *given)
{
	return module(tn_module_local_response_norm(context, 2, given), picture);
}

static tn_status module_batch_norm1d(void *given)
{
	return module(tn_module_batch_norm1d(context, 3, given), scores);
}

static tn_status module_batch_norm2d(void *given)
{
	return module(tn_module_batch_norm2d(context, 2, given), picture);
}

static tn_status module_layer_norm(void *given)
{
	return module(tn_module_layer_norm(context, 1, (const int64_t[]){3}, given), scores);
}

static tn_status module_layer_norm2d(void *given)
{
	return module(tn_module_layer_norm2d(context, 2, given), picture);
}

static tn_status module_group_norm(void *given)
{
	return module(tn_module_group_norm(context, 1, 2, given), picture);
}

static tn_status module_instance_norm2d(void *given)
{
	return module(tn_module_instance_norm2d(context, 2, given),
		      tn_multiply(picture, tn_scalar_f32(context, 1e-3f)));
}

/* (2, 8, 8). */
static tn_array *sequences(void)
{
	return tn_reshape(picture, 3, (const int64_t[]){2, 8, 8});
}

static tn_status module_attention(void *given)
{
	return module(tn_module_multihead_attention(context, 8, 2, given), sequences());
}

static tn_status module_gru(void *given)
{
	return module(tn_module_gru(context, 8, 2, given), sequences());
}

static tn_status module_lstm(void *given)
{
	return module(tn_module_lstm(context, 8, 2, given), sequences());
}

static tn_status module_mbconv(void *given)
{
	return module(tn_module_mbconv(context, 2, 3, 2, given), picture);
}

static tn_status module_convnext(void *given)
{
	return module(tn_module_convnext_block(context, 2, given), picture);
}

static tn_array *negated(tn_module *own, void *state, const tn_array *x)
{
	(void)own, (void)state;
	return tn_negative(x);
}

static tn_status module_class(void *given)
{
	struct tn_module_class *class_ = members(given);
	class_->name = "Negated";
	class_->forward = negated;
	return module(tn_module_custom(context, given, NULL), scores);
}

static tn_status frozen_run(void *given)
{
	tn_module *linear = tn_module_linear(context, 2, 2, NULL);
	needs(linear && !tn_module_build(linear) && !tn_module_freeze(linear), "a frozen network");
	tn_frozen *frozen = tn_frozen_create(linear);
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){1, 2});
	tn_array *y = tn_zeros(context, TN_F32, 2, (int64_t[]){1, 2});
	tn_status status = tn_frozen_run(frozen, x, y, given);
	if (!status)
		saw_array(y);
	tn_frozen_destroy(frozen);
	tn_module_destroy(linear);
	return status;
}

static tn_status module_load(void *given)
{
	needs(!tn_module_save(net, file("net.safetensors"), 0, NULL), "a file of weights");
	return tn_module_load(net, file("net.safetensors"), given);
}

static tn_status module_init(void *given)
{
	tn_status status = tn_module_init_parameters(net, "*", given);
	if (!status)
		saw_weights(net);
	return status;
}

static tn_status module_view(void *out)
{
	const struct tn_module_view *view = out;
	tn_status status = tn_module_at(net, 0, out);
	saw(is_filled(status, out) ? (double)strlen(view->path) : 0);
	return status;
}

static tn_status parameter_view(void *out)
{
	const struct tn_parameter_view *view = out;
	tn_status status = tn_module_parameter_at(net, 0, out);
	saw(is_filled(status, out) ? (double)strlen(view->name) : 0);
	return status;
}

static tn_status parameter_by_name(void *out)
{
	const struct tn_parameter_view *view = out;
	tn_status status = tn_module_parameter(net, "bias", out);
	saw(is_filled(status, out) ? (double)strlen(view->name) : 0);
	return status;
}

static tn_status buffer_view(void *out)
{
	const struct tn_buffer_view *view = out;
	tn_module *norm = tn_module_batch_norm2d(context, 2, NULL);
	needs(!tn_module_build(norm), "a module");
	tn_status status = tn_module_buffer_at(norm, 0, out);
	saw(is_filled(status, out) ? (double)strlen(view->name) : 0);
	tn_module_destroy(norm);
	return status;
}

static tn_status summary_row(void *out)
{
	const struct tn_summary_row *row = out;
	tn_summary *own = tn_summary_create(net, NULL);
	tn_status status = tn_summary_at(own, 0, out);
	saw(is_filled(status, out) ? (double)strlen(row->path) : 0);
	tn_summary_destroy(own);
	return status;
}

static tn_profile *ended_profile(void)
{
	tn_profile *profile = tn_profile_begin(net, NULL);
	needs(tn_module_forward(net, ramp(2, (const int64_t[]){2, 2}, 0, 1)) != NULL, "a forward");
	needs(!tn_profile_end(profile), "a profile");
	return profile;
}

static tn_status profile_row(void *out)
{
	const struct tn_profile_row *row = out;
	tn_profile *own = ended_profile();
	tn_status status = tn_profile_at(own, 0, out);
	saw(is_filled(status, out) ? row->kind : 0);
	tn_profile_destroy(own);
	return status;
}

static tn_status profile_facts(void *out)
{
	const struct tn_profile_facts *facts = out;
	tn_profile *own = ended_profile();
	tn_status status = tn_profile_get_facts(own, out);
	saw(is_filled(status, out) ? (double)strlen(facts->device) : 0);
	tn_profile_destroy(own);
	return status;
}

static tn_status model_info(void *size)
{
	saw((double)strlen(tn_model_at(0)->name));
	*(uint32_t *)size = tn_model_at(0)->struct_size;
	return TN_OK;
}

static tn_status summary_text(void *given)
{
	return text(tn_module_summary(net, given));
}

static tn_status summary(void *given)
{
	tn_summary *made = tn_summary_create(net, given);
	tn_status status = kept(made != NULL);
	tn_summary_destroy(made);
	return status;
}

static tn_status profile(void *given)
{
	tn_profile *made = tn_profile_begin(net, given);
	tn_status status = kept(made != NULL);
	tn_profile_destroy(made);
	return status;
}

/* ---- Training --------------------------------------------------------------------------------*/

static tn_status optimizer(tn_optimizer *made)
{
	if (made)
		train(make_step, made);
	tn_status status = kept(made != NULL);
	tn_optimizer_destroy(made);
	return status;
}

static tn_status sgd(void *given)
{
	struct tn_sgd_options *options = members(given);
	options->lr = 0.0625;
	return optimizer(tn_sgd(net, given));
}

static tn_status adamw(void *given)
{
	return optimizer(tn_adamw(net, given));
}

static tn_status adam(void *given)
{
	return optimizer(tn_adam(net, given));
}

static tn_status nadam(void *given)
{
	return optimizer(tn_nadam(net, given));
}

static tn_status rmsprop(void *given)
{
	return optimizer(tn_rmsprop(net, given));
}

static tn_status adagrad(void *given)
{
	return optimizer(tn_adagrad(net, given));
}

static tn_status adadelta(void *given)
{
	return optimizer(tn_adadelta(net, given));
}

static tn_status lion(void *given)
{
	return optimizer(tn_lion(net, given));
}

static tn_status lars(void *given)
{
	struct tn_lars_options *options = members(given);
	options->lr = 0.0625;
	return optimizer(tn_lars(net, given));
}

static tn_status lamb(void *given)
{
	return optimizer(tn_lamb(net, given));
}

static tn_status group(void *given)
{
	struct tn_group_options *options = members(given);
	options->lr_factor = 0.5;
	tn_optimizer *own = tn_adamw(net, NULL);
	tn_status status = tn_optimizer_set_group(own, given);
	if (!status)
		train(make_step, own);
	tn_optimizer_destroy(own);
	return status;
}

static tn_status lookahead(void *given)
{
	struct tn_lookahead_options *options = members(given);
	tn_optimizer *own = tn_adamw(net, NULL);
	options->k = 1;
	tn_status status = tn_lookahead(own, given);
	if (!status)
		train(make_step, own);
	tn_optimizer_destroy(own);
	return status;
}

static tn_status optimizer_parameter_view(void *out)
{
	const struct tn_optimizer_parameter_view *view = out;
	tn_optimizer *own = tn_adamw(net, NULL);
	tn_status status = tn_optimizer_parameter_at(own, 0, out);
	saw(is_filled(status, out) ? (double)view->steps : 0);
	tn_optimizer_destroy(own);
	return status;
}

static tn_status optimizer_state_view(void *out)
{
	const struct tn_optimizer_state_view *view = out;
	tn_optimizer *own = tn_adamw(net, NULL);
	tn_status status = tn_optimizer_state_at(own, 0, out);
	saw(is_filled(status, out) ? (double)strlen(view->state) : 0);
	tn_optimizer_destroy(own);
	return status;
}

/* An overflow, after which the scale is smaller. */
static tn_status overflow(void *scaler)
{
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_full(context, TN_F32, 2, (const int64_t[]){1, 2}, INFINITY);
	tn_array *loss = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
	needs(!tn_tape_backward(tape, tn_grad_scaler_scale(scaler, loss), NULL), "backward");
	tn_tape_end(tape);
	tn_status status = tn_grad_scaler_unscale(scaler);
	return status ? status : tn_grad_scaler_update(scaler);
}

static tn_status grad_scaler(void *given)
{
	struct tn_grad_scaler_state state = {.struct_size = sizeof(state)};
	tn_grad_scaler *made = tn_grad_scaler_create(net, given);
	if (made) {
		needs(!overflow(made) && !tn_grad_scaler_get_state(made, &state), "an overflow");
		saw(state.scale);
	}
	tn_status status = kept(made != NULL);
	tn_grad_scaler_destroy(made);
	return status;
}

static tn_status grad_scaler_get_state(void *out)
{
	const struct tn_grad_scaler_state *state = out;
	tn_grad_scaler *own = tn_grad_scaler_create(net, NULL);
	tn_status status = tn_grad_scaler_get_state(own, out);
	saw(is_filled(status, out) ? state->scale : 0);
	tn_grad_scaler_destroy(own);
	return status;
}

static tn_status grad_scaler_set_state(void *given)
{
	struct tn_grad_scaler_state *state = members(given);
	tn_grad_scaler *own = tn_grad_scaler_create(net, NULL);
	state->scale = 2;
	tn_status status = tn_grad_scaler_set_state(own, given);
	tn_grad_scaler_destroy(own);
	return status;
}

static tn_status average(void *given)
{
	tn_weight_average *made = tn_weight_average_create(net, given);
	if (made) {
		needs(!tn_weight_average_update(made), "an average");
		needs(!tn_module_init_parameters(net, "*", NULL), "other weights");
		needs(!tn_weight_average_update(made) && !tn_weight_average_swap(made),
		      "an average");
		saw_weights(net);
	}
	tn_status status = kept(made != NULL);
	tn_weight_average_destroy(made);
	return status;
}

static tn_status average_view(void *out)
{
	const struct tn_weight_average_view *view = out;
	tn_weight_average *own = tn_weight_average_create(net, NULL);
	tn_status status = tn_weight_average_at(own, 0, out);
	saw(is_filled(status, out) ? (double)strlen(view->name) : 0);
	tn_weight_average_destroy(own);
	return status;
}

static tn_schedule *half_way(tn_optimizer *of, const struct tn_schedule_options *options)
{
	tn_schedule *schedule = tn_schedule_create(of, options);
	for (int i = 0; schedule && i < 3; i++)
		needs(!tn_schedule_advance(schedule), "a schedule");
	return schedule;
}

static tn_status schedule(void *given)
{
	struct tn_schedule_options *options = members(given);
	tn_optimizer *own = tn_adamw(net, NULL);
	options->kind = TN_SCHEDULE_STEP;
	options->period = 2;
	tn_schedule *made = half_way(own, given);
	saw(tn_optimizer_lr(own));
	tn_status status = kept(made != NULL);
	tn_schedule_destroy(made);
	tn_optimizer_destroy(own);
	return status;
}

static tn_status of_schedule(tn_status (*call)(tn_schedule *of, void *state), void *state)
{
	struct tn_schedule_options options = tn_schedule_defaults();
	tn_optimizer *own = tn_adamw(net, NULL);
	options.kind = TN_SCHEDULE_CONSTANT;
	tn_schedule *made = half_way(own, &options);
	tn_status status = call(made, state);
	tn_schedule_destroy(made);
	tn_optimizer_destroy(own);
	return status;
}

static tn_status get_state(tn_schedule *of, void *out)
{
	const struct tn_schedule_state *state = out;
	tn_status status = tn_schedule_get_state(of, out);
	saw(is_filled(status, out) ? (double)state->t : 0);
	return status;
}

static tn_status schedule_get_state(void *out)
{
	return of_schedule(get_state, out);
}

static tn_status set_state(tn_schedule *of, void *given)
{
	return tn_schedule_set_state(of, given);
}

static tn_status schedule_set_state(void *given)
{
	return of_schedule(set_state, given);
}

static tn_status metric_of(tn_metric *made)
{
	double value = 0;
	if (made) {
		needs(!tn_metric_add(made, scores, labels) && !tn_metric_value(made, &value),
		      "a value of a metric");
		saw(value);
	}
	tn_status status = kept(made != NULL);
	tn_metric_destroy(made);
	return status;
}

static tn_status metric(void *given)
{
	struct tn_metric_options *options = members(given);
	options->kind = TN_METRIC_ACCURACY;
	return metric_of(tn_metric_create(context, given));
}

static void *begin_nothing(void *user, tn_context *own)
{
	(void)user;
	return own;
}

static tn_status add_nothing(void *state, const tn_array *output, const tn_array *target)
{
	return state && output && target ? TN_OK : TN_INTERNAL;
}

static tn_status value_of_nothing(void *state, double *value)
{
	*value = 2;
	return state ? TN_OK : TN_INTERNAL;
}

static tn_status metric_class(void *given)
{
	struct tn_metric_class *class_ = members(given);
	class_->name = "nothing";
	class_->begin = begin_nothing;
	class_->add = add_nothing;
	class_->value = value_of_nothing;
	return metric_of(tn_metric_custom(context, given));
}

static tn_status checkpoint_save(void *given)
{
	struct tn_checkpoint *all = members(given);
	all->module = net;
	return tn_checkpoint_save(file("checkpoint"), given);
}

static tn_status checkpoint_load(void *given)
{
	struct tn_checkpoint saved = tn_checkpoint_defaults();
	struct tn_checkpoint *all = members(given);
	saved.module = all->module = net;
	needs(!tn_checkpoint_save(file("checkpoint"), &saved), "a checkpoint");
	return tn_checkpoint_load(file("checkpoint"), given);
}

/* One that no other call uses, under the folder of this run. */
static const char *new_folder(void)
{
	static unsigned n;
	char name[32];
	snprintf(name, sizeof(name), "checkpoints%u", n++);
	return file(name);
}

static tn_status checkpoint_folder_save(void *given)
{
	struct tn_checkpoint *all = members(given);
	tn_checkpoint_folder *own = tn_checkpoint_folder_open(context, new_folder(), NULL);
	all->module = net;
	tn_status status = tn_checkpoint_folder_save(own, 1, NAN, given);
	tn_checkpoint_folder_close(own);
	return status;
}

static tn_status checkpoint_folder_load(void *given)
{
	struct tn_checkpoint saved = tn_checkpoint_defaults();
	struct tn_checkpoint *all = members(given);
	tn_checkpoint_folder *own = tn_checkpoint_folder_open(context, new_folder(), NULL);
	saved.module = all->module = net;
	needs(!tn_checkpoint_folder_save(own, 1, NAN, &saved), "a checkpoint");
	tn_status status = tn_checkpoint_folder_load(own, given, NULL);
	tn_checkpoint_folder_close(own);
	return status;
}

static tn_status checkpoint_folder(void *given)
{
	struct tn_checkpoint all = tn_checkpoint_defaults();
	tn_checkpoint_folder *made = tn_checkpoint_folder_open(context, new_folder(), given);
	all.module = net;
	for (uint64_t step = 1; made && step <= 7; step++)
		needs(!tn_checkpoint_folder_save(made, step, (double)step, &all), "a checkpoint");
	saw((double)tn_checkpoint_folder_count(made));
	tn_status status = kept(made != NULL);
	tn_checkpoint_folder_close(made);
	return status;
}

static tn_status checkpoint_view(void *out)
{
	const struct tn_checkpoint_view *view = out;
	struct tn_checkpoint all = tn_checkpoint_defaults();
	tn_checkpoint_folder *own = tn_checkpoint_folder_open(context, new_folder(), NULL);
	all.module = net;
	needs(!tn_checkpoint_folder_save(own, 9, NAN, &all), "a checkpoint");
	tn_status status = tn_checkpoint_folder_at(own, 0, out);
	saw(is_filled(status, out) ? (double)view->step : 0);
	tn_checkpoint_folder_close(own);
	return status;
}

static tn_status loss_of(tn_loss *made)
{
	tn_status status = array(made ? tn_loss_mean(made, scores, labels) : NULL);
	tn_loss_destroy(made);
	return status;
}

static tn_status loss(void *given)
{
	return loss_of(tn_loss_create(context, given));
}

static tn_array *sum_of_outputs(void *user, const tn_array *output, const tn_array *target,
				tn_array **weight)
{
	(void)user, (void)target, (void)weight;
	return tn_sum(output, TN_ALL_AXES, NULL, 0);
}

static tn_status loss_class(void *given)
{
	struct tn_loss_class *class_ = members(given);
	class_->name = "sum";
	class_->sum = sum_of_outputs;
	return loss_of(tn_loss_custom(context, given));
}

static tn_status communicator(void *given)
{
	tn_communicator *made = NULL;
	tn_status status = tn_communicator_open(context, given, &made, &error);
	saw(made ? tn_communicator_size(made) : 0);
	tn_communicator_close(made);
	return status;
}

static tn_status start_and_wait(tn_communicator *own, const struct tn_collective_host *operation)
{
	tn_request *request = NULL;
	tn_status status = tn_communicator_start(own, operation, &request);
	return status ? status : tn_request_wait(request);
}

static tn_status sum_of_ranks(tn_status (*run)(tn_communicator *own,
					       const struct tn_collective_host *operation),
			      struct tn_collective_host *operation)
{
	tn_communicator *own = NULL;
	float received[4] = {0};
	needs(!tn_communicator_open(context, NULL, &own, &error), "a communicator");
	struct tn_collective_host *sum = members(operation);
	sum->operation = TN_COLLECTIVE_ALL_REDUCE;
	sum->combiner = TN_REDUCE_SUM;
	sum->dtype = TN_F32;
	sum->n = 4;
	sum->source = numbers;
	sum->target = received;
	tn_status status = run(own, operation);
	saw(received[2]);
	tn_communicator_close(own);
	return status;
}

static tn_status collective_run(void *given)
{
	return sum_of_ranks(tn_communicator_run, given);
}

static tn_status collective_start(void *given)
{
	return sum_of_ranks(start_and_wait, given);
}

static tn_status data_parallel(void *given)
{
	tn_communicator *own = NULL;
	needs(!tn_communicator_open(context, NULL, &own, &error), "a communicator");
	tn_data_parallel *made = tn_data_parallel_create(net, own, given);
	tn_status status = kept(made != NULL);
	tn_data_parallel_destroy(made);
	tn_communicator_close(own);
	return status;
}

/* ---- Data ------------------------------------------------------------------------------------*/

static const uint8_t images[8][4] = {{0, 1, 2, 3}, {9, 9, 9, 9}, {4, 4, 0, 0}, {7, 0, 7, 0},
				     {1, 1, 1, 1}, {2, 0, 0, 0}, {0, 0, 3, 8}, {5, 5, 5, 0}};
static const int32_t classes[8] = {0, 1, 0, 1, 1, 0, 0, 1};

static tn_status dataset_create(void *given)
{
	struct tn_dataset_source *source = members(given);
	tn_dataset *made = NULL;
	source->channels = 1;
	source->height = source->width = 2;
	source->images = images[0];
	source->labels = classes;
	source->n_images = 8;
	source->n_classes = 2;
	tn_status status = tn_dataset_create(given, &made, &error);
	if (!status) {
		saw(tn_dataset_format(made)->mean[0]);
		saw(tn_dataset_format(made)->deviation[0]);
	}
	tn_dataset_destroy(made);
	return status;
}

static tn_dataset *eight_images(void)
{
	struct tn_dataset_source source = tn_dataset_source_defaults();
	tn_dataset *made = NULL;
	source.channels = 1;
	source.height = source.width = 2;
	source.images = images[0];
	source.labels = classes;
	source.n_images = 8;
	source.n_classes = 2;
	needs(!tn_dataset_create(&source, &made, &error), "a data set");
	return made;
}

/* A table of two numbers and a class. */
static const char *table(void)
{
	FILE *out = fopen(file("table.csv"), "w");
	needs(out && fputs("x,y,target\n1,2,0\n3,4,1\n5,6,0\n7,9,1\n", out) >= 0 && !fclose(out),
	      "a table");
	return file("table.csv");
}

static tn_status csv_read(void *given)
{
	struct tn_csv_options *options = members(given);
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	options->header = 1;
	tn_status status = tn_csv_read(table(), given, &csv, &error);
	saw(status ? 0 : (double)csv.values.shape[1]);
	tn_csv_release(&csv);
	return status;
}

static tn_status csv(void *out)
{
	struct tn_csv *csv = out;
	struct tn_csv_options options = tn_csv_defaults();
	options.header = 1;
	tn_status status = tn_csv_read(table(), &options, out, &error);
	saw(is_filled(status, out) ? (double)csv->values.shape[1] : 0);
	if (!status)
		tn_csv_release(csv);
	return status;
}

static tn_status dataset_open(void *given)
{
	tn_dataset *made = NULL;
	tn_status status = tn_dataset_open(table(), given, &made, &error);
	saw(status ? 0 : (double)tn_dataset_count(made, TN_PART_TRAIN));
	tn_dataset_destroy(made);
	return status;
}

static tn_status dataset_from_fields(void *given)
{
	static const struct tn_field field = {.dtype = TN_F32};
	static const void *const data[1] = {numbers};
	struct tn_dataset_fields *source = members(given);
	tn_dataset *made = NULL;
	source->n_fields = 1;
	source->fields = &field;
	source->n = 4;
	source->data = data;
	tn_status status = tn_dataset_from_fields(given, &made, &error);
	saw(status ? 0 : (double)tn_dataset_count(made, TN_PART_TRAIN));
	tn_dataset_destroy(made);
	return status;
}

static tn_status dataset_fold(void *given)
{
	struct tn_fold_options *options = members(given);
	tn_dataset *all = eight_images(), *made = NULL;
	options->n_folds = 4;
	tn_status status = tn_dataset_fold(all, given, &made, &error);
	for (uint64_t i = 0; made && i < tn_dataset_count(made, TN_PART_TRAIN); i++)
		saw(tn_dataset_image(made, TN_PART_TRAIN, i, NULL)[0]);
	tn_dataset_destroy(made);
	tn_dataset_destroy(all);
	return status;
}

/* The format of eight_images. */
static void set_format(struct tn_input_format *format)
{
	format->channels = 1;
	format->height = format->width = format->source_height = format->source_width = 2;
	format->n_classes = 2;
}

static tn_status input_format_apply(void *given)
{
	static uint8_t data[4] = {1, 2, 3, 4};
	static const struct tn_image image = {.width = 2, .height = 2, .channels = 1, .data = data};
	float x[4] = {0};
	set_format(members(given));
	tn_status status = tn_input_format_apply(given, &image, 0, x, &error);
	saw(x[3]);
	return status;
}

static tn_status predict(void *given)
{
	static const float two[4] = {1, 2, 3, 4};
	tn_module *module = tn_module_flatten(context);
	struct tn_input_format *format = members(given);
	float probabilities[4] = {0};
	set_format(format);
	format->n_classes = 4;
	needs(!tn_module_build(module), "a module");
	tn_status status = tn_predict(module, given, 1, two, probabilities);
	saw(probabilities[3]);
	tn_module_destroy(module);
	return status;
}

static tn_status normalise_as(void *given)
{
	struct tn_dataset_options options = tn_dataset_defaults();
	tn_dataset *made = NULL;
	set_format(members(given));
	options.normalise_as = given;
	tn_status status = tn_dataset_open("/nonexistent", &options, &made, &error);
	tn_dataset_destroy(made);
	return status;
}

static tn_status input_format_parse(void *out)
{
	const struct tn_input_format *format = out;
	struct tn_input_format own = tn_input_format_defaults();
	set_format(&own);
	char *written = tn_input_format_text(&own);
	needs(written != NULL, "the text of a format");
	tn_status status = tn_input_format_parse(written, out, &error);
	saw(is_filled(status, out) ? format->height : 0);
	tn_string_free(written);
	return status;
}

static tn_status model_input_format(void *out)
{
	const struct tn_input_format *format = out;
	tn_status status = tn_model_input_format("resnet18", out, &error);
	saw(is_filled(status, out) ? format->height : 0);
	return status;
}

static tn_status input_format_imagenet(void *out)
{
	const struct tn_input_format *format = out;
	tn_status status = tn_input_format_imagenet(out, &error);
	saw(is_filled(status, out) ? format->height : 0);
	return status;
}

static tn_status dataset_format(void *size)
{
	tn_dataset *own = eight_images();
	*(uint32_t *)size = tn_dataset_format(own)->struct_size;
	tn_dataset_destroy(own);
	return TN_OK;
}

static tn_status dataset_augmentation(void *size)
{
	tn_dataset *own = eight_images();
	const struct tn_augmentation *found = tn_dataset_augmentation(own);
	*(uint32_t *)size = found ? found->struct_size : 0;
	tn_dataset_destroy(own);
	return TN_OK;
}

static tn_status dataset_info(void *size)
{
	saw((double)strlen(tn_dataset_at(0)->name));
	*(uint32_t *)size = tn_dataset_at(0)->struct_size;
	return TN_OK;
}

static tn_status of_loader(const struct tn_data_loader_options *options, struct tn_batch *batch)
{
	tn_dataset *own = eight_images();
	tn_data_loader *made = NULL;
	tn_status status = tn_data_loader_create(own, TN_PART_TRAIN, options, &made, &error);
	if (!status)
		status = tn_data_loader_next(made, batch, &error);
	for (uint32_t i = 0; is_filled(status, batch) && i < 4 * batch->n; i++)
		saw(((const float *)batch->data[0])[i]);
	tn_data_loader_destroy(made);
	tn_dataset_destroy(own);
	return status;
}

static tn_status data_loader(void *given)
{
	struct tn_data_loader_options *options = members(given);
	struct tn_batch own = {.struct_size = sizeof(own)};
	options->batch_size = 2;
	return of_loader(given, &own);
}

static tn_status batch(void *out)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 2;
	return of_loader(&options, out);
}

static tn_status keep_size_of_sample(void *size, struct tn_sample *of, struct tn_error_info *told)
{
	(void)told;
	saw(tn_sample_random(of, 0) != 0);
	*(uint32_t *)size = of->struct_size;
	return TN_OK;
}

static tn_status sample(void *size)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	struct tn_batch own = {.struct_size = sizeof(own)};
	options.batch_size = 2;
	options.transform = keep_size_of_sample;
	options.user = size;
	return of_loader(&options, &own);
}

static tn_status augment_both(const struct tn_augmentation *options, struct tn_augment_batch *of)
{
	float pixels[32];
	for (int i = 0; i < 32; i++)
		pixels[i] = (float)i;
	struct tn_augment_batch *two = members(of);
	two->n = 2;
	two->channels = 1;
	two->height = two->width = 4;
	two->images = pixels;
	tn_status status = tn_augment(options, of, &error);
	saw(pixels[0] + 2 * pixels[31]);
	return status;
}

static tn_status augment(void *given)
{
	struct tn_augmentation *options = members(given);
	struct tn_augment_batch own = tn_augment_batch_defaults();
	options->max_shift = 1;
	return augment_both(given, &own);
}

static tn_status augment_batch(void *given)
{
	struct tn_augmentation options = tn_augmentation_defaults();
	options.max_shift = 1;
	return augment_both(&options, given);
}

static tn_loss *mean_square(void)
{
	struct tn_loss_options options = tn_loss_defaults();
	options.kind = TN_LOSS_MSE;
	return tn_loss_create(context, &options);
}

static tn_dataset *three_numbers(void)
{
	static const float x[4][2] = {{0, 1}, {1, 0}, {2, 2}, {3, 1}}, y[4] = {1, 0, 2, 1};
	static const struct tn_field fields[2] = {
		{.dtype = TN_F32, .rank = 1, .shape = {2}},
		{.dtype = TN_F32, .rank = 1, .shape = {1}},
	};
	static const void *const data[2] = {x, y};
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	tn_dataset *made = NULL;
	source.n_fields = 2;
	source.fields = fields;
	source.n = 4;
	source.data = data;
	needs(!tn_dataset_from_fields(&source, &made, &error), "a data set");
	return made;
}

static tn_status short_batch(void *out)
{
	const struct tn_short_batch *found = out;
	struct tn_data_loader_options by_three = tn_data_loader_defaults();
	tn_dataset *own = three_numbers();
	tn_data_loader *loader = NULL;
	by_three.batch_size = 3;
	needs(!tn_data_loader_create(own, TN_PART_TRAIN, &by_three, &loader, &error), "a loader");
	tn_status status = kept(!tn_short_batch_find(net, loader, out));
	saw(is_filled(status, out) ? found->samples : 0);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(own);
	return status;
}

/* One epoch of two steps, then an evaluation. */
static tn_status of_trainer(struct tn_trainer_options *options, struct tn_trainer_values *values)
{
	struct tn_data_loader_options by_two = tn_data_loader_defaults();
	struct tn_adamw_options rate = tn_adamw_defaults();
	tn_dataset *own = three_numbers();
	tn_data_loader *loader = NULL;
	tn_loss *loss = mean_square();
	rate.lr = 0.0625;
	tn_optimizer *steps = tn_adamw(net, &rate);
	by_two.batch_size = 2;
	needs(!tn_data_loader_create(own, TN_PART_TRAIN, &by_two, &loader, &error), "a loader");
	struct tn_trainer_options *both = members(options);
	both->train = both->validation = loader;
	both->loss = loss;
	tn_trainer *made = tn_trainer_create(net, steps, options);
	tn_status status = kept(made != NULL);
	if (!status)
		status = tn_trainer_run(made);
	if (!status)
		status = tn_trainer_evaluate(made, loader, values);
	if (!status) {
		saw((double)tn_trainer_history_at(made, 0)->step);
		saw((double)tn_trainer_best(made)->epoch);
		saw_weights(net);
	}
	tn_trainer_destroy(made);
	tn_optimizer_destroy(steps);
	tn_loss_destroy(loss);
	tn_data_loader_destroy(loader);
	tn_dataset_destroy(own);
	return status;
}

static tn_status trainer(void *given)
{
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	return of_trainer(given, &values);
}

static tn_status trainer_values(void *out)
{
	const struct tn_trainer_values *values = out;
	struct tn_trainer_options options = tn_trainer_defaults();
	tn_status status = of_trainer(&options, out);
	saw(is_filled(status, out) ? values->loss : 0);
	return status;
}

static int keep_size_of_step(void *size, const struct tn_trainer_step *step)
{
	*(uint32_t *)size = step->struct_size;
	return 0;
}

static int keep_size_of_progress(void *size, const struct tn_trainer_progress *progress)
{
	*(uint32_t *)size = progress->struct_size;
	return 0;
}

static int keep_size_of_values(void *size, const struct tn_trainer_values *values)
{
	*(uint32_t *)size = values->struct_size;
	return 0;
}

static int keep_size_of_epoch(void *size, const struct tn_trainer_epoch *epoch)
{
	*(uint32_t *)size = epoch->struct_size;
	return 0;
}

static tn_status watched(struct tn_trainer_options options, void *size)
{
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	options.user = size;
	return of_trainer(&options, &values);
}

static tn_status trainer_step(void *size)
{
	struct tn_trainer_options options = tn_trainer_defaults();
	options.on_step = keep_size_of_step;
	return watched(options, size);
}

static tn_status trainer_progress(void *size)
{
	struct tn_trainer_options options = tn_trainer_defaults();
	options.on_progress = keep_size_of_progress;
	return watched(options, size);
}

static tn_status trainer_evaluation(void *size)
{
	struct tn_trainer_options options = tn_trainer_defaults();
	options.on_evaluation = keep_size_of_values;
	return watched(options, size);
}

static tn_status trainer_epoch(void *size)
{
	struct tn_trainer_options options = tn_trainer_defaults();
	options.on_epoch = keep_size_of_epoch;
	return watched(options, size);
}

/* ---- The table -------------------------------------------------------------------------------*/

/* What a function does with the struct. */
enum { GIVEN, FILLED, LENT };

static const struct row {
	const char *type;
	int way;
	/* FILLED: of a struct with its struct_size, or GIVEN: with its defaults, of which it may
	 * set some; LENT: sets the uint32_t to the size of the struct that it was lent. */
	tn_status (*call)(void *given);
	tn_status status;
} rows[] = {
	{"tn_context_options", GIVEN, context_options, TN_OK},
	{"tn_variable", FILLED, variable, TN_OK},
	{"tn_load_row", LENT, load_row, TN_OK},
	{"tn_load_row", LENT, first_load_row, TN_OK},
	{"tn_load_option", LENT, load_option, TN_OK},
	{"tn_device_description", LENT, device_description, TN_OK},
	{"tn_memory_statistics", FILLED, memory_statistics, TN_OK},
	{"tn_memory_event", LENT, memory_event, TN_OK},
	{"tn_memory_use", FILLED, memory_use, TN_OK},
	{"tn_ledger_row", FILLED, ledger_row, TN_OK},
	/* Arrays. */
	{"tn_wrap_options", GIVEN, wrap, TN_OK},
	{"tn_wrap_options", GIVEN, import, TN_OK},
	{"tn_wrap_options", GIVEN, asarray_memory, TN_OK},
	{"tn_asarray_options", GIVEN, asarray, TN_OK},
	{"tn_asarray_options", GIVEN, asarray_host, TN_OK},
	{"tn_to_dlpack_options", GIVEN, to_dlpack, TN_OK},
	{"tn_to_dlpack_options", GIVEN, to_dlpack_unversioned, TN_OK},
	{"tn_from_dlpack_options", GIVEN, from_dlpack, TN_OK},
	{"tn_from_dlpack_options", GIVEN, from_dlpack_unversioned, TN_OK},
	{"tn_print_options", GIVEN, array2string, TN_OK},
	{"tn_print_options", GIVEN, array_str, TN_OK},
	{"tn_print_options", GIVEN, array_repr, TN_OK},
	{"tn_assert_options", GIVEN, assert_allclose, TN_OK},
	{"tn_assert_options", GIVEN, assert_array_equal, TN_OK},
	{"tn_assert_options", GIVEN, assert_array_less, TN_OK},
	{"tn_loadtxt_options", GIVEN, loadtxt, TN_OK},
	{"tn_savetxt_options", GIVEN, savetxt, TN_OK},
	{"tn_csv_options", GIVEN, csv_read, TN_OK},
	{"tn_csv", FILLED, csv, TN_OK},
	{"tn_tensor_info", FILLED, tensor_info, TN_OK},
	{"tn_reduce_options", GIVEN, reduce, TN_OK},
	{"tn_quantile_options", GIVEN, quantile, TN_OK},
	{"tn_quantile_options", GIVEN, nanquantile, TN_OK},
	{"tn_quantile_options", GIVEN, percentile, TN_OK},
	{"tn_quantile_options", GIVEN, nanpercentile, TN_OK},
	{"tn_histogram_options", GIVEN, histogram, TN_OK},
	{"tn_histogramdd_options", GIVEN, histogramdd, TN_OK},
	{"tn_histogramdd_options", GIVEN, histogram2d, TN_OK},
	{"tn_ufunc_options", GIVEN, ufunc_call, TN_OK},
	{"tn_ufunc_options", GIVEN, ufunc_outer, TN_OK},
	{"tn_ufunc_options", GIVEN, ufunc_reduce, TN_OK},
	{"tn_ufunc_options", GIVEN, ufunc_accumulate, TN_OK},
	{"tn_map_options", GIVEN, map, TN_OK},
	{"tn_reduce_map_options", GIVEN, reduce_map, TN_OK},
	{"tn_scan_map_options", GIVEN, scan_map, TN_OK},
	{"tn_memo_statistics", FILLED, memo_statistics, TN_OK},
	{"tn_program_names", GIVEN, program_names, TN_OK},
	{"tn_program_wants", GIVEN, program_wants, TN_OK},
	/* The reference has no compiler. */
	{"tn_kernel_source", GIVEN, kernel_source, TN_UNSUPPORTED},
	{"tn_benchmark_options", GIVEN, benchmark, TN_OK},
	{"tn_benchmark_result", FILLED, benchmark_result, TN_OK},
	/* Gradients and layers. */
	{"tn_gradients_options", GIVEN, gradients, TN_OK},
	{"tn_node_options", GIVEN, node, TN_OK},
	{"tn_node_call", LENT, node_call, TN_OK},
	{"tn_gradient_report", FILLED, gradient_report, TN_OK},
	{"tn_conv2d_options", GIVEN, conv2d, TN_OK},
	{"tn_conv1d_options", GIVEN, conv1d, TN_OK},
	{"tn_conv_transpose2d_options", GIVEN, conv_transpose2d, TN_OK},
	{"tn_pool2d_options", GIVEN, avg_pool2d, TN_OK},
	{"tn_pool2d_options", GIVEN, max_pool2d, TN_OK},
	{"tn_pool2d_options", GIVEN, module_max_pool2d, TN_OK},
	{"tn_pool2d_options", GIVEN, module_avg_pool2d, TN_OK},
	{"tn_interpolate_options", GIVEN, interpolate, TN_OK},
	{"tn_interpolate_options", GIVEN, module_upsample, TN_OK},
	{"tn_local_response_norm_options", GIVEN, local_response_norm, TN_OK},
	{"tn_local_response_norm_options", GIVEN, module_local_response_norm, TN_OK},
	{"tn_batch_norm_options", GIVEN, batch_norm, TN_OK},
	{"tn_attention_options", GIVEN, attention, TN_OK},
	{"tn_recurrent_options", GIVEN, gru, TN_OK},
	{"tn_recurrent_options", GIVEN, lstm, TN_OK},
	{"tn_cross_entropy_options", GIVEN, cross_entropy, TN_OK},
	{"tn_nll_loss_options", GIVEN, nll_loss, TN_OK},
	{"tn_binary_cross_entropy_options", GIVEN, binary_cross_entropy, TN_OK},
	{"tn_kaiming_options", GIVEN, kaiming_uniform, TN_OK},
	{"tn_kaiming_options", GIVEN, kaiming_normal, TN_OK},
	/* Modules. */
	{"tn_module_linear_options", GIVEN, module_linear, TN_OK},
	{"tn_module_conv2d_options", GIVEN, module_conv2d, TN_OK},
	{"tn_module_conv1d_options", GIVEN, module_conv1d, TN_OK},
	{"tn_module_conv_transpose2d_options", GIVEN, module_conv_transpose2d, TN_OK},
	{"tn_module_embedding_options", GIVEN, module_embedding, TN_OK},
	{"tn_module_norm_options", GIVEN, module_group_norm, TN_OK},
	{"tn_module_norm_options", GIVEN, module_batch_norm1d, TN_OK},
	{"tn_module_norm_options", GIVEN, module_batch_norm2d, TN_OK},
	{"tn_module_norm_options", GIVEN, module_layer_norm, TN_OK},
	{"tn_module_norm_options", GIVEN, module_layer_norm2d, TN_OK},
	{"tn_module_instance_norm_options", GIVEN, module_instance_norm2d, TN_OK},
	{"tn_module_attention_options", GIVEN, module_attention, TN_OK},
	{"tn_module_recurrent_options", GIVEN, module_gru, TN_OK},
	{"tn_module_recurrent_options", GIVEN, module_lstm, TN_OK},
	{"tn_module_mbconv_options", GIVEN, module_mbconv, TN_OK},
	{"tn_module_convnext_options", GIVEN, module_convnext, TN_OK},
	{"tn_module_class", GIVEN, module_class, TN_OK},
	{"tn_frozen_run_options", GIVEN, frozen_run, TN_OK},
	{"tn_module_load_options", GIVEN, module_load, TN_OK},
	{"tn_init_options", GIVEN, module_init, TN_OK},
	{"tn_summary_options", GIVEN, summary_text, TN_OK},
	{"tn_summary_options", GIVEN, summary, TN_OK},
	{"tn_summary_row", FILLED, summary_row, TN_OK},
	{"tn_profile_options", GIVEN, profile, TN_OK},
	{"tn_profile_row", FILLED, profile_row, TN_OK},
	{"tn_profile_facts", FILLED, profile_facts, TN_OK},
	{"tn_module_view", FILLED, module_view, TN_OK},
	{"tn_parameter_view", FILLED, parameter_view, TN_OK},
	{"tn_parameter_view", FILLED, parameter_by_name, TN_OK},
	{"tn_buffer_view", FILLED, buffer_view, TN_OK},
	{"tn_model_info", LENT, model_info, TN_OK},
	/* Training. */
	{"tn_sgd_options", GIVEN, sgd, TN_OK},
	{"tn_adamw_options", GIVEN, adamw, TN_OK},
	{"tn_adam_options", GIVEN, adam, TN_OK},
	{"tn_nadam_options", GIVEN, nadam, TN_OK},
	{"tn_rmsprop_options", GIVEN, rmsprop, TN_OK},
	{"tn_adagrad_options", GIVEN, adagrad, TN_OK},
	{"tn_adadelta_options", GIVEN, adadelta, TN_OK},
	{"tn_lion_options", GIVEN, lion, TN_OK},
	{"tn_lars_options", GIVEN, lars, TN_OK},
	{"tn_lamb_options", GIVEN, lamb, TN_OK},
	{"tn_group_options", GIVEN, group, TN_OK},
	{"tn_optimizer_parameter_view", FILLED, optimizer_parameter_view, TN_OK},
	{"tn_optimizer_state_view", FILLED, optimizer_state_view, TN_OK},
	{"tn_lookahead_options", GIVEN, lookahead, TN_OK},
	{"tn_grad_scaler_options", GIVEN, grad_scaler, TN_OK},
	{"tn_grad_scaler_state", FILLED, grad_scaler_get_state, TN_OK},
	{"tn_grad_scaler_state", GIVEN, grad_scaler_set_state, TN_OK},
	{"tn_weight_average_options", GIVEN, average, TN_OK},
	{"tn_weight_average_view", FILLED, average_view, TN_OK},
	{"tn_schedule_options", GIVEN, schedule, TN_OK},
	{"tn_schedule_state", FILLED, schedule_get_state, TN_OK},
	{"tn_schedule_state", GIVEN, schedule_set_state, TN_OK},
	{"tn_metric_options", GIVEN, metric, TN_OK},
	{"tn_metric_class", GIVEN, metric_class, TN_OK},
	{"tn_loss_options", GIVEN, loss, TN_OK},
	{"tn_loss_class", GIVEN, loss_class, TN_OK},
	{"tn_checkpoint", GIVEN, checkpoint_save, TN_OK},
	{"tn_checkpoint", GIVEN, checkpoint_load, TN_OK},
	{"tn_checkpoint", GIVEN, checkpoint_folder_save, TN_OK},
	{"tn_checkpoint", GIVEN, checkpoint_folder_load, TN_OK},
	{"tn_checkpoint_folder_options", GIVEN, checkpoint_folder, TN_OK},
	{"tn_checkpoint_view", FILLED, checkpoint_view, TN_OK},
	{"tn_trainer_options", GIVEN, trainer, TN_OK},
	{"tn_trainer_values", FILLED, trainer_values, TN_OK},
	{"tn_trainer_values", LENT, trainer_evaluation, TN_OK},
	{"tn_trainer_step", LENT, trainer_step, TN_OK},
	{"tn_short_batch", FILLED, short_batch, TN_OK},
	{"tn_trainer_progress", LENT, trainer_progress, TN_OK},
	{"tn_trainer_epoch", LENT, trainer_epoch, TN_OK},
	{"tn_communicator_options", GIVEN, communicator, TN_OK},
	{"tn_collective_host", GIVEN, collective_run, TN_OK},
	{"tn_collective_host", GIVEN, collective_start, TN_OK},
	{"tn_data_parallel_options", GIVEN, data_parallel, TN_OK},
	/* Data. */
	{"tn_dataset_options", GIVEN, dataset_open, TN_OK},
	{"tn_dataset_source", GIVEN, dataset_create, TN_OK},
	{"tn_dataset_fields", GIVEN, dataset_from_fields, TN_OK},
	{"tn_fold_options", GIVEN, dataset_fold, TN_OK},
	{"tn_input_format", GIVEN, input_format_apply, TN_OK},
	{"tn_input_format", GIVEN, predict, TN_OK},
	{"tn_input_format", GIVEN, normalise_as, TN_NOT_FOUND},
	{"tn_input_format", FILLED, input_format_parse, TN_OK},
	{"tn_input_format", FILLED, model_input_format, TN_OK},
	{"tn_input_format", FILLED, input_format_imagenet, TN_OK},
	{"tn_input_format", LENT, dataset_format, TN_OK},
	{"tn_data_loader_options", GIVEN, data_loader, TN_OK},
	{"tn_batch", FILLED, batch, TN_OK},
	{"tn_sample", LENT, sample, TN_OK},
	{"tn_augmentation", GIVEN, augment, TN_OK},
	{"tn_augment_batch", GIVEN, augment_batch, TN_OK},
	{"tn_augmentation", LENT, dataset_augmentation, TN_OK},
	{"tn_dataset_info", LENT, dataset_info, TN_OK},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* `size` bytes where a page ends, before one that cannot be accessed; fewer than 8 begin where 8
 * would, so that they are aligned as any struct. */
static void *at_the_end(size_t size)
{
	static unsigned char *pages;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (!pages) {
		pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		needs(pages != MAP_FAILED && !mprotect(pages + page, page, PROT_NONE), "pages");
	}
	memset(pages, 0xa5, page);
	return pages + page - (size < 8 ? 8 : size);
}

/* A struct of `size` bytes, at the end of memory, of which the first are the type's defaults. */
static void *with_defaults(const struct sized *type, size_t size)
{
	_Alignas(16) unsigned char whole[1024] = {0};
	const uint32_t own = (uint32_t)size;
	if (type->defaults)
		type->defaults(whole);
	memcpy(whole, &own, sizeof(own));
	return memcpy(at_the_end(size), whole, size);
}

/* A call in a context of its own, so that none depends on those before. */
static tn_status call(const struct row *row, void *given)
{
	begin();
	tn_status status = row->call(given);
	end();
	return status;
}

#endif
