/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce: every combiner in every dtype, over every number of trailing axes.  The oracle walks the reduced
 * elements of one output at a time, in double or in 64-bit integers.
 */
#include "conform.h"

#include "program/cast.h"
#include "programs.h"

static const char *const combiner_names[] = {"",    "sum",    "product", "max",
					     "min", "argmax", "argmin"};

static int is_arg(uint32_t combiner)
{
	return combiner == TN_REDUCE_ARGMAX || combiner == TN_REDUCE_ARGMIN;
}

/* What the accumulator of a combiner is. */
static tn_dtype result_dtype(uint32_t combiner, tn_dtype dtype)
{
	return tn_is_floating(dtype) && !is_arg(combiner) ? dtype : TN_I64;
}

/* The length and the elements of what is reduced to one output. */
struct run {
	const struct array *in;
	uint64_t first;
	uint64_t length;
};

static double real_at(const struct run *run, uint64_t r)
{
	return array_number(run->in, run->first + r);
}

static int64_t integer_at(const struct run *run, uint64_t r)
{
	return (int64_t)tn_cast_bits(run->in->operand.dtype, TN_I64,
				     array_bits(run->in, run->first + r));
}

/* The place of the first NaN, else of the first extreme. */
static uint64_t extreme_place(const struct run *run, int greatest)
{
	uint64_t best = 0;
	if (tn_is_floating(run->in->operand.dtype)) {
		for (uint64_t r = 0; r < run->length; r++)
			if (isnan(real_at(run, r)))
				return r;
		for (uint64_t r = 1; r < run->length; r++)
			if (greatest ? real_at(run, r) > real_at(run, best)
				     : real_at(run, r) < real_at(run, best))
				best = r;
		return best;
	}
	for (uint64_t r = 1; r < run->length; r++)
		if (greatest ? integer_at(run, r) > integer_at(run, best)
			     : integer_at(run, r) < integer_at(run, best))
			best = r;
	return best;
}

/* A sum of n terms in any order is within (n - 1) epsilon sum |x| (Higham 2002, 4.4), a product within
 * (n - 1) epsilon |product|; one rounding more where the caller stores it. */
static double real_result(const struct run *run, uint32_t combiner, double *tolerance)
{
	double epsilon = kit_epsilon(run->in->operand.dtype), sum = 0, magnitude = 0, product = 1;
	for (uint64_t r = 0; r < run->length; r++) {
		sum += real_at(run, r);
		magnitude += fabs(real_at(run, r));
		product *= real_at(run, r);
	}
	*tolerance = (double)run->length * epsilon *
		     (combiner == TN_REDUCE_SUM ? magnitude : fabs(product));
	return combiner == TN_REDUCE_SUM ? sum : product;
}

static int64_t integer_result(const struct run *run, uint32_t combiner)
{
	int greatest = combiner == TN_REDUCE_MAX || combiner == TN_REDUCE_ARGMAX;
	uint64_t sum = 0, product = 1;
	if (is_arg(combiner))
		return (int64_t)extreme_place(run, greatest);
	if (combiner == TN_REDUCE_MAX || combiner == TN_REDUCE_MIN)
		return integer_at(run, extreme_place(run, greatest));
	for (uint64_t r = 0; r < run->length; r++) {
		sum += (uint64_t)integer_at(run, r);
		product *= (uint64_t)integer_at(run, r);
	}
	return (int64_t)(combiner == TN_REDUCE_SUM ? sum : product);
}

static void check_integer(const struct run *run, uint32_t combiner, const struct array *out,
			  uint64_t i)
{
	int64_t expected = integer_result(run, combiner);
	int64_t found = (int64_t)tn_cast_bits(out->operand.dtype, TN_I64, array_bits(out, i));
	if (found != expected)
		kit_fail(out->kit, "output %llu: expected %lld, found %lld", (unsigned long long)i,
			 (long long)expected, (long long)found);
}

/* Fails the case unless the output is what the run gives. */
static void check_output(const struct run *run, uint32_t combiner, const struct array *out,
			 uint64_t i)
{
	double expected, found, tolerance = 0;
	if (!tn_is_floating(run->in->operand.dtype) || is_arg(combiner))
		return check_integer(run, combiner, out, i);
	if (combiner == TN_REDUCE_SUM || combiner == TN_REDUCE_PRODUCT)
		expected = real_result(run, combiner, &tolerance);
	else
		expected = real_at(run, extreme_place(run, combiner == TN_REDUCE_MAX));
	found = array_number(out, i);
	if ((isnan(found) && isnan(expected)) || found == expected ||
	    fabs(found - expected) <= tolerance)
		return;
	kit_fail(out->kit, "output %llu: expected %.17g within %.3g, found %.17g",
		 (unsigned long long)i, expected, tolerance, found);
}

/* Values with many equals among them, and NaNs where there are to be any, but not everywhere.  Those of
 * a product are near 1, so that it neither overflows nor vanishes. */
static void fill(struct array *in, uint32_t combiner, int with_nan)
{
	array_randomise(in, -2, 2);
	for (uint64_t i = 0; i < in->count; i++) {
		if (combiner == TN_REDUCE_PRODUCT && tn_is_floating(in->operand.dtype))
			array_set_number(in, i,
					 (i % 3 ? 1 : -1) * kit_uniform(in->kit, 0.9999, 1.0001));
		else if (kit_random(in->kit) % 4 == 0)
			array_set_number(in, i, (double)(kit_random(in->kit) % 3));
		if (with_nan && kit_random(in->kit) % 9 == 0)
			array_set_number(in, i, NAN);
	}
}

