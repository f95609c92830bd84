/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * scan: every combiner in every dtype, along every axis, from both ends, inclusive and exclusive.
 * The oracle walks each line in double or in 64-bit integers.
 */
#include "program/cast.h"
#include "slots.h"

static const struct shape tables[] = {
	{1, {1}},      {1, {9}},       {1, {257}},     {2, {12, 5}},      {2, {3, 1000}},
	{2, {37, 70}}, {3, {2, 7, 4}}, {3, {3, 1, 5}}, {4, {2, 3, 5, 2}},
};
enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

static const char *const combiner_names[] = {"", "sum", "product", "max", "min"};

struct scan {
	tn_dtype dtype;
	tn_dtype stored;
	uint32_t combiner;
	const struct shape *shape;
	uint32_t axis;
	int reverse;
	int exclusive;
	int whole;    /* whole numbers, whose sums are exact in any order */
	int has_nans; /* some elements of max and min are NaN */
	int in_place;
	enum layout from, to;
};

static tn_dtype accumulator_of(tn_dtype dtype)
{
	if (dtype == TN_F64 || dtype == TN_U64)
		return dtype;
	return tn_is_floating(dtype) ? TN_F32 : TN_I64;
}

static int is_extreme(uint32_t combiner)
{
	return combiner == TN_REDUCE_MAX || combiner == TN_REDUCE_MIN;
}

/* Several elements may share memory, which is never read then. */
static double number(const struct scan *s, struct kit *kit)
{
	double x = kit_uniform(kit, -1, 1);
	if (s->has_nans && kit_random(kit) % 40 == 7)
		return NAN;
	if (s->combiner == TN_REDUCE_PRODUCT)
		return s->whole ? (x < 0 ? -1 : 1) : 1 + x / 64;
	return s->whole ? round(2 * x) : x;
}

static void fill(const struct scan *s, struct array *in)
{
	array_randomise(in, -1, 1);
	for (uint64_t i = 0; i < in->count && tn_is_floating(s->dtype); i++)
		array_set_number(in, i, kit_representable(in->kit, number(s, in->kit)));
}

/* ---- Oracle ----------------------------------------------------------------------------------*/

/* The smallest or largest value of an integer dtype, in 64 bits. */
static uint64_t extreme_of(tn_dtype dtype, int largest)
{
	unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	uint64_t ones = UINT64_MAX >> (64 - width);
	if (dtype == TN_BOOL)
		return (uint64_t)largest;
	if (tn_is_unsigned(dtype))
		return largest ? ones : 0;
	return largest ? ones >> 1 : ~(ones >> 1);
}

struct line {
	const struct scan *scan;
	double real, magnitude; /* of the sum's parts */
	uint64_t whole;
	uint64_t n; /* elements so far */
};

static void begin_line(struct line *line, const struct scan *s)
{
	int is_product = s->combiner == TN_REDUCE_PRODUCT, is_min = s->combiner == TN_REDUCE_MIN;
	*line = (struct line){.scan = s, .real = is_product, .whole = (uint64_t)is_product};
	if (!is_extreme(s->combiner))
		return;
	line->real = is_min ? INFINITY : -INFINITY;
	if (!tn_is_floating(s->dtype))
		line->whole = extreme_of(s->dtype, is_min);
}

static int is_less(tn_dtype dtype, uint64_t a, uint64_t b)
{
	return dtype == TN_U64 ? a < b : (int64_t)a < (int64_t)b;
}

static void add_real(struct line *line, double x)
{
	uint32_t combiner = line->scan->combiner;
	line->magnitude += fabs(x);
	if (combiner == TN_REDUCE_SUM)
		line->real += x;
	else if (combiner == TN_REDUCE_PRODUCT)
		line->real *= x;
	else if (isnan(x) || (combiner == TN_REDUCE_MAX ? x > line->real : x < line->real))
		line->real = isnan(line->real) ? line->real : x;
}

static void add_whole(struct line *line, uint64_t x)
{
	uint32_t combiner = line->scan->combiner;
	tn_dtype dtype = line->scan->dtype;
	if (combiner == TN_REDUCE_SUM)
		line->whole += x;
	else if (combiner == TN_REDUCE_PRODUCT)
		line->whole *= x;
	else if (combiner == TN_REDUCE_MAX ? is_less(dtype, line->whole, x)
					   : is_less(dtype, x, line->whole))
		line->whole = x;
}

