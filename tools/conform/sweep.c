/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chooses the lengths of a sweep, and moves elements of large arrays.
 */
#include "sweep.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "frame.h"
#include "program/cast.h"

/* ---- Draws -----------------------------------------------------------------------------------*/

/* The finaliser of SplitMix64. */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t add(uint64_t state, uint64_t value)
{
	return mix(state + 0x9e3779b97f4a7c15 * (value + 1));
}

/* Depends on the seed, the sweep and two numbers alone. */
static uint64_t draw(const struct kit *kit, const struct sweep *sweep, uint64_t a, uint64_t b)
{
	uint64_t state = add(kit->seed, (uint64_t)sweep->slot);
	for (const char *c = sweep->name; *c; c++)
		state = add(state, (unsigned char)*c);
	return add(add(state, a), b);
}

static uint64_t draw_of_case(const struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			     const int64_t *lengths, uint64_t which)
{
	uint64_t state = draw(kit, sweep, (uint64_t)dtype, which);
	for (uint32_t a = 0; a < sweep->n_axes; a++)
		state = add(state, (uint64_t)lengths[a]);
	return state;
}

unsigned sweep_draw(const struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths, unsigned which, unsigned n)
{
	return (unsigned)(draw_of_case(kit, sweep, dtype, lengths, which) % n);
}

static unsigned octave_of(int64_t length)
{
	unsigned k = 0;
	while (length >> (k + 1))
		k++;
	return k;
}

unsigned sweep_turn(const struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths, unsigned which, unsigned n)
{
	unsigned turn = (unsigned)(draw(kit, sweep, 3000, which) % n) + (unsigned)dtype;
	for (uint32_t a = 0; a < sweep->n_axes; a++)
		turn += octave_of(lengths[a]);
	return turn % n;
}

double sweep_sign(const struct kit *kit, uint64_t i)
{
	return add(kit->seed, i) & 1 ? 1 : -1;
}

uint64_t sweep_odd(const struct kit *kit, uint64_t i)
{
	return add(kit->seed, i) | 1;
}

void sweep_case(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *lengths,
		const char *format, ...)
{
	char text[sizeof(kit->case_name)];
	int n = snprintf(text, sizeof(text), "%s: %s", sweep->name, tn_dtype_name(dtype));
	va_list arguments;
	for (uint32_t a = 0; a < sweep->n_axes && n < (int)sizeof(text); a++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", %s %lld", sweep->axes[a].name,
			      (long long)lengths[a]);
	va_start(arguments, format);
	if (*format && n + 2 < (int)sizeof(text)) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", ");
		vsnprintf(text + n, sizeof(text) - (size_t)n, format, arguments);
	}
	va_end(arguments);
	kit_case(kit, sweep->slot, "%s", text);
	kit_vary(kit, draw_of_case(kit, sweep, dtype, lengths, UINT64_MAX));
}

/* ---- Plan ------------------------------------------------------------------------------------*/

/* Each two of that many axes are long at once, of more axes each two neighbours. */
enum { OCTAVES = 40, DRAWN = 6, MOST_PAIRED = 6 };
/* Three axes and more are long at once: all such sets of up to MOST_PAIRED axes; of more, each
 * three of the first ones, and drawn sets of all. */
enum { LEAST_CROWD = 3, DRAWN_CROWD = 4, DRAWN_CROWDS = 24, CROWD_DTYPES = 4 };

struct budget {
	uint64_t bytes; /* of one operand */
	double work;    /* of one call */
};
/* 16 MiB and 1 GiB, and a little more: lengths are 2^k + 1. */
static const struct budget plain = {17 << 20, 2e8}, large = {UINT64_C(1025) << 20, 2e9};
/* Of a sweep: of one axis long in some dtype, two axes and drawn cases together; of one axis long
 * in every dtype; of crowds of long axes. */
static const struct totals {
	double some, every, crowds;
} totals_of_plain = {6e8, 8e8, 12e8}, totals_of_large = {5e9, 5e9, 5e9};

struct plan {
	struct kit *kit;
	const struct sweep *sweep;
	struct budget longest; /* of one long axis, in one dtype */
	struct budget others;  /* of cases that there are more of */
	struct budget every;   /* of one long axis, in every dtype */
	struct budget crowd;   /* of three long axes and more */
	tn_dtype dtypes[TN_DTYPES];
	unsigned n_dtypes;
	unsigned turn; /* of the rotation of dtypes */
	int runs;      /* the cases, or only adds up their work */
	double work;
	double begin; /* in seconds */
	unsigned left_out;
};

