/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * backend_cpu.so: the processor as a device.  An instance holds the host's services, the kernels
 * chosen for the processor and the BLAS library found; there is one device, whose memory is the
 * host's and whose work is done when an entry returns.
 */
#include "plugin.h"

#include <string.h>

#include "conv2d.h"
#include "lines.h"
#include "nn.h"
#include "processor.h"

void cpu_parallel(const struct cpu_device *device, uint64_t n, uint64_t grain,
		  void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument)
{
	const struct tn_host *host = device->instance->host;
	host->parallel_for(host->context, n, grain, body, argument);
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	const char *variant = tn_plugin_option(host, "variant");
	if (variant && !strcmp(variant, "auto"))
		variant = NULL;
	const struct cpu_kernels *kernels = cpu_kernels_choose(variant);
	if (!kernels)
		return tn_plugin_fail(
			error, TN_NO_DEVICE, "create",
			"the processor is older than x86-64-v2, which the kernels need");
	if (variant && !cpu_kernels_are(kernels, variant))
		tn_plugin_log(
			host, "cpu", TN_LOG_WARNING,
			"cpu.variant: this processor has no kernels '%s': expected at most its own "
			"level; using %s",
			variant, kernels->name);
	struct cpu_instance *own = tn_plugin_alloc(host, sizeof(*own));
	if (!own)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "create",
				      "no memory for an instance");
	own->host = host;
	own->kernels = kernels;
	cpu_block_table_fill(&own->blocks, kernels);
	cpu_processor_name(own->name, sizeof(own->name));
	cpu_blas_open(&own->blas, host, kernels->vector_bytes);
	own->convolution = cpu_conv_choose(host);
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct cpu_instance *own = instance;
	cpu_blas_close(&own->blas);
	tn_plugin_free(own->host, own);
}

static const void *query(void *instance, const char *table)
{
	static const struct tn_plugin_table tables[] = {
		{TN_TABLE_DEVICE, &cpu_device_table}, {TN_TABLE_COMPUTE, &cpu_compute_table},
		{TN_TABLE_COPY, &cpu_copy_table},     {TN_TABLE_MEMORY, &cpu_memory_table},
		{TN_TABLE_REPORT, &cpu_report_table}, {TN_TABLE_NN, &cpu_nn_table},
		{TN_TABLE_SCAN, &cpu_scan_table},     {TN_TABLE_SORT, &cpu_sort_table},
	};
	const struct cpu_blas *blas = &((const struct cpu_instance *)instance)->blas;
	if (!strcmp(table, TN_TABLE_LINALG))
		return blas->handle && !blas->lapack.missing ? &cpu_linalg_table : NULL;
	return tn_plugin_table_find(tables, sizeof(tables) / sizeof(tables[0]), table);
}

static const struct tn_option_row options[] = {
	{
		.name = "conv",
		.variable = "TENON_CPU_CONV",
		.type = TN_OPTION_CHOICE,
		.standard = "auto",
		.choices = "auto,depthwise,winograd,few,implicit",
		.help = "the convolution algorithm, if it supports the shape",
	},
	{
		.name = "openblas",
		.variable = "TENON_CPU_OPENBLAS",
		.type = TN_OPTION_TEXT,
		.help = "file name or path of the OpenBLAS library to use",
	},
	{
		.name = "variant",
		.variable = "TENON_CPU_VARIANT",
		.type = TN_OPTION_CHOICE,
		.standard = "auto",
		.choices = "auto,v2,v3,v4,neon,portable",
		.help = "the level of the kernels to use; auto: the best",
	},
};

#define CPU_UUID                                                                                   \
	0xc6, 0x62, 0x87, 0xab, 0xe7, 0xba, 0x48, 0x8d, 0xbc, 0xb6, 0x7c, 0xec, 0x4c, 0x83, 0x61,  \
		0xdf

TN_BACKEND_PLUGIN_OPTIONS(CPU_UUID, "cpu", "0.1.0", "Apache-2.0", create, destroy, query, options);
