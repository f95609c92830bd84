/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * map on the reference backend, by hand-made programs and hand-computed values.
 */
#include "reference_fixture.h"

static const uint16_t output_2[] = {2};

/* v0 = in0, v1 = in1, v2 = v0 - v1 */
static const struct tn_instruction subtract_f32[] = {
	{TN_OP_INPUT, TN_F32, 0, 0, 0, 0},
	{TN_OP_INPUT, TN_F32, 1, 0, 0, 0},
	{TN_OP_SUB, TN_F32, 0, 1, 0, 0},
};
static const struct tn_program subtract = PROGRAM(2, subtract_f32, output_2);

static void subtracts_transposed_and_broadcast_views(void **state)
{
	struct fixture *f = *state;
	const float x[6] = {1, 2, 3, 4, 5, 6}, y[2] = {10, 20};
	float z[6] = {0};
	struct tn_operand in[2] = {operand(TN_F32, x, SHAPE(3, 2)),
				   operand(TN_F32, y, SHAPE(3, 2))};
	struct tn_operand out = operand(TN_F32, z, SHAPE(3, 2));
	struct tn_map_args args = {.call = CALL(struct tn_map_args, f),
				   .program = &subtract,
				   .inputs = in,
				   .outputs = &out};
	in[0].strides[0] = 1; /* x is a transposed (2, 3) */
	in[0].strides[1] = 3;
	in[1].strides[0] = 0;
	assert_ok(f->compute->map(f->device, &args));
	const float expected[6] = {1 - 10, 4 - 20, 2 - 10, 5 - 20, 3 - 10, 6 - 20};
	assert_memory_equal(z, expected, sizeof(z));
}

static void reads_backwards_by_negative_strides_and_writes_in_place(void **state)
{
	struct fixture *f = *state;
	float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40};
	struct tn_operand in[2] = {operand(TN_F32, x, SHAPE(4)), operand(TN_F32, y, SHAPE(4))};
	struct tn_operand out = in[0];
	struct tn_map_args args = {.call = CALL(struct tn_map_args, f),
				   .program = &subtract,
				   .inputs = in,
				   .outputs = &out};
	in[1].offset = 3 * sizeof(float);
	in[1].strides[0] = -1;
	assert_ok(f->compute->map(f->device, &args));
	const float expected[4] = {1 - 40, 2 - 30, 3 - 20, 4 - 10};
	assert_memory_equal(x, expected, sizeof(x));
}

static void works_on_no_axis_and_on_more_than_a_block(void **state)
{
	struct fixture *f = *state;
	enum { LENGTH = 1000 };
	float x[LENGTH], y[LENGTH], z[LENGTH];
	for (int i = 0; i < LENGTH; i++) {
		x[i] = (float)(3 * i);
		y[i] = (float)i;
		z[i] = -1;
	}
	struct tn_operand in[2] = {operand(TN_F32, x, 0, NULL), operand(TN_F32, y, 0, NULL)};
	struct tn_operand out = operand(TN_F32, z, 0, NULL);
	struct tn_map_args args = {.call = CALL(struct tn_map_args, f),
				   .program = &subtract,
				   .inputs = in,
				   .outputs = &out};
	assert_ok(f->compute->map(f->device, &args));
	assert_true(z[0] == 0 && z[1] == -1);
	in[0] = operand(TN_F32, x, SHAPE(LENGTH));
	in[1] = operand(TN_F32, y, SHAPE(LENGTH));
	out = operand(TN_F32, z, SHAPE(LENGTH));
	assert_ok(f->compute->map(f->device, &args));
	for (int i = 0; i < LENGTH; i++)
		assert_true(z[i] == (float)(2 * i));
}

static void numbers_elements_and_axes(void **state)
{
	static const struct tn_instruction instructions[] = {
		{TN_OP_INDEX, TN_I64, 0, 0, 0, 0},
		{TN_OP_INDEX, TN_I64, 1, 0, 0, 0},
		{TN_OP_ELEMENT, TN_I64, 0, 0, 0, 0},
	};
	static const uint16_t outputs[] = {0, 1, 2};
	static const struct tn_program program = PROGRAM(0, instructions, outputs);
	struct fixture *f = *state;
	int64_t row[6];
	int32_t column[6];
	float element[6];
	struct tn_operand out[3] = {operand(TN_I64, row, SHAPE(2, 3)),
				    operand(TN_I32, column, SHAPE(2, 3)),
				    operand(TN_F32, element, SHAPE(2, 3))};
	struct tn_map_args args = {
		.call = CALL(struct tn_map_args, f), .program = &program, .outputs = out};
	assert_ok(f->compute->map(f->device, &args));
	for (int i = 0; i < 6; i++) {
		assert_int_equal(row[i], i / 3);
		assert_int_equal(column[i], i % 3);
		assert_true(element[i] == (float)i);
	}
}

