/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A pull parser.  Guarantees: it allocates nothing, and recursion, in tn_json_skip alone, is
 * bounded; a decoded string is never longer than its text, so it fits in place.
 */
#include "base/json_reader.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static int is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* The byte at the reader's position; 0 at the end, which JSON never allows. */
static char current(const struct tn_json_reader *reader)
{
	return reader->at < reader->size ? reader->text[reader->at] : '\0';
}

tn_status tn_json_refuse(const struct tn_json_reader *reader, const char *expected,
			 struct tn_error_info *error)
{
	unsigned long long offset = reader->base + reader->at;
	if (reader->at >= reader->size)
		return tn_fail(error, TN_FORMAT, reader->operation,
			       "%s: offset %llu: expected %s, found the end of the text",
			       reader->where, offset, expected);
	return tn_fail(error, TN_FORMAT, reader->operation,
		       "%s: offset %llu: expected %s, found byte %02x", reader->where, offset,
		       expected, (unsigned char)reader->text[reader->at]);
}

char tn_json_peek(struct tn_json_reader *reader)
{
	while (reader->at < reader->size && reader->text[reader->at] &&
	       strchr(" \t\r\n", reader->text[reader->at]))
		reader->at++;
	return current(reader);
}

tn_status tn_json_take(struct tn_json_reader *reader, char byte, const char *expected,
		       struct tn_error_info *error)
{
	if (tn_json_peek(reader) != byte)
		return tn_json_refuse(reader, expected, error);
	reader->at++;
	return TN_OK;
}

tn_status tn_json_more(struct tn_json_reader *reader, char close, size_t n, int *more,
		       struct tn_error_info *error)
{
	*more = tn_json_peek(reader) != close;
	if (!*more)
		reader->at++;
	else if (n > 0)
		return tn_json_take(reader, ',', close == '}' ? "a comma or '}'" : "a comma or ']'",
				    error);
	return TN_OK;
}

/* ---- Strings -------------------------------------------------------------------------------- */

/* Four hexadecimal digits. */
static tn_status take_hexadecimal(struct tn_json_reader *reader, uint32_t *value,
				  struct tn_error_info *error)
{
	static const char digits[] = "0123456789abcdef";
	*value = 0;
	for (int i = 0; i < 4; i++) {
		char byte = current(reader);
		const char *digit = strchr(digits, byte >= 'A' && byte <= 'F' ? byte + 32 : byte);
		if (!byte || !digit)
			return tn_json_refuse(reader, "a hexadecimal digit", error);
		*value = *value << 4 | (uint32_t)(digit - digits);
		reader->at++;
	}
	return TN_OK;
}

/* Parses what follows \u: a character of UTF-16, which may be a surrogate pair.  Appends it as
 * UTF-8 at *to. */
static tn_status take_character(struct tn_json_reader *reader, char **to,
				struct tn_error_info *error)
{
	uint32_t code, low;
	tn_status status = take_hexadecimal(reader, &code, error);
	if (status)
		return status;
	if (code == 0) {
		reader->at -= 4;
		return tn_json_refuse(reader, "a character other than \\u0000", error);
	}
	if (code >= 0xd800 && code < 0xe000) {
		if (code >= 0xdc00 || reader->size - reader->at < 2 ||
		    memcmp(reader->text + reader->at, "\\u", 2) != 0)
			return tn_json_refuse(reader, "both halves of a surrogate pair", error);
		reader->at += 2;
		status = take_hexadecimal(reader, &low, error);
		if (status)
			return status;
		if (low < 0xdc00 || low >= 0xe000) {
			reader->at -= 4;
			return tn_json_refuse(reader, "a low surrogate", error);
		}
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	*to += tn_utf8_encode(code, *to);
	return TN_OK;
}

/* A backslash and the escape after it. */
static tn_status take_escape(struct tn_json_reader *reader, char **to, struct tn_error_info *error)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	reader->at++;
	char letter = current(reader);
	if (letter == 'u') {
		reader->at++;
		return take_character(reader, to, error);
	}
	const char *place = strchr(letters, letter);
	if (!letter || !place)
		return tn_json_refuse(reader, "an escape character", error);
	*(*to)++ = meanings[place - letters];
	reader->at++;
	return TN_OK;
}

/* An unescaped character. */
static tn_status take_plain(struct tn_json_reader *reader, char **to, struct tn_error_info *error)
{
	const char *from = reader->text + reader->at;
	size_t length = tn_utf8_length(from, reader->size - reader->at);
	if (length == 0)
		return tn_json_refuse(reader, "UTF-8", error);
	if ((unsigned char)*from < ' ')
		return tn_json_refuse(reader, "an escaped control character", error);
	memmove(*to, from, length);
	*to += length;
	reader->at += length;
	return TN_OK;
}

tn_status tn_json_string(struct tn_json_reader *reader, char **string, struct tn_error_info *error)
{
	tn_status status = tn_json_take(reader, '"', "a string", error);
	char *begin = reader->text + reader->at, *to = begin;
	while (!status && reader->at < reader->size && current(reader) != '"')
		status = current(reader) == '\\' ? take_escape(reader, &to, error)
						 : take_plain(reader, &to, error);
	if (!status && reader->at >= reader->size)
		status = tn_json_refuse(reader, "the end of a string", error);
	if (status)
		return status;
	reader->at++;
	*to = '\0'; /* the closing quote, or a byte before it */
	*string = begin;
	return TN_OK;
}