struct reduction {
	uint32_t combiner;
	tn_dtype dtype;
	const struct shape *shape;
	uint32_t n_reduced;
	enum layout from, to;
	int with_nan;
};

static void reduces(struct kit *kit, const struct reduction *r)
{
	struct array in, out, *all[2] = {&in, &out};
	uint32_t kept = r->shape->rank - r->n_reduced;
	struct tn_program *prologue = identity_program(r->dtype, 1);
	kit_case(kit, TN_SLOT_REDUCE, "reduce: %s of %s%s, rank %u (%llu), %u axes, %s to %s",
		 combiner_names[r->combiner], tn_dtype_name(r->dtype),
		 r->with_nan ? " with NaN" : "", r->shape->rank,
		 (unsigned long long)shape_count(r->shape->rank, r->shape->lengths), r->n_reduced,
		 layout_names[r->from], layout_names[r->to]);
	array_make(kit, &in, INPUT, r->dtype, r->shape->rank, r->shape->lengths, r->from);
	array_make(kit, &out, OUTPUT, result_dtype(r->combiner, r->dtype), kept, r->shape->lengths,
		   r->to);
	fill(&in, r->combiner, r->with_nan);
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args),
				      .prologue = prologue,
				      .inputs = &in.operand,
				      .outputs = &out.operand,
				      .n_reduced = r->n_reduced,
				      .n_values = 1,
				      .combiners = {r->combiner}};
	if (kit_run_ok(kit, &args, all, 2)) {
		struct run run = {.in = &in, .length = in.count / out.count};
		for (uint64_t i = 0; i < out.count; i++, run.first += run.length)
			check_output(&run, r->combiner, &out, i);
	}
	array_free(&in);
	array_free(&out);
	tn_program_destroy(prologue);
}

static const struct shape reduced_shapes[] = {
	{1, {1}},
	{1, {5}},
	{1, {1000}},
	{1, {100003}},
	{2, {1, 77}},
	{2, {77, 1}},
	{2, {300, 41}},
	{2, {3, 5000}},
	{3, {4, 5, 6}},
	{3, {2, 1, 130}},
	{4, {3, 7, 2, 5}},
	{5, {2, 3, 2, 3, 2}},
	{4, {2, 8, 3, 129}},
};
enum { N_REDUCED_SHAPES = sizeof(reduced_shapes) / sizeof(reduced_shapes[0]) };

static void reduces_every_split(struct kit *kit)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_I32, TN_U32, TN_I64, TN_BOOL, TN_F64};
	unsigned turn = 0;
	for (int d = 0; d < 6; d++) {
		if (!kit_claims_program(kit, dtypes[d]))
			continue;
		for (uint32_t combiner = TN_REDUCE_SUM; combiner <= TN_REDUCE_ARGMIN; combiner++) {
			for (int s = 0; s < N_REDUCED_SHAPES; s++) {
				const struct shape *shape = &reduced_shapes[s];
				for (uint32_t n = 0; n <= shape->rank; n++, turn++) {
					struct reduction r = {combiner,
							      dtypes[d],
							      shape,
							      n,
							      (enum layout)(turn % LAYOUTS),
							      (enum layout)(turn % OUTPUT_LAYOUTS),
							      tn_is_floating(dtypes[d]) &&
								      turn % 3 == 0};
					reduces(kit, &r);
				}
			}
		}
	}
}

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

static void check_weighted(const struct array *in, const struct array *w, const struct array *out)
{
	struct run run = {.in = in, .length = in->count / w->count};
	for (uint64_t i = 0; i < w->count; i++, run.first += run.length) {
		double sum = 0, magnitude = 0, weight = array_number(w, i), found, tolerance;
		for (uint64_t r = 0; r < run.length; r++) {
			double x = real_at(&run, r);
			sum += x + x * x;
			magnitude += fabs(x) + x * x;
		}
		/* the sums as above, and a square, an addition and a product */
		tolerance =
			((double)run.length + 3) * kit_epsilon(TN_F32) * magnitude * fabs(weight);
		found = array_number(&out[0], i);
		if (!(fabs(found - sum * weight) <= tolerance))
			kit_fail(in->kit, "output 0, %llu: expected %.9g within %.3g, found %.9g",
				 (unsigned long long)i, sum * weight, tolerance, found);
		check_output(&run, TN_REDUCE_MAX, &out[1], i);
		check_output(&run, TN_REDUCE_ARGMIN, &out[2], i);
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

void check_reduce(struct kit *kit)
{
	finishes_with_an_epilogue(kit, &reduced_shapes[1], 1, COMPACT);
	if (!kit->description.program_dtypes)
		return;
	reduces_every_split(kit);
	for (int s = 0; s < N_REDUCED_SHAPES; s++)
		for (uint32_t n = 0; n <= reduced_shapes[s].rank; n++)
			finishes_with_an_epilogue(kit, &reduced_shapes[s], n,
						  (enum layout)((unsigned)s % LAYOUTS));
}
