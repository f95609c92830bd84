/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One call of a slot, with all that must hold of any call.
 */
#include "conform.h"

/* One line a slot: the only place that knows their types. */
static tn_status enter(const struct kit *kit, const void *args)
{
	const struct tn_backend *b = kit->backend;
	void *device = kit->device;
	switch (kit->slot) {
	case TN_SLOT_MAP:
		return b->compute.map(device, args);
	case TN_SLOT_REDUCE:
		return b->compute.reduce(device, args);
	case TN_SLOT_MATMUL:
		return b->compute.matmul(device, args);
	case TN_SLOT_FILL:
		return b->copy.fill(device, args);
	case TN_SLOT_COPY:
		return b->copy.copy(device, args);
	case TN_SLOT_GATHER:
		return b->copy.gather(device, args);
	case TN_SLOT_SCATTER_ADD:
		return b->copy.scatter_add(device, args);
	case TN_SLOT_CONV2D_FORWARD:
		return b->nn.conv2d_forward(device, args);
	case TN_SLOT_CONV2D_INPUT_GRADIENT:
		return b->nn.conv2d_input_gradient(device, args);
	case TN_SLOT_CONV2D_WEIGHT_GRADIENT:
		return b->nn.conv2d_weight_gradient(device, args);
	case TN_SLOT_POOL2D_FORWARD:
		return b->nn.pool2d_forward(device, args);
	case TN_SLOT_POOL2D_BACKWARD:
		return b->nn.pool2d_backward(device, args);
	case TN_SLOT_BATCH_NORM_FORWARD:
		return b->nn.batch_norm_forward(device, args);
	case TN_SLOT_BATCH_NORM_BACKWARD:
		return b->nn.batch_norm_backward(device, args);
	case TN_SLOT_LAYER_NORM_FORWARD:
		return b->nn.layer_norm_forward(device, args);
	case TN_SLOT_LAYER_NORM_BACKWARD:
		return b->nn.layer_norm_backward(device, args);
	case TN_SLOT_SOFTMAX_FORWARD:
		return b->nn.softmax_forward(device, args);
	case TN_SLOT_SOFTMAX_BACKWARD:
		return b->nn.softmax_backward(device, args);
	case TN_SLOT_CROSS_ENTROPY_FORWARD:
		return b->nn.cross_entropy_forward(device, args);
	case TN_SLOT_CROSS_ENTROPY_BACKWARD:
		return b->nn.cross_entropy_backward(device, args);
	default:
		return TN_INTERNAL;
	}
}

/* Copies a buffer's bytes: `host` to the device, or back. */
static void transfer(struct kit *kit, const struct array *array, int to_device, void *host)
{
	struct tn_transfer_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
					.buffer = array->operand.buffer,
					.size = array->size,
					.host = host};
	tn_status status = to_device ? kit->backend->device.upload(kit->device, &args)
				     : kit->backend->device.download(kit->device, &args);
	if (status != TN_OK)
		kit_fail(kit, "%s: %s: %s", to_device ? "upload" : "download",
			 tn_status_name(status), kit->error.text);
}

/* Takes what the device holds.  A byte may differ only where an output has an element, and only
 * after a call that was done. */
static void fetch(struct kit *kit, struct array *array, tn_status status)
{
	int may_write = status == TN_OK && array->role == OUTPUT;
	unsigned char *found = malloc(array->size);
	if (!found)
		return kit_fail(kit, "the kit has no memory left");
	memset(found, 0, array->size);
	transfer(kit, array, 0, found);
	for (size_t i = 0; i < array->size; i++) {
		if (found[i] == array->image[i] || (may_write && array->element[i]))
			continue;
		kit_fail(kit, "%s changed byte %zu of %s of %zu bytes (%s)",
			 status == TN_OK ? "the call" : "a refused call", i,
			 array->role == OUTPUT ? "an output" : "an input", array->size,
			 array->element[i] ? "an element" : "outside the elements");
		break;
	}
	memcpy(array->image, found, array->size);
	free(found);
}

static tn_status dry_run(struct kit *kit, void *args, struct tn_workspace *workspace)
{
	struct tn_call *call = args;
	tn_status status;
	*workspace = (struct tn_workspace){.struct_size = sizeof(*workspace)};
	call->error = &kit->error;
	call->workspace = workspace;
	call->flags |= TN_DRY_RUN;
	status = enter(kit, args);
	call->flags &= ~(uint32_t)TN_DRY_RUN;
	return status;
}

/* The call, with the least workspace that it asked for. */
static tn_status real_run(struct kit *kit, void *args, struct tn_workspace *workspace)
{
	struct tn_alloc_args alloc = {.call = CALL(struct tn_alloc_args),
				      .size = workspace->minimum};
	struct tn_free_args release = {.call = CALL(struct tn_free_args)};
	tn_status status;
	workspace->size = workspace->minimum;
	if (workspace->minimum) {
		status = kit->backend->device.alloc(kit->device, &alloc, &workspace->buffer);
		if (status != TN_OK)
			return status;
	}
	status = enter(kit, args);
	release.buffer = workspace->buffer;
	if (workspace->minimum)
		kit->backend->device.free(kit->device, &release);
	return status;
}

static void synchronise(struct kit *kit)
{
	struct tn_sync_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error}};
	tn_status status = kit->backend->device.sync(kit->device, &args);
	if (status != TN_OK)
		kit_fail(kit, "sync: %s: %s", tn_status_name(status), kit->error.text);
}

static tn_status run(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays)
{
	struct tn_workspace workspace;
	tn_status dry, real;
	for (size_t i = 0; i < n_arrays; i++)
		transfer(kit, arrays[i], 1, arrays[i]->image);
	dry = dry_run(kit, args, &workspace);
	real = dry == TN_OK ? real_run(kit, args, &workspace) : enter(kit, args);
	synchronise(kit);
	for (size_t i = 0; i < n_arrays; i++)
		fetch(kit, arrays[i], real);
	if (dry != real)
		kit_fail(kit, "the dry run answers %s, the call %s: %s", tn_status_name(dry),
			 tn_status_name(real), kit->error.text);
	return real;
}

tn_status kit_run(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays)
{
	tn_status status = run(kit, args, arrays, n_arrays);
	if (status == TN_OK)
		kit->tallies[kit->slot].done++;
	else if (status == TN_UNSUPPORTED)
		kit->tallies[kit->slot].unsupported++;
	else
		kit_fail(kit, "%s: %s", tn_status_name(status), kit->error.text);
	return status;
}

/* A backend that claims no dtype for a mandatory entry may refuse all its calls. */
static int is_claimed(const struct kit *kit)
{
	if (kit->slot == TN_SLOT_MAP || kit->slot == TN_SLOT_REDUCE)
		return kit->description.program_dtypes != 0;
	return kit->slot != TN_SLOT_MATMUL || kit->description.matmul_dtypes != 0;
}

int kit_run_ok(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays)
{
	tn_status status = kit_run(kit, args, arrays, n_arrays);
	if (status == TN_UNSUPPORTED && is_claimed(kit))
		kit_fail(kit, "a claimed call is unsupported: %s", kit->error.text);
	return status == TN_OK;
}

void kit_run_refused(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays,
		     tn_status status)
{
	tn_status found = run(kit, args, arrays, n_arrays);
	if (found == TN_OK)
		kit_fail(kit, "it was done and not refused");
	else if (status != TN_OK && found != status)
		kit_fail(kit, "refused by %s, expected %s: %s", tn_status_name(found),
			 tn_status_name(status), kit->error.text);
	else
		kit->tallies[kit->slot].refused++;
}
