/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The members of an operation.
 */
#ifndef TN_DISTRIBUTED_COLLECTIVE_H
#define TN_DISTRIBUTED_COLLECTIVE_H

#include "distributed/communicator.h"

/* "all_reduce"; "collective" for other numbers. */
const char *tn_collective_name(uint32_t operation);

/* Checks an operation's members: errors as tn_communicator_start. */
tn_status tn_collective_check(const tn_communicator *communicator,
			      const struct tn_collective_host *operation,
			      struct tn_error_info *error);
/* The elements of its larger operand. */
uint64_t tn_collective_elements(const struct tn_collective_host *operation, uint32_t size);

#endif
