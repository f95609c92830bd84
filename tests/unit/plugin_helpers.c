/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The helpers for plugin authors, on the test's own host.
 */
#include <stdlib.h>

#include <tenon/plugin.h>

#include "check.h"

static int allocations_left;

static void *allocate(void *context, size_t size, size_t alignment)
{
	(void)context;
	(void)alignment;
	return allocations_left-- > 0 ? malloc(size) : NULL;
}

static void release(void *context, void *memory)
{
	(void)context;
	free(memory);
}

static int32_t wants_nothing(void *context, int32_t level, const char *subsystem)
{
	(void)context;
	(void)level;
	(void)subsystem;
	return 0;
}

static const struct tn_host host = {.struct_size = sizeof(host),
				    .alloc = allocate,
				    .free = release,
				    .log_enabled = wants_nothing};

static int set_up(void **state)
{
	(void)state;
	allocations_left = 1000;
	return 0;
}

/* ---- Entries ---------------------------------------------------------------------------------*/

static void arguments_of_other_sizes_are_taken_or_refused(void **state)
{
	(void)state;
	struct {
		struct tn_free_args known;
		uint64_t unknown;
	} args = {.known.call.flags = TN_DRY_RUN, .known.buffer = 7};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_free_args own;
	args.known.call.error = &error;
	args.known.call.struct_size = sizeof(args);
	assert_status(tn_plugin_take(&own, sizeof(own), &args, TN_DRY_RUN, "free"), TN_OK);
	assert_int_equal(own.buffer, 7);
	assert_int_equal(own.call.struct_size, sizeof(own));
	args.unknown = 1;
	assert_status(tn_plugin_take(&own, sizeof(own), &args, TN_DRY_RUN, "free"), TN_UNSUPPORTED);
	assert_string_equal(error.operation, "free");
	args.unknown = 0;
	args.known.call.struct_size = sizeof(struct tn_call); /* an older caller */
	assert_status(tn_plugin_take(&own, sizeof(own), &args, TN_DRY_RUN, "free"), TN_OK);
	assert_int_equal(own.buffer, 0);
	assert_status(tn_plugin_take(&own, sizeof(own), &args, 0, "free"), TN_UNSUPPORTED);
	assert_contains(error.text, "0x1");
}

static void an_error_keeps_to_the_size_of_its_struct(void **state)
{
	(void)state;
	struct tn_error_info error;
	memset(&error, 'x', sizeof(error));
	error.struct_size = offsetof(struct tn_error_info, text);
	assert_status(tn_plugin_fail_native(&error, TN_BACKEND_FAILURE, 42, "map", "%s %d", "a", 1),
		      TN_BACKEND_FAILURE);
	assert_int_equal(error.native_code, 42);
	assert_string_equal(error.operation, "map");
	assert_int_equal(error.text[0], 'x');
	error.struct_size = sizeof(error);
	tn_plugin_fail(&error, TN_SHAPE, "map", "%s %d", "a", 1);
	assert_string_equal(error.text, "a 1");
	assert_int_equal(error.native_code, 0);
	assert_status(tn_plugin_fail(NULL, TN_SHAPE, "map", "no error is wanted"), TN_SHAPE);
}

static void workspace_is_stated_and_demanded(void **state)
{
	(void)state;
	struct tn_workspace workspace = {.struct_size = sizeof(workspace), .size = 99};
	struct tn_call call = {.struct_size = sizeof(call), .flags = TN_DRY_RUN};
	int work = 1;
	call.workspace = &workspace;
	assert_status(tn_plugin_workspace(&call, "sort", 100, &work), TN_OK);
	assert_int_equal(work, 0);
	assert_int_equal(workspace.minimum, 100);
	call.flags = 0;
	assert_status(tn_plugin_workspace(&call, "sort", 100, &work), TN_UNSUPPORTED);
	assert_int_equal(work, 0);
	workspace.size = 100;
	assert_status(tn_plugin_workspace(&call, "sort", 100, &work), TN_OK);
	assert_int_equal(work, 1);
	call.workspace = NULL;
	assert_status(tn_plugin_workspace(&call, "sort", 100, &work), TN_UNSUPPORTED);
	assert_status(tn_plugin_workspace(&call, "sort", 0, &work), TN_OK);
	assert_int_equal(work, 1);
}

