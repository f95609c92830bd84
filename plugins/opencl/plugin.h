/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the files of this plugin: an instance with the devices found, an open device, errors
 * and the log.
 *
 *   plugin.c     the instance: create, query, destroy
 *   library.c    libOpenCL and the table of its functions
 *   discover.c   finds platforms and devices, and their capabilities
 *   device.c     open, close, describe
 *   memory.c     buffers, those of others too, and transfers
 *   stream.c     queues, events, asynchronous errors; table tenon.native/1
 *   operand.c    checks of operands and scalars
 *   program.c    element programs in OpenCL C: the dialect, conversions
 *   kernel.c     kernels: the cache, the build, the launch
 *   map.c  reduce.c  matmul.c  copy.c   one family each
 */
#ifndef OPENCL_PLUGIN_H
#define OPENCL_PLUGIN_H

#include <tenon/plugin.h>

#include "library.h"

#define OPENCL_MAX_DEVICES 16

/* The facts about a device found: all that describe and the choice of kernels need. */
struct opencl_facts {
	cl_platform_id platform;
	cl_device_id id;
	cl_device_type type;
	char name[128];
	char platform_name[64];
	char version[64];
	uint64_t global_bytes;
	uint64_t max_alloc_bytes;
	uint64_t local_bytes;
	size_t max_group;
	size_t max_parameter_bytes;
	uint32_t compute_units;
	/* Of the PCI address and of the UUID; TN_IDENTITY_NONE: unknown. */
	uint32_t identity_type, identity2_type;
	uint8_t identity[16], identity2[16];
	uint8_t is_unified;
	uint8_t has_f64;
	uint8_t divides_exactly; /* f32 division and square root are correctly rounded on request */
	uint8_t keeps_subnormals;
	uint8_t knows_free_memory; /* CL_DEVICE_GLOBAL_FREE_MEMORY_AMD */
};

struct opencl_instance {
	const struct tn_host *host;
	struct opencl_library cl;
	int is_counted;
	uint32_t n_devices;
	tn_status absence; /* why there are none */
	char reason[256];
	struct opencl_facts devices[OPENCL_MAX_DEVICES];
};

struct opencl_stream;
struct opencl_buffers;
struct opencl_cache;

struct opencl_device {
	const struct tn_host *host;
	const struct opencl_library *cl;
	const struct opencl_facts *facts;
	cl_context context;
	struct opencl_stream *streams;  /* the first is the NULL stream */
	struct opencl_stream *released; /* of others, with work that may be running */
	struct opencl_buffers *buffers;
	struct opencl_cache *cache;
};

/* ---- plugin.c ----*/

/* tn_plugin_fail for an OpenCL function that returned `code`. */
tn_status opencl_fail_code(struct tn_error_info *error, cl_int code, const char *operation,
			   const char *function);

/* ---- discover.c ----*/

/* Finds the devices, once: this starts the drivers.  An instance without any has the reason. */
void opencl_count(struct opencl_instance *instance);
void opencl_describe(const struct opencl_facts *facts, struct tn_device_description *out);

/* ---- The tables' entries ----*/

tn_status opencl_memory_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer);
tn_status opencl_memory_free(void *device, const struct tn_free_args *args);
tn_status opencl_upload(void *device, const struct tn_transfer_args *args);
tn_status opencl_download(void *device, const struct tn_transfer_args *args);
tn_status opencl_sync(void *device, const struct tn_sync_args *args);
tn_status opencl_async_error(void *device, void *stream, struct tn_error_info *out);
tn_status opencl_map(void *device, const struct tn_map_args *args);
tn_status opencl_reduce(void *device, const struct tn_reduce_args *args);
tn_status opencl_matmul(void *device, const struct tn_matmul_args *args);

extern const struct tn_device_table opencl_device_table;
extern const struct tn_memory_table opencl_memory_table;
extern const struct tn_import_table opencl_import_table;
extern const struct tn_stream_table opencl_stream_table;
extern const struct tn_native_table opencl_native_table;
extern const struct tn_copy_table opencl_copy_table;

#endif
