/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every public function that has a struct with a struct_size refuses one that lacks it, and one
 * that sets what this version does not know.  It takes defaults for what is beyond the size, writes
 * no byte beyond it and none beyond its own, and lends structs of its own size.  The calls are
 * those of program_calls.h.
 */
#include "sized_structs.h"

#include <ftw.h>

#include "check.h"
#include "io_files.h"
#include "../abi/skew/program_calls.h"

static const struct sized *type_named(const char *name)
{
	const struct sized *type = all_sized;
	while (type->name && strcmp(type->name, name) != 0)
		type++;
	if (!type->name)
		fail_msg("%s has no struct_size", name);
	return type;
}

static int setup(void **state)
{
	(void)state;
	folder = files_folder();
	return 0;
}

static int remove_entry(const char *path, const struct stat *facts, int type, struct FTW *at)
{
	(void)facts, (void)type, (void)at;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- Structs that are given ------------------------------------------------------------------*/

/* What a call of the row does with a struct to which it adds nothing. */
static tn_status call_untouched(const struct row *row, void *given)
{
	untouched = given;
	tn_status status = call(row, given);
	untouched = NULL;
	return status;
}

static void each_struct_has_a_row(void **state)
{
	(void)state;
	for (const struct sized *type = all_sized; type->name; type++) {
		size_t i = 0;
		while (i < N_ROWS && strcmp(rows[i].type, type->name) != 0)
			i++;
		if (i == N_ROWS)
			fail_msg("struct %s has no row in program_calls.h", type->name);
	}
}

static void assert_refused(const struct row *row, tn_status status, tn_status expected)
{
	char name[64];
	snprintf(name, sizeof(name), "struct %s", row->type);
	assert_status(status, expected);
	assert_contains(error.text, name);
	assert_true(error.operation[0] != '\0');
}

static void one_without_its_size_is_refused(void **state)
{
	(void)state;
	for (const struct row *row = rows; row < rows + N_ROWS; row++) {
		const struct sized *type = type_named(row->type);
		print_message("%s\n", row->type);
		for (uint32_t size = 0; row->way == GIVEN && size < sizeof(size); size += 3) {
			void *given = with_defaults(type, type->size);
			memcpy(given, &size, sizeof(size));
			assert_refused(row, call(row, given), TN_INVALID_ARGUMENT);
			assert_contains(error.text, "struct_size");
		}
	}
}

static void one_of_a_later_version_is_taken_unless_it_sets_what_is_not_known(void **state)
{
	(void)state;
	for (const struct row *row = rows; row < rows + N_ROWS; row++) {
		const struct sized *type = type_named(row->type);
		const size_t size = type->size + 8;
		if (row->way != GIVEN)
			continue;
		print_message("%s\n", row->type);
		assert_status(call(row, with_defaults(type, size)), row->status);
		unsigned char *given = with_defaults(type, size);
		given[size - 1] = 1;
		assert_refused(row, call(row, given), TN_UNSUPPORTED);
	}
}

/* NULL for options; a source, a class and the like are needed, and so is a node. */
static int may_be_null(const struct row *row)
{
	return strstr(row->type, "_options") && row->call != node;
}

/* Members beyond the size, or those of no struct. */
static void what_is_not_said_has_its_default(void **state)
{
	static double expected[sizeof(seen) / sizeof(seen[0])];
	(void)state;
	for (const struct row *row = rows; row < rows + N_ROWS; row++) {
		const struct sized *type = type_named(row->type);
		/* The context that keeps errors is that of a checkpoint's module. */
		if (row->way != GIVEN || !type->defaults || !strcmp(row->type, "tn_checkpoint"))
			continue;
		tn_status status = call_untouched(row, with_defaults(type, type->size));
		const size_t n = n_seen;
		memcpy(expected, seen, n * sizeof(double));
		const struct tn_error_info whole = error;
		for (size_t size = may_be_null(row) ? 0 : 4; size <= 8; size += 4) {
			void *given = size ? with_defaults(type, size) : NULL;
			print_message("%s of %zu bytes\n", row->type, size);
			assert_status(call_untouched(row, given), status);
			assert_string_equal(error.text, whole.text);
			assert_int_equal(n_seen, n);
			assert_memory_equal(seen, expected, n * sizeof(double));
		}
	}
}

#define MEMBER(type, member)                                                                       \
	offsetof(struct type, member), sizeof(((struct type *)NULL)->member), #type

/* The calls of structs of which one member is 0; a call that sets that member leaves them. */
static const struct {
	tn_status (*call)(void *given);
	size_t member;
	size_t size;
	const char *type;
	const char *text;
} zeros[] = {
	{lamb, MEMBER(tn_lamb_options, epsilon), "epsilon: expected a number above 0, found 0"},
	{lookahead, MEMBER(tn_lookahead_options, k), "k: expected at least 1, found 0"},
	{grad_scaler, MEMBER(tn_grad_scaler_options, growth_interval), "growth_interval: expected"},
	{grad_scaler, MEMBER(tn_grad_scaler_options, init_scale), "init_scale: expected"},
	{schedule, MEMBER(tn_schedule_options, multiplier),
	 "step: expected the default of multiplier"},
	{checkpoint_folder, MEMBER(tn_checkpoint_folder_options, keep),
	 "keep: expected at least 1"},
	{trainer, MEMBER(tn_trainer_options, n_epochs), "n_epochs: expected at least 1, found 0"},
	{trainer, MEMBER(tn_trainer_options, accumulate),
	 "accumulate: expected at least 1, found 0"},
	{trainer, MEMBER(tn_trainer_options, max_steps), "max_steps: expected at least 1, found 0"},
	{trainer, MEMBER(tn_trainer_options, step_interval),
	 "step_interval: expected at least 1, found 0"},
	{trainer, MEMBER(tn_trainer_options, patience), "patience: expected at least 1, found 0"},
	{trainer, MEMBER(tn_trainer_options, clip_norm),
	 "clip_norm: expected a number above 0, found 0"},
	{conv1d, MEMBER(tn_conv1d_options, stride), "stride: expected 1 to 2147483647, found 0"},
	{conv2d, MEMBER(tn_conv2d_options, dilation),
	 "dilation: expected 1 to 2147483647, found 0"},
	{conv_transpose2d, MEMBER(tn_conv_transpose2d_options, groups), "groups: expected 1 to"},
	{max_pool2d, MEMBER(tn_pool2d_options, kernel),
	 "kernel 0, stride 0, padding 0: expected at least 1"},
	{module_lstm, MEMBER(tn_module_recurrent_options, n_layers), "expected 1 to"},
	{module_mbconv, MEMBER(tn_module_mbconv_options, kernel), "kernel: expected an odd number"},
	{module_mbconv, MEMBER(tn_module_mbconv_options, activation), "activation: expected"},
	{benchmark, MEMBER(tn_benchmark_options, repeats), "repeats of 1 or more, found 1 and 0"},
	{array_str, MEMBER(tn_print_options, linewidth), "linewidth: expected 1 to"},
	{array_str, MEMBER(tn_print_options, nanstr), "nanstr: expected a string, found NULL"},
	{csv_read, MEMBER(tn_csv_options, separator), "separator, quote, comment: expected"},
	{savetxt, MEMBER(tn_savetxt_options, delimiter),
	 "delimiter: expected a string, found NULL"},
	{loadtxt, MEMBER(tn_loadtxt_options, comments), "comments: expected a string, found NULL"},
	{reduce_map, MEMBER(tn_reduce_map_options, combiner),
	 "combiner: expected TN_COMBINE_SUM to"},
	{data_loader, MEMBER(tn_data_loader_options, batch_size), "batch_size of at least 1"},
	{data_loader, MEMBER(tn_data_loader_options, n_ranks), "a rank below n_ranks 0, found 0"},
	{dataset_create, MEMBER(tn_dataset_source, scale),
	 "scale: expected a finite number above 0"},
	{augment, MEMBER(tn_augmentation, cutout_size), "cutout_size: expected 1 to"},
	{augment, MEMBER(tn_augmentation, noise_clip), "noise_clip: expected a number above 0"},
	{augment, MEMBER(tn_augmentation, cutmix_alpha), "cutmix_alpha: expected a number above 0"},
	{augment, MEMBER(tn_augmentation, resized_crop_scale), "resized_crop_scale: expected two"},
};

static void a_member_that_may_not_be_zero_is_named(void **state)
{
	static const unsigned char zero[16];
	(void)state;
	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
		const struct sized *type = type_named(zeros[i].type);
		const struct row row = {.call = zeros[i].call};
		unsigned char *given = with_defaults(type, type->size);
		print_message("%s\n", zeros[i].text);
		memset(given + zeros[i].member, 0, zeros[i].size);
		tn_status status = call(&row, given);
		if (memcmp(given + zeros[i].member, zero, zeros[i].size) != 0) {
			memset(given + zeros[i].member, 0, zeros[i].size);
			status = call_untouched(&row, given);
		}
		assert_status(status, TN_INVALID_ARGUMENT);
		assert_contains(error.text, zeros[i].text);
	}
}

