/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * sort: lines of all lengths, and any number of them.  Sorting again would take longer than the
 * call; that a line is sorted, stable and complete is seen in one pass.
 */
#include "base/dtype.h"
#include "sweep.h"

enum { BEFORE, LENGTH, AFTER, AXES, LONG = 1 << 12 };
enum wants { BOTH, VALUES, INDICES, N_WANTS };
static const char *const want_names[] = {"values and indices", "values", "indices"};

static int claims(const struct kit *kit, tn_dtype dtype)
{
	(void)kit;
	return tn_compute_dtype(dtype) != 0;
}

/* The indices have 8 bytes each. */
static uint64_t bytes_of(tn_dtype dtype, const int64_t *lengths)
{
	(void)dtype;
	return shape_count(AXES, lengths) * 4;
}

static double work_of(const int64_t *lengths)
{
	return SWEEP_VISIT * (double)shape_count(AXES, lengths) *
	       (1 + log2((double)lengths[LENGTH]) / 16);
}

struct sorting {
	struct kit *kit;
	tn_dtype dtype;
	const int64_t *lengths;
	int64_t k;
	int descending;
	enum wants wants;
	unsigned char *in, *values; /* row-major; NULL: no values */
	int64_t *indices;           /* NULL: no indices */
};

/* A number in the order of the elements, of which none is a NaN or -0. */
static uint64_t key_of(const struct sorting *s, const unsigned char *elements, uint64_t i)
{
	const size_t size = tn_dtype_size(s->dtype);
	const unsigned width = 8 * (unsigned)size;
	const uint64_t sign = UINT64_C(1) << (width - 1), ones = UINT64_MAX >> (64 - width);
	uint64_t bits = 0;
	memcpy(&bits, elements + i * size, size);
	if (tn_is_floating(s->dtype))
		bits = bits & sign ? ~bits & ones : bits | sign;
	else if (s->dtype != TN_BOOL && !tn_is_unsigned(s->dtype))
		bits ^= sign;
	return s->descending ? ~bits & ones : bits;
}

/* Half of the elements have one of five values, so that there are many equals all over the line. */
static void set(struct array *array)
{
	const size_t size = tn_dtype_size(array->operand.dtype);
	sweep_set_normal(array);
	unsigned char *all = sweep_elements(array);
	for (uint64_t i = 0; i < array->count; i++) {
		uint64_t random = kit_random(array->kit);
		if (random >> 63)
			memcpy(all + i * size, all + random % 5 % array->count * size, size);
	}
	sweep_pack(array, all);
	free(all);
}

static void says(const struct sorting *s, uint64_t line, int64_t j, const char *what)
{
	kit_fail(s->kit, "line %llu, place %lld: %s", (unsigned long long)line, (long long)j, what);
}

/* The places of a line's elements: the first one, and the step to the next. */
struct line {
	uint64_t number, in, out, step;
};

/* Each index is new, and its element comes after the one before. */
static int64_t check_indices(const struct sorting *s, const struct line *l, unsigned char *chosen)
{
	const int64_t n = s->lengths[LENGTH];
	uint64_t last_key = 0;
	int64_t last = -1;
	for (int64_t j = 0; j < s->k; j++) {
		int64_t i = s->indices[l->out + (uint64_t)j * l->step];
		if (i < 0 || i >= n || chosen[i]) {
			says(s, l->number, j, "its index is out of range, or twice there");
			return -1;
		}
		uint64_t key = key_of(s, s->in, l->in + (uint64_t)i * l->step);
		if (j && (key < last_key || (key == last_key && i < last))) {
			says(s, l->number, j, "it does not come after the place before");
			return -1;
		}
		chosen[i] = 1;
		last_key = key;
		last = i;
	}
	return last;
}

/* No element that was left out comes before the last one. */
static void check_rest(const struct sorting *s, const struct line *l, int64_t last,
		       const unsigned char *chosen)
{
	const uint64_t last_key = key_of(s, s->in, l->in + (uint64_t)last * l->step);
	for (int64_t i = 0; i < s->lengths[LENGTH]; i++) {
		uint64_t key = chosen[i] ? 0 : key_of(s, s->in, l->in + (uint64_t)i * l->step);
		if (!chosen[i] && (key < last_key || (key == last_key && i < last)))
			return says(s, l->number, i, "this element of the input is left out");
	}
}

static void check_values(const struct sorting *s, const struct line *l)
{
	const size_t size = tn_dtype_size(s->dtype);
	for (int64_t j = 0; j < s->k; j++) {
		uint64_t at = l->out + (uint64_t)j * l->step;
		uint64_t from = l->in + (uint64_t)s->indices[at] * l->step;
		if (memcmp(s->values + at * size, s->in + from * size, size) != 0)
			return says(s, l->number, j, "the value is not that of the index");
	}
}

static uint64_t hash(uint64_t key)
{
	key = (key + 1) * 0x9e3779b97f4a7c15;
	return (key ^ key >> 29) * 0xbf58476d1ce4e5b9;
}

/* Without indices: the values ascend; those before the last one are, with all their equals, those
 * of the input before it; and the input has as many of its equals at least. */
