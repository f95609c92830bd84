/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Any bytes as the subscripts of einsum.  Those before them choose the operands: how many, and of
 * each its axes and their lengths.
 */
#include <string.h>
#include <tenon/tenon.h>

#include "file.h"

enum { MOST_OPERANDS = 5, MOST_AXES = 4, LENGTHS = 3, MOST_TEXT = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tn_context *context;

static void open_context(void)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	fuzz_require(tn_context_open(&options, &context, NULL) == TN_OK);
}

/* The next byte, or 0. */
static unsigned take(const uint8_t **data, size_t *size)
{
	if (!*size)
		return 0;
	--*size;
	return *(*data)++;
}

static const tn_array *make_operand(const uint8_t **data, size_t *size)
{
	int64_t shape[MOST_AXES];
	const int rank = (int)(take(data, size) % (MOST_AXES + 1));
	for (int i = 0; i < rank; i++)
		shape[i] = take(data, size) % LENGTHS;
	return tn_ones(context, TN_F32, rank, shape);
}

/* Each step takes two of those that are left. */
static void check_path(int n, const int *path)
{
	for (int i = 0; i < n - 1; i++)
		fuzz_require(0 <= path[2 * i] && path[2 * i] < path[2 * i + 1] &&
			     path[2 * i + 1] < n - i);
}

static void check(const char *text, int n, const tn_array *const *operands)
{
	int path[2 * MOST_OPERANDS];
	const tn_array *result = tn_einsum(text, n, operands);
	fuzz_require((result == NULL) == (tn_error(context) != NULL));
	if (!result)
		fuzz_require(strstr(tn_error(context)->text, "subscripts") ||
			     tn_error(context)->status == TN_LIMIT);
	tn_error_clear(context);
	tn_status status = tn_einsum_path(text, n, operands, path);
	fuzz_require(!result == (status != TN_OK));
	if (result)
		check_path(n, path);
	tn_error_clear(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const tn_array *operands[MOST_OPERANDS];
	char text[MOST_TEXT + 1];
	if (!context)
		open_context();
	fuzz_require(tn_scope_begin(context) == TN_OK);
	const int n = 1 + (int)(take(&data, &size) % MOST_OPERANDS);
	for (int i = 0; i < n; i++)
		operands[i] = make_operand(&data, &size);
	const size_t length = size < MOST_TEXT ? size : MOST_TEXT;
	if (length)
		memcpy(text, data, length);
	text[length] = '\0';
	check(text, n, operands);
	tn_scope_end(context, NULL);
	return 0;
}
