/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.device/1.  Expensive parts (the context, the queue) are created by open, which takes
 * a context of others in place of its own.
 */
#include "plugin.h"

#include <stdio.h>
#include <string.h>

#include "kernel.h"
#include "memory.h"
#include "stream.h"

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	struct opencl_instance *own = instance;
	opencl_count(own);
	struct tn_device_count count = {.count = own->n_devices, .status = own->absence};
	if (!own->n_devices)
		snprintf(count.text, sizeof(count.text), "%s", own->reason);
	tn_struct_answer(out, &count, sizeof(count));
	return TN_OK;
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct opencl_instance *own = instance;
	struct tn_device_description description;
	opencl_count(own);
	if (index >= own->n_devices)
		return TN_INVALID_ARGUMENT;
	opencl_describe(&own->devices[index], &description);
	tn_struct_answer(out, &description, sizeof(description));
	return TN_OK;
}

static void close_device(void *device)
{
	struct opencl_device *own = device;
	opencl_streams_close(own);
	opencl_cache_close(own);
	opencl_buffers_close(own);
	if (own->context)
		own->cl->clReleaseContext(own->context);
	tn_plugin_free(own->host, own);
}

static tn_status make_context(struct opencl_device *device, struct tn_error_info *error)
{
	const cl_context_properties properties[] = {
		CL_CONTEXT_PLATFORM, (cl_context_properties)device->facts->platform, 0};
	cl_int code;
	device->context =
		device->cl->clCreateContext(properties, 1, &device->facts->id, NULL, NULL, &code);
	if (!device->context)
		return opencl_fail_code(error, code, "open", "clCreateContext");
	return TN_OK;
}

/* A context of others, which close_device releases like one of its own. */
static tn_status take_context(struct opencl_device *device, cl_context context,
			      struct tn_error_info *error)
{
	cl_device_id ids[64];
	size_t size = 0;
	cl_int code =
		device->cl->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(ids), ids, &size);
	if (code)
		return opencl_fail_code(error, code, "open", "native: clGetContextInfo");
	size_t n = size / sizeof(ids[0]), i = 0;
	while (i < n && ids[i] != device->facts->id)
		i++;
	if (i == n)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "open",
				      "native: the context has %zu devices, and %s is none of them",
				      n, device->facts->name);
	code = device->cl->clRetainContext(context);
	if (code)
		return opencl_fail_code(error, code, "open", "native: clRetainContext");
	device->context = context;
	return TN_OK;
}

/* Creates context, queue and tables; after a failure close_device releases whatever was created. */
static tn_status make_device(struct opencl_device *device, cl_context native,
			     struct tn_error_info *error)
{
	tn_status status =
		native ? take_context(device, native, error) : make_context(device, error);
	if (!status)
		status = opencl_streams_open(device, error);
	if (!status)
		status = opencl_buffers_open(device, error);
	if (!status)
		status = opencl_cache_open(device, error);
	return status;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	struct opencl_instance *own = instance;
	struct tn_open_args taken;
	tn_status status = tn_plugin_take(&taken, sizeof(taken), args, 0, "open");
	if (status)
		return status;
	struct tn_error_info *error = taken.call.error;
	opencl_count(own);
	if (taken.index >= own->n_devices)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "open",
				      "device %u: expected less than %u", taken.index,
				      own->n_devices);
	struct opencl_device *made = tn_plugin_alloc(own->host, sizeof(*made));
	if (!made)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "open", "no memory for a device");
	made->host = own->host;
	made->cl = &own->cl;
	made->facts = &own->devices[taken.index];
	status = make_device(made, (cl_context)(uintptr_t)taken.native, error);
	if (status) {
		close_device(made);
		return status;
	}
	*device = made;
	return TN_OK;
}

const struct tn_device_table opencl_device_table = {
	.struct_size = sizeof(opencl_device_table),
	.device_count = device_count,
	.describe = describe,
	.open = open_device,
	.close = close_device,
	.alloc = opencl_memory_alloc,
	.free = opencl_memory_free,
	.upload = opencl_upload,
	.download = opencl_download,
	.sync = opencl_sync,
	.async_error = opencl_async_error,
};
