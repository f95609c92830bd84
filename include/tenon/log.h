/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The callback that receives messages.
 */
#ifndef TENON_LOG_H
#define TENON_LOG_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives one message: its level (1 error, 2 warning, 3 notice, 4 info, 5 debug), its subsystem
 * and its text: one line of at most 1023 bytes of printable UTF-8, without newline.  May be called
 * from any thread; must not call the library. */
typedef void (*tn_log_callback)(void *user, int level, const char *subsystem, const char *text,
				size_t length);

#ifdef __cplusplus
}
#endif
#endif
