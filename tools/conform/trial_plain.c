/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Plans of map, reduce, matmul, fill, copy, gather, scatter_add, scatter, sort and scan, with the
 * formulas of their results.
 */
#include "trial.h"

#include <stdio.h>

#include "program/cast.h"
#include "program/evaluate.h"
#include "programs.h"

#define PLACE(type, member) offsetof(struct type, member)

/* A shape of some hundred elements at most.  A quarter have any rank, with lengths of 1 to 3 in any
 * axis. */
static struct shape draw_shape(struct trial *t, uint32_t least)
{
	enum { MOST = 700 };
	struct shape shape;
	uint64_t count = 1;
	do
		shape_random(t->kit, &shape, 4, MOST);
	while (shape.rank < least);
	if (kit_random(t->kit) % 4)
		return shape;
	shape.rank = least + (uint32_t)(kit_random(t->kit) % (TN_MAX_RANK + 1 - least));
	for (uint32_t axis = 0; axis < shape.rank; axis++) {
		uint64_t length = kit_random(t->kit) % 2 ? 1 + kit_random(t->kit) % 3 : 1;
		shape.lengths[axis] = count * length > MOST ? 1 : (int64_t)length;
		count *= (uint64_t)shape.lengths[axis];
	}
	return shape;
}

static void name_shape(struct trial *t, const struct shape *shape)
{
	size_t at = 0;
	for (uint32_t axis = 0; axis < shape->rank && at + 12 < sizeof(t->text); axis++)
		at += (size_t)snprintf(t->text + at, sizeof(t->text) - at, "%s%lld",
				       axis ? " x " : "", (long long)shape->lengths[axis]);
}

/* The elements of an axis, and of those after it. */
static uint64_t length_of(const struct shape *shape, uint32_t axis)
{
	return (uint64_t)shape->lengths[axis];
}

static uint64_t inner_of(const struct shape *shape, uint32_t axis)
{
	return shape_count(shape->rank - axis - 1, shape->lengths + axis + 1);
}

/* ---- map -------------------------------------------------------------------------------------*/

/* in0 - in1, of booleans the exclusive or: rounded once, so exact. */
static void map_formula(struct trial *t)
{
	const tn_dtype computed = tn_compute_dtype(t->dtype);
	const size_t size = tn_dtype_size(t->dtype);
	trial_expect_bytes(&t->operand[2]);
	for (uint64_t i = 0; i < t->operand[2].array.count; i++) {
		uint64_t v[2] = {0, 0}, result;
		for (int k = 0; k < 2; k++) {
			memcpy(&v[k], t->operand[k].bytes + i * size, size);
			v[k] = tn_cast_bits(t->dtype, computed, v[k]);
		}
		result = tn_op_evaluate(computed == TN_BOOL ? TN_OP_XOR : TN_OP_SUB, computed,
					computed, v[0], v[1], 0);
		result = tn_cast_bits(computed, t->dtype, result);
		memcpy(t->operand[2].expected_bytes + i * size, &result, size);
	}
}

static void plan_map(struct trial *t)
{
	const tn_dtype computed = tn_compute_dtype(t->dtype);
	struct shape shape = draw_shape(t, 0);
	name_shape(t, &shape);
	t->program = operation_program(computed == TN_BOOL ? TN_OP_XOR : TN_OP_SUB, 2, computed,
				       computed);
	t->args.map.program = t->program;
	trial_operand(t, "input 0", 0, INPUT, t->dtype, shape.rank, shape.lengths);
	trial_operand(t, "input 1", 0, INPUT, t->dtype, shape.rank, shape.lengths);
	trial_operand(t, "output", 0, OUTPUT, t->dtype, shape.rank, shape.lengths);
	t->formula = map_formula;
	t->is_required = 1;
}

/* ---- reduce ----------------------------------------------------------------------------------*/

static const char *const combiner_names[] = {"",    "sum",    "product", "max",
					     "min", "argmax", "argmin"};

