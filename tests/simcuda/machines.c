/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens the device that the environment selects, and prints in one line what the library says of
 * it, and which one the simulated CUDA computes on:
 *
 *   cuda:0 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB, limit 40.0 GiB; CUDA's 0 at 0000:02:00.0
 *
 * With MACHINES_COMPUTE=1 it also computes 1 + 1 + 1 there, by kernels that have to be compiled.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

/* The address of the runtime's device of that number, from the library that the backend opened. */
static void print_place(uint64_t ordinal)
{
	static const char *const names[] = {"libcudart.so.13", "libcudart.so.12"};
	int (*ask)(char *text, int size, int device) = NULL;
	char place[32] = "";
	void *library = NULL;
	for (int i = 0; i < 2 && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
	if (library)
		*(void **)&ask = dlsym(library, "cudaDeviceGetPCIBusId");
	if (ask && !ask(place, sizeof(place), (int)ordinal))
		printf("; CUDA's %d at %s", (int)ordinal, place);
}

static const char *kind_of(const struct tn_device_description *device)
{
	switch (device->kind) {
	case TN_DEVICE_DISCRETE_GPU:
		return "discrete";
	case TN_DEVICE_INTEGRATED_GPU:
		return "integrated";
	default:
		return "no GPU";
	}
}

static void print_sum(tn_context *context)
{
	double sum = 0;
	if (!getenv("MACHINES_COMPUTE"))
		return;
	if (tn_item(tn_sum(tn_ones(context, TN_F32, 1, (int64_t[]){3}), TN_ALL_AXES, NULL, 0),
		    &sum))
		printf("; %s", tn_error(context)->text);
	else
		printf("; computes %g", sum);
}

int main(void)
{
	const double gib = 1 << 30;
	tn_context *context = NULL;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_memory_statistics memory = {.struct_size = sizeof(memory)};
	uint64_t ordinal = 0;
	if (tn_context_open(NULL, &context, &error)) {
		printf("%s\n", error.text);
		return 1;
	}
	tn_device *device = tn_device_current(context);
	const struct tn_device_description *is = tn_device_describe(device);
	printf("%s %s, %s, %.1f GiB", tn_device_name(device), is->name, kind_of(is),
	       (double)is->memory_bytes / gib);
	if (!tn_device_get_memory_statistics(device, &memory) && memory.limit)
		printf(", limit %.1f GiB", (double)memory.limit / gib);
	if (!tn_device_native(device, &ordinal))
		print_place(ordinal);
	print_sum(context);
	printf("\n");
	tn_context_close(context);
	return 0;
}
