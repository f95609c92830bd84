/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parses the lines of dtype_cells.txt, and compares results with them.
 */
#include "cells.h"

#include <inttypes.h>
#include <stdio.h>

#include "program/cast.h"
#include "tools/conform/dtype_cells.h"

enum { N_LINES = sizeof(lines) / sizeof(lines[0]) };

/* ---- Values ----------------------------------------------------------------------------------*/

static size_t n_parts(tn_dtype dtype)
{
	return tn_is_complex(dtype) ? 2 : 1;
}

static uint64_t parse(tn_dtype dtype, const char *text, char **end)
{
	if (dtype == TN_F64)
		return tn_bits_of_f64(strtod(text, end));
	if (tn_is_floating(dtype))
		return tn_cast_bits(TN_F64, dtype, tn_bits_of_f64((double)strtof(text, end)));
	uint64_t bits = text[0] == '-' ? (uint64_t)strtoll(text, end, 10) : strtoull(text, end, 10);
	return tn_cast_bits(TN_U64, dtype, bits);
}

/* The rest of a line.  0: it is malformed. */
static int parse_values(const char *text, tn_dtype dtype, struct values *values)
{
	memset(values, 0, sizeof(*values));
	values->dtype = dtype;
	for (; *text; values->n++) {
		if (values->n == CELL_ELEMENTS)
			return 0;
		for (size_t part = 0; part < n_parts(dtype); part++) {
			char *end;
			values->parts[values->n][part] = parse(tn_real_dtype(dtype), text, &end);
			if (end == text)
				return 0;
			text = end + (*end == ' ');
		}
	}
	return values->n > 0;
}

void values_to_bytes(const struct values *values, unsigned char *bytes)
{
	size_t size = tn_dtype_size(tn_real_dtype(values->dtype));
	for (size_t i = 0; i < values->n; i++) {
		for (size_t part = 0; part < n_parts(values->dtype); part++, bytes += size)
			memcpy(bytes, &values->parts[i][part], size);
	}
}

void values_of_bytes(struct values *values, const unsigned char *bytes)
{
	size_t size = tn_dtype_size(tn_real_dtype(values->dtype));
	memset(values->parts, 0, sizeof(values->parts));
	for (size_t i = 0; i < values->n; i++) {
		for (size_t part = 0; part < n_parts(values->dtype); part++, bytes += size)
			memcpy(&values->parts[i][part], bytes, size);
	}
}

static double number(const struct values *values, size_t i, size_t part)
{
	return tn_f64_of_bits(
		tn_cast_bits(tn_real_dtype(values->dtype), TN_F64, values->parts[i][part]));
}

const char *value_text(const struct values *values, size_t i, char text[VALUE_TEXT])
{
	tn_dtype dtype = values->dtype;
	uint64_t bits = values->parts[i][0];
	if (tn_is_complex(dtype))
		snprintf(text, VALUE_TEXT, "%.17g%+.17gi", number(values, i, 0),
			 number(values, i, 1));
	else if (tn_is_floating(dtype))
		snprintf(text, VALUE_TEXT, "%.*g", dtype == TN_F64 ? 17 : 9, number(values, i, 0));
	else if (tn_is_unsigned(dtype) || dtype == TN_BOOL)
		snprintf(text, VALUE_TEXT, "%" PRIu64, bits);
	else
		snprintf(text, VALUE_TEXT, "%" PRId64, (int64_t)tn_cast_bits(dtype, TN_I64, bits));
	return text;
}

int value_is_kept(const struct kit *kit, const struct values *values, size_t i)
{
	for (size_t part = 0; part < n_parts(values->dtype); part++) {
		double own = number(values, i, part);
		if (!isnan(own) && kit_representable(kit, own) != own)
			return 0;
	}
	return 1;
}

/* ---- Lines -----------------------------------------------------------------------------------*/

/* 0: there is none of that name, as for "-". */
static tn_dtype dtype_named(const char *name)
{
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (!strcmp(name, tn_dtype_name(dtype)))
			return dtype;
	}
	return 0;
}

static int is_pool(const char *line)
{
	return !strncmp(line, "pool ", 5);
}

