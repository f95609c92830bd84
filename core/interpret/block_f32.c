/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of TN_F32.
 */
#define T float
#define M(x) x##f
#define NAME(x) x##_f32
#define COLUMN tn_block_f32
#include "interpret/block_floating.h"
