/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs parsed once per context and found again by text, names and dtypes.  A program of the
 * library lives as long as the context, one of the user until tn_programs_clear.
 */
#ifndef TN_DISPATCH_PROGRAMS_H
#define TN_DISPATCH_PROGRAMS_H

#include <tenon/backend.h>
#include <tenon/program.h>

#include "dispatch/formulas.h"
#include "dispatch/operations.h"

struct tn_runtime;
struct tn_program_entry;

/* The most user programs that are cached; later ones are parsed for each call, except when they are
 * recorded, since a tape refers to its programs. */
#define TN_PROGRAMS_OF_USERS 1024

/* An element operation for inputs of certain dtypes. */
struct tn_element_program {
	const struct tn_program *program;
	tn_dtype result; /* of the array that it fills */
};

struct tn_program_cache {
	/* Element operations whose inputs all have one dtype: the common case. */
	struct tn_element_program same[TN_ELEMENT_OPERATIONS][TN_DTYPES];
	struct tn_program_entry **slots;
	uint32_t n_slots; /* a power of two */
	uint32_t n_entries;
	uint32_t n_users;
	uint64_t n_found;  /* texts of users that were in the cache */
	uint64_t n_parsed; /* and that were not */
};

struct tn_program_cache *tn_programs_create(void); /* NULL: out of memory */
void tn_programs_destroy(struct tn_program_cache *cache);

/* Operands of one kind.  Their names are an array or the words of one string (base/words.h); both
 * find the same program, as no name contains a blank. */
struct tn_name_list {
	uint32_t n;
	const char *const *array; /* NULL: words, if n is not 0 */
	const char *words;
	const tn_dtype *dtypes; /* NULL: inferred */
};

/* What a program is parsed from. */
struct tn_program_source {
	const char *text;
	struct tn_name_list inputs, scalars, outputs;
};

/* Parses without the cache; `results` may be NULL. */
tn_status tn_programs_parse(const struct tn_program_source *source, struct tn_program **program,
			    tn_dtype *results, struct tn_error_info *report);
/* The program of that source; parsed if it is new.  Fills runtime->report on failure.  For the
 * library's own texts, which are few and never freed. */
tn_status tn_programs_find(struct tn_runtime *runtime, const char *operation,
			   const struct tn_program_source *source,
			   const struct tn_program **program);
/* The same for a user's text.  `results` receives the dtypes that the outputs have in the language
 * (u64 too); *temporary NULL, or a program that the caller destroys after the call. */
tn_status tn_programs_get_users(struct tn_runtime *runtime, const char *operation, const char *text,
				const struct tn_program_names *names,
				const struct tn_program **program,
				tn_dtype results[TN_PROGRAM_MAX_OUTPUTS],
				struct tn_program **temporary);
/* Frees the programs of users, with what runtime->forget knows of them; no tape exists.  Those that
 * a captured or recorded call has read stay.  Fills runtime->report on failure. */
tn_status tn_programs_clear(struct tn_runtime *runtime);

#endif
