/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Appends text and numbers to a function or a bounded buffer, and counts what does not fit.
 */
#include "program/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float_modes.h"
#include "program/cast.h"

void tn_sink_init(struct tn_sink *sink, char *buffer, size_t size)
{
	*sink = (struct tn_sink){.buffer = buffer, .size = size};
	if (size)
		buffer[0] = '\0';
}

void tn_sink_append(struct tn_sink *sink, const char *text, size_t length)
{
	if (sink->write) {
		sink->write(sink->user, text, length);
	} else if (sink->length + 1 < sink->size) {
		size_t room = sink->size - 1 - sink->length;
		size_t taken = length < room ? length : room;
		memcpy(sink->buffer + sink->length, text, taken);
		sink->buffer[sink->length + taken] = '\0';
	}
	sink->length += length;
}

void tn_sink_add(struct tn_sink *sink, const char *text)
{
	tn_sink_append(sink, text, strlen(text));
}

void tn_sink_format(struct tn_sink *sink, const char *format, ...)
{
	char line[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	tn_sink_add(sink, line);
}

/* Replaces the locale's decimal point, whatever bytes it has, by '.'. */
static void neutralise(char *text)
{
	char *point = text;
	while (*point == '-' || (*point >= '0' && *point <= '9'))
		point++;
	if (!*point || *point == 'e')
		return;
	char *rest = point;
	while (*rest && *rest != 'e' && (*rest < '0' || *rest > '9'))
		rest++;
	*point = '.';
	memmove(point + 1, rest, strlen(rest) + 1);
}

static void add_floating(struct tn_sink *sink, tn_dtype dtype, double value)
{
	char text[48];
	int most = dtype == TN_F32 ? 9 : 17;
	if (isnan(value) || isinf(value)) {
		tn_sink_add(sink, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	struct tn_float_modes modes;
	tn_float_modes_standard(&modes);
	for (int digits = 1; digits <= most; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		double back = dtype == TN_F32 ? (double)strtof(text, NULL) : strtod(text, NULL);
		if (back == value)
			break;
	}
	tn_float_modes_restore(&modes);
	neutralise(text);
	tn_sink_add(sink, text);
	if (!strpbrk(text, ".e"))
		tn_sink_add(sink, ".0");
}

void tn_sink_number(struct tn_sink *sink, tn_dtype dtype, uint64_t bits)
{
	if (dtype == TN_BOOL)
		tn_sink_add(sink, bits & 0xff ? "true" : "false");
	else if (tn_is_floating(dtype))
		add_floating(sink, dtype, tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits)));
	else
		tn_sink_format(sink, "%" PRId64, (int64_t)tn_cast_bits(dtype, TN_I64, bits));
}
