/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Wraps another backend, and plants the fault that its variable names in one entry.  The plugin
 * below is loaded once, and never unloaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "family.h"

struct tables right, faulty;

static const struct tn_backend_descriptor *below;
static const char *problem; /* why there is no plugin */

/* The host's tables, with the entries that this header has. */
static void take_table(void *table, size_t size, const char *id, void *instance)
{
	const void *theirs = below->query(instance, id);
	memset(table, 0, size);
	if (theirs)
		memcpy(table, theirs,
		       *(const uint32_t *)theirs < size ? *(const uint32_t *)theirs : size);
}

static int plant(const char *name)
{
	static const struct fault *const lists[] = {matmul_faults, map_faults,    memory_faults,
						    layer_faults,  device_faults, process_faults,
						    program_lists};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (const struct fault *fault = lists[i]; fault->name; fault++) {
			if (!strcmp(fault->name, name)) {
				fault->plant();
				return 1;
			}
		}
	}
	return strchr(name, ' ') ? family_plant(name) : !strcmp(name, "none");
}

static void find_plugin(void)
{
	const char *path = getenv("FAULTY_PLUGIN");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	below = library ? dlsym(library, TN_BACKEND_SYMBOL) : NULL;
	if (!below)
		problem = path ? dlerror() : "FAULTY_PLUGIN is not set";
}

/* The tables whose entries faults replace. */
static const struct {
	const char *id;
	size_t place, size;
} wrapped[] = {
	{TN_TABLE_DEVICE, offsetof(struct tables, device), sizeof(right.device)},
	{TN_TABLE_COMPUTE, offsetof(struct tables, compute), sizeof(right.compute)},
	{TN_TABLE_NN, offsetof(struct tables, nn), sizeof(right.nn)},
	{TN_TABLE_COPY, offsetof(struct tables, copy), sizeof(right.copy)},
	{TN_TABLE_SORT, offsetof(struct tables, sort), sizeof(right.sort)},
	{TN_TABLE_SCAN, offsetof(struct tables, scan), sizeof(right.scan)},
	{TN_TABLE_LINALG, offsetof(struct tables, linalg), sizeof(right.linalg)},
	{TN_TABLE_STREAM, offsetof(struct tables, stream), sizeof(right.stream)},
	{TN_TABLE_CAPTURE, offsetof(struct tables, capture), sizeof(right.capture)},
	{TN_TABLE_IMPORT, offsetof(struct tables, import), sizeof(right.import)},
};
enum { WRAPPED = sizeof(wrapped) / sizeof(wrapped[0]) };

static void take_tables(void *instance)
{
	const char *fault = getenv("FAULT");
	for (size_t i = 0; i < WRAPPED; i++)
		take_table((char *)&right + wrapped[i].place, wrapped[i].size, wrapped[i].id,
			   instance);
	faulty = right;
	if (!plant(fault ? fault : "none"))
		problem = "FAULT names no fault";
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	static int is_planted;
	pthread_mutex_lock(&once);
	if (!below && !problem)
		find_plugin();
	tn_status status = problem ? TN_REFUSED : below->create(host, error, instance);
	if (!status && !is_planted) {
		take_tables(*instance);
		is_planted = 1;
	}
	pthread_mutex_unlock(&once);
	if (!problem)
		return status;
	struct tn_error_info own = {.struct_size = sizeof(own), .status = TN_REFUSED};
	snprintf(own.operation, sizeof(own.operation), "create");
	snprintf(own.text, sizeof(own.text), "%s", problem);
	if (error)
		tn_struct_answer(error, &own, sizeof(own));
	return TN_REFUSED;
}

static void destroy(void *instance)
{
	below->destroy(instance);
}

static const void *query(void *instance, const char *table)
{
	const void *theirs = below->query(instance, table);
	for (size_t i = 0; theirs && i < WRAPPED; i++) {
		if (!strcmp(table, wrapped[i].id))
			return (const char *)&faulty + wrapped[i].place;
	}
	return theirs;
}

/* ---- What faults share -----------------------------------------------------------------------*/

int64_t operand_count(const struct tn_operand *operand)
{
	int64_t count = 1;
	for (uint32_t axis = 0; axis < operand->rank; axis++)
		count *= operand->shape[axis];
	return count;
}

void *operand_at(const struct tn_operand *operand, int64_t i)
{
	int64_t at = 0;
	for (uint32_t axis = operand->rank; axis-- > 0; i /= operand->shape[axis])
		at += i % operand->shape[axis] * operand->strides[axis];
	return (char *)(uintptr_t)(operand->buffer + operand->offset) +
	       at * (int64_t)tn_dtype_size(operand->dtype);
}

void spoil(const struct tn_operand *operand)
{
	void *last = operand_at(operand, operand_count(operand) - 1);
	if (operand->dtype == TN_F32)
		*(float *)last += 1;
	else if (operand->dtype == TN_F64)
		*(double *)last += 1;
}

#define UUID                                                                                       \
	0x3d, 0x91, 0x5b, 0x0c, 0x6a, 0x47, 0x4c, 0x1e, 0x8f, 0x20, 0xd3, 0x74, 0x19, 0xe6, 0x5a,  \
		0xbd
TN_BACKEND_PLUGIN(UUID, "faulty", "1.0", "Apache-2.0", create, destroy, query);
