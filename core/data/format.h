/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The format of images fed to a network.
 */
#ifndef TN_DATA_FORMAT_H
#define TN_DATA_FORMAT_H

#include <tenon/data.h>

/* *own := a caller's format, by the rule of options. */
tn_status tn_input_format_take(struct tn_input_format *own, const struct tn_input_format *given,
			       struct tn_error_info *error);
/* To a caller's struct, as long as that is.  TN_INVALID_ARGUMENT: it has no struct_size. */
tn_status tn_input_format_copy(struct tn_input_format *out, const struct tn_input_format *format,
			       struct tn_error_info *error);
/* TN_INVALID_ARGUMENT: not one of TN_RESIZE_.... */
tn_status tn_input_format_check_interpolation(uint32_t interpolation, struct tn_error_info *error);

#endif
