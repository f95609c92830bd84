/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * sort: lines along every axis, of every dtype, whole or their first elements.  A stable order is
 * unique, so the oracle determines every position.
 */
#include "program/cast.h"
#include "slots.h"

static const struct shape tables[] = {
	{1, {1}},      {1, {9}},       {1, {257}},     {2, {12, 5}},      {2, {3, 1000}},
	{2, {37, 70}}, {3, {2, 7, 4}}, {3, {3, 1, 5}}, {4, {2, 3, 5, 2}},
};
enum { N_TABLES = sizeof(tables) / sizeof(tables[0]), MOST_LINE = 100000 };

enum wants { BOTH, VALUES, INDICES, N_WANTS };
static const char *const want_names[] = {"values and indices", "values", "indices"};

enum content { FEW, SPREAD, N_CONTENTS };

struct sorting {
	tn_dtype dtype;
	const struct shape *shape;
	uint32_t axis;
	int64_t k;
	int descending;
	enum wants wants;
	enum content content;
	enum layout from, to;
};

/* Special numbers that are adjacent in order or in bits: both zeros, infinities, NaNs of both
 * signs. */
static void fill_special(struct array *x)
{
	static const double reals[] = {0,         -0.0,     1,          -1,  INFINITY,
				       -INFINITY, 0x1p-14,  -0x1p-14,   NAN, -NAN,
				       0x1p-24,   -0x1p-24, 1.0 / 1024, 2,   -2};
	tn_dtype dtype = x->operand.dtype;
	unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	for (uint64_t i = 0; i < x->count; i++) {
		uint64_t pick = kit_random(x->kit) % 15;
		uint64_t high = UINT64_C(1) << (width - 1);
		const uint64_t wholes[] = {0, 1, UINT64_MAX, high, high - 1, high + 1, 2, 3};
		if (tn_is_floating(dtype))
			array_set_number(x, i, reals[pick]);
		else
			array_set_bits(x, i, dtype == TN_BOOL ? pick % 2 : wholes[pick % 8]);
	}
}

/* ---- Oracle ----------------------------------------------------------------------------------*/

/* An element of a line. */
struct place {
	double real;
	int64_t whole;
	int64_t index;
	int is_unsigned;
	int is_descending;
};

static int compare_reals(double a, double b)
{
	if (isnan(a) || isnan(b))
		return (isnan(a) != 0) - (isnan(b) != 0);
	return (a > b) - (a < b);
}

static int compare_wholes(const struct place *a, const struct place *b)
{
	if (a->is_unsigned)
		return ((uint64_t)a->whole > (uint64_t)b->whole) -
		       ((uint64_t)a->whole < (uint64_t)b->whole);
	return (a->whole > b->whole) - (a->whole < b->whole);
}

/* One of real and whole is always 0. */
static int compare(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = compare_reals(a->real, b->real);
	if (!order)
		order = compare_wholes(a, b);
	if (order)
		return a->is_descending ? -order : order;
	return (a->index > b->index) - (a->index < b->index);
}

/* The row-major number of element j of the line that holds element `first`, its j being 0. */
static uint64_t element_of(const struct shape *shape, uint32_t axis, uint64_t first, uint64_t j)
{
	return first + j * shape_count(shape->rank - axis - 1, shape->lengths + axis + 1);
}

/* The first elements of all lines of a shape, row-major. */
static uint64_t first_of(const struct shape *shape, uint32_t axis, uint64_t line)
{
	uint64_t inner = shape_count(shape->rank - axis - 1, shape->lengths + axis + 1);
	return line / inner * inner * (uint64_t)shape->lengths[axis] + line % inner;
}

static void sort_places(const struct sorting *s, const struct array *in, uint64_t line,
			struct place *places)
{
	uint64_t first = first_of(s->shape, s->axis, line);
	uint64_t n = (uint64_t)s->shape->lengths[s->axis];
	for (uint64_t j = 0; j < n; j++) {
		uint64_t at = element_of(s->shape, s->axis, first, j);
		int is_real = tn_is_floating(s->dtype);
		places[j] = (struct place){
			.real = is_real ? array_number(in, at) : 0,
			.whole = is_real ? 0
					 : (int64_t)tn_cast_bits(s->dtype, TN_I64,
								 array_bits(in, at)),
			.index = (int64_t)j,
			.is_unsigned = s->dtype == TN_U64,
			.is_descending = s->descending,
		};
	}
	qsort(places, n, sizeof(*places), compare);
}

