/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a JSON text may not exceed, checked before a parser builds a tree from it.
 */
#ifndef TN_IO_JSON_LIMITS_H
#define TN_IO_JSON_LIMITS_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/backend.h>

#define TN_JSON_MAX_DEPTH 4

struct tn_json_limits {
	unsigned depth;                         /* at most TN_JSON_MAX_DEPTH */
	uint64_t commas[TN_JSON_MAX_DEPTH + 1]; /* in all at each depth; depth 1 is the outermost */
	uint64_t innermost;                     /* commas in one array or object at `depth` */
};

/* Walks over the text: it must begin with '{' and may end, after the brace that closes it, in spaces
 * (0x20) and nothing else.  TN_FORMAT, TN_LIMIT; `where` (a file) and base + position are named in
 * the error.  What is between the brackets is the parser's business. */
tn_status tn_json_check(const char *text, size_t size, const struct tn_json_limits *limits,
			const char *operation, const char *where, uint64_t base,
			struct tn_error_info *error);

#endif