/* An interpreted device, or a program under a sanitizer, does not finish a sweep in reasonable
 * time: after the kit's patience it runs only cases of less work than this. */
enum { LITTLE_WORK = 100000 };

static int fits(const struct plan *plan, const struct budget *budget, tn_dtype dtype,
		const int64_t *lengths)
{
	const struct sweep *sweep = plan->sweep;
	double all = 1;
	for (uint32_t a = 0; a < sweep->n_axes; a++) {
		if (lengths[a] < 1 || (sweep->axes[a].most && lengths[a] > sweep->axes[a].most))
			return 0;
		all *= (double)lengths[a];
	}
	if (all > 0x1p60) /* what the sweep multiplies does not fit */
		return 0;
	uint64_t bytes = sweep->bytes(dtype, lengths);
	return bytes && bytes <= budget->bytes && sweep->work(lengths) <= budget->work;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void case_of(struct plan *plan, tn_dtype dtype, const int64_t *lengths)
{
	const double work = plan->sweep->work(lengths);
	plan->work += work;
	if (!plan->runs)
		return;
	if (work > LITTLE_WORK && seconds() - plan->begin >= plan->kit->patience_s)
		plan->left_out++;
	else
		plan->sweep->run(plan->kit, plan->sweep, dtype, lengths);
}

/* In the next dtype in which it fits. */
static void case_of_any(struct plan *plan, const int64_t *lengths)
{
	for (unsigned i = 0; i < plan->n_dtypes; i++) {
		tn_dtype dtype = plan->dtypes[plan->turn++ % plan->n_dtypes];
		if (fits(plan, &plan->longest, dtype, lengths)) {
			case_of(plan, dtype, lengths);
			return;
		}
	}
}

static void bases(const struct sweep *sweep, int64_t *lengths)
{
	for (uint32_t a = 0; a < sweep->n_axes; a++)
		lengths[a] = sweep->axes[a].base;
}

/* The number of octaves of an axis in that dtype: 2^k + 1 fits for all below. */
static int octaves_of(const struct plan *plan, const struct budget *budget, uint32_t axis,
		      tn_dtype dtype)
{
	int64_t lengths[SWEEP_AXES];
	int k = 0;
	bases(plan->sweep, lengths);
	for (; k < OCTAVES; k++) {
		lengths[axis] = (INT64_C(1) << k) + 1;
		if (!fits(plan, budget, dtype, lengths))
			break;
	}
	return k;
}

static int64_t power(int k)
{
	return INT64_C(1) << k;
}

/* 2^k + 1 for the greatest k in every dtype. */
static void sweep_dtypes(struct plan *plan, uint32_t axis)
{
	int64_t lengths[SWEEP_AXES];
	bases(plan->sweep, lengths);
	for (unsigned d = 0; d < plan->n_dtypes; d++) {
		int octaves = octaves_of(plan, &plan->every, axis, plan->dtypes[d]);
		if (!octaves)
			continue;
		lengths[axis] = power(octaves - 1) + 1;
		case_of(plan, plan->dtypes[d], lengths);
	}
}

static void sweep_axis(struct plan *plan, uint32_t axis)
{
	const int64_t most = plan->sweep->axes[axis].most;
	int64_t lengths[SWEEP_AXES];
	int octaves = 0;
	bases(plan->sweep, lengths);
	for (unsigned d = 0; d < plan->n_dtypes; d++) {
		int of_dtype = octaves_of(plan, &plan->longest, axis, plan->dtypes[d]);
		octaves = of_dtype > octaves ? of_dtype : octaves;
	}
	for (int k = 0; k < octaves; k++) {
		int one = (int)(draw(plan->kit, plan->sweep, axis, (uint64_t)k) % 3);
		if (k == octaves - 1)
			one = 2;
		for (int i = 0; i < 3; i++) {
			lengths[axis] = power(k) + i - 1;
			if (k < 3 || i == one)
				case_of_any(plan, lengths);
		}
	}
	lengths[axis] = most;
	if (most)
		case_of_any(plan, lengths);
}

/* The axes of that set have 2^k + 1, or what they have at most. */
static void lengthen(const struct sweep *sweep, uint32_t axes, int k, int64_t *lengths)
{
	for (uint32_t a = 0; a < sweep->n_axes; a++) {
		const int64_t most = sweep->axes[a].most;
		if (axes >> a & 1)
			lengths[a] = most && most <= power(k) ? most : power(k) + 1;
	}
}

/* The axes of a set as long as each other; then twice as long, where that fits too, one by one from
 * a drawn one on. */
static void sweep_together(struct plan *plan, uint32_t axes, const struct budget *budget,
			   tn_dtype dtype)
{
	const struct sweep *sweep = plan->sweep;
	const uint64_t first = draw(plan->kit, sweep, 4000, axes);
	int64_t lengths[SWEEP_AXES];
	int k = OCTAVES;
	bases(sweep, lengths);
	do
		lengthen(sweep, axes, --k, lengths);
	while (k > 1 && !fits(plan, budget, dtype, lengths));
	if (k <= 1)
		return;
	for (uint32_t i = 0; i < sweep->n_axes; i++) {
		const uint32_t one = axes & UINT32_C(1) << (first + i) % sweep->n_axes;
		lengthen(sweep, one, k + 1, lengths);
		if (!fits(plan, budget, dtype, lengths))
			lengthen(sweep, one, k, lengths);
	}
	case_of(plan, dtype, lengths);
}

static void sweep_pair(struct plan *plan, uint32_t a, uint32_t b)
{
	/* Of these there are few. */
	struct budget budget = {8 * plan->others.bytes, 8 * plan->others.work};
	if (budget.bytes > plan->longest.bytes)
		budget = plan->longest;
	sweep_together(plan, UINT32_C(1) << a | UINT32_C(1) << b, &budget,
		       plan->dtypes[plan->turn++ % plan->n_dtypes]);
}

/* One axis long, and one there at all that has the base 1. */
static void sweep_beside(struct plan *plan, uint32_t a, uint32_t b)
{
	tn_dtype dtype = plan->dtypes[plan->turn++ % plan->n_dtypes];
	int64_t lengths[SWEEP_AXES];
	bases(plan->sweep, lengths);
	lengths[b] = 2 + (int64_t)(draw(plan->kit, plan->sweep, 2000 + a, b) % 2);
	for (int k = OCTAVES; k-- > 2;) {
		lengths[a] = power(k) + 1;
		if (fits(plan, &plan->others, dtype, lengths)) {
			case_of(plan, dtype, lengths);
			return;
		}
	}
}

/* All lengths drawn, each octave as likely as any other; the longest is halved until all fit. */
static void sweep_drawn(struct plan *plan, uint64_t n)
{
	const struct sweep *sweep = plan->sweep;
	tn_dtype dtype = plan->dtypes[plan->turn++ % plan->n_dtypes];
	int64_t lengths[SWEEP_AXES];
	for (uint32_t a = 0; a < sweep->n_axes; a++) {
		int octaves = octaves_of(plan, &plan->others, a, dtype);
		uint64_t random = draw(plan->kit, sweep, 1000 + n, a);
		int64_t length = INT64_C(1) << random % (uint64_t)(octaves ? octaves : 1);
		lengths[a] = length + (int64_t)(random >> 8) % length;
		if (lengths[a] > sweep->axes[a].most && sweep->axes[a].most)
			lengths[a] = sweep->axes[a].most;
	}
	while (!fits(plan, &plan->others, dtype, lengths)) {
		uint32_t longest = 0;
		for (uint32_t a = 1; a < sweep->n_axes; a++)
			if (lengths[a] > lengths[longest])
				longest = a;
		if (lengths[longest] < 2)
			return;
		lengths[longest] -= lengths[longest] / 2;
	}
	case_of(plan, dtype, lengths);
}

/* One axis in some dtype, two axes, and drawn cases. */
static void sweep_some(struct plan *plan)
{
	const uint32_t n = plan->sweep->n_axes;
	for (uint32_t a = 0; a < n; a++)
		sweep_axis(plan, a);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++)
			if (n <= MOST_PAIRED || b == a + 1 || (a == 0 && b == n - 1))
				sweep_pair(plan, a, b);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n && n <= MOST_PAIRED; b++)
			if (a != b && plan->sweep->axes[b].base == 1)
				sweep_beside(plan, a, b);
	for (uint64_t i = 0; i < DRAWN; i++)
		sweep_drawn(plan, i);
}

