/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.device/1: one device, the processor as oneDNN uses it.  Every entry's work is done
 * when it returns, so streams and asynchronous errors need no code.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "plugin.h"

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	const struct tn_device_count own = {.count = 1};
	(void)instance;
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static uint64_t memory_size(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	const struct onednn_instance *onednn = instance;
	struct tn_device_description own = {
		.kind = TN_DEVICE_CPU,
		.name = "oneDNN on the processor",
		.flags =
			TN_DEVICE_HOST_MEMORY | TN_DEVICE_SYNCHRONOUS | TN_DEVICE_TAKES_ANY_ADDRESS,
		.memory_kinds = 1u << TN_MEMORY_DEVICE,
		.storage_dtypes = 0xfffe, /* memory takes all fifteen */
		.program_dtypes = 0,      /* other backends lend programs */
		.matmul_dtypes = UINT64_C(1) << TN_F32,
		.memory_bytes = memory_size(),
		.alignment = ONEDNN_ALIGNMENT,
		.preferred_layout = TN_LAYOUT_NCHW,
		.score = 50, /* below the cpu backend, which needs no lender */
		.identity_type = TN_IDENTITY_NONE,
		.numerics = TN_NUMERICS_F32_SUBNORMALS | TN_NUMERICS_F16_SUBNORMALS};
	if (index != 0)
		return TN_INVALID_ARGUMENT;
	own.max_alloc_bytes = own.memory_bytes;
	memset(own.accuracy, TN_ACCURACY_IEEE, sizeof(own.accuracy));
	memset(own.determinism, TN_DETERMINISM_ALWAYS, sizeof(own.determinism));
	snprintf(own.note, sizeof(own.note), "%s", onednn->library.note);
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

/* ---- Open and close --------------------------------------------------------------------------*/

/* Products in full f32, whatever DNNL_DEFAULT_FPMATH_MODE is, and scratch memory from the host. */
static dnnl_status_t make_attributes(const struct onednn_library *dnn,
				     dnnl_primitive_attr_t *attributes)
{
	dnnl_status_t answer = dnn->primitive_attr_create(attributes);
	if (!answer)
		answer = dnn->primitive_attr_set_scratchpad_mode(*attributes,
								 dnnl_scratchpad_mode_user);
	if (!answer)
		answer = dnn->primitive_attr_set_fpmath_mode(*attributes, dnnl_fpmath_mode_strict);
	return answer;
}

static dnnl_status_t make_adding(const struct onednn_library *dnn,
				 dnnl_primitive_attr_t *attributes)
{
	dnnl_post_ops_t add;
	dnnl_status_t answer = make_attributes(dnn, attributes);
	if (answer)
		return answer;
	answer = dnn->post_ops_create(&add);
	if (answer)
		return answer;
	answer = dnn->post_ops_append_sum(add, 1);
	if (!answer)
		answer = dnn->primitive_attr_set_post_ops(*attributes, add);
	dnn->post_ops_destroy(add);
	return answer;
}

static void close_device(void *device)
{
	struct onednn_device *onednn = device;
	const struct onednn_library *dnn = onednn->library;
	onednn_cache_empty(onednn);
	if (onednn->adding)
		dnn->primitive_attr_destroy(onednn->adding);
	if (onednn->attributes)
		dnn->primitive_attr_destroy(onednn->attributes);
	if (onednn->stream)
		dnn->stream_destroy(onednn->stream);
	if (onednn->engine)
		dnn->engine_destroy(onednn->engine);
	tn_plugin_free(onednn->instance->host, onednn);
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	struct onednn_instance *onednn = instance;
	struct tn_open_args own;
	tn_status status = tn_plugin_take(&own, sizeof(own), args, 0, "open");
	if (status)
		return status;
	if (own.index != 0)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "open",
				      "device %u: expected 0", own.index);
	if (own.native)
		return tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "open",
				      "native: there is no device of others");
	struct onednn_device *opened = tn_plugin_alloc(onednn->host, sizeof(*opened));
	if (!opened)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "open",
				      "no memory for a device");
	opened->instance = onednn;
	opened->library = &onednn->library;
	const struct onednn_library *dnn = opened->library;
	const char *step = "engine";
	dnnl_status_t answer = dnn->engine_create(&opened->engine, dnnl_cpu, 0);
	if (!answer) {
		step = "stream";
		answer = dnn->stream_create(&opened->stream, opened->engine,
					    dnnl_stream_default_flags);
	}
	if (!answer) {
		step = "attributes";
		answer = make_attributes(dnn, &opened->attributes);
	}
	if (!answer)
		answer = make_adding(dnn, &opened->adding);
	status = answer ? onednn_answer(own.call.error, answer, TN_BACKEND_FAILURE, "open", step)
			: TN_OK;
	if (status)
		close_device(opened);
	else
		*device = opened;
	return status;
}

/* ---- Nothing to wait for ---------------------------------------------------------------------*/

static tn_status sync_stream(void *device, const struct tn_sync_args *args)
{
	struct tn_sync_args own;
	(void)device;
	return tn_plugin_take(&own, sizeof(own), args, 0, "sync");
}

static tn_status async_error(void *device, void *stream, struct tn_error_info *out)
{
	(void)device;
	(void)stream;
	(void)out;
	return TN_OK;
}

const struct tn_device_table onednn_device_table = {
	.struct_size = sizeof(onednn_device_table),
	.device_count = device_count,
	.describe = describe,
	.open = open_device,
	.close = close_device,
	.alloc = onednn_alloc,
	.free = onednn_free_buffer,
	.upload = onednn_upload,
	.download = onednn_download,
	.sync = sync_stream,
	.async_error = async_error,
};
