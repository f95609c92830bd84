/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes one call of a slot and checks everything that is promised for all calls.
 */
#include <stdarg.h>
#include <stdio.h>

#include "borrow.h"
#include "instance.h"
#include "stream_calls.h"

tn_status kit_enter(const struct kit *kit, const void *args)
{
	return tn_slot_call(kit->backend, (enum tn_slot)kit->slot, kit->device, args);
}

static const struct check *check_of(const struct kit *kit, const char *id)
{
	for (const struct check *check = level5_checks; check->id; check++)
		if (!strcmp(check->id, id))
			return check;
	return kit->check;
}

void kit_fail_as(struct kit *kit, const char *id, const char *format, ...)
{
	const struct check *running = kit->check;
	char text[400];
	va_list arguments;
	if (kit->case_failed)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	kit->check = check_of(kit, id);
	kit_fail(kit, "%s", text);
	if (kit->check == running)
		return;
	kit->check = running;
	kit->case_failed = 0;
	kit_fail(kit, "breaks %s", id);
}

/* Copies `size` bytes between `host` and a buffer on the device, from that offset on. */
static void move(struct kit *kit, uint64_t buffer, size_t offset, size_t size, int to_device,
		 void *host)
{
	struct tn_transfer_args args = {.call = {.struct_size = sizeof(args),
						 .stream = kit->options.stream,
						 .error = &kit->error},
					.buffer = buffer,
					.offset = offset,
					.size = size,
					.host = host};
	tn_status status = to_device ? kit->backend->device.upload(kit->device, &args)
				     : kit->backend->device.download(kit->device, &args);
	if (status)
		kit_fail(kit, "%s: %s: %s", to_device ? "upload" : "download",
			 tn_status_name(status), kit->error.text);
}

/* Memory may run out after a successful dry run, when work may have begun. */
static int has_run_out(const struct kit *kit, tn_status status)
{
	return status == TN_OUT_OF_MEMORY && kit->options.has_failed;
}

/* Has no byte changed, or only those that may? */
static int is_kept(const struct array *array, const unsigned char *found, int may_write)
{
	const size_t first = (size_t)array->operand.offset;
	const size_t end = first + array->count * tn_dtype_size(array->operand.dtype);
	unsigned char changed = 0;
	if (!may_write)
		return !memcmp(found, array->image, array->size);
	if (!array->element)
		return !memcmp(found, array->image, first) &&
		       !memcmp(found + end, array->image + end, array->size - end);
	for (size_t i = 0; i < array->size; i++)
		changed |= (found[i] ^ array->image[i]) & (unsigned char)~array->element[i];
	return !changed;
}

static void say_what_changed(struct kit *kit, const struct array *array, const unsigned char *found,
			     int may_write, tn_status status)
{
	size_t i = 0;
	while (found[i] == array->image[i] || (may_write && array_has(array, i)))
		i++;
	kit_fail_as(kit, !status ? "call.bounds" : "call.untouched",
		    "%s changed byte %zu of %s of %zu bytes (%s)",
		    !status ? "the call" : "a refused call", i,
		    array->role == OUTPUT ? "an output" : "an input", array->size,
		    array_has(array, i) ? "an element" : "outside the elements");
}

/* Fetches an array from the device.  Only bytes of an output's elements may differ, and only after
 * a successful call. */
static void fetch(struct kit *kit, struct array *array, tn_status status)
{
	int may_write = (!status || has_run_out(kit, status)) && array->role == OUTPUT;
	unsigned char *found = calloc(array->size, 1);
	if (!found)
		kit_give_up(kit, "the kit is out of memory");
	move(kit, array->operand.buffer, 0, array->size, 0, found);
	if (!is_kept(array, found, may_write))
		say_what_changed(kit, array, found, may_write, status);
	free(array->image);
	array->image = found;
}

static tn_status dry_run(struct kit *kit, void *args, struct tn_workspace *workspace)
{
	struct tn_call *call = args;
	tn_status status;
	*workspace = (struct tn_workspace){.struct_size = sizeof(*workspace)};
	call->error = &kit->error;
	call->stream = kit->options.stream;
	call->workspace = workspace;
	call->flags |= TN_DRY_RUN;
	status = kit_enter(kit, args);
	call->flags &= ~(uint32_t)TN_DRY_RUN;
	return status;
}

