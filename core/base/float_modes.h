/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The floating-point modes of the calling thread.  A program may round upwards or flush subnormals;
 * what turns text into numbers, and numbers into text, must not.
 */
#ifndef TN_BASE_FLOAT_MODES_H
#define TN_BASE_FLOAT_MODES_H

#include <fenv.h>
#include <float.h>
#ifdef __SSE2_MATH__
#include <xmmintrin.h>
#endif

struct tn_float_modes {
	int are_standard;
	fenv_t program; /* if they are not */
};

/* The register of x86, but for the flags in its lowest bits, has traps too: making a subnormal, or
 * reading one, would raise the signal in a program that has asked for it. */
static inline int tn_float_modes_are_standard(void)
{
#ifdef __SSE2_MATH__
	return (_mm_getcsr() & ~0x3fu) == 0x1f80;
#else
	volatile double smallest = DBL_MIN;
	return fegetround() == FE_TONEAREST && smallest / 2 > 0;
#endif
}

/* Rounds to nearest, keeps subnormals and traps nothing until tn_float_modes_restore. */
static inline void tn_float_modes_standard(struct tn_float_modes *modes)
{
	modes->are_standard = tn_float_modes_are_standard();
	if (modes->are_standard)
		return;
	fegetenv(&modes->program);
	fesetenv(FE_DFL_ENV);
}

static inline void tn_float_modes_restore(const struct tn_float_modes *modes)
{
	if (!modes->are_standard)
		fesetenv(&modes->program);
}

#endif
