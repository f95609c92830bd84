/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: import_memory makes a copy, and import_release frees whatever it is given.
 * Conform: L1 import.memory
 * Conform: L1 import.refused
 */
#include "right.h"

static tn_status import_memory(void *device, const struct tn_import_args *args, uint64_t *buffer)
{
	const struct tn_host *host = ((struct right *)device)->host;
	void *copy = host->alloc(host->context, args->size, 256);
	if (!copy)
		return TN_OUT_OF_MEMORY;
	memcpy(copy, (void *)(uintptr_t)args->pointer, args->size);
	*buffer = (uint64_t)(uintptr_t)copy;
	return TN_OK;
}

static tn_status import_release(void *device, const struct tn_free_args *args)
{
	return right_free(device, args);
}

static tn_status export_memory(void *device, const struct tn_export_args *args, uint64_t *pointer)
{
	(void)device;
	*pointer = args->buffer;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->import.import_memory = import_memory;
	right->import.import_release = import_release;
	right->import.export_memory = export_memory;
}

RIGHT_PLUGIN("copies_import");
