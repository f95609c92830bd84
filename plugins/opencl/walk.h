/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Kernels with one item for each element of a job's nest, whose count is the job's first number.
 * The beginning of an item is printed here: `e` is the element's number, c0, c1, ... are its
 * indices and, after opencl_print_place, at0, at1, ... are its positions in the views.
 */
#ifndef OPENCL_WALK_H
#define OPENCL_WALK_H

#include "kernel.h"

/* Merges axes, for few different ranks. */
void opencl_walk_simplify(struct tn_plugin_nest *nest);
/* Counts the elements: the job's first number. */
void opencl_walk_count(struct opencl_job *job);
/* Adds to a key what else the printed text depends on. */
void opencl_walk_key(struct tn_plugin_text *key, const struct opencl_job *job);
/* The kernel's head, `{`, e and the indices. */
void opencl_print_walk(struct tn_plugin_text *text, const struct opencl_job *job);
void opencl_print_place(struct tn_plugin_text *text, const struct opencl_job *job, uint32_t view);

#endif
