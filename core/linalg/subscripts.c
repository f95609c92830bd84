/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads subscripts from left to right:
 *     subscripts = term {"," term} ["->" term]        term = {letter} ["..." {letter}]
 * with blanks between any two of these.  Letters, and the axes of "..." counted from the last one,
 * get labels in the order in which they appear.
 */
#include "linalg/subscripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"

enum { LETTERS = 128, NONE = -1 };

struct reader {
	struct tn_runtime *runtime;
	const char *operation;
	const char *text;
	size_t at; /* the next character */
	const tn_array *const *operands;
	struct tn_subscripts *out;
	int of_letter[LETTERS];       /* its label, or NONE */
	int of_ellipsis[TN_MAX_RANK]; /* the same of axis -1 - i of "..." */
	int n_ellipsis;               /* the axes of the longest "..." */
	/* Of a label: */
	char letters[TN_MOST_LABELS]; /* '.': an axis of "..." */
	int n_uses[TN_MOST_LABELS];   /* axes of operands */
	int owners[TN_MOST_LABELS];   /* the operand that gave the length */
};

/* One term as it stands. */
struct term {
	int n;
	char letters[TN_MAX_RANK];
	size_t columns[TN_MAX_RANK];
	int ellipsis; /* how many letters precede "...", or NONE */
	size_t end;   /* the column behind it */
};

/* ---- Characters ------------------------------------------------------------------------------*/

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char next(struct reader *r)
{
	while (r->text[r->at] == ' ')
		r->at++;
	return r->text[r->at];
}

static tn_status refuse(struct reader *r, const char *expected)
{
	const unsigned char c = (unsigned char)r->text[r->at];
	char found[16] = "the end";
	if (c > ' ' && c < 127)
		snprintf(found, sizeof(found), "'%c'", c);
	else if (c)
		snprintf(found, sizeof(found), "byte %d", c);
	return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation,
			       "subscripts, column %zu: expected %s, found %s", r->at + 1, expected,
			       found);
}

static tn_status read_ellipsis(struct reader *r, struct term *term)
{
	if (term->ellipsis != NONE)
		return refuse(r, "no second '...'");
	for (int i = 0; i < 3; i++, r->at++) {
		if (r->text[r->at] != '.')
			return refuse(r, "'...'");
	}
	term->ellipsis = term->n;
	return TN_OK;
}

/* The term up to the next character that is no part of it; TN_SHAPE: more than `most` letters. */
static tn_status read_term(struct reader *r, int most, struct term *term)
{
	*term = (struct term){.ellipsis = NONE};
	for (char c = next(r); is_letter(c) || c == '.'; c = next(r)) {
		if (c == '.') {
			tn_status status = read_ellipsis(r, term);
			if (status)
				return status;
			continue;
		}
		if (term->n == most)
			return tn_runtime_fail(r->runtime, TN_SHAPE, r->operation,
					       "subscripts, column %zu: expected at most %d "
					       "letters, one for each axis, found more",
					       r->at + 1, most);
		term->columns[term->n] = ++r->at;
		term->letters[term->n++] = c;
	}
	term->end = r->at + 1;
	return TN_OK;
}

/* ---- Operands --------------------------------------------------------------------------------*/

/* *label, which is made unless it is there. */
static tn_status take_label(struct reader *r, int *label, char letter)
{
	struct tn_subscripts *out = r->out;
	if (*label != NONE)
		return TN_OK;
	if (out->n_labels == TN_MOST_LABELS)
		return tn_runtime_fail(r->runtime, TN_LIMIT, r->operation,
				       "subscripts: expected at most %d different axes, found more",
				       TN_MOST_LABELS);
	*label = out->n_labels++;
	r->letters[*label] = letter;
	out->lengths[*label] = 1;
	return TN_OK;
}

static tn_status refuse_length(struct reader *r, int label, int operand, int64_t length, int other,
			       int64_t expected, size_t column)
{
	const char letter[] = {r->letters[label], 0};
	return tn_runtime_fail(r->runtime, TN_SHAPE, r->operation,
			       "subscripts, column %zu: the length of %s is %" PRId64
			       " in operand %d, %" PRId64 " in operand %d",
			       column, *letter == '.' ? "an axis of '...'" : letter, expected,
			       other, length, operand);
}

/* The next axis of an operand has this label.  In another operand, 1 broadcasts. */
static tn_status use_label(struct reader *r, int operand, int label, size_t column)
{
	struct tn_term *term = &r->out->operands[operand];
	const int64_t *shape = r->operands[operand]->shape, length = shape[term->n];
	int64_t *common = &r->out->lengths[label];
	for (int i = 0; i < term->n; i++) {
		if (term->labels[i] == label && shape[i] != length)
			return refuse_length(r, label, operand, length, operand, shape[i], column);
	}
	if (*common != length && *common != 1 && length != 1)
		return refuse_length(r, label, operand, length, r->owners[label], *common, column);
	if (*common == 1) {
		*common = length;
		r->owners[label] = operand;
	}
	term->labels[term->n++] = label;
	r->n_uses[label]++;
	return TN_OK;
}

