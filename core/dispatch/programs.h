/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs parsed once per context and found again by text, names and dtypes.  A cached program
 * lives as long as the context.
 */
#ifndef TN_DISPATCH_PROGRAMS_H
#define TN_DISPATCH_PROGRAMS_H

#include <tenon/program.h>

#include "dispatch/operations.h"

struct tn_runtime;
struct tn_program_entry;

/* How many different programs of users are kept; later ones are parsed for each call, unless they
 * are recorded, since a tape holds on to its programs. */
#define TN_PROGRAMS_OF_USERS 1024

struct tn_program_cache {
	/* Element operations whose inputs all have one dtype: the way that most calls take. */
	const struct tn_program *same[TN_ELEMENT_OPERATIONS][16];
	struct tn_program_entry **slots;
	uint32_t n_slots; /* a power of two */
	uint32_t n_entries;
	uint32_t n_users;
};

struct tn_program_cache *tn_programs_create(void); /* NULL: out of memory */
void tn_programs_destroy(struct tn_program_cache *cache);

/* The program of that text over names; parsed if it is new.  Fills runtime->report on failure.
 * Inside the library: texts are few and never end. */
tn_status tn_programs_get(struct tn_runtime *runtime, const char *operation, const char *text,
			  const struct tn_program_names *names, const struct tn_program **program);
/* The same for a user's text.  *temporary is then NULL,
 * or what the caller destroys after the call. */
tn_status tn_programs_get_users(struct tn_runtime *runtime, const char *text,
				const struct tn_program_names *names,
				const struct tn_program **program, struct tn_program **temporary);

/* An element operation's program for inputs of those dtypes. */
tn_status tn_programs_element(struct tn_runtime *runtime, enum tn_operation operation,
			      const tn_dtype *dtypes, const struct tn_program **program);

/* A text over the inputs x, y, c, d, e, f, g, h and the scalars a, b, s, t, u, v, p, q: what
 * compositions are written in.  Several outputs are out0, out1, ... */
struct tn_short_program {
	const char *text;
	uint32_t n_inputs;
	uint32_t n_scalars;
	uint32_t n_outputs;    /* 0: one, the name assigned last */
	tn_dtype scalar_dtype; /* 0: f64 when an input is f64, else f32 */
};

#define TN_SHORT_SCALARS 8

/* Its program for inputs of those dtypes. */
tn_status tn_programs_short(struct tn_runtime *runtime, const char *operation,
			    const struct tn_short_program *shorthand, const tn_dtype *dtypes,
			    const struct tn_program **program);

#endif
