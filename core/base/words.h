/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lists of names in one string, "x low high": words with one blank between them.
 */
#ifndef TN_BASE_WORDS_H
#define TN_BASE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 0 for NULL. */
static inline uint32_t tn_count_words(const char *words)
{
	uint32_t n = words != NULL;
	for (; words && *words; words++)
		n += *words == ' ';
	return n;
}

/* The length of the first word; the next begins one further. */
static inline size_t tn_word_length(const char *words)
{
	return strcspn(words, " ");
}

#endif
