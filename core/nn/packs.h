/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Packed weights of a network that several contexts run: those that a forward of one context has
 * made, the others take.  All contexts record the same forward for an x of one layout, so that its
 * packed weights have numbers in the order of the calls.
 *
 * All functions: [thread: any; one per context of x].
 */
#ifndef TN_NN_PACKS_H
#define TN_NN_PACKS_H

#include "array/array.h"

struct tn_packs;

/* NULL: out of memory. */
struct tn_packs *tn_packs_create(void);
/* Arrays made of it stay.  Takes NULL. */
void tn_packs_destroy(struct tn_packs *packs);

/* Number `number` of forwards of such an x, as an array of x's context in its innermost scope.
 * NULL: nobody has made it yet, or a kept error. */
tn_array *tn_packs_find(struct tn_packs *packs, const tn_array *x, size_t number);
/* Gives it to the others, unless another thread was first: then `packed` is destroyed, and that one
 * returned.  Where memory is lacking it remains x's context's own. */
tn_array *tn_packs_add(struct tn_packs *packs, const tn_array *x, size_t number, tn_array *packed);

#endif
