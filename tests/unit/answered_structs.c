/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every public function that fills a struct with a struct_size refuses one that lacks it, and
 * writes no byte beyond the caller's size and none beyond its own.  Structs that the library lends
 * have the library's size.
 */
#include <tenon/benchmark.h>
#include <tenon/checkpoint.h>
#include <tenon/device.h>
#include <tenon/profile.h>
#include <tenon/schedule.h>
#include <tenon/tenon.h>

#include "check.h"
#include "io_files.h"

static tn_context *context;
static tn_module *net; /* a batch norm, which has a buffer, and a linear layer */
static tn_optimizer *optimizer;
static tn_schedule *schedule;
static tn_weight_average *average;
static tn_grad_scaler *scaler;
static tn_summary *summary;
static tn_profile *profile;
static tn_checkpoint_folder *checkpoints;
static tn_safetensors *file;
static tn_dataset *dataset;
static tn_data_loader *loader, *whole; /* of digits */
static tn_module *classifier;          /* of digits */
static tn_trainer *trainer;
static tn_array *x;
static const char *folder, *table_path;
static char *format_text;
static struct tn_error_info error; /* of functions that take a report */

/* ---- Calls -----------------------------------------------------------------------------------*/

static tn_status variable_at(void *out)
{
	return tn_variable_at(context, 0, out);
}

static tn_status device_memory(void *out)
{
	return tn_device_get_memory_use(tn_device_current(context), out);
}

static tn_status device_memory_statistics(void *out)
{
	return tn_device_get_memory_statistics(tn_device_current(context), out);
}

static tn_status ledger_at(void *out)
{
	return tn_ledger_at(context, 0, out);
}

static tn_status memo_get_statistics(void *out)
{
	return tn_memo_get_statistics(context, out);
}

static tn_status do_nothing(void *data)
{
	return data ? TN_OK : TN_INTERNAL;
}

static tn_status benchmark(void *out)
{
	struct tn_benchmark_options options = tn_benchmark_defaults();
	options.warmup = 0;
	options.repeats = 1;
	return tn_benchmark(context, do_nothing, &context, &options, out);
}

static tn_array *sum_of_squares(void *user, tn_array *const *inputs)
{
	(void)user;
	return tn_sum(tn_square(inputs[0]), TN_ALL_AXES, NULL, 0);
}

static tn_status gradient_check(void *out)
{
	return tn_gradient_check(context, sum_of_squares, NULL, 1, &x, 1e-3, 1e-2, 1, out);
}

static tn_status checkpoint_folder_at(void *out)
{
	return tn_checkpoint_folder_at(checkpoints, 0, out);
}

static tn_status safetensors_at(void *out)
{
	return tn_safetensors_at(file, 0, out);
}

static tn_status csv_read(void *out)
{
	struct tn_csv_options options = tn_csv_defaults();
	options.header = 1;
	options.label_column = -1;
	return tn_csv_read(table_path, &options, out, &error);
}

static void csv_release(void *out)
{
	tn_csv_release(out);
}

static tn_status module_at(void *out)
{
	return tn_module_at(net, 0, out);
}

static tn_status module_parameter_at(void *out)
{
	return tn_module_parameter_at(net, 0, out);
}

static tn_status module_parameter(void *out)
{
	return tn_module_parameter(net, "2.weight", out);
}

static tn_status module_buffer_at(void *out)
{
	return tn_module_buffer_at(net, 0, out);
}

static tn_status summary_at(void *out)
{
	return tn_summary_at(summary, 0, out);
}

static tn_status profile_at(void *out)
{
	return tn_profile_at(profile, 0, out);
}

static tn_status profile_get_facts(void *out)
{
	return tn_profile_get_facts(profile, out);
}

static tn_status optimizer_parameter_at(void *out)
{
	return tn_optimizer_parameter_at(optimizer, 0, out);
}

static tn_status optimizer_state_at(void *out)
{
	return tn_optimizer_state_at(optimizer, 0, out);
}

static tn_status average_at(void *out)
{
	return tn_weight_average_at(average, 0, out);
}

static tn_status grad_scaler_get_state(void *out)
{
	return tn_grad_scaler_get_state(scaler, out);
}

static tn_status schedule_get_state(void *out)
{
	return tn_schedule_get_state(schedule, out);
}