tn_status tn_json_key(struct tn_json_reader *reader, char **key, struct tn_error_info *error)
{
	tn_status status = tn_json_string(reader, key, error);
	return !status ? tn_json_take(reader, ':', "a colon", error) : status;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* A number as written: sign, digits and exponent. */
struct number {
	int negative;
	uint64_t digits;  /* the first 19 or so */
	int dropped;      /* more integer digits than these: too large for an integer */
	int64_t exponent; /* value = digits * 10^exponent */
	int whole;        /* no fraction, no exponent */
};

/* At least one digit. */
static tn_status take_digits(struct tn_json_reader *reader, struct number *number, int fraction,
			     struct tn_error_info *error)
{
	if (!is_digit(current(reader)))
		return tn_json_refuse(reader, "a digit", error);
	for (; is_digit(current(reader)); reader->at++) {
		uint64_t digit = (uint64_t)(current(reader) - '0');
		int fits = number->digits <= (UINT64_MAX - 9) / 10;
		if (fits)
			number->digits = number->digits * 10 + digit;
		number->dropped |= !fits && !fraction;
		number->exponent += !fits - fraction;
	}
	return TN_OK;
}

static tn_status take_number(struct tn_json_reader *reader, struct number *number,
			     struct tn_error_info *error)
{
	tn_status status = TN_OK;
	*number = (struct number){.whole = 1, .negative = tn_json_peek(reader) == '-'};
	if (number->negative)
		reader->at++;
	if (!is_digit(current(reader)))
		return tn_json_refuse(reader, "a number", error);
	if (current(reader) == '0')
		reader->at++; /* no digit may follow it */
	else
		status = take_digits(reader, number, 0, error);
	if (!status && is_digit(current(reader)))
		status = tn_json_refuse(reader, "a number without leading zeros", error);
	if (!status && current(reader) == '.') {
		reader->at++;
		number->whole = 0;
		status = take_digits(reader, number, 1, error);
	}
	if (status || (current(reader) != 'e' && current(reader) != 'E'))
		return status;
	reader->at++;
	int64_t exponent = 0;
	int negative = current(reader) == '-';
	if (negative || current(reader) == '+')
		reader->at++;
	if (!is_digit(current(reader)))
		return tn_json_refuse(reader, "a digit", error);
	for (; is_digit(current(reader)); reader->at++) {
		if (exponent < 100000)
			exponent = exponent * 10 + (current(reader) - '0');
	}
	number->exponent += negative ? -exponent : exponent;
	number->whole = 0;
	return TN_OK;
}

tn_status tn_json_integer(struct tn_json_reader *reader, int64_t *value,
			  struct tn_error_info *error)
{
	struct number number;
	struct tn_json_reader begin = *reader;
	tn_status status = take_number(reader, &number, error);
	if (status)
		return status;
	tn_json_peek(&begin);
	if (!number.whole)
		return tn_json_refuse(&begin, "an integer", error);
	if (number.dropped || number.digits > INT64_MAX)
		return tn_json_refuse(&begin, "an integer below 2^63", error);
	*value = number.negative ? -(int64_t)number.digits : (int64_t)number.digits;
	return TN_OK;
}

tn_status tn_json_number(struct tn_json_reader *reader, double *value, struct tn_error_info *error)
{
	struct number number;
	tn_status status = take_number(reader, &number, error);
	if (status)
		return status;
	/* Steps of 10 lose 2^-53 each; beyond 400 of them a double is 0 or infinite. */
	int is_fraction = number.exponent < 0;
	int64_t steps = is_fraction ? -number.exponent : number.exponent;
	double power = 1, result = (double)number.digits;
	for (int64_t i = 0; i < steps && i < 22; i++)
		power *= 10; /* exact */
	result = is_fraction ? result / power : result * power;
	for (int64_t i = 22; i < steps && i < 400; i++)
		result = is_fraction ? result / 10 : result * 10;
	*value = number.negative ? -result : result;
	return TN_OK;
}

/* ---- Any value ------------------------------------------------------------------------------ */

static tn_status skip_scalar(struct tn_json_reader *reader, struct tn_error_info *error)
{
	static const char *const words[] = {"true", "false", "null"};
	char *string;
	struct number number;
	char byte = tn_json_peek(reader);
	if (byte == '"')
		return tn_json_string(reader, &string, error);
	if (byte == '-' || is_digit(byte))
		return take_number(reader, &number, error);
	for (int i = 0; i < 3; i++) {
		size_t length = strlen(words[i]);
		if (reader->size - reader->at >= length &&
		    memcmp(reader->text + reader->at, words[i], length) == 0) {
			reader->at += length;
			return TN_OK;
		}
	}
	return tn_json_refuse(reader, "a value", error);
}

static tn_status skip_nested(struct tn_json_reader *reader, int depth, struct tn_error_info *error)
{
	char *key;
	char byte = tn_json_peek(reader);
	if (byte != '{' && byte != '[')
		return skip_scalar(reader, error);
	if (depth == 0)
		return tn_json_refuse(reader, "fewer nested brackets", error);
	reader->at++;
	tn_status status = TN_OK;
	int more = 1;
	for (size_t n = 0; !status; n++) {
		status = tn_json_more(reader, byte == '{' ? '}' : ']', n, &more, error);
		if (!more)
			break;
		if (!status && byte == '{')
			status = tn_json_key(reader, &key, error);
		if (!status)
			status = skip_nested(reader, depth - 1, error);
	}
	return status;
}

tn_status tn_json_skip(struct tn_json_reader *reader, struct tn_error_info *error)
{
	return skip_nested(reader, TN_JSON_MAX_DEPTH, error);
}

tn_status tn_json_finish(const struct tn_json_reader *reader, struct tn_error_info *error)
{
	struct tn_json_reader rest = *reader;
	while (rest.at < rest.size && rest.text[rest.at] == ' ')
		rest.at++;
	if (rest.at < rest.size)
		return tn_json_refuse(&rest, "spaces after the closing brace", error);
	return TN_OK;
}