static void check_line(const struct sorting *s, const struct array *in, const struct array *values,
		       const struct array *indices, uint64_t line, const struct place *places)
{
	struct shape cut = *s->shape;
	uint64_t from = first_of(s->shape, s->axis, line), to;
	cut.lengths[s->axis] = s->k;
	to = first_of(&cut, s->axis, line);
	for (uint64_t j = 0; j < (uint64_t)s->k; j++) {
		uint64_t at = element_of(&cut, s->axis, to, j);
		uint64_t expected = element_of(s->shape, s->axis, from, (uint64_t)places[j].index);
		if (indices && (int64_t)array_bits(indices, at) != places[j].index)
			return kit_fail(
				in->kit, "line %llu, place %llu: expected index %lld, found %lld",
				(unsigned long long)line, (unsigned long long)j,
				(long long)places[j].index, (long long)array_bits(indices, at));
		if (values && array_bits(values, at) != array_bits(in, expected))
			return kit_fail(in->kit,
					"line %llu, place %llu: expected bits %llx, found %llx",
					(unsigned long long)line, (unsigned long long)j,
					(unsigned long long)array_bits(in, expected),
					(unsigned long long)array_bits(values, at));
	}
}

static void check_sorted(const struct sorting *s, const struct array *in,
			 const struct array *values, const struct array *indices)
{
	uint64_t n = (uint64_t)s->shape->lengths[s->axis];
	struct place *places = calloc(n, sizeof(*places));
	if (!places)
		kit_give_up(in->kit, "the kit is out of memory");
	for (uint64_t line = 0; line < in->count / n; line++) {
		sort_places(s, in, line, places);
		check_line(s, in, values, indices, line, places);
	}
	free(places);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void sorts(struct kit *kit, const struct sorting *s)
{
	struct array in, values, indices, *all[3] = {&in};
	struct shape cut = *s->shape;
	size_t n = 1;
	cut.lengths[s->axis] = s->k;
	kit_case(kit, TN_SLOT_SORT, "sort %s: %s, axis %u of rank %u, %lld of %lld, %s, %s to %s",
		 s->descending ? "down" : "up", tn_dtype_name(s->dtype), s->axis, s->shape->rank,
		 (long long)s->k, (long long)s->shape->lengths[s->axis], want_names[s->wants],
		 layout_names[s->from], layout_names[s->to]);
	array_make(kit, &in, INPUT, s->dtype, s->shape->rank, s->shape->lengths, s->from);
	array_randomise(&in, -100, 100);
	if (s->content == FEW)
		fill_special(&in);
	struct tn_sort_args args = {.call = CALL(struct tn_sort_args),
				    .input = in.operand,
				    .axis = s->axis,
				    .descending = (uint32_t)s->descending,
				    .has_values = s->wants != INDICES,
				    .has_indices = s->wants != VALUES};
	if (args.has_values) {
		array_make(kit, &values, OUTPUT, s->dtype, cut.rank, cut.lengths, s->to);
		args.values = values.operand;
		all[n++] = &values;
	}
	if (args.has_indices) {
		array_make(kit, &indices, OUTPUT, TN_I64, cut.rank, cut.lengths, s->to);
		args.indices = indices.operand;
		all[n++] = &indices;
	}
	if (!kit_run(kit, &args, all, n))
		check_sorted(s, &in, args.has_values ? &values : NULL,
			     args.has_indices ? &indices : NULL);
	while (n)
		array_free(all[--n]);
}

static int is_empty(struct kit *kit, enum tn_slot slot)
{
	if (tn_backend_has(kit->backend, slot))
		return 0;
	kit_skip(kit, "the slot is empty");
	return 1;
}

/* All axes of all shapes in one ordered dtype; the other settings rotate. */
static void sorts_every_axis(struct kit *kit, tn_dtype dtype, int whole)
{
	unsigned turn = (unsigned)dtype + (whole ? 0 : 2);
	if (!tn_compute_dtype(dtype) || !kit_claims_storage(kit, dtype))
		return;
	for (int t = 0; t < N_TABLES; t++) {
		for (uint32_t axis = 0; axis < tables[t].rank; axis++, turn++) {
			int64_t n = tables[t].lengths[axis];
			struct sorting s = {.dtype = dtype,
					    .shape = &tables[t],
					    .axis = axis,
					    .k = whole ? n : 1 + n / (2 + turn % 3),
					    .descending = (int)(turn % 2),
					    .wants = (enum wants)(turn % N_WANTS),
					    .content = (enum content)(turn / 2 % N_CONTENTS),
					    .from = (enum layout)(turn % LAYOUTS),
					    .to = (enum layout)(turn % OUTPUT_LAYOUTS)};
			if (s.k > n)
				s.k = n;
			sorts(kit, &s);
		}
	}
}

void check_sort_order(struct kit *kit)
{
	if (is_empty(kit, TN_SLOT_SORT))
		return;
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		sorts_every_axis(kit, dtype, 1);
}

void check_sort_first(struct kit *kit)
{
	if (is_empty(kit, TN_SLOT_SORT))
		return;
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		sorts_every_axis(kit, dtype, 0);
}

/* Both directions of every floating dtype and of two others, with ties and special numbers. */
void check_sort_stable(struct kit *kit)
{
	static const tn_dtype dtypes[] = {TN_BOOL, TN_I8, TN_U64, TN_F16, TN_BF16, TN_F32, TN_F64};
	static const struct shape lines[] = {{1, {61}}, {2, {5, 300}}, {2, {300, 5}}, {1, {5003}}};
	if (is_empty(kit, TN_SLOT_SORT))
		return;
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		for (unsigned turn = 0; turn < 8 && kit_claims_storage(kit, dtypes[i]); turn++) {
			const struct shape *shape = &lines[turn / 2];
			struct sorting s = {.dtype = dtypes[i],
					    .shape = shape,
					    .axis = shape->lengths[0] == 5 ? 1 : 0,
					    .descending = (int)(turn % 2),
					    .from = COMPACT,
					    .to = COMPACT};
			s.k = shape->lengths[s.axis];
			sorts(kit, &s);
		}
	}
}

