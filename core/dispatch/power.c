/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writes the program of an integer power: square and multiply, one step for each bit of the
 * exponent.
 */
#include "dispatch/power.h"

#include <stdio.h>

#include "base/dtype.h"
#include "program/sink.h"

enum { HALF = 32 };

const char *tn_power_text(tn_dtype dtype, int is_high, char *buffer)
{
	int is_signed = !tn_is_unsigned(dtype);
	int bits = 8 * (int)tn_dtype_size(dtype) - is_signed;
	struct tn_sink sink;
	tn_sink_init(&sink, buffer, TN_POWER_TEXT);
	tn_sink_format(&sink,
		       is_high ? "n = y >> %d\ns = x\nr = low\n" : "n = y\ns = x\nr = x*0 + 1\n",
		       HALF);
	for (int k = 0; k < HALF && is_high; k++)
		tn_sink_format(&sink, "s = s*s\n");
	bits = is_high ? bits - HALF : bits < HALF ? bits : HALF;
	for (int k = 0; k < bits; k++)
		tn_sink_format(&sink, "r = (n & 0x%llx) != 0 ? r*s : r\ns = s*s\n", 1ULL << k);
	if (is_signed && is_high)
		tn_sink_format(&sink, "z = y < 0 ? low : r\n");
	else if (is_signed)
		tn_sink_format(
			&sink,
			"z = y >= 0 ? r : x == 1 ? x : x == -1 ? ((y & 1) != 0 ? x : -x) : 0*x\n");
	else
		tn_sink_format(&sink, "z = r\n");
	return buffer;
}
