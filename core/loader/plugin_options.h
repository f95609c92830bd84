/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The options of a plugin: its rows, and the values that it gets.
 */
#ifndef TN_LOADER_PLUGIN_OPTIONS_H
#define TN_LOADER_PLUGIN_OPTIONS_H

#include "base/parameter.h"
#include "loader/plugin.h"

/* What a program gives: pairs of "PLUGIN.NAME" and a value. */
struct tn_given_options {
	const struct tn_pair *pairs;
	size_t n;
};

/* Is each key PLUGIN.NAME, and is there a value?  TN_FORMAT: it is not; the text has the column.
 * TN_INVALID_ARGUMENT: there is a NULL. */
tn_status tn_given_options_check(const struct tn_given_options *given,
				 const struct tn_plugin_kind *kind, const char *operation,
				 struct tn_error_info *error);
/* The length of the plugin's name in a key that was checked. */
size_t tn_given_plugin_length(const char *key);

/* Checks the rows of a descriptor, which may be any data.  TN_BAD_PLUGIN: the text has the row and
 * the rule that it breaks. */
tn_status tn_plugin_options_check(const struct tn_backend_descriptor *descriptor,
				  struct tn_error_info *error);

/* Gives each option of a plugin its value: that of `given`, the last one of a name; else that of
 * its variable; else the row's own.
 *   TN_NOT_FOUND: `given` has an option of this plugin for which there is no row.
 *   TN_INVALID_ARGUMENT: a value of `given` does not suit its row.
 *   TN_FORMAT: a variable's does not.  TN_OUT_OF_MEMORY. */
tn_status tn_plugin_options_take(struct tn_plugin *plugin, const struct tn_given_options *given,
				 struct tn_parameters *parameters, struct tn_error_info *error);
void tn_plugin_options_release(struct tn_plugin *plugin);

/* The value of an option; NULL: it has none, or there is no such option. */
const char *tn_plugin_options_value(const struct tn_plugin *plugin, const char *name);

#endif
