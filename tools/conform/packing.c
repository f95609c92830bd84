/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Packs the weights of a product or a convolution, between guards.
 */
#include "packing.h"

static tn_status prepack(const struct packing *p, uint64_t *size)
{
	const struct tn_backend *backend = p->kit->backend;
	tn_error_reset(&p->kit->error);
	p->call->error = &p->kit->error;
	return p->conv2d ? backend->nn.conv2d_prepack(p->kit->device, p->conv2d, size)
			 : backend->compute.matmul_prepack(p->kit->device, p->matmul, size);
}

uint64_t packing_size(const struct packing *p, uint64_t *workspace_size)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	uint64_t size = 0;
	p->call->workspace = &workspace;
	p->call->flags = TN_DRY_RUN;
	tn_status status = prepack(p, &size);
	p->call->flags = 0;
	*workspace_size = workspace.minimum;
	if (status && status != TN_UNSUPPORTED)
		kit_fail(p->kit, "%s: %s", tn_status_name(status), p->kit->error.text);
	else if (status || !size)
		kit_unsupported(p->kit);
	return status ? 0 : size;
}

/* Copies bytes to the device, or back. */
static void move(struct kit *kit, uint64_t buffer, void *host, size_t size, int to_device)
{
	struct tn_transfer_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
					.buffer = buffer,
					.size = size,
					.host = host};
	if (to_device ? kit->backend->device.upload(kit->device, &args)
		      : kit->backend->device.download(kit->device, &args))
		kit_give_up(kit, "a transfer of %zu bytes: %s", size, kit->error.text);
}

static uint64_t take(struct kit *kit, uint64_t size)
{
	struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .size = size};
	uint64_t buffer = 0;
	if (kit->backend->device.alloc(kit->device, &args, &buffer))
		kit_give_up(kit, "alloc of %llu bytes: %s", (unsigned long long)size,
			    kit->error.text);
	return buffer;
}

void packing_release(struct kit *kit, uint64_t buffer)
{
	struct tn_free_args args = {.call = CALL(struct tn_free_args), .buffer = buffer};
	if (buffer)
		kit->backend->device.free(kit->device, &args);
}

static void fill_guards(unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(0xc3 + i % 11);
}

void packing_fill(const struct packing *p, uint64_t size, uint64_t workspace_size)
{
	struct kit *kit = p->kit;
	size_t whole = (size_t)size + 2 * PACKING_GUARD;
	unsigned char *before = malloc(whole), *after = malloc(whole);
	uint64_t packed = p->packed->buffer, room = workspace_size ? take(kit, workspace_size) : 0;
	struct tn_workspace workspace = {
		.struct_size = sizeof(workspace), .buffer = room, .size = workspace_size};
	if (!before || !after)
		kit_give_up(kit, "the kit is out of memory");
	fill_guards(before, whole);
	move(kit, packed, before, whole, 1);
	move(kit, p->weights->operand.buffer, p->weights->image, p->weights->size, 1);
	p->call->workspace = room ? &workspace : NULL;
	if (prepack(p, &size))
		kit_fail(kit, "the dry run requests %llu bytes, but the call refuses: %s",
			 (unsigned long long)size, kit->error.text);
	struct tn_sync_args sync = {.call = CALL(struct tn_sync_args)};
	kit->backend->device.sync(kit->device, &sync);
	move(kit, packed, after, whole, 0);
	if (memcmp(before, after, PACKING_GUARD) != 0 ||
	    memcmp(before + whole - PACKING_GUARD, after + whole - PACKING_GUARD, PACKING_GUARD) !=
		    0)
		kit_fail(kit, "it wrote outside the %llu bytes that it requested",
			 (unsigned long long)(whole - 2 * PACKING_GUARD));
	packing_release(kit, room);
	free(before);
	free(after);
}

uint64_t packing_room(struct kit *kit, uint64_t size)
{
	return take(kit, size + 2 * PACKING_GUARD);
}
