/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element programs as OpenCL C.
 */
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#include "operand.h"

extern const struct tn_dialect opencl_dialect;

/* The type of an element in memory ("ushort" of f16). */
const char *opencl_type(tn_dtype dtype);

#endif
