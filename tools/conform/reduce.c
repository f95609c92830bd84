/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce: every combiner in every dtype, over every number of trailing axes.  The oracle walks the
 * reduced elements of one output at a time, in double or in 64-bit integers.
 */
#include "program/cast.h"
#include "programs.h"
#include "slots.h"

static const char *const combiner_names[] = {"",    "sum",    "product", "max",
					     "min", "argmax", "argmin"};

static int is_arg(uint32_t combiner)
{
	return combiner == TN_REDUCE_ARGMAX || combiner == TN_REDUCE_ARGMIN;
}

/* The dtype of a combiner's accumulator. */
static tn_dtype result_dtype(uint32_t combiner, tn_dtype dtype)
{
	return tn_is_floating(dtype) && !is_arg(combiner) ? dtype : TN_I64;
}

/* The number and the elements reduced to one output. */
struct run {
	const struct array *in;
	uint64_t first;
	uint64_t length;
	int whole;
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

/* The index of the first NaN, else of the first extreme. */
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

/* A sum of n terms in any order is within (n - 1) epsilon sum |x| (Higham 2002, 4.4), a product
 * within (n - 1) epsilon |product|; the caller adds one rounding for the store. */
static double real_result(const struct run *run, uint32_t combiner, double *tolerance)
{
	double epsilon = kit_epsilon(run->in->operand.dtype), sum = 0, magnitude = 0, product = 1;
	for (uint64_t r = 0; r < run->length; r++) {
		double x = real_at(run, r);
		sum += x;
		magnitude += fabs(x);
		product *= x;
	}
	*tolerance = (double)run->length * epsilon *
		     (combiner == TN_REDUCE_SUM ? magnitude : fabs(product));
	if (run->whole)
		*tolerance = 0;
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

/* Fails the case unless the output is the expected result. */
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
	tolerance += kit_rounding(out->kit, TN_FAMILY_REDUCE, out->operand.dtype,
				  fabs(expected) + tolerance);
	if ((isnan(found) && isnan(expected)) || found == expected ||
	    fabs(found - expected) <= tolerance)
		return;
	kit_fail(out->kit, "output %llu: expected %.17g within %.3g, found %.17g",
		 (unsigned long long)i, expected, tolerance, found);
}

/* Values with ties (argmax and argmin: mostly ties), and some NaNs if requested.  Values for
 * products are near 1, so that the product neither overflows nor vanishes. */
static void fill(struct array *in, uint32_t combiner, int with_nan)
{
	array_randomise(in, -2, 2);
	for (uint64_t i = 0; i < in->count; i++) {
		if (combiner == TN_REDUCE_PRODUCT && tn_is_floating(in->operand.dtype))
			array_set_number(
				in, i,
				kit_representable(in->kit,
						  (i % 3 ? 1 : -1) *
							  kit_uniform(in->kit, 0.9999, 1.0001)));
		else if (is_arg(combiner))
			array_set_number(in, i, (double)(kit_random(in->kit) % 5) - 2);
		else if (kit_random(in->kit) % 4 == 0)
			array_set_number(in, i, (double)(kit_random(in->kit) % 3));
		if (with_nan && kit_random(in->kit) % 9 == 0)
			array_set_number(in, i, NAN);
	}
}

struct reduction {
	uint32_t combiner;
	tn_dtype read;   /* by the prologue */
	tn_dtype stored; /* 0: the same */
	const struct shape *shape;
	uint32_t n_reduced;
	enum layout from, to;
	int with_nan;
	int whole;       /* whole numbers with sums of at most 2^24, exact in f32 */
	uint64_t number; /* of the random ones */
};

static void reduces(struct kit *kit, const struct reduction *r)
{
	struct array in, out, *all[2] = {&in, &out};
	uint32_t kept = r->shape->rank - r->n_reduced;
	tn_dtype stored = r->stored ? r->stored : r->read;
	struct tn_program *prologue = identity_program(r->read, 1);
	kit_case(kit, TN_SLOT_REDUCE,
		 "reduce: %s of %s%s, rank %u (%llu), %u axes, %s to %s, number %llu",
		 combiner_names[r->combiner], tn_dtype_name(stored), r->with_nan ? " with NaN" : "",
		 r->shape->rank, (unsigned long long)shape_count(r->shape->rank, r->shape->lengths),
		 r->n_reduced, layout_names[r->from], layout_names[r->to],
		 (unsigned long long)r->number);
	kit_vary(kit, r->number);
	array_make(kit, &in, INPUT, stored, r->shape->rank, r->shape->lengths, r->from);
	array_make(kit, &out, OUTPUT, result_dtype(r->combiner, r->read), kept, r->shape->lengths,
		   r->to);
	fill(&in, r->combiner, r->with_nan);
	for (uint64_t i = 0; r->whole && i < in.count; i++)
		array_set_number(&in, i, (double)(kit_random(kit) % 17) - 8);
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args),
				      .prologue = prologue,
				      .inputs = &in.operand,
				      .outputs = &out.operand,
				      .n_reduced = r->n_reduced,
				      .n_values = 1,
				      .combiners = {r->combiner}};
	if (kit_run_ok(kit, &args, all, 2)) {
		struct run run = {.in = &in, .length = in.count / out.count, .whole = r->whole};
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
	{2, {1, 77}},
	{2, {77, 1}},
	{2, {300, 41}},
	{2, {3, 5000}},
	{3, {4, 5, 6}},
	{3, {2, 1, 130}},
	{4, {3, 7, 2, 5}},
	{4, {2, 8, 3, 129}},
	{5, {2, 3, 2, 3, 2}},
	{16, {1, 2, 1, 1, 2, 1, 2, 1, 3, 1, 2, 1, 1, 2, 1, 1}},
};
enum { N_REDUCED_SHAPES = sizeof(reduced_shapes) / sizeof(reduced_shapes[0]) };