static void check_values_alone(const struct sorting *s, const struct line *l)
{
	const uint64_t last = key_of(s, s->values, l->out + (uint64_t)(s->k - 1) * l->step);
	uint64_t sums[2] = {0, 0}, before = 0;
	int64_t equals[2] = {0, 0};
	for (int64_t j = 0; j < s->k; j++) {
		uint64_t key = key_of(s, s->values, l->out + (uint64_t)j * l->step);
		if (key < before)
			return says(s, l->number, j, "it is not after the place before");
		before = key;
		sums[0] += key < last ? hash(key) : 0;
		equals[0] += key == last;
	}
	for (int64_t i = 0; i < s->lengths[LENGTH]; i++) {
		uint64_t key = key_of(s, s->in, l->in + (uint64_t)i * l->step);
		sums[1] += key < last ? hash(key) : 0;
		equals[1] += key == last;
	}
	if (sums[0] != sums[1] || equals[0] > equals[1])
		says(s, l->number, s->k - 1, "the values up to here are not those of the input");
}

static void check_lines(const struct sorting *s)
{
	const int64_t n = s->lengths[LENGTH], after = s->lengths[AFTER];
	const int64_t lines = s->lengths[BEFORE] * after;
	unsigned char *chosen = malloc((size_t)n);
	if (!chosen)
		kit_give_up(s->kit, "the kit is out of memory");
	for (int64_t i = 0; i < lines && !s->kit->case_failed; i++) {
		const struct line l = {(uint64_t)i, (uint64_t)(i / after * after * n + i % after),
				       (uint64_t)(i / after * after * s->k + i % after),
				       (uint64_t)after};
		if (!s->indices) {
			check_values_alone(s, &l);
			continue;
		}
		memset(chosen, 0, (size_t)n);
		int64_t last = check_indices(s, &l, chosen);
		if (last >= 0 && s->k < n)
			check_rest(s, &l, last, chosen);
		if (last >= 0 && s->values)
			check_values(s, &l);
	}
	free(chosen);
}

/* All elements of the line, or the first of them: one, half, all but one. */
static int64_t count_of(int64_t n, unsigned turn)
{
	const int64_t counts[] = {n, n, n, 1, n / 2, n - 1};
	int64_t k = counts[turn];
	return k < 1 ? 1 : k;
}

/* Without the axes before and after the line, if their length is 1; of long lines, which are few,
 * both values and indices. */
static void sorts_to(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		     const int64_t *lengths, int descending)
{
	struct sorting s = {
		.kit = kit, .dtype = dtype, .lengths = lengths, .descending = descending};
	struct array in, values, indices, *all[3] = {&in};
	size_t n = 1;
	s.wants = (enum wants)sweep_draw(kit, sweep, dtype, lengths, 1, N_WANTS);
	if (lengths[LENGTH] >= LONG)
		s.wants = BOTH;
	s.k = count_of(lengths[LENGTH], sweep_draw(kit, sweep, dtype, lengths, 3, 6));
	const int64_t cut[AXES] = {lengths[BEFORE], s.k, lengths[AFTER]};
	const uint32_t first = lengths[BEFORE] == 1, rank = AXES - first - (lengths[AFTER] == 1);
	sweep_case(kit, sweep, dtype, lengths, "first %lld %s, %s", (long long)s.k,
		   s.descending ? "down" : "up", want_names[s.wants]);
	array_make(kit, &in, INPUT, dtype, rank, lengths + first, COMPACT);
	set(&in);
	struct tn_sort_args args = {.call = CALL(struct tn_sort_args),
				    .input = in.operand,
				    .axis = LENGTH - first,
				    .descending = (uint32_t)s.descending,
				    .has_values = s.wants != INDICES,
				    .has_indices = s.wants != VALUES};
	if (args.has_values) {
		array_make(kit, &values, OUTPUT, dtype, rank, cut + first, COMPACT);
		args.values = values.operand;
		all[n++] = &values;
	}
	if (args.has_indices) {
		array_make(kit, &indices, OUTPUT, TN_I64, rank, cut + first, COMPACT);
		args.indices = indices.operand;
		all[n++] = &indices;
	}
	if (!kit_run(kit, &args, all, n)) {
		s.in = sweep_elements(&in);
		s.values = args.has_values ? sweep_elements(&values) : NULL;
		s.indices = args.has_indices ? sweep_elements(&indices) : NULL;
		check_lines(&s);
		free(s.in);
		free(s.values);
		free(s.indices);
	}
	while (n)
		array_free(all[--n]);
}

/* Long lines up and down: backends have a path for each. */
static void sorts(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *lengths)
{
	const int descending = (int)sweep_draw(kit, sweep, dtype, lengths, 2, 2);
	sorts_to(kit, sweep, dtype, lengths, descending);
	if (lengths[LENGTH] >= LONG)
		sorts_to(kit, sweep, dtype, lengths, !descending);
}

const struct sweep sweep_of_sort = {
	TN_SLOT_SORT, "sort",   AXES,    {{"before", 1, 0}, {"length", 9, 0}, {"after", 1, 0}},
	claims,       bytes_of, work_of, sorts};

void check_sizes_sort(struct kit *kit)
{
	sweep_axes(kit, &sweep_of_sort);
}
