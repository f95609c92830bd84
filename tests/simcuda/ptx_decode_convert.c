/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * cvt: between all types, through 64-bit integers if it saturates, and through f32 or f64 if one
 * side is a small float.
 */
#include "ptx_decode_convert.h"

#include <stdio.h>
#include <string.h>

#include "ptx_decode_float.h"

static int is_whole(const struct ptx_type *type)
{
	return type->kind == 's' || type->kind == 'u' || type->kind == 'b';
}

/* Least and most of a whole type; as unsigned numbers of 64 bits. */
static uint64_t least(const struct ptx_type *type)
{
	return type->kind == 's' ? 0 - (1ull << (type->size * 8 - 1)) : 0;
}

static uint64_t most(const struct ptx_type *type)
{
	uint64_t all = type->size == 8 ? UINT64_MAX : (1ull << type->size * 8) - 1;
	return type->kind == 's' ? all >> 1 : all;
}

/* Clamps 64-bit numbers of the source's sign to the range of `to`. */
static int clamp(struct ptx_reader *reader, const struct ptx_type *to, const struct ptx_type *from,
		 int32_t place)
{
	if (from->kind == 'u')
		return ptx_lane_step(reader, "min_u64", 8, place, place,
				     ptx_constant(reader, most(to), 8), 0);
	if (!ptx_lane_step(reader, "max_s64", 8, place, place, ptx_constant(reader, least(to), 8),
			   0))
		return 0;
	return (to->kind == 'u' && to->size == 8) ||
	       ptx_lane_step(reader, "min_s64", 8, place, place, ptx_constant(reader, most(to), 8),
			     0);
}

static int whole_to_whole(struct ptx_reader *reader, const struct ptx_type *to,
			  const struct ptx_type *from, int32_t d, int32_t a)
{
	if (!ptx_has(reader, "sat"))
		return ptx_resize_step(reader, d, to->size, a, from->size, from->kind == 's');
	int32_t wide = ptx_scratch(reader);
	return ptx_resize_step(reader, wide, 8, a, from->size, from->kind == 's') &&
	       clamp(reader, to, from, wide) && ptx_resize_step(reader, d, to->size, wide, 8, 0);
}

/* A place of a type for one in between. */
static const struct ptx_type *type_named(const char *name)
{
	return ptx_find_type(name, strlen(name));
}

static int float_to_small(struct ptx_reader *reader, const struct ptx_type *to, int32_t d,
			  int32_t single)
{
	if (ptx_has(reader, "relu") && !ptx_lane_step(reader, "relu_f32", 4, single, single, 0, 0))
		return 0;
	if (ptx_has(reader, "sat") && !ptx_lane_step(reader, "unit_f32", 4, single, single, 0, 0))
		return 0;
	if (!ptx_narrow(reader, to->kind, ptx_direction_of(reader), d, single))
		return 0;
	return !ptx_has(reader, "satfinite") ||
	       ptx_lane_step(reader, to->kind == 't' ? "finite_bf16" : "finite_f16", 2, d, d, 0, 0);
}

static int whole_to_float(struct ptx_reader *reader, const struct ptx_type *to,
			  const struct ptx_type *from, int32_t d, int32_t a)
{
	char name[24];
	size_t size = from->size < 4 ? 4 : from->size;
	int32_t wide = a;
	if (size != from->size) {
		wide = ptx_scratch(reader);
		if (!ptx_resize_step(reader, wide, size, a, from->size, from->kind == 's'))
			return 0;
	}
	int small = to->size == 2;
	int32_t made = small ? ptx_scratch(reader) : d;
	snprintf(name, sizeof name, "%s_%c%zu", small || to->size == 8 ? "double" : "float",
		 from->kind == 's' ? 's' : 'u', size * 8);
	if (!ptx_round_step(reader, name, ptx_direction_of(reader), small ? 8 : to->size, made,
			    wide, 0, 0))
		return 0;
	if (small) {
		int32_t single = ptx_scratch(reader);
		return ptx_lane_step(reader, "odd_f64", 4, single, made, 0, 0) &&
		       float_to_small(reader, to, d, single);
	}
	return !ptx_has(reader, "sat") ||
	       ptx_lane_step(reader, to->size == 8 ? "unit_f64" : "unit_f32", to->size, d, d, 0, 0);
}

/* .rni, .rzi, .rmi, .rpi: to a whole number in the same float type. */
static int to_integral(struct ptx_reader *reader, size_t size, int32_t d, int32_t a)
{
	const char *stem = ptx_has(reader, "rzi")   ? "toward"
			   : ptx_has(reader, "rmi") ? "floor"
			   : ptx_has(reader, "rpi") ? "ceil"
						    : "integral";
	char name[24];
	snprintf(name, sizeof name, "%s_f%zu", stem, size * 8);
	return ptx_lane_step(reader, name, size, d, a, 0, 0);
}