int cell_next(struct kit *kit, size_t *line, struct cell *cell)
{
	char a[8], b[8], result[16];
	int used = 0;
	size_t n = *line;
	while (n < N_LINES && is_pool(lines[n]))
		n++;
	*line = n + 1;
	if (n >= N_LINES)
		return 0;
	memset(cell, 0, sizeof(*cell));
	if (sscanf(lines[n], "%23s %7s %7s %7s %15s %n", cell->operation, a, b, cell->pool, result,
		   &used) != 5)
		kit_give_up(kit, "dtype_cells.txt: expected a cell, found '%s'", lines[n]);
	cell->a = dtype_named(a);
	cell->b = dtype_named(b);
	cell->is_refused = !strcmp(result, "TN_DTYPE");
	if (cell->is_refused)
		return 1;
	int used_by_tolerance = 0;
	if (sscanf(lines[n] + used, "%7s %n", cell->tolerance, &used_by_tolerance) != 1 ||
	    !parse_values(lines[n] + used + used_by_tolerance, dtype_named(result), &cell->values))
		kit_give_up(kit, "dtype_cells.txt: expected values, found '%s'", lines[n]);
	return 1;
}

void cell_pool(struct kit *kit, const char *name, tn_dtype dtype, struct values *pool)
{
	char head[32];
	int length = snprintf(head, sizeof(head), "pool %s %s ", name, tn_dtype_name(dtype));
	for (size_t n = 0; n < N_LINES; n++) {
		if (!strncmp(lines[n], head, (size_t)length) &&
		    parse_values(lines[n] + length, dtype, pool))
			return;
	}
	kit_give_up(kit, "dtype_cells.txt has no line '%s'", head);
}

/* ---- Tolerances ------------------------------------------------------------------------------*/

static int part_is_close(double expected, double found, double tolerance)
{
	if (isnan(expected) || isnan(found))
		return isnan(expected) && isnan(found);
	return expected == found || fabs(expected - found) <= tolerance;
}

/* What a device that computes f32 in a narrower type adds to the error of an element: one rounding
 * of an operation that has no other error, else some of values as large as result and operand. */
static double rounding_error(const struct kit *kit, const struct cell *cell,
			     const struct values *operand, size_t i)
{
	const tn_dtype dtype = cell->values.dtype;
	const double result = fabs(number(&cell->values, i, 0));
	const double x = i < operand->n ? fabs(number(operand, i, 0)) : 0;
	if (tn_is_complex(dtype) || !isfinite(result))
		return 0;
	if (cell->tolerance[0] == '=')
		return kit_rounding(kit, TN_FAMILY_MAP, dtype, result);
	return 4 * kit_rounding(kit, TN_FAMILY_MAP, dtype, isfinite(x) ? fmax(result, x) : result);
}

int cell_is_close(const struct kit *kit, const struct cell *cell, const struct values *found,
		  const struct values *operand, size_t i)
{
	const struct values *expected = &cell->values;
	const char *tolerance = cell->tolerance;
	tn_dtype part = tn_real_dtype(expected->dtype);
	double size = 0, allowed;
	int is_same = 1;
	for (size_t p = 0; p < n_parts(expected->dtype); p++) {
		double e = number(expected, i, p);
		is_same &= expected->parts[i][p] == found->parts[i][p] ||
			   (tn_is_floating(part) && isnan(e) && isnan(number(found, i, p)));
		size = hypot(size, e);
	}
	const double rounding = rounding_error(kit, cell, operand, i);
	if (is_same || (rounding == 0 && tolerance[0] == '=') || !tn_is_floating(part))
		return is_same;
	if (tolerance[0] == '=')
		tolerance = "0";
	if (tolerance[0] == 'x') {
		double x = fabs(number(operand, i, 0));
		/* Infinity times 0, or times the rounding error of that 0. */
		if (isinf(x) && isnan(size))
			return 1;
		tolerance++;
		size = fmax(size, x);
	}
	allowed = (isfinite(size) ? atof(tolerance) * kit_unit(part, size) : 0) + rounding;
	for (size_t p = 0; p < n_parts(expected->dtype); p++) {
		if (!part_is_close(number(expected, i, p), number(found, i, p), allowed))
			return 0;
	}
	return 1;
}
