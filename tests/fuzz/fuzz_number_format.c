/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Eight bytes of a number and a format of savetxt: what is accepted prints as printf does.
 */
#include <math.h>
#include <string.h>

#include "file.h"
#include "text/number_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A width or a precision in a known length, and at most this before the point. */
enum { ROOM = 2 * TN_NUMBER_FORMAT_MOST + 400 };

/* printf's text; where Python has another one, and Tenon follows it, the empty one. */
static void print(const struct tn_number_format *format, const char *text, double value, char *to)
{
	char own[2048];
	to[0] = '\0';
	/* With a precision Python keeps the zeros. */
	if (!isfinite(value) || (format->conversion == 'd' && format->precision >= 0))
		return;
	if (format->conversion != 'd') {
		snprintf(to, ROOM, text, value);
		return;
	}
	if (fabs(value) > 9e15)
		return;
	const int length = (int)strlen(text) - 1;
	snprintf(own, sizeof(own), "%.*sll%c", length, text, text[length]);
	snprintf(to, ROOM, own, (long long)value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_number_format format;
	struct tn_text written;
	double value;
	char expected[ROOM], *text;
	size_t at;
	if (size < sizeof(value) || size > 1000)
		return 0;
	memcpy(&value, data, sizeof(value));
	text = malloc(size - sizeof(value) + 1);
	fuzz_require(text != NULL);
	memcpy(text, data + sizeof(value), size - sizeof(value));
	text[size - sizeof(value)] = '\0';
	tn_text_init(&written);
	if (tn_number_format_parse(text, &format, &at)) {
		fuzz_require(at <= strlen(text));
	} else {
		tn_number_put(&written, &format, value);
		print(&format, text, value, expected);
		fuzz_require(!written.failed && written.length >= (size_t)format.width);
		fuzz_require(!expected[0] || !strcmp(written.data, expected));
	}
	tn_text_release(&written);
	free(text);
	return 0;
}