/* ---- Operands --------------------------------------------------------------------------------*/

static char text_of_error[sizeof(((struct tn_error_info *)0)->text)];

static tn_status checked(struct tn_operand operand, enum tn_plugin_role role)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	const struct tn_call call = {.struct_size = sizeof(call), .error = &error};
	tn_status status = tn_plugin_check_operand(&call, "map", "input", 0, &operand,
						   TN_PLUGIN_REAL_DTYPES, role);
	memcpy(text_of_error, error.text, sizeof(error.text));
	return status;
}

static void what_is_wrong_with_an_operand_is_found(void **state)
{
	(void)state;
	const struct tn_operand good = {.buffer = 4096,
					.offset = 8,
					.dtype = TN_F32,
					.rank = 2,
					.shape = {3, 4},
					.strides = {-4, 1}};
	struct tn_operand bad;
	assert_status(checked(good, TN_PLUGIN_WRITES), TN_OK);
	bad = good, bad.dtype = TN_C64;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_UNSUPPORTED);
	bad = good, bad.dtype = 40;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_UNSUPPORTED);
	bad = good, bad.dtype = TN_DTYPE_VENDOR;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_UNSUPPORTED);
	bad = good, bad.rank = TN_MAX_RANK + 1;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_UNSUPPORTED);
	assert_contains(text_of_error, "rank 17");
	bad = good, bad.shape[1] = 0;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_INVALID_ARGUMENT);
	bad = good, bad.shape[0] = bad.shape[1] = INT64_C(1) << 31;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_INVALID_ARGUMENT);
	bad = good, bad.strides[0] = INT64_MIN;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_INVALID_ARGUMENT);
	/* Each axis spans 2^61 elements, and both together more bytes than are counted. */
	bad = good, bad.shape[0] = bad.shape[1] = 2,
	bad.strides[0] = bad.strides[1] = INT64_C(1) << 60;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_INVALID_ARGUMENT);
	bad = good, bad.strides[0] = 0;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_OK);
	assert_status(checked(bad, TN_PLUGIN_WRITES), TN_INVALID_ARGUMENT);
	bad = good, bad.offset = 6;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_INVALID_ARGUMENT);
	bad = good, bad.buffer = 0;
	assert_status(checked(bad, TN_PLUGIN_READS), TN_INVALID_ARGUMENT);
}

static void an_operand_lies_within_its_buffer(void **state)
{
	(void)state;
	/* Elements -8 to 3 round number 8. */
	struct tn_operand x = {
		.offset = 32, .dtype = TN_F32, .rank = 2, .shape = {3, 4}, .strides = {-4, 1}};
	assert_true(tn_plugin_lies_within(&x, 48));
	assert_false(tn_plugin_lies_within(&x, 47));
	x.offset = 28;
	assert_false(tn_plugin_lies_within(&x, 48));
	x.offset = 64;
	assert_false(tn_plugin_lies_within(&x, 48));
	x = (struct tn_operand){.offset = 4, .dtype = TN_F32};
	assert_true(tn_plugin_lies_within(&x, 8));
	assert_false(tn_plugin_lies_within(&x, 7));
}

/* ---- Nests -----------------------------------------------------------------------------------*/

