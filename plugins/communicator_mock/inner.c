/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The other communicator's file: a path, or communicator_NAME.so in a folder of TENON_PLUGIN_PATH
 * or in that of the plugins, which is installed beside the mocks'.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "mock.h"

enum { MOST_PATH = 4096 };

/* Is communicator_NAME.so in that folder?  Then `path` is its path. */
static int find_in(const char *folder, size_t length, const char *name, char *path)
{
	const int n =
		snprintf(path, MOST_PATH, "%.*s/communicator_%s.so", (int)length, folder, name);
	return length && length < MOST_PATH && n < MOST_PATH && !access(path, R_OK);
}

/* The same in the folders of a list with ':' between. */
static int find_in_list(const char *folders, const char *name, char *path)
{
	while (folders) {
		const size_t length = strcspn(folders, ":");
		if (find_in(folders, length, name, path))
			return 1;
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return 0;
}

static tn_status find(const struct tn_host *host, const char *name, char *path,
		      struct tn_error_info *error)
{
	const char *own = host->plugin_path(host->context);
	const char *own_end = own ? strrchr(own, '/') : NULL;
	char folder[MOST_PATH] = "";
	if (strchr(name, '/')) {
		if (snprintf(path, MOST_PATH, "%s", name) < MOST_PATH)
			return TN_OK;
		return tn_plugin_fail(error, TN_LIMIT, "create",
				      "TENON_MOCK_COMMUNICATOR: a path of more than %d bytes",
				      MOST_PATH - 1);
	}
	if (own_end && own_end - own < MOST_PATH - 16)
		(void)snprintf(folder, sizeof(folder), "%.*s/../%u", (int)(own_end - own), own,
			       TN_ABI_MAJOR);
	if (find_in_list(host->parameter(host->context, "TENON_PLUGIN_PATH",
					 "folders with plugins, with ':' between"),
			 name, path) ||
	    find_in(folder, strlen(folder), name, path))
		return TN_OK;
	return tn_plugin_fail(error, TN_NO_PLUGIN, "create",
			      "TENON_MOCK_COMMUNICATOR: communicator_%.64s.so is neither in a "
			      "folder of TENON_PLUGIN_PATH nor in %.300s",
			      name, folder);
}

static tn_status check_descriptor(const struct tn_backend_descriptor *found, const char *path,
				  struct tn_error_info *error)
{
	if (found->magic != TN_BACKEND_MAGIC || found->struct_size < sizeof(*found))
		return tn_plugin_fail(error, TN_BAD_PLUGIN, "create",
				      "%.300s: not a communicator of Tenon", path);
	if (found->abi_major != TN_COMMUNICATOR_ABI_MAJOR ||
	    found->abi_minor != TN_COMMUNICATOR_ABI_MINOR)
		return tn_plugin_fail(error, TN_ABI_MISMATCH, "create",
				      "%.300s: interface %u.%u, expected %u.%u", path,
				      found->abi_major, found->abi_minor, TN_COMMUNICATOR_ABI_MAJOR,
				      TN_COMMUNICATOR_ABI_MINOR);
	return TN_OK;
}

tn_status mock_inner_open(struct mock_inner *inner, const struct tn_host *host, const char *name,
			  struct tn_error_info *error)
{
	char path[MOST_PATH];
	tn_status status = find(host, name, path, error);
	if (status)
		return status;
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (file)
		inner->descriptor = dlsym(file, TN_COMMUNICATOR_SYMBOL);
	if (!inner->descriptor)
		return tn_plugin_fail(error, TN_BAD_PLUGIN, "create", "%s", dlerror());
	status = check_descriptor(inner->descriptor, path, error);
	if (!status)
		status = inner->descriptor->create(host, error, &inner->instance);
	if (status)
		return status;
	inner->table = inner->descriptor->query(inner->instance, TN_TABLE_COMMUNICATOR);
	if (inner->table && TN_HAS_FIELD(struct tn_communicator_table, inner->table, abort))
		return TN_OK;
	mock_inner_close(inner);
	return tn_plugin_fail(error, TN_BAD_PLUGIN, "create", "%.300s: no table %s", path,
			      TN_TABLE_COMMUNICATOR);
}

void mock_inner_close(struct mock_inner *inner)
{
	inner->descriptor->destroy(inner->instance);
}