/* ---- Structs that are filled or lent ---------------------------------------------------------*/

enum { ROOM = 640, UNTOUCHED = 0xa5 };
static _Alignas(16) unsigned char room[ROOM];

static tn_status fill(const struct row *row, uint32_t size)
{
	memset(room, UNTOUCHED, sizeof(room));
	memcpy(room, &size, sizeof(size));
	tn_status status = call_untouched(row, room);
	assert_memory_equal(room, &size, sizeof(size));
	return status;
}

/* Whether bytes from `begin` on are as they were. */
static int is_left(size_t begin)
{
	while (begin < ROOM && room[begin] == UNTOUCHED)
		begin++;
	return begin == ROOM;
}

/* These keep no error. */
static int has_error(const struct row *row)
{
	return row->call != memory_use && row->call != memory_statistics &&
	       row->call != tensor_info;
}

static void one_to_be_filled_without_its_size_is_refused(void **state)
{
	(void)state;
	for (const struct row *row = rows; row < rows + N_ROWS; row++) {
		if (row->way != FILLED)
			continue;
		print_message("%s\n", row->type);
		for (uint32_t size = 0; size < sizeof(size); size += 3) {
			tn_status status = fill(row, size);
			assert_true(is_left(sizeof(size)));
			assert_status(status, TN_INVALID_ARGUMENT);
			if (has_error(row)) {
				assert_refused(row, status, TN_INVALID_ARGUMENT);
				assert_contains(error.text, "struct_size");
			}
		}
		/* tn_gradient_check does without a report. */
		assert_status(call(row, NULL),
			      row->call == gradient_report ? TN_OK : TN_INVALID_ARGUMENT);
	}
}

