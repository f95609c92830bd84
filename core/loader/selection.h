/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The grammar of TENON_BACKEND and of TENON_SIMULATE.
 *
 *	selection = "" | "auto" | item { "," item } [ "!" ]
 *	item      = name [ ":" index ] | "^" name
 *	name      = letters, digits, '_', '-' and '.', at most 31
 *
 *	simulation = name ":" fault { "," name ":" fault }
 *
 * Earlier names are preferred; ^name excludes; '!' forbids all backends not named.
 */
#ifndef TN_LOADER_SELECTION_H
#define TN_LOADER_SELECTION_H

#include <stddef.h>
#include <tenon/backend.h>

#define TN_SELECTION_MAX_ITEMS 32
#define TN_ANY_INDEX (-1)

struct tn_selection_item {
	char name[32];
	int64_t index; /* or TN_ANY_INDEX */
};

struct tn_selection {
	size_t n_named;
	struct tn_selection_item named[TN_SELECTION_MAX_ITEMS];
	size_t n_excluded;
	char excluded[TN_SELECTION_MAX_ITEMS][32];
	int required; /* '!' */
};

struct tn_simulation {
	size_t n;
	struct {
		char name[32];
		tn_status fault;
	} faults[TN_SELECTION_MAX_ITEMS];
};

/* `source` is where the text came from, as errors name it: "TENON_BACKEND". TN_FORMAT: malformed;
 * the error has the column, what was expected and what was found.  TN_LIMIT: more than
 * TN_SELECTION_MAX_ITEMS.  `text` may be NULL, as "". */
tn_status tn_selection_parse(const char *text, const char *source, struct tn_selection *selection,
			     struct tn_error_info *error);
int tn_selection_excludes(const struct tn_selection *selection, const char *name);
int tn_selection_names(const struct tn_selection *selection, const char *name);

tn_status tn_simulation_parse(const char *text, struct tn_simulation *simulation,
			      struct tn_error_info *error);
/* The fault simulated for that backend; TN_OK: none. */
tn_status tn_simulation_of(const struct tn_simulation *simulation, const char *name);

#endif
