/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scan: sums, products and extremes of all that comes before, element by element.  Floating lines
 * are combined in f64 and rounded to the accumulator's dtype for each output.
 */
#include <math.h>

#include "program/cast.h"
#include "reference/view.h"

/* The running value of a line: floating values in `real`, others in `bits`, an i64 or u64. */
struct sofar {
	uint32_t combiner;
	tn_dtype accumulator;
	double real;
	uint64_t bits;
};

/* The accumulator's dtype for a dtype; 0: none. */
static tn_dtype accumulator_of(tn_dtype dtype)
{
	if (dtype == TN_F64 || dtype == TN_U64)
		return dtype;
	if (tn_is_floating(dtype))
		return TN_F32;
	return tn_compute_dtype(dtype) ? TN_I64 : 0;
}

/* The smallest or largest value of an integer dtype, in 64 bits. */
static uint64_t extreme(tn_dtype dtype, int largest)
{
	unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	if (dtype == TN_BOOL)
		return (uint64_t)largest;
	if (tn_is_unsigned(dtype))
		return largest ? UINT64_MAX >> (64 - width) : 0;
	return largest ? UINT64_MAX >> (65 - width) : ~(UINT64_MAX >> (65 - width));
}

/* A combiner's neutral value. */
static struct sofar nothing(const struct tn_scan_args *args)
{
	struct sofar sofar = {.combiner = args->combiner, .accumulator = args->accumulator};
	int largest = args->combiner == TN_REDUCE_MIN;
	if (args->combiner == TN_REDUCE_SUM || args->combiner == TN_REDUCE_PRODUCT) {
		sofar.bits = args->combiner == TN_REDUCE_PRODUCT;
		sofar.real = (double)sofar.bits;
	} else if (tn_is_floating(args->accumulator)) {
		sofar.real = largest ? INFINITY : -INFINITY;
	} else {
		sofar.bits = extreme(args->input.dtype, largest);
	}
	return sofar;
}

static void combine_real(struct sofar *sofar, double value)
{
	if (sofar->combiner == TN_REDUCE_SUM)
		sofar->real += value;
	else if (sofar->combiner == TN_REDUCE_PRODUCT)
		sofar->real *= value;
	else if (sofar->real == sofar->real &&
		 (value != value ||
		  (sofar->combiner == TN_REDUCE_MAX ? value > sofar->real : value < sofar->real)))
		sofar->real = value;
}

static int is_greater(tn_dtype accumulator, uint64_t a, uint64_t b)
{
	return accumulator == TN_U64 ? a > b : (int64_t)a > (int64_t)b;
}

static void combine_bits(struct sofar *sofar, uint64_t value)
{
	if (sofar->combiner == TN_REDUCE_SUM)
		sofar->bits += value;
	else if (sofar->combiner == TN_REDUCE_PRODUCT)
		sofar->bits *= value;
	else if (sofar->combiner == TN_REDUCE_MAX
			 ? is_greater(sofar->accumulator, value, sofar->bits)
			 : is_greater(sofar->accumulator, sofar->bits, value))
		sofar->bits = value;
}

static void combine(struct sofar *sofar, tn_dtype dtype, uint64_t bits)
{
	if (tn_is_floating(dtype))
		combine_real(sofar, tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits)));
	else
		combine_bits(sofar, tn_cast_bits(dtype, sofar->accumulator, bits));
}

static uint64_t result(const struct sofar *sofar, tn_dtype dtype)
{
	uint64_t bits = sofar->bits;
	if (sofar->accumulator == TN_F32)
		bits = tn_bits_of_f32((float)sofar->real);
	else if (sofar->accumulator == TN_F64)
		bits = tn_bits_of_f64(sofar->real);
	return tn_cast_bits(sofar->accumulator, dtype, bits);
}

static void scan_line(const struct tn_scan_args *args, const char *from, char *to)
{
	const struct tn_operand *input = &args->input, *output = &args->output;
	size_t in_size = tn_dtype_size(input->dtype), out_size = tn_dtype_size(output->dtype);
	int64_t in = input->strides[args->axis] * (int64_t)in_size;
	int64_t out = output->strides[args->axis] * (int64_t)out_size;
	int64_t n = input->shape[args->axis];
	struct sofar sofar = nothing(args);
	for (int64_t i = 0; i < n; i++) {
		int64_t j = args->reverse ? n - 1 - i : i;
		uint64_t bits = bits_load(from + j * in, in_size);
		if (args->exclusive)
			bits_store(to + j * out, out_size, result(&sofar, output->dtype));
		combine(&sofar, input->dtype, bits);
		if (!args->exclusive)
			bits_store(to + j * out, out_size, result(&sofar, output->dtype));
	}
}

static tn_status check_kind(const struct tn_scan_args *args)
{
	const struct tn_call *call = &args->call;
	tn_dtype accumulator = accumulator_of(args->input.dtype);
	if (args->combiner < TN_REDUCE_SUM || args->combiner > TN_REDUCE_MIN)
		return tn_reference_fail(call, TN_UNSUPPORTED, "scan", "unknown combiner %u",
					 args->combiner);
	if (!accumulator || args->accumulator != accumulator)
		return tn_reference_fail(call, TN_UNSUPPORTED, "scan",
					 "accumulator: expected dtype %d for dtype %d, found %d",
					 accumulator, args->input.dtype, args->accumulator);
	if (args->output.dtype != accumulator && args->output.dtype != args->input.dtype)
		return tn_reference_fail(call, TN_UNSUPPORTED, "scan",
					 "output: expected dtype %d or %d, found %d", accumulator,
					 args->input.dtype, args->output.dtype);
	if (args->reverse > 1 || args->exclusive > 1)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, "scan",
					 "reverse, exclusive: expected 0 or 1, found %u, %u",
					 args->reverse, args->exclusive);
	return TN_OK;
}

static tn_status check_arguments(const struct tn_scan_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *input = &args->input;
	tn_status status = tn_reference_check(call, "scan", "input", input, READ);
	if (!status)
		status = tn_reference_check(call, "scan", "output", &args->output, WRITE);
	if (!status)
		status = check_kind(args);
	if (!status && args->axis >= input->rank)
		status = tn_reference_fail(call, TN_SHAPE, "scan",
					   "axis %u: expected less than the rank %u", args->axis,
					   input->rank);
	if (!status)
		status = tn_reference_check_shape(call, "scan", "output", &args->output,
						  input->rank, input->shape);
	return status;
}

tn_status tn_reference_scan(void *device, const struct tn_scan_args *theirs)
{
	struct tn_scan_args args;
	struct tn_operand input, output;
	struct cursor from, to;
	uint64_t lines;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "scan");
	(void)device;
	if (!status)
		status = check_arguments(&args);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	/* One element on the axis: the cursors move from line to line. */
	input = args.input;
	output = args.output;
	input.shape[args.axis] = output.shape[args.axis] = 1;
	lines = tn_reference_count(&input);
	tn_reference_cursor(&from, &input);
	tn_reference_cursor(&to, &output);
	for (uint64_t line = 0; line < lines; line++, cursor_next(&from), cursor_next(&to))
		scan_line(&args, from.at, to.at);
	return TN_OK;
}