static tn_status use_letter(struct reader *r, int operand, const struct term *term, int i)
{
	int *label = &r->of_letter[(int)term->letters[i]];
	tn_status status = take_label(r, label, term->letters[i]);
	return status ? status : use_label(r, operand, *label, term->columns[i]);
}

static tn_status use_ellipsis(struct reader *r, int operand, int n, size_t column)
{
	tn_status status = TN_OK;
	if (n > r->n_ellipsis)
		r->n_ellipsis = n;
	for (int i = n - 1; i >= 0 && !status; i--) {
		status = take_label(r, &r->of_ellipsis[i], '.');
		if (!status)
			status = use_label(r, operand, r->of_ellipsis[i], column);
	}
	return status;
}

static tn_status read_operand(struct reader *r, int operand)
{
	const tn_array *a = r->operands[operand];
	char text[TN_SHAPE_TEXT];
	struct term term;
	tn_status status = read_term(r, a->rank, &term);
	if (status)
		return status;
	if (r->text[r->at] && !strchr(",-", r->text[r->at]))
		return refuse(r, "a letter, '...', ',' or '->'");
	if (term.ellipsis == NONE && term.n < a->rank)
		return tn_runtime_fail(r->runtime, TN_SHAPE, r->operation,
				       "subscripts, column %zu: expected %d letters, or '...', for "
				       "operand %d of shape %s, found %d",
				       term.end, a->rank, operand, tn_array_text(a, text), term.n);
	for (int i = 0; i <= term.n && !status; i++) {
		if (i == term.ellipsis)
			status = use_ellipsis(r, operand, a->rank - term.n, term.end);
		if (i < term.n && !status)
			status = use_letter(r, operand, &term, i);
	}
	return status;
}

/* ---- The result ------------------------------------------------------------------------------*/

static tn_status add_to_result(struct reader *r, int label)
{
	struct tn_term *result = &r->out->result;
	if (result->n == TN_MAX_RANK)
		return tn_runtime_fail(r->runtime, TN_LIMIT, r->operation,
				       "the result has more than %d axes", TN_MAX_RANK);
	result->labels[result->n++] = label;
	return TN_OK;
}

static tn_status add_ellipsis(struct reader *r)
{
	tn_status status = TN_OK;
	for (int i = r->n_ellipsis - 1; i >= 0 && !status; i--)
		status = add_to_result(r, r->of_ellipsis[i]);
	return status;
}

static tn_status add_letter(struct reader *r, char letter, size_t column)
{
	const struct tn_term *result = &r->out->result;
	const int label = r->of_letter[(int)letter];
	if (label == NONE)
		return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation,
				       "subscripts, column %zu: no operand has an axis %c", column,
				       letter);
	for (int i = 0; i < result->n; i++) {
		if (result->labels[i] == label)
			return tn_runtime_fail(r->runtime, TN_INVALID_ARGUMENT, r->operation,
					       "subscripts, column %zu: %c is in the result twice",
					       column, letter);
	}
	return add_to_result(r, label);
}

static tn_status read_result(struct reader *r)
{
	struct term term;
	tn_status status = read_term(r, TN_MAX_RANK, &term);
	if (!status && next(r))
		return refuse(r, "a letter, '...' or the end");
	if (!status && term.ellipsis == NONE && r->n_ellipsis)
		return refuse(r, "'...', which has axes in an operand, in the result");
	for (int i = 0; i <= term.n && !status; i++) {
		if (i == term.ellipsis)
			status = add_ellipsis(r);
		if (i < term.n && !status)
			status = add_letter(r, term.letters[i], term.columns[i]);
	}
	return status;
}

/* Without "->": the axes of "...", then the letters that occur once. */
static tn_status imply_result(struct reader *r)
{
	tn_status status = add_ellipsis(r);
	for (int c = 0; c < LETTERS && !status; c++) {
		if (r->of_letter[c] != NONE && r->n_uses[r->of_letter[c]] == 1)
			status = add_to_result(r, r->of_letter[c]);
	}
	return status;
}

static tn_status read_all(struct reader *r, int n)
{
	for (int i = 0; i < n; i++) {
		if (i && next(r) != ',')
			return refuse(r, "',' and the letters of the next operand");
		r->at += i > 0;
		tn_status status = read_operand(r, i);
		if (status)
			return status;
	}
	if (!next(r))
		return imply_result(r);
	if (strncmp(r->text + r->at, "->", 2) != 0)
		return refuse(r, "'->' or the end behind the last operand");
	r->at += 2;
	return read_result(r);
}

uint64_t tn_term_set(const struct tn_term *term)
{
	uint64_t set = 0;
	for (int i = 0; i < term->n; i++)
		set |= tn_label_bit(term->labels[i]);
	return set;
}

tn_status tn_subscripts_read(const char *operation, const char *text, int n,
			     const tn_array *const *operands, struct tn_subscripts *subscripts)
{
	struct reader r = {.runtime = operands[0]->runtime,
			   .operation = operation,
			   .text = text,
			   .operands = operands,
			   .out = subscripts};
	*subscripts = (struct tn_subscripts){.n_operands = n};
	memset(r.of_letter, NONE, sizeof(r.of_letter));
	memset(r.of_ellipsis, NONE, sizeof(r.of_ellipsis));
	return read_all(&r, n);
}
