/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opens further instances of a backend with host services that count and fail allocations.
 * Services take the host's own context, so counts are per process.
 */
#include "instance.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "loader/host.h"
#include "loader/slots.h"

static atomic_long live;
static atomic_uint countdown;
static atomic_int has_failed;

static void *counted_alloc(void *context, size_t size, size_t alignment)
{
	unsigned left = atomic_load(&countdown);
	void *memory;
	(void)context;
	while (left && !atomic_compare_exchange_weak(&countdown, &left, left - 1))
		continue;
	if (left == 1) {
		atomic_store(&has_failed, 1);
		return NULL;
	}
	memory = alignment ? tn_mem_aligned(size, alignment) : tn_mem_alloc(size);
	if (memory)
		atomic_fetch_add(&live, 1);
	return memory;
}

static void counted_free(void *context, void *memory)
{
	(void)context;
	if (memory)
		atomic_fetch_sub(&live, 1);
	tn_mem_free(memory);
}

void host_memory_fail(unsigned n)
{
	atomic_store(&has_failed, 0);
	atomic_store(&countdown, n);
}

int host_memory_has_failed(void)
{
	atomic_store(&countdown, 0);
	return atomic_load(&has_failed);
}

long host_memory_live(void)
{
	return atomic_load(&live);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void release_host(struct instance *instance)
{
	const size_t page = page_size();
	if (instance->given != &instance->host)
		munmap((void *)((uintptr_t)instance->given / page * page), 2 * page);
	instance->given = &instance->host;
}

static tn_status open_all(struct instance *instance, const struct kit *like, uint32_t index)
{
	struct tn_backend *backend = &instance->backend;
	struct kit *kit = &instance->kit;
	instance->stage = "create";
	tn_status status = backend->plugin.descriptor.create(instance->given, &kit->error,
							     &backend->plugin.instance);
	if (status)
		return status;
	instance->stage = "query";
	status = tn_slots_take(backend, &kit->error);
	if (!status) {
		instance->stage = "open";
		status = kit_open(kit, backend, index);
	}
	if (status)
		backend->plugin.descriptor.destroy(backend->plugin.instance);
	kit->which = like->which;
	return status;
}

static void prepare(struct instance *instance, const struct kit *like)
{
	memset(instance, 0, sizeof(*instance));
	instance->kit.check = like->check;
	instance->kit.seed = like->seed;
	instance->kit.effort = like->effort;
	instance->kit.slot = like->slot;
	memcpy(instance->kit.case_name, like->case_name, sizeof(like->case_name));
	tn_error_reset(&instance->kit.error);
	instance->backend = *like->backend;
	memset(instance->backend.native, 0, sizeof(instance->backend.native));
	instance->backend.plugin.instance = NULL;
	instance->host = like->backend->plugin.services->host;
	instance->host.alloc = counted_alloc;
	instance->host.free = counted_free;
	instance->given = &instance->host;
}

static tn_status finish(struct instance *instance, const struct kit *like, uint32_t index)
{
	tn_status status = open_all(instance, like, index);
	if (!status)
		instance->stage = "";
	else
		release_host(instance);
	return status;
}

tn_status instance_open(struct instance *instance, const struct kit *like, uint32_t index)
{
	prepare(instance, like);
	return finish(instance, like, index);
}

tn_status instance_open_under(struct instance *instance, const struct kit *like, uint32_t index,
			      uint32_t minor, size_t size)
{
	const size_t page = page_size();
	prepare(instance, like);
	unsigned char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
		kit_give_up(&instance->kit, "the kit is out of memory");
	instance->host.struct_size = (uint32_t)size;
	instance->host.abi_minor = minor;
	instance->given = (struct tn_host *)(void *)(pages + page - size);
	memcpy(instance->given, &instance->host, size);
	return finish(instance, like, index);
}

void instance_close(struct instance *instance)
{
	kit_close(&instance->kit);
	instance->backend.plugin.descriptor.destroy(instance->backend.plugin.instance);
	release_host(instance);
}

void instance_report(const struct instance *instance, struct kit *kit)
{
	for (int slot = 0; slot < KIT_TALLIES; slot++) {
		const struct tally *own = &instance->kit.tallies[slot];
		kit->tallies[slot].done += own->done;
		kit->tallies[slot].refused += own->refused;
		kit->tallies[slot].unsupported += own->unsupported;
		kit->tallies[slot].failed += own->failed;
	}
}
