/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls that change the process, or leave something in it.
 */
#include <fenv.h>
#include <fcntl.h>
#include <locale.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
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

/* A descriptor that is closed twice is another's by then. */
static int close_another(void)
{
	static int turn;
	return turn++ == 0 && close(9);
}

static void plant_closes(void)
{
	harm = close_another;
	faulty.compute.matmul = matmul;
}

static int run_on_one(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

static void plant_affinity(void)
{
	harm = run_on_one;
	faulty.compute.matmul = matmul;
}

static int use_own_locale(void)
{
	static locale_t own;
	if (!own)
		own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return !uselocale(own);
}

static void plant_thread_locale(void)
{
	harm = use_own_locale;
	faulty.compute.matmul = matmul;
}

static int lower_limit(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur--;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

static void plant_limit(void)
{
	harm = lower_limit;
	faulty.compute.matmul = matmul;
}

static int do_not_block(void)
{
	return fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) | O_NONBLOCK);
}

static void plant_not_blocking(void)
{
	harm = do_not_block;
	faulty.compute.matmul = matmul;
}

static int leave_16_bytes(void)
{
	static void *volatile left;
	left = malloc(16);
	return !left;
}

static void plant_leaves_16_bytes(void)
{
	harm = leave_16_bytes;
	faulty.compute.matmul = matmul;
}

const struct fault process_faults[] = {
	{"chdir", plant_chdir},
	{"rounding", plant_rounding},
	{"ftz", plant_ftz},
	{"daz", plant_daz},
	{"closes_another", plant_closes},
	{"affinity", plant_affinity},
	{"thread_locale", plant_thread_locale},
	{"limit", plant_limit},
	{"not_blocking", plant_not_blocking},
	{"leaves_16_bytes", plant_leaves_16_bytes},
	{NULL, NULL},
};
