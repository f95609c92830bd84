/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * backend_opencl.so: any device of OpenCL 1.2.  An instance holds the host's services, libOpenCL
 * and the devices found; all other state belongs to an open device.
 */
#include "plugin.h"

#include <stdio.h>
#include <string.h>

tn_status opencl_fail_code(struct tn_error_info *error, cl_int code, const char *operation,
			   const char *function)
{
	struct tn_error_info own = {.status = opencl_error_status(code), .native_code = code};
	if (!error)
		return own.status;
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	snprintf(own.text, sizeof(own.text), "%s: %s (%d)", function, opencl_error_name(code),
		 (int)code);
	tn_struct_answer(error, &own, sizeof(own));
	return own.status;
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	char text[256];
	struct opencl_instance *own = tn_plugin_alloc(host, sizeof(*own));
	if (!own)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "create",
				      "no memory for an instance");
	own->host = host;
	tn_status status = opencl_library_open(&own->cl, text, sizeof(text));
	if (status) {
		tn_plugin_free(host, own);
		return tn_plugin_fail(error, status, "create", "%s", text);
	}
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct opencl_instance *own = instance;
	opencl_library_close(&own->cl);
	tn_plugin_free(own->host, own);
}

static const struct tn_compute_table compute_table = {
	.struct_size = sizeof(compute_table),
	.map = opencl_map,
	.reduce = opencl_reduce,
	.matmul = opencl_matmul,
};

static const void *query(void *instance, const char *table)
{
	static const struct tn_plugin_table tables[] = {
		{TN_TABLE_DEVICE, &opencl_device_table}, {TN_TABLE_COMPUTE, &compute_table},
		{TN_TABLE_COPY, &opencl_copy_table},     {TN_TABLE_MEMORY, &opencl_memory_table},
		{TN_TABLE_STREAM, &opencl_stream_table}, {TN_TABLE_IMPORT, &opencl_import_table},
		{TN_TABLE_NATIVE, &opencl_native_table},
	};
	(void)instance;
	return tn_plugin_table_find(tables, sizeof(tables) / sizeof(tables[0]), table);
}

#define OPENCL_UUID                                                                                \
	0x1f, 0x8e, 0xbf, 0xb5, 0x5c, 0x7a, 0x4c, 0xa3, 0xbe, 0x88, 0x1f, 0x44, 0x31, 0xb8, 0x6c,  \
		0x88

TN_BACKEND_PLUGIN(OPENCL_UUID, "opencl", "0.1.0", "Apache-2.0", create, destroy, query);
