/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A loaded plugin: an instance, its descriptor, its options, and the services that the host gives
 * it.
 */
#ifndef TN_LOADER_PLUGIN_H
#define TN_LOADER_PLUGIN_H

#include <tenon/backend.h>

struct tn_host_services;
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
	struct tn_host_services *services;
	struct tn_option_value *options;
	size_t n_options;
	int created; /* an instance must be destroyed */
};

#endif
