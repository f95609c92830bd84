/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The grammar of TENON_BACKEND and of TENON_SIMULATE.
 *
 *	selection = "" | "auto" | item { "," item } [ "!" ]
 *	item      = name [ ":" index ] | kind | identity | "^" name
 *	name      = letters, digits, '_', '-' and '.', at most 31; not a word of this grammar
 *	index     = a decimal number below 100000, without leading zeros
 *	kind      = "gpu" | "accelerator"
 *	identity  = "pci:" address | "uuid:" uuid (identity.h)
 *
 *	simulation = name ":" fault { "," name ":" fault }
 *
 * Earlier items are preferred; ^name excludes; '!' forbids all backends and devices not named.
 */
#ifndef TN_LOADER_SELECTION_H
#define TN_LOADER_SELECTION_H

#include <stddef.h>
#include <tenon/backend.h>

#include "loader/identity.h"

#define TN_SELECTION_MAX_ITEMS 32
#define TN_ANY_INDEX (-1)

enum tn_selects {
	TN_SELECTS_BACKEND = 0, /* its devices, or the one with that index */
	TN_SELECTS_GPU,
	TN_SELECTS_ACCELERATOR,
	TN_SELECTS_IDENTITY,
};

struct tn_selection_item {
	enum tn_selects what;
	char name[TN_IDENTITY_TEXT]; /* as it is written, without the index */
	int64_t index;               /* of a backend's device, or TN_ANY_INDEX */
	struct tn_identity identity;
	size_t at; /* where it begins in the text */
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
/* By '^name'. */
int tn_selection_excludes(const struct tn_selection *selection, const char *name);
/* By its name. */
int tn_selection_names(const struct tn_selection *selection, const char *name);
/* By '!': no item of the selection can be a device of that backend, whose data file says that its
 * devices are of that kind (TN_DEVICE_...; 0: it does not say). */
int tn_selection_forbids(const struct tn_selection *selection, const char *name, uint32_t kind);
/* It names backends alone, and not this one. */
int tn_selection_prefers_others(const struct tn_selection *selection, const char *name);
/* Is that device of a backend one that the item names? */
int tn_selection_item_is(const struct tn_selection_item *item, const char *backend, uint32_t index,
			 const struct tn_device_description *device);
/* Are devices of that kind (TN_DEVICE_...) what the item names? */
int tn_selection_item_is_kind(const struct tn_selection_item *item, uint32_t kind);
/* The words for kinds of devices, which end with NULL. */
extern const char *const tn_selection_kinds[];

tn_status tn_simulation_parse(const char *text, struct tn_simulation *simulation,
			      struct tn_error_info *error);
/* The fault simulated for that backend; TN_OK: none. */
tn_status tn_simulation_of(const struct tn_simulation *simulation, const char *name);

#endif