static tn_status input_format_imagenet(void *out)
{
	return tn_input_format_imagenet(out, &error);
}

static tn_status input_format_parse(void *out)
{
	return tn_input_format_parse(format_text, out, &error);
}

static tn_status model_input_format(void *out)
{
	return tn_model_input_format("resnet18", out, &error);
}

static tn_status data_loader_next(void *out)
{
	return tn_data_loader_next(loader, out, &error);
}

static tn_status trainer_evaluate(void *out)
{
	return tn_trainer_evaluate(trainer, whole, out);
}

/* ---- The table -------------------------------------------------------------------------------*/

/* Where the error is when struct_size is not set. */
enum { NOT_KEPT, IN_CONTEXT, IN_REPORT };

/* A type, its size, and a member of 8 bytes, by which it is seen that it was filled. */
#define FILLED(type, member) #type, sizeof(type), offsetof(type, member)

static const struct {
	const char *type;
	size_t size;
	size_t member;
	tn_status (*fill)(void *out);
	int place;
	const char *operation;      /* of the error in the context */
	void (*release)(void *out); /* NULL: nothing is owned */
} rows[] = {
	{FILLED(struct tn_variable, name), variable_at, IN_CONTEXT, "variable_at", NULL},
	{FILLED(struct tn_memory_use, used), device_memory, NOT_KEPT, NULL, NULL},
	{FILLED(struct tn_memory_statistics, used), device_memory_statistics, NOT_KEPT, NULL, NULL},
	{FILLED(struct tn_ledger_row, operation), ledger_at, IN_CONTEXT, "ledger_at", NULL},
	{FILLED(struct tn_memo_statistics, n_parsed), memo_get_statistics, IN_CONTEXT,
	 "memo_get_statistics", NULL},
	{FILLED(struct tn_benchmark_result, n), benchmark, IN_CONTEXT, "benchmark", NULL},
	{FILLED(struct tn_gradient_report, worst), gradient_check, IN_CONTEXT, "gradient_check",
	 NULL},
	{FILLED(struct tn_checkpoint_view, path), checkpoint_folder_at, IN_CONTEXT,
	 "checkpoint_folder_at", NULL},
	{FILLED(struct tn_tensor_info, name), safetensors_at, NOT_KEPT, NULL, NULL},
	{FILLED(struct tn_csv, values), csv_read, IN_REPORT, NULL, csv_release},
	{FILLED(struct tn_module_view, path), module_at, IN_CONTEXT, "module_at", NULL},
	{FILLED(struct tn_parameter_view, name), module_parameter_at, IN_CONTEXT,
	 "module_parameter_at", NULL},
	{FILLED(struct tn_parameter_view, name), module_parameter, IN_CONTEXT, "module_parameter",
	 NULL},
	{FILLED(struct tn_buffer_view, name), module_buffer_at, IN_CONTEXT, "module_buffer_at",
	 NULL},
	{FILLED(struct tn_summary_row, path), summary_at, IN_CONTEXT, "summary_at", NULL},
	{FILLED(struct tn_profile_row, path), profile_at, IN_CONTEXT, "profile_at", NULL},
	{FILLED(struct tn_profile_facts, device), profile_get_facts, IN_CONTEXT,
	 "profile_get_facts", NULL},
	{FILLED(struct tn_optimizer_parameter_view, name), optimizer_parameter_at, IN_CONTEXT,
	 "optimizer_parameter_at", NULL},
	{FILLED(struct tn_optimizer_state_view, parameter), optimizer_state_at, IN_CONTEXT,
	 "optimizer_state_at", NULL},
	{FILLED(struct tn_weight_average_view, name), average_at, IN_CONTEXT, "weight_average_at",
	 NULL},
	{FILLED(struct tn_grad_scaler_state, scale), grad_scaler_get_state, IN_CONTEXT,
	 "grad_scaler_get_state", NULL},
	{FILLED(struct tn_schedule_state, t), schedule_get_state, IN_CONTEXT, "schedule_get_state",
	 NULL},
	{FILLED(struct tn_input_format, height), input_format_imagenet, IN_REPORT, NULL, NULL},
	{FILLED(struct tn_input_format, height), input_format_parse, IN_REPORT, NULL, NULL},
	{FILLED(struct tn_input_format, height), model_input_format, IN_REPORT, NULL, NULL},
	{FILLED(struct tn_batch, fields), data_loader_next, IN_REPORT, NULL, NULL},
	{FILLED(struct tn_trainer_values, loss), trainer_evaluate, IN_CONTEXT, "trainer_evaluate",
	 NULL},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), ROOM = 640, UNTOUCHED = 0xa5 };

