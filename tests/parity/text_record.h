/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays and texts of the recorded cases of record_text.py and record_testing.py.
 */
#ifndef TN_TESTS_PARITY_TEXT_RECORD_H
#define TN_TESTS_PARITY_TEXT_RECORD_H

#include <inttypes.h>
#include <stddef.h>

#include "base/bits.h"
#include "parity/functions.h"

enum { MOST_ELEMENTS = 4096, MOST_TEXT = 65536 };

struct text_array {
	int dtype, rank, is_counted;
	int64_t shape[TN_MAX_RANK], size;
	size_t n_words;
	uint64_t words[2 * MOST_ELEMENTS];
};

/* Reads "DTYPE RANK LENGTH...". */
static inline void text_array_begin(struct text_array *a, const char *line)
{
	int used, more;
	assert_int_equal(sscanf(line, "%d %d%n", &a->dtype, &a->rank, &used), 2);
	a->size = 1;
	a->n_words = 0;
	a->is_counted = 0;
	for (int i = 0; i < a->rank; i++, used += more) {
		assert_int_equal(sscanf(line + used, "%" SCNd64 "%n", &a->shape[i], &more), 1);
		a->size *= a->shape[i];
	}
	assert_true(a->size <= MOST_ELEMENTS);
}

/* Reads the words after "bits". */
static inline void text_array_words(struct text_array *a, const char *line)
{
	char *end;
	for (; *line != '\n' && a->n_words < 2 * MOST_ELEMENTS; line = end)
		a->words[a->n_words++] = strtoull(line, &end, 16);
}

static inline tn_array *text_array_make(tn_context *context, const struct text_array *a)
{
	static unsigned char data[16 * MOST_ELEMENTS];
	const int is_complex = a->dtype == TN_C64 || a->dtype == TN_C128;
	const size_t size = tn_dtype_size(a->dtype) >> is_complex;
	if (a->is_counted)
		return tn_reshape(tn_arange(context, a->dtype, 0, (double)a->size, 1), a->rank,
				  a->shape);
	assert_int_equal(a->n_words, a->size << is_complex);
	for (size_t i = 0; i < a->n_words; i++)
		bits_store(data + i * size, size, a->words[i]);
	return tn_from_host(context, a->dtype, a->rank, a->shape, data);
}

/* Adds the text of a line, "|TEXT", to those before; returns their new length. */
static inline size_t text_add_line(char text[MOST_TEXT], size_t length, const char *line)
{
	size_t more = strlen(line + 1);
	assert_true(length + more < MOST_TEXT);
	memcpy(text + length, line + 1, more + 1);
	return length + more;
}

#endif
