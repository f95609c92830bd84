/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of TN_F64.
 */
#define T double
#define M(x) x
#define NAME(x) x##_f64
#define COLUMN tn_block_f64
#include "interpret/block_floating.h"
