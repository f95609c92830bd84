/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Platforms and their devices, without a context.  A device is used if it supports OpenCL 1.2 with
 * the full profile, is little-endian and has a compiler; the reason names the rejected ones.
 *
 * Some drivers (PoCL) install signal handlers when they are first asked for devices: the previous
 * ones are restored (signals.h).  Drivers also start threads then, which a forked child does not
 * have: its calls would block forever.  So the process that asked first is recorded, in the only
 * state that does not belong to an instance, and another process finds no devices.
 */
#include "plugin.h"
#include "signals.h"

#include <fenv.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From older extensions, which not all headers have. */
#define DEVICE_PCI_BUS_ID_NV 0x4008
#define DEVICE_PCI_SLOT_ID_NV 0x4009
#define DEVICE_PCI_DOMAIN_ID_NV 0x400A
#define DEVICE_TOPOLOGY_AMD 0x4037
#define DEVICE_UUID_KHR 0x106A
#define DEVICE_PCI_BUS_INFO_KHR 0x410F

#define MAX_PLATFORMS 16

static atomic_int first_process;

/* The PCI address of a device, by one of the extensions. */
struct pci {
	cl_uint domain, bus, device, function;
};

/* ---- Queries --------------------------------------------------------------------------------*/

static int ask_device(const struct opencl_library *cl, cl_device_id id, cl_device_info what,
		      void *value, size_t size)
{
	return cl->clGetDeviceInfo(id, what, size, value, NULL) == CL_SUCCESS;
}

static uint64_t ask_number(const struct opencl_library *cl, cl_device_id id, cl_device_info what)
{
	/* Little-endian: an answer of 4 bytes is the low half. */
	uint64_t value = 0;
	return ask_device(cl, id, what, &value, sizeof(value)) ? value : 0;
}

/* Text without leading blanks, with which some drivers pad names. */
static void ask_text(const struct opencl_library *cl, cl_device_id id, cl_device_info what,
		     char *text, size_t size)
{
	char whole[512] = "";
	if (!ask_device(cl, id, what, whole, sizeof(whole)))
		whole[0] = 0;
	whole[sizeof(whole) - 1] = 0;
	snprintf(text, size, "%s", whole + strspn(whole, " "));
}

/* Does the list of extensions contain that word? */
static int has_extension(const char *list, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return 1;
	return 0;
}

/* ---- One device ------------------------------------------------------------------------------*/

static int ask_pci(const struct opencl_library *cl, cl_device_id id, const char *extensions,
		   struct pci *pci)
{
	unsigned char topology[24];
	if (has_extension(extensions, "cl_khr_pci_bus_info"))
		return ask_device(cl, id, DEVICE_PCI_BUS_INFO_KHR, pci, sizeof(*pci));
	memset(pci, 0, sizeof(*pci));
	if (has_extension(extensions, "cl_nv_device_attribute_query")) {
		(void)ask_device(cl, id, DEVICE_PCI_DOMAIN_ID_NV, &pci->domain,
				 sizeof(pci->domain));
		if (!ask_device(cl, id, DEVICE_PCI_BUS_ID_NV, &pci->bus, sizeof(pci->bus)) ||
		    !ask_device(cl, id, DEVICE_PCI_SLOT_ID_NV, &pci->device, sizeof(pci->device)))
			return 0;
		pci->function = pci->device & 7;
		pci->device >>= 3;
		return 1;
	}
	if (!has_extension(extensions, "cl_amd_device_attribute_query") ||
	    !ask_device(cl, id, DEVICE_TOPOLOGY_AMD, topology, sizeof(topology)) ||
	    topology[0] != 1)
		return 0;
	pci->bus = topology[21];
	pci->device = topology[22];
	pci->function = topology[23];
	return 1;
}

static int is_zero(const uint8_t *bytes, size_t n)
{
	uint8_t any = 0;
	for (size_t i = 0; i < n; i++)
		any |= bytes[i];
	return !any;
}

static void identify(const struct opencl_library *cl, struct opencl_facts *facts,
		     const char *extensions)
{
	struct pci pci;
	/* Drivers without hardware answer with zeros, which are no device's address. */
	if (ask_pci(cl, facts->id, extensions, &pci) &&
	    (pci.domain || pci.bus || pci.device || pci.function)) {
		facts->identity_type = TN_IDENTITY_PCI;
		for (int i = 0; i < 4; i++)
			facts->identity[i] = (uint8_t)(pci.domain >> (8 * i));
		facts->identity[4] = (uint8_t)pci.bus;
		facts->identity[5] = (uint8_t)pci.device;
		facts->identity[6] = (uint8_t)pci.function;
	}
	if (has_extension(extensions, "cl_khr_device_uuid") &&
	    ask_device(cl, facts->id, DEVICE_UUID_KHR, facts->identity2,
		       sizeof(facts->identity2)) &&
	    !is_zero(facts->identity2, sizeof(facts->identity2)))
		facts->identity2_type = TN_IDENTITY_UUID;
}

