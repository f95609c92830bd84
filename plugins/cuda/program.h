/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element programs as CUDA C.
 */
#ifndef CUDA_PROGRAM_H
#define CUDA_PROGRAM_H

#include "operand.h"

extern const struct tn_dialect cuda_dialect;

/* The type of the dtype in programs ("cu_f32"; "bool"), and in memory ("cu_bool"). */
const char *cuda_value_type(tn_dtype dtype);
const char *cuda_memory_type(tn_dtype dtype);

#endif