/* Is `x` chosen rather than `best`?  The first NaN wins. */
static int is_better(uint32_t combiner, double x, double best)
{
	if (isnan(best) || isnan(x))
		return !isnan(best);
	return combiner == TN_REDUCE_MAX || combiner == TN_REDUCE_ARGMAX ? x > best : x < best;
}

/* A product, whatever the order of its factors. */
struct product {
	double value, n;
	double above, below; /* sums of the logarithms that are positive and negative */
	int is_nan;          /* a factor is */
};

static void multiply(struct product *p, double factor)
{
	double size = fabs(factor);
	p->value *= factor;
	p->n += 1;
	p->is_nan |= isnan(factor);
	if (size > 1 && isfinite(size))
		p->above += log2(size);
	else if (size < 1 && size > 0)
		p->below -= log2(size);
}

static double product_error(const struct trial *t, const struct product *p)
{
	const double limit = t->dtype == TN_F64 ? 1000 : 120;
	if (p->is_nan)
		return 0;
	if (p->above > limit || p->below > limit)
		return INFINITY;
	if (!isfinite(p->value))
		return 0;
	return kit_family_error(t->kit, t->row->family, t->dtype, p->n, 2) * fabs(p->value) +
	       kit_rounding(t->kit, t->row->family, t->dtype, p->value);
}

/* The combination of n elements. */
static double reduced(const struct trial *t, const double *x, uint64_t n, double *error)
{
	const uint32_t combiner = t->args.reduce.combiners[0];
	struct sum sum = {.n = 0};
	struct product product = {.value = 1};
	uint64_t best = 0;
	for (uint64_t i = 0; i < n; i++) {
		sum_add(&sum, x[i]);
		multiply(&product, x[i]);
		if (i && is_better(combiner, x[i], x[best]))
			best = i;
	}
	*error = 0;
	switch (combiner) {
	case TN_REDUCE_SUM:
		*error = tn_is_floating(t->dtype) ? sum_error(t, &sum) : 0;
		return (double)sum.value;
	case TN_REDUCE_PRODUCT:
		*error = product_error(t, &product);
		return product.value;
	case TN_REDUCE_MAX:
	case TN_REDUCE_MIN:
		return x[best];
	default:
		return (double)best;
	}
}

static void reduce_formula(struct trial *t)
{
	struct trial_operand *out = &t->operand[1];
	const uint64_t n = t->operand[0].array.count / out->array.count;
	trial_expect(out);
	for (uint64_t i = 0; i < out->array.count; i++)
		out->expected[i] = reduced(t, t->operand[0].x + i * n, n, &out->tolerance[i]);
}

static void plan_reduce(struct trial *t)
{
	struct tn_reduce_args *args = &t->args.reduce;
	const tn_dtype computed = tn_compute_dtype(t->dtype);
	const int is_boolean = computed == TN_BOOL;
	struct shape shape = draw_shape(t, 1);
	struct trial_operand *in;
	args->n_reduced = 1 + (uint32_t)(kit_random(t->kit) % shape.rank);
	args->combiners[0] = 1 + (uint32_t)(kit_random(t->kit) % TN_REDUCE_ARGMIN);
	if (args->combiners[0] == TN_REDUCE_PRODUCT && !tn_is_floating(t->dtype))
		args->combiners[0] = TN_REDUCE_SUM; /* beyond what a double counts */
	args->n_values = 1;
	t->program = identity_program(computed, 1);
	args->prologue = t->program;
	in = trial_operand(t, "input", 0, INPUT, t->dtype, shape.rank, shape.lengths);
	if (args->combiners[0] == TN_REDUCE_PRODUCT) {
		in->low = 0.9;
		in->high = 1.1;
	}
	trial_operand(t, "output", 0, OUTPUT,
		      args->combiners[0] >= TN_REDUCE_ARGMAX || is_boolean ||
				      !tn_is_floating(computed)
			      ? TN_I64
			      : computed,
		      shape.rank - args->n_reduced, shape.lengths);
	name_shape(t, &shape);
	snprintf(t->text + strlen(t->text), sizeof(t->text) - strlen(t->text), ", %s over %u",
		 combiner_names[args->combiners[0]], args->n_reduced);
	t->formula = reduce_formula;
	t->is_required = 1;
}

