/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Time and memory of each module of a network, in forward, backward and the steps of optimizers.
 *
 *     tn_profile *profile = tn_profile_begin(net, NULL);
 *     for (int i = 0; i < 10; i++)
 *             tn_array_destroy(tn_module_forward(net, x));
 *     tn_profile_end(profile);
 *     char *table = tn_profile_table(profile);
 *     fputs(table, stdout);
 *     tn_string_free(table);
 *     tn_profile_destroy(profile);
 *
 * The time of a call is that of its work on the device, by the device's events where the backend
 * has them.  On other devices the host measures it: at once on a device whose work is done when a
 * call returns, else after waiting for the device at the beginning and the end of each call, which
 * takes time itself (struct tn_profile_facts says which).  Without a profile nothing is measured,
 * at no cost.
 * All functions: [thread: one per context | since 0.1].
 */
#ifndef TENON_PROFILE_H
#define TENON_PROFILE_H

#include <string.h>

#include <tenon/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_profile tn_profile;

struct tn_profile_options {
	uint32_t struct_size;
	/* The most single calls that tn_profile_trace keeps; default 1,000,000; 0: sums alone. */
	uint64_t max_events;
};
static inline struct tn_profile_options tn_profile_defaults(void)
{
	struct tn_profile_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.max_events = 1000000;
	return options;
}

/* Begins to measure all modules of the tree.  The context has one profile at a time; the module
 * outlives the measurement.  Chains run as without a profile: an activation that the layer before
 * it includes is not called, and its time is that layer's.  While work is captured nothing is
 * measured, nor are replays.  Owned (tn_profile_destroy).
 * NULL, with the error kept: TN_STATE (not built, a member of another module, frozen, or a profile,
 * a tape or a capture has begun), TN_OUT_OF_MEMORY, or what the device answered. */
TN_API tn_profile *tn_profile_begin(tn_module *module, const struct tn_profile_options *options);
/* Waits for the device and ends the measurement; the results stay readable.  Does nothing the
 * second time.  TN_STATE: a measured call is running, as in a hook; TN_OUT_OF_MEMORY: calls were
 * lost; or the first error of an event. */
TN_API tn_status tn_profile_end(tn_profile *profile);
/* Ends it if need be, and frees it, before its context is closed; not from a hook.  Takes NULL. */
TN_API void tn_profile_destroy(tn_profile *profile);

/* A section of the program's own, such as "data" or "loss", which gets a row of its name.  Sections
 * nest, among each other and with calls of modules; a module that runs inside of one keeps its own
 * time.  Does nothing with a NULL profile, or once it has ended, so that a program needs no
 * condition.  TN_STATE: an end without a beginning; TN_INVALID_ARGUMENT: no name;
 * TN_OUT_OF_MEMORY.  Not kept. */
TN_API tn_status tn_profile_section_begin(tn_profile *profile, const char *name);
TN_API tn_status tn_profile_section_end(tn_profile *profile);

/* ---- Results: after tn_profile_end -----------------------------------------------------------*/

enum {
	TN_PROFILE_MODULE = 0,   /* a module of the tree */
	TN_PROFILE_BACKWARD = 1, /* backward passes: what belongs to no module, such as losses */
	TN_PROFILE_STEP = 2,     /* steps of an optimizer */
	TN_PROFILE_SECTION = 3,
};

/* One row of the table.  Times are seconds.  A module's include those of its members; own_seconds
 * of all rows add up to total_seconds of struct tn_profile_facts. */
struct tn_profile_row {
	uint32_t struct_size;
	uint32_t kind;    /* TN_PROFILE_... */
	const char *path; /* a module's; else the name of the optimizer or section, or "backward" */
	const char *class_name;  /* NULL unless it is a module */
	int depth;               /* of a module; 0: the outermost */
	uint64_t calls;          /* forwards, backward passes, steps or sections */
	uint64_t backward_calls; /* gradients of a module's operations, without its members */
	double forward_seconds;  /* 0 unless it is a module */
	double backward_seconds; /* what forward recorded there; with recomputing (tn_recompute) */
	double own_seconds;      /* forward and backward without members, or the rest of a row */
	uint64_t forward_bytes;  /* the most in use during a call, beyond those at its beginning */
	uint64_t backward_bytes; /* the same of one operation's backward, of it or its members */
};
/* Modules come first, in the order of the tree, then backward, optimizers and sections.
 * TN_INVALID_ARGUMENT: no such index. */
TN_API size_t tn_profile_count(const tn_profile *profile);
TN_API tn_status tn_profile_at(const tn_profile *profile, size_t index, struct tn_profile_row *row);

enum {
	TN_PROFILE_HOST = 0,   /* the host's clock, on a synchronous device */
	TN_PROFILE_SYNC = 1,   /* the host's clock, waiting for the device at both ends of a call */
	TN_PROFILE_EVENTS = 2, /* the device's events */
};
struct tn_profile_facts {
	uint32_t struct_size;
	uint32_t clock;       /* TN_PROFILE_HOST, SYNC or EVENTS */
	const char *device;   /* "cpu:0"; borrowed, valid like the profile */
	double wall_seconds;  /* from begin to end, on the host */
	double total_seconds; /* of all outermost calls */
	uint64_t peak_bytes;  /* the most in use during a call */
	uint64_t events;      /* that the trace has */
	uint64_t lost_events; /* that exceeded max_events */
};
TN_API tn_status tn_profile_get_facts(const tn_profile *profile, struct tn_profile_facts *facts);

/* Texts, owned (tn_string_free); NULL: out of memory, not kept.  table: at most 80 columns.  json:
 * an object of the facts and the list "rows", with the names of the structs.  trace: the single
 * calls in the format of chrome://tracing and Perfetto, in microseconds. */
TN_API char *tn_profile_table(const tn_profile *profile);
TN_API char *tn_profile_json(const tn_profile *profile);
TN_API char *tn_profile_trace(const tn_profile *profile);
/* Writes the trace to a file, which is replaced atomically.  TN_IO, TN_OUT_OF_MEMORY (kept). */
TN_API tn_status tn_profile_save_trace(const tn_profile *profile, const char *path);

#ifdef __cplusplus
}
#endif
#endif
