/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Keys are unsigned numbers of the element's size.  Signed ones have their sign bit inverted,
 * floating ones also all other bits if they are negative; -0 has the key of 0, and a NaN the
 * highest of all.
 */
#include "sort_keys.h"

#include <string.h>

enum kind { UNSIGNED, SIGNED, FLOATING };

/* `infinity` is the bit pattern of the dtype's. */
static inline __attribute__((always_inline)) uint64_t key_of(uint64_t bits, enum kind kind,
							     unsigned size, uint64_t infinity)
{
	uint64_t sign = UINT64_C(1) << (8 * size - 1), all = sign | (sign - 1);
	uint64_t magnitude = bits & (sign - 1);
	if (kind == UNSIGNED)
		return bits;
	if (kind == SIGNED)
		return bits ^ sign;
	if (magnitude > infinity)
		return all;
	if (!magnitude)
		return sign;
	return bits & sign ? ~bits & all : bits | sign;
}

struct load {
	const struct cpu_radix *radix;
	const char *line;
	int64_t step;
	uint64_t begin, end;
	uint64_t flip; /* all bits of the key, or none */
};

static inline __attribute__((always_inline)) void load(const struct load *l, enum kind kind,
						       unsigned size, uint64_t infinity)
{
	for (uint64_t i = l->begin; i < l->end; i++) {
		uint64_t bits = tn_plugin_load_bits(l->line + (int64_t)i * l->step, size);
		uint64_t key = key_of(bits, kind, size, infinity) ^ l->flip;
		if (size == 8)
			((struct cpu_wide_item *)l->radix->items)[i] =
				(struct cpu_wide_item){key, i};
		else
			((uint64_t *)l->radix->items)[i] = key << 32 | i;
	}
}

int cpu_sort_has_keys(tn_dtype dtype)
{
	return (tn_plugin_dtype_kind(dtype) & TN_PLUGIN_KIND_REAL) != 0;
}

void cpu_sort_load(const struct cpu_radix *radix, tn_dtype dtype, int is_descending,
		   const char *line, int64_t step, uint64_t begin, uint64_t end)
{
	unsigned bits = 8 * (unsigned)tn_dtype_size(dtype);
	struct load l = {radix, line, step,
			 begin, end,  is_descending ? UINT64_MAX >> (64 - bits) : 0};
	switch (dtype) {
	case TN_BOOL:
	case TN_U8:
		return load(&l, UNSIGNED, 1, 0);
	case TN_U16:
		return load(&l, UNSIGNED, 2, 0);
	case TN_U32:
		return load(&l, UNSIGNED, 4, 0);
	case TN_U64:
		return load(&l, UNSIGNED, 8, 0);
	case TN_I8:
		return load(&l, SIGNED, 1, 0);
	case TN_I16:
		return load(&l, SIGNED, 2, 0);
	case TN_I32:
		return load(&l, SIGNED, 4, 0);
	case TN_I64:
		return load(&l, SIGNED, 8, 0);
	case TN_F16:
		return load(&l, FLOATING, 2, 0x7c00);
	case TN_BF16:
		return load(&l, FLOATING, 2, 0x7f80);
	case TN_F32:
		return load(&l, FLOATING, 4, 0x7f800000);
	default:
		return load(&l, FLOATING, 8, UINT64_C(0x7ff0000000000000));
	}
}

static inline __attribute__((always_inline)) uint64_t index_at(const struct cpu_radix *radix,
							       uint64_t j)
{
	if (radix->is_wide)
		return ((const struct cpu_wide_item *)radix->items)[j].index;
	return (uint32_t)((const uint64_t *)radix->items)[j];
}

struct pick {
	const struct cpu_radix *radix;
	const char *line;
	int64_t step;
	char *to;
	int64_t to_step;
	uint64_t begin, end;
};

static inline __attribute__((always_inline)) void pick(const struct pick *p, size_t size)
{
	for (uint64_t j = p->begin; j < p->end; j++)
		memcpy(p->to + (int64_t)j * p->to_step,
		       p->line + (int64_t)index_at(p->radix, j) * p->step, size);
}

void cpu_sort_values(const struct cpu_radix *radix, size_t size, const char *line, int64_t step,
		     char *to, int64_t to_step, uint64_t begin, uint64_t end)
{
	struct pick p = {radix, line, step, to, to_step, begin, end};
	switch (size) {
	case 1:
		return pick(&p, 1);
	case 2:
		return pick(&p, 2);
	case 4:
		return pick(&p, 4);
	default:
		return pick(&p, 8);
	}
}

void cpu_sort_indices(const struct cpu_radix *radix, char *to, int64_t to_step, uint64_t begin,
		      uint64_t end)
{
	for (uint64_t j = begin; j < end; j++) {
		int64_t index = (int64_t)index_at(radix, j);
		memcpy(to + (int64_t)j * to_step, &index, sizeof(index));
	}
}