static const tn_dtype compute_dtypes[] = {TN_F32, TN_I32, TN_U32, TN_I64, TN_BOOL, TN_F64};
enum { N_COMPUTE = 6 };

/* Every number of trailing axes of every shape, in every layout. */
void check_reduce_shapes(struct kit *kit)
{
	enum { ANYHOW = 24 };
	unsigned turn = 0;
	for (int s = 0; s < N_REDUCED_SHAPES; s++) {
		for (uint32_t n = 0; n <= reduced_shapes[s].rank; n++) {
			for (int k = 0; k < 2; k++, turn++) {
				struct reduction r = {.combiner = TN_REDUCE_SUM,
						      .read = k ? TN_I32 : TN_F32,
						      .shape = &reduced_shapes[s],
						      .n_reduced = n,
						      .from = (enum layout)(turn % LAYOUTS),
						      .to = (enum layout)(turn % OUTPUT_LAYOUTS)};
				reduces(kit, &r);
			}
		}
	}
	for (uint64_t n = 1; n <= ANYHOW; n++) {
		struct shape shape;
		struct reduction r = {.combiner = n % 2 ? TN_REDUCE_SUM : TN_REDUCE_MAX,
				      .read = n % 3 ? TN_F32 : TN_I64,
				      .shape = &shape,
				      .from = RANDOM,
				      .to = RANDOM,
				      .number = n};
		kit_case(kit, TN_SLOT_REDUCE, "reduce: a random shape");
		kit_vary(kit, n);
		shape_random(kit, &shape, TN_MAX_RANK, 20000);
		r.n_reduced = (uint32_t)(kit_random(kit) % (shape.rank + 1));
		reduces(kit, &r);
	}
}

