/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Counts, describes, opens and closes CUDA devices.  Describing needs no context.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "dnn.h"
#include "facts.h"
#include "kernel.h"
#include "memory.h"
#include "ranges.h"
#include "report.h"
#include "status.h"
#include "stream.h"

#define TF32_OPTION "cuda.tf32"

enum { TF32_ARCHITECTURE = 80 };
enum { DLPACK_CUDA = 2 }; /* kDLCUDA of DLPack */

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	struct cuda_instance *own = instance;
	cuda_count(own);
	struct tn_device_count count = {.count = own->n_devices};
	if (!own->n_devices) {
		count.status = own->absence;
		snprintf(count.text, sizeof(count.text), "%s", own->reason);
	}
	tn_struct_answer(out, &count, sizeof(count));
	return TN_OK;
}

/* ---- describe --------------------------------------------------------------------------------*/

/* If the architecture is unknown before the device is opened, assume that it is supported. */
static int may_use_tf32(const struct cuda_instance *own, const struct cuda_facts *facts)
{
	return (!facts->architecture || facts->architecture >= TF32_ARCHITECTURE) &&
	       tn_plugin_option_is(own->host, "tf32", "1");
}

/* Cores of a multiprocessor: those that compute f32 are doubled in most. */
static uint32_t cores_of(uint32_t architecture)
{
	return architecture == 75 || architecture == 80 ? 64 : 128;
}

/* The fastest first, as the number of its multiprocessors and their clock measure it; where that is
 * unknown, the one with the most memory, then the newest. */
static int32_t score_of(const struct cuda_facts *facts)
{
	uint64_t gib = facts->memory_bytes >> 30;
	uint64_t speed = (uint64_t)facts->cores / cores_of(facts->architecture) * facts->clock;
	if (gib > 999)
		gib = 999;
	if (!speed)
		return (int32_t)(1000 * gib + facts->architecture);
	return (int32_t)((speed < 2000000 ? speed : 2000000) * 1000 + gib);
}

/* The management library ends when nothing is left to ask. */
static const struct cuda_facts *ask_for(struct cuda_instance *own, uint32_t index)
{
	uint32_t n_asked = 0;
	(void)cuda_facts_ask(own, &own->devices[index]);
	for (uint32_t i = 0; i < own->n_devices; i++)
		n_asked += own->devices[i].is_asked || own->devices[i].is_unresolved;
	if (n_asked == own->n_devices)
		cuda_facts_end(own);
	return &own->devices[index];
}

/* The driver, the libraries, and what is special. */
static void say_note(const struct cuda_instance *own, const struct cuda_facts *facts, char *note,
		     size_t size)
{
	char libraries[116];
	cuda_libraries_say(own->host, &own->rt, &own->places, libraries, sizeof(libraries));
	snprintf(note, size, "%s%s%s%s", own->driver, own->driver[0] ? "; " : "",
		 !may_use_tf32(own, facts) ? ""
		 : facts->architecture     ? "f32 is multiplied in TF32 (" TF32_OPTION "); "
					   : "f32 may be multiplied in TF32 (" TF32_OPTION "); ",
		 libraries);
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct cuda_instance *own = instance;
	struct tn_device_description description;
	cuda_count(own);
	if (index >= own->n_devices)
		return TN_INVALID_ARGUMENT;
	const struct cuda_facts *facts = ask_for(own, index);
	memset(&description, 0, sizeof(description));
	description.kind = facts->is_integrated ? TN_DEVICE_INTEGRATED_GPU : TN_DEVICE_DISCRETE_GPU;
	description.memory_kinds = 1u << TN_MEMORY_DEVICE | 1u << TN_MEMORY_PINNED;
	description.storage_dtypes = 0xfffe; /* dtypes 1 to 15 */
	description.program_dtypes =
		BIT(TN_BOOL) | BIT(TN_I32) | BIT(TN_U32) | BIT(TN_I64) | BIT(TN_F32) | BIT(TN_F64);
	description.matmul_dtypes = BIT(TN_F16) | BIT(TN_F32) | BIT(TN_F64);
	if (facts->architecture >= 80)
		description.matmul_dtypes |= BIT(TN_BF16);
	description.memory_bytes = description.max_alloc_bytes = facts->memory_bytes;
	description.alignment = 256;
	description.preferred_layout = TN_LAYOUT_NCHW;
	description.score = score_of(facts);
	description.identity_type = facts->identity_type;
	memcpy(description.identity, facts->identity, sizeof(description.identity));
	description.identity2_type = facts->identity2_type;
	memcpy(description.identity2, facts->identity2, sizeof(description.identity2));
	description.numerics = TN_NUMERICS_F32_SUBNORMALS | TN_NUMERICS_F16_SUBNORMALS;
	description.dlpack_type = DLPACK_CUDA;
	memset(description.accuracy, TN_ACCURACY_IEEE, sizeof(description.accuracy));
	memset(description.determinism, TN_DETERMINISM_ALWAYS, sizeof(description.determinism));
	/* Which of the two computes depends on timing, or on the free memory. */
	if (cuda_dnn_mode(own->host) != CUDA_DNN_OFF)
		description.determinism[TN_FAMILY_CONV] = TN_DETERMINISM_ON_REQUEST;
	if (may_use_tf32(own, facts))
		description.accuracy[TN_FAMILY_MATMUL] = description.accuracy[TN_FAMILY_CONV] =
			TN_ACCURACY_REDUCED;
	snprintf(description.name, sizeof(description.name), "%s", facts->name);
	say_note(own, facts, description.note, sizeof(description.note));
	tn_struct_answer(out, &description, sizeof(description));
	return TN_OK;
}

