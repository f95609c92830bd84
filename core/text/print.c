/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Brackets, lines and summaries.  The rules are those of numpy/_core/arrayprint.py.
 */
#include "text/print.h"

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "base/float_modes.h"
#include "base/memory.h"
#include "text/element_text.h"
#include "text/float_text.h"
#include "text/host_elements.h"
#include "text/print_options.h"

void tn_string_free(char *string)
{
	tn_mem_free(string);
}

/* ---- Elements --------------------------------------------------------------------------------*/

/* The `items` first and last along each axis that is longer. */
static tn_array *corners_of(tn_array *a, int64_t items)
{
	for (int i = 0; a && i < a->rank; i++) {
		if (a->shape[i] <= 2 * items)
			continue;
		const tn_array *ends[] = {tn_slice(a, i, 0, items, 1),
					  tn_slice(a, i, a->shape[i] - items, INT64_MIN, 1)};
		a = tn_concatenate(2, ends, i);
	}
	return a;
}

/* ---- Layout ----------------------------------------------------------------------------------*/

struct layout {
	struct tn_text *text;
	const struct tn_print_options *options;
	const struct tn_elements *elements;
	struct tn_element_format format;
	int rank;
	int64_t shape[TN_MAX_RANK]; /* of the elements */
	int is_cut[TN_MAX_RANK];    /* "..." stands between the items of this axis */
	size_t separator;           /* its length without blanks at the end */
	size_t next;                /* the element that is printed next */
	int column;                 /* of the line */
	struct tn_text word;
};

static size_t length_without_blanks(const char *string)
{
	size_t length = strlen(string);
	while (length && string[length - 1] == ' ')
		length--;
	return length;
}

/* Adds a word, on a new line if it does not fit and a new line is shorter. */
static void put_word(struct layout *l, const char *word, int indent, int width)
{
	struct tn_text *text = l->text;
	const int length = (int)strlen(word);
	if (l->column + length > width && l->column > indent) {
		while (!text->failed && text->length && text->data[text->length - 1] == ' ')
			text->length--;
		tn_text_add(text, "\n");
		tn_text_fill(text, ' ', indent);
		l->column = indent;
	}
	tn_text_add(text, word);
	l->column += length;
}

static void put_element(struct layout *l, int indent, int width)
{
	l->word.length = 0;
	tn_element_put(&l->word, &l->format, l->elements, l->next++);
	if (!l->word.failed)
		put_word(l, l->word.data, indent, width);
}

static void put_separator(struct layout *l)
{
	tn_text_add(l->text, l->options->separator);
	l->column += (int)strlen(l->options->separator);
}

/* The items of the last axis. */
static void put_row(struct layout *l, int indent, int width)
{
	const int64_t length = l->shape[l->rank - 1];
	width -= l->separator > 1 ? (int)l->separator : 1;
	l->column = indent;
	for (int64_t i = 0; i < length; i++) {
		if (i)
			put_separator(l);
		if (l->is_cut[l->rank - 1] && i == length / 2) {
			put_word(l, "...", indent, width);
			put_separator(l);
		}
		put_element(l, indent, width);
	}
}

/* Between the items of another axis: line feeds, one more for each axis within. */
static void put_line_end(struct layout *l, int axis, int indent)
{
	tn_text_append(l->text, l->options->separator, l->separator);
	tn_text_fill(l->text, '\n', l->rank - axis - 1);
	tn_text_fill(l->text, ' ', indent);
}

/* The items of an axis, in brackets; no deeper than TN_MAX_RANK. */
static void put_axis(struct layout *l, int axis, int indent, int width)
{
	const int64_t length = l->shape[axis];
	tn_text_add(l->text, "[");
	if (axis == l->rank - 1)
		put_row(l, indent, width);
	for (int64_t i = 0; axis < l->rank - 1 && i < length; i++) {
		if (i)
			put_line_end(l, axis, indent);
		if (l->is_cut[axis] && i == length / 2) {
			tn_text_add(l->text, "...");
			put_line_end(l, axis, indent);
		}
		put_axis(l, axis + 1, indent + 1, width - 1);
	}
	tn_text_add(l->text, "]");
}