/* ---- matmul ----------------------------------------------------------------------------------*/

enum { M, N, K }; /* settings */

/* What is lost if a product is stored as f16 or bf16 before its bias is added. */
static double stored_error(tn_dtype dtype, double product)
{
	if (dtype == TN_F16 && fabs(product) > 65000)
		return INFINITY;
	return tn_is_narrow(dtype) && isfinite(product)
		       ? tn_half_unit(dtype) * fabs(product) + 0x1p-25
		       : 0;
}

/* May it matter whether alpha scales the sum or a factor?  That may overflow, lose digits if it is
 * subnormal, or become the zero that an infinity is multiplied with. */
static int is_sensitive(const struct trial *t, double a, double b)
{
	const double most = fmax(fabs(a), fabs(b)), least = fmin(fabs(a), fabs(b));
	return (isfinite(most) && most > trial_largest(t) / 8) ||
	       (least > 0 && least < 8 * trial_least(t));
}

static void matmul_formula(struct trial *t)
{
	const struct tn_matmul_args *args = &t->args.matmul;
	const int64_t m = t->setting[M], n = t->setting[N], n_k = t->setting[K];
	const double *a = t->operand[0].x, *b = t->operand[1].x;
	struct trial_operand *c = &t->operand[2];
	trial_expect(c);
	for (int64_t i = 0; i < (int64_t)c->array.count; i++) {
		const double *row = a + (i / (m * n) * m + i / n % m) * n_k;
		const double *column = b + i / (m * n) * n_k * n + i % n;
		struct sum sum = {.is_scaled = args->alpha != 1};
		double rounded;
		for (int64_t k = 0; k < n_k; k++) {
			if (sum.is_scaled && is_sensitive(t, row[k], column[k * n]))
				sum.magnitude = INFINITY;
			sum_add(&sum, (long double)args->alpha * row[k] * column[k * n]);
		}
		if (args->beta != 0)
			sum_add(&sum, (long double)args->beta * c->x[i]);
		rounded = args->has_bias ? stored_error(t->dtype, (double)sum.value) : 0;
		if (args->has_bias)
			sum_add(&sum, t->operand[3].x[i % n]);
		c->expected[i] = kit_activate(args->activation, (double)sum.value);
		c->tolerance[i] = sum_error(t, &sum) + rounded;
	}
}

static void plan_matmul(struct trial *t)
{
	static const double alphas[] = {1, 1, -0.5, 2}, betas[] = {1, 1, 0.5, -2};
	struct tn_matmul_args *args = &t->args.matmul;
	const uint32_t n_batch = (uint32_t)(kit_random(t->kit) % 5);
	int64_t shape[3][TN_MAX_RANK];
	for (uint32_t axis = 0; axis < n_batch; axis++)
		shape[0][axis] = shape[1][axis] = shape[2][axis] = trial_length(t, 4);
	for (int i = 0; i < 3; i++)
		t->setting[i] = trial_length(t, n_batch < 2 ? 20 : 7);
	const int64_t rows[3] = {t->setting[M], t->setting[K], t->setting[M]};
	const int64_t columns[3] = {t->setting[K], t->setting[N], t->setting[N]};
	static const char *const names[] = {"A", "B", "C"};
	const size_t places[3] = {PLACE(tn_matmul_args, a), PLACE(tn_matmul_args, b),
				  PLACE(tn_matmul_args, c)};
	for (int i = 0; i < 3; i++) {
		shape[i][n_batch] = rows[i];
		shape[i][n_batch + 1] = columns[i];
		trial_operand(t, names[i], places[i], i < 2 ? INPUT : OUTPUT, t->dtype, n_batch + 2,
			      shape[i])
			->is_matrix = 1;
	}
	args->alpha = alphas[kit_random(t->kit) % 4];
	/* What a gradient adds to. */
	args->beta = t->accumulates ? betas[kit_random(t->kit) % 4] : 0;
	args->call.flags = 0;
	args->has_bias = kit_random(t->kit) % 3 == 0;
	args->activation = args->has_bias ? (uint32_t)(kit_random(t->kit) % 3) : 0;
	if (args->has_bias)
		trial_operand(t, "bias", PLACE(tn_matmul_args, bias), INPUT, t->dtype, 1,
			      &t->setting[N]);
	if (args->beta == 0) /* C is not read */
		t->operand[2].values = ANY_BITS;
	snprintf(t->text, sizeof(t->text), "%u batch axes, %lld x %lld x %lld, alpha %g, beta %g%s",
		 n_batch, (long long)t->setting[M], (long long)t->setting[N],
		 (long long)t->setting[K], args->alpha, args->beta, args->has_bias ? ", bias" : "");
	t->formula = matmul_formula;
	t->is_required = !args->has_bias;
}

