/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * TN_API marks the functions that libtenon exports.
 */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

/* Marks exported symbols; all others are hidden. */
#define TN_API __attribute__((visibility("default")))
/* The caller must use the result. */
#define TN_CHECKED __attribute__((warn_unused_result))

#endif
