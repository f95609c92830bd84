/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a sweep draws: everything depends on the seed, the sweep and the case alone.
 */
#include <stdarg.h>
#include <stdio.h>

#include "sweep_plan.h"

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

uint64_t sweep_random_state(const struct kit *kit, const struct sweep *sweep, uint64_t a)
{
	uint64_t state = add(kit->seed, (uint64_t)sweep->slot);
	for (const char *c = sweep->name; *c; c++)
		state = add(state, (unsigned char)*c);
	return add(state, a);
}

uint64_t sweep_random_of(uint64_t state, uint64_t b)
{
	return add(state, b);
}

uint64_t sweep_random(const struct kit *kit, const struct sweep *sweep, uint64_t a, uint64_t b)
{
	return sweep_random_of(sweep_random_state(kit, sweep, a), b);
}

static uint64_t draw_of_case(const struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			     const int64_t *lengths, uint64_t which)
{
	uint64_t state = sweep_random(kit, sweep, (uint64_t)dtype, which);
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
	unsigned turn = (unsigned)(sweep_random(kit, sweep, 3000, which) % n) + (unsigned)dtype;
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
