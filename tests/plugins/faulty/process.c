/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls that change the process.
 */
#include <fenv.h>
#include <unistd.h>

#include "faulty.h"

static int (*harm)(void);

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	tn_status status = right.compute.matmul(device, args);
	return computes(&args->call, status) && harm() ? TN_INTERNAL : status;
}

static int change_folder(void)
{
	return chdir("/");
}

static void plant_chdir(void)
{
	harm = change_folder;
	faulty.compute.matmul = matmul;
}

/* The effect of flush-to-zero on later work, by a mode that every machine has. */
static int round_down(void)
{
	return fesetround(FE_DOWNWARD);
}

static void plant_rounding(void)
{
	harm = round_down;
	faulty.compute.matmul = matmul;
}

#if defined(__SSE__)
#include <xmmintrin.h>

static int flush_to_zero(void)
{
	_mm_setcsr(_mm_getcsr() | 0x8000); /* FTZ */
	return 0;
}

static int denormals_are_zero(void)
{
	_mm_setcsr(_mm_getcsr() | 0x0040); /* DAZ */
	return 0;
}
#else
static int flush_to_zero(void)
{
	return fesetround(FE_UPWARD);
}

static int denormals_are_zero(void)
{
	return fesetround(FE_TOWARDZERO);
}
#endif

static void plant_ftz(void)
{
	harm = flush_to_zero;
	faulty.compute.matmul = matmul;
}

static void plant_daz(void)
{
	harm = denormals_are_zero;
	faulty.compute.matmul = matmul;
}

const struct fault process_faults[] = {
	{"chdir", plant_chdir}, {"rounding", plant_rounding},
	{"ftz", plant_ftz},     {"daz", plant_daz},
	{NULL, NULL},
};
