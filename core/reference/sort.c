/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sort: each line's elements become unsigned keys of the same order; a merge sort sorts them
 * together with their places.
 */
#include "program/cast.h"
#include "reference/view.h"

/* An element of a line. */
struct place {
	uint64_t key;
	int64_t index;
};

/* -0 is 0, and all NaNs are one number above all others. */
static uint64_t floating_key(tn_dtype dtype, uint64_t bits)
{
	double x = tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits));
	const uint64_t sign = UINT64_C(1) << 63;
	if (x != x)
		return UINT64_MAX;
	bits = tn_bits_of_f64(x == 0 ? 0 : x);
	return bits & sign ? ~bits : bits | sign;
}

static uint64_t key_of(tn_dtype dtype, uint64_t bits)
{
	if (tn_is_floating(dtype))
		return floating_key(dtype, bits);
	if (dtype == TN_U64)
		return bits;
	return tn_cast_bits(dtype, TN_I64, bits) + (UINT64_C(1) << 63);
}

/* Merges [0, middle) and [middle, n) of `from` into `to`; stable. */
static void merge(struct place *to, const struct place *from, int64_t middle, int64_t n)
{
	int64_t a = 0, b = middle;
	for (int64_t i = 0; i < n; i++) {
		if (b == n || (a < middle && from[a].key <= from[b].key))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

/* Sorts n places; returns whichever of the two arrays has the result. */
static const struct place *sort_line(struct place *places, struct place *other, int64_t n)
{
	for (int64_t run = 1; run < n; run *= 2) {
		struct place *swap = places;
		for (int64_t i = 0; i < n; i += 2 * run) {
			int64_t end = n - i < 2 * run ? n - i : 2 * run;
			merge(other + i, places + i, run < end ? run : end, end);
		}
		places = other;
		other = swap;
	}
	return places;
}

static tn_status check_output(const struct tn_sort_args *args, const char *name,
			      const struct tn_operand *output, tn_dtype dtype)
{
	const struct tn_operand *input = &args->input;
	const struct tn_call *call = &args->call;
	int64_t shape[TN_MAX_RANK], k;
	tn_status status = tn_reference_check(call, "sort", name, output, WRITE);
	if (status)
		return status;
	if (output->dtype != dtype)
		return tn_reference_fail(call, TN_DTYPE, "sort", "%s: expected dtype %d, found %d",
					 name, dtype, output->dtype);
	memcpy(shape, input->shape, sizeof(shape));
	k = output->rank == input->rank ? output->shape[args->axis] : 0;
	if (k > 0 && k <= shape[args->axis])
		shape[args->axis] = k;
	return tn_reference_check_shape(call, "sort", name, output, input->rank, shape);
}

static tn_status check_flags(const struct tn_sort_args *args)
{
	const struct tn_call *call = &args->call;
	if (args->descending > 1 || args->has_values > 1 || args->has_indices > 1)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, "sort",
					 "descending, has_values, has_indices: expected 0 or 1, "
					 "found %u, %u, %u",
					 args->descending, args->has_values, args->has_indices);
	if (!args->has_values && !args->has_indices)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, "sort",
					 "expected has_values or has_indices to be 1");
	return TN_OK;
}

/* The same view with one element on the axis: its cursor moves from line to line. */
static struct tn_operand heads(const struct tn_operand *operand, uint32_t axis)
{
	struct tn_operand view = *operand;
	view.shape[axis] = 1;
	return view;
}

static void read_line(const struct tn_sort_args *args, const char *at, struct place *places)
{
	const struct tn_operand *input = &args->input;
	size_t size = tn_dtype_size(input->dtype);
	int64_t step = input->strides[args->axis] * (int64_t)size;
	for (int64_t j = 0; j < input->shape[args->axis]; j++) {
		uint64_t key = key_of(input->dtype, bits_load(at + j * step, size));
		places[j].key = args->descending ? ~key : key;
		places[j].index = j;
	}
}

static void sort_lines(const struct tn_sort_args *args, struct place *places)
{
	struct tn_operand input = heads(&args->input, args->axis), values, indices;
	struct cursor from, to, place;
	int64_t n = args->input.shape[args->axis];
	uint64_t lines = tn_reference_count(&input);
	values = heads(args->has_values ? &args->values : &args->input, args->axis);
	indices = heads(args->has_indices ? &args->indices : &args->input, args->axis);
	tn_reference_cursor(&from, &input);
	tn_reference_cursor(&to, &values);
	tn_reference_cursor(&place, &indices);
	for (uint64_t line = 0; line < lines; line++) {
		const struct place *sorted;
		read_line(args, from.at, places);
		sorted = sort_line(places, places + n, n);
		if (args->has_values) {
			size_t size = tn_dtype_size(args->input.dtype);
			int64_t in = args->input.strides[args->axis] * (int64_t)size;
			int64_t out = args->values.strides[args->axis] * (int64_t)size;
			for (int64_t j = 0; j < args->values.shape[args->axis]; j++)
				memcpy(to.at + j * out, from.at + sorted[j].index * in, size);
		}
		if (args->has_indices) {
			int64_t out = args->indices.strides[args->axis] * (int64_t)sizeof(int64_t);
			for (int64_t j = 0; j < args->indices.shape[args->axis]; j++)
				memcpy(place.at + j * out, &sorted[j].index, sizeof(int64_t));
		}
		cursor_next(&from);
		cursor_next(&to);
		cursor_next(&place);
	}
}

tn_status tn_reference_sort(void *device, const struct tn_sort_args *theirs)
{
	struct tn_sort_args args;
	void *places;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "sort");
	const struct tn_call *call = &args.call;
	const struct tn_operand *input = &args.input;
	if (!status)
		status = check_flags(&args);
	if (!status)
		status = tn_reference_check(call, "sort", "input", input, READ);
	if (!status && !tn_compute_dtype(input->dtype))
		status = tn_reference_fail(call, TN_UNSUPPORTED, "sort",
					   "dtype %d cannot be sorted", input->dtype);
	if (!status && args.axis >= input->rank)
		status = tn_reference_fail(call, TN_SHAPE, "sort",
					   "axis %u: expected less than the rank %u", args.axis,
					   input->rank);
	if (!status && args.has_values)
		status = check_output(&args, "values", &args.values, input->dtype);
	if (!status && args.has_indices)
		status = check_output(&args, "indices", &args.indices, TN_I64);
	if (!status && args.has_values && args.has_indices)
		status = tn_reference_check_shape(call, "sort", "indices", &args.indices,
						  args.values.rank, args.values.shape);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	/* Two arrays of places, of two numbers each. */
	places = tn_reference_numbers(device, 4 * (uint64_t)args.input.shape[args.axis]);
	if (!places)
		return tn_reference_no_memory(&args.call, "sort");
	sort_lines(&args, places);
	tn_reference_release(device, places);
	return TN_OK;
}
