/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce over arrays of all sizes: kept and reduced axes of all lengths.  Sums are exact
 * (sweep_term), or rounded once to the type in which the device computes; with terms that are not,
 * the same call gives the same bits each time.
 */
#include "base/dtype.h"
#include "program/cast.h"
#include "programs.h"
#include "sweep.h"

enum { OUTER, KEPT, REDUCED, INNER, AXES };

static int claims_f32(const struct kit *kit, tn_dtype dtype)
{
	return dtype == TN_F32 && kit_claims_program(kit, dtype);
}

static int claims_f64(const struct kit *kit, tn_dtype dtype)
{
	return dtype == TN_F64 && kit_claims_program(kit, dtype);
}

static int claims_others(const struct kit *kit, tn_dtype dtype)
{
	const tn_dtype computed = tn_compute_dtype(dtype);
	return dtype != TN_F32 && computed && kit_claims_program(kit, computed);
}

static uint64_t bytes_of(tn_dtype dtype, const int64_t *lengths)
{
	return shape_count(AXES, lengths) * tn_dtype_size(dtype);
}

static double work_of(const int64_t *lengths)
{
	return SWEEP_VISIT * (double)shape_count(AXES, lengths);
}

/* The other combiners are not swept as far as sums, which are repeated too. */
static double work_of_others(const int64_t *lengths)
{
	return 2 * work_of(lengths);
}

/* acc - in */
static struct tn_program *epilogue(tn_dtype dtype)
{
	struct tn_builder b;
	begin_program(&b);
	tn_value acc = tn_build_source(&b, TN_OP_INPUT, dtype, 0);
	tn_value value = tn_build_op(&b, TN_OP_SUB, dtype, acc,
				     tn_build_source(&b, TN_OP_INPUT, dtype, 1), 0);
	return finish_program(&b, 2, 0, 1, &value);
}

struct reduction {
	struct kit *kit;
	const struct sweep *sweep;
	tn_dtype dtype, computed;
	const int64_t *lengths;
	uint32_t combiner;
	int has_epilogue;
	int64_t length; /* of a sum */
	struct array in, more, out, *all[3];
	size_t n;
};

static int is_arg(uint32_t combiner)
{
	return combiner == TN_REDUCE_ARGMAX || combiner == TN_REDUCE_ARGMIN;
}

static void set_terms(const struct reduction *r, struct array *array)
{
	double *all = numbers(array->count);
	sweep_terms(r->kit, TN_FAMILY_REDUCE, r->dtype, r->length, MANY_TERMS, all, array->count);
	sweep_store(array, all);
	free(all);
}

/* Whole numbers, and one that is greater or less than all others: first, last or anywhere, and
 * often a second time after that. */
static void set_extremes(const struct reduction *r, struct array *array)
{
	const int greatest = r->combiner == TN_REDUCE_MAX || r->combiner == TN_REDUCE_ARGMAX;
	const uint64_t n = (uint64_t)r->length;
	double *all = numbers(array->count);
	for (uint64_t i = 0; i < array->count; i++)
		all[i] = (double)(1 + kit_random(r->kit) % 100);
	for (uint64_t i = 0; i < array->count; i += n) {
		uint64_t random = kit_random(r->kit), anywhere = (random >> 8) % n;
		uint64_t at = random % 3 == 0 ? n - 1 : random % 3 == 1 ? 0 : anywhere;
		all[i + at] = greatest ? 101 : 0;
		if (anywhere > at)
			all[i + anywhere] = all[i + at];
	}
	sweep_store(array, all);
	free(all);
}

static void set(struct reduction *r)
{
	if (r->dtype == TN_BOOL)
		sweep_set_bits(&r->in);
	else if (r->combiner != TN_REDUCE_SUM)
		set_extremes(r, &r->in);
	else if (tn_is_floating(r->dtype))
		set_terms(r, &r->in);
	else
		sweep_set_whole(&r->in, 100);
	if (r->has_epilogue)
		set_terms(r, &r->more);
}

/* All but an axis of length 1 on either side. */
static void make(struct reduction *r)
{
	static const enum layout layouts[] = {COMPACT, COMPACT, REVERSED, SHIFTED};
	struct kit *kit = r->kit;
	const int64_t *n = r->lengths;
	const uint32_t first = n[OUTER] == 1, rank = AXES - first - (n[INNER] == 1);
	const enum layout layout = layouts[sweep_turn(kit, r->sweep, r->dtype, n, 0, 4)];
	const tn_dtype result =
		tn_is_floating(r->dtype) && !is_arg(r->combiner) ? r->computed : TN_I64;
	sweep_case(kit, r->sweep, r->dtype, n, "%s", layout_names[layout]);
	array_make(kit, &r->in, INPUT, r->dtype, rank, n + first, layout);
	array_make(kit, &r->out, OUTPUT, result, REDUCED - first, n + first, COMPACT);
	r->all[0] = &r->in;
	r->all[1] = &r->out;
	r->n = 2;
	r->length = n[REDUCED] * n[INNER];
	if (r->has_epilogue) {
		array_make(kit, &r->more, INPUT, result, REDUCED - first, n + first, COMPACT);
		r->all[r->n++] = &r->more;
	}
	set(r);
}

/* The result of n elements, exact for sums of floating dtypes and integers below 2^53. */
static double reduced(uint32_t combiner, const double *x, int64_t n)
{
	const int greatest = combiner == TN_REDUCE_MAX || combiner == TN_REDUCE_ARGMAX;
	int64_t best = 0;
	double sum = 0;
	for (int64_t i = 0; i < n && combiner == TN_REDUCE_SUM; i++)
		sum += x[i];
	if (combiner == TN_REDUCE_SUM)
		return sum;
	for (int64_t i = 1; i < n; i++)
		if (greatest ? x[i] > x[best] : x[i] < x[best])
			best = i;
	return is_arg(combiner) ? (double)best : x[best];
}

