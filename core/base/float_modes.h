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

struct tn_float_modes {
	int are_standard;
	fenv_t program; /* if they are not */
};

/* Rounds to nearest and keeps subnormals until tn_float_modes_restore. */
static inline void tn_float_modes_standard(struct tn_float_modes *modes)
{
	volatile double smallest = DBL_MIN;
	modes->are_standard = fegetround() == FE_TONEAREST && smallest / 2 > 0;
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