/* ---- fill, copy ------------------------------------------------------------------------------*/

static void fill_formula(struct trial *t)
{
	const size_t size = tn_dtype_size(t->dtype);
	trial_expect_bytes(&t->operand[0]);
	for (uint64_t i = 0; i < t->operand[0].array.count; i++)
		memcpy(t->operand[0].expected_bytes + i * size, &t->args.fill.value.bits, size);
}

static void plan_fill(struct trial *t)
{
	struct shape shape = draw_shape(t, 0);
	const unsigned width = 8 * (unsigned)tn_dtype_size(t->dtype);
	uint64_t bits = kit_random(t->kit) >> (width < 64 ? 64 - width : 0);
	if (tn_is_floating(t->dtype) && kit_random(t->kit) % 2) /* a NaN */
		bits |= tn_cast_bits(TN_F64, t->dtype, tn_bits_of_f64(INFINITY));
	name_shape(t, &shape);
	trial_operand(t, "output", PLACE(tn_fill_args, output), OUTPUT, t->dtype, shape.rank,
		      shape.lengths);
	t->args.fill.value = (struct tn_scalar){.dtype = t->dtype,
						.bits = t->dtype == TN_BOOL ? bits & 1 : bits};
	t->formula = fill_formula;
}

static void copy_formula(struct trial *t)
{
	trial_expect_bytes(&t->operand[1]);
	memcpy(t->operand[1].expected_bytes, t->operand[0].bytes,
	       t->operand[0].array.count * tn_dtype_size(t->dtype));
}

static void plan_copy(struct trial *t)
{
	struct shape shape = draw_shape(t, 0);
	name_shape(t, &shape);
	trial_operand(t, "input", PLACE(tn_copy_args, input), INPUT, t->dtype, shape.rank,
		      shape.lengths)
		->values = ANY_BITS;
	trial_operand(t, "output", PLACE(tn_copy_args, output), OUTPUT, t->dtype, shape.rank,
		      shape.lengths);
	t->formula = copy_formula;
}

/* ---- gather, scatter_add, scatter ------------------------------------------------------------*/

enum { IN, LIST, OUT }; /* operands */

/* The number of the element of `table` that an element of `listed` is chosen from, or -1. */
static int64_t chosen(const struct trial *t, const struct shape *listed, const struct shape *table,
		      uint64_t i)
{
	const uint32_t axis = t->args.gather.axis;
	const uint64_t inner = inner_of(listed, axis), n = length_of(listed, axis);
	const int64_t length = table->lengths[axis];
	int64_t index = (int64_t)t->operand[LIST].x[i / inner % n];
	if (index < 0)
		index += length;
	if (index < 0 || index >= length)
		return -1;
	return ((int64_t)(i / inner / n) * length + index) * (int64_t)inner + (int64_t)(i % inner);
}

static void gather_formula(struct trial *t)
{
	struct trial_operand *out = &t->operand[OUT];
	const size_t size = tn_dtype_size(t->dtype);
	trial_expect_bytes(out); /* zeros */
	for (uint64_t i = 0; i < out->array.count; i++) {
		int64_t at = chosen(t, &out->shape, &t->operand[IN].shape, i);
		if (at >= 0)
			memcpy(out->expected_bytes + i * size,
			       t->operand[IN].bytes + (uint64_t)at * size, size);
	}
}

