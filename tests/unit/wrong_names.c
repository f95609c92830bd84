/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A look-up by a name that nothing has fails, and its error names the function, what was asked for
 * and, where it is a misspelling, the nearest name.  A question leaves no error.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "io_files.h"

static tn_context *context;
static tn_module *net, *conv;
static tn_optimizer *optimizer;
static const char *folder;
static char npz[300], weights[300], table[300];

/* ---- Look-ups --------------------------------------------------------------------------------*/

static int fails_own_parameter(struct tn_error_info *report)
{
	(void)report;
	return !tn_module_own_parameter(conv, "weght");
}

static int fails_own_buffer(struct tn_error_info *report)
{
	(void)report;
	return !tn_module_own_buffer(tn_module_child(net, "norm1"), "running_men");
}

static int fails_child(struct tn_error_info *report)
{
	(void)report;
	return !tn_module_child(net, "con1");
}

static int fails_share(struct tn_error_info *report)
{
	(void)report;
	tn_module *linear = tn_module_linear(context, 2, 2, NULL);
	tn_module *other = tn_module_linear(context, 2, 2, NULL);
	const tn_status status = tn_module_share_parameter(linear, "weight", other, "weght");
	tn_module_destroy(linear);
	tn_module_destroy(other);
	return status != TN_OK;
}

static int fails_trainable(struct tn_error_info *report)
{
	(void)report;
	return tn_module_set_trainable(net, "con1", 0) != TN_OK;
}

static int fails_init(struct tn_error_info *report)
{
	struct tn_init_options zeros = tn_init_defaults();
	(void)report;
	return tn_module_init_parameters(net, "con1.*", &zeros) != TN_OK;
}

static int fails_model(struct tn_error_info *report)
{
	(void)report;
	return !tn_model_create(context, "lenett", &(struct tn_model_shape){1, 28, 28, 10});
}

static int fails_setting(struct tn_error_info *report)
{
	(void)report;
	return !tn_model_create(context, "mlp:drop=0.5", &(struct tn_model_shape){1, 8, 8, 10});
}

static int fails_device(struct tn_error_info *report)
{
	(void)report;
	return !tn_device_find(context, "refer");
}

static int fails_load_npz(struct tn_error_info *report)
{
	(void)report;
	return !tn_load_npz(context, npz, "weghts");
}

static int fails_program(struct tn_error_info *report)
{
	static const tn_dtype dtype = TN_F32;
	const struct tn_program_names names = {.struct_size = sizeof(names),
					       .n_inputs = 1,
					       .inputs = (const char *[]){"x"},
					       .input_dtypes = &dtype};
	tn_program *program = NULL;
	return tn_program_parse("z = sqtr(x)", &names, &program, report) != TN_OK;
}

static int fails_tensor(struct tn_error_info *report)
{
	tn_safetensors *file = NULL;
	size_t index = 0;
	assert_ok(tn_safetensors_open(weights, &file, NULL));
	const tn_status status = tn_safetensors_find(file, "conv1.weght", &index, report);
	tn_safetensors_close(file);
	return status != TN_OK;
}

static int fails_data(struct tn_error_info *report)
{
	tn_dataset *dataset = NULL;
	return tn_dataset_open("digitts", NULL, &dataset, report) != TN_OK;
}

static int fails_locate(struct tn_error_info *report)
{
	char *path = NULL;
	return tn_dataset_locate("digitts", &path, report) != TN_OK;
}

static int fails_column(struct tn_error_info *report)
{
	struct tn_dataset_options options = tn_dataset_defaults();
	options.target = "prise";
	tn_dataset *dataset = NULL;
	return tn_dataset_open(table, &options, &dataset, report) != TN_OK;
}

static int fails_input_format(struct tn_error_info *report)
{
	struct tn_input_format format = tn_input_format_defaults();
	return tn_model_input_format("resnet81", &format, report) != TN_OK;
}

