/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sums, maxima and minima in the order of the ranks.  Work goes by blocks that stay in the cache:
 * a block of the first rank's elements is widened, the others are combined with it one rank after
 * the other, and the block is stored.  Integers wrap.
 */
#include "communicator.h"

enum { BLOCK = 1024 }; /* elements */

#define TYPE float
#define STORED float
#define IS_FLOATING 1
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_f32
#include "combine_type.h"
#define TYPE float
#define STORED uint16_t
#define IS_FLOATING 1
#define WIDEN(x) tn_plugin_f32_of_f16(x)
#define NARROW(x) tn_plugin_f16_of_f32(x)
#define NAME combine_f16
#include "combine_type.h"
#define TYPE float
#define STORED uint16_t
#define IS_FLOATING 1
#define WIDEN(x) tn_plugin_f32_of_bf16(x)
#define NARROW(x) tn_plugin_bf16_of_f32(x)
#define NAME combine_bf16
#include "combine_type.h"
#define TYPE double
#define STORED double
#define IS_FLOATING 1
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_f64
#include "combine_type.h"
#define TYPE int32_t
#define STORED int32_t
#define IS_FLOATING 0
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_i32
#include "combine_type.h"
#define TYPE int64_t
#define STORED int64_t
#define IS_FLOATING 0
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_i64
#include "combine_type.h"
#define TYPE uint64_t
#define STORED uint64_t
#define IS_FLOATING 0
#define WIDEN(x) (x)
#define NARROW(x) (x)
#define NAME combine_u64
#include "combine_type.h"

void communicator_combine(void *target, const void *const *sources, uint32_t n_sources, uint64_t n,
			  tn_dtype dtype, uint32_t combiner)
{
	switch (dtype) {
	case TN_F32:
		combine_f32(target, sources, n_sources, n, combiner);
		break;
	case TN_F16:
		combine_f16(target, sources, n_sources, n, combiner);
		break;
	case TN_BF16:
		combine_bf16(target, sources, n_sources, n, combiner);
		break;
	case TN_F64:
		combine_f64(target, sources, n_sources, n, combiner);
		break;
	case TN_I32:
		combine_i32(target, sources, n_sources, n, combiner);
		break;
	case TN_I64:
		combine_i64(target, sources, n_sources, n, combiner);
		break;
	default:
		combine_u64(target, sources, n_sources, n, combiner);
		break;
	}
}