/* ---- open ------------------------------------------------------------------------------------*/

/* A device that was not used is not touched now either: the first call on a device creates a
 * context. */
static void close_device(void *device)
{
	struct cuda_device *own = device;
	if (own->has_context && !own->loss.status)
		(void)own->rt->cudaSetDevice(own->ordinal);
	if (own->streams)
		cuda_graphs_close(own);
	cuda_matmul_close(own); /* before its stream is destroyed */
	cuda_peer_close(own);
	cuda_dnn_close(own);
	cuda_streams_close(own);
	cuda_sources_close(own);
	cuda_kernels_close(own);
	cuda_buffers_close(own);
	cuda_report_close(own);
	cuda_library_close(&own->blas.handle);
	cuda_library_close(&own->compiler.handle);
	tn_plugin_free(own->host, own);
}

/* An obstacle to opening a device is reported with the status that names it. */
static tn_status fail_open(const struct cuda_device *device, struct tn_error_info *error,
			   cudaError_t code, const char *function)
{
	const struct cuda_runtime *rt = device->rt;
	int driver = 0, runtime = 0;
	tn_status status = cuda_absence_of(rt, code);
	(void)rt->cudaDriverGetVersion(&driver);
	(void)rt->cudaRuntimeGetVersion(&runtime);
	(void)rt->cudaGetLastError();
	tn_plugin_fail(error, status, "open",
		       "%s: %s (%s, %d); the driver supports CUDA %d.%d, the runtime is %d.%d",
		       function, rt->cudaGetErrorString(code), rt->cudaGetErrorName(code),
		       (int)code, driver / 1000, driver % 1000 / 10, runtime / 1000,
		       runtime % 1000 / 10);
	if (error)
		error->native_code = code;
	return status;
}

/* Does the runtime's device of that number match?  A MIG slice has the PCI address of the whole
 * device, by which the runtime may not find it. */
static int is_at(const struct cuda_device *device, int ordinal)
{
	const struct cuda_runtime *rt = device->rt;
	char place[32] = "";
	if (rt->cudaDeviceGetPCIBusId(place, sizeof(place), ordinal) == cudaSuccess)
		return !strcasecmp(place, device->facts.pci);
	(void)rt->cudaGetLastError();
	return 0;
}

/* Which device has the runtime's number: its facts, if the management library had any. */
static void resolve(struct cuda_device *device, struct cuda_instance *instance)
{
	struct cuda_facts *facts = &device->facts;
	char place[sizeof(facts->pci)] = "";
	if (device->rt->cudaDeviceGetPCIBusId(place, sizeof(place), device->ordinal)) {
		(void)device->rt->cudaGetLastError();
		return;
	}
	for (uint32_t i = 0; i < instance->n_found; i++) {
		if (!strcasecmp(place, instance->found[i].pci)) {
			*facts = instance->found[i];
			break;
		}
	}
	if (!facts->is_unresolved && !facts->is_asked && cuda_facts_begin(instance))
		(void)cuda_facts_ask(instance, facts);
}

/* The runtime orders devices by speed unless CUDA_DEVICE_ORDER is set: the described device is
 * found by its PCI address. */
static tn_status find_ordinal(struct cuda_device *device, uint32_t index,
			      struct tn_error_info *error)
{
	const struct cuda_runtime *rt = device->rt;
	int n = 0, is_placed = device->facts.pci[0] != 0;
	cudaError_t code = rt->cudaGetDeviceCount(&n);
	if (code != cudaSuccess)
		return fail_open(device, error, code, "cudaGetDeviceCount");
	if (is_placed) {
		code = rt->cudaDeviceGetByPCIBusId(&device->ordinal, device->facts.pci);
		if (code == cudaSuccess)
			return TN_OK;
		(void)rt->cudaGetLastError();
	}
	device->ordinal = is_placed ? 0 : (int)index;
	while (is_placed && device->ordinal < n && !is_at(device, device->ordinal))
		device->ordinal++;
	if (device->ordinal < n)
		return TN_OK;
	return tn_plugin_fail(error, TN_NO_DEVICE, "open",
			      "%s%s%s is not among the %d devices that CUDA shows; "
			      "CUDA_DEVICE_ORDER=PCI_BUS_ID numbers devices by their PCI address",
			      device->facts.name, is_placed ? " at " : "", device->facts.pci, n);
}