/* NULL, or the reason why the device cannot be used. */
static const char *unusable(const struct opencl_library *cl, const struct opencl_facts *facts)
{
	char profile[32];
	int major = 0, minor = 0;
	ask_text(cl, facts->id, CL_DEVICE_PROFILE, profile, sizeof(profile));
	if (sscanf(facts->version, "OpenCL %d.%d", &major, &minor) != 2 || major < 1 ||
	    (major == 1 && minor < 2))
		return "is older than OpenCL 1.2";
	if (strcmp(profile, "FULL_PROFILE") != 0)
		return "has the embedded profile";
	if (!ask_number(cl, facts->id, CL_DEVICE_AVAILABLE))
		return "is not available";
	if (!ask_number(cl, facts->id, CL_DEVICE_COMPILER_AVAILABLE))
		return "has no compiler";
	if (!ask_number(cl, facts->id, CL_DEVICE_ENDIAN_LITTLE))
		return "is big-endian";
	return NULL;
}

static void measure_device(const struct opencl_library *cl, struct opencl_facts *facts)
{
	cl_device_id id = facts->id;
	char extensions[8192] = "";
	uint64_t single = ask_number(cl, id, CL_DEVICE_SINGLE_FP_CONFIG);
	facts->type = ask_number(cl, id, CL_DEVICE_TYPE);
	facts->global_bytes = ask_number(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
	facts->max_alloc_bytes = ask_number(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
	facts->local_bytes = ask_number(cl, id, CL_DEVICE_LOCAL_MEM_SIZE);
	facts->max_group = (size_t)ask_number(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
	facts->max_parameter_bytes = (size_t)ask_number(cl, id, CL_DEVICE_MAX_PARAMETER_SIZE);
	facts->compute_units = (uint32_t)ask_number(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS);
	facts->is_unified = ask_number(cl, id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
	facts->divides_exactly = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
	facts->keeps_subnormals = (single & CL_FP_DENORM) != 0;
	if (!ask_device(cl, id, CL_DEVICE_EXTENSIONS, extensions, sizeof(extensions) - 1))
		extensions[0] = 0;
	facts->has_f64 = (uint8_t)has_extension(extensions, "cl_khr_fp64");
	facts->knows_free_memory =
		(uint8_t)has_extension(extensions, "cl_amd_device_attribute_query");
	identify(cl, facts, extensions);
}

/* ---- All of them -----------------------------------------------------------------------------*/

static void add_device(struct opencl_instance *own, cl_platform_id platform, cl_device_id id)
{
	struct opencl_facts *facts = &own->devices[own->n_devices];
	memset(facts, 0, sizeof(*facts));
	facts->platform = platform;
	facts->id = id;
	ask_text(&own->cl, id, CL_DEVICE_NAME, facts->name, sizeof(facts->name));
	ask_text(&own->cl, id, CL_DEVICE_VERSION, facts->version, sizeof(facts->version));
	const char *why = unusable(&own->cl, facts);
	if (why) {
		snprintf(own->reason, sizeof(own->reason), "%.120s %s", facts->name, why);
		return;
	}
	if (own->cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(facts->platform_name) - 1,
				      facts->platform_name, NULL) != CL_SUCCESS)
		facts->platform_name[0] = 0;
	measure_device(&own->cl, facts);
	own->n_devices++;
}

static void add_platform(struct opencl_instance *own, cl_platform_id platform)
{
	cl_device_id ids[OPENCL_MAX_DEVICES];
	cl_uint n = 0;
	if (own->cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, OPENCL_MAX_DEVICES, ids, &n) !=
	    CL_SUCCESS)
		return;
	for (cl_uint i = 0; i < n && i < OPENCL_MAX_DEVICES; i++)
		if (own->n_devices < OPENCL_MAX_DEVICES)
			add_device(own, platform, ids[i]);
}

static void find_devices(struct opencl_instance *own)
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_uint n = 0;
	cl_int code = own->cl.clGetPlatformIDs(MAX_PLATFORMS, platforms, &n);
	if (code != CL_SUCCESS || n == 0) {
		own->absence = TN_NO_DRIVER;
		snprintf(own->reason, sizeof(own->reason),
			 "libOpenCL found no platform (%s): no driver is registered in "
			 "/etc/OpenCL/vendors",
			 code ? opencl_error_name(code) : "an empty list");
		return;
	}
	for (cl_uint i = 0; i < n && i < MAX_PLATFORMS; i++)
		add_platform(own, platforms[i]);
	if (own->n_devices)
		return;
	own->absence = TN_NO_DEVICE;
	if (!own->reason[0])
		snprintf(own->reason, sizeof(own->reason), "%u OpenCL platforms, no device",
			 (unsigned)n);
}

/* Was OpenCL first used in a process that this one was forked from? */
static int is_forked(void)
{
	int own = (int)getpid(), first = 0;
	return !atomic_compare_exchange_strong(&first_process, &first, own) && first != own;
}

void opencl_count(struct opencl_instance *instance)
{
	struct opencl_signals signals;
	fenv_t modes;
	if (instance->is_counted)
		return;
	instance->is_counted = 1;
	if (is_forked()) {
		instance->absence = TN_PROBE_FAILED;
		snprintf(instance->reason, sizeof(instance->reason),
			 "this process was forked from one that had used OpenCL, which OpenCL "
			 "drivers do not support");
		return;
	}
	opencl_signals_save(&signals);
	fegetenv(&modes);
	fesetenv(FE_DFL_ENV); /* which the driver's threads inherit */
	/* PoCL sets this variable while it examines the processor, and leaves it set.  The
	 * environment belongs to the program: the previous value is restored. */
	static const char name[] = "HWLOC_PLUGINS_PATH";
	const char *value = getenv(name);
	char *before = value ? strdup(value) : NULL;
	find_devices(instance);
	fesetenv(&modes);
	if (before)
		setenv(name, before, 1);
	else if (!value)
		unsetenv(name);
	free(before);
	opencl_signals_restore(&signals);
}

/* ---- describe --------------------------------------------------------------------------------*/

static uint32_t kind_of(const struct opencl_facts *facts)
{
	if (facts->type & CL_DEVICE_TYPE_GPU)
		return facts->is_unified ? TN_DEVICE_INTEGRATED_GPU : TN_DEVICE_DISCRETE_GPU;
	if (facts->type & CL_DEVICE_TYPE_CPU)
		return TN_DEVICE_CPU;
	return TN_DEVICE_ACCELERATOR;
}

void opencl_describe(const struct opencl_facts *facts, struct tn_device_description *out)
{
	memset(out, 0, sizeof(*out));
	out->kind = kind_of(facts);
	out->memory_kinds = 1u << TN_MEMORY_DEVICE;
	out->storage_dtypes = 0xfffe; /* dtypes 1 to 15 */
	out->program_dtypes = TN_PLUGIN_DTYPE(TN_BOOL) | TN_PLUGIN_DTYPE(TN_I32) |
			      TN_PLUGIN_DTYPE(TN_U32) | TN_PLUGIN_DTYPE(TN_I64) |
			      TN_PLUGIN_DTYPE(TN_F32);
	out->matmul_dtypes =
		TN_PLUGIN_DTYPE(TN_F16) | TN_PLUGIN_DTYPE(TN_BF16) | TN_PLUGIN_DTYPE(TN_F32);
	if (facts->has_f64) {
		out->program_dtypes |= TN_PLUGIN_DTYPE(TN_F64);
		out->matmul_dtypes |= TN_PLUGIN_DTYPE(TN_F64);
	} else {
		out->storage_dtypes &= ~(TN_PLUGIN_DTYPE(TN_F64) | TN_PLUGIN_DTYPE(TN_C128));
	}
	out->memory_bytes = facts->global_bytes;
	out->max_alloc_bytes = facts->max_alloc_bytes;
	out->alignment = 256;
	out->preferred_layout = TN_LAYOUT_NCHW;
	/* Native backends of the same hardware have precedence: their scores are above 0. */
	out->score = facts->type & CL_DEVICE_TYPE_CPU ? -100 : -10;
	out->identity_type = facts->identity_type;
	memcpy(out->identity, facts->identity, sizeof(out->identity));
	out->identity2_type = facts->identity2_type;
	memcpy(out->identity2, facts->identity2, sizeof(out->identity2));
	/* Programs convert f16 by integer arithmetic.  16 is what OpenCL allows pow and erf; no
	 * other function may err by more. */
	out->numerics = TN_NUMERICS_F16_SUBNORMALS |
			(facts->keeps_subnormals ? TN_NUMERICS_F32_SUBNORMALS : 0);
	out->function_ulps = 16;
	memset(out->accuracy, TN_ACCURACY_IEEE, sizeof(out->accuracy));
	memset(out->determinism, TN_DETERMINISM_ALWAYS, sizeof(out->determinism));
	snprintf(out->name, sizeof(out->name), "%s", facts->name);
	snprintf(out->note, sizeof(out->note), "%.60s, %.60s%s%s%s", facts->platform_name,
		 facts->version, facts->has_f64 ? "" : "; no f64",
		 facts->divides_exactly ? "" : "; f32 division is not correctly rounded",
		 facts->keeps_subnormals ? "" : "; f32 subnormals become 0");
}
