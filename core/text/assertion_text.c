/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The text of a failed assertion: what was asserted, what is wrong, both arrays.
 */
#include "text/assertion_text.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/ufunc.h>

#include "base/dtype.h"
#include "base/memory.h"
#include "text/number_format.h"
#include "text/print.h"

/* ---- Beginning and end -----------------------------------------------------------------------*/

static void begin_text(struct tn_text *text, const struct tn_assertion *a)
{
	tn_text_init(text);
	tn_text_append(text, a->header.data ? a->header.data : "", a->header.length);
	text->failed |= a->header.failed;
	tn_text_add(text, "\n");
	tn_text_add(text, a->options.err_msg ? a->options.err_msg : "");
	tn_text_add(text, "\n");
}

/* The first three lines of an array's text. */
static tn_status put_array(struct tn_text *text, const struct tn_assertion *a, int k)
{
	struct tn_print_options options = tn_print_defaults();
	options.precision = (int32_t)a->options.precision;
	char *array = tn_array_repr(a->array[k], &options);
	if (!array)
		return a->runtime->error.status;
	size_t n_lines = 0, third = 0;
	for (size_t i = 0; array[i]; i++) {
		if (array[i] == '\n' && ++n_lines == 3)
			third = i;
	}
	tn_text_format(text, "\n %s: ", a->name[k]);
	tn_text_append(text, array, n_lines > 3 ? third : strlen(array));
	if (n_lines > 3)
		tn_text_add(text, "...");
	tn_string_free(array);
	return TN_OK;
}

static char *end_text(struct tn_text *text, const struct tn_assertion *a)
{
	tn_status status = put_array(text, a, 0);
	if (!status)
		status = put_array(text, a, 1);
	char *string = status ? NULL : tn_text_take(text);
	if (!status && !string)
		tn_runtime_no_memory(a->runtime, a->operation, "the text");
	tn_text_release(text);
	return string;
}

char *tn_assertion_text_of_whole(struct tn_assertion *a, const char *reason)
{
	struct tn_text text;
	begin_text(&text, a);
	tn_text_add(&text, reason);
	return end_text(&text, a);
}

char *tn_assertion_text_of_shapes(struct tn_assertion *a)
{
	struct tn_text text;
	begin_text(&text, a);
	tn_text_add(&text, "(shapes ");
	tn_put_shape(&text, a->array[0]);
	tn_text_add(&text, ", ");
	tn_put_shape(&text, a->array[1]);
	tn_text_add(&text, " mismatch)");
	return end_text(&text, a);
}

char *tn_assertion_text_of_dtypes(struct tn_assertion *a)
{
	struct tn_text text;
	begin_text(&text, a);
	tn_text_format(&text, "(dtypes %s, %s mismatch)", tn_printed_dtype(a->array[0]->dtype),
		       tn_printed_dtype(a->array[1]->dtype));
	return end_text(&text, a);
}

/* ---- Elements --------------------------------------------------------------------------------*/

/* The array whose shape the comparison has. */
static const tn_array *larger_of(const struct tn_assertion *a)
{
	return a->array[a->array[0]->rank ? 0 : 1];
}

static void put_count(struct tn_text *text, const struct tn_assertion *a)
{
	const struct tn_number_format general = {.precision = 3, .conversion = 'g'};
	tn_text_format(text, "Mismatched elements: %" PRId64 " / %" PRId64 " (", a->n_wrong, a->n);
	tn_number_put(text, &general, 100 * (double)a->n_wrong / (double)a->n);
	tn_text_add(text, "%)");
}

/* " [0, 1]: 1.0 (ACTUAL), 2.0 (DESIRED)" */
static void put_place(struct tn_text *text, const struct tn_assertion *a, int64_t place)
{
	const tn_array *whole = larger_of(a);
	int64_t index[TN_MAX_RANK], rest = place;
	for (int axis = whole->rank; axis-- > 0; rest /= whole->shape[axis])
		index[axis] = rest % whole->shape[axis];
	tn_text_add(text, "\n [");
	for (int axis = 0; axis < whole->rank; axis++)
		tn_text_format(text, axis ? ", %" PRId64 : "%" PRId64, index[axis]);
	tn_text_add(text, "]: ");
	for (int k = 0; k < 2; k++) {
		tn_element_put_alone(text, &a->elements[k], tn_assertion_place(a, k, place));
		tn_text_format(text, k ? " (%s)" : " (%s), ", a->name[k]);
	}
}