/* ---- Cases -----------------------------------------------------------------------------------*/

static _Alignas(16) uint32_t room[ROOM / sizeof(uint32_t)];

/* Lets row i fill a struct of that size; the status. */
static tn_status fill(size_t i, uint32_t size)
{
	memset(room, UNTOUCHED, sizeof(room));
	room[0] = size;
	error = (struct tn_error_info){.status = TN_OK};
	return rows[i].fill(room);
}

static int is_untouched(size_t begin, size_t end)
{
	const unsigned char *bytes = (const unsigned char *)room;
	for (size_t k = begin; k < end; k++) {
		if (bytes[k] != UNTOUCHED)
			return 0;
	}
	return 1;
}

static void one_without_its_size_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		print_message("%s\n", rows[i].type);
		for (uint32_t size = 0; size < sizeof(size); size += 3) {
			assert_status(fill(i, size), TN_INVALID_ARGUMENT);
			assert_int_equal(room[0], size);
			assert_true(is_untouched(sizeof(size), ROOM));
			if (rows[i].place == IN_CONTEXT)
				error = *tn_error(context);
			if (rows[i].place != NOT_KEPT) {
				assert_contains(error.text, rows[i].type);
				assert_contains(error.text, "struct_size");
				assert_true(error.operation[0] != '\0');
				if (rows[i].operation)
					assert_string_equal(error.operation, rows[i].operation);
			}
			tn_error_clear(context);
		}
		/* tn_gradient_check does without a report. */
		assert_status(rows[i].fill(NULL),
			      rows[i].fill == gradient_check ? TN_OK : TN_INVALID_ARGUMENT);
		tn_error_clear(context);
	}
}

/* In steps of a pointer, so that none is cut. */
static void nothing_is_written_beyond_a_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		const size_t member = rows[i].member, own = rows[i].size;
		print_message("%s\n", rows[i].type);
		assert_true(own + 16 <= ROOM);
		for (size_t size = 8; size <= own + 16; size += 8) {
			assert_ok(fill(i, (uint32_t)size));
			assert_int_equal(room[0], size);
			assert_true(is_untouched(size < own ? size : own, ROOM));
			assert_true(is_untouched(member, member + 8) == (size < member + 8));
			if (rows[i].release)
				rows[i].release(room);
			assert_int_equal(room[0], size);
			assert_true(is_untouched(size < own ? size : own, ROOM));
		}
	}
}

static void a_released_table_is_read_again(void **state)
{
	struct tn_csv table = {.struct_size = sizeof(table)};
	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_ok(csv_read(&table));
		assert_int_equal(table.n_classes, 2);
		assert_string_equal(table.column_names[0], "a");
		tn_csv_release(&table);
		assert_null(table.values.data);
		assert_null(table.class_names);
	}
	table = (struct tn_csv){0};
	tn_csv_release(&table);
}

/* ---- Lent structs ----------------------------------------------------------------------------*/

static uint32_t node_size;

static tn_status note_size(void *state, const struct tn_node_call *call)
{
	(void)state;
	node_size = call->struct_size;
	return TN_OK;
}

static void lent_structs_have_the_size_of_the_library(void **state)
{
	(void)state;
	for (size_t i = 0; tn_model_at(i); i++)
		assert_int_equal(tn_model_at(i)->struct_size, sizeof(struct tn_model_info));
	for (size_t i = 0; tn_dataset_at(i); i++)
		assert_int_equal(tn_dataset_at(i)->struct_size, sizeof(struct tn_dataset_info));
	tn_tape *tape = tn_tape_begin(context);
	tn_array *w = tn_ones(context, TN_F32, 0, NULL), *y = tn_copy(w);
	assert_ok(tn_tape_watch(tape, w));
	struct tn_node_options options = tn_node_defaults();
	options.n_inputs = 1;
	options.n_outputs = 1;
	options.name = "noted";
	options.inputs = &w;
	options.outputs = &y;
	options.backward = note_size;
	assert_ok(tn_node_record(context, &options));
	assert_ok(tn_tape_backward(tape, y, NULL));
	tn_tape_end(tape);
	assert_int_equal(node_size, sizeof(struct tn_node_call));
}

