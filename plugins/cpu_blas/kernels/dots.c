/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Dot products of many short lines, for which a call of a BLAS takes as long as the sum itself.
 * Four registers of sums hide the time of an addition; they are added in pairs, then lane by lane,
 * so that the order depends on the length alone.
 */
#include "variant.h"
#include "vector.h"

typedef double vd __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

#define T float
#define VECTOR vf
#define NAME(name) name##_f32
#include "dots_type.h"
#define T double
#define VECTOR vd
#define NAME(name) name##_f64
#include "dots_type.h"

void VARIANT(cpu_sdots)(const struct cpu_dots *d)
{
	lines_f32(d);
}

void VARIANT(cpu_ddots)(const struct cpu_dots *d)
{
	lines_f64(d);
}