/* ---- Crowds ---- */

enum { MOST_CROWDS = 64 };

static unsigned size_of(uint32_t axes)
{
	unsigned n = 0;
	for (; axes; axes &= axes - 1)
		n++;
	return n;
}

/* The axes that can be long. */
static uint32_t free_axes(const struct sweep *sweep)
{
	uint32_t axes = 0;
	for (uint32_t a = 0; a < sweep->n_axes; a++)
		if (!sweep->axes[a].most || sweep->axes[a].most > sweep->axes[a].base)
			axes |= UINT32_C(1) << a;
	return axes;
}

/* The first `n` of a set, from axis number `from` on and round. */
static uint32_t first_of(uint32_t axes, unsigned n, uint32_t from)
{
	uint32_t first = 0;
	for (uint32_t i = 0; i < SWEEP_AXES && size_of(first) < n; i++)
		first |= axes & UINT32_C(1) << (from + i) % SWEEP_AXES;
	return first;
}

static uint32_t drawn_crowd(const struct plan *plan, uint32_t axes, uint64_t number)
{
	uint32_t crowd = 0;
	for (uint64_t i = 0; size_of(crowd) < DRAWN_CROWD; i++) {
		uint64_t random = draw(plan->kit, plan->sweep, 5000 + number, i);
		crowd |= first_of(axes & ~crowd, 1, (uint32_t)(random % SWEEP_AXES));
	}
	return crowd;
}