static void add(struct line *line, const struct array *in, uint64_t at)
{
	line->n++;
	if (tn_is_floating(line->scan->dtype))
		add_real(line, array_number(in, at));
	else
		add_whole(line, tn_cast_bits(line->scan->dtype, TN_I64, array_bits(in, at)));
}

/* The number of roundings that the interface allows up to an element. */
static double depth(const struct line *line)
{
	double n = (double)line->n, length = (double)line->scan->shape->lengths[line->scan->axis];
	double most = 2048 + length / 1024;
	return n < most ? n : most;
}

static void check_real(const struct line *line, const struct array *out, uint64_t at)
{
	const struct scan *s = line->scan;
	double found = array_number(out, at), tolerance = 0, expected = line->real;
	if (!is_extreme(s->combiner) && !s->whole)
		tolerance = depth(line) * kit_epsilon(s->dtype) *
			    (s->combiner == TN_REDUCE_SUM ? line->magnitude : fabs(line->real));
	if (tn_is_narrow(s->stored))
		tolerance += tn_half_unit(s->stored) * fabs(expected) + 0x1p-25;
	else if (!is_extreme(s->combiner) && !s->whole)
		tolerance += kit_epsilon(s->stored) * fabs(expected);
	tolerance += kit_rounding(out->kit, TN_FAMILY_REDUCE, s->stored, expected);
	if ((isnan(found) && isnan(expected)) || found == expected ||
	    fabs(found - expected) <= tolerance)
		return;
	kit_fail(out->kit, "element %llu: expected %.17g within %.3g, found %.17g",
		 (unsigned long long)at, expected, tolerance, found);
}

static void check_element(const struct line *line, const struct array *out, uint64_t at)
{
	const struct scan *s = line->scan;
	uint64_t expected;
	if (tn_is_floating(s->dtype))
		return check_real(line, out, at);
	expected = tn_cast_bits(accumulator_of(s->dtype), s->stored, line->whole);
	if (array_bits(out, at) != expected)
		kit_fail(out->kit, "element %llu: expected bits %llx, found %llx",
			 (unsigned long long)at, (unsigned long long)expected,
			 (unsigned long long)array_bits(out, at));
}

