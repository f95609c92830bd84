/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The header that this is compiled with: 0 the short one, 1 that of a release, 2 the long one.
 * Plugins state theirs as their version, so that a host knows what to expect.
 */
#ifndef TN_TESTS_LEVEL_H
#define TN_TESTS_LEVEL_H

#include <tenon/backend.h>

#if defined(TN_SYNTHETIC_SHORT)
#define LEVEL 0
#define LEVEL_TEXT "0"
#elif defined(TN_SYNTHETIC_LONG)
#define LEVEL 2
#define LEVEL_TEXT "2"
#else
#define LEVEL 1
#define LEVEL_TEXT "1"
#endif

#endif