static size_t crowds_of(const struct plan *plan, uint32_t crowds[MOST_CROWDS])
{
	const uint32_t all = free_axes(plan->sweep), first = first_of(all, MOST_PAIRED, 0);
	size_t n = 0;
	for (uint32_t axes = 1; axes <= first; axes++)
		if (!(axes & ~first) &&
		    (first == all ? size_of(axes) >= LEAST_CROWD : size_of(axes) == LEAST_CROWD))
			crowds[n++] = axes;
	for (uint64_t i = 0; i < DRAWN_CROWDS && first != all; i++)
		crowds[n++] = drawn_crowd(plan, all, i);
	return n;
}

/* Each in some dtypes, or where there are many in one. */
static void sweep_crowds(struct plan *plan)
{
	uint32_t crowds[MOST_CROWDS];
	const size_t n = crowds_of(plan, crowds);
	unsigned n_dtypes = plan->n_dtypes < CROWD_DTYPES ? plan->n_dtypes : CROWD_DTYPES;
	if (size_of(free_axes(plan->sweep)) > MOST_PAIRED)
		n_dtypes = 1;
	for (size_t i = 0; i < n * n_dtypes; i++)
		sweep_together(plan, crowds[i / n_dtypes], &plan->crowd,
			       plan->dtypes[plan->turn++ % plan->n_dtypes]);
}

/* Of one dtype the longest lengths are among those of each axis. */
static void sweep_every(struct plan *plan)
{
	for (uint32_t a = 0; a < plan->sweep->n_axes && plan->n_dtypes > 1; a++)
		sweep_dtypes(plan, a);
}

/* ---- All cases ---- */

static void begin(struct plan *plan, int runs)
{
	plan->runs = runs;
	plan->work = 0;
	plan->turn = (unsigned)(draw(plan->kit, plan->sweep, 0, 0) % TN_DTYPES);
}

static int is_above(struct plan *plan, void (*cases)(struct plan *plan), double total)
{
	begin(plan, 0);
	cases(plan);
	return plan->work > total;
}

static void halve(struct budget *budget)
{
	budget->bytes /= 2;
	budget->work /= 2;
}

/* Until all cases are within the totals: first those that there are more of. */
static void shrink(struct plan *plan, const struct totals *totals)
{
	while (is_above(plan, sweep_some, totals->some)) {
		halve(&plan->others);
		if (plan->others.work < plan->longest.work / 32)
			halve(&plan->longest);
	}
	while (is_above(plan, sweep_every, totals->every))
		plan->every.work /= 2;
	while (is_above(plan, sweep_crowds, totals->crowds))
		plan->crowd.work /= 2;
}