/* In steps of a pointer, so that none is cut. */
static void nothing_is_written_beyond_a_size(void **state)
{
	(void)state;
	for (const struct row *row = rows; row < rows + N_ROWS; row++) {
		const size_t own = type_named(row->type)->size;
		if (row->way != FILLED)
			continue;
		print_message("%s\n", row->type);
		assert_true(own + 16 <= ROOM);
		for (size_t size = 8; size <= own + 16; size += 8) {
			assert_ok(fill(row, (uint32_t)size));
			assert_true(is_left(size < own ? size : own));
			assert_true(size < own || !is_left(sizeof(uint32_t)));
		}
	}
}

static void one_that_is_lent_has_the_size_of_the_library(void **state)
{
	(void)state;
	for (const struct row *row = rows; row < rows + N_ROWS; row++) {
		uint32_t size = 0;
		if (row->way != LENT)
			continue;
		print_message("%s\n", row->type);
		assert_ok(call(row, &size));
		assert_int_equal(size, type_named(row->type)->size);
	}
	for (size_t i = 0; tn_model_at(i); i++)
		assert_int_equal(tn_model_at(i)->struct_size, sizeof(struct tn_model_info));
	for (size_t i = 0; tn_dataset_at(i); i++)
		assert_int_equal(tn_dataset_at(i)->struct_size, sizeof(struct tn_dataset_info));
}