/* A host may make a dry run before it has buffers: all handles are 0. */
static void dry_run_without_buffers(struct kit *kit, const void *args, tn_status expected,
				    const struct tn_workspace *same)
{
	struct tn_workspace workspace;
	struct borrowed borrowed;
	tn_status status;
	if (!borrow(&borrowed, kit->slot, args))
		kit_give_up(kit, "the kit is out of memory");
	borrow_clear_handles(&borrowed, kit->slot);
	status = dry_run(kit, borrowed.args, &workspace);
	borrow_end(&borrowed);
	if (status != expected)
		kit_fail_as(kit, "call.dry_run", "with handles of 0 a dry run returns %s, else %s",
			    tn_status_name(status), tn_status_name(expected));
	else if (!status && workspace.minimum != same->minimum)
		kit_fail_as(kit, "call.dry_run",
			    "with handles of 0 a dry run requests %llu bytes, else for %llu",
			    (unsigned long long)workspace.minimum,
			    (unsigned long long)same->minimum);
}

/* Makes the call; takes its arguments away after the return if the check requests that. */
static tn_status enter_once(struct kit *kit, void *args)
{
	struct borrowed borrowed;
	tn_status status;
	tn_error_reset(&kit->error);
	if (kit->options.fails_at) {
		host_memory_fail(kit->options.fails_at);
		status = kit_enter(kit, args);
		kit->options.has_failed = host_memory_has_failed();
		return status;
	}
	if (!kit->options.spoils)
		return kit_enter(kit, args);
	if (!borrow(&borrowed, kit->slot, args))
		kit_give_up(kit, "the kit is out of memory");
	if (kit->options.busy)
		busy_row(kit->options.busy, kit->options.stream);
	status = kit_enter(kit, borrowed.args);
	borrow_spoil(&borrowed);
	borrow_end(&borrowed);
	return status;
}

enum { WORKSPACE_GUARD = 256 };

/* With a period of 7 bytes, which no dtype has. */
static void fill_with_garbage(unsigned char *bytes, size_t n)
{
	size_t done = 0;
	for (; done < n && done < 7; done++)
		bytes[done] = (unsigned char)(0xff - done);
	for (; done < n; done *= 2)
		memcpy(bytes + done, bytes, done < n - done ? done : n - done);
}

static void check_guard(struct kit *kit, const struct tn_workspace *workspace, size_t offset,
			const unsigned char *expected)
{
	unsigned char found[WORKSPACE_GUARD] = {0};
	move(kit, workspace->buffer, offset, WORKSPACE_GUARD, 0, found);
	if (memcmp(found, expected, WORKSPACE_GUARD) != 0)
		kit_fail_as(kit, "call.workspace", "it wrote outside its workspace of %llu bytes",
			    (unsigned long long)workspace->size);
}

/* Makes the call with a workspace of `size` garbage bytes between two guards. */
static tn_status enter_with_workspace(struct kit *kit, void *args, struct tn_workspace *workspace,
				      uint64_t size)
{
	const size_t behind = (size_t)size + WORKSPACE_GUARD, whole = behind + WORKSPACE_GUARD;
	unsigned char *garbage = malloc(whole);
	struct tn_alloc_args alloc = {.call = {.struct_size = sizeof(alloc), .error = &kit->error},
				      .size = whole};
	struct tn_free_args release = {.call = CALL(struct tn_free_args)};
	tn_status status;
	if (!garbage)
		kit_give_up(kit, "the kit is out of memory");
	fill_with_garbage(garbage, whole);
	status = kit->backend->device.alloc(kit->device, &alloc, &workspace->buffer);
	if (!status) {
		workspace->offset = WORKSPACE_GUARD;
		workspace->size = size;
		move(kit, workspace->buffer, 0, whole, 1, garbage);
		status = enter_once(kit, args);
		check_guard(kit, workspace, 0, garbage);
		check_guard(kit, workspace, behind, garbage + behind);
		release.buffer = workspace->buffer;
		kit->backend->device.free(kit->device, &release);
	}
	free(garbage);
	return status;
}

/* Makes the call with the smallest workspace that it requested, or with none. */
static tn_status real_run(struct kit *kit, void *args, struct tn_workspace *workspace)
{
	struct tn_call *call = args;
	uint64_t size = kit->options.prefers ? workspace->preferred : workspace->minimum;
	if (size < workspace->minimum)
		size = workspace->minimum;
	if (size > kit->description.max_alloc_bytes || size > UINT32_MAX * UINT64_C(64)) {
		kit_fail_as(kit, "call.workspace", "it requests a workspace of %llu bytes",
			    (unsigned long long)size);
		return TN_OUT_OF_MEMORY;
	}
	if (size)
		return enter_with_workspace(kit, args, workspace, size);
	call->workspace = NULL;
	return enter_once(kit, args);
}