/* Needs no context. */
static cudaError_t ask_attributes(struct cuda_device *device)
{
	int major = 0, minor = 0, processors = 0;
	struct cuda_facts *facts = &device->facts;
	const struct {
		enum cudaDeviceAttr attribute;
		int *to;
	} asked[] = {{cudaDevAttrComputeCapabilityMajor, &major},
		     {cudaDevAttrComputeCapabilityMinor, &minor},
		     {cudaDevAttrMultiProcessorCount, &processors},
		     {cudaDevAttrIntegrated, &facts->is_integrated},
		     {cudaDevAttrMemoryPoolsSupported, &device->has_pools}};
	cudaError_t code = cudaSuccess;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]) && code == cudaSuccess; i++)
		code = device->rt->cudaDeviceGetAttribute(asked[i].to, asked[i].attribute,
							  device->ordinal);
	device->architecture = facts->architecture = (uint32_t)(10 * major + minor);
	device->processors = processors > 0 ? (uint32_t)processors : 1;
	return code;
}

/* Checks that it is usable before using it: a context takes time, and hundreds of megabytes of its
 * memory. */
static tn_status check_device(struct cuda_device *device, struct cuda_instance *instance,
			      uint32_t index, struct tn_error_info *error)
{
	tn_status status = find_ordinal(device, index, error);
	if (status)
		return status;
	if (device->facts.is_unresolved)
		resolve(device, instance);
	cudaError_t code = ask_attributes(device);
	if (code != cudaSuccess)
		return fail_open(device, error, code, "cudaDeviceGetAttribute");
	if (device->architecture < 75)
		return tn_plugin_fail(error, TN_NO_DEVICE, "open",
				      "%s has compute capability %u.%u, expected at least 7.5",
				      device->facts.name, device->architecture / 10,
				      device->architecture % 10);
	return TN_OK;
}

static tn_status begin_context(struct cuda_device *device, struct tn_error_info *error)
{
	size_t free_bytes = 0, total = 0;
	device->has_context = 1;
	cudaError_t code = device->rt->cudaSetDevice(device->ordinal);
	if (code != cudaSuccess)
		return fail_open(device, error, code, "cudaSetDevice");
	code = device->rt->cudaMemGetInfo(&free_bytes, &total);
	if (code != cudaSuccess)
		return fail_open(device, error, code, "cudaMemGetInfo");
	device->memory_bytes = device->facts.memory_bytes = total;
	return TN_OK;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	struct cuda_instance *own = instance;
	struct tn_open_args taken;
	tn_status status = tn_arguments_take(&taken, sizeof(taken), args);
	struct tn_error_info *error = taken.call.error;
	if (status || taken.call.flags)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "open",
				      "flags 0x%x or argument fields are not supported",
				      taken.call.flags);
	if (taken.native)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "open",
				      "native %#llx: the device is opened in its primary context, "
				      "which all users of CUDA's runtime share",
				      (unsigned long long)taken.native);
	cuda_count(own);
	if (taken.index >= own->n_devices)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "open",
				      "device %u: expected less than %u", taken.index,
				      own->n_devices);
	struct cuda_device *made = tn_plugin_alloc(own->host, sizeof(*made));
	if (!made)
		return tn_plugin_fail(error, TN_OUT_OF_MEMORY, "open", "no memory for a device");
	made->host = own->host;
	made->rt = &own->rt;
	made->places = &own->places;
	made->facts = own->devices[taken.index];
	made->has_ranges = cuda_ranges_are_asked(own->host);
	made->dnn_mode = cuda_dnn_mode(own->host);
	/* After a failure close_device releases whatever was created. */
	status = check_device(made, own, taken.index, error);
	if (!status)
		status = begin_context(made, error);
	if (!status)
		status = cuda_streams_open(made, error);
	if (!status)
		status = cuda_buffers_open(made, error);
	if (!status)
		status = cuda_kernels_open(made, error);
	made->uses_tf32 = made->architecture >= TF32_ARCHITECTURE &&
			  tn_plugin_option_is(own->host, "tf32", "1");
	if (status) {
		close_device(made);
		return status;
	}
	own->devices[taken.index] = made->facts; /* to be described once more */
	*device = made;
	return TN_OK;
}

const struct tn_device_table cuda_device_table = {
	.struct_size = sizeof(cuda_device_table),
	.device_count = device_count,
	.describe = describe,
	.open = open_device,
	.close = close_device,
	.alloc = cuda_memory_alloc,
	.free = cuda_memory_free,
	.upload = cuda_upload,
	.download = cuda_download,
	.sync = cuda_sync,
	.async_error = cuda_async_error,
};
