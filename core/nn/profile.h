/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The struct of a profile.
 */
#ifndef TN_NN_PROFILE_H
#define TN_NN_PROFILE_H

#include <tenon/profile.h>

#include "array/watch.h"
#include "device/event.h"

/* The beginning or the end of a span. */
struct tn_profile_mark {
	int begins;
	enum tn_watch_kind kind;
	uint32_t row;
	const char *name; /* of the operation; one of the profile's own */
};

/* A span that has begun, in the order of the marks. */
struct tn_profile_open {
	struct tn_profile_mark mark;
	double start;
	double inner; /* the time of the spans in it */
	int is_in_backward;
};

/* A span that has ended. */
struct tn_profile_event {
	uint32_t row;
	uint8_t kind;
	uint8_t is_in_backward;
	const char *name;
	double start;
	double seconds;
};

struct tn_profile_entry {
	uint32_t kind; /* TN_PROFILE_... */
	int depth;
	char *name;
	char *class_name; /* NULL unless it is a module */
	uint64_t calls;
	uint64_t backward_calls;
	double forward; /* without members; of other rows all */
	double backward;
	double all_forward; /* with members, after the end */
	double all_backward;
	uint64_t forward_bytes;
	uint64_t backward_bytes;
};

enum { TN_PROFILE_MARKS = 1024 };

struct tn_profile {
	struct tn_watch watch;
	struct tn_runtime *runtime;
	tn_module *module; /* NULL: ended */
	uint32_t clock;    /* TN_PROFILE_HOST, SYNC or EVENTS */
	char device[48];
	tn_status status; /* of the first failure */
	double began;     /* on the host */
	double wall;
	double total;
	uint64_t peak;
	/* Rows: n_modules of modules, that of backward, then others. */
	struct tn_profile_entry *rows;
	uint32_t n_modules, n_rows, room;
	uint32_t n_backward; /* backward passes that run */
	/* Names of operations. */
	char **names;
	size_t n_names;
	struct tn_profile_open *open;
	size_t n_open, open_room;
	struct tn_profile_event *events;
	size_t n_events, event_room;
	uint64_t most_events;
	uint64_t n_lost;
	/* With events: marks whose time is not known yet, the event of each, and the one from which
	 * their time counts. */
	size_t n_marks;
	struct tn_profile_mark *marks;
	struct tn_event *device_events[TN_PROFILE_MARKS]; /* NULL: not made yet */
	struct tn_event *anchor;
	double anchor_seconds;
};

#endif