/* Integers wrap, whatever the order. */
static void combine_integers(struct trial *t, uint32_t mode)
{
	struct trial_operand *in = &t->operand[IN], *out = &t->operand[OUT];
	const size_t size = tn_dtype_size(t->dtype);
	trial_expect_bytes(out);
	memcpy(out->expected_bytes, out->bytes, out->array.count * size);
	for (uint64_t i = 0; i < in->array.count; i++) {
		int64_t at = chosen(t, &in->shape, &out->shape, i);
		uint64_t a = 0, b = 0;
		if (at < 0)
			continue;
		memcpy(&a, out->expected_bytes + (uint64_t)at * size, size);
		memcpy(&b, in->bytes + i * size, size);
		if (mode == TN_SCATTER_ADD)
			a += b;
		else if (mode == TN_SCATTER_MULTIPLY)
			a *= b;
		else if (is_better(mode == TN_SCATTER_MAX ? TN_REDUCE_MAX : TN_REDUCE_MIN,
				   tn_f64_of_bits(tn_cast_bits(t->dtype, TN_F64, b)),
				   tn_f64_of_bits(tn_cast_bits(t->dtype, TN_F64, a))))
			a = b;
		memcpy(out->expected_bytes + (uint64_t)at * size, &a, size);
	}
}

/* f16 and bf16 may be rounded each time, and overflow in between. */
static double added_error(const struct trial *t, const struct sum *s, tn_dtype total)
{
	double each =
		tn_is_narrow(total) ? tn_half_unit(total) * (double)s->magnitude + 0x1p-25 : 0;
	if (total == TN_F16 && s->magnitude > 60000 && s->is_mixed == 3)
		return INFINITY;
	return sum_error(t, s) + 2 * s->n * each;
}

static double multiplied_error(const struct trial *t, const struct product *p)
{
	double each = tn_is_narrow(t->dtype) ? tn_half_unit(t->dtype) : 0;
	if (t->dtype == TN_F16 && (p->above > 15 || p->below > 14))
		return INFINITY;
	return product_error(t, p) +
	       (each > 0 && isfinite(p->value) ? 2 * p->n * each * fabs(p->value) : 0);
}

static void combine_reals(struct trial *t, uint32_t mode)
{
	struct trial_operand *in = &t->operand[IN], *out = &t->operand[OUT];
	struct sum *sums = (struct sum *)calloc(out->array.count, sizeof(*sums));
	struct product *products = (struct product *)calloc(out->array.count, sizeof(*products));
	if (!sums || !products)
		kit_give_up(t->kit, "the kit is out of memory");
	trial_expect(out);
	for (uint64_t i = 0; i < out->array.count; i++) {
		sum_add(&sums[i], out->x[i]);
		products[i].value = 1;
		multiply(&products[i], out->x[i]);
		out->expected[i] = out->x[i];
	}
	for (uint64_t i = 0; i < in->array.count; i++) {
		int64_t at = chosen(t, &in->shape, &out->shape, i);
		if (at < 0)
			continue;
		sum_add(&sums[at], in->x[i]);
		multiply(&products[at], in->x[i]);
		if (is_better(mode == TN_SCATTER_MAX ? TN_REDUCE_MAX : TN_REDUCE_MIN, in->x[i],
			      out->expected[at]))
			out->expected[at] = in->x[i];
	}
	for (uint64_t i = 0; i < out->array.count && mode <= TN_SCATTER_MULTIPLY; i++) {
		const int is_sum = mode == TN_SCATTER_ADD;
		out->expected[i] = is_sum ? (double)sums[i].value : products[i].value;
		if (sums[i].n >= 2)
			out->tolerance[i] = is_sum ? added_error(t, &sums[i], out->dtype)
						   : multiplied_error(t, &products[i]);
	}
	free(sums);
	free(products);
}

