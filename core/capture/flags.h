/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Flags of the host that say what an array holds: "the gradient holds something".  Captured work
 * has not been done when its capture ends, and is done with each replay; so are its flags.
 *
 *	capture    whoever changes a flag notes it before (tn_capture_flag), and changes it as usual, so that
 *	           what follows in the same capture sees it
 *	its end    each flag is what it was before the capture
 *	replay     each flag is what the captured work left
 *
 * Flags belong to others: who frees one says so before (tn_capture_forget).
 */
#ifndef TN_CAPTURE_FLAGS_H
#define TN_CAPTURE_FLAGS_H

#include "array/runtime.h"

/* ---- For the graph ---------------------------------------------------------------------------*/

struct tn_flag {
	int *flag; /* NULL: it has gone */
	int before, after;
};

/* Those that one graph changes; zeroed at first. */
struct tn_flags {
	struct tn_flag *items;
	size_t n, room;
};

/* 0: the host has no memory left. */
int tn_flags_note(struct tn_flags *flags, int *flag);
void tn_flags_forget(struct tn_flags *flags, const int *flag);
/* The capture ends: takes what the flags are now as what a replay leaves, and puts them back. */
void tn_flags_take_back(struct tn_flags *flags);
/* The work was started. */
void tn_flags_replay(const struct tn_flags *flags);
void tn_flags_release(struct tn_flags *flags);

#endif
