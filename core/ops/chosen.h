/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The places of true elements, whose number only the device knows.
 */
#ifndef TN_OPS_CHOSEN_H
#define TN_OPS_CHOSEN_H

#include "array/array.h"

/* i64: the places where a line of bool is true, in their order.  Waits for the device, which counts
 * them.  In the caller's scope, with temporaries; NULL: is_true is NULL, or the error is kept. */
tn_array *tn_chosen_places(const char *operation, const tn_array *is_true);

#endif