/* Of equal indices any one sets the element: what is there is expected if it is one of theirs. */
static void set_formula(struct trial *t)
{
	struct trial_operand *in = &t->operand[IN], *out = &t->operand[OUT];
	const size_t size = tn_dtype_size(t->dtype);
	unsigned char *is_found = (unsigned char *)calloc(out->array.count, 1);
	if (!is_found)
		kit_give_up(t->kit, "the kit is out of memory");
	trial_expect_bytes(out);
	memcpy(out->expected_bytes, out->bytes, out->array.count * size);
	for (uint64_t i = 0; i < in->array.count; i++) {
		int64_t at = chosen(t, &in->shape, &out->shape, i);
		if (at < 0 || is_found[at])
			continue;
		memcpy(out->expected_bytes + (uint64_t)at * size, in->bytes + i * size, size);
		is_found[at] =
			!memcmp(in->bytes + i * size, array_at(&out->array, (uint64_t)at), size);
	}
	free(is_found);
}

static void scatter_formula(struct trial *t)
{
	const uint32_t mode = t->slot == TN_SLOT_SCATTER ? t->args.gather.mode : TN_SCATTER_ADD;
	if (mode == TN_SCATTER_SET)
		set_formula(t);
	else if (tn_is_floating(t->dtype))
		combine_reals(t, mode);
	else
		combine_integers(t, mode);
}

/* scatter_add of f16 and bf16: to f32 in half the calls. */
static tn_dtype total_of(struct trial *t)
{
	return t->slot == TN_SLOT_SCATTER_ADD && tn_is_narrow(t->dtype) && kit_random(t->kit) % 2
		       ? TN_F32
		       : t->dtype;
}

static void plan_gather(struct trial *t)
{
	struct tn_gather_args *args = &t->args.gather;
	const int is_gather = t->slot == TN_SLOT_GATHER;
	struct shape table = draw_shape(t, 1), listed = table;
	const tn_dtype total = total_of(t);
	struct trial_operand *in, *list, *out;
	int64_t n = trial_length(t, 9);
	args->axis = (uint32_t)(kit_random(t->kit) % table.rank);
	args->mode = t->slot != TN_SLOT_SCATTER ? 0
		     : tn_is_floating(t->dtype) || tn_is_integer(t->dtype)
			     ? 1 + (uint32_t)(kit_random(t->kit) % TN_SCATTER_MIN)
			     : TN_SCATTER_SET;
	listed.lengths[args->axis] = n;
	in = trial_operand(t, "input", PLACE(tn_gather_args, input), INPUT, t->dtype, table.rank,
			   is_gather ? table.lengths : listed.lengths);
	list = trial_operand(t, "indices", PLACE(tn_gather_args, indices), INPUT,
			     kit_random(t->kit) % 2 ? TN_I32 : TN_I64, 1, &n);
	out = trial_operand(t, "output", PLACE(tn_gather_args, output), OUTPUT, total, table.rank,
			    is_gather ? listed.lengths : table.lengths);
	if (is_gather || args->mode == TN_SCATTER_SET || !tn_is_floating(t->dtype))
		in->values = out->values = ANY_BITS;
	list->values = BELOW;
	/* One beyond each end. */
	list->low = (double)(-table.lengths[args->axis] - 1);
	list->high = (double)(table.lengths[args->axis] + 1);
	name_shape(t, &table);
	snprintf(t->text + strlen(t->text), sizeof(t->text) - strlen(t->text),
		 ", %lld along axis %u, mode %u, to %s", (long long)n, args->axis, args->mode,
		 tn_dtype_name(total));
	t->formula = is_gather ? gather_formula : scatter_formula;
}

/* ---- sort ------------------------------------------------------------------------------------*/

/* Does element a of a line come before b?  NaN is above all numbers; the sort is stable. */
static int is_before(double a, double b, int descending)
{
	int order = isnan(a) || isnan(b) ? (isnan(a) != 0) - (isnan(b) != 0) : (a > b) - (a < b);
	return descending ? order > 0 : order < 0;
}

/* The positions of a line's elements, in order: by insertion. */
static void sort_line(const double *x, uint64_t step, int64_t n, int descending, int64_t *place)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t at = i;
		while (at > 0 && is_before(x[(uint64_t)i * step], x[(uint64_t)place[at - 1] * step],
					   descending)) {
			place[at] = place[at - 1];
			at--;
		}
		place[at] = i;
	}
}

