/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Unknown flags and fields of a later version in the calls of tenon.device/1: refused without
 * effect, and taken if the field is zero; and dry runs, which an entry may refuse.
 */
#include "slots.h"

enum { SIZE = 64, TAIL = 8, UNKNOWN_FLAG = TN_CALL_FLAG_UNASSIGNED };

/* Arguments in a struct of a later version. */
union later {
	struct tn_call call;
	struct tn_open_args open;
	struct tn_alloc_args alloc;
	struct tn_free_args free;
	struct tn_transfer_args transfer;
	struct tn_sync_args sync;
	unsigned char bytes[512];
};

/* What the calls work on. */
struct scene {
	struct kit *kit;
	uint64_t buffer;
	unsigned char host[SIZE];
	void *device; /* that open gave */
};

struct entry {
	const char *name;
	int slot;
	size_t size;
	void (*make)(struct scene *scene, union later *args);
	tn_status (*call)(struct scene *scene, const union later *args);
	void (*undo)(struct scene *scene); /* after a call that succeeded; or NULL */
};

/* ---- The calls -------------------------------------------------------------------------------*/

static void make_open(struct scene *scene, union later *args)
{
	args->open.index = scene->kit->index;
}

static tn_status call_open(struct scene *scene, const union later *args)
{
	const struct tn_backend *backend = scene->kit->backend;
	return backend->device.open(backend->plugin.instance, &args->open, &scene->device);
}

static void undo_open(struct scene *scene)
{
	scene->kit->backend->device.close(scene->device);
}

static void make_alloc(struct scene *scene, union later *args)
{
	(void)scene;
	args->alloc.size = SIZE;
}

static tn_status call_alloc(struct scene *scene, const union later *args)
{
	return scene->kit->backend->device.alloc(scene->kit->device, &args->alloc, &scene->buffer);
}

static void make_free(struct scene *scene, union later *args)
{
	args->free.buffer = scene->buffer;
}

static tn_status call_free(struct scene *scene, const union later *args)
{
	return scene->kit->backend->device.free(scene->kit->device, &args->free);
}

static void free_buffer(struct scene *scene)
{
	struct tn_free_args args = {.call = CALL(struct tn_free_args), .buffer = scene->buffer};
	(void)scene->kit->backend->device.free(scene->kit->device, &args);
}

static void make_transfer(struct scene *scene, union later *args)
{
	args->transfer.buffer = scene->buffer;
	args->transfer.size = SIZE;
	args->transfer.host = scene->host;
}

static tn_status call_upload(struct scene *scene, const union later *args)
{
	return scene->kit->backend->device.upload(scene->kit->device, &args->transfer);
}

static tn_status call_download(struct scene *scene, const union later *args)
{
	return scene->kit->backend->device.download(scene->kit->device, &args->transfer);
}

static void make_sync(struct scene *scene, union later *args)
{
	(void)scene;
	(void)args;
}

static tn_status call_sync(struct scene *scene, const union later *args)
{
	return scene->kit->backend->device.sync(scene->kit->device, &args->sync);
}

static const struct entry entries[] = {
	{"open", TN_SLOT_OPEN, sizeof(struct tn_open_args), make_open, call_open, undo_open},
	{"alloc", TN_SLOT_ALLOC, sizeof(struct tn_alloc_args), make_alloc, call_alloc, free_buffer},
	{"upload", TN_SLOT_UPLOAD, sizeof(struct tn_transfer_args), make_transfer, call_upload,
	 NULL},
	{"download", TN_SLOT_DOWNLOAD, sizeof(struct tn_transfer_args), make_transfer,
	 call_download, NULL},
	{"sync", TN_SLOT_SYNC, sizeof(struct tn_sync_args), make_sync, call_sync, NULL},
	{"free", TN_SLOT_FREE, sizeof(struct tn_free_args), make_free, call_free, NULL},
};

/* ---- The cases -------------------------------------------------------------------------------*/

/* Calls the entry with those flags and a tail that ends with that byte. */
static tn_status enter(struct scene *scene, const struct entry *entry, uint32_t flags,
		       unsigned char tail)
{
	union later args;
	memset(&args, 0, sizeof(args));
	entry->make(scene, &args);
	args.call.flags = flags;
	args.call.error = &scene->kit->error;
	args.call.struct_size = (uint32_t)entry->size + TAIL;
	args.bytes[entry->size + TAIL - 1] = tail;
	return entry->call(scene, &args);
}

static void is_refused(struct scene *scene, const struct entry *entry, uint32_t flags,
		       unsigned char tail, const char *what)
{
	struct kit *kit = scene->kit;
	const struct scene before = *scene;
	kit_case(kit, entry->slot, "%s: %s", entry->name, what);
	tn_status status = enter(scene, entry, flags, tail);
	if (status != TN_UNSUPPORTED)
		kit_fail(kit, "it returned %s, expected UNSUPPORTED", tn_status_name(status));
	else if (scene->buffer != before.buffer || scene->device != before.device ||
		 memcmp(scene->host, before.host, SIZE) != 0)
		kit_fail(kit, "it was refused, and had an effect");
	else
		kit->tallies[entry->slot].refused++;
	if (!status && entry->undo)
		entry->undo(scene);
	*scene = before;
}

/* The host makes no dry run of these entries: one may be refused, and has no effect. */
static void may_be_dry(struct scene *scene, const struct entry *entry)
{
	struct kit *kit = scene->kit;
	const struct scene before = *scene;
	kit_case(kit, entry->slot, "%s: a dry run", entry->name);
	tn_status status = enter(scene, entry, TN_DRY_RUN, 0);
	if (status && status != TN_UNSUPPORTED)
		kit_fail(kit, "it returned %s, expected OK or UNSUPPORTED", tn_status_name(status));
	else if (scene->buffer != before.buffer || scene->device != before.device ||
		 memcmp(scene->host, before.host, SIZE) != 0)
		kit_fail(kit, "it returned %s, and had an effect", tn_status_name(status));
	else if (!status)
		kit_pass(kit);
	else
		kit_unsupported(kit);
	*scene = before;
}

void check_arguments_device(struct kit *kit)
{
	struct scene scene = {.kit = kit, .host = {1, 2, 3}};
	struct tn_alloc_args alloc = {.call = CALL(struct tn_alloc_args), .size = SIZE};
	kit_case(kit, TN_SLOT_ALLOC, "alloc");
	if (kit->backend->device.alloc(kit->device, &alloc, &scene.buffer))
		return kit_fail(kit, "alloc of %d bytes failed", SIZE);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const struct entry *entry = &entries[i];
		const struct scene before = scene;
		is_refused(&scene, entry, UNKNOWN_FLAG, 0, "an unknown flag");
		is_refused(&scene, entry, 0, 1, "a later version's field that is set");
		may_be_dry(&scene, entry);
		kit_case(kit, entry->slot, "%s: a later version's field that is zero", entry->name);
		tn_status status = enter(&scene, entry, 0, 0);
		if (status)
			kit_fail(kit, "it returned %s", tn_status_name(status));
		else
			kit->tallies[entry->slot].done++;
		if (!status && entry->undo)
			entry->undo(&scene);
		scene = before;
	}
}
