/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What AddressSanitizer and LeakSanitizer ask a program that is built with them; otherwise nobody
 * calls these.  Their names are the sanitizers'.
 */
#include <unistd.h>

#include "frame.h"

static pid_t forked; /* the process that leaves to its parent what it copied */

void sanitizer_forked(void)
{
	forked = getpid();
}

/* NOLINTBEGIN(bugprone-reserved-identifier) */
extern void __asan_init(void) __attribute__((weak));
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

/* An allocation that cannot be had is a case: it fails, and does not end the process. */
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