static void check_scanned(const struct scan *s, const struct array *in, const struct array *out)
{
	uint64_t n = (uint64_t)s->shape->lengths[s->axis];
	uint64_t inner = shape_count(s->shape->rank - s->axis - 1, s->shape->lengths + s->axis + 1);
	for (uint64_t l = 0; l < out->count / n; l++) {
		uint64_t first = l / inner * inner * n + l % inner;
		struct line line;
		begin_line(&line, s);
		for (uint64_t i = 0; i < n; i++) {
			uint64_t at = first + (s->reverse ? n - 1 - i : i) * inner;
			if (s->exclusive)
				check_element(&line, out, at);
			add(&line, in, at);
			if (!s->exclusive)
				check_element(&line, out, at);
		}
	}
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void name_case(struct kit *kit, const struct scan *s)
{
	kit_case(kit, TN_SLOT_SCAN, "%s of %s to %s, axis %u of rank %u, %lld long%s%s%s, %s to %s",
		 combiner_names[s->combiner], tn_dtype_name(s->dtype), tn_dtype_name(s->stored),
		 s->axis, s->shape->rank, (long long)s->shape->lengths[s->axis],
		 s->reverse ? ", from the end" : "", s->exclusive ? ", exclusive" : "",
		 s->in_place ? ", in place" : "", layout_names[s->from], layout_names[s->to]);
}

static struct tn_scan_args arguments(const struct scan *s, const struct array *in,
				     const struct array *out)
{
	return (struct tn_scan_args){.call = CALL(struct tn_scan_args),
				     .input = in->operand,
				     .output = out->operand,
				     .axis = s->axis,
				     .combiner = s->combiner,
				     .reverse = (uint32_t)s->reverse,
				     .exclusive = (uint32_t)s->exclusive,
				     .accumulator = accumulator_of(s->dtype)};
}

/* The oracle keeps a host image of the input. */
static void scans_in_place(struct kit *kit, const struct scan *s)
{
	struct array in, *all[1] = {&in};
	array_make(kit, &in, OUTPUT, s->dtype, s->shape->rank, s->shape->lengths, s->to);
	fill(s, &in);
	struct array before = in;
	before.image = malloc(in.size);
	if (!before.image)
		kit_give_up(kit, "the kit is out of memory");
	memcpy(before.image, in.image, in.size);
	struct tn_scan_args args = arguments(s, &in, &in);
	if (!kit_run(kit, &args, all, 1))
		check_scanned(s, &before, &in);
	free(before.image);
	array_free(&in);
}

static void scans(struct kit *kit, const struct scan *s)
{
	struct array in, out, *all[2] = {&in, &out};
	name_case(kit, s);
	if (s->in_place)
		return scans_in_place(kit, s);
	array_make(kit, &in, INPUT, s->dtype, s->shape->rank, s->shape->lengths, s->from);
	array_make(kit, &out, OUTPUT, s->stored, s->shape->rank, s->shape->lengths, s->to);
	fill(s, &in);
	struct tn_scan_args args = arguments(s, &in, &out);
	if (!kit_run(kit, &args, all, 2))
		check_scanned(s, &in, &out);
	array_free(&in);
	array_free(&out);
}

static int is_empty(struct kit *kit)
{
	if (tn_backend_has(kit->backend, TN_SLOT_SCAN))
		return 0;
	kit_skip(kit, "the slot is empty");
	return 1;
}

/* Settings besides shape and axis rotate. */
static void scans_every_axis(struct kit *kit, tn_dtype dtype, uint32_t combiner, unsigned turn)
{
	if (!tn_compute_dtype(dtype) || !kit_claims_storage(kit, dtype))
		return;
	for (int t = 0; t < N_TABLES; t++) {
		for (uint32_t axis = 0; axis < tables[t].rank; axis++, turn++) {
			struct scan s = {.dtype = dtype,
					 .stored = turn % 3 ? dtype : accumulator_of(dtype),
					 .combiner = combiner,
					 .shape = &tables[t],
					 .axis = axis,
					 .reverse = (int)(turn % 2),
					 .exclusive = (int)(turn / 2 % 2),
					 .whole = (int)(turn / 3 % 2),
					 .has_nans = is_extreme(combiner) && turn % 4 == 1,
					 .from = (enum layout)(turn % LAYOUTS),
					 .to = (enum layout)(turn % OUTPUT_LAYOUTS)};
			s.in_place = s.stored == dtype && turn % 5 == 4;
			scans(kit, &s);
		}
	}
}

void check_scan_sums(struct kit *kit)
{
	if (is_empty(kit))
		return;
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		for (uint32_t combiner = TN_REDUCE_SUM; combiner <= TN_REDUCE_PRODUCT; combiner++)
			scans_every_axis(kit, dtype, combiner, (unsigned)dtype + 7 * combiner);
}

void check_scan_extremes(struct kit *kit)
{
	if (is_empty(kit))
		return;
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		for (uint32_t combiner = TN_REDUCE_MAX; combiner <= TN_REDUCE_MIN; combiner++)
			scans_every_axis(kit, dtype, combiner, (unsigned)dtype + 7 * combiner);
}

/* Longer than the pieces of any backend, and of irregular length. */
void check_scan_long(struct kit *kit)
{
	static const struct shape one = {1, {300007}}, few = {2, {3, 50021}},
				  many = {2, {20011, 3}};
	static const struct {
		const struct shape *shape;
		tn_dtype dtype;
		uint32_t combiner, axis;
		int whole, reverse, exclusive;
	} cases[] = {
		{&one, TN_F32, TN_REDUCE_SUM, 0, 1, 0, 0},
		{&one, TN_F32, TN_REDUCE_SUM, 0, 0, 1, 0},
		{&one, TN_I32, TN_REDUCE_SUM, 0, 0, 0, 1},
		{&one, TN_F32, TN_REDUCE_MAX, 0, 0, 1, 1},
		{&few, TN_F32, TN_REDUCE_SUM, 1, 1, 1, 1},
		{&few, TN_F64, TN_REDUCE_PRODUCT, 1, 1, 0, 0},
		{&many, TN_F32, TN_REDUCE_SUM, 0, 1, 0, 1},
		{&many, TN_U8, TN_REDUCE_MIN, 0, 0, 1, 0},
	};
	if (is_empty(kit))
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scan s = {.dtype = cases[i].dtype,
				 .stored = cases[i].dtype,
				 .combiner = cases[i].combiner,
				 .shape = cases[i].shape,
				 .axis = cases[i].axis,
				 .whole = cases[i].whole,
				 .reverse = cases[i].reverse,
				 .exclusive = cases[i].exclusive,
				 .from = COMPACT,
				 .to = COMPACT};
		if (kit_claims_storage(kit, s.dtype))
			scans(kit, &s);
	}
}

