/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

/* Marks what the library exports; everything else is hidden. */
#define TN_API __attribute__((visibility("default")))
/* The result must be looked at. */
#define TN_CHECKED __attribute__((warn_unused_result))

#endif