static void casts_when_it_loads_and_stores(void **state)
{
	static const struct tn_instruction instructions[] = {
		{TN_OP_INPUT, TN_F32, 0, 0, 0, 0},
		{TN_OP_ADD, TN_F32, 0, 0, 0, 0},
	};
	static const uint16_t outputs[] = {1, 1};
	static const struct tn_program program = PROGRAM(1, instructions, outputs);
	struct fixture *f = *state;
	const int8_t x[3] = {-100, 3, 127};
	uint8_t narrow[3];
	uint16_t half[3];
	struct tn_operand in = operand(TN_I8, x, SHAPE(3));
	struct tn_operand out[2] = {operand(TN_U8, narrow, SHAPE(3)),
				    operand(TN_F16, half, SHAPE(3))};
	struct tn_map_args args = {.call = CALL(struct tn_map_args, f),
				   .program = &program,
				   .inputs = &in,
				   .outputs = out};
	assert_ok(f->compute->map(f->device, &args));
	assert_int_equal(narrow[0], 0); /* -200 saturates */
	assert_int_equal(narrow[1], 6);
	assert_int_equal(narrow[2], 254);
	assert_int_equal(half[0], 0xda40); /* -200 = -1.5625 2^7 */
	assert_int_equal(half[1], 0x4600);
}

static void takes_scalars_by_value_and_from_memory(void **state)
{
	static const struct tn_instruction instructions[] = {
		{TN_OP_SCALAR, TN_F32, 0, 0, 0, 0},
		{TN_OP_SCALAR, TN_F32, 1, 0, 0, 0},
		{TN_OP_CONSTANT, TN_F32, 0, 0, 0, 0},
		{TN_OP_FMA, TN_F32, 0, 1, 2, 0},
	};
	static const uint64_t half = 0x3f000000;
	static const uint16_t outputs[] = {3};
	struct tn_program program = PROGRAM(0, instructions, outputs);
	struct fixture *f = *state;
	const int32_t seven[2] = {0, 7};
	float z[2];
	struct tn_scalar scalars[2] = {
		{.dtype = TN_F64, .bits = 0x4008000000000000}, /* 3 */
		{.dtype = TN_I32,
		 .on_device = 1,
		 .buffer = (uint64_t)(uintptr_t)seven,
		 .offset = 4},
	};
	struct tn_operand out = operand(TN_F32, z, SHAPE(2));
	struct tn_map_args args = {.call = CALL(struct tn_map_args, f),
				   .program = &program,
				   .outputs = &out,
				   .scalars = scalars};
	program.n_scalars = 2;
	program.n_constants = 1;
	program.constants = &half;
	assert_ok(f->compute->map(f->device, &args));
	assert_true(z[0] == 21.5f && z[1] == 21.5f);
}

static void refuses_what_it_does_not_know_and_touches_nothing(void **state)
{
	struct tn_instruction instructions[3];
	struct tn_program program = PROGRAM(2, instructions, output_2);
	struct fixture *f = *state;
	float x[2] = {1, 2}, z[2] = {7, 7};
	struct tn_operand in[2] = {operand(TN_F32, x, SHAPE(2)), operand(TN_F32, x, SHAPE(2))};
	struct tn_operand out = operand(TN_F32, z, SHAPE(2));
	struct tn_map_args args = {.call = CALL(struct tn_map_args, f),
				   .program = &program,
				   .inputs = in,
				   .outputs = &out};
	memcpy(instructions, subtract_f32, sizeof(instructions));
	instructions[2].op = 999;
	assert_status(f->compute->map(f->device, &args), TN_UNSUPPORTED);
	assert_contains(f->error.text, "opcode 999");
	assert_string_equal(f->error.operation, "map");
	instructions[2].op = TN_OP_SUB;
	instructions[2].b = 2;
	assert_status(f->compute->map(f->device, &args), TN_INVALID_ARGUMENT);
	instructions[2].b = 1;
	in[1].shape[0] = 3;
	assert_status(f->compute->map(f->device, &args), TN_SHAPE);
	assert_contains(f->error.text, "expected shape (2), found (3)");
	in[1].shape[0] = 2;
	in[1].dtype = TN_C64;
	assert_status(f->compute->map(f->device, &args), TN_UNSUPPORTED);
	in[1].dtype = TN_F32;
	out.strides[0] = 0;
	assert_status(f->compute->map(f->device, &args), TN_INVALID_ARGUMENT);
	out.strides[0] = 1;
	args.call.flags = 1u << 30;
	assert_status(f->compute->map(f->device, &args), TN_UNSUPPORTED);
	args.call.flags = TN_DRY_RUN;
	assert_ok(f->compute->map(f->device, &args));
	assert_true(z[0] == 7 && z[1] == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subtracts_transposed_and_broadcast_views),
		cmocka_unit_test(reads_backwards_by_negative_strides_and_writes_in_place),
		cmocka_unit_test(works_on_no_axis_and_on_more_than_a_block),
		cmocka_unit_test(numbers_elements_and_axes),
		cmocka_unit_test(casts_when_it_loads_and_stores),
		cmocka_unit_test(takes_scalars_by_value_and_from_memory),
		cmocka_unit_test(refuses_what_it_does_not_know_and_touches_nothing),
	};
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
