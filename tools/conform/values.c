/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Special values in every floating operand of every computing slot: infinities, NaNs with payloads,
 * zeros of both signs, subnormal, large and equal numbers.  One element, half of them or all are
 * such a value, in one operand at a time; then all of these values at once, in all operands.
 * Outputs are filled too: what they contain is read only where the call adds to it.
 */
#include <stdio.h>

#include "loader/slots.h"
#include "program/cast.h"
#include "trial.h"

static const char *const value_names[] = {
	"inf",
	"-inf",
	"NaN",
	"-NaN, signalling",
	"-0",
	"0",
	"the least number",
	"a subnormal number",
	"the largest number",
	"minus the largest",
	"the least normal number",
	"a huge number",
	"a thousand",
	"a tenth",
};
enum {
	A_NAN = 2,
	A_SIGNALLING_NAN = 3,
	LEAST = 6,
	SUBNORMAL = 7,
	N_VALUES = 14,
};

/* The bits of special value number i; payloads are random. */
static uint64_t value_bits(struct kit *kit, tn_dtype dtype, int i)
{
	const unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	const unsigned digits = tn_dtype_information(dtype)->digits - 1u;
	const uint64_t sign = UINT64_C(1) << (width - 1), quiet = UINT64_C(1) << (digits - 1);
	const uint64_t one = UINT64_C(1) << digits, infinite = sign - one;
	const uint64_t payload = 1 + kit_random(kit) % (quiet - 1);
	const double huge = dtype == TN_F16 ? 3e4 : 1e15;
	const uint64_t bits[N_VALUES] = {
		infinite,
		infinite | sign,
		infinite | quiet | payload,
		infinite | sign | payload,
		sign,
		0,
		1,
		sign | (one - payload % quiet),
		infinite - 1,
		(infinite - 1) | sign,
		one,
		tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(huge)),
		tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(1000)),
		tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(0.1)),
	};
	return bits[i];
}

/* Does the slot keep bits whatever they are? */
static int keeps_bits(int slot)
{
	return slot == TN_SLOT_COPY || slot == TN_SLOT_GATHER || slot == TN_SLOT_FILL;
}

/* Does the device compute with numbers of a narrower type than the operand's?  They keep infinities
 * and NaN, but not the ends of its range. */
static int is_narrowed(const struct trial *t, const struct trial_operand *o)
{
	return kit_rounds(t->kit, t->row->family, o->dtype) &&
	       o->dtype != kit_compute_dtype(t->kit, t->row->family);
}

/* May the operand have that value?  A device need not keep subnormal numbers, nor products that are
 * not rounded to the range of a narrower type; and what a forward saves for a backward has no
 * values that no forward saves. */
static int is_possible(const struct trial *t, const struct trial_operand *o, int value)
{
	const int is_reduced = t->dtype == TN_F32 &&
			       t->kit->description.accuracy[t->row->family] == TN_ACCURACY_REDUCED;
	if (!tn_is_floating(o->dtype) || o->is_unread)
		return 0;
	if (keeps_bits(t->slot))
		return 1;
	if (o->is_saved)
		return value == A_NAN || value == A_SIGNALLING_NAN;
	if (is_narrowed(t, o) && value >= LEAST)
		return 0;
	if (is_reduced && (value < A_NAN || value >= LEAST))
		return 0;
	return (value != LEAST && value != SUBNORMAL) || trial_keeps_subnormals(t->kit, o->dtype);
}

enum share { ONE, HALF, ALL, SHARES };
enum { TURNS = 9 };
static const char *const share_names[SHARES] = {"one element is", "half are", "all are"};

static void place(struct trial *t, struct trial_operand *o, int value, enum share share)
{
	struct kit *kit = t->kit;
	const uint64_t one = kit_random(kit) % o->array.count;
	for (uint64_t i = 0; i < o->array.count; i++)
		if (share == ALL || (share == HALF ? kit_random(kit) % 2 == 0 : i == one))
			array_set_bits(&o->array, i, value_bits(kit, o->dtype, value));
}

