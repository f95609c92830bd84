/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * libtenon is made of libtn_core; automake wants a source of its own.
 */
#include <tenon/backend.h>

_Static_assert(sizeof(void *) == 8, "the backend interface is for 64-bit hosts");
