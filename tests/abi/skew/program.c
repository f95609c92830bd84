/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A program of any version of the headers (programs.awk) with today's library: gives each struct
 * with a struct_size to a function, has it filled or is lent it.
 *
 *	program FOLDER      a folder for files; 0: as expected, 1: not
 *
 * Prints what became of each call, which is the same for every version, because what an older or
 * newer program does not say has its default.  Structs end where memory ends: an access beyond
 * ends the program, after the name of the call.
 */
#include "program_calls.h"

#include <sys/mman.h>
#include <unistd.h>

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

static int failures;

static void expect(int condition, const struct row *row, const char *what)
{
	if (condition)
		return;
	printf("FAILED: %s: %s (%s: %s)\n", row->type, what, error.operation, error.text);
	failures++;
}

/* `size` bytes where a page ends, before one that cannot be accessed. */
static void *at_the_end(size_t size)
{
	static unsigned char *pages;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (!pages) {
		pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
			exit(2);
	}
	memset(pages, 0xa5, page);
	return pages + page - size;
}

static void *with_defaults(const struct sized *type)
{
	void *given = at_the_end(type->size);
	const uint32_t size = (uint32_t)type->size;
	memset(given, 0, type->size);
	memcpy(given, &size, sizeof(size));
	if (type->defaults)
		type->defaults(given);
	return given;
}

/* A call in a context of its own, so that none depends on those before. */
static tn_status call(const struct row *row, void *given)
{
	begin();
	tn_status status = row->call(given);
	end();
	return status;
}

/* The same without saying what was seen. */
static tn_status call_silently(const struct row *row, void *given)
{
	is_silent = 1;
	tn_status status = call(row, given);
	is_silent = 0;
	return status;
}

static void give(const struct row *row, const struct sized *type)
{
	unsigned char *given = with_defaults(type);
	expect(call(row, given) == row->status, row, "another status");
	if (type->size > type->today) {
		given = with_defaults(type);
		given[type->size - 1] = 1;
		expect(call_silently(row, given) == TN_UNSUPPORTED, row,
		       "a member that the library does not know is ignored");
		expect(!!strstr(error.text, row->type), row, "the error does not name it");
	}
	given = with_defaults(type);
	memset(given, 0, sizeof(uint32_t));
	expect(call_silently(row, given) == TN_INVALID_ARGUMENT, row, "a size of 0 is taken");
	expect(!!strstr(error.text, row->type), row, "the error does not name it");
}

static void fill(const struct row *row, const struct sized *type)
{
	const uint32_t size = (uint32_t)type->size, none = 0;
	const size_t known = type->size < type->today ? type->size : type->today;
	unsigned char *given = at_the_end(size);
	int is_filled = 0, is_tail_left = 1;
	memcpy(given, &size, sizeof(size));
	expect(call(row, given) == row->status, row, "another status");
	expect(!memcmp(given, &size, sizeof(size)), row, "struct_size is overwritten");
	for (size_t i = sizeof(size); i < known; i++)
		is_filled |= given[i] != 0xa5;
	for (size_t i = known; i < size; i++)
		is_tail_left &= given[i] == 0xa5;
	expect(is_filled, row, "nothing is filled");
	expect(is_tail_left, row, "a member that the library does not know is written");
	given = at_the_end(size);
	memcpy(given, &none, sizeof(none));
	expect(call_silently(row, given) == TN_INVALID_ARGUMENT, row, "a size of 0 is taken");
}

static void lend(const struct row *row, const struct sized *type)
{
	uint32_t lent = 0;
	expect(call(row, &lent) == row->status, row, "another status");
	expect(lent == type->today, row, "struct_size is not that of the library");
}

static void check(const struct row *row, const struct sized *type)
{
	static const char *const ways[] = {"given", "filled", "lent"};
	printf("%s %s:", row->type, ways[row->way]);
	fflush(stdout);
	if (row->way == GIVEN)
		give(row, type);
	else if (row->way == FILLED)
		fill(row, type);
	else
		lend(row, type);
}

int main(int argc, char **argv)
{
	size_t n = 0;
	if (argc != 2)
		return 2;
	folder = argv[1];
	for (const struct sized *type = all_sized; type->name; type++) {
		size_t before = n;
		for (const struct row *row = rows; row < rows + N_ROWS; row++) {
			if (!strcmp(row->type, type->name)) {
				check(row, type);
				n++;
			}
		}
		if (n == before) {
			printf("FAILED: struct %s has no row\n", type->name);
			failures++;
		}
	}
	if (n != N_ROWS) {
		printf("FAILED: a row is of a struct that has no struct_size\n");
		failures++;
	}
	return failures != 0;
}