static int rounds_to_integral(const struct ptx_reader *reader)
{
	return ptx_has(reader, "rni") || ptx_has(reader, "rzi") || ptx_has(reader, "rmi") ||
	       ptx_has(reader, "rpi");
}

/* An f16, bf16 or flushed f32 as f32; an f64 stays. */
static int32_t workable(struct ptx_reader *reader, const struct ptx_type *from, int32_t a,
			size_t *size)
{
	*size = from->size == 8 ? 8 : 4;
	if (from->size == 2)
		return ptx_widen(reader, from->kind, a);
	return ptx_flushed(reader, from->size == 4 && ptx_has(reader, "ftz"), a);
}

static int float_to_whole(struct ptx_reader *reader, const struct ptx_type *to,
			  const struct ptx_type *from, int32_t d, int32_t a)
{
	char name[32];
	size_t size, whole = to->size < 4 ? 4 : to->size;
	int32_t in = workable(reader, from, a, &size), integral = ptx_scratch(reader);
	char kind = to->kind == 's' ? 's' : 'u';
	if (!to_integral(reader, size, integral, in))
		return 0;
	snprintf(name, sizeof name, "whole_%c%zu_f%zu", kind, whole * 8, size * 8);
	if (whole == to->size)
		return ptx_lane_step(reader, name, whole, d, integral, 0, 0);
	int32_t made = ptx_scratch(reader);
	const char *lower = kind == 's' ? "max_s32" : "max_u32";
	const char *upper = kind == 's' ? "min_s32" : "min_u32";
	return ptx_lane_step(reader, name, 4, made, integral, 0, 0) &&
	       ptx_lane_step(reader, lower, 4, made, made, ptx_constant(reader, least(to), 4), 0) &&
	       ptx_lane_step(reader, upper, 4, made, made, ptx_constant(reader, most(to), 4), 0) &&
	       ptx_resize_step(reader, d, to->size, made, 4, 0);
}

/* An f32 that will be rounded again: an f64 is rounded to odd. */
static int32_t single_of(struct ptx_reader *reader, size_t size, int32_t in)
{
	int32_t single = ptx_scratch(reader);
	ptx_lane_step(reader, size == 8 ? "odd_f64" : "mov_b32", 4, single, in, 0, 0);
	return single;
}

static int finish_float(struct ptx_reader *reader, const struct ptx_type *to, int32_t d)
{
	if (to->size == 4 && ptx_has(reader, "ftz") &&
	    !ptx_lane_step(reader, "flush_f32", 4, d, d, 0, 0))
		return 0;
	return !ptx_has(reader, "sat") ||
	       ptx_lane_step(reader, to->size == 8 ? "unit_f64" : "unit_f32", to->size, d, d, 0, 0);
}

static int float_to_float(struct ptx_reader *reader, const struct ptx_type *to,
			  const struct ptx_type *from, int32_t d, int32_t a)
{
	size_t size;
	int32_t in = workable(reader, from, a, &size);
	if (rounds_to_integral(reader)) {
		int32_t integral = ptx_scratch(reader);
		if (!to_integral(reader, size, integral, in))
			return 0;
		in = integral;
	}
	if (to->size == 2)
		return float_to_small(reader, to, d, single_of(reader, size, in));
	int fine = to->size == size ? ptx_resize_step(reader, d, size, in, size, 0)
		   : to->size == 8  ? ptx_lane_step(reader, "widen_f32", 8, d, in, 0, 0)
				    : ptx_round_step(reader, "narrow_f64", ptx_direction_of(reader),
						     4, d, in, 0, 0);
	return fine && finish_float(reader, to, d);
}

static int to_tf32(struct ptx_reader *reader)
{
	const char *name = ptx_has(reader, "rna")  ? "tf32_rna"
			   : ptx_has(reader, "rz") ? "tf32_rz"
						   : "tf32_rn";
	int32_t a = ptx_fetch(reader, 1, 4, type_named("f32"));
	return ptx_lane_step(reader, name, 4, ptx_target(reader, 0, 4, 0), a, 0, 0);
}

/* d = {low half: b, high half: a} of two f32. */
static int to_pair(struct ptx_reader *reader, const struct ptx_type *to)
{
	const struct ptx_type *f32_type = type_named("f32");
	int32_t half[2];
	for (unsigned i = 0; i < 2; i++) {
		int32_t single = ptx_scratch(reader), a = ptx_fetch(reader, 2 - i, 4, f32_type);
		half[i] = ptx_scratch(reader);
		if (!ptx_lane_step(reader, "mov_b32", 4, single, a, 0, 0) ||
		    !float_to_small(reader, to, half[i], single))
			return 0;
	}
	return ptx_lane_step(reader, "pack_32_16", 4, ptx_target(reader, 0, 4, 0), half[0], half[1],
			     0);
}

