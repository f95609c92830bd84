/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * scan: lines of all lengths, and any number of them; every element is compared.  Sums and products
 * are exact, so that they are known whatever the order, and tell an accumulator that is too narrow.
 */
#include "program/cast.h"
#include "sweep.h"

enum { BEFORE, LENGTH, AFTER, AXES };
static const char *const combiner_names[] = {"", "sum", "product", "max", "min"};

static int claims(const struct kit *kit, tn_dtype dtype)
{
	(void)kit;
	return tn_is_floating(dtype) || tn_is_integer(dtype);
}

static uint64_t bytes_of(tn_dtype dtype, const int64_t *lengths)
{
	return shape_count(AXES, lengths) * tn_dtype_size(dtype);
}

static double work_of(const int64_t *lengths)
{
	return SWEEP_VISIT * (double)shape_count(AXES, lengths);
}

struct scan {
	tn_dtype dtype, stored;
	uint32_t combiner;
	int reverse, exclusive;
	const int64_t *lengths;
};

static tn_dtype accumulator_of(tn_dtype dtype)
{
	if (dtype == TN_F64 || dtype == TN_U64)
		return dtype;
	return tn_is_floating(dtype) ? TN_F32 : TN_I64;
}

/* Of a running maximum: it grows all along the line. */
static double level(const struct scan *s, uint64_t i, uint64_t random)
{
	const int64_t n = s->lengths[LENGTH];
	int64_t place = (int64_t)(i / (uint64_t)s->lengths[AFTER]) % n;
	double height = floor((double)(s->reverse ? n - 1 - place : place) * 100 / (double)n);
	height += (double)(random & 7);
	return s->combiner == TN_REDUCE_MIN ? 110 - height : height;
}

/* Of a running sum that stays small, so that a device that computes in a narrower type rounds
 * nothing: every second number takes away the one before it. */
static double returning(const struct scan *s, const double *all, uint64_t i, uint64_t random)
{
	const uint64_t after = (uint64_t)s->lengths[AFTER];
	const uint64_t place = i / after % (uint64_t)s->lengths[LENGTH];
	return place % 2 ? -all[i - after] : (double)(1 + random % 100);
}

/* Numbers whose sums and products are exact; of integers, which wrap, odd ones, whose products
 * never become 0. */
static void set_elements(struct kit *kit, const struct scan *s, struct array *in, double *all)
{
	const int is_sum = s->combiner == TN_REDUCE_SUM && tn_is_floating(s->dtype);
	const int is_rounded = is_sum && kit_rounds(kit, TN_FAMILY_REDUCE, s->dtype);
	if (is_sum && !is_rounded)
		sweep_terms(kit, TN_FAMILY_REDUCE, s->dtype, s->lengths[LENGTH], MANY_TERMS, all,
			    in->count);
	for (uint64_t i = 0; i < in->count && is_sum == is_rounded; i++) {
		uint64_t random = kit_random(kit);
		if (s->combiner >= TN_REDUCE_MAX)
			all[i] = level(s, i, random);
		else if (is_rounded)
			all[i] = returning(s, all, i, random);
		else if (tn_is_floating(s->dtype))
			all[i] = random & 1 ? 1 : -1;
		else
			all[i] = (double)(random % 4 * 2 + 1);
	}
	sweep_store(in, all);
}

static double combined(uint32_t combiner, double a, double b)
{
	switch (combiner) {
	case TN_REDUCE_SUM:
		return a + b;
	case TN_REDUCE_PRODUCT:
		return a * b;
	case TN_REDUCE_MAX:
		return fmax(a, b);
	default:
		return fmin(a, b);
	}
}

/* Integers are combined in 64 bits, which wrap. */
static uint64_t neutral_of(const struct scan *s)
{
	const unsigned width = 8 * (unsigned)tn_dtype_size(s->dtype);
	const uint64_t ones = UINT64_MAX >> (64 - width);
	const int is_unsigned = tn_is_unsigned(s->dtype);
	if (s->combiner < TN_REDUCE_MAX)
		return s->combiner == TN_REDUCE_PRODUCT;
	if (s->combiner == TN_REDUCE_MIN)
		return is_unsigned ? ones : ones >> 1;
	return is_unsigned ? 0 : ~(ones >> 1);
}

static uint64_t combined_whole(const struct scan *s, uint64_t a, uint64_t b)
{
	const int less = s->dtype == TN_U64 ? a < b : (int64_t)a < (int64_t)b;
	switch (s->combiner) {
	case TN_REDUCE_SUM:
		return a + b;
	case TN_REDUCE_PRODUCT:
		return a * b;
	case TN_REDUCE_MAX:
		return less ? b : a;
	default:
		return less ? a : b;
	}
}

