/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * DLPack 1.1: arrays of other libraries (NumPy, PyTorch, CuPy, JAX) without a copy, and arrays for
 * them.  The structs are those of the published interface, under names of the library: a pointer
 * to one is a pointer to the other.
 *
 *     struct tn_dlpack_managed *managed = tn_to_dlpack(x, NULL);
 *     // another library reads managed->tensor, and ends with
 *     managed->deleter(managed);
 *
 * Who owns: what tn_to_dlpack returns is the caller's, who calls its deleter once, or gives it to a
 * consumer that does.  What tn_from_dlpack takes is the library's once the call has succeeded, and
 * the caller's still if it has failed: then the caller calls the deleter.  In Python's terms, a
 * consumer renames the capsule only after success.
 */
#ifndef TENON_DLPACK_H
#define TENON_DLPACK_H

#include <string.h>

#include <tenon/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The published structs -------------------------------------------------------------------*/

/* The version of the structs below.  A minor version only adds codes and flags. */
#define TN_DLPACK_MAJOR 1
#define TN_DLPACK_MINOR 1

/* Where memory is (DLDeviceType).  The library knows these; there are others. */
enum {
	TN_DLPACK_CPU = 1,
	TN_DLPACK_CUDA = 2,
	TN_DLPACK_CUDA_HOST = 3,     /* pinned memory of the host */
	TN_DLPACK_CUDA_MANAGED = 13, /* that the driver of CUDA migrates */
};

/* Kinds of elements (DLDataTypeCode).  The library knows these; there are others. */
enum {
	TN_DLPACK_INT = 0,
	TN_DLPACK_UINT = 1,
	TN_DLPACK_FLOAT = 2,
	TN_DLPACK_BFLOAT = 4,
	TN_DLPACK_COMPLEX = 5,
	TN_DLPACK_BOOL = 6,
};

enum {
	TN_DLPACK_READ_ONLY = 1 << 0, /* the consumer must not write */
	TN_DLPACK_COPIED = 1 << 1,    /* nobody else refers to the memory */
};

struct tn_dlpack_version {
	uint32_t major;
	uint32_t minor;
};

struct tn_dlpack_device {
	int32_t type;
	int32_t id;
};

struct tn_dlpack_dtype {
	uint8_t code;
	uint8_t bits; /* of one number of one element */
	uint16_t lanes;
};

struct tn_dlpack_tensor {
	void *data;
	struct tn_dlpack_device device;
	int32_t ndim;
	struct tn_dlpack_dtype dtype;
	int64_t *shape;       /* ndim lengths */
	int64_t *strides;     /* in elements; NULL, before version 1.2: row-major, without gaps */
	uint64_t byte_offset; /* of the first element, from data on */
};

/* DLManagedTensorVersioned: the content of a capsule "dltensor_versioned". */
struct tn_dlpack_managed {
	struct tn_dlpack_version version;
	void *manager_ctx;                                  /* the producer's own */
	void (*deleter)(struct tn_dlpack_managed *managed); /* NULL: there is nothing to do */
	uint64_t flags;
	struct tn_dlpack_tensor tensor;
};

/* DLManagedTensor, before version 1.0: the content of a capsule "dltensor".  It has no flags. */
struct tn_dlpack_managed_unversioned {
	struct tn_dlpack_tensor tensor;
	void *manager_ctx;
	void (*deleter)(struct tn_dlpack_managed_unversioned *managed);
};

/* ---- Out -------------------------------------------------------------------------------------*/