/* ---- Setup -----------------------------------------------------------------------------------*/

static void make_network(void)
{
	net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_batch_norm2d(context, 1, NULL)));
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_flatten(context)));
	assert_ok(tn_module_sequential_add(net, NULL, tn_module_linear(context, 4, 2, NULL)));
	assert_ok(tn_module_build(net));
	profile = tn_profile_begin(net, NULL);
	assert_non_null(tn_module_forward(net, x));
	assert_ok(tn_profile_end(profile));
	summary = tn_summary_create(net, NULL);
	optimizer = tn_adamw(net, NULL);
	struct tn_schedule_options cosine = tn_schedule_defaults();
	cosine.kind = TN_SCHEDULE_COSINE;
	cosine.period = 9;
	schedule = tn_schedule_create(optimizer, &cosine);
	average = tn_weight_average_create(net, NULL);
	assert_ok(tn_weight_average_update(average));
	scaler = tn_grad_scaler_create(net, NULL);
}

static void make_files(void)
{
	static const char table[] = "a,b,kind\n1,2,x\n3,4,y\n";
	struct tn_checkpoint all = tn_checkpoint_defaults();
	all.module = net;
	checkpoints = tn_checkpoint_folder_open(context, files_path(folder, "checkpoints"), NULL);
	assert_ok(tn_checkpoint_folder_save(checkpoints, 1, NAN, &all));
	assert_ok(tn_module_save(net, files_path(folder, "net"), 0, NULL));
	assert_ok(tn_safetensors_open(files_path(folder, "net"), &file, &error));
	files_write(files_path(folder, "table"), table, sizeof(table) - 1);
	table_path = strdup(files_path(folder, "table"));
}

static void make_data(void)
{
	struct tn_input_format format = tn_input_format_defaults();
	assert_ok(tn_input_format_imagenet(&format, &error));
	format_text = tn_input_format_text(&format);
	assert_ok(tn_dataset_open("digits", NULL, &dataset, &error));
	struct tn_data_loader_options batches = tn_data_loader_defaults();
	batches.batch_size = 2;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TEST, &batches, &loader, &error));
	batches.batch_size = 1000;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TEST, &batches, &whole, &error));
}

static void make_trainer(void)
{
	classifier = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(classifier, NULL, tn_module_flatten(context)));
	assert_ok(tn_module_sequential_add(classifier, NULL,
					   tn_module_linear(context, (int64_t)28 * 28, 10, NULL)));
	assert_ok(tn_module_build(classifier));
	trainer = tn_trainer_create(classifier, NULL, NULL);
	assert_non_null(trainer);
}

static int setup(void **state)
{
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	assert_ok(tn_context_open(&options, &context, &error));
	folder = files_folder();
	x = tn_ones(context, TN_F32, 4, (const int64_t[]){1, 1, 2, 2});
	make_network();
	make_files();
	make_data();
	make_trainer();
	assert_string_equal(tn_error_text(context), "no error");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tn_trainer_destroy(trainer);
	tn_module_destroy(classifier);
	tn_data_loader_destroy(loader);
	tn_data_loader_destroy(whole);
	tn_dataset_destroy(dataset);
	tn_string_free(format_text);
	tn_safetensors_close(file);
	tn_checkpoint_folder_close(checkpoints);
	free((char *)table_path);
	files_remove(files_path(folder, "checkpoints"));
	files_remove(folder);
	tn_grad_scaler_destroy(scaler);
	tn_weight_average_destroy(average);
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(optimizer);
	tn_summary_destroy(summary);
	tn_profile_destroy(profile);
	tn_module_destroy(net);
	tn_context_close(context);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_without_its_size_is_refused),
		cmocka_unit_test(nothing_is_written_beyond_a_size),
		cmocka_unit_test(a_released_table_is_read_again),
		cmocka_unit_test(lent_structs_have_the_size_of_the_library),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
