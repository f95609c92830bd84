/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A parser of only the Python literals that NumPy writes: strings without escapes, True and False,
 * tuples of integers.  Guarantees: each key occurs exactly once, no key is unknown, and only white
 * space follows the closing brace.
 */
#include "io/npy_header.h"

#include <string.h>

#include "base/error.h"
#include "io/bytes.h"

#define OPERATION TN_NPY_OPERATION

/* Keys seen, as bits. */
enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };

struct cursor {
	const char *text;
	size_t size;
	size_t at;
	const char *label;
	uint64_t base;
};

static tn_status refuse(const struct cursor *cursor, const char *expected,
			struct tn_error_info *error)
{
	unsigned long long offset = cursor->base + cursor->at;
	if (cursor->at >= cursor->size)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %llu: expected %s, found the end of the header",
			       cursor->label, offset, expected);
	return tn_fail(error, TN_FORMAT, OPERATION, "%s: offset %llu: expected %s, found byte %02x",
		       cursor->label, offset, expected, (unsigned char)cursor->text[cursor->at]);
}

static void skip_space(struct cursor *cursor)
{
	while (cursor->at < cursor->size && cursor->text[cursor->at] &&
	       strchr(" \t\r\n", cursor->text[cursor->at]))
		cursor->at++;
}

/* Consumes `byte` after white space, if it is next. */
static int accept(struct cursor *cursor, char byte)
{
	skip_space(cursor);
	if (cursor->at >= cursor->size || cursor->text[cursor->at] != byte)
		return 0;
	cursor->at++;
	return 1;
}

/* A quoted string without escapes, without its quotes. */
static tn_status read_string(struct cursor *cursor, const char **string, size_t *length,
			     struct tn_error_info *error)
{
	char quote = accept(cursor, '\'') ? '\'' : accept(cursor, '"') ? '"' : '\0';
	if (!quote)
		return refuse(cursor, "a quoted string", error);
	*string = cursor->text + cursor->at;
	while (cursor->at < cursor->size && cursor->text[cursor->at] != quote) {
		if (cursor->text[cursor->at] == '\\')
			return refuse(cursor, "a string without escapes", error);
		cursor->at++;
	}
	if (cursor->at >= cursor->size)
		return refuse(cursor, "a closing quote", error);
	*length = (size_t)(cursor->text + cursor->at - *string);
	cursor->at++;
	return TN_OK;
}

static int equals(const char *string, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(string, word, length);
}

static const struct {
	const char *name;
	tn_dtype dtype;
} types[] = {
	{"b1", TN_BOOL}, {"i1", TN_I8},  {"i2", TN_I16}, {"i4", TN_I32},   {"i8", TN_I64},
	{"u1", TN_U8},   {"u2", TN_U16}, {"u4", TN_U32}, {"u8", TN_U64},   {"f2", TN_F16},
	{"f4", TN_F32},  {"f8", TN_F64}, {"c8", TN_C64}, {"c16", TN_C128},
};

const char *tn_npy_type_name(tn_dtype dtype)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].dtype == dtype)
			return types[i].name;
	}
	return NULL;
}

static tn_status read_type(struct cursor *cursor, struct tn_npy_header *header,
			   struct tn_error_info *error)
{
	const char *name;
	size_t length;
	skip_space(cursor);
	if (cursor->at < cursor->size && cursor->text[cursor->at] == '[')
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "%s: offset %llu: structured elements are not supported",
			       cursor->label, (unsigned long long)(cursor->base + cursor->at));
	tn_status status = read_string(cursor, &name, &length, error);
	if (status)
		return status;
	int has_order = length > 0 && strchr("<>|=", name[0]) && name[0];
	for (size_t i = 0; has_order && i < sizeof(types) / sizeof(types[0]); i++) {
		if (equals(name + 1, length - 1, types[i].name))
			header->dtype = types[i].dtype;
	}
	if (!header->dtype)
		return tn_fail(error, TN_UNSUPPORTED, OPERATION,
			       "%s: key 'descr': elements of type '%.*s' are not read",
			       cursor->label, length < 40 ? (int)length : 40, name);
	if (name[0] == '|' && tn_dtype_size(header->dtype) > 1)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: key 'descr': expected a byte order, found '%.*s'",
			       cursor->label, (int)length, name);
	header->reversed = tn_host_is_little_endian() ? name[0] == '>' : name[0] == '<';
	return TN_OK;
}

static tn_status read_order(struct cursor *cursor, struct tn_npy_header *header,
			    struct tn_error_info *error)
{
	skip_space(cursor);
	size_t left = cursor->size - cursor->at;
	if (left >= 4 && !memcmp(cursor->text + cursor->at, "True", 4)) {
		header->column_major = 1;
		cursor->at += 4;
	} else if (left >= 5 && !memcmp(cursor->text + cursor->at, "False", 5)) {
		cursor->at += 5;
	} else {
		return refuse(cursor, "True or False", error);
	}
	return TN_OK;
}