/* The other factor of products whose sums are exact: whole numbers. */
static void place_whole(struct trial *t, const struct trial_operand *o)
{
	for (unsigned i = 0; i < 2 && t->slot == TN_SLOT_MATMUL; i++) {
		struct array *other = &t->operand[i].array;
		for (uint64_t e = 0; e < other->count && &t->operand[i] != o; e++)
			array_set_number(other, e, (double)(kit_random(t->kit) % 7) - 3);
	}
}

/* In all operands: a third of the elements have any of the values, or each operand has one. */
static void place_all(struct trial *t, uint64_t number)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct trial_operand *o = &t->operand[i];
		const uint64_t own = kit_random(t->kit) % N_VALUES;
		for (uint64_t e = 0; e < o->array.count; e++) {
			uint64_t value = kit_random(t->kit) % (3 * N_VALUES);
			if (number % 2)
				value = own + value % 3 * N_VALUES;
			if (value < N_VALUES && is_possible(t, o, (int)value))
				array_set_bits(&o->array, e,
					       value_bits(t->kit, o->dtype, (int)value));
		}
	}
}

/* Compact operands in half of the calls: many slots take nothing else. */
static void make(struct trial *t)
{
	const int is_compact = kit_random(t->kit) % 2 == 0;
	enum view views[TRIAL_OPERANDS];
	for (unsigned i = 0; i < t->n; i++) {
		enum view any = (enum view)(kit_random(t->kit) % OUTPUT_VIEWS);
		views[i] = is_compact ? VIEW_COMPACT : any;
	}
	trial_make(t, views);
}

static void tries(struct kit *kit, const struct trial_slot *slot, tn_dtype dtype, int accumulates,
		  unsigned operand, int value, unsigned turn)
{
	const enum share share = (enum share)(turn % SHARES);
	const uint64_t number = ((uint64_t)operand * N_VALUES + (uint64_t)value) * TURNS + turn;
	struct trial t;
	if (!kit_takes(kit))
		return;
	trial_plan(kit, &t, slot, dtype, accumulates, number);
	if (operand < t.n && is_possible(&t, &t.operand[operand], value)) {
		snprintf(kit->case_name, sizeof(kit->case_name), "%s of %s: %s, %s %s%s, %s",
			 tn_slots[t.slot].name, tn_dtype_name(dtype), t.operand[operand].name,
			 share_names[share], value_names[value], accumulates ? ", accumulated" : "",
			 t.text);
		make(&t);
		place(&t, &t.operand[operand], value, share);
		if (share == ALL && (value == LEAST || value == SUBNORMAL))
			place_whole(&t, &t.operand[operand]);
		if (!t.operand[operand].is_saved)
			trial_save(&t);
		trial_run(&t);
	}
	trial_free(&t);
}

static void tries_all(struct kit *kit, const struct trial_slot *slot, tn_dtype dtype,
		      int accumulates, uint64_t number)
{
	struct trial t;
	if (!kit_takes(kit))
		return;
	trial_plan(kit, &t, slot, dtype, accumulates, number);
	snprintf(kit->case_name, sizeof(kit->case_name), "%s of %s: all values, number %llu%s, %s",
		 tn_slots[t.slot].name, tn_dtype_name(dtype), (unsigned long long)number,
		 accumulates ? ", accumulated" : "", t.text);
	make(&t);
	place_all(&t, number);
	trial_save(&t);
	trial_run(&t);
	trial_free(&t);
}

/* Infinities and NaN make lines, windows and masks, and get more turns. */
static unsigned turns_of(int value)
{
	return value <= A_SIGNALLING_NAN ? TURNS : SHARES;
}

static void turns(struct kit *kit, const struct trial_slot *slot, tn_dtype dtype, int accumulates)
{
	enum { TIMES = 48 };
	if (!tn_is_floating(dtype))
		return;
	for (unsigned operand = 0; operand < slot->n; operand++)
		for (int value = 0; value < N_VALUES; value++)
			for (unsigned turn = 0; turn < turns_of(value); turn++)
				tries(kit, slot, dtype, accumulates, operand, value, turn);
	for (uint64_t n = 0; n < TIMES; n++)
		tries_all(kit, slot, dtype, accumulates, n);
}

void check_special(struct kit *kit)
{
	trial_each(kit, turns);
}
