/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gather, scatter-add and scatter: rows chosen by an array of indices.  All walk the three parts of
 * an index (i before the axis, j along it, k after it) in row-major order.
 */
#include "program/cast.h"
#include "reference/view.h"

/* The position that indices[j] denotes on an axis of that length; -1: out of range. */
static int64_t index_at(const struct tn_operand *indices, int64_t j, int64_t length)
{
	size_t size = tn_dtype_size(indices->dtype);
	const char *at = (const char *)(uintptr_t)indices->buffer + indices->offset +
			 j * indices->strides[0] * (int64_t)size;
	uint64_t bits = bits_load(at, size);
	int64_t index = indices->dtype == TN_I32 ? (int32_t)bits : (int64_t)bits;
	if (index < 0)
		index += length;
	return index >= 0 && index < length ? index : -1;
}

/* May elements of the input's dtype be added to an output of that one? */
static int takes_totals(tn_dtype input, tn_dtype output)
{
	return output == TN_F32 && (input == TN_F16 || input == TN_BF16);
}

/* `chosen` is the operand whose axis is indexed; `listed` has an element for each index. */
static tn_status check_arguments(const struct tn_gather_args *args, const char *operation,
				 const struct tn_operand *chosen, const struct tn_operand *listed)
{
	const struct tn_operand *indices = &args->indices;
	const struct tn_call *call = &args->call;
	int64_t shape[TN_MAX_RANK];
	tn_status status = tn_reference_check(call, operation, "input", &args->input, READ);
	if (!status)
		status = tn_reference_check(call, operation, "output", &args->output, WRITE);
	if (!status)
		status = tn_reference_check(call, operation, "indices", indices, READ);
	if (status)
		return status;
	if (indices->dtype != TN_I32 && indices->dtype != TN_I64)
		return tn_reference_fail(call, TN_DTYPE, operation,
					 "indices: expected i32 or i64, found dtype %d",
					 indices->dtype);
	if (args->input.dtype != args->output.dtype &&
	    (listed != &args->input || !takes_totals(args->input.dtype, args->output.dtype)))
		return tn_reference_fail(call, TN_DTYPE, operation,
					 "output: expected the input's dtype %d, found %d",
					 args->input.dtype, args->output.dtype);
	if (indices->rank != 1 || args->axis >= chosen->rank)
		return tn_reference_fail(call, TN_SHAPE, operation,
					 "axis %u of rank %u, indices of rank %u (expected 1)",
					 args->axis, chosen->rank, indices->rank);
	memcpy(shape, chosen->shape, sizeof(shape));
	shape[args->axis] = indices->shape[0];
	return tn_reference_check_shape(call, operation,
					listed == &args->input ? "input" : "output", listed,
					chosen->rank, shape);
}

/* The byte offset of the element with that index from the one with index 0 along the axis. */
static int64_t along_axis(const struct tn_operand *operand, uint32_t axis, int64_t index)
{
	return index * operand->strides[axis] * (int64_t)tn_dtype_size(operand->dtype);
}

/* A view of `chosen` with the listed operand's shape that stays at index 0 of the axis. */
static struct tn_operand at_zero(const struct tn_operand *chosen, const struct tn_operand *listed,
				 uint32_t axis)
{
	struct tn_operand view = *chosen;
	view.shape[axis] = listed->shape[axis];
	view.strides[axis] = 0;
	return view;
}

/* output[i, j, k] := input[i, indices[j], k], or zero where indices[j] is out of range */
tn_status tn_reference_gather(void *device, const struct tn_gather_args *theirs)
{
	struct tn_gather_args args;
	struct tn_operand chosen;
	struct cursor from, to;
	uint64_t n;
	size_t size;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "gather");
	(void)device;
	if (!status)
		status = check_arguments(&args, "gather", &args.input, &args.output);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	size = tn_dtype_size(args.output.dtype);
	n = tn_reference_count(&args.output);
	chosen = at_zero(&args.input, &args.output, args.axis);
	tn_reference_cursor(&from, &chosen);
	tn_reference_cursor(&to, &args.output);
	for (uint64_t e = 0; e < n; e++, cursor_next(&from), cursor_next(&to)) {
		int64_t index =
			index_at(&args.indices, to.index[args.axis], args.input.shape[args.axis]);
		if (index < 0)
			memset(to.at, 0, size);
		else
			memcpy(to.at, from.at + along_axis(&args.input, args.axis, index), size);
	}
	return TN_OK;
}

/* The dtype in which elements of a storage dtype are added; 0: they cannot be added. */
static tn_dtype sum_dtype(tn_dtype dtype)
{
	if (tn_is_integer(dtype))
		return TN_I64; /* sums wrap: their low bytes are right for all integers */
	return tn_is_floating(dtype) ? tn_compute_dtype(dtype) : 0;
}

/* a, of `dtype`, plus b, of the dtype `from`. */
static uint64_t sum(tn_dtype dtype, uint64_t a, tn_dtype from, uint64_t b)
{
	tn_dtype wide = sum_dtype(dtype);
	if (wide == TN_I64)
		return a + b;
	a = tn_cast_bits(dtype, wide, a);
	b = tn_cast_bits(from, wide, b);
	if (wide == TN_F32)
		a = tn_bits_of_f32(tn_f32_of_bits(a) + tn_f32_of_bits(b));
	else
		a = tn_bits_of_f64(tn_f64_of_bits(a) + tn_f64_of_bits(b));
	return tn_cast_bits(wide, dtype, a);
}