/* Prints `elements`, those of `a` or its corners. */
static void put_array(struct tn_text *text, const tn_array *a, const tn_array *shown,
		      const struct tn_elements *elements, const struct tn_print_options *o)
{
	struct layout l = {.text = text,
			   .options = o,
			   .elements = elements,
			   .rank = a->rank,
			   .separator = length_without_blanks(o->separator)};
	const int indent = 1 + (int)strlen(o->prefix);
	const int width = o->linewidth - (int)strlen(o->suffix);
	for (int i = 0; i < a->rank; i++) {
		l.shape[i] = shown->shape[i];
		l.is_cut[i] = shown->shape[i] != a->shape[i];
	}
	tn_text_init(&l.word);
	tn_element_format_init(&l.format, elements, o);
	if (a->rank)
		put_axis(&l, 0, indent, width);
	else
		tn_element_put(text, &l.format, elements, 0);
	text->failed |= l.word.failed;
	tn_text_release(&l.word);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

/* Appends the text of array2string; `is_alone`: an array of rank 0 as a number.  Keeps the error.
 */
static tn_status print(struct tn_text *text, const char *operation, const tn_array *a,
		       const struct tn_print_options *o, int is_alone)
{
	struct tn_host_elements host = {NULL, 0};
	if (!a->size) {
		tn_text_add(text, "[]");
		return TN_OK;
	}
	tn_status status = tn_scope_begin(a->runtime->context);
	if (status)
		return status;
	tn_array *shown = tn_array_untracked(operation, a);
	if (shown && a->size > o->threshold)
		shown = corners_of(shown, o->edgeitems);
	status = shown ? tn_host_elements_fetch(shown, operation, &host) : a->runtime->error.status;
	const struct tn_elements elements = {.dtype = a->dtype,
					     .rank = a->rank,
					     .n = shown ? (size_t)shown->size : 0,
					     .data = host.data};
	struct tn_float_modes modes;
	tn_float_modes_standard(&modes);
	if (!status && is_alone && !a->rank)
		tn_element_put_alone(text, &elements, 0);
	else if (!status)
		put_array(text, a, shown, &elements, o);
	tn_float_modes_restore(&modes);
	tn_host_elements_release(&host);
	tn_scope_end(a->runtime->context, NULL);
	return status;
}

static char *finish(struct tn_text *text, const char *operation, const tn_array *a,
		    tn_status status)
{
	char *string = status ? NULL : tn_text_take(text);
	if (!status && !string)
		tn_runtime_fail(a->runtime, TN_OUT_OF_MEMORY, operation,
				"no host memory for the text of %" PRId64 " elements", a->size);
	tn_text_release(text);
	return string;
}

char *tn_array_str(const tn_array *a, const struct tn_print_options *options)
{
	static const char operation[] = "array_str";
	struct tn_print_options o;
	struct tn_text text;
	if (!a || tn_runtime_ready(a->runtime) ||
	    tn_print_options_take(a->runtime, operation, options, &o))
		return NULL;
	o.separator = " ";
	o.prefix = o.suffix = "";
	tn_text_init(&text);
	return finish(&text, operation, a, print(&text, operation, a, &o, 1));
}

char *tn_array2string(const tn_array *a, const struct tn_print_options *options)
{
	static const char operation[] = "array2string";
	struct tn_print_options o;
	struct tn_text text;
	if (!a || tn_runtime_ready(a->runtime) ||
	    tn_print_options_take(a->runtime, operation, options, &o))
		return NULL;
	tn_text_init(&text);
	return finish(&text, operation, a, print(&text, operation, a, &o, 0));
}

const char *tn_printed_dtype(tn_dtype dtype)
{
	static const char *const names[TN_DTYPES] = {
		[TN_BOOL] = "bool",   [TN_I8] = "int8",       [TN_I16] = "int16",
		[TN_I32] = "int32",   [TN_I64] = "int64",     [TN_U8] = "uint8",
		[TN_U16] = "uint16",  [TN_U32] = "uint32",    [TN_U64] = "uint64",
		[TN_F16] = "float16", [TN_BF16] = "bfloat16", [TN_F32] = "float32",
		[TN_F64] = "float64", [TN_C64] = "complex64", [TN_C128] = "complex128",
	};
	return names[dtype];
}

/* Do the elements' texts imply it, as of NumPy's default dtypes? */
static int dtype_is_implied(const tn_array *a)
{
	return a->size && (a->dtype == TN_BOOL || a->dtype == TN_I64 || a->dtype == TN_F64 ||
			   a->dtype == TN_C128);
}

void tn_put_shape(struct tn_text *text, const tn_array *a)
{
	tn_text_add(text, "(");
	for (int i = 0; i < a->rank; i++)
		tn_text_format(text, i ? ", %" PRId64 : "%" PRId64, a->shape[i]);
	tn_text_add(text, a->rank == 1 ? ",)" : ")");
}

/* Shape and dtype, on a new line if the last one has no room. */
static void put_extras(struct tn_text *text, const tn_array *a, const struct tn_print_options *o)
{
	struct tn_text extras;
	tn_text_init(&extras);
	if ((!a->size && !(a->rank == 1 && a->shape[0] == 0)) || a->size > o->threshold) {
		tn_text_add(&extras, "shape=");
		tn_put_shape(&extras, a);
	}
	if (!dtype_is_implied(a))
		tn_text_format(&extras, "%sdtype=%s", extras.length ? ", " : "",
			       tn_printed_dtype(a->dtype));
	if (extras.length && !text->failed) {
		const char *line = strrchr(text->data, '\n');
		const size_t column = text->length + 1 - (size_t)(line ? line + 1 - text->data : 0);
		const int fits = column + extras.length + 2 <= (size_t)o->linewidth;
		tn_text_add(text, fits ? ", " : ",\n      ");
		tn_text_append(text, extras.data, extras.length);
	}
	text->failed |= extras.failed;
	tn_text_release(&extras);
}

char *tn_array_repr(const tn_array *a, const struct tn_print_options *options)
{
	static const char operation[] = "array_repr";
	struct tn_print_options o;
	struct tn_text text;
	if (!a || tn_runtime_ready(a->runtime) ||
	    tn_print_options_take(a->runtime, operation, options, &o))
		return NULL;
	o.separator = ", ";
	o.prefix = "array(";
	o.suffix = ")";
	tn_text_init(&text);
	tn_text_add(&text, o.prefix);
	const tn_status status = print(&text, operation, a, &o, 0);
	if (!status)
		put_extras(&text, a, &o);
	tn_text_add(&text, ")");
	return finish(&text, operation, a, status);
}
