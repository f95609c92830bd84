/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * backend_cpu.so: the processor as a device.  An instance holds the host's services, the kernels
 * chosen for the processor and the BLAS library that was found; there is one device, whose memory
 * is the host's and whose work is done when an entry returns.
 */
#include "plugin.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conv2d.h"
#include "lines.h"
#include "nn.h"
#include "processor.h"

static void fill_text(struct tn_error_info *error, const struct tn_error_info *own)
{
	uint32_t size = error->struct_size;
	memcpy(error, own, size < sizeof(*own) ? size : sizeof(*own));
	error->struct_size = size;
}

tn_status cpu_fail(struct tn_error_info *error, tn_status status, const char *operation,
		   const char *format, ...)
{
	if (!error)
		return status;
	struct tn_error_info own = {.status = status};
	va_list list;
	va_start(list, format);
	vsnprintf(own.text, sizeof(own.text), format, list);
	va_end(list);
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	fill_text(error, &own);
	return status;
}

tn_status cpu_take(void *own, size_t own_size, const void *theirs, uint32_t flags,
		   const char *operation)
{
	const struct tn_call *call = theirs;
	size_t size = call->struct_size;
	memcpy(own, theirs, size < own_size ? size : own_size);
	if (size < own_size)
		memset((char *)own + size, 0, own_size - size);
	struct tn_error_info *error = ((struct tn_call *)own)->error;
	if (!tn_arguments_fit(theirs, own_size))
		return cpu_fail(error, TN_UNSUPPORTED, operation,
				"arguments of %zu bytes, known are %zu", size, own_size);
	uint32_t unknown = ((struct tn_call *)own)->flags & ~flags;
	if (unknown)
		return cpu_fail(error, TN_UNSUPPORTED, operation, "flags 0x%x are not known here",
				unknown);
	return TN_OK;
}

tn_status cpu_dry(const struct tn_call *call)
{
	if (call->workspace) {
		call->workspace->minimum = 0;
		call->workspace->preferred = 0;
	}
	return TN_OK;
}

void cpu_log(const struct tn_host *host, int32_t level, const char *format, ...)
{
	char text[512];
	if (!host->log_enabled(host->context, level, "cpu"))
		return;
	va_list list;
	va_start(list, format);
	int length = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (length < 0)
		return;
	size_t size = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
	host->log(host->context, level, "cpu", text, size);
}

void cpu_parallel(const struct cpu_device *device, uint64_t n, uint64_t grain,
		  void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument)
{
	const struct tn_host *host = device->instance->host;
	host->parallel_for(host->context, n, grain, body, argument);
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	const char *variant = host->parameter(
		host->context, "TENON_CPU_VARIANT",
		"cpu: the level whose kernels to use (v2, v3, v4; default: the best)");
	const struct cpu_kernels *kernels = cpu_kernels_choose(variant);
	if (!kernels)
		return cpu_fail(error, TN_NO_DEVICE, "create",
				"the processor is older than x86-64-v2, which the kernels need");
	if (variant && !cpu_kernels_are(kernels, variant))
		cpu_log(host, TN_LOG_WARNING,
			"TENON_CPU_VARIANT: this processor has no kernels '%s': expected v2, v3 or "
			"v4, at most its own level; using %s",
			variant, kernels->name);
	struct cpu_instance *own = host->alloc(host->context, sizeof(*own), 0);
	if (!own)
		return cpu_fail(error, TN_OUT_OF_MEMORY, "create", "no memory for an instance");
	memset(own, 0, sizeof(*own));
	own->host = host;
	own->kernels = kernels;
	cpu_block_table_fill(&own->blocks, kernels);
	cpu_processor_name(own->name, sizeof(own->name));
	cpu_blas_open(&own->blas, host);
	own->convolution = cpu_conv_choose(host);
	*instance = own;
	return TN_OK;
}

static void destroy(void *instance)
{
	struct cpu_instance *own = instance;
	cpu_blas_close(&own->blas);
	own->host->free(own->host->context, own);
}

static const void *query(void *instance, const char *table)
{
	(void)instance;
	if (!strcmp(table, TN_TABLE_DEVICE))
		return &cpu_device_table;
	if (!strcmp(table, TN_TABLE_COMPUTE))
		return &cpu_compute_table;
	if (!strcmp(table, TN_TABLE_COPY))
		return &cpu_copy_table;
	if (!strcmp(table, TN_TABLE_MEMORY))
		return &cpu_memory_table;
	if (!strcmp(table, TN_TABLE_REPORT))
		return &cpu_report_table;
	if (!strcmp(table, TN_TABLE_NN))
		return &cpu_nn_table;
	if (!strcmp(table, TN_TABLE_SCAN))
		return &cpu_scan_table;
	if (!strcmp(table, TN_TABLE_SORT))
		return &cpu_sort_table;
	return NULL;
}

#define CPU_UUID                                                                                   \
	0xc6, 0x62, 0x87, 0xab, 0xe7, 0xba, 0x48, 0x8d, 0xbc, 0xb6, 0x7c, 0xec, 0x4c, 0x83, 0x61,  \
		0xdf

TN_BACKEND_PLUGIN(CPU_UUID, "cpu", "0.1.0", "Apache-2.0", create, destroy, query);
