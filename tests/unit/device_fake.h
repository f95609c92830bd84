/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A backend of one device with faults on demand: memory that runs out, a lost device, an
 * asynchronous error.  It counts allocations and checks that all are freed.
 */
#ifndef TN_TESTS_DEVICE_FAKE_H
#define TN_TESTS_DEVICE_FAKE_H

#include "check.h"
#include "device/device.h"

struct fake {
	struct tn_backend backend;
	struct tn_device_description description;
	/* Orders. */
	uint64_t capacity;    /* bytes available; 0: no limit */
	int fail_alloc;       /* the Nth allocation from now fails; 0: none */
	tn_status open_fails; /* the status of open */
	tn_status sync_fails; /* the status of the next sync */
	int mute;             /* failures have no text */
	/* Counts. */
	int opened, closed, allocs, frees, syncs, uploads;
	int frees_before_sync; /* frees after work without a sync in between */
	int busy;
	uint64_t held; /* bytes */
};

static inline tn_status fake_fail(const struct fake *fake, struct tn_error_info *error,
				  tn_status status, const char *operation, const char *text)
{
	return fake->mute ? status : tn_fail(error, status, operation, "%s", text);
}

static inline tn_status fake_open(void *instance, const struct tn_open_args *args, void **device)
{
	struct fake *fake = instance;
	if (fake->open_fails)
		return fake_fail(fake, args->call.error, fake->open_fails, "open", "no luck today");
	fake->opened++;
	*device = fake;
	return TN_OK;
}

static inline void fake_close(void *device)
{
	struct fake *fake = device;
	fake->closed++;
}

/* The size stands before the memory, so that free can count. */
static inline tn_status fake_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct fake *fake = device;
	if (fake->fail_alloc && --fake->fail_alloc == 0)
		return fake_fail(fake, args->call.error, TN_OUT_OF_MEMORY, "alloc", "as ordered");
	if (fake->capacity && fake->held + args->size > fake->capacity)
		return fake_fail(fake, args->call.error, TN_OUT_OF_MEMORY, "alloc", "it is full");
	uint64_t front = args->alignment > 256 ? args->alignment : 256;
	void *memory;
	if (posix_memalign(&memory, front, front + args->size))
		return TN_OUT_OF_MEMORY;
	*buffer = (uint64_t)(uintptr_t)memory + front;
	((uint64_t *)(uintptr_t)*buffer)[-1] = args->size;
	((uint64_t *)(uintptr_t)*buffer)[-2] = front;
	fake->allocs++;
	fake->held += args->size;
	return TN_OK;
}

static inline tn_status fake_free(void *device, const struct tn_free_args *args)
{
	struct fake *fake = device;
	uint64_t *front = (uint64_t *)(uintptr_t)args->buffer;
	fake->frees++;
	fake->frees_before_sync += fake->busy;
	fake->held -= front[-1];
	free((void *)(uintptr_t)(args->buffer - front[-2]));
	return TN_OK;
}

static inline tn_status fake_upload(void *device, const struct tn_transfer_args *args)
{
	struct fake *fake = device;
	fake->uploads++;
	memcpy((char *)(uintptr_t)args->buffer + args->offset, args->host, args->size);
	return TN_OK;
}

static inline tn_status fake_download(void *device, const struct tn_transfer_args *args)
{
	(void)device;
	memcpy(args->host, (char *)(uintptr_t)args->buffer + args->offset, args->size);
	return TN_OK;
}

static inline tn_status fake_sync(void *device, const struct tn_sync_args *args)
{
	struct fake *fake = device;
	tn_status status = fake->sync_fails;
	fake->syncs++;
	fake->busy = 0;
	fake->sync_fails = TN_OK;
	return status ? fake_fail(fake, args->call.error, status, "matmul", "it went wrong")
		      : TN_OK;
}

static inline tn_status fake_information(void *device, uint32_t kind,
					 struct tn_memory_information *out)
{
	struct fake *fake = device;
	(void)kind;
	out->total_bytes = fake->capacity;
	out->free_bytes = fake->capacity - fake->held;
	return TN_OK;
}

static inline void fake_init(struct fake *fake, uint32_t flags)
{
	memset(fake, 0, sizeof(*fake));
	fake->description.struct_size = sizeof(fake->description);
	fake->description.flags = flags;
	fake->description.kind = TN_DEVICE_ACCELERATOR;
	snprintf(fake->description.name, sizeof(fake->description.name), "Fake One");
	struct tn_backend *backend = &fake->backend;
	snprintf(backend->plugin.name, sizeof(backend->plugin.name), "fake");
	backend->plugin.instance = fake;
	backend->n_devices = 1;
	backend->devices = &fake->description;
	backend->device = (struct tn_device_table){
		.struct_size = sizeof(backend->device),
		.open = fake_open,
		.close = fake_close,
		.alloc = fake_alloc,
		.free = fake_free,
		.upload = fake_upload,
		.download = fake_download,
		.sync = fake_sync,
	};
	backend->memory = (struct tn_memory_table){
		.struct_size = sizeof(backend->memory),
		.information = fake_information,
	};
}

static inline struct tn_device *fake_device(struct fake *fake, uint64_t limit)
{
	struct tn_device *device = NULL;
	assert_ok(tn_device_create(NULL, &fake->backend, 0, limit, NULL, &device, NULL));
	return device;
}

/* Destroys the device; everything must have been freed. */
static inline void fake_finish(struct fake *fake, struct tn_device *device)
{
	tn_device_destroy(device);
	assert_int_equal(fake->held, 0);
	assert_int_equal(fake->allocs, fake->frees);
	assert_int_equal(fake->opened, fake->closed);
}

#define FAKE_HOST (TN_DEVICE_HOST_MEMORY | TN_DEVICE_SYNCHRONOUS)
#define MIB (UINT64_C(1) << 20)

#endif