static void put_places(struct tn_text *text, const struct tn_assertion *a)
{
	const int64_t shown = a->n_wrong < 5 ? a->n_wrong : 5;
	if (!larger_of(a)->rank)
		return;
	tn_text_add(text, a->n_wrong == 1   ? "\nMismatch at index:"
			  : a->n_wrong <= 5 ? "\nMismatch at indices:"
					    : "\nFirst 5 mismatches are at indices:");
	for (int64_t i = 0; i < shown; i++)
		put_place(text, a, a->wrong[i]);
}

/* ---- Differences -----------------------------------------------------------------------------*/

/* Those elements of an array, of the comparison's shape or of rank 0. */
static tn_array *take(const struct tn_assertion *a, const tn_array *from, const tn_array *places)
{
	const tn_array *whole = larger_of(a);
	tn_array *line = tn_reshape(tn_broadcast_to(from, whole->rank, whole->shape), 1, &a->n);
	return tn_take(line, places, 0, TN_RAISE);
}

/* |x - y| at those places; of unsigned numbers the difference that does not wrap. */
static tn_array *difference(const struct tn_assertion *a, const tn_array *places)
{
	const tn_array *x = take(a, a->array[0], places), *y = take(a, a->array[1], places);
	tn_array *forth = tn_abs(tn_subtract(x, y));
	if (!tn_is_unsigned(a->array[0]->dtype))
		return forth;
	return tn_minimum(forth, tn_abs(tn_subtract(y, x)));
}

static tn_status put_largest(struct tn_text *text, const struct tn_assertion *a, const char *kind,
			     const tn_array *values)
{
	char *largest = tn_array2string(tn_max(values, TN_ALL_AXES, NULL, 0), NULL);
	if (!largest)
		return a->runtime->error.status;
	tn_text_format(text, "\nMax %s difference among violations: %s", kind, largest);
	tn_string_free(largest);
	return TN_OK;
}

static int desired_is_zero(const struct tn_assertion *a, int64_t i)
{
	const struct tn_elements *y = &a->elements[1];
	const size_t size = tn_dtype_size(y->dtype), place = tn_assertion_place(a, 1, i);
	const unsigned char *bytes = (const unsigned char *)y->data + place * size;
	if (tn_is_inexact(y->dtype))
		return tn_element_part(y, place, 0) == 0 &&
		       (!tn_is_complex(y->dtype) || tn_element_part(y, place, 1) == 0);
	for (size_t k = 0; k < size; k++) {
		if (bytes[k])
			return 0;
	}
	return 1;
}

/* The first n places, on the device of the arrays; NULL: a failure. */
static const tn_array *wrong_places(const struct tn_assertion *a, int64_t n)
{
	tn_device *device = tn_array_device(a->array[0]);
	const tn_array *places = tn_from_host(a->runtime->context, TN_I64, 1, &n, a->wrong);
	/* Of an array that is there already tn_to gives another reference. */
	return places && tn_array_device(places) != device ? tn_to(places, device) : places;
}

/* Among those whose desired value is not 0. */
static tn_status put_relative(struct tn_text *text, struct tn_assertion *a)
{
	int64_t n = 0;
	for (int64_t i = 0; i < a->n_wrong; i++) {
		if (!desired_is_zero(a, a->wrong[i]))
			a->wrong[n++] = a->wrong[i];
	}
	if (!n) {
		tn_text_add(text, "\nMax relative difference among violations: inf");
		return TN_OK;
	}
	const tn_array *places = wrong_places(a, n);
	return put_largest(text, a, "relative",
			   tn_divide(difference(a, places), tn_abs(take(a, a->array[1], places))));
}

static tn_status put_differences(struct tn_text *text, struct tn_assertion *a)
{
	/* Bools have no difference. */
	if (a->array[0]->dtype == TN_BOOL && a->array[1]->dtype == TN_BOOL)
		return TN_OK;
	const tn_array *places = wrong_places(a, a->n_wrong);
	const tn_status status = put_largest(text, a, "absolute", difference(a, places));
	return status ? status : put_relative(text, a);
}

char *tn_assertion_text_of_elements(struct tn_assertion *a)
{
	struct tn_text text;
	begin_text(&text, a);
	put_count(&text, a);
	put_places(&text, a);
	if (put_differences(&text, a)) {
		tn_text_release(&text);
		return NULL;
	}
	return end_text(&text, a);
}
