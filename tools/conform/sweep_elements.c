/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Moves the elements of large arrays, and fills them.
 */

#include "program/cast.h"
#include "sweep.h"

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