static void a_released_table_is_read_again(void **state)
{
	struct tn_csv_options options = tn_csv_defaults();
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	(void)state;
	options.header = 1;
	for (int i = 0; i < 2; i++) {
		assert_ok(tn_csv_read(table(), &options, &csv, &error));
		assert_string_equal(csv.column_names[0], "x");
		tn_csv_release(&csv);
		assert_null(csv.values.data);
		assert_null(csv.class_names);
	}
	csv = (struct tn_csv){0};
	tn_csv_release(&csv);
}

/* ---- What has no row -------------------------------------------------------------------------*/

/* Neither has a context nor, for a text, an error. */
static void the_text_of_a_format_and_its_reader_need_the_size(void **state)
{
	struct {
		struct tn_input_format format;
		uint64_t later;
	} newer = {.format = tn_input_format_defaults(), .later = 1};
	set_format(&newer.format);
	/* A text has the numbers of the channels that there are. */
	memset(newer.format.deviation + 1, 0, sizeof(float) * (TN_MAX_CHANNELS - 1));
	struct tn_input_format whole = {.struct_size = sizeof(whole)}, none = {0};
	struct tn_input_format part = {.struct_size = offsetof(struct tn_input_format, width),
				       .width = 77};
	(void)state;
	char *text = tn_input_format_text(&newer.format);
	assert_non_null(text);
	assert_status(tn_input_format_parse(text, &none, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "struct_size");
	assert_int_equal(none.height, 0);
	assert_ok(tn_input_format_parse(text, &whole, &error));
	assert_memory_equal(&whole, &newer.format, sizeof(whole));
	/* A caller of an earlier version, whose struct ends before the width. */
	assert_ok(tn_input_format_parse(text, &part, &error));
	assert_int_equal(part.height, 2);
	assert_int_equal(part.width, 77);
	tn_string_free(text);
	assert_null(tn_input_format_text(&none));
	newer.format.struct_size = sizeof(newer);
	assert_null(tn_input_format_text(&newer.format));
}

static int n_destroyed;

static void count_destroyed(void *state)
{
	(void)state;
	n_destroyed++;
}

static void the_state_of_a_class_that_is_too_new_is_destroyed(void **state)
{
	struct {
		struct tn_module_class class_;
		uint64_t later;
	} newer = {.class_ = {.struct_size = sizeof(newer),
			      .name = "Newer",
			      .forward = negated,
			      .destroy = count_destroyed},
		   .later = 1};
	(void)state;
	begin();
	assert_status(kept(tn_module_custom(context, &newer.class_, &n_destroyed) != NULL),
		      TN_UNSUPPORTED);
	assert_int_equal(n_destroyed, 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_struct_has_a_row),
		cmocka_unit_test(one_without_its_size_is_refused),
		cmocka_unit_test(one_of_a_later_version_is_taken_unless_it_sets_what_is_not_known),
		cmocka_unit_test(what_is_not_said_has_its_default),
		cmocka_unit_test(a_member_that_may_not_be_zero_is_named),
		cmocka_unit_test(one_to_be_filled_without_its_size_is_refused),
		cmocka_unit_test(nothing_is_written_beyond_a_size),
		cmocka_unit_test(one_that_is_lent_has_the_size_of_the_library),
		cmocka_unit_test(a_released_table_is_read_again),
		cmocka_unit_test(the_text_of_a_format_and_its_reader_need_the_size),
		cmocka_unit_test(the_state_of_a_class_that_is_too_new_is_destroyed),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