/* (), (3,), (2, 3) or (2, 3,): a single length needs its comma.  Python 2 wrote long integers, as
 * (2L, 3L). */
static tn_status read_shape(struct cursor *cursor, struct tn_npy_header *header,
			    struct tn_error_info *error)
{
	int comma = 1;
	if (!accept(cursor, '('))
		return refuse(cursor, "'('", error);
	while (!accept(cursor, ')')) {
		if (!comma)
			return refuse(cursor, "',' or ')'", error);
		if (header->rank == TN_MAX_RANK)
			return tn_fail(error, TN_LIMIT, OPERATION,
				       "%s: key 'shape': expected at most %d axes, found more",
				       cursor->label, TN_MAX_RANK);
		int64_t length = 0;
		size_t begin = cursor->at;
		while (cursor->at < cursor->size && cursor->text[cursor->at] >= '0' &&
		       cursor->text[cursor->at] <= '9') {
			if (length > (INT64_MAX - 9) / 10)
				return refuse(cursor, "a length below 2^63", error);
			length = length * 10 + (cursor->text[cursor->at++] - '0');
		}
		if (cursor->at == begin)
			return refuse(cursor, "a length", error);
		if (cursor->at < cursor->size && cursor->text[cursor->at] == 'L')
			cursor->at++;
		header->shape[header->rank++] = length;
		comma = accept(cursor, ',');
	}
	return header->rank == 1 && !comma ? refuse(cursor, "',' within (n,)", error) : TN_OK;
}

/* One 'key': value.  Adds the key's bit to *seen. */
static tn_status read_item(struct cursor *cursor, struct tn_npy_header *header, int *seen,
			   struct tn_error_info *error)
{
	const char *key;
	size_t length;
	tn_status status = read_string(cursor, &key, &length, error);
	if (status)
		return status;
	int bit = equals(key, length, "descr")           ? DESCR
		  : equals(key, length, "fortran_order") ? ORDER
		  : equals(key, length, "shape")         ? SHAPE
							 : 0;
	if (!bit || *seen & bit)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: offset %llu: expected descr, fortran_order and shape, each "
			       "once, found '%.*s'",
			       cursor->label,
			       (unsigned long long)(cursor->base + (size_t)(key - cursor->text)),
			       length < 40 ? (int)length : 40, key);
	*seen |= bit;
	if (!accept(cursor, ':'))
		return refuse(cursor, "':'", error);
	if (bit == DESCR)
		return read_type(cursor, header, error);
	return bit == ORDER ? read_order(cursor, header, error) : read_shape(cursor, header, error);
}

tn_status tn_npy_parse_header(const char *text, size_t size, const char *label, uint64_t base,
			      struct tn_npy_header *out, struct tn_error_info *error)
{
	struct cursor cursor = {.text = text, .size = size, .label = label, .base = base};
	struct tn_npy_header header = {0};
	int seen = 0, comma = 1;
	if (!accept(&cursor, '{'))
		return refuse(&cursor, "'{'", error);
	while (!accept(&cursor, '}')) {
		if (!comma)
			return refuse(&cursor, "',' or '}'", error);
		tn_status status = read_item(&cursor, &header, &seen, error);
		if (status)
			return status;
		comma = accept(&cursor, ',');
	}
	skip_space(&cursor);
	if (cursor.at != cursor.size)
		return refuse(&cursor, "the end of the header", error);
	if (seen != ALL)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected the keys descr, fortran_order and shape, found no %s",
			       label,
			       !(seen & DESCR)   ? "descr"
			       : !(seen & ORDER) ? "fortran_order"
						 : "shape");
	*out = header;
	return TN_OK;
}

void tn_npy_put_header(struct tn_text *text, const char *type, uint32_t rank, const int64_t *shape)
{
	char order = type[1] == '1' && !type[2] ? '|' : tn_host_is_little_endian() ? '<' : '>';
	tn_text_append(text, TN_NPY_MAGIC "\1\0\0\0", 10);
	tn_text_format(text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, type);
	for (uint32_t i = 0; i < rank; i++)
		tn_text_format(text, i ? ", %lld" : "%lld", (long long)shape[i]);
	tn_text_add(text, rank == 1 ? ",), }" : "), }");
	while (text->length % 64 != 63 && !text->failed)
		tn_text_add(text, " ");
	tn_text_add(text, "\n");
	if (!text->failed) {
		text->data[8] = (char)((text->length - 10) & 255);
		text->data[9] = (char)((text->length - 10) >> 8);
	}
}
