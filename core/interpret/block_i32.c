/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of TN_I32.
 */
#define T int32_t
#define U uint32_t
#define WIDTH 32
#define IS_SIGNED 1
#define NAME(x) x##_i32
#define COLUMN tn_block_i32
#include "interpret/block_integer.h"