static void axes_are_merged_where_every_view_allows_it(void **state)
{
	(void)state;
	struct tn_plugin_nest nest;
	const int64_t lengths[] = {2, 1, 3, 4, 5};
	const struct tn_operand whole = {.dtype = TN_F32,
					 .rank = 5,
					 .shape = {2, 1, 3, 4, 5},
					 .strides = {60, 60, 20, 5, 1}};
	const struct tn_operand kept = {
		.dtype = TN_F32, .rank = 3, .shape = {2, 1, 3}, .strides = {3, 99, 1}};
	tn_plugin_nest_begin(&nest, 5, 3, lengths);
	assert_int_equal(tn_plugin_nest_add(&nest, &whole, 0), 0);
	assert_int_equal(tn_plugin_nest_add(&nest, &kept, 1), 1);
	tn_plugin_nest_simplify(&nest);
	assert_int_equal(nest.rank, 2); /* never a kept axis with a reduced one */
	assert_int_equal(nest.n_kept, 1);
	assert_int_equal(nest.lengths[0], 6);
	assert_int_equal(nest.lengths[1], 20);
	assert_int_equal(nest.views[0].strides[0], 20);
	assert_int_equal(nest.views[1].strides[0], 1);
	assert_int_equal(nest.views[1].strides[1], 0);
	tn_plugin_nest_begin(&nest, 5, 3, lengths);
	tn_plugin_nest_add(&nest, &whole, 0);
	tn_plugin_nest_simplify(&nest); /* although this view alone would allow it */
	assert_int_equal(nest.rank, 2);
	assert_int_equal(nest.n_kept, 1);
	/* The axes of a transposed view are not merged. */
	const struct tn_operand turned = {
		.dtype = TN_F32, .rank = 2, .shape = {3, 4}, .strides = {1, 3}};
	tn_plugin_nest_begin(&nest, 2, 2, turned.shape);
	tn_plugin_nest_add(&nest, &turned, 0);
	tn_plugin_nest_simplify(&nest);
	assert_int_equal(nest.rank, 2);
}

static void nests_are_padded_to_a_number_of_axes(void **state)
{
	(void)state;
	struct tn_plugin_nest nest;
	const struct tn_operand x = {
		.dtype = TN_F32, .rank = 3, .shape = {2, 3, 4}, .strides = {12, 4, 1}};
	tn_plugin_nest_begin(&nest, 3, 2, x.shape);
	tn_plugin_nest_add(&nest, &x, 0);
	assert_true(tn_plugin_nest_pad(&nest, 3, 3));
	const int64_t lengths[] = {1, 2, 3, 1, 1, 4}, strides[] = {0, 12, 4, 0, 0, 1};
	assert_int_equal(nest.rank, 6);
	assert_int_equal(nest.n_kept, 3);
	assert_memory_equal(nest.lengths, lengths, sizeof(lengths));
	assert_memory_equal(nest.views[0].strides, strides, sizeof(strides));
	assert_false(tn_plugin_nest_pad(&nest, TN_MAX_RANK, TN_MAX_RANK));
	assert_int_equal(nest.rank, 6);
}

static void far_elements_make_a_nest_wide(void **state)
{
	(void)state;
	struct tn_plugin_nest nest;
	struct tn_operand x = {
		.dtype = TN_U8, .rank = 2, .shape = {2, 2}, .strides = {INT32_MAX - 1, 1}};
	tn_plugin_nest_begin(&nest, 2, 2, x.shape);
	tn_plugin_nest_add(&nest, &x, 0);
	assert_false(tn_plugin_nest_is_wide(&nest));
	x.strides[0] = -INT32_MAX;
	tn_plugin_nest_add(&nest, &x, 0);
	assert_true(tn_plugin_nest_is_wide(&nest));
}

/* ---- Texts -----------------------------------------------------------------------------------*/

static void a_text_grows_and_is_emptied(void **state)
{
	(void)state;
	struct tn_plugin_text text;
	char line[600];
	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	tn_plugin_text_init(&text, &host);
	for (int i = 0; i < 100; i++)
		tn_plugin_text_format(&text, "%s%d", line, i % 10);
	assert_int_equal(text.length, 100 * sizeof(line));
	assert_int_equal(strlen(text.data), text.length);
	assert_int_equal(text.data[sizeof(line) - 1], '0');
	tn_plugin_text_clear(&text);
	assert_string_equal(text.data, "");
	tn_plugin_text_append(&text, "a\0b", 3);
	assert_int_equal(text.length, 3);
	assert_false(text.failed);
	tn_plugin_text_free(&text);
	assert_null(text.data);
}

