/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The vendor's handles.  The kit calls no vendor's interface: it exports a stream of its own and
 * imports what it gets.  The order of work in it is in streams.c.
 */
#include "loader/slots.h"
#include "slots.h"

enum { UNKNOWN_FLAG = TN_CALL_FLAG_UNASSIGNED };

void check_native_table(struct kit *kit)
{
	unsigned n = 0, all = 0;
	for (int slot = TN_SLOT_DEVICE_EXPORT; slot <= TN_SLOT_STREAM_EXPORT; slot++, all++)
		n += tn_backend_has(kit->backend, (enum tn_slot)slot) != 0;
	if (!n)
		return kit_skip(kit, "it has no " TN_TABLE_NATIVE);
	kit_case(kit, TN_SLOT_STREAM_IMPORT, TN_TABLE_NATIVE);
	if (n < all)
		kit_fail(kit, "%u of its %u slots are filled: expected all or none", n, all);
	if (!tn_backend_has_all(kit->backend, TN_SLOT_STREAM_CREATE, TN_SLOT_EVENT_ELAPSED))
		kit_fail(kit, "it imports streams, but has no " TN_TABLE_STREAM);
	kit_pass(kit);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

tn_status native_export(struct kit *kit, void *stream, uint64_t *native)
{
	const struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error}};
	return kit->backend->vendor.stream_export(kit->device, &args, native);
}

tn_status native_import(struct kit *kit, uint64_t native, uint32_t flags, void **stream)
{
	const struct tn_native_args args = {
		.call = {.struct_size = sizeof(args), .flags = flags, .error = &kit->error},
		.native = native};
	return kit->backend->vendor.stream_import(kit->device, &args, stream);
}

tn_status native_release(struct kit *kit, void *stream)
{
	const struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error}};
	return kit->backend->vendor.stream_release(kit->device, &args);
}

static void expect(struct kit *kit, tn_status status, tn_status expected, const char *what)
{
	if (status != expected)
		kit_fail(kit, "%s: %s, expected %s: %s", what, tn_status_name(status),
			 tn_status_name(expected), kit->error.text);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

/* A backend without the table refuses any; one that has it is given what it exported itself. */
void check_native_open(struct kit *kit)
{
	const struct tn_backend *b = kit->backend;
	const struct tn_native_args export = {
		.call = {.struct_size = sizeof(export), .error = &kit->error}};
	struct tn_open_args open = {.call = {.struct_size = sizeof(open), .error = &kit->error},
				    .index = kit->index,
				    .native = 1};
	void *device = NULL;
	int has_table = tn_backend_has(b, TN_SLOT_DEVICE_EXPORT);
	if (has_table) {
		kit_case(kit, TN_SLOT_DEVICE_EXPORT, "device_export");
		expect(kit, b->vendor.device_export(kit->device, &export, &open.native), TN_OK,
		       "device_export");
		kit_pass(kit);
	}
	kit_case(kit, TN_SLOT_OPEN, "open: on a handle of others");
	if (!open.native)
		return kit_pass(kit);
	tn_status status = b->device.open(b->plugin.instance, &open, &device);
	if (!status && has_table && device)
		b->device.close(device);
	else if (status != TN_UNSUPPORTED || device)
		kit_fail(kit, "%s and a handle that is %s: expected %sUNSUPPORTED",
			 tn_status_name(status), device ? "set" : "NULL",
			 has_table ? "OK and a handle, or " : "");
	kit_pass(kit);
}

void check_native_refused(struct kit *kit)
{
	uint64_t native = 77;
	void *stream = NULL, *untouched = &native;
	struct tn_stream_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error}};
	if (!tn_backend_has_all(kit->backend, TN_SLOT_DEVICE_EXPORT, TN_SLOT_STREAM_EXPORT))
		return kit_skip(kit, "it has no " TN_TABLE_NATIVE);
	kit_case(kit, TN_SLOT_STREAM_EXPORT, "stream_export: an unknown flag");
	args.call.flags = UNKNOWN_FLAG;
	expect(kit, kit->backend->vendor.stream_export(kit->device, &args, &native), TN_UNSUPPORTED,
	       "stream_export");
	if (native != 77)
		kit_fail(kit, "it was refused, and the handle was written");
	args.call.flags = 0;
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_IMPORT, "stream_import: invalid arguments");
	expect(kit, native_import(kit, 0, 0, &untouched), TN_INVALID_ARGUMENT, "native 0");
	expect(kit, native_export(kit, NULL, &native), TN_OK, "stream_export of the NULL stream");
	expect(kit, native_import(kit, native, UNKNOWN_FLAG, &untouched), TN_UNSUPPORTED,
	       "an unknown flag");
	if (untouched != &native)
		kit_fail(kit, "it was refused, and the handle was written");
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_RELEASE, "stream_release: a stream that is not imported");
	expect(kit, native_release(kit, NULL), TN_INVALID_ARGUMENT, "the NULL stream");
	expect(kit, kit->backend->stream.stream_create(kit->device, &args, &stream), TN_OK,
	       "stream_create");
	expect(kit, native_release(kit, stream), TN_INVALID_ARGUMENT, "a stream of stream_create");
	args.call.stream = stream;
	expect(kit, kit->backend->stream.stream_destroy(kit->device, &args), TN_OK,
	       "stream_destroy");
	kit_pass(kit);
	kit_case(kit, TN_SLOT_STREAM_DESTROY, "stream_destroy: an imported stream");
	expect(kit, native_import(kit, native, 0, &stream), TN_OK, "stream_import");
	args.call.stream = stream;
	expect(kit, kit->backend->stream.stream_destroy(kit->device, &args), TN_INVALID_ARGUMENT,
	       "stream_destroy");
	expect(kit, native_release(kit, stream), TN_OK, "stream_release");
	kit_pass(kit);
}