/* Longer than one group of threads can sort, and of irregular length; and many short lines. */
void check_sort_long(struct kit *kit)
{
	static const struct shape one = {1, {40009}}, few = {2, {3, 20011}}, many = {2, {2003, 17}},
				  columns = {2, {4099, 9}};
	static const struct {
		const struct shape *shape;
		tn_dtype dtype;
		uint32_t axis;
		int descending;
		enum content content;
	} cases[] = {
		{&one, TN_F32, 0, 0, SPREAD}, {&one, TN_F32, 0, 1, FEW},
		{&one, TN_I64, 0, 1, SPREAD}, {&few, TN_F32, 1, 0, SPREAD},
		{&few, TN_U8, 1, 1, SPREAD},  {&many, TN_F32, 1, 0, SPREAD},
		{&many, TN_F32, 0, 1, FEW},   {&columns, TN_F16, 0, 0, SPREAD},
	};
	if (is_empty(kit, TN_SLOT_SORT))
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sorting s = {.dtype = cases[i].dtype,
				    .shape = cases[i].shape,
				    .axis = cases[i].axis,
				    .k = cases[i].shape->lengths[cases[i].axis],
				    .descending = cases[i].descending,
				    .content = cases[i].content,
				    .from = COMPACT,
				    .to = COMPACT};
		if (!kit_claims_storage(kit, s.dtype))
			continue;
		sorts(kit, &s);
		/* Not in every dtype: simulated devices are slow. */
		s.k = 100 < s.k ? 100 : s.k / 2;
		if (i % 2 == 0)
			sorts(kit, &s);
	}
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void is_refused(struct kit *kit, const struct tn_sort_args *args, struct array *const *all,
		       tn_status status, const char *what)
{
	struct tn_sort_args own = *args;
	kit_case(kit, TN_SLOT_SORT, "sort: %s", what);
	kit_run_refused(kit, &own, all, 3, status);
}

void check_sort_refused(struct kit *kit)
{
	static const int64_t shape[] = {4, 6};
	struct array in, values, indices, *all[3] = {&in, &values, &indices};
	if (is_empty(kit, TN_SLOT_SORT))
		return;
	array_make(kit, &in, INPUT, TN_F32, 2, shape, COMPACT);
	array_make(kit, &values, OUTPUT, TN_F32, 2, shape, COMPACT);
	array_make(kit, &indices, OUTPUT, TN_I64, 2, shape, COMPACT);
	array_randomise(&in, -1, 1);
	const struct tn_sort_args right = {.call = CALL(struct tn_sort_args),
					   .input = in.operand,
					   .values = values.operand,
					   .indices = indices.operand,
					   .axis = 1,
					   .has_values = 1,
					   .has_indices = 1};
	struct tn_sort_args args = right;
	args.has_values = args.has_indices = 0;
	is_refused(kit, &args, all, TN_INVALID_ARGUMENT, "neither values nor indices");
	args = right;
	args.descending = 2;
	is_refused(kit, &args, all, TN_INVALID_ARGUMENT, "a flag of 2");
	args = right;
	args.axis = 2;
	is_refused(kit, &args, all, TN_SHAPE, "axis 2 of rank 2");
	args = right;
	args.input.shape[1] = 5;
	is_refused(kit, &args, all, TN_SHAPE, "more values than elements");
	args = right;
	args.values.shape[0] = 3;
	is_refused(kit, &args, all, TN_SHAPE, "values of fewer lines");
	args = right;
	args.indices.shape[1] = 5;
	is_refused(kit, &args, all, TN_SHAPE, "values and indices of two lengths");
	args = right;
	args.values.dtype = TN_I32;
	is_refused(kit, &args, all, TN_DTYPE, "values of another dtype");
	args = right;
	args.indices.dtype = TN_F64;
	is_refused(kit, &args, all, TN_DTYPE, "indices that are not i64");
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
}