/* Tenths: sequential f32 addition of that many has a hundred times the allowed error. */
static void adds_tenths(struct kit *kit, struct array *in, struct array *out, uint64_t n)
{
	const struct shape shape = {1, {(int64_t)n}};
	const struct scan s = {
		.dtype = TN_F32, .stored = TN_F32, .combiner = TN_REDUCE_SUM, .shape = &shape};
	struct array *all[2] = {in, out};
	struct tn_scan_args args = arguments(&s, in, out);
	for (uint64_t i = 0; i < n; i++)
		array_set_number(in, i, kit_representable(in->kit, 0.1));
	if (kit_run(kit, &args, all, 2))
		return;
	check_scanned(&s, in, out);
	unsigned char *first = malloc(out->size);
	if (!first)
		kit_give_up(kit, "the kit is out of memory");
	memcpy(first, out->image, out->size);
	if (!kit_run(kit, &args, all, 2) && memcmp(first, out->image, out->size) != 0)
		kit_fail(kit, "the same call gave different bits");
	free(first);
}

void check_scan_error(struct kit *kit)
{
	static const int64_t length[] = {1000003};
	struct array in, out;
	if (is_empty(kit))
		return;
	kit_case(kit, TN_SLOT_SCAN, "sums of %lld tenths, twice", (long long)length[0]);
	array_make(kit, &in, INPUT, TN_F32, 1, length, COMPACT);
	array_make(kit, &out, OUTPUT, TN_F32, 1, length, COMPACT);
	adds_tenths(kit, &in, &out, (uint64_t)length[0]);
	array_free(&in);
	array_free(&out);
}

/* ---- What is refused -------------------------------------------------------------------------*/

static void is_refused(struct kit *kit, const struct tn_scan_args *args, struct array *const *all,
		       tn_status status, const char *what)
{
	struct tn_scan_args own = *args;
	kit_case(kit, TN_SLOT_SCAN, "scan: %s", what);
	kit_run_refused(kit, &own, all, 2, status);
}

void check_scan_refused(struct kit *kit)
{
	static const int64_t shape[] = {4, 6};
	struct array in, out, *all[2] = {&in, &out};
	if (is_empty(kit))
		return;
	array_make(kit, &in, INPUT, TN_F32, 2, shape, COMPACT);
	array_make(kit, &out, OUTPUT, TN_F32, 2, shape, COMPACT);
	array_randomise(&in, -1, 1);
	const struct tn_scan_args right = {.call = CALL(struct tn_scan_args),
					   .input = in.operand,
					   .output = out.operand,
					   .axis = 1,
					   .combiner = TN_REDUCE_SUM,
					   .accumulator = TN_F32};
	struct tn_scan_args args = right;
	args.combiner = TN_REDUCE_ARGMAX;
	is_refused(kit, &args, all, TN_UNSUPPORTED, "combiner argmax");
	args.combiner = 0;
	is_refused(kit, &args, all, TN_UNSUPPORTED, "combiner 0");
	args = right;
	args.accumulator = TN_I64;
	is_refused(kit, &args, all, TN_UNSUPPORTED, "an i64 accumulator for f32");
	args = right;
	args.output.dtype = TN_I32;
	is_refused(kit, &args, all, TN_UNSUPPORTED, "an i32 output for f32");
	args = right;
	args.exclusive = 2;
	is_refused(kit, &args, all, TN_INVALID_ARGUMENT, "a flag of 2");
	args = right;
	args.axis = 2;
	is_refused(kit, &args, all, TN_SHAPE, "axis 2 of rank 2");
	args = right;
	args.output.shape[1] = 5;
	is_refused(kit, &args, all, TN_SHAPE, "an output of another shape");
	array_free(&in);
	array_free(&out);
}