static void a_text_without_memory_fails_and_stays_whole(void **state)
{
	(void)state;
	struct tn_plugin_text text;
	tn_plugin_text_init(&text, &host);
	allocations_left = 1;
	tn_plugin_text_add(&text, "whole");
	assert_null(tn_plugin_text_reserve(&text, 100000));
	tn_plugin_text_add(&text, " and more");
	assert_true(text.failed);
	assert_string_equal(text.data, "whole");
	tn_plugin_text_clear(&text);
	tn_plugin_text_add(&text, "whole");
	assert_null(tn_plugin_text_reserve(&text, SIZE_MAX - 2)); /* the sum would wrap */
	assert_true(text.failed);
	tn_plugin_text_free(&text);
}

static void conversions_follow_the_rules_of_the_cast(void **state)
{
	(void)state;
	const struct {
		tn_dtype from, to;
		const char *text;
	} cases[] = {
		{TN_F32, TN_F32, "x"},
		{TN_BOOL, TN_BOOL, "(tn_bool)((0 != x) != 0)"},
		{TN_F32, TN_BOOL, "(tn_bool)((x) != 0)"},
		{TN_BF16, TN_F32, "(tn_f32)tn_f32_of_bf16(x)"},
		{TN_F64, TN_F16, "tn_f16_of_f32((tn_f32)(x))"},
		{TN_F64, TN_I8, "tn_i8_of_f64((x))"},
		{TN_F16, TN_U64, "tn_u64_of_f32(tn_f32_of_f16(x))"},
		{TN_I64, TN_U8, "(tn_u8)(x)"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_plugin_text text;
		tn_plugin_text_init(&text, &host);
		tn_plugin_text_convert(&text, cases[i].from, cases[i].to, "x");
		assert_string_equal(text.data, cases[i].text);
		tn_plugin_text_free(&text);
	}
}

/* Also that of a host whose struct is longer. */
static void the_copy_of_a_program_stands_alone(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {sizeof(struct tn_program) + 8, sizeof(struct tn_program)};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bytes {
			uint64_t constants[2];
			struct tn_instruction instructions[1];
			uint16_t outputs[2];
		} bytes = {{5, 6}, {{.op = TN_OP_INPUT, .dtype = TN_F32}}, {7, 8}};
		const struct tn_program program = {.struct_size = sizes[i],
						   .n_outputs = 2,
						   .n_constants = 2,
						   .n_instructions = 1,
						   .instructions = bytes.instructions,
						   .constants = bytes.constants,
						   .outputs = bytes.outputs,
						   .bytes = &bytes,
						   .n_bytes = sizeof(bytes)};
		const size_t size = tn_plugin_program_size(&program);
		char *memory = malloc(size);
		const struct tn_program *copy = tn_plugin_program_copy(memory, &program);
		memset(&bytes, 0, sizeof(bytes));
		assert_int_equal(copy->struct_size, sizeof(*copy));
		assert_int_equal(copy->constants[1], 6);
		assert_int_equal(copy->instructions[0].op, TN_OP_INPUT);
		assert_int_equal(copy->outputs[1], 8);
		assert_ptr_equal((const char *)copy->bytes + copy->n_bytes, memory + size);
		free(memory);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(arguments_of_other_sizes_are_taken_or_refused),
		TEST(an_error_keeps_to_the_size_of_its_struct),
		TEST(workspace_is_stated_and_demanded),
		TEST(what_is_wrong_with_an_operand_is_found),
		TEST(an_operand_lies_within_its_buffer),
		TEST(axes_are_merged_where_every_view_allows_it),
		TEST(nests_are_padded_to_a_number_of_axes),
		TEST(far_elements_make_a_nest_wide),
		TEST(a_text_grows_and_is_emptied),
		TEST(a_text_without_memory_fails_and_stays_whole),
		TEST(conversions_follow_the_rules_of_the_cast),
		TEST(the_copy_of_a_program_stands_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