void sweep_axes(struct kit *kit, const struct sweep *sweep)
{
	const int is_large = check_is_large(kit->check);
	const struct totals *totals = is_large ? &totals_of_large : &totals_of_plain;
	struct plan plan = {.kit = kit, .sweep = sweep, .longest = is_large ? large : plain};
	if (!tn_backend_has(kit->backend, (enum tn_slot)sweep->slot))
		return kit_skip(kit, "the slot is empty");
	if (plan.longest.bytes > kit->description.max_alloc_bytes)
		plan.longest.bytes = kit->description.max_alloc_bytes;
	plan.others = plan.every = plan.crowd = plan.longest;
	plan.crowd.work /= 4; /* there are many */
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		if (kit_claims_storage(kit, dtype) && sweep->claims(kit, dtype))
			plan.dtypes[plan.n_dtypes++] = dtype;
	if (!plan.n_dtypes)
		return kit_skip(kit, "it claims no dtype of the slot");
	shrink(&plan, totals);
	plan.begin = seconds();
	begin(&plan, 1);
	sweep_some(&plan);
	sweep_every(&plan);
	sweep_crowds(&plan);
	if (plan.left_out)
		kit_not_tried(kit, plan.left_out,
			      "%u longer cases of %s, which is slow: %g seconds", plan.left_out,
			      sweep->name, kit->patience_s);
}

/* ---- Elements --------------------------------------------------------------------------------*/

/* Steps in bytes. */
static void copy_elements(unsigned char *to, int64_t to_step, const unsigned char *from,
			  int64_t from_step, int64_t n, size_t size)
{
	if (to_step == (int64_t)size && from_step == (int64_t)size) {
		memcpy(to, from, (size_t)n * size);
		return;
	}
	for (int64_t i = 0; i < n; i++, to += to_step, from += from_step) {
		switch (size) {
		case 1:
			*to = *from;
			break;
		case 2:
			memcpy(to, from, 2);
			break;
		case 4:
			memcpy(to, from, 4);
			break;
		case 8:
			memcpy(to, from, 8);
			break;
		default:
			memcpy(to, from, size);
		}
	}
}

/* Along the last of the merged axes at once. */
static void copy_rows(const struct array *array, unsigned char *compact, int into)
{
	const uint32_t last = array->n_axes - 1;
	const int64_t size = (int64_t)tn_dtype_size(array->operand.dtype);
	const int64_t n = array->lengths[last], step = array->steps[last];
	for (uint64_t i = 0; i < array->count; i += (uint64_t)n) {
		unsigned char *at = array_at(array, i), *row = compact + i * (uint64_t)size;
		if (into)
			copy_elements(at, step, row, size, n, (size_t)size);
		else
			copy_elements(row, size, at, step, n, (size_t)size);
	}
}

void sweep_unpack(const struct array *array, void *compact)
{
	copy_rows(array, compact, 0);
}

void sweep_pack(struct array *array, const void *compact)
{
	copy_rows(array, (unsigned char *)compact, 1);
}

/* Memory for the elements, a multiple of 8 bytes. */
static void *room(const struct array *array)
{
	void *memory =
		malloc((array->count * tn_dtype_size(array->operand.dtype) + 7) & ~(size_t)7);
	if (!memory)
		kit_give_up(array->kit, "the kit is out of memory");
	return memory;
}

void *sweep_elements(const struct array *array)
{
	void *memory = room(array);
	sweep_unpack(array, memory);
	return memory;
}

static double number_of(tn_dtype dtype, uint64_t bits)
{
	return tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits));
}

/* Elements of one or two bytes, by a table of all of them if there are many. */
static void load_small(tn_dtype dtype, const unsigned char *elements, uint64_t count, double *to)
{
	const size_t size = tn_dtype_size(dtype), values = (size_t)1 << 8 * size;
	double *table = count > values ? numbers(values) : NULL;
	for (uint64_t bits = 0; table && bits < values; bits++)
		table[bits] = number_of(dtype, bits);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t bits = size == 1 ? elements[i]
					  : elements[2 * i] | (uint64_t)elements[2 * i + 1] << 8;
		to[i] = table ? table[bits] : number_of(dtype, bits);
	}
	free(table);
}

