/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A thread's tasks of a reduction.
 */
#ifndef TN_INTERPRET_REDUCE_RUN_H
#define TN_INTERPRET_REDUCE_RUN_H

#include "interpret/reduce_plan.h"

/* Does the tasks [begin, end); each leaves its result or, where there are chunks, a partial one. */
void tn_reduce_tasks(void *plan, uint64_t begin, uint64_t end);
/* Joins the chunks' partial results in order. */
void tn_reduce_join_chunks(struct tn_reduce_plan *plan);

#endif
