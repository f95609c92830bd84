/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tables of numbers as text, written.
 */
#include <tenon/files.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/bits.h"
#include "base/dtype.h"
#include "base/float_modes.h"
#include "base/new_file.h"
#include "base/text.h"
#include "io/file_call.h"
#include "text/element_text.h"
#include "text/host_elements.h"
#include "text/number_format.h"

#define OPERATION "savetxt"

/* Texts that are written at a time. */
enum { PIECE = 1 << 16 };

struct writer {
	struct tn_savetxt_options options;
	struct tn_number_format format;
	struct tn_elements elements;
	int64_t n_rows, n_columns;
	struct tn_new_file file;
	struct tn_text text; /* not yet written */
};

/* ---- Elements --------------------------------------------------------------------------------*/

static void put_integer(struct writer *w, size_t i)
{
	const tn_dtype dtype = w->elements.dtype;
	const size_t size = tn_dtype_size(dtype);
	uint64_t bits = bits_load((const char *)w->elements.data + i * size, size);
	const uint64_t top = (uint64_t)1 << (8 * size - 1);
	const int is_negative = !tn_is_unsigned(dtype) && dtype != TN_BOOL && (bits & top) != 0;
	tn_integer_put(&w->text, &w->format, is_negative ? (top << 1) - bits : bits, is_negative);
}

/* " (a+bj)"; an imaginary part with a sign has no plus. */
static void put_complex(struct writer *w, size_t i)
{
	struct tn_text *text = &w->text;
	tn_text_add(text, " (");
	tn_number_put(text, &w->format, tn_element_part(&w->elements, i, 0));
	tn_text_add(text, "+");
	const size_t plus = text->length - 1;
	tn_number_put(text, &w->format, tn_element_part(&w->elements, i, 1));
	if (!text->failed && text->data[plus + 1] == '-') {
		memmove(text->data + plus, text->data + plus + 1, text->length - plus);
		text->length--;
	}
	tn_text_add(text, "j)");
}

static void put_element(struct writer *w, size_t i)
{
	if (tn_is_complex(w->elements.dtype))
		put_complex(w, i);
	else if (tn_is_floating(w->elements.dtype))
		tn_number_put(&w->text, &w->format, tn_element_part(&w->elements, i, 0));
	else
		put_integer(w, i);
}

/* ---- The file --------------------------------------------------------------------------------*/

/* Writes the text if there is much of it, or at the end. */
static tn_status flush(struct writer *w, size_t least, struct tn_error_info *error)
{
	if (w->text.failed)
		return tn_no_memory(error, OPERATION, w->file.path, NULL);
	if (w->text.length < least)
		return TN_OK;
	const tn_status status = tn_new_file_write(&w->file, w->text.data ? w->text.data : "",
						   w->text.length, error);
	w->text.length = 0;
	return status;
}

/* Each line after the prefix of comments. */
static void put_comment(struct writer *w, const char *lines)
{
	if (!lines || !*lines)
		return;
	tn_text_add(&w->text, w->options.comments);
	for (; *lines; lines++) {
		tn_text_append(&w->text, lines, 1);
		if (*lines == '\n')
			tn_text_add(&w->text, w->options.comments);
	}
	tn_text_add(&w->text, "\n");
}

static tn_status write_table(struct writer *w, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	put_comment(w, w->options.header);
	for (int64_t row = 0; !status && row < w->n_rows; row++) {
		for (int64_t column = 0; column < w->n_columns; column++) {
			if (column)
				tn_text_add(&w->text, w->options.delimiter);
			put_element(w, (size_t)(row * w->n_columns + column));
		}
		tn_text_add(&w->text, "\n");
		status = flush(w, PIECE, error);
	}
	put_comment(w, w->options.footer);
	return status ? status : flush(w, 1, error);
}

static tn_status write_file(struct writer *w, const char *path, struct tn_error_info *error)
{
	tn_status status = tn_new_file_begin(&w->file, path, OPERATION, error);
	if (status)
		return status;
	struct tn_float_modes modes;
	tn_text_init(&w->text);
	tn_float_modes_standard(&modes);
	status = write_table(w, error);
	tn_float_modes_restore(&modes);
	tn_text_release(&w->text);
	if (!status)
		return tn_new_file_commit(&w->file, error);
	tn_new_file_abandon(&w->file);
	return status;
}

/* ---- The call --------------------------------------------------------------------------------*/

static tn_status take_options(struct writer *w, struct tn_runtime *runtime,
			      const struct tn_savetxt_options *given)
{
	struct tn_savetxt_options *o = &w->options;
	size_t at;
	*o = tn_savetxt_defaults();
	const tn_status status = tn_runtime_take(runtime, o, sizeof(*o), given,
						 "struct tn_savetxt_options", OPERATION);
	if (status)
		return status;
	if (!o->fmt || !o->delimiter || !o->comments)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
				       "%s: expected a string, found NULL",
				       !o->fmt         ? "fmt"
				       : !o->delimiter ? "delimiter"
						       : "comments");
	if (o->reserved)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
				       "reserved: expected 0, found %" PRIu32, o->reserved);
	const char *expected = tn_number_format_parse(o->fmt, &w->format, &at);
	if (!expected)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
			       "fmt: '%.40s': expected %s at byte %zu", o->fmt, expected, at + 1);
}

static tn_status check_rank(struct writer *w, const tn_array *a)
{
	char shape[TN_SHAPE_TEXT];
	if (a->rank != 1 && a->rank != 2)
		return tn_runtime_fail(a->runtime, TN_SHAPE, OPERATION,
				       "expected an array of rank 1 or 2, found shape %s",
				       tn_array_text(a, shape));
	w->n_rows = a->shape[0];
	w->n_columns = a->rank == 2 ? a->shape[1] : 1;
	return TN_OK;
}

/* An integer conversion has no text for NaN and infinities. */
static tn_status check_numbers(const struct writer *w, struct tn_runtime *runtime)
{
	const int n_parts = tn_is_complex(w->elements.dtype) ? 2 : 1;
	if (w->format.conversion != 'd' || !tn_is_inexact(w->elements.dtype))
		return TN_OK;
	for (size_t i = 0; i < w->elements.n; i++) {
		for (int part = 0; part < n_parts; part++) {
			if (!isfinite(tn_element_part(&w->elements, i, part)))
				return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, OPERATION,
						       "fmt: '%.40s': expected finite numbers, "
						       "element %zu is not",
						       w->options.fmt, i);
		}
	}
	return TN_OK;
}

tn_status tn_savetxt(const char *path, const tn_array *a, const struct tn_savetxt_options *options)
{
	struct writer w = {0};
	struct tn_host_elements host;
	struct tn_error_info error;
	tn_status status = tn_begin_into(1, &a, OPERATION);
	if (status || (status = tn_file_call_check(a->runtime, OPERATION, path)) ||
	    (status = take_options(&w, a->runtime, options)) || (status = check_rank(&w, a)) ||
	    (status = tn_host_elements_fetch(a, OPERATION, &host)))
		return status;
	w.elements = (struct tn_elements){
		.dtype = a->dtype, .rank = a->rank, .n = (size_t)a->size, .data = host.data};
	status = check_numbers(&w, a->runtime);
	tn_error_reset(&error);
	if (!status) {
		status = write_file(&w, path, &error);
		if (status)
			tn_runtime_keep(a->runtime, &error);
	}
	tn_host_elements_release(&host);
	return status;
}
