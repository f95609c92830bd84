/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The confusion matrix of a test, as text.
 */
#ifndef TENON_TOOLS_CONFUSION_H
#define TENON_TOOLS_CONFUSION_H

#include <stdint.h>

/* n x n counts, a row for each label; `classes` as in class_name. */
void print_confusion(const uint64_t *confusion, uint32_t n, const char *classes);

#endif
