/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host flags about the contents of an array: "the gradient holds something".  Captured work has not
 * run when its capture ends, and runs with each replay; its flags follow it.
 *
 *	capture    before a flag is changed it is noted (tn_capture_flag); it then changes as
 *	           usual, so that later work in the same capture sees it
 *	its end    each flag returns to its value before the capture
 *	replay     each flag gets the value that the captured work left
 *
 * The owner of a flag calls tn_capture_forget before it frees the flag.
 */
#ifndef TN_CAPTURE_FLAGS_H
#define TN_CAPTURE_FLAGS_H

#include "array/runtime.h"

/* ---- For the graph ---------------------------------------------------------------------------*/

struct tn_flag {
	int *flag; /* NULL: freed */
	int before, after;
};

/* The flags that one graph changes; initially zeroed. */
struct tn_flags {
	struct tn_flag *items;
	size_t n, room;
};

/* 0: there is no host memory. */
int tn_flags_note(struct tn_flags *flags, int *flag);
void tn_flags_forget(struct tn_flags *flags, const int *flag);
/* At the end of a capture: saves the current values for replays, and restores the earlier ones. */
void tn_flags_take_back(struct tn_flags *flags);
/* After a launch of the work: sets the flags that it leaves. */
void tn_flags_replay(const struct tn_flags *flags);
void tn_flags_release(struct tn_flags *flags);

#endif
