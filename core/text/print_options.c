/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks print options.
 */
#include "text/print_options.h"

#include <inttypes.h>
#include <string.h>

static tn_status check_range(struct tn_runtime *runtime, const char *operation, const char *name,
			     int64_t value, int64_t low, int64_t high)
{
	if (value >= low && value <= high)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "%s: expected %" PRId64 " to %" PRId64 ", found %" PRId64, name, low,
			       high, value);
}

static tn_status check_string(struct tn_runtime *runtime, const char *operation, const char *name,
			      const char *string)
{
	size_t length = 0;
	if (!string)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "%s: expected a string, found NULL", name);
	while (length <= TN_PRINT_MAX_STRING && string[length]) {
		if (string[length] < ' ' || string[length] > '~')
			return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
					       "%s: expected printable ASCII, found byte %02x",
					       name, (unsigned char)string[length]);
		length++;
	}
	if (length > TN_PRINT_MAX_STRING)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "%s: expected at most %d bytes, found more", name,
				       TN_PRINT_MAX_STRING);
	return TN_OK;
}

static tn_status check_numbers(struct tn_runtime *runtime, const char *operation,
			       const struct tn_print_options *o)
{
	if (check_range(runtime, operation, "precision", o->precision, 0, TN_PRINT_MAX_PRECISION) ||
	    check_range(runtime, operation, "threshold", o->threshold, 0, INT64_MAX) ||
	    check_range(runtime, operation, "edgeitems", o->edgeitems, 0, TN_PRINT_MAX_EDGEITEMS) ||
	    check_range(runtime, operation, "linewidth", o->linewidth, 1, TN_PRINT_MAX_LINEWIDTH) ||
	    check_range(runtime, operation, "floatmode", o->floatmode, TN_FLOATMODE_MAXPREC,
			TN_FLOATMODE_FIXED) ||
	    check_range(runtime, operation, "suppress", o->suppress, 0, 1))
		return TN_INVALID_ARGUMENT;
	if (o->sign == '-' || o->sign == '+' || o->sign == ' ')
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "sign: expected '-', '+' or ' ', found %" PRId32, o->sign);
}

static tn_status check_strings(struct tn_runtime *runtime, const char *operation,
			       const struct tn_print_options *o)
{
	if (check_string(runtime, operation, "nanstr", o->nanstr) ||
	    check_string(runtime, operation, "infstr", o->infstr) ||
	    check_string(runtime, operation, "separator", o->separator) ||
	    check_string(runtime, operation, "prefix", o->prefix) ||
	    check_string(runtime, operation, "suffix", o->suffix))
		return TN_INVALID_ARGUMENT;
	return TN_OK;
}

tn_status tn_print_options_take(struct tn_runtime *runtime, const char *operation,
				const struct tn_print_options *given, struct tn_print_options *own)
{
	struct tn_print_options o = tn_print_defaults();
	tn_status status = tn_runtime_take(runtime, &o, sizeof(o), given, "struct tn_print_options",
					   operation);
	if (!status)
		status = check_numbers(runtime, operation, &o);
	if (status)
		return status;
	o.prefix = o.prefix ? o.prefix : "";
	o.suffix = o.suffix ? o.suffix : "";
	*own = o;
	return check_strings(runtime, operation, &o);
}
