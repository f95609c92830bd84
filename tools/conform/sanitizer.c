/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Callbacks of AddressSanitizer and LeakSanitizer, unused in builds without them.  The names are
 * defined by the sanitizers.
 */
#include <unistd.h>

#include "frame.h"

static pid_t forked; /* the forked process, which does not report leaks */

void sanitizer_forked(void)
{
	forked = getpid();
}

/* NOLINTBEGIN(bugprone-reserved-identifier) */
extern void __asan_init(void) __attribute__((weak));
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

/* Impossible allocations are test cases: they fail instead of ending the process. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

int __lsan_is_turned_off(void)
{
	return forked == getpid();
}

int sanitizer_keeps_memory(void)
{
	return __asan_init != NULL;
}
/* NOLINTEND(bugprone-reserved-identifier) */
