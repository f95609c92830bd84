/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory that the program owns: arrays over it without a copy, and host memory for transfers that
 * do not wait.
 */
#ifndef TENON_MEMORY_H
#define TENON_MEMORY_H

#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function that can share memory, or copy it, does. */
enum {
	TN_COPY_IF_NEEDED = 0, /* share it where that is possible */
	TN_COPY_NEVER = 1,     /* share it, or fail with TN_UNSUPPORTED */
	TN_COPY_ALWAYS = 2,
};

/* ---- Arrays over the program's memory --------------------------------------------------------*/

/* Which memory, and where its elements are: element (i0, i1, ...) is the number
 *     offset + i0 * strides[0] + i1 * strides[1] + ...
 * of those that begin at data.  Every element lies in the size_bytes from data on. */
struct tn_wrap_options {
	uint32_t struct_size;
	tn_dtype dtype;
	int32_t rank;
	int is_read_only;       /* 1: functions that would write to the array fail */
	const int64_t *shape;   /* rank lengths of 0 or more */
	const int64_t *strides; /* in elements, 0 and negative ones too; NULL: compact, row-major */
	int64_t offset;         /* of the first element, in elements */
	void *data;             /* aligned to the dtype's size; NULL only for an empty array */
	uint64_t size_bytes;    /* of the memory */
	/* Called once with `user`, when neither arrays nor work of the device use the memory any
	 * longer; NULL: not called.  It must not call functions that take an object of the
	 * context. */
	void (*release)(void *user);
	void *user;
};
static inline struct tn_wrap_options tn_wrap_defaults(void)
{
	struct tn_wrap_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* An array over memory of the host, without a copy: what the program writes there shows in the
 * array, and the reverse.  The current device must compute in host memory wherever it is
 * (TN_DEVICE_TAKES_ANY_ADDRESS); tn_from_host copies to any device.
 *
 * The program keeps the memory until `release` is called: when the last reference to it ends (the
 * array, its views, the tape, a captured graph that writes it), at the latest when the context
 * closes.  Destroy a graph that only reads it before the array.  On a device that is not
 * synchronous that call waits for the device's work.  If tn_array_wrap fails, `release` is not
 * called.
 *
 * The array is an ordinary one, with these differences.  Before the program reads or writes the
 * memory itself, tn_synchronize waits for work that uses it; tn_tape_backward does not notice such
 * writes.  Memory that two calls wrap is two storages: writing to one does not count as modifying
 * the other.
 *   TN_INVALID_ARGUMENT  an element lies outside the memory, data is NULL or not aligned, or rank
 *                        or a length is out of range
 *   TN_DTYPE             dtype is not an element type
 *   TN_LIMIT             the shape has more bytes than can be addressed
 *   TN_UNSUPPORTED       the current device does not take any address, or the struct is of a newer
 *                        version
 * [thread: one per context | since 0.1] */
TN_API tn_array *tn_array_wrap(tn_context *context, const struct tn_wrap_options *options);

/* The same over memory of a device: `data` is what the vendor's interface calls it, for instance a
 * pointer of CUDA.  It must be valid on `device`, and work of others that writes it must be done.
 * On a device that takes any address it is an address of host memory.
 *   TN_INVALID_ARGUMENT  also: the backend recognises that it is not memory of that device
 *   TN_UNSUPPORTED       also: the backend cannot import memory
 * [thread: one per context | since 0.1] */
TN_API tn_array *tn_array_import(tn_device *device, const struct tn_wrap_options *options);

/* The reverse: the memory of an array on its device.  *data receives what the vendor's interface
 * calls it (on a device with host memory, an address), *offset_bytes the array's first element
 * there; tn_array_strides has the layout.  Valid as long as the array.  Before others use it,
 * tn_synchronize waits for work of the device; tn_tape_backward does not notice what they write.
 * An array that wraps it again shares the bytes, but operations do not recognise that the two
 * overlap.
 *   TN_UNSUPPORTED  the backend does not give its memory away
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_array_export(const tn_array *array, void **data,
					    uint64_t *offset_bytes);

/* ---- Arrays as they are wanted ---------------------------------------------------------------*/

struct tn_asarray_options {
	uint32_t struct_size;
	uint32_t copy;     /* TN_COPY_... */
	tn_device *device; /* NULL: where the array is; of host data, the current device */
	tn_dtype dtype;    /* 0: the dtype that it has */
	int is_compact;    /* 1: row-major, without gaps; 0: any layout */
};
static inline struct tn_asarray_options tn_asarray_defaults(void)
{
	struct tn_asarray_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* The array with that dtype, on that device, in that layout: the array itself, referenced, where it
 * is so already, else a converted copy.  Recorded, as tn_astype and tn_to are.
 *   TN_UNSUPPORTED       a copy is needed, and TN_COPY_NEVER forbids it; the text says why
 *   TN_DTYPE, TN_DEVICE  dtype is not an element type; the device belongs to another context
 *   TN_INVALID_ARGUMENT  an option is out of range
 * [thread: one per context | may return before the result is ready | since 0.1] */
TN_API tn_array *tn_asarray(const tn_array *a, const struct tn_asarray_options *options);
/* The same for memory of the program: tn_array_wrap where the device takes any address and nothing
 * is to be converted, else a copy, after which `release` is called at once.  On failure it is not
 * called.  [thread: one per context | may return before the result is ready | since 0.1] */
TN_API tn_array *tn_asarray_host(tn_context *context, const struct tn_wrap_options *memory,
				 const struct tn_asarray_options *options);

/* ---- Host memory for transfers that do not wait ----------------------------------------------*/

/* Host memory for transfers to and from one device.  It is pinned where the device has such memory
 * (bit TN_MEMORY_PINNED of memory_kinds), so that the device copies by itself while the program
 * goes on; elsewhere it is ordinary memory, and everything works the same, with less overlap. */
typedef struct tn_host_buffer tn_host_buffer;

/* size_bytes of host memory, aligned to 256 bytes, with unspecified contents; opens the device if
 * necessary.  NULL on failure, with the error kept: TN_OUT_OF_MEMORY.  Pinned memory is scarce: it
 * cannot be swapped, and allocating it is slow.  Allocate it once.
 * [thread: one per context | since 0.1] */
TN_API tn_host_buffer *tn_host_buffer_create(tn_device *device, size_t size_bytes);

/* Waits for transfers that use it, then frees it.  The context frees those that are left when it
 * closes.  Takes NULL.
 * [thread: one per context | since 0.1] */
TN_API void tn_host_buffer_destroy(tn_host_buffer *buffer);

/* Its address, its size, and whether it is pinned.  These work while an error is kept.  NULL gives
 * NULL or 0.
 * [thread: one per context | since 0.1] */
TN_API void *tn_host_buffer_data(const tn_host_buffer *buffer);
TN_API size_t tn_host_buffer_size(const tn_host_buffer *buffer);
TN_API int tn_host_buffer_is_pinned(const tn_host_buffer *buffer);

/* tn_to_host into the buffer, from `offset_bytes` on, and tn_assign_host from it, which may return
 * before the bytes are copied.  They are copied in order with the other work of the current stream
 * (tenon/stream.h).  Until the next call that waits for it (tn_synchronize; tn_stream_synchronize,
 * tn_to_host and tn_item in that stream; tn_event_synchronize on an event recorded there later) do
 * not read the bytes of the first, and do not change those of the second; that call also reports an
 * error of the copy.  On a synchronous device they are copied on return.
 *   TN_INVALID_ARGUMENT  the array's bytes do not fit in the buffer at that offset
 *   TN_DEVICE            the buffer was made for another device
 *   TN_NOT_CAPTURABLE    work is being captured
 * [thread: one per context | may return before the result is ready | since 0.1] */
TN_API TN_CHECKED tn_status tn_to_host_async(const tn_array *array, tn_host_buffer *buffer,
					     size_t offset_bytes);
TN_API tn_status tn_assign_host_async(tn_array *array, tn_host_buffer *buffer, size_t offset_bytes);

#ifdef __cplusplus
}
#endif
#endif
