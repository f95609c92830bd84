/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reading the header of a safetensors file.
 */
#ifndef TN_IO_SAFETENSORS_HEADER_H
#define TN_IO_SAFETENSORS_HEADER_H

#include "io/safetensors.h"

/* Fills everything but `file`, which must be open; on failure tn_safetensors_close frees what was
 * allocated. */
tn_status tn_safetensors_read_header(struct tn_safetensors *file, struct tn_error_info *error);

#endif