struct tn_to_dlpack_options {
	uint32_t struct_size;
	uint32_t copy; /* TN_COPY_...: IF_NEEDED shares the memory where it can */
	int on_host;   /* 1: in memory of the host (TN_DLPACK_CPU), wherever the array is */
	/* The consumer's stream, as the argument of Python's __dlpack__.  -1: the consumer orders
	 * the work itself.  0: the call waits for the current stream of the array's device, so that
	 * the elements are there for every stream of the consumer.  Any other is the vendor's
	 * handle of a stream (of CUDA 1 is the legacy default stream, 2 that of the thread): its
	 * later work waits, on the device, for the current stream's; the call waits, as for 0,
	 * where the backend has no tenon.native/1. */
	int64_t stream;
};
static inline struct tn_to_dlpack_options tn_to_dlpack_defaults(void)
{
	struct tn_to_dlpack_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* The array for another library, in the memory that it has: what either writes shows in the other.
 * It holds the memory, not the array: the array may be destroyed, and the context closed, while
 * the consumer has it (the device is then closed with the last deleter).  A copy, with the flag
 * TN_DLPACK_COPIED, where it was asked for, or where the memory is to be the host's and is not.
 * An array over read-only memory (tn_array_wrap) has the flag TN_DLPACK_READ_ONLY.
 *
 * The deleter may be called from any thread; the memory is then free at the next call of the
 * context that waits for the device, or needs more memory.  Work of others that uses the memory
 * must be done before.  What a consumer writes is not noticed by tn_tape_backward.
 *
 * NULL, with the error kept:
 *   TN_UNSUPPORTED  DLPack has no type for the array's device; a copy is needed and was forbidden;
 *                   or the backend does not give its memory away
 *   TN_STATE        a tape records, and the array has a gradient: its memory cannot be shared (copy
 *                   it, TN_COPY_ALWAYS)
 *   TN_NOT_CAPTURABLE  the array's device captures work, and is to be waited for
 *   TN_INVALID_ARGUMENT, TN_OUT_OF_MEMORY, or the first error of work for which the host waited
 * [thread: one per context | since 0.1] */
TN_API struct tn_dlpack_managed *tn_to_dlpack(const tn_array *array,
					      const struct tn_to_dlpack_options *options);
/* The same for consumers from before version 1.0, which know no flags: TN_UNSUPPORTED also for
 * memory that is read-only, unless it is copied.
 * [thread: one per context | since 0.1] */
TN_API struct tn_dlpack_managed_unversioned *
tn_to_dlpack_unversioned(const tn_array *array, const struct tn_to_dlpack_options *options);

/* Where tn_to_dlpack says that the array is: the answer to Python's __dlpack_device__.  Works while
 * an error is kept.  TN_UNSUPPORTED (not kept): DLPack has no type for it, as for the mock's
 * memory; `device` is unchanged.  [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_dlpack_device_of(const tn_array *array,
						struct tn_dlpack_device *device);

/* ---- In --------------------------------------------------------------------------------------*/

struct tn_from_dlpack_options {
	uint32_t struct_size;
	uint32_t copy;     /* TN_COPY_... */
	tn_device *device; /* where the array is to be; NULL: where the memory is */
	/* The producer's stream that writes the elements, as in tn_to_dlpack_options: later work in
	 * the current stream of the memory's device waits for its work so far, on the device.
	 * 0: they are there. */
	int64_t stream;
};
static inline struct tn_from_dlpack_options tn_from_dlpack_defaults(void)
{
	struct tn_from_dlpack_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* An array over the memory of another library, without a copy: what either writes shows in the
 * other, as with tn_array_wrap.  Strides, negative and 0 too, and offsets are taken as they are.
 * Memory of the host (TN_DLPACK_CPU and CUDA_HOST) is used by a device that computes in it wherever
 * it is: options->device, else the current device, else the first such one; memory of CUDA (CUDA
 * and CUDA_MANAGED) by the device of that
 * kind and number.  A copy, to options->device, or else to the current
 * device, where that device cannot use the memory, or where it was asked for.  With the flag
 * TN_DLPACK_READ_ONLY, functions that would write to the array fail, and name it.
 *
 * On success the deleter is called once: when the memory was copied, or with its last use, as
 * tn_array_wrap's `release`, at the latest when the context closes.  On failure it is not called,
 * and `managed` is still the caller's.
 *
 * The elements must be there for later work of the memory's device: the producer's work is done, or
 * in options->stream, or its __dlpack__ was given the device's current stream
 * (tn_stream_current_native).
 *
 * NULL, with the error kept:
 *   TN_INVALID_ARGUMENT  managed, shape or data is NULL, a length is negative, the strides are NULL
 *                        (from version 1.2 on), the first element is not aligned to its size, or
 *                        the backend recognises that it is not memory of that device
 *   TN_UNSUPPORTED  a major version other than 1; vectors (lanes); a dtype that the library lacks;
 *                   a copy is needed and was forbidden; the device cannot wait for the stream
 *   TN_NOT_CAPTURABLE  a stream is to be waited for, and the device captures work
 *   TN_DEVICE       the context has no device for that memory, or options->device is of another one
 *   TN_LIMIT        more than 16 axes, or more bytes than can be addressed
 *   TN_OUT_OF_MEMORY
 * [thread: one per context | since 0.1] */
TN_API tn_array *tn_from_dlpack(tn_context *context, struct tn_dlpack_managed *managed,
				const struct tn_from_dlpack_options *options);
/* The same from producers from before version 1.0.  [thread: one per context | since 0.1] */
TN_API tn_array *tn_from_dlpack_unversioned(tn_context *context,
					    struct tn_dlpack_managed_unversioned *managed,
					    const struct tn_from_dlpack_options *options);

#ifdef __cplusplus
}
#endif
#endif