static void synchronise(struct kit *kit)
{
	struct tn_sync_args args = {.call = {.struct_size = sizeof(args),
					     .stream = kit->options.stream,
					     .error = &kit->error}};
	tn_status status = kit->backend->device.sync(kit->device, &args);
	if (status)
		kit_fail(kit, "sync: %s: %s", tn_status_name(status), kit->error.text);
}

/* Checks the error of a failed call. */
static void check_error(struct kit *kit, tn_status status)
{
	const struct tn_error_info *error = &kit->error;
	if (!status || status == TN_UNSUPPORTED)
		return;
	if (error->status != status)
		kit_fail_as(kit, "call.error", "it returns %s, but its error has the status %s",
			    tn_status_name(status), tn_status_name(error->status));
	else if (!error->operation[0] || !error->text[0])
		kit_fail_as(kit, "call.error", "its error of %s has no %s", tn_status_name(status),
			    error->text[0] ? "operation" : "text");
}

/* Hints about operands that no call but a reduction has: a callee ignores them. */
static void set_hints(const struct kit *kit, struct tn_call *call)
{
	if (kit->slot != TN_SLOT_REDUCE)
		call->hints = TN_HINT_CONSTANT(30) | TN_HINT_CONSTANT(31) | TN_HINT_LAST_USE(31);
}

static tn_status run(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays)
{
	struct tn_workspace workspace;
	tn_status dry, real;
	for (size_t i = 0; i < n_arrays; i++)
		move(kit, arrays[i]->operand.buffer, 0, arrays[i]->size, 1, arrays[i]->image);
	dry = dry_run(kit, args, &workspace);
	dry_run_without_buffers(kit, args, dry, &workspace);
	((struct tn_call *)args)->workspace = &workspace;
	set_hints(kit, args);
	real = !dry ? real_run(kit, args, &workspace) : enter_once(kit, args);
	check_error(kit, real);
	synchronise(kit);
	for (size_t i = 0; i < n_arrays; i++)
		fetch(kit, arrays[i], real);
	if (dry != real && !has_run_out(kit, real))
		kit_fail_as(kit, "call.dry_run", "the dry run returns %s, the call %s: %s",
			    tn_status_name(dry), tn_status_name(real), kit->error.text);
	return real;
}

tn_status kit_run(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays)
{
	tn_status status = run(kit, args, arrays, n_arrays);
	if (!status)
		kit->tallies[kit->slot].done++;
	else if (status == TN_UNSUPPORTED)
		kit->tallies[kit->slot].unsupported++;
	else if (has_run_out(kit, status))
		kit->tallies[kit->slot].refused++;
	else
		kit_fail(kit, "%s: %s", tn_status_name(status), kit->error.text);
	return status;
}

/* A backend that claims no dtype for a mandatory entry may refuse all calls of it. */
static int is_claimed(const struct kit *kit)
{
	if (kit->slot == TN_SLOT_MAP || kit->slot == TN_SLOT_REDUCE)
		return kit->description.program_dtypes != 0;
	return kit->slot != TN_SLOT_MATMUL || kit->description.matmul_dtypes != 0;
}

/* May values of the program leave the range of f16, in which the device computes? */
static int leaves_range(const struct kit *kit)
{
	return (kit->slot == TN_SLOT_MAP && kit_compute_dtype(kit, TN_FAMILY_MAP) == TN_F16) ||
	       (kit->slot == TN_SLOT_REDUCE && kit_compute_dtype(kit, TN_FAMILY_REDUCE) == TN_F16);
}

int kit_run_ok(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays)
{
	tn_status status = kit_run(kit, args, arrays, n_arrays);
	if (status == TN_UNSUPPORTED && is_claimed(kit) && !leaves_range(kit))
		kit_fail(kit, "a call declared as supported is unsupported: %s", kit->error.text);
	return !status;
}

void kit_run_refused(struct kit *kit, void *args, struct array *const *arrays, size_t n_arrays,
		     tn_status status)
{
	tn_status found = run(kit, args, arrays, n_arrays);
	if (!found)
		kit_fail(kit, "it succeeded: expected a refusal");
	else if (status && found != status)
		kit_fail(kit, "refused by %s, expected %s: %s", tn_status_name(found),
			 tn_status_name(status), kit->error.text);
	else
		kit->tallies[kit->slot].refused++;
}
