/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * map over views of every kind.  The programs here consist of operations that round once, so their
 * results are exact to the bit on a device that computes in f32; opcodes.c tests the others.
 */
#include "program/cast.h"
#include "programs.h"
#include "slots.h"

/* out0 = in0 - in1, out1 = in0 < in1 */
static struct tn_program *two_outputs(void)
{
	tn_value x, y, out[2];
	struct tn_builder b;
	begin_program(&b);
	x = tn_build_source(&b, TN_OP_INPUT, TN_F32, 0);
	y = tn_build_source(&b, TN_OP_INPUT, TN_F32, 1);
	out[0] = tn_build_op(&b, TN_OP_SUB, TN_F32, x, y, 0);
	out[1] = tn_build_op(&b, TN_OP_LT, TN_BOOL, x, y, 0);
	return finish_program(&b, 2, 0, 2, out);
}

static void expect_value(const struct array *array, uint64_t i, uint64_t expected)
{
	uint64_t found = array_bits(array, i);
	if (!kit_is_value(array->kit, array->operand.dtype, expected, found))
		kit_fail(array->kit, "element %llu: expected bits %llx, found %llx",
			 (unsigned long long)i, (unsigned long long)expected,
			 (unsigned long long)found);
}

/* One shape, with a layout for each operand; number `n` of the random ones. */
static void runs_on_layouts(struct kit *kit, const struct tn_program *program,
			    const struct shape *shape, const enum layout layout[4], uint64_t n)
{
	struct array in[2], out[2], *all[4] = {&in[0], &in[1], &out[0], &out[1]};
	kit_case(kit, TN_SLOT_MAP,
		 "map: rank %u, %llu elements, %s and %s to %s and %s, number %llu", shape->rank,
		 (unsigned long long)shape_count(shape->rank, shape->lengths),
		 layout_names[layout[0]], layout_names[layout[1]], layout_names[layout[2]],
		 layout_names[layout[3]], (unsigned long long)n);
	kit_vary(kit, n);
	for (int i = 0; i < 2; i++) {
		array_make(kit, &in[i], INPUT, TN_F32, shape->rank, shape->lengths, layout[i]);
		array_randomise(&in[i], -2, 2);
		array_make(kit, &out[i], OUTPUT, i ? TN_BOOL : TN_F32, shape->rank, shape->lengths,
			   layout[2 + i]);
	}
	struct tn_operand inputs[2] = {in[0].operand, in[1].operand};
	struct tn_operand outputs[2] = {out[0].operand, out[1].operand};
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = inputs,
				   .outputs = outputs};
	if (kit_run_ok(kit, &args, all, 4)) {
		for (uint64_t i = 0; i < in[0].count; i++) {
			float x = tn_f32_of_bits(array_bits(&in[0], i));
			float y = tn_f32_of_bits(array_bits(&in[1], i));
			expect_value(&out[0], i, tn_bits_of_f32(x - y));
			expect_value(&out[1], i, x < y);
		}
	}
	for (int i = 0; i < 4; i++)
		array_free(all[i]);
}

void check_map_layouts(struct kit *kit)
{
	enum { ANYHOW = 24 };
	struct tn_program *program = two_outputs();
	for (size_t s = 0; s < n_shapes; s++) {
		for (int first = 0; first < LAYOUTS; first++) {
			const enum layout layout[4] = {(enum layout)first,
						       (enum layout)((first + 3) % LAYOUTS),
						       (enum layout)((first + s) % OUTPUT_LAYOUTS),
						       (enum layout)((first + 1) % OUTPUT_LAYOUTS)};
			runs_on_layouts(kit, program, &shapes[s], layout, 0);
		}
	}
	for (uint64_t n = 1; n <= ANYHOW; n++) {
		static const enum layout layout[4] = {RANDOM, RANDOM, RANDOM, RANDOM};
		struct shape shape;
		kit_case(kit, TN_SLOT_MAP, "map: a random shape");
		kit_vary(kit, n);
		shape_random(kit, &shape, TN_MAX_RANK, 5000);
		runs_on_layouts(kit, program, &shape, layout, n);
	}
	tn_program_destroy(program);
}

/* Several MB, of a length that no power of two divides. */
void check_map_long(struct kit *kit)
{
	static const struct shape shape = {1, {1500007}};
	static const enum layout layout[4] = {COMPACT, COMPACT, COMPACT, SHIFTED};
	struct tn_program *program;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	if (!kit_reaches(kit, shape_count(shape.rank, shape.lengths)))
		return kit_skip(kit, "it takes more effort");
	program = two_outputs();
	runs_on_layouts(kit, program, &shape, layout, 0);
	tn_program_destroy(program);
}

/* The output is the same view as the first input. */
void check_map_in_place(struct kit *kit)
{
	static const int64_t lengths[] = {37, 61};
	struct tn_program *program = operation_program(TN_OP_SUB, 2, TN_F32, TN_F32);
	for (int layout = 0; layout < OUTPUT_LAYOUTS; layout++) {
		struct array x, y, *all[2] = {&x, &y};
		kit_case(kit, TN_SLOT_MAP, "map: in place, %s", layout_names[layout]);
		array_make(kit, &x, OUTPUT, TN_F32, 2, lengths, (enum layout)layout);
		array_make(kit, &y, INPUT, TN_F32, 2, lengths, REVERSED);
		array_randomise(&x, -2, 2);
		array_randomise(&y, -2, 2);
		double *before = array_numbers(&x);
		struct tn_operand inputs[2] = {x.operand, y.operand};
		struct tn_map_args args = {.call = CALL(struct tn_map_args),
					   .program = program,
					   .inputs = inputs,
					   .outputs = &x.operand};
		if (kit_run_ok(kit, &args, all, 2))
			for (uint64_t i = 0; i < x.count; i++)
				expect_value(&x, i,
					     tn_bits_of_f32((float)before[i] -
							    (float)array_number(&y, i)));
		free(before);
		array_free(&x);
		array_free(&y);
	}
	tn_program_destroy(program);
}

