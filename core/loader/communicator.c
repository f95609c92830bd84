/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What loading a communicator has beyond that of any plugin: its table.
 */
#include "loader/communicator.h"

#include <string.h>

#include "base/error.h"
#include "loader/kind.h"
#include "loader/stage.h"

typedef void (*function)(void);

static const struct {
	const char *name;
	size_t offset;
} entries[] = {
	{"open", offsetof(struct tn_communicator_table, open)},
	{"close", offsetof(struct tn_communicator_table, close)},
	{"describe", offsetof(struct tn_communicator_table, describe)},
	{"start", offsetof(struct tn_communicator_table, start)},
	{"test", offsetof(struct tn_communicator_table, test)},
	{"abort", offsetof(struct tn_communicator_table, abort)},
};

static tn_status take_communicator(struct tn_loading *loading, struct tn_candidate *candidate,
				   struct tn_plugin *plugin, struct tn_error_info *error)
{
	struct tn_communicator_table *own = &((struct tn_communicator_plugin *)plugin)->table;
	tn_plugin_enter(loading, candidate, TN_STAGE_QUERY);
	const void *theirs = plugin->descriptor.query(plugin->instance, TN_TABLE_COMMUNICATOR);
	if (!theirs)
		return tn_fail(error, TN_BAD_PLUGIN, "query", "it has no table %s",
			       TN_TABLE_COMMUNICATOR);
	uint32_t size;
	memcpy(&size, theirs, sizeof(size));
	memcpy(own, theirs, size < sizeof(*own) ? size : sizeof(*own));
	own->struct_size = sizeof(*own);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		function entry;
		memcpy(&entry, (const char *)own + entries[i].offset, sizeof(entry));
		if (!entry || entries[i].offset + sizeof(entry) > size)
			return tn_fail(error, TN_BAD_PLUGIN, "query",
				       "table %s: %s is mandatory, found %s", TN_TABLE_COMMUNICATOR,
				       entries[i].name, entry ? "a shorter table" : "NULL");
	}
	return TN_OK;
}

/* `create` of a process-wide engine beside another instance. */
static const tn_status refusals[] = {TN_STATE, TN_OK};

const struct tn_plugin_kind tn_communicator_kind = {
	.name = "communicator",
	.article = "a communicator",
	.options = "communicator_options",
	.symbol = TN_COMMUNICATOR_SYMBOL,
	.macro = "TN_COMMUNICATOR_PLUGIN",
	.note_type = TN_COMMUNICATOR_NOTE_TYPE,
	.flags = TN_COMMUNICATOR_PROCESS_WIDE,
	.once = TN_COMMUNICATOR_PROCESS_WIDE,
	.host = {TN_COMMUNICATOR_ABI_MAJOR, TN_COMMUNICATOR_ABI_MINOR, TN_ABI_OLDEST_PLUGIN},
	.refusals = refusals,
	.size = sizeof(struct tn_communicator_plugin),
	.take = take_communicator,
};