static void sort_formula(struct trial *t)
{
	const struct tn_sort_args *args = &t->args.sort;
	struct trial_operand *in = &t->operand[0], *values = &t->operand[1];
	struct trial_operand *indices = &t->operand[2];
	const size_t size = tn_dtype_size(t->dtype);
	const uint64_t n = length_of(&in->shape, args->axis),
		       k = length_of(&values->shape, args->axis);
	const uint64_t inner = inner_of(&in->shape, args->axis);
	int64_t *place = (int64_t *)calloc(n, sizeof(*place));
	if (!place)
		kit_give_up(t->kit, "the kit is out of memory");
	trial_expect_bytes(values);
	trial_expect_bytes(indices);
	for (uint64_t line = 0; line < in->array.count / n; line++) {
		uint64_t first = line / inner * inner * n + line % inner;
		uint64_t to = line / inner * inner * k + line % inner;
		sort_line(in->x + first, inner, (int64_t)n, (int)args->descending, place);
		for (uint64_t j = 0; j < k; j++, to += inner) {
			memcpy(values->expected_bytes + to * size,
			       in->bytes + (first + (uint64_t)place[j] * inner) * size, size);
			memcpy(indices->expected_bytes + to * sizeof(*place), &place[j],
			       sizeof(*place));
		}
	}
	free(place);
}

static void plan_sort(struct trial *t)
{
	struct tn_sort_args *args = &t->args.sort;
	struct shape shape = draw_shape(t, 1), first = shape;
	args->axis = (uint32_t)(kit_random(t->kit) % shape.rank);
	args->descending = (uint32_t)(kit_random(t->kit) % 2);
	args->has_values = args->has_indices = 1;
	if (kit_random(t->kit) % 2)
		first.lengths[args->axis] = 1 + shape.lengths[args->axis] / 2;
	trial_operand(t, "input", PLACE(tn_sort_args, input), INPUT, t->dtype, shape.rank,
		      shape.lengths);
	trial_operand(t, "values", PLACE(tn_sort_args, values), OUTPUT, t->dtype, shape.rank,
		      first.lengths);
	trial_operand(t, "indices", PLACE(tn_sort_args, indices), OUTPUT, TN_I64, shape.rank,
		      first.lengths);
	name_shape(t, &shape);
	snprintf(t->text + strlen(t->text), sizeof(t->text) - strlen(t->text),
		 ", axis %u, first %lld%s", args->axis, (long long)first.lengths[args->axis],
		 args->descending ? ", descending" : "");
	t->formula = sort_formula;
}

/* ---- scan ------------------------------------------------------------------------------------*/

struct scanned {
	struct sum sum;
	struct product product;
	double extreme;
};

static double scan_value(const struct trial *t, const struct scanned *s, double *error)
{
	const uint32_t combiner = t->args.scan.combiner;
	*error = 0;
	if (combiner == TN_REDUCE_SUM) {
		*error = s->sum.n < 2 || !tn_is_floating(t->dtype) ? 0 : sum_error(t, &s->sum);
		return (double)s->sum.value;
	}
	if (combiner == TN_REDUCE_PRODUCT) {
		*error = s->product.n < 2 ? 0 : product_error(t, &s->product);
		return s->product.value;
	}
	return s->extreme;
}

static void scan_line(const struct trial *t, const double *x, uint64_t step, uint64_t n,
		      double *expected, double *tolerance)
{
	const struct tn_scan_args *args = &t->args.scan;
	struct scanned s = {.product = {.value = 1},
			    .extreme = args->combiner == TN_REDUCE_MAX ? -INFINITY : INFINITY};
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = (args->reverse ? n - 1 - i : i) * step;
		if (args->exclusive)
			expected[at] = scan_value(t, &s, &tolerance[at]);
		sum_add(&s.sum, x[at]);
		multiply(&s.product, x[at]);
		if (is_better(args->combiner, x[at], s.extreme))
			s.extreme = x[at];
		if (!args->exclusive)
			expected[at] = scan_value(t, &s, &tolerance[at]);
	}
}

