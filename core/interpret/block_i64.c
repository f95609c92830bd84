/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of TN_I64.
 */
#define T int64_t
#define U uint64_t
#define WIDTH 64
#define IS_SIGNED 1
#define NAME(x) x##_i64
#define COLUMN tn_block_i64
#include "interpret/block_integer.h"
