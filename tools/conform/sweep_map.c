/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * map over arrays of all sizes: one, two and three inputs, compact, transposed and broadcast.
 * Every element is compared, with operations that round once.
 */
#include "program/cast.h"
#include "programs.h"
#include "sweep.h"

static int claims_f32(const struct kit *kit, tn_dtype dtype)
{
	return dtype == TN_F32 && kit_claims_program(kit, dtype);
}

static int claims_all(const struct kit *kit, tn_dtype dtype)
{
	const tn_dtype computed = tn_compute_dtype(dtype);
	return computed && kit_claims_program(kit, computed);
}

/* in[0] - in[1] - ..., of booleans the exclusive or; -in[0] of one input */
static struct tn_program *difference(tn_dtype dtype, uint32_t n_inputs)
{
	const uint16_t op = dtype == TN_BOOL ? TN_OP_XOR : TN_OP_SUB;
	struct tn_builder b;
	begin_program(&b);
	tn_value value = tn_build_source(&b, TN_OP_INPUT, dtype, 0);
	for (uint32_t i = 1; i < n_inputs; i++)
		value = tn_build_op(&b, op, dtype, value,
				    tn_build_source(&b, TN_OP_INPUT, dtype, i), 0);
	if (n_inputs == 1)
		value = tn_build_op(&b, TN_OP_NEG, dtype, value, 0, 0);
	return finish_program(&b, n_inputs, 0, 1, &value);
}

/* In f32, and rounded to the dtype. */
static void subtract_narrow(tn_dtype dtype, uint16_t *to, const uint16_t *x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		float a = tn_f32_of_bits(tn_cast_bits(dtype, TN_F32, to[i]));
		float b = tn_f32_of_bits(tn_cast_bits(dtype, TN_F32, x[i]));
		to[i] = (uint16_t)tn_cast_bits(TN_F32, dtype, tn_bits_of_f32(a - b));
	}
}

static void subtract_integers(size_t size, unsigned char *to, const unsigned char *x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t a = 0, b = 0;
		memcpy(&a, to + i * size, size);
		memcpy(&b, x + i * size, size);
		a -= b;
		memcpy(to + i * size, &a, size);
	}
}

/* to[i] := to[i] - x[i], modulo 2^width of integers, the exclusive or of booleans. */
static void subtract(tn_dtype dtype, void *to, const void *x, uint64_t n)
{
	float *singles = to;
	double *doubles = to;
	unsigned char *bytes = to;
	if (dtype == TN_F32)
		for (uint64_t i = 0; i < n; i++)
			singles[i] -= ((const float *)x)[i];
	else if (dtype == TN_F64)
		for (uint64_t i = 0; i < n; i++)
			doubles[i] -= ((const double *)x)[i];
	else if (dtype == TN_BOOL)
		for (uint64_t i = 0; i < n; i++)
			bytes[i] ^= ((const unsigned char *)x)[i];
	else if (tn_is_narrow(dtype))
		subtract_narrow(dtype, to, x, n);
	else
		subtract_integers(tn_dtype_size(dtype), to, x, n);
}

static void negate(void *to, uint64_t n)
{
	uint32_t *bits = to;
	for (uint64_t i = 0; i < n; i++)
		bits[i] ^= UINT32_C(1) << 31;
}

/* Small whole numbers, whose differences are exact, if the device computes in a narrower type. */
static void set(struct array *array)
{
	if (kit_rounds(array->kit, TN_FAMILY_MAP, array->operand.dtype))
		sweep_set_whole(array, 40);
	else
		sweep_set_normal(array);
}

enum { ROWS, COLUMNS, MOST_INPUTS = 3 };

/* A matrix; `along` is the axis along which one row or column stays the same, or 2: none. */
static void make_input(struct kit *kit, struct array *array, tn_dtype dtype, uint32_t rank,
		       const int64_t *lengths, enum layout layout, uint32_t along)
{
	int64_t stored[2] = {lengths[ROWS], rank > 1 ? lengths[COLUMNS] : 1};
	if (along < rank)
		stored[along] = 1;
	array_make(kit, array, INPUT, dtype, rank, stored, layout);
	set(array);
	if (along >= rank)
		return;
	array->operand.shape[along] = lengths[along];
	array->operand.strides[along] = 0;
	array_reshaped(array);
}