/* output[i, indices[j], k] += input[i, j, k], in the order of i, j, k; nothing where indices[j] is
 * out of range */
tn_status tn_reference_scatter_add(void *device, const struct tn_gather_args *theirs)
{
	struct tn_gather_args args;
	struct tn_operand chosen;
	struct cursor from, to;
	uint64_t n;
	size_t size, total_size;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "scatter_add");
	(void)device;
	if (!status)
		status = check_arguments(&args, "scatter_add", &args.output, &args.input);
	if (!status && !sum_dtype(args.input.dtype))
		status = tn_reference_fail(&args.call, TN_UNSUPPORTED, "scatter_add",
					   "dtype %d: sums are not supported", args.input.dtype);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	size = tn_dtype_size(args.input.dtype);
	total_size = tn_dtype_size(args.output.dtype);
	n = tn_reference_count(&args.input);
	chosen = at_zero(&args.output, &args.input, args.axis);
	tn_reference_cursor(&from, &args.input);
	tn_reference_cursor(&to, &chosen);
	for (uint64_t e = 0; e < n; e++, cursor_next(&from), cursor_next(&to)) {
		int64_t index = index_at(&args.indices, from.index[args.axis],
					 args.output.shape[args.axis]);
		char *at = to.at + along_axis(&args.output, args.axis, index);
		if (index >= 0)
			bits_store(at, total_size,
				   sum(args.output.dtype, bits_load(at, total_size),
				       args.input.dtype, bits_load(from.at, size)));
	}
	return TN_OK;
}

/* ---- Scatter with a mode ---------------------------------------------------------------------*/

static uint64_t combine_integers(uint32_t mode, tn_dtype dtype, uint64_t a, uint64_t b)
{
	int is_less;
	a = tn_cast_bits(dtype, TN_I64, a);
	b = tn_cast_bits(dtype, TN_I64, b);
	is_less = dtype == TN_U64 ? a < b : (int64_t)a < (int64_t)b;
	switch (mode) {
	case TN_SCATTER_ADD:
		return a + b;
	case TN_SCATTER_MULTIPLY:
		return a * b;
	case TN_SCATTER_MAX:
		return is_less ? b : a;
	default:
		return is_less ? a : b;
	}
}

static double combine_numbers(uint32_t mode, double a, double b)
{
	switch (mode) {
	case TN_SCATTER_ADD:
		return a + b;
	case TN_SCATTER_MULTIPLY:
		return a * b;
	case TN_SCATTER_MAX:
		return a != a || a > b ? a : b;
	default:
		return a != a || a < b ? a : b;
	}
}

static void combine(uint32_t mode, tn_dtype dtype, char *at, const char *from)
{
	const size_t size = tn_dtype_size(dtype);
	uint64_t a, b;
	if (mode == TN_SCATTER_SET) {
		memcpy(at, from, size);
		return;
	}
	a = bits_load(at, size);
	b = bits_load(from, size);
	if (tn_is_integer(dtype))
		a = combine_integers(mode, dtype, a, b);
	else
		a = tn_cast_bits(TN_F64, dtype,
				 tn_bits_of_f64(combine_numbers(
					 mode, tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, a)),
					 tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, b)))));
	bits_store(at, size, a);
}

static tn_status check_mode(const struct tn_gather_args *args)
{
	const tn_dtype dtype = args->output.dtype;
	if (args->input.dtype != dtype)
		return tn_reference_fail(&args->call, TN_DTYPE, "scatter",
					 "output: expected the input's dtype %d, found %d",
					 args->input.dtype, dtype);
	if (args->mode < TN_SCATTER_SET || args->mode > TN_SCATTER_MIN)
		return tn_reference_fail(&args->call, TN_UNSUPPORTED, "scatter",
					 "mode %u: expected %d to %d", args->mode, TN_SCATTER_SET,
					 TN_SCATTER_MIN);
	if (args->mode != TN_SCATTER_SET && !sum_dtype(dtype))
		return tn_reference_fail(&args->call, TN_UNSUPPORTED, "scatter",
					 "dtype %d is not combined", dtype);
	return TN_OK;
}

/* output[i, indices[j], k] := that and input[i, j, k] combined, in the order of i, j, k; nothing
 * where indices[j] is out of range */
tn_status tn_reference_scatter(void *device, const struct tn_gather_args *theirs)
{
	struct tn_gather_args args;
	struct tn_operand chosen;
	struct cursor from, to;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "scatter");
	(void)device;
	if (!status)
		status = check_arguments(&args, "scatter", &args.output, &args.input);
	if (!status)
		status = check_mode(&args);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	const uint64_t n = tn_reference_count(&args.input);
	chosen = at_zero(&args.output, &args.input, args.axis);
	tn_reference_cursor(&from, &args.input);
	tn_reference_cursor(&to, &chosen);
	for (uint64_t e = 0; e < n; e++, cursor_next(&from), cursor_next(&to)) {
		int64_t index = index_at(&args.indices, from.index[args.axis],
					 args.output.shape[args.axis]);
		if (index >= 0)
			combine(args.mode, args.output.dtype,
				to.at + along_axis(&args.output, args.axis, index), from.at);
	}
	return TN_OK;
}
