/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The programs of the table's element operations.
 */
#ifndef TN_DISPATCH_ELEMENT_PROGRAMS_H
#define TN_DISPATCH_ELEMENT_PROGRAMS_H

#include "dispatch/programs.h"

/* An element operation's program for its n inputs of those dtypes, none of them complex.
 * TN_DTYPE: it does not take them. */
tn_status tn_element_program_find(struct tn_runtime *runtime, enum tn_operation operation,
				  uint32_t n, const tn_dtype *dtypes,
				  struct tn_element_program *element);

#endif
