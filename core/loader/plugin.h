/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A loaded plugin: its descriptor, its options, and its instance, which other contexts may use too.
 */
#ifndef TN_LOADER_PLUGIN_H
#define TN_LOADER_PLUGIN_H

#include <tenon/backend.h>

struct tn_host_services;
struct tn_instance;
struct tn_plugin_kind;

/* An option of a plugin, and what it was given. */
struct tn_option_value {
	const struct tn_option_row *row; /* of the file, which stays mapped */
	char *value;                     /* NULL: none */
	const char *origin;              /* "program", "environment" or "default" */
};

struct tn_plugin {
	char name[32];
	const char *version;
	const char *path; /* NULL: built in */
	uint8_t uuid[16];
	void *instance;
	uint32_t abi_minor; /* the effective one */

	/* Used by the loader alone. */
	const struct tn_plugin_kind *kind;
	struct tn_backend_descriptor descriptor;
	struct tn_instance *shared;        /* instance.h; NULL: not created */
	struct tn_host_services *services; /* of the instance */
	struct tn_option_value *options;   /* until the instance has them */
	size_t n_options;
	int is_silent; /* its context wants no more messages of the instance */
};

#endif
