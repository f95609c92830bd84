/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays as they are wanted, without a copy where none is needed.
 */
#include <tenon/memory.h>

#include <inttypes.h>

#include "array/make.h"
#include "array/shape.h"
#include "ops/wrap.h"

/* What has to change. */
struct changes {
	tn_dtype dtype;           /* 0: nothing */
	struct tn_device *device; /* NULL: nothing */
	int packs;
	int copies; /* asked for, or one of the others */
};

static tn_status check_options(struct tn_runtime *runtime, const char *operation,
			       const struct tn_asarray_options *options)
{
	struct tn_error_info *error = &runtime->report;
	if (options->copy > TN_COPY_ALWAYS)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "copy: expected TN_COPY_IF_NEEDED (0), NEVER (1) or ALWAYS (2), "
			       "found %" PRIu32,
			       options->copy);
	if (options->is_compact > 1)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation,
			       "is_compact: expected 0 or 1, found %" PRIu32, options->is_compact);
	if (options->dtype && !tn_dtype_size(options->dtype))
		return tn_fail(error, TN_DTYPE, operation,
			       "dtype: expected an element type, or 0 for that of a, found %d",
			       options->dtype);
	if (options->device && options->device->context != runtime->context)
		return tn_fail(error, TN_DEVICE, operation, "device: %s belongs to another context",
			       options->device->name);
	return TN_OK;
}

/* TN_UNSUPPORTED: a copy is needed, and forbidden. */
static tn_status find_changes(const tn_array *a, const char *operation,
			      const struct tn_asarray_options *options, struct changes *changes)
{
	struct tn_device *home = tn_array_home(a);
	*changes = (struct changes){
		.dtype = options->dtype == a->dtype ? 0 : options->dtype,
		.device = options->device == home ? NULL : options->device,
		.packs = options->is_compact && !a->contiguous,
	};
	int is_needed = changes->dtype || changes->device || changes->packs;
	changes->copies = is_needed || options->copy == TN_COPY_ALWAYS;
	if (!is_needed || options->copy != TN_COPY_NEVER)
		return TN_OK;
	return tn_fail(&a->runtime->report, TN_UNSUPPORTED, operation,
		       "copy: the array is %s on %s%s, wanted is %s on %s: that takes a copy",
		       tn_dtype_name(a->dtype), home->name, changes->packs ? ", with gaps" : "",
		       tn_dtype_name(changes->dtype ? changes->dtype : a->dtype),
		       changes->device ? changes->device->name : home->name);
}

/* Takes the place of what was made before; NULL stays NULL. */
static tn_array *next(tn_array *before, tn_array *after)
{
	tn_array_destroy(before);
	return after;
}

/* The narrower of two dtypes travels. */
static tn_array *change(const tn_array *a, const struct changes *changes)
{
	tn_array *made = tn_keep(tn_array_const_cast(a));
	int widens = changes->dtype && tn_dtype_size(changes->dtype) > tn_dtype_size(a->dtype);
	if (changes->dtype && !widens)
		made = next(made, tn_astype(made, changes->dtype));
	if (changes->device)
		made = next(made, tn_to(made, changes->device));
	if (widens)
		made = next(made, tn_astype(made, changes->dtype));
	if (changes->packs)
		made = next(made, tn_contiguous(made));
	if (!changes->dtype && !changes->device && !changes->packs)
		made = next(made, tn_copy(made));
	return made;
}

tn_array *tn_asarray(const tn_array *a, const struct tn_asarray_options *given)
{
	struct tn_asarray_options options = tn_asarray_defaults();
	struct changes changes;
	struct tn_runtime *runtime = tn_begin(1, &a, "asarray");
	if (!runtime || tn_runtime_take(runtime, &options, sizeof(options), given,
					"struct tn_asarray_options", "asarray"))
		return NULL;
	tn_status status = check_options(runtime, "asarray", &options);
	if (!status)
		status = find_changes(a, "asarray", &options, &changes);
	if (status)
		return tn_end(runtime, status, NULL);
	return changes.copies ? change(a, &changes) : tn_keep(tn_array_const_cast(a));
}

/* ---- Memory of the program -------------------------------------------------------------------*/

/* Through an array on a device that takes any address, which ends before the memory is returned. */
static tn_array *copy_host(struct tn_runtime *runtime, const struct tn_wrap_options *memory,
			   const struct tn_asarray_options *options)
{
	struct tn_wrap_options borrowed = *memory;
	struct tn_asarray_options wanted = *options;
	struct tn_device *device =
		tn_device_takes_any_address(options->device) ? options->device : runtime->reference;
	borrowed.release = NULL;
	wanted.copy = TN_COPY_ALWAYS;
	tn_array *wrapped = tn_wrap_memory(runtime, device, "asarray_host", &borrowed);
	if (!wrapped)
		return NULL;
	tn_array *copy = next(wrapped, tn_asarray(wrapped, &wanted));
	if (copy && memory->release)
		memory->release(memory->user);
	return copy;
}

/* May the memory be used as it is? */
static int is_as_wanted(const struct tn_wrap_options *memory,
			const struct tn_asarray_options *options)
{
	int is_compact = !options->is_compact || !memory->strides || memory->rank < 0 ||
			 memory->rank > TN_MAX_RANK || !memory->shape ||
			 tn_shape_is_compact(memory->rank, memory->shape, memory->strides);
	return is_compact && tn_device_takes_any_address(options->device) &&
	       (!options->dtype || options->dtype == memory->dtype);
}

tn_array *tn_asarray_host(tn_context *context, const struct tn_wrap_options *memory,
			  const struct tn_asarray_options *given)
{
	static const char operation[] = "asarray_host";
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_asarray_options options = tn_asarray_defaults();
	struct tn_wrap_options own = tn_wrap_defaults();
	if (!context || tn_runtime_ready(runtime) ||
	    tn_runtime_take(runtime, &own, sizeof(own), memory, "struct tn_wrap_options",
			    operation) ||
	    tn_runtime_take(runtime, &options, sizeof(options), given, "struct tn_asarray_options",
			    operation))
		return NULL;
	tn_status status = check_options(runtime, operation, &options);
	if (status)
		return tn_end(runtime, status, NULL);
	if (!options.device)
		options.device = runtime->device;
	int is_wanted = is_as_wanted(&own, &options);
	if (is_wanted && options.copy != TN_COPY_ALWAYS)
		return tn_wrap_memory(runtime, options.device, operation, &own);
	if (!is_wanted && options.copy == TN_COPY_NEVER) {
		tn_runtime_fail(runtime, TN_UNSUPPORTED, operation,
				"copy: %s cannot use %s in this memory as %s without a copy",
				options.device->name, tn_dtype_name(own.dtype),
				tn_dtype_name(options.dtype ? options.dtype : own.dtype));
		return NULL;
	}
	return copy_host(runtime, &own, &options);
}
