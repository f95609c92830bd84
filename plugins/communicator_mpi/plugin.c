/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The plugin's descriptor: creates and destroys an instance, and gives its table.
 */
#include "engine.h"

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct mpi_instance *own;
	tn_status status = mpi_engine_take(error);
	if (status)
		return status;
	own = tn_plugin_alloc(host, sizeof(*own));
	if (!own) {
		mpi_engine_give_back();
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "create",
				      "no memory for an instance");
	}
	own->host = host;
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct mpi_instance *own = instance;
	mpi_engine_end(own->host);
	tn_plugin_free(own->host, own);
	mpi_engine_give_back();
}

static const void *query(void *instance, const char *table)
{
	static const struct tn_plugin_table tables[] = {
		{TN_TABLE_COMMUNICATOR, &mpi_communicator_table},
	};
	(void)instance;
	return tn_plugin_table_find(tables, sizeof(tables) / sizeof(tables[0]), table);
}

#ifdef OPEN_MPI
#define MPI_PLUGIN_NAME "openmpi"
#define MPI_PLUGIN_UUID                                                                            \
	0xdb, 0x16, 0x7d, 0xc3, 0x39, 0x04, 0x49, 0x33, 0x86, 0xc2, 0x46, 0x57, 0x54, 0x43, 0xa4,  \
		0x24
#else
#define MPI_PLUGIN_NAME "mpich"
#define MPI_PLUGIN_UUID                                                                            \
	0xe4, 0xf4, 0xf2, 0x5b, 0x60, 0xc5, 0x4d, 0x70, 0x9c, 0xc6, 0xe8, 0x31, 0xb0, 0x05, 0xdd,  \
		0xb1
#endif

TN_COMMUNICATOR_PLUGIN(MPI_PLUGIN_UUID, MPI_PLUGIN_NAME, "0.1.0", "Apache-2.0",
		       TN_COMMUNICATOR_PROCESS_WIDE, create, destroy, query);