static const struct {
	const char *function;
	int (*fails)(struct tn_error_info *report);
	const char *text;
} lookups[] = {
	{"own_parameter", fails_own_parameter, "no parameter 'weght' in Conv2d; nearest: 'weight'"},
	{"own_buffer", fails_own_buffer, "nearest: 'running_mean'"},
	{"child", fails_child, "no member 'con1' in Sequential; nearest: 'conv1'"},
	{"share_parameter", fails_share, "nearest: 'weight'"},
	{"set_trainable", fails_trainable, "'con1' in Sequential"},
	{"init_parameters", fails_init, "'con1.*'"},
	{"model_create", fails_model, "did you mean 'lenet'?"},
	{"model_create", fails_setting, "did you mean 'dropout'?"},
	{"device_find", fails_device, "expected one of reference:0, cpu:0, found 'refer'"},
	{"load_npz", fails_load_npz, "no array 'weghts' among 1; nearest: 'weights'"},
	{"program_parse", fails_program, "did you mean 'sqrt'?"},
	{"safetensors_find", fails_tensor, "nearest: \"conv1.weight\""},
	{"dataset_open", fails_data, "did you mean 'digits'?"},
	{"dataset_locate", fails_locate, "did you mean 'digits'?"},
	{"dataset_open", fails_column, "nearest: 'price'"},
	{"model_input_format", fails_input_format, "did you mean 'resnet18'?"},
};

static void a_wrong_name_is_an_error_with_the_nearest(void **state)
{
	int n_faults = 0;
	(void)state;
	for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
		struct tn_error_info report = {.struct_size = sizeof(report)};
		tn_error_clear(context);
		const int has_failed = lookups[i].fails(&report);
		const struct tn_error_info *error = tn_error(context) ? tn_error(context) : &report;
		if (has_failed && error->status && strstr(error->text, lookups[i].text))
			continue;
		n_faults++;
		print_error("tn_%s: expected \"%s\", found \"%s: %s\"\n", lookups[i].function,
			    lookups[i].text, error->operation, error->text);
	}
	tn_error_clear(context);
	assert_int_equal(n_faults, 0);
}

static void a_question_leaves_no_error(void **state)
{
	struct tn_parameter_view view = {0};
	struct tn_report_line line = {.struct_size = sizeof(line)};
	tn_device *device = tn_device_current(context);
	(void)state;
	assert_false(tn_device_available(context, "refer"));
	assert_false(tn_device_available(context, "reference:1"));
	assert_false(tn_device_available(context, "reference:x"));
	assert_false(tn_device_available(context, NULL));
	assert_false(tn_device_available(NULL, "reference"));
	assert_true(tn_device_available(context, "reference"));
	assert_true(tn_device_available(context, "reference:0"));
	assert_false(tn_backend_available(context, "refer", NULL));
	assert_status(tn_module_parameter(net, "conv1.weght", &view), TN_NOT_FOUND);
	assert_status(tn_device_attribute(device, "drive", &line), TN_NOT_FOUND);
	assert_null(tn_ufunc_find("tanhh"));
	assert_null(tn_error(context));
}

/* ---- The objects -----------------------------------------------------------------------------*/

static int setup(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	(void)state;
	assert_ok(tn_context_open(&options, &context, NULL));
	net = tn_module_sequential(context);
	conv = tn_module_conv2d(context, 1, 2, 3, 3, NULL);
	assert_ok(tn_module_sequential_add(net, "conv1", conv));
	assert_ok(tn_module_sequential_add(net, "norm1", tn_module_batch_norm2d(context, 2, NULL)));
	assert_ok(tn_module_build(net));
	optimizer = tn_sgd(net, &sgd);
	folder = files_folder();
	snprintf(npz, sizeof(npz), "%s/a.npz", folder);
	snprintf(weights, sizeof(weights), "%s/a.safetensors", folder);
	snprintf(table, sizeof(table), "%s/a.csv", folder);
	const tn_array *ones = tn_ones(context, TN_F32, 1, (int64_t[]){2});
	assert_ok(tn_savez(context, npz, 1, (const char *[]){"weights"}, &ones));
	assert_ok(tn_module_save(net, weights, 0, NULL));
	FILE *file = fopen(table, "w");
	assert_non_null(file);
	fputs("size,price\n1,2\n3,4\n", file);
	assert_int_equal(fclose(file), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	files_remove(folder);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_context_close(context);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_name_is_an_error_with_the_nearest),
		cmocka_unit_test(a_question_leaves_no_error),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
