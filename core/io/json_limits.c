/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A parser turns two bytes ("[,") into a hundred bytes of tree, and brackets into stack.  This walk
 * takes neither memory nor stack, and bounds both for the parser that comes after it.
 */
#include "io/json_limits.h"

#include "base/error.h"

struct walk {
	const struct tn_json_limits *limits;
	unsigned depth;
	int in_string;
	int escaped;
	uint64_t commas[TN_JSON_MAX_DEPTH + 1];
	uint64_t innermost;
};

/* What is wrong with the byte, or NULL. */
static const char *open_bracket(struct walk *walk)
{
	if (walk->depth == walk->limits->depth)
		return "brackets nested too deeply";
	walk->depth++;
	walk->innermost = 0;
	return NULL;
}

static const char *count_comma(struct walk *walk)
{
	if (walk->commas[walk->depth]++ >= walk->limits->commas[walk->depth])
		return "too many items";
	if (walk->depth == walk->limits->depth && walk->innermost++ >= walk->limits->innermost)
		return "too many items in one list";
	return NULL;
}

static void step_in_string(struct walk *walk, char byte)
{
	if (walk->escaped)
		walk->escaped = 0;
	else if (byte == '\\')
		walk->escaped = 1;
	else if (byte == '"')
		walk->in_string = 0;
}

static const char *step(struct walk *walk, char byte)
{
	switch (byte) {
	case '"':
		walk->in_string = 1;
		return NULL;
	case '{':
	case '[':
		return open_bracket(walk);
	case '}':
	case ']':
		walk->depth--;
		return NULL;
	case ',':
		return count_comma(walk);
	}
	return NULL;
}

tn_status tn_json_check(const char *text, size_t size, const struct tn_json_limits *limits,
			const char *operation, const char *where, uint64_t base,
			struct tn_error_info *error)
{
	struct walk walk = {.limits = limits};
	size_t i;
	if (size == 0)
		return tn_fail(error, TN_FORMAT, operation,
			       "%s: offset %llu: expected '{', found nothing", where,
			       (unsigned long long)base);
	if (text[0] != '{')
		return tn_fail(error, TN_FORMAT, operation,
			       "%s: offset %llu: expected '{', found byte %02x", where,
			       (unsigned long long)base, (unsigned char)text[0]);
	for (i = 0; i < size && (i == 0 || walk.depth > 0); i++) {
		const char *wrong = NULL;
		if (walk.in_string)
			step_in_string(&walk, text[i]);
		else
			wrong = step(&walk, text[i]);
		if (wrong)
			return tn_fail(error, TN_LIMIT, operation, "%s: offset %llu: %s", where,
				       (unsigned long long)(base + i), wrong);
	}
	for (; i < size; i++) {
		if (text[i] != ' ')
			return tn_fail(error, TN_FORMAT, operation,
				       "%s: offset %llu: expected spaces after the closing brace, "
				       "found byte %02x",
				       where, (unsigned long long)(base + i),
				       (unsigned char)text[i]);
	}
	return TN_OK;
}