/* Memory of the kit's own, at addresses that are aligned as an element is and no better. */
void check_map_any_address(struct kit *kit)
{
	enum { N = 1000 };
	static int32_t from[N + 2], to[N + 2];
	struct tn_sync_args sync = {.call = CALL(struct tn_sync_args)};
	struct tn_operand in = {.buffer = (uint64_t)(uintptr_t)(from + 1),
				.dtype = TN_I32,
				.rank = 1,
				.shape = {N},
				.strides = {1}};
	struct tn_operand out = in;
	if (!(kit->description.flags & TN_DEVICE_TAKES_ANY_ADDRESS) ||
	    !kit->description.program_dtypes)
		return kit_skip(kit, "it does not claim to, or supports no programs");
	struct tn_program *program = operation_program(TN_OP_NEG, 1, TN_I32, TN_I32);
	struct tn_map_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				   .program = program,
				   .inputs = &in,
				   .outputs = &out};
	out.buffer = (uint64_t)(uintptr_t)(to + 1);
	kit_case(kit, TN_SLOT_MAP, "map: addresses of the kit's own memory");
	for (int i = 0; i < N + 2; i++)
		from[i] = to[i] = i;
	if (kit_enter(kit, &args) || kit->backend->device.sync(kit->device, &sync))
		kit_fail(kit, "%s", kit->error.text);
	if (to[0] != 0 || to[N + 1] != N + 1)
		kit_fail(kit, "it wrote beyond the output");
	for (int i = 1; i <= N && !kit->case_failed; i++) {
		if (to[i] != -i)
			kit_fail(kit, "element %d: expected %d, found %d", i - 1, -i, to[i]);
	}
	kit_pass(kit);
	tn_program_destroy(program);
}

/* out0 = element, out1 = index 0, out2 = index 1, out3 = index 2 */
void check_map_index(struct kit *kit)
{
	static const int64_t lengths[] = {3, 50, 7};
	tn_value out[4];
	struct array array[4], *all[4] = {&array[0], &array[1], &array[2], &array[3]};
	struct tn_operand outputs[4];
	struct tn_builder b;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	begin_program(&b);
	out[0] = tn_build_source(&b, TN_OP_ELEMENT, TN_I64, 0);
	for (uint32_t axis = 0; axis < 3; axis++)
		out[1 + axis] = tn_build_source(&b, TN_OP_INDEX, TN_I64, axis);
	struct tn_program *program = finish_program(&b, 0, 0, 4, out);
	kit_case(kit, TN_SLOT_MAP, "map: element numbers and indices");
	for (int j = 0; j < 4; j++) {
		array_make(kit, &array[j], OUTPUT, j == 1 ? TN_I32 : TN_I64, 3, lengths,
			   (enum layout)(j % OUTPUT_LAYOUTS));
		outputs[j] = array[j].operand;
	}
	struct tn_map_args args = {
		.call = CALL(struct tn_map_args), .program = program, .outputs = outputs};
	if (kit_run_ok(kit, &args, all, 4)) {
		for (uint64_t i = 0; i < array[0].count; i++) {
			int64_t index[3];
			shape_index(3, lengths, i, index);
			expect_value(&array[0], i, i);
			for (int axis = 0; axis < 3; axis++)
				expect_value(&array[1 + axis], i, (uint64_t)index[axis]);
		}
	}
	for (int j = 0; j < 4; j++)
		array_free(&array[j]);
	tn_program_destroy(program);
}

/* out = (s0 + s1) - 0.5: a scalar by value, of another dtype than it is read in, one on the device,
 * and a constant. */
void check_map_scalars(struct kit *kit)
{
	static const int64_t length[] = {130};
	tn_value v[3];
	struct array device_scalar, out, *all[2] = {&device_scalar, &out};
	struct tn_builder b;
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	begin_program(&b);
	v[0] = tn_build_source(&b, TN_OP_SCALAR, TN_F32, 0);
	v[1] = tn_build_source(&b, TN_OP_SCALAR, TN_F32, 1);
	v[2] = tn_build_op(&b, TN_OP_ADD, TN_F32, v[0], v[1], 0);
	v[2] = tn_build_op(&b, TN_OP_SUB, TN_F32, v[2], tn_build_number(&b, TN_F32, 0.5), 0);
	struct tn_program *program = finish_program(&b, 0, 2, 1, &v[2]);
	kit_case(kit, TN_SLOT_MAP, "map: scalars by value and on the device");
	array_make(kit, &device_scalar, INPUT, TN_I32, 0, NULL, SHIFTED);
	array_make(kit, &out, OUTPUT, TN_F32, 1, length, COMPACT);
	array_set_bits(&device_scalar, 0, 40);
	struct tn_scalar scalars[2] = {
		{.dtype = TN_I64, .bits = (uint64_t)-3},
		{.dtype = TN_I32,
		 .on_device = 1,
		 .buffer = device_scalar.operand.buffer,
		 .offset = device_scalar.operand.offset},
	};
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .outputs = &out.operand,
				   .scalars = scalars};
	if (kit_run_ok(kit, &args, all, 2))
		for (uint64_t i = 0; i < out.count; i++)
			expect_value(&out, i, tn_bits_of_f32(36.5f));
	array_free(&device_scalar);
	array_free(&out);
	tn_program_destroy(program);
}