void sweep_load(const struct array *array, double *compact)
{
	const tn_dtype dtype = array->operand.dtype;
	const uint64_t n = array->count;
	if (dtype == TN_F64)
		return sweep_unpack(array, compact);
	void *elements = sweep_elements(array);
	const float *singles = elements;
	const uint32_t *words = elements;
	const uint64_t *doubles = elements;
	if (tn_dtype_size(dtype) < 4)
		load_small(dtype, elements, n, compact);
	else if (dtype == TN_F32)
		for (uint64_t i = 0; i < n; i++)
			compact[i] = (double)singles[i];
	else if (tn_dtype_size(dtype) == 4)
		for (uint64_t i = 0; i < n; i++)
			compact[i] = dtype == TN_I32 ? (double)(int32_t)words[i] : (double)words[i];
	else
		for (uint64_t i = 0; i < n; i++)
			compact[i] = number_of(dtype, doubles[i]);
	free(elements);
}

void sweep_store(struct array *array, const double *compact)
{
	const tn_dtype dtype = array->operand.dtype;
	const size_t size = tn_dtype_size(dtype);
	const uint64_t n = array->count;
	if (dtype == TN_F64)
		return sweep_pack(array, compact);
	unsigned char *elements = room(array);
	float *singles = (float *)(void *)elements;
	if (dtype == TN_F32)
		for (uint64_t i = 0; i < n; i++)
			singles[i] = (float)compact[i];
	for (uint64_t i = 0; i < n && dtype != TN_F32; i++) {
		uint64_t bits = tn_is_floating(dtype)
					? tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(compact[i]))
					: (uint64_t)(int64_t)compact[i];
		memcpy(elements + i * size, &bits, size);
	}
	sweep_pack(array, elements);
	free(elements);
}

/* The bits of a word that stay, and those that are set, for normal numbers: the sign, two bits of
 * the exponent (one of f16) and the significand, in an exponent below that of 1. */
struct masks {
	uint64_t keep, set;
};

static struct masks masks_of(tn_dtype dtype)
{
	switch (dtype) {
	case TN_BOOL:
		return (struct masks){0x0101010101010101, 0};
	case TN_F16:
		return (struct masks){0x87ff87ff87ff87ff, 0x3000300030003000};
	case TN_BF16:
		return (struct masks){0x81ff81ff81ff81ff, 0x3c003c003c003c00};
	case TN_F32:
	case TN_C64:
		return (struct masks){0x81ffffff81ffffff, 0x3c0000003c000000};
	case TN_F64:
	case TN_C128:
		return (struct masks){0x803fffffffffffff, 0x3f80000000000000};
	default:
		return (struct masks){UINT64_MAX, 0};
	}
}

static void set_words(struct array *array, struct masks masks)
{
	uint64_t *words = room(array);
	const size_t n = (array->count * tn_dtype_size(array->operand.dtype) + 7) / 8;
	for (size_t i = 0; i < n; i++)
		words[i] = (kit_random(array->kit) & masks.keep) | masks.set;
	sweep_pack(array, words);
	free(words);
}

void sweep_set_bits(struct array *array)
{
	const int is_bool = array->operand.dtype == TN_BOOL;
	set_words(array, is_bool ? masks_of(TN_BOOL) : masks_of(TN_U64));
}

void sweep_set_normal(struct array *array)
{
	set_words(array, masks_of(array->operand.dtype));
}

void sweep_set_whole(struct array *array, unsigned most)
{
	const tn_dtype dtype = array->operand.dtype;
	const int positive = dtype == TN_BOOL || tn_is_unsigned(dtype);
	double *all = numbers(array->count);
	for (uint64_t i = 0; i < array->count; i++)
		all[i] = positive ? (double)(kit_random(array->kit) % (most + 1))
				  : (double)(kit_random(array->kit) % (2 * most + 1)) - most;
	sweep_store(array, all);
	free(all);
}

/* ---- Terms of exact sums ---- */

/* The bits of a significand that operands keep. */
static int bits_of(const struct kit *kit, int family, tn_dtype dtype)
{
	const int accuracy = kit->description.accuracy[family];
	if (dtype == TN_F64)
		return 53;
	if (dtype == TN_BF16 || accuracy == TN_ACCURACY_BF16)
		return 8;
	if (dtype == TN_F16 || accuracy == TN_ACCURACY_F16 || accuracy == TN_ACCURACY_REDUCED)
		return 11;
	return 24;
}

