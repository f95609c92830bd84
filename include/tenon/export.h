/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * TN_API marks the functions that libtenon exports.  tenon(7), VERSIONS, says what is promised of
 * them.
 */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

/* Marks exported symbols; all others are hidden. */
#define TN_API __attribute__((visibility("default")))
/* The caller must use the result. */
#define TN_CHECKED __attribute__((warn_unused_result))

/* Before the TN_API of a function that another replaces: the compiler warns its callers with the
 * text, "use tn_y". */
#ifdef __GNUC__
#define TN_DEPRECATED(text) __attribute__((deprecated(text)))
#else
#define TN_DEPRECATED(text)
#endif

#endif