/* Pairs of 8-bit floats from two f32 or one f16x2, and to f16x2. */
static int to_bytes(struct ptx_reader *reader, const struct ptx_type *to,
		    const struct ptx_type *from)
{
	int32_t byte[2];
	const char *name = to->name[1] == '4' ? "e4m3_f32" : "e5m2_f32";
	int32_t both = from->pair ? ptx_fetch(reader, 1, 4, NULL) : 0;
	for (unsigned i = 0; i < 2; i++) {
		int32_t single = ptx_scratch(reader);
		byte[i] = ptx_scratch(reader);
		if (from->pair) {
			int32_t part = ptx_scratch(reader);
			ptx_lane_step(reader, i ? "high_16_32" : "cut_16_32", 2, part, both, 0, 0);
			single = ptx_widen(reader, from->kind, part);
		} else {
			ptx_lane_step(reader, "mov_b32", 4, single,
				      ptx_fetch(reader, 2 - i, 4, type_named("f32")), 0, 0);
		}
		if (ptx_has(reader, "relu"))
			ptx_lane_step(reader, "relu_f32", 4, single, single, 0, 0);
		if (!ptx_lane_step(reader, name, 1, byte[i], single, 0, 0))
			return 0;
	}
	return ptx_lane_step(reader, "pack_16_8", 2, ptx_target(reader, 0, 2, 0), byte[0], byte[1],
			     0);
}

static int from_bytes(struct ptx_reader *reader, const struct ptx_type *to,
		      const struct ptx_type *from)
{
	int32_t half[2], both = ptx_fetch(reader, 1, 2, NULL);
	const char *name = from->name[1] == '4' ? "f32_e4m3" : "f32_e5m2";
	for (unsigned i = 0; i < 2; i++) {
		int32_t byte = ptx_scratch(reader), single = ptx_scratch(reader);
		half[i] = ptx_scratch(reader);
		if (!ptx_lane_step(reader, i ? "high_8_16" : "cut_8_16", 1, byte, both, 0, 0) ||
		    !ptx_lane_step(reader, name, 4, single, byte, 0, 0) ||
		    !float_to_small(reader, to, half[i], single))
			return 0;
	}
	return ptx_lane_step(reader, "pack_32_16", 4, ptx_target(reader, 0, 4, 0), half[0], half[1],
			     0);
}

int ptx_decode_cvt(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "rn rz rm rp rna rni rzi rmi rpi ftz sat satfinite relu") ||
	    !ptx_wants(reader, 2, 3))
		return 0;
	const struct ptx_type *to = ptx_type_at(reader, 0), *from = ptx_type_at(reader, 1);
	if (strcmp(to->name, "tf32") == 0)
		return to_tf32(reader);
	if (to->kind == 'x')
		return to_bytes(reader, to, from);
	if (from->kind == 'x')
		return to->pair && from_bytes(reader, to, from);
	if (to->pair)
		return reader->now.operands == 3 && to_pair(reader, to);
	if (reader->now.operands != 2 || from->pair || !(is_whole(to) || ptx_is_float(to)) ||
	    !(is_whole(from) || ptx_is_float(from)))
		return ptx_refuse(reader, "%s: unknown conversion", reader->now.text);
	int32_t a = ptx_fetch(reader, 1, from->size, from);
	int32_t d = ptx_target(reader, 0, to->size, to->kind == 's');
	if (is_whole(to))
		return is_whole(from) ? whole_to_whole(reader, to, from, d, a)
				      : float_to_whole(reader, to, from, d, a);
	return is_whole(from) ? whole_to_float(reader, to, from, d, a)
			      : float_to_float(reader, to, from, d, a);
}

/* The window that an address lies in. */
int ptx_decode_isspacep(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "global shared local const param shared::cta") ||
	    !ptx_wants(reader, 2, 2))
		return 0;
	uint64_t window = ptx_has(reader, "local")   ? PTX_LOCAL_WINDOW
			  : ptx_has(reader, "param") ? PTX_PARAMETER_WINDOW
			  : ptx_has(reader, "shared") || ptx_has(reader, "shared::cta")
				  ? PTX_SHARED_WINDOW
				  : 0;
	int32_t a = ptx_fetch(reader, 1, 8, NULL), t = ptx_scratch(reader);
	return ptx_lane_step(reader, "and_b64", 8, t, a, ptx_constant(reader, PTX_WINDOW_MASK, 8),
			     0) &&
	       ptx_lane_step(reader, "eq_b64", 4, ptx_target(reader, 0, 4, 0), t,
			     ptx_constant(reader, window, 8), 0);
}
