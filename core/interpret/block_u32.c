/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of TN_U32.
 */
#define T uint32_t
#define U uint32_t
#define WIDTH 32
#define IS_SIGNED 0
#define NAME(x) x##_u32
#define COLUMN tn_block_u32
#include "interpret/block_integer.h"
