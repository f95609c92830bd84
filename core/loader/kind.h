/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kinds of plugins: backends and communicators.  They differ in the facts below and in what
 * follows `create`; all else (search, inspection, negotiation, dlopen, descriptor, report) is the
 * same code.
 */
#ifndef TN_LOADER_KIND_H
#define TN_LOADER_KIND_H

#include <stddef.h>

#include "loader/version.h"

struct tn_loading;
struct tn_candidate;
struct tn_plugin;

struct tn_plugin_kind {
	const char *name; /* "backend", as messages call it and files are named: backend_NAME.so */
	const char *article; /* "a backend" */
	const char *options; /* "backend_options", as programs give them */
	const char *symbol;  /* that the file exports */
	const char *macro;   /* that emits the descriptor and the note */
	uint32_t note_type;
	uint64_t flags; /* that a descriptor may have */
	uint64_t once;  /* those of a file that is opened only to be used */
	struct tn_abi_version host;
	/* Statuses of `create` that are not reasons for an absence, and are not failures: the list
	 * ends with TN_OK. */
	const tn_status *refusals;
	size_t size; /* of the struct that is made of a plugin; it begins with struct tn_plugin */
	/* Takes the tables of an instance and whatever else must be known of it, from stage `query`
	 * to the last one. */
	tn_status (*take)(struct tn_loading *loading, struct tn_candidate *candidate,
			  struct tn_plugin *plugin, struct tn_error_info *error);
	/* Frees what `take` has allocated; NULL: nothing. */
	void (*release)(struct tn_plugin *plugin);
};

extern const struct tn_plugin_kind tn_backend_kind;      /* backend.c */
extern const struct tn_plugin_kind tn_communicator_kind; /* communicator.c */

/* Finds NAME in a file name KIND_NAME.so at the end of `path`, and its length; 0: that is not the
 * form of the file's name.  A name with invalid letters is returned too: its row reports them. */
size_t tn_plugin_name_in(const struct tn_plugin_kind *kind, const char *path, const char **name);

/* The kind for which tn_plugin_name_in finds a name; NULL: none. */
const struct tn_plugin_kind *tn_plugin_kind_of(const char *path);
/* The kind of that note type; NULL: none. */
const struct tn_plugin_kind *tn_plugin_kind_with(uint32_t note_type);

#endif
