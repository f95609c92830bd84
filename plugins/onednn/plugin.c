/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * backend_onednn.so: layers on the processor by oneDNN.  There is one device, whose memory is the
 * host's and whose work is done when an entry returns.  What oneDNN is not made for (programs,
 * reductions, copies) is refused: the host lends it from another backend, without a copy.
 */
#include "plugin.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tn_status onednn_fail(struct tn_error_info *error, tn_status status, const char *operation,
		      const char *format, ...)
{
	struct tn_error_info own = {.status = status};
	va_list list;
	if (!error)
		return status;
	va_start(list, format);
	vsnprintf(own.text, sizeof(own.text), format, list);
	va_end(list);
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	tn_struct_answer(error, &own, sizeof(own));
	return status;
}

tn_status onednn_answer(struct tn_error_info *error, dnnl_status_t answer, tn_status otherwise,
			const char *operation, const char *step)
{
	static const char *const words[] = {
		"success",       "out of memory",         "invalid arguments",
		"unimplemented", "no further descriptor", "runtime error",
		"not required"};
	unsigned number = (unsigned)answer;
	tn_status status = answer == dnnl_out_of_memory ? TN_OUT_OF_MEMORY : otherwise;
	onednn_fail(error, status, operation, "oneDNN: %s: %s", step,
		    number < sizeof(words) / sizeof(*words) ? words[number] : "unknown");
	if (error && TN_HAS_FIELD(struct tn_error_info, error, native_code))
		error->native_code = answer;
	return status;
}

tn_status onednn_take(void *own, size_t own_size, const void *theirs, uint32_t flags,
		      const char *operation)
{
	tn_status status = tn_arguments_take(own, own_size, theirs);
	const struct tn_call *call = own;
	if (status)
		return onednn_fail(call->error, status, operation,
				   "arguments of %u bytes, known are %zu",
				   ((const struct tn_call *)theirs)->struct_size, own_size);
	if (call->flags & ~flags)
		return onednn_fail(call->error, TN_UNSUPPORTED, operation,
				   "flags 0x%x are not known here", call->flags & ~flags);
	return TN_OK;
}

void onednn_log(const struct tn_host *host, int32_t level, const char *format, ...)
{
	char text[512];
	va_list list;
	if (!host->log_enabled(host->context, level, "onednn"))
		return;
	va_start(list, format);
	int length = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (length < 0)
		return;
	size_t size = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
	host->log(host->context, level, "onednn", text, size);
}

void *onednn_zeroed(const struct onednn_instance *instance, size_t size)
{
	void *memory = instance->host->alloc(instance->host->context, size, 0);
	return memory ? memset(memory, 0, size) : NULL;
}

void onednn_free(const struct onednn_instance *instance, void *memory)
{
	if (memory)
		instance->host->free(instance->host->context, memory);
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	struct onednn_instance *own = host->alloc(host->context, sizeof(*own), 0);
	if (!own)
		return onednn_fail(error, TN_OUT_OF_MEMORY, "create", "no memory for an instance");
	memset(own, 0, sizeof(*own));
	own->host = host;
	tn_status status = onednn_library_open(&own->library, host, error);
	if (status)
		onednn_free(own, own);
	else
		*instance = own;
	return status;
}

/* The library stays mapped: its threads outlive this instance. */
static void destroy(void *instance)
{
	onednn_free(instance, instance);
}

static const void *query(void *instance, const char *table)
{
	(void)instance;
	if (!strcmp(table, TN_TABLE_DEVICE))
		return &onednn_device_table;
	if (!strcmp(table, TN_TABLE_COMPUTE))
		return &onednn_compute_table;
	if (!strcmp(table, TN_TABLE_NN))
		return &onednn_nn_table;
	return NULL;
}

#define ONEDNN_UUID                                                                                \
	0x38, 0xc6, 0x89, 0xae, 0x29, 0xad, 0x44, 0x72, 0x92, 0x12, 0x62, 0xd8, 0x87, 0x10, 0x37,  \
		0x17

TN_BACKEND_PLUGIN(ONEDNN_UUID, "onednn", "0.1.0", "Apache-2.0", create, destroy, query);