static void scan_formula(struct trial *t)
{
	const struct tn_scan_args *args = &t->args.scan;
	struct trial_operand *in = &t->operand[0], *out = &t->operand[1];
	const uint64_t n = length_of(&in->shape, args->axis),
		       inner = inner_of(&in->shape, args->axis);
	trial_expect(out);
	for (uint64_t line = 0; line < in->array.count / n; line++) {
		uint64_t first = line / inner * inner * n + line % inner;
		scan_line(t, in->x + first, inner, n, out->expected + first,
			  out->tolerance + first);
	}
}

static void plan_scan(struct trial *t)
{
	struct tn_scan_args *args = &t->args.scan;
	struct shape shape = draw_shape(t, 1);
	const int is_floating = tn_is_floating(t->dtype);
	struct trial_operand *in;
	args->axis = (uint32_t)(kit_random(t->kit) % shape.rank);
	args->combiner = 1 + (uint32_t)(kit_random(t->kit) % TN_REDUCE_MIN);
	args->reverse = (uint32_t)(kit_random(t->kit) % 2);
	/* Of whole numbers extremes over nothing are the dtype's own, and products are large. */
	if (!is_floating && args->combiner == TN_REDUCE_PRODUCT)
		args->combiner = TN_REDUCE_SUM;
	args->exclusive = is_floating || args->combiner == TN_REDUCE_SUM
				  ? (uint32_t)(kit_random(t->kit) % 2)
				  : 0;
	args->accumulator = is_floating          ? t->dtype == TN_F64 ? TN_F64 : TN_F32
			    : t->dtype == TN_U64 ? TN_U64
						 : TN_I64;
	in = trial_operand(t, "input", PLACE(tn_scan_args, input), INPUT, t->dtype, shape.rank,
			   shape.lengths);
	if (args->combiner == TN_REDUCE_PRODUCT) {
		in->low = 0.9;
		in->high = 1.1;
	}
	trial_operand(t, "output", PLACE(tn_scan_args, output), OUTPUT,
		      is_floating && kit_random(t->kit) % 2 ? t->dtype : args->accumulator,
		      shape.rank, shape.lengths);
	name_shape(t, &shape);
	snprintf(t->text + strlen(t->text), sizeof(t->text) - strlen(t->text), ", %s, axis %u%s%s",
		 combiner_names[args->combiner], args->axis, args->reverse ? ", reverse" : "",
		 args->exclusive ? ", exclusive" : "");
	t->formula = scan_formula;
}

const struct trial_slot plain_slots[] = {
	{TN_SLOT_MAP, "map", 2, TN_FAMILY_MAP, 0, 0, 3, plan_map},
	{TN_SLOT_REDUCE, "reduce", 2, TN_FAMILY_REDUCE, 0, 0, 2, plan_reduce},
	{TN_SLOT_MATMUL, "matmul", 2, TN_FAMILY_MATMUL, 1, 1, 4, plan_matmul},
	{TN_SLOT_FILL, "copy", 2, TN_FAMILY_COPY, 0, 0, 1, plan_fill},
	{TN_SLOT_COPY, "copy", 2, TN_FAMILY_COPY, 0, 0, 2, plan_copy},
	{TN_SLOT_GATHER, "copy", 2, TN_FAMILY_COPY, 0, 0, 3, plan_gather},
	{TN_SLOT_SCATTER_ADD, "copy", 2, TN_FAMILY_COPY, 0, 0, 3, plan_gather},
	{TN_SLOT_SCATTER, "copy", 2, TN_FAMILY_COPY, 0, 0, 3, plan_gather},
	{TN_SLOT_SORT, "sort", 2, TN_FAMILY_COPY, 0, 0, 3, plan_sort},
	{TN_SLOT_SCAN, "scan", 2, TN_FAMILY_REDUCE, 0, 0, 2, plan_scan},
	{0, NULL, 0, 0, 0, 0, 0, NULL},
};
