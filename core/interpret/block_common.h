/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The macros and functions shared by the kernels of every column.  The including file defines T
 * (the column's C type) and NAME(x) (x with the column's suffix).  An expression sees the operands
 * as x, y and z.  Included once per column; it has no guard.
 */
#include "interpret/block.h"

#define BLOCK void *dst, const void *a, const void *b, const void *c, size_t n

/* d[i] := expression(x), for sources of one, two and three blocks of T and results of type R. */
#define UNARY(R, expression)                                                                       \
	do {                                                                                       \
		R *d = dst;                                                                        \
		const T *p = a;                                                                    \
		(void)b, (void)c;                                                                  \
		TN_BLOCK_LOOP                                                                      \
		for (size_t i = 0; i < n; i++) {                                                   \
			T x = p[i];                                                                \
			d[i] = (R)(expression);                                                    \
		}                                                                                  \
	} while (0)

#define BINARY(R, expression)                                                                      \
	do {                                                                                       \
		R *d = dst;                                                                        \
		const T *p = a, *q = b;                                                            \
		(void)c;                                                                           \
		TN_BLOCK_LOOP                                                                      \
		for (size_t i = 0; i < n; i++) {                                                   \
			T x = p[i], y = q[i];                                                      \
			d[i] = (R)(expression);                                                    \
		}                                                                                  \
	} while (0)

#define TERNARY(R, expression)                                                                     \
	do {                                                                                       \
		R *d = dst;                                                                        \
		const T *p = a, *q = b, *r = c;                                                    \
		TN_BLOCK_LOOP                                                                      \
		for (size_t i = 0; i < n; i++) {                                                   \
			T x = p[i], y = q[i], z = r[i];                                            \
			d[i] = (R)(expression);                                                    \
		}                                                                                  \
	} while (0)

static void NAME(eq)(BLOCK)
{
	BINARY(uint8_t, x == y);
}

static void NAME(ne)(BLOCK)
{
	BINARY(uint8_t, x != y);
}

static void NAME(lt)(BLOCK)
{
	BINARY(uint8_t, x < y);
}

static void NAME(le)(BLOCK)
{
	BINARY(uint8_t, x <= y);
}

static void NAME(gt)(BLOCK)
{
	BINARY(uint8_t, x > y);
}

static void NAME(ge)(BLOCK)
{
	BINARY(uint8_t, x >= y);
}

/* a selects from b and c. */
static void NAME(select)(BLOCK)
{
	T *d = dst;
	const uint8_t *choice = a;
	const T *p = b, *q = c;
	TN_BLOCK_LOOP
	for (size_t i = 0; i < n; i++) {
		T x = p[i], y = q[i];
		d[i] = choice[i] ? x : y;
	}
}
