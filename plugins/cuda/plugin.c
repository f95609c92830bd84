/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * backend_cuda.so: NVIDIA's GPUs.  An instance holds the host's services, the runtime's functions
 * and the devices found; all other state belongs to an open device.
 */
#include "plugin.h"

#include <string.h>

#include "facts.h"
#include "nn.h"
#include "report.h"
#include "status.h"

/* device_count reports missing parts, because it can tell whether there is hardware at all. */
static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct cuda_instance *own = tn_plugin_alloc(host, sizeof(*own));
	if (!own)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "create",
				      "no memory for an instance");
	own->host = host;
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct cuda_instance *own = instance;
	cuda_facts_end(own);
	cuda_library_close(&own->rt.handle);
	tn_plugin_free(own->host, own);
}

static const struct tn_compute_table compute_table = {
	.struct_size = sizeof(compute_table),
	.map = cuda_map,
	.reduce = cuda_reduce,
	.matmul = cuda_matmul,
};

static const void *query(void *instance, const char *table)
{
	static const struct {
		const char *id;
		const void *table;
	} tables[] = {
		{TN_TABLE_DEVICE, &cuda_device_table},   {TN_TABLE_COMPUTE, &compute_table},
		{TN_TABLE_COPY, &cuda_copy_table},       {TN_TABLE_MEMORY, &cuda_memory_table},
		{TN_TABLE_STREAM, &cuda_stream_table},   {TN_TABLE_NN, &cuda_nn_table},
		{TN_TABLE_REPORT, &cuda_report_table},   {TN_TABLE_COMPILE, &cuda_compile_table},
		{TN_TABLE_CAPTURE, &cuda_capture_table}, {TN_TABLE_PEER, &cuda_peer_table},
		{TN_TABLE_SORT, &cuda_sort_table},       {TN_TABLE_SCAN, &cuda_scan_table},
		{TN_TABLE_IMPORT, &cuda_import_table},   {TN_TABLE_NATIVE, &cuda_native_table},
	};
	(void)instance;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(table, tables[i].id))
			return tables[i].table;
	return NULL;
}

static const struct tn_option_row options[] = {
	{
		.name = "cudnn",
		.variable = "TENON_CUDA_CUDNN",
		.type = TN_OPTION_CHOICE,
		.standard = "off",
		.choices = "off,on,auto",
		.help = "cuDNN in convolutions: on: wherever it supports them, auto: where timing "
			"showed it to be faster",
	},
	{
		.name = "libraries",
		.variable = "TENON_CUDA_LIBRARIES",
		.type = TN_OPTION_TEXT,
		.standard = "",
		.help = "the only folders, with colons between, where CUDA's libraries are looked "
			"for after the loader's; default: where they are usually installed",
	},
	{
		.name = "tf32",
		.variable = "TENON_CUDA_TF32",
		.type = TN_OPTION_BOOL,
		.standard = "0",
		.help = "f32 is multiplied, in matmul and conv2d, with factors of 10 bits (TF32)",
	},
};

#define CUDA_UUID                                                                                  \
	0x5e, 0x0b, 0x42, 0x9d, 0x71, 0xc6, 0x4f, 0x0e, 0x9a, 0x13, 0x6d, 0x88, 0x2f, 0xb7, 0x30,  \
		0xc4

TN_BACKEND_PLUGIN_OPTIONS(CUDA_UUID, "cuda", "0.1.0", "Apache-2.0", create, destroy, query,
			  options);
