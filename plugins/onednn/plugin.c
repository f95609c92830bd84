/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * backend_onednn.so: layers on the processor by oneDNN.  There is one device, whose memory is the
 * host's and whose work is done when an entry returns.  Operations outside oneDNN's scope
 * (programs, reductions, copies) are refused: the host lends them from another backend, without a
 * copy.
 */
#include "plugin.h"

tn_status onednn_answer(struct tn_error_info *error, dnnl_status_t answer, tn_status otherwise,
			const char *operation, const char *step)
{
	static const char *const words[] = {
		"success",       "out of memory",         "invalid arguments",
		"unimplemented", "no further descriptor", "runtime error",
		"not required"};
	unsigned number = (unsigned)answer;
	tn_status status = answer == dnnl_out_of_memory ? TN_OUT_OF_MEMORY : otherwise;
	tn_plugin_fail(error, status, operation, "oneDNN: %s: %s", step,
		       number < sizeof(words) / sizeof(*words) ? words[number] : "unknown");
	if (error && TN_HAS_FIELD(struct tn_error_info, error, native_code))
		error->native_code = answer;
	return status;
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct onednn_instance *own = tn_plugin_alloc(host, sizeof(*own));
	if (!own)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "create",
				      "no memory for an instance");
	own->host = host;
	tn_status status = onednn_library_open(&own->library, host, error);
	if (status)
		tn_plugin_free(host, own);
	else
		*instance = own;
	return status;
}

/* The library stays mapped: its threads outlive this instance. */
static void destroy(void *instance)
{
	struct onednn_instance *own = instance;
	tn_plugin_free(own->host, own);
}

static const void *query(void *instance, const char *table)
{
	static const struct tn_plugin_table tables[] = {
		{TN_TABLE_DEVICE, &onednn_device_table},
		{TN_TABLE_COMPUTE, &onednn_compute_table},
		{TN_TABLE_NN, &onednn_nn_table},
	};
	(void)instance;
	return tn_plugin_table_find(tables, sizeof(tables) / sizeof(tables[0]), table);
}

static const struct tn_option_row options[] = {
	{
		.name = "library",
		.variable = "TENON_ONEDNN_LIBRARY",
		.type = TN_OPTION_TEXT,
		.standard = ONEDNN_LIBRARY,
		.help = "file name or path of the library",
	},
};

#define ONEDNN_UUID                                                                                \
	0x38, 0xc6, 0x89, 0xae, 0x29, 0xad, 0x44, 0x72, 0x92, 0x12, 0x62, 0xd8, 0x87, 0x10, 0x37,  \
		0x17

TN_BACKEND_PLUGIN_OPTIONS(ONEDNN_UUID, "onednn", "0.1.0", "Apache-2.0", create, destroy, query,
			  options);
