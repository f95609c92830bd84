/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fill and copy: bits are moved, never interpreted, so every dtype is supported.
 */
#include "reference/view.h"

/* output[i] := value */
tn_status tn_reference_fill(void *device, const struct tn_fill_args *theirs)
{
	unsigned char value[16];
	struct tn_fill_args args;
	struct cursor to;
	uint64_t n;
	size_t size;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "fill");
	(void)device;
	if (!status)
		status = tn_reference_check(&args.call, "fill", "output", &args.output, WRITE);
	if (status)
		return status;
	if (args.value.dtype != args.output.dtype)
		return tn_reference_fail(&args.call, TN_DTYPE, "fill",
					 "value: expected the output's dtype %d, found %d",
					 args.output.dtype, args.value.dtype);
	if (args.value.on_device > 1)
		return tn_reference_fail(&args.call, TN_UNSUPPORTED, "fill",
					 "value: on_device is %u, expected 0 or 1",
					 args.value.on_device);
	if (!args.value.on_device && args.value.dtype == TN_C128)
		return tn_reference_fail(&args.call, TN_UNSUPPORTED, "fill",
					 "value: a c128 does not fit a scalar's 8 bytes");
	if (args.value.on_device && !args.value.buffer && !(args.call.flags & TN_DRY_RUN))
		return tn_reference_fail(&args.call, TN_INVALID_ARGUMENT, "fill",
					 "value: buffer 0 is never a handle");
	if (tn_reference_is_dry(&args.call))
		return TN_OK;
	size = tn_dtype_size(args.output.dtype);
	if (args.value.on_device)
		memcpy(value, (const char *)(uintptr_t)args.value.buffer + args.value.offset, size);
	else
		bits_store(value, size, args.value.bits);
	n = tn_reference_count(&args.output);
	tn_reference_cursor(&to, &args.output);
	for (uint64_t i = 0; i < n; i++, cursor_next(&to))
		memcpy(to.at, value, size);
	return TN_OK;
}

/* output[i] := input[i] */
tn_status tn_reference_copy(void *device, const struct tn_copy_args *theirs)
{
	struct cursor from, to;
	struct tn_copy_args args;
	uint64_t n;
	size_t size;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "copy");
	(void)device;
	if (!status)
		status = tn_reference_check(&args.call, "copy", "input", &args.input, READ);
	if (!status)
		status = tn_reference_check(&args.call, "copy", "output", &args.output, WRITE);
	if (!status)
		status = tn_reference_check_shape(&args.call, "copy", "output", &args.output,
						  args.input.rank, args.input.shape);
	if (!status && args.input.dtype != args.output.dtype)
		status = tn_reference_fail(&args.call, TN_DTYPE, "copy",
					   "output: expected the input's dtype %d, found %d",
					   args.input.dtype, args.output.dtype);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	size = tn_dtype_size(args.output.dtype);
	n = tn_reference_count(&args.output);
	tn_reference_cursor(&from, &args.input);
	tn_reference_cursor(&to, &args.output);
	for (uint64_t i = 0; i < n; i++, cursor_next(&from), cursor_next(&to))
		memmove(to.at, from.at, size);
	return TN_OK;
}
