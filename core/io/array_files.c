/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays from and to NPY and NPZ files.
 */
#include <tenon/files.h>

#include "array/make.h"
#include "base/memory.h"
#include "io/file_call.h"
#include "text/host_elements.h"

/* Keeps the error, or makes an array of what was read and frees that. */
static tn_array *finish(tn_context *context, tn_status status, const struct tn_error_info *error,
			struct tn_host_array *host)
{
	if (status) {
		tn_runtime_keep(tn_runtime_of(context), error);
		return NULL;
	}
	tn_array *array =
		tn_from_host(context, host->dtype, (int)host->rank, host->shape, host->data);
	tn_host_array_release(host);
	return array;
}

tn_array *tn_load(tn_context *context, const char *path)
{
	struct tn_error_info error;
	struct tn_host_array host;
	if (tn_file_call_check(tn_runtime_of(context), "load", path))
		return NULL;
	tn_error_reset(&error);
	return finish(context, tn_npy_read(path, &host, &error), &error, &host);
}

tn_array *tn_load_npz(tn_context *context, const char *path, const char *name)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_error_info error;
	struct tn_host_array host;
	tn_npz *file;
	if (tn_file_call_check(runtime, "load_npz", path))
		return NULL;
	if (!name) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "load_npz", "name is NULL");
		return NULL;
	}
	tn_error_reset(&error);
	tn_status status = tn_npz_open(path, &file, &error);
	if (status)
		return finish(context, status, &error, &host);
	status = tn_npz_read(file, name, &host, &error);
	tn_npz_close(file);
	return finish(context, status, &error, &host);
}

tn_status tn_save(const char *path, const tn_array *a)
{
	struct tn_error_info error;
	struct tn_host_elements elements;
	tn_status status = tn_begin_into(1, &a, "save");
	if (status || (status = tn_file_call_check(a->runtime, "save", path)) ||
	    (status = tn_host_elements_fetch(a, "save", &elements)))
		return status;
	tn_error_reset(&error);
	status = tn_npy_write(path, a->dtype, (uint32_t)a->rank, a->shape, elements.data, &error);
	tn_host_elements_release(&elements);
	return status ? tn_runtime_keep(a->runtime, &error) : TN_OK;
}

/* ---- Several arrays --------------------------------------------------------------------------*/

static tn_status check_arrays(struct tn_runtime *runtime, const char *operation, int n,
			      const char *const *names, const tn_array *const *arrays)
{
	if (n < 0 || (n && (!names || !arrays)))
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "expected n >= 0 names and arrays, found n = %d%s", n,
				       n < 0 ? "" : " and NULL");
	for (int i = 0; i < n; i++) {
		if (!arrays[i] || !names[i])
			return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
					       "%s %d is NULL", names[i] ? "array" : "name", i);
		if (arrays[i]->runtime != runtime)
			return tn_runtime_fail(runtime, TN_DEVICE, operation,
					       "array %d belongs to another context", i);
	}
	return TN_OK;
}

static void release_all(int n, struct tn_host_elements *elements)
{
	for (int i = 0; i < n; i++)
		tn_host_elements_release(&elements[i]);
}

/* Fetches each array into elements[i], which members[i] then shows. */
static tn_status fetch_all(int n, const char *const *names, const tn_array *const *arrays,
			   struct tn_host_elements *elements, struct tn_npz_array *members)
{
	for (int i = 0; i < n; i++) {
		const tn_status status = tn_host_elements_fetch(arrays[i], "savez", &elements[i]);
		if (status)
			return status;
		members[i] = (struct tn_npz_array){.name = names[i],
						   .dtype = arrays[i]->dtype,
						   .rank = (uint32_t)arrays[i]->rank,
						   .shape = arrays[i]->shape,
						   .data = elements[i].data};
	}
	return TN_OK;
}

tn_status tn_savez(tn_context *context, const char *path, int n, const char *const *names,
		   const tn_array *const *arrays)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_error_info error;
	if (!context && n > 0 && arrays && arrays[0])
		return tn_runtime_null(arrays[0]->runtime, "savez", "context");
	tn_status status = tn_file_call_check(runtime, "savez", path);
	if (!status)
		status = check_arrays(runtime, "savez", n, names, arrays);
	if (status)
		return status;
	struct tn_host_elements *elements = tn_mem_zeroed((size_t)n + 1, sizeof(*elements));
	struct tn_npz_array *members = tn_mem_zeroed((size_t)n + 1, sizeof(*members));
	tn_error_reset(&error);
	if (!elements || !members)
		status = tn_runtime_no_memory(runtime, "savez", NULL);
	if (!status)
		status = fetch_all(n, names, arrays, elements, members);
	if (!status) {
		status = tn_npz_write(path, members, (size_t)n, &error);
		if (status)
			tn_runtime_keep(runtime, &error);
	}
	if (elements)
		release_all(n, elements);
	tn_mem_free(elements);
	tn_mem_free(members);
	return status;
}