/* Terms below 1 with random signs: sums stay below 2^3 sqrt(n), ten times their deviation. */
int sweep_grain(const struct kit *kit, int family, tn_dtype dtype, int64_t n, int64_t most)
{
	const int bits = bits_of(kit, family, dtype), sum = dtype == TN_F64 ? 53 : 24;
	int half = 0;
	while (INT64_C(1) << half < n && INT64_C(1) << half < most)
		half++;
	const int left = sum - 3 - (half + 1) / 2;
	return left < bits ? left : bits;
}

void sweep_terms(struct kit *kit, int family, tn_dtype dtype, int64_t n, int64_t most,
		 double *terms, uint64_t count)
{
	const int grain = sweep_grain(kit, family, dtype, n, most);
	const double unit = ldexp(1, -grain);
	const uint64_t half = UINT64_C(1) << (grain - 1);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t random = kit_random(kit), whole = half | (random & (half - 1));
		if (n > most && (int64_t)(kit_random(kit) % (uint64_t)n) >= most)
			whole = 1 + (random & 3);
		terms[i] = (random >> 63 ? -unit : unit) * (double)whole;
	}
}

/* ---- Comparison ------------------------------------------------------------------------------*/

void sweep_compare_bits(const struct array *array, const void *expected)
{
	const size_t size = tn_dtype_size(array->operand.dtype);
	const unsigned char *right = expected;
	unsigned char *found = sweep_elements(array);
	uint64_t i = 0;
	if (memcmp(found, right, array->count * size) != 0) {
		uint64_t bits[2] = {0, 0};
		while (!memcmp(found + i * size, right + i * size, size))
			i++;
		memcpy(&bits[0], right + i * size, size < 8 ? size : 8);
		memcpy(&bits[1], found + i * size, size < 8 ? size : 8);
		kit_fail(array->kit, "element %llu of %llu: expected bits %llx, found %llx",
			 (unsigned long long)i, (unsigned long long)array->count,
			 (unsigned long long)bits[0], (unsigned long long)bits[1]);
	}
	free(found);
}

/* Copies the images of all outputs one after another to `to`, or from there. */
static void copy_images(struct array *const *arrays, size_t n_arrays, unsigned char *to, int back)
{
	for (size_t i = 0; i < n_arrays; i++) {
		if (arrays[i]->role != OUTPUT)
			continue;
		memcpy(back ? arrays[i]->image : to, back ? to : arrays[i]->image, arrays[i]->size);
		to += arrays[i]->size;
	}
}

void sweep_repeat(struct kit *kit, int determinism, void *args, struct array *const *arrays,
		  size_t n_arrays)
{
	struct tn_call *call = args;
	unsigned char *before, *results[2];
	size_t size = 0;
	if (determinism != TN_DETERMINISM_ALWAYS && determinism != TN_DETERMINISM_ON_REQUEST)
		return;
	for (size_t i = 0; i < n_arrays; i++)
		size += arrays[i]->role == OUTPUT ? arrays[i]->size : 0;
	before = malloc(3 * size);
	if (!before)
		kit_give_up(kit, "the kit is out of memory");
	copy_images(arrays, n_arrays, before, 0);
	call->flags |= determinism == TN_DETERMINISM_ON_REQUEST ? TN_DETERMINISTIC : 0;
	for (size_t run = 0; run < 2; run++) {
		results[run] = before + (run + 1) * size;
		if (run)
			copy_images(arrays, n_arrays, before, 1);
		if (kit_run(kit, args, arrays, n_arrays))
			break;
		copy_images(arrays, n_arrays, results[run], 0);
		if (run && memcmp(results[0], results[1], size) != 0)
			kit_fail_as(kit, "call.deterministic", "the same call gave different bits");
	}
	call->flags &= ~(uint32_t)TN_DETERMINISTIC;
	free(before);
}

static int ascending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

size_t sweep_sample(struct kit *kit, uint64_t count, uint64_t places[SWEEP_SAMPLES])
{
	size_t n = 0, distinct = 0;
	places[n++] = 0;
	places[n++] = count - 1;
	for (int k = 0; k < 63; k++)
		for (uint64_t i = 0; i < 3; i++)
			if ((UINT64_C(1) << k) + i - 1 < count)
				places[n++] = (UINT64_C(1) << k) + i - 1;
	for (int i = 0; i < 64; i++)
		places[n++] = kit_random(kit) % count;
	qsort(places, n, sizeof(*places), ascending);
	for (size_t i = 0; i < n; i++)
		if (!i || places[i] != places[distinct - 1])
			places[distinct++] = places[i];
	return distinct;
}