static void scan_line(const struct scan *s, const double *in, double *out, int64_t step)
{
	static const double neutral[] = {0, 0, 1, -INFINITY, INFINITY};
	const int64_t n = s->lengths[LENGTH];
	double sum = neutral[s->combiner];
	for (int64_t j = 0; j < n; j++) {
		int64_t at = (s->reverse ? n - 1 - j : j) * step;
		double next = combined(s->combiner, sum, in[at]);
		out[at] = s->exclusive ? sum : next;
		sum = next;
	}
}

static void scan_whole_line(const struct scan *s, const double *in, unsigned char *out,
			    int64_t step)
{
	const size_t size = tn_dtype_size(s->stored);
	const tn_dtype accumulator = accumulator_of(s->dtype);
	const int64_t n = s->lengths[LENGTH];
	uint64_t sum = neutral_of(s);
	for (int64_t j = 0; j < n; j++) {
		int64_t at = (s->reverse ? n - 1 - j : j) * step;
		uint64_t next = combined_whole(s, sum, (uint64_t)(int64_t)in[at]);
		uint64_t bits = tn_cast_bits(accumulator, s->stored, s->exclusive ? sum : next);
		memcpy(out + at * (int64_t)size, &bits, size);
		sum = next;
	}
}

/* The elements that are expected; the caller frees. */
static void *scanned(const struct scan *s, const double *in, struct array *out)
{
	const int64_t n = s->lengths[LENGTH], after = s->lengths[AFTER];
	const int64_t lines = s->lengths[BEFORE] * after;
	const size_t size = tn_dtype_size(s->stored);
	unsigned char *expected = sweep_elements(out);
	double *all = tn_is_floating(s->dtype) ? numbers(out->count) : NULL;
	for (int64_t i = 0; i < lines; i++) {
		int64_t first = i / after * after * n + i % after;
		if (all)
			scan_line(s, in + first, all + first, after);
		else
			scan_whole_line(s, in + first, expected + first * (int64_t)size, after);
	}
	for (uint64_t i = 0; all && i < out->count; i++) {
		uint64_t bits = tn_cast_bits(TN_F64, s->stored, tn_bits_of_f64(all[i]));
		memcpy(expected + i * size, &bits, size);
	}
	free(all);
	return expected;
}

static void scans(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *lengths)
{
	const uint32_t first = lengths[BEFORE] == 1, rank = AXES - first - (lengths[AFTER] == 1);
	const unsigned direction = sweep_turn(kit, sweep, dtype, lengths, 0, 4);
	struct scan s = {.dtype = dtype, .lengths = lengths};
	struct array in, out, *all[2] = {&in, &out};
	s.combiner = TN_REDUCE_SUM + sweep_draw(kit, sweep, dtype, lengths, 0, 6) % 4;
	s.reverse = (int)direction & 1;
	s.exclusive = (int)direction >> 1;
	s.stored = sweep_draw(kit, sweep, dtype, lengths, 3, 3) ? dtype : accumulator_of(dtype);
	sweep_case(kit, sweep, dtype, lengths, "%s to %s%s%s", combiner_names[s.combiner],
		   tn_dtype_name(s.stored), s.reverse ? ", from the end" : "",
		   s.exclusive ? ", exclusive" : "");
	array_make(kit, &in, INPUT, dtype, rank, lengths + first, COMPACT);
	array_make(kit, &out, OUTPUT, s.stored, rank, lengths + first, COMPACT);
	double *elements = numbers(in.count);
	set_elements(kit, &s, &in, elements);
	struct tn_scan_args args = {.call = CALL(struct tn_scan_args),
				    .input = in.operand,
				    .output = out.operand,
				    .axis = LENGTH - 1 + !first,
				    .combiner = s.combiner,
				    .reverse = (uint32_t)s.reverse,
				    .exclusive = (uint32_t)s.exclusive,
				    .accumulator = accumulator_of(dtype)};
	if (!kit_run(kit, &args, all, 2)) {
		void *expected = scanned(&s, elements, &out);
		sweep_compare_bits(&out, expected);
		free(expected);
		if (s.combiner <= TN_REDUCE_PRODUCT && tn_is_floating(dtype)) {
			sweep_set_normal(&in);
			sweep_repeat(kit, TN_DETERMINISM_ALWAYS, &args, all, 2);
		}
	}
	free(elements);
	array_free(&in);
	array_free(&out);
}

const struct sweep sweep_of_scan = {
	TN_SLOT_SCAN, "scan",   AXES,    {{"before", 1, 0}, {"length", 9, 0}, {"after", 1, 0}},
	claims,       bytes_of, work_of, scans};

void check_sizes_scan(struct kit *kit)
{
	sweep_axes(kit, &sweep_of_scan);
}