/* One combiner in one dtype, over rows, over widely spaced columns, and over all elements. */
static void folds(struct kit *kit, uint32_t combiner, tn_dtype dtype, int with_nan)
{
	static const struct shape rows = {2, {37, 129}}, columns = {3, {5, 31, 7}},
				  one = {1, {1023}};
	static const struct shape *const folded[] = {&rows, &columns, &one};
	static const uint32_t n_reduced[] = {1, 2, 1};
	static const enum layout from[] = {COMPACT, REVERSED, SPACED};
	if (!kit_claims_program(kit, dtype) || !kit_claims_storage(kit, dtype))
		return;
	for (int i = 0; i < 3; i++) {
		struct reduction r = {.combiner = combiner,
				      .read = dtype,
				      .shape = folded[i],
				      .n_reduced = n_reduced[i],
				      .from = from[i],
				      .to = COMPACT,
				      .with_nan = with_nan};
		reduces(kit, &r);
	}
}

void check_reduce_combiners(struct kit *kit)
{
	for (uint32_t combiner = TN_REDUCE_SUM; combiner <= TN_REDUCE_MIN; combiner++)
		for (int d = 0; d < N_COMPUTE; d++)
			folds(kit, combiner, compute_dtypes[d], 0);
}

void check_reduce_nan(struct kit *kit)
{
	static const uint32_t combiners[] = {TN_REDUCE_MAX, TN_REDUCE_MIN, TN_REDUCE_SUM};
	for (int c = 0; c < 3; c++) {
		folds(kit, combiners[c], TN_F32, 1);
		folds(kit, combiners[c], TN_F64, 1);
	}
}

/* Ties are frequent: see fill. */
void check_reduce_arg(struct kit *kit)
{
	for (uint32_t combiner = TN_REDUCE_ARGMAX; combiner <= TN_REDUCE_ARGMIN; combiner++) {
		for (int d = 0; d < N_COMPUTE; d++) {
			folds(kit, combiner, compute_dtypes[d], 0);
			if (tn_is_floating(compute_dtypes[d]))
				folds(kit, combiner, compute_dtypes[d], 1);
		}
	}
}

/* Narrow elements are widened when loaded; results are narrowed when stored. */
void check_reduce_dtypes(struct kit *kit)
{
	static const tn_dtype narrow[] = {TN_I8, TN_I16, TN_U8, TN_U16, TN_F16, TN_BF16};
	static const struct shape shape = {2, {9, 257}};
	for (int d = 0; d < 6; d++) {
		tn_dtype computed = tn_compute_dtype(narrow[d]);
		for (uint32_t combiner = TN_REDUCE_SUM; combiner <= TN_REDUCE_ARGMAX;
		     combiner += 2) {
			struct reduction r = {.combiner = combiner,
					      .read = computed,
					      .stored = narrow[d],
					      .shape = &shape,
					      .n_reduced = 1,
					      .from = COMPACT,
					      .to = COMPACT};
			if (kit_claims_storage(kit, narrow[d]) && kit_claims_program(kit, computed))
				reduces(kit, &r);
		}
	}
}

/* Long enough for any backend to split, and of irregular length.  The error allowed for a long sum
 * could hide a missing term, so whole numbers are used. */
void check_reduce_long(struct kit *kit)
{
	static const struct shape one = {1, {1048583}}, few = {2, {3, 300007}},
				  many = {2, {300007, 3}};
	static const struct {
		const struct shape *shape;
		tn_dtype dtype;
		uint32_t combiner;
		int whole;
	} cases[] = {
		{&one, TN_F32, TN_REDUCE_SUM, 1},  {&one, TN_F32, TN_REDUCE_SUM, 0},
		{&one, TN_I32, TN_REDUCE_SUM, 0},  {&one, TN_F32, TN_REDUCE_ARGMIN, 0},
		{&few, TN_F32, TN_REDUCE_SUM, 1},  {&few, TN_F32, TN_REDUCE_MAX, 0},
		{&many, TN_F32, TN_REDUCE_SUM, 0},
	};
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	if (!kit_reaches(kit, shape_count(one.rank, one.lengths)))
		return kit_skip(kit, "it takes more effort");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reduction r = {.combiner = cases[i].combiner,
				      .read = cases[i].dtype,
				      .shape = cases[i].shape,
				      .n_reduced = 1,
				      .whole = cases[i].whole,
				      .from = COMPACT,
				      .to = COMPACT};
		reduces(kit, &r);
	}
}
