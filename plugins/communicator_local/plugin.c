/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * communicator_local.so: the entries.
 */
#include <string.h>
#include <unistd.h>

#include "local.h"

struct local_instance {
	const struct tn_host *host;
	struct local_variables variables;
};

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct local_instance *own = tn_plugin_alloc(host, sizeof(*own));
	if (!own)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "create",
				      "no memory for an instance");
	own->host = host;
	local_variables_read(host, &own->variables);
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct local_instance *own = instance;
	tn_plugin_free(own->host, own);
}

static tn_status open_communicator(void *instance, const struct tn_communicator_open_args *args,
				   void **communicator)
{
	const struct local_instance *own = instance;
	struct tn_communicator_open_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "open");
	if (status)
		return status;
	struct local_communicator *opened = tn_plugin_alloc(own->host, sizeof(*opened));
	if (!opened)
		return tn_plugin_fail(taken.call.error, TN_OUT_OF_MEMORY, "open",
				      "no memory for a communicator");
	opened->host = own->host;
	status = local_job_parse(&own->variables, &opened->job, taken.call.error);
	if (!status)
		status = local_open(opened, taken.call.error);
	if (status) {
		tn_plugin_free(own->host, opened);
		return status;
	}
	*communicator = opened;
	return TN_OK;
}

static void close_communicator(void *communicator)
{
	struct local_communicator *own = communicator;
	while (own->first)
		local_remove(own, own->first);
	local_leave(own);
	tn_plugin_free(own->host, own);
}

static tn_status describe(void *communicator, struct tn_communicator_description *description)
{
	const struct local_communicator *own = communicator;
	struct tn_communicator_description answer = {
		.flags = TN_COMMUNICATOR_ORDERED,
		.rank = own->job.rank,
		.size = own->job.size,
		.local_rank = own->job.rank,
		.local_size = own->job.size,
		.engine = "shared memory",
	};
	if (gethostname(answer.host, sizeof(answer.host) - 1))
		(void)snprintf(answer.host, sizeof(answer.host), "localhost");
	tn_struct_answer(description, &answer, sizeof(answer));
	return TN_OK;
}

static void abort_communicator(void *communicator, int32_t code, const char *reason)
{
	struct local_communicator *own = communicator;
	char text[256];
	(void)snprintf(text, sizeof(text), "rank %u (process %lld) aborts with code %d: %s",
		       own->job.rank, (long long)getpid(), (int)code,
		       reason ? reason : "no reason given");
	local_fail(own, TN_PEER_LOST, text);
}

static const void *query(void *instance, const char *table)
{
	static const struct tn_communicator_table communicator = {
		.struct_size = sizeof(communicator),
		.open = open_communicator,
		.close = close_communicator,
		.describe = describe,
		.start = local_start,
		.test = local_test,
		.abort = abort_communicator,
	};
	static const struct tn_plugin_table tables[] = {{TN_TABLE_COMMUNICATOR, &communicator}};
	(void)instance;
	return tn_plugin_table_find(tables, sizeof(tables) / sizeof(tables[0]), table);
}

static const struct tn_option_row options[] = {
	{
		.name = "bytes",
		.variable = "TENON_LOCAL_BYTES",
		.type = TN_OPTION_TEXT,
		.standard = "2M",
		.help = "bytes of shared memory of each process, 64K to 1G; K, M and G are "
			"understood",
	},
	{
		.name = "folder",
		.variable = "TENON_LOCAL_DIR",
		.type = TN_OPTION_TEXT,
		.help = "the folder of the shared memory, an absolute path; without it the first "
			"of /dev/shm, TMPDIR and /tmp that can be written and has room",
	},
};

#define LOCAL_UUID                                                                                 \
	0x3e, 0x91, 0xd4, 0x6a, 0x0f, 0x5b, 0x4c, 0x27, 0xa8, 0xe3, 0x71, 0x9c, 0x52, 0xbd, 0x06,  \
		0xf4
TN_COMMUNICATOR_PLUGIN_OPTIONS(LOCAL_UUID, "local", "0.1.0", "Apache-2.0", 0, create, destroy,
			       query, options);
