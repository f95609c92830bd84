/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce with several values at once, an epilogue over them, and inputs of the epilogue.
 */
#include "programs.h"
#include "slots.h"

/* Four values at once with an epilogue over them and a broadcast input:
 *     prologue   x, x * x, x, x       combined by sum, sum, max, argmin
 *     epilogue   out0 = (sum + sum of squares) * w,  out1 = max, out2 = argmin */
static struct tn_program *square_prologue(void)
{
	tn_value v[4];
	struct tn_builder b;
	begin_program(&b);
	v[0] = v[2] = v[3] = tn_build_source(&b, TN_OP_INPUT, TN_F32, 0);
	v[1] = tn_build_op(&b, TN_OP_MUL, TN_F32, v[0], v[0], 0);
	return finish_program(&b, 1, 0, 4, v);
}

static struct tn_program *weighted_epilogue(void)
{
	tn_value out[3], w;
	struct tn_builder b;
	begin_program(&b);
	out[0] = tn_build_op(&b, TN_OP_ADD, TN_F32, tn_build_source(&b, TN_OP_INPUT, TN_F32, 0),
			     tn_build_source(&b, TN_OP_INPUT, TN_F32, 1), 0);
	w = tn_build_source(&b, TN_OP_INPUT, TN_F32, 4);
	out[0] = tn_build_op(&b, TN_OP_MUL, TN_F32, out[0], w, 0);
	out[1] = tn_build_source(&b, TN_OP_INPUT, TN_F32, 2);
	out[2] = tn_build_source(&b, TN_OP_INPUT, TN_I64, 3);
	return finish_program(&b, 5, 0, 3, out);
}

/* The largest element and the index of the smallest among `length` elements from `first` on. */
static void extremes(const struct array *in, uint64_t first, uint64_t length, double *greatest,
		     uint64_t *least)
{
	*greatest = array_number(in, first);
	*least = 0;
	for (uint64_t r = 1; r < length; r++) {
		double x = array_number(in, first + r);
		if (x > *greatest)
			*greatest = x;
		if (x < array_number(in, first + *least))
			*least = r;
	}
}

/* (sum x + sum x^2) w, with n + 3 roundings: those of the sums, a square,
 * an addition and a product. */
static void check_sum(const struct array *in, uint64_t first, uint64_t length, double weight,
		      const struct array *out, uint64_t i)
{
	double sum = 0, magnitude = 0, found = array_number(out, i), tolerance;
	for (uint64_t r = 0; r < length; r++) {
		double x = array_number(in, first + r);
		sum += x + x * x;
		magnitude += fabs(x) + x * x;
	}
	tolerance = (((double)length + 3) * kit_epsilon(TN_F32) * magnitude +
		     /* Where each is rounded: squares, both sums, their sum and the product,
		      * whose unit may be twice as large, or that of the least numbers. */
		     5 * kit_rounding(in->kit, TN_FAMILY_REDUCE, TN_F32, magnitude)) *
			    fabs(weight) +
		    kit_rounding(in->kit, TN_FAMILY_REDUCE, TN_F32, sum * weight);
	if (!(fabs(found - sum * weight) <= tolerance))
		kit_fail(in->kit, "output 0, %llu: expected %.9g within %.3g, found %.9g",
			 (unsigned long long)i, sum * weight, tolerance, found);
}

static void check_weighted(const struct array *in, const struct array *w, const struct array *out)
{
	uint64_t length = in->count / w->count, least;
	double greatest;
	for (uint64_t i = 0; i < w->count; i++) {
		check_sum(in, i * length, length, array_number(w, i), &out[0], i);
		extremes(in, i * length, length, &greatest, &least);
		if (array_number(&out[1], i) != greatest)
			kit_fail(in->kit, "output 1, %llu: expected %.9g, found %.9g",
				 (unsigned long long)i, greatest, array_number(&out[1], i));
		if (array_bits(&out[2], i) != least)
			kit_fail(in->kit, "output 2, %llu: expected %llu, found %llu",
				 (unsigned long long)i, (unsigned long long)least,
				 (unsigned long long)array_bits(&out[2], i));
	}
}

static void finishes_with_an_epilogue(struct kit *kit, const struct shape *shape,
				      uint32_t n_reduced, enum layout layout)
{
	static const tn_dtype dtypes[3] = {TN_F32, TN_F32, TN_I32};
	struct tn_program *prologue = square_prologue(), *epilogue = weighted_epilogue();
	struct array in, w, out[3], *all[5] = {&in, &w, &out[0], &out[1], &out[2]};
	uint32_t kept = shape->rank - n_reduced;
	struct tn_operand outputs[3];
	kit_case(kit, TN_SLOT_REDUCE, "reduce: four values, epilogue, rank %u, %u axes, %s",
		 shape->rank, n_reduced, layout_names[layout]);
	array_make(kit, &in, INPUT, TN_F32, shape->rank, shape->lengths, layout);
	array_make(kit, &w, INPUT, TN_F32, kept, shape->lengths, BROADCAST);
	array_randomise(&in, -2, 2);
	array_randomise(&w, -2, 2);
	for (int j = 0; j < 3; j++) {
		array_make(kit, &out[j], OUTPUT, dtypes[j], kept, shape->lengths,
			   (enum layout)(j % OUTPUT_LAYOUTS));
		outputs[j] = out[j].operand;
	}
	struct tn_reduce_args args = {
		.call = CALL(struct tn_reduce_args),
		.prologue = prologue,
		.epilogue = epilogue,
		.inputs = &in.operand,
		.epilogue_inputs = &w.operand,
		.outputs = outputs,
		.n_reduced = n_reduced,
		.n_values = 4,
		.combiners = {TN_REDUCE_SUM, TN_REDUCE_SUM, TN_REDUCE_MAX, TN_REDUCE_ARGMIN}};
	if (kit_run_ok(kit, &args, all, 5))
		check_weighted(&in, &w, out);
	for (int i = 0; i < 5; i++)
		array_free(all[i]);
	tn_program_destroy(prologue);
	tn_program_destroy(epilogue);
}

void check_reduce_epilogue(struct kit *kit)
{
	static const struct shape reduced[] = {
		{1, {5}},       {1, {1000}},      {2, {300, 41}},
		{3, {4, 5, 6}}, {3, {2, 1, 130}}, {5, {2, 3, 2, 3, 2}},
	};
	for (int s = 0; s < 6; s++)
		for (uint32_t n = 0; n <= reduced[s].rank; n++)
			finishes_with_an_epilogue(kit, &reduced[s], n,
						  (enum layout)((unsigned)(s + 1) % LAYOUTS));
}