/* What varies besides the sizes. */
struct form {
	uint32_t n_inputs;
	enum layout from, to;
	int broadcasts; /* the second input is a row, the third a column */
};

static void maps(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *lengths,
		 const struct form *f)
{
	struct tn_program *program = difference(tn_compute_dtype(dtype), f->n_inputs);
	struct array in[MOST_INPUTS], out, *all[MOST_INPUTS + 1];
	struct tn_operand inputs[MOST_INPUTS];
	sweep_case(kit, sweep, dtype, lengths, "%s to %s", layout_names[f->from],
		   layout_names[f->to]);
	for (uint32_t i = 0; i < f->n_inputs; i++) {
		make_input(kit, &in[i], dtype, sweep->n_axes, lengths, i ? COMPACT : f->from,
			   f->broadcasts && i ? i - 1 : 2);
		all[i] = &in[i];
		inputs[i] = in[i].operand;
	}
	array_make(kit, &out, OUTPUT, dtype, sweep->n_axes, lengths, f->to);
	all[f->n_inputs] = &out;
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = inputs,
				   .outputs = &out.operand};
	if (kit_run_ok(kit, &args, all, f->n_inputs + 1)) {
		void *expected = sweep_elements(&in[0]);
		if (f->n_inputs == 1)
			negate(expected, out.count);
		for (uint32_t i = 1; i < f->n_inputs; i++) {
			void *x = sweep_elements(&in[i]);
			subtract(dtype, expected, x, out.count);
			free(x);
		}
		sweep_compare_bits(&out, expected);
		free(expected);
	}
	for (uint32_t i = 0; i <= f->n_inputs; i++)
		array_free(all[i]);
	tn_program_destroy(program);
}

static void maps_line(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		      const int64_t *lengths)
{
	const struct form form = {1, COMPACT, COMPACT, 0};
	maps(kit, sweep, dtype, lengths, &form);
}

static void maps_matrix(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			const int64_t *lengths)
{
	static const enum layout layouts[] = {COMPACT, REVERSED, SHIFTED};
	const unsigned turn = sweep_turn(kit, sweep, dtype, lengths, 0, 9);
	const struct form form = {2, layouts[turn % 3], layouts[turn / 3], 0};
	maps(kit, sweep, dtype, lengths, &form);
}

static void maps_broadcast(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			   const int64_t *lengths)
{
	const struct form form = {3, COMPACT, COMPACT, 1};
	maps(kit, sweep, dtype, lengths, &form);
}

static uint64_t bytes_of_line(tn_dtype dtype, const int64_t *lengths)
{
	return (uint64_t)lengths[0] * tn_dtype_size(dtype);
}

static double work_of_line(const int64_t *lengths)
{
	return SWEEP_VISIT * (double)lengths[0];
}

/* The program of three inputs is that of two once more: it is swept less far. */
static double work_of_broadcast(const int64_t *lengths)
{
	return 4 * SWEEP_VISIT * (double)shape_count(2, lengths);
}

static uint64_t bytes_of_matrix(tn_dtype dtype, const int64_t *lengths)
{
	return shape_count(2, lengths) * tn_dtype_size(dtype);
}

static double work_of_matrix(const int64_t *lengths)
{
	return SWEEP_VISIT * (double)shape_count(2, lengths);
}

const struct sweep sweep_of_map = {TN_SLOT_MAP,
				   "map of two inputs",
				   2,
				   {{"rows", 2, 0}, {"columns", 3, 0}},
				   claims_all,
				   bytes_of_matrix,
				   work_of_matrix,
				   maps_matrix};

void check_sizes_map(struct kit *kit)
{
	static const struct sweep line = {TN_SLOT_MAP,   "map of one input", 1,
					  {{"n", 7, 0}}, claims_f32,         bytes_of_line,
					  work_of_line,  maps_line};
	static const struct sweep broadcast = {TN_SLOT_MAP,
					       "map of a matrix, a row and a column",
					       2,
					       {{"rows", 2, 0}, {"columns", 3, 0}},
					       claims_f32,
					       bytes_of_matrix,
					       work_of_broadcast,
					       maps_broadcast};
	sweep_axes(kit, &line);
	sweep_axes(kit, &sweep_of_map);
	sweep_axes(kit, &broadcast);
}