/* A total is rounded to the type in which the device computes, and so is what its epilogue makes
 * of it. */
static double rounding(const struct reduction *r, double total, double result)
{
	const tn_dtype dtype = r->out.operand.dtype;
	double error = kit_rounding(r->kit, TN_FAMILY_REDUCE, dtype, total);
	if (r->has_epilogue)
		error += kit_rounding(r->kit, TN_FAMILY_REDUCE, dtype, fabs(result) + error);
	return error;
}

static void compare(const struct reduction *r)
{
	double *x = numbers(r->in.count), *found = numbers(r->out.count);
	double *more = r->has_epilogue ? numbers(r->out.count) : NULL;
	sweep_load(&r->in, x);
	sweep_load(&r->out, found);
	if (more)
		sweep_load(&r->more, more);
	for (uint64_t i = 0; i < r->out.count; i++) {
		double total = reduced(r->combiner, x + (int64_t)i * r->length, r->length);
		double expected = total - (more ? more[i] : 0);
		if (found[i] == expected ||
		    fabs(found[i] - expected) <= rounding(r, total, expected))
			continue;
		kit_fail(r->kit, "output %llu: expected %.17g exactly, found %.17g",
			 (unsigned long long)i, expected, found[i]);
		break;
	}
	free(x);
	free(found);
	free(more);
}

static void reduces(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths, uint32_t combiner, int has_epilogue)
{
	struct reduction r = {.kit = kit,
			      .sweep = sweep,
			      .dtype = dtype,
			      .computed = tn_compute_dtype(dtype),
			      .lengths = lengths,
			      .combiner = combiner,
			      .has_epilogue = has_epilogue};
	struct tn_program *prologue = identity_program(r.computed, 1);
	struct tn_program *after = has_epilogue ? epilogue(r.computed) : NULL;
	make(&r);
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args),
				      .prologue = prologue,
				      .epilogue = after,
				      .inputs = &r.in.operand,
				      .epilogue_inputs = has_epilogue ? &r.more.operand : NULL,
				      .outputs = &r.out.operand,
				      .n_reduced = 1 + (lengths[INNER] > 1),
				      .n_values = 1,
				      .combiners = {combiner}};
	if (kit_run_ok(kit, &args, r.all, r.n))
		compare(&r);
	if (!kit->case_failed && combiner == TN_REDUCE_SUM && tn_is_floating(dtype) && !after) {
		sweep_set_normal(&r.in);
		sweep_repeat(kit, kit->description.determinism[TN_FAMILY_REDUCE], &args, r.all,
			     r.n);
	}
	for (size_t i = 0; i < r.n; i++)
		array_free(r.all[i]);
	tn_program_destroy(prologue);
	tn_program_destroy(after);
}

static void sums(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *lengths)
{
	reduces(kit, sweep, dtype, lengths, TN_REDUCE_SUM, 0);
}

static void finds_max(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		      const int64_t *lengths)
{
	reduces(kit, sweep, dtype, lengths, TN_REDUCE_MAX, 0);
}

static void finds_place(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			const int64_t *lengths)
{
	reduces(kit, sweep, dtype, lengths, TN_REDUCE_ARGMAX, 0);
}

static void sums_with_epilogue(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			       const int64_t *lengths)
{
	reduces(kit, sweep, dtype, lengths, TN_REDUCE_SUM, 1);
}

/* Floating dtypes are summed; integers have combiners in turns. */
static void reduces_others(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			   const int64_t *lengths)
{
	static const uint32_t wholes[] = {TN_REDUCE_SUM, TN_REDUCE_MIN, TN_REDUCE_ARGMIN};
	reduces(kit, sweep, dtype, lengths,
		tn_is_floating(dtype) ? TN_REDUCE_SUM
				      : wholes[sweep_turn(kit, sweep, dtype, lengths, 1, 3)],
		0);
}

const struct sweep sweep_of_reduce = {
	TN_SLOT_REDUCE, "sum",
	AXES,           {{"outer", 1, 5000}, {"kept", 2, 0}, {"reduced", 9, 0}, {"inner", 1, 5000}},
	claims_f32,     bytes_of,
	work_of,        sums};

/* As many results as there can be. */
static const struct sweep sweep_of_pairs = {
	TN_SLOT_REDUCE, "sum of pairs",
	AXES,           {{"outer", 1, 1}, {"kept", 2, 0}, {"reduced", 2, 2}, {"inner", 1, 1}},
	claims_f32,     bytes_of,
	work_of,        sums};

void check_sizes_reduce(struct kit *kit)
{
	static const struct {
		const char *name;
		int (*claims)(const struct kit *kit, tn_dtype dtype);
		void (*run)(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			    const int64_t *lengths);
		double (*work)(const int64_t *lengths);
	} rows[] = {
		{"sum of f64", claims_f64, sums, work_of},
		{"max", claims_f32, finds_max, work_of_others},
		{"argmax", claims_f32, finds_place, work_of_others},
		{"sum and epilogue", claims_f32, sums_with_epilogue, work_of_others},
		{"reduce", claims_others, reduces_others, work_of},
	};
	struct sweep sweep = sweep_of_reduce;
	sweep_axes(kit, &sweep);
	sweep_axes(kit, &sweep_of_pairs);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sweep.name = rows[i].name;
		sweep.claims = rows[i].claims;
		sweep.run = rows[i].run;
		sweep.work = rows[i].work;
		sweep_axes(kit, &sweep);
	}
}
