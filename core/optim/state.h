/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The arenas of an optimizer's state by number: the rule's states, the masters, the slow weights.
 */
#ifndef TN_OPTIM_STATE_H
#define TN_OPTIM_STATE_H

#include "optim/optimizer.h"

/* How many there are. */
size_t tn_states_each(const tn_optimizer *optimizer);

/* The state's arena, of the share's size (shard.h), and its name. */
tn_array *tn_state_arena(const tn_optimizer *optimizer, size_t state, const char **name);

/* Frees the views of tn_optimizer_state_at: their arenas are about to be freed. */
void tn_state_forget_views(tn_optimizer *optimizer);

#endif
