/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies from one device to another: the requested bytes, in the order of both devices.
 */
#include "slots.h"

enum { BYTES = 300000, ROUNDS = 4 };

/* A device with one buffer. */
struct end {
	struct kit *kit;
	void *device, *stream;
	uint64_t buffer;
};

struct pair {
	struct end here, there;
	unsigned char *bytes[ROUNDS + 2]; /* unchanged while transfers run */
};

static void expect_ok(struct kit *kit, tn_status status, const char *what)
{
	if (status)
		kit_fail(kit, "%s: %s: %s", what, tn_status_name(status), kit->error.text);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static struct tn_call call_of(const struct end *end, size_t size, uint32_t flags)
{
	return (struct tn_call){.struct_size = (uint32_t)size,
				.flags = flags,
				.stream = end->stream,
				.error = &end->kit->error};
}

static void upload(const struct end *end, const unsigned char *from, uint32_t flags)
{
	const struct tn_transfer_args args = {.call = call_of(end, sizeof(args), flags),
					      .buffer = end->buffer,
					      .size = BYTES,
					      .host = (void *)(uintptr_t)from};
	expect_ok(end->kit, end->kit->backend->device.upload(end->device, &args), "upload");
}

static void download(const struct end *end, unsigned char *to)
{
	const struct tn_transfer_args args = {.call = call_of(end, sizeof(args), 0),
					      .buffer = end->buffer,
					      .size = BYTES,
					      .host = to};
	expect_ok(end->kit, end->kit->backend->device.download(end->device, &args), "download");
}

static void sync(const struct end *end)
{
	const struct tn_sync_args args = {.call = call_of(end, sizeof(args), 0)};
	expect_ok(end->kit, end->kit->backend->device.sync(end->device, &args), "sync");
}

static struct tn_peer_args copy_args(const struct end *to, const struct end *from)
{
	return (struct tn_peer_args){.call = call_of(to, sizeof(struct tn_peer_args), 0),
				     .peer = from->device,
				     .peer_stream = from->stream,
				     .buffer = to->buffer,
				     .peer_buffer = from->buffer,
				     .size = BYTES};
}

static tn_status copy(const struct end *to, const struct tn_peer_args *args)
{
	return to->kit->backend->peer.peer_copy(to->device, args);
}

/* ---- Two devices -----------------------------------------------------------------------------*/

static void fill(struct kit *kit, unsigned char *bytes)
{
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)kit_random(kit);
}

static void begin_end(struct end *end, struct kit *kit, void *device)
{
	struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .size = BYTES};
	*end = (struct end){.kit = kit, .device = device};
	if (kit->backend->device.alloc(device, &args, &end->buffer))
		kit_give_up(kit, "alloc: %s", kit->error.text);
}

static void finish_end(const struct end *end)
{
	const struct tn_free_args args = {.call = call_of(end, sizeof(args), 0),
					  .buffer = end->buffer};
	sync(end);
	expect_ok(end->kit, end->kit->backend->device.free(end->device, &args), "free");
}

static void end_pair(struct pair *pair)
{
	finish_end(&pair->here);
	finish_end(&pair->there);
	pair->here.kit->backend->device.close(pair->there.device);
	for (size_t i = 0; i < ROUNDS + 2; i++)
		free(pair->bytes[i]);
}

/* 0: the other device does not open; other checks report that. */
static int open_pair(struct kit *kit, struct pair *pair)
{
	struct tn_open_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .index = kit->index ? 0 : 1};
	void *device = NULL;
	if (kit->backend->device.open(kit->backend->plugin.instance, &args, &device))
		return kit_skip(kit, "device %u does not open: %s", args.index, kit->error.text), 0;
	for (size_t i = 0; i < ROUNDS + 2; i++)
		if (!(pair->bytes[i] = malloc(BYTES)))
			kit_give_up(kit, "the kit is out of memory");
	begin_end(&pair->here, kit, kit->device);
	begin_end(&pair->there, kit, device);
	return 1;
}

/* 0: there is nothing to check. */
static int begin_pair(struct kit *kit, struct pair *pair)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_PEER_COPY))
		return kit_skip(kit, "its devices cannot copy from each other"), 0;
	if (kit->backend->n_devices < 2)
		return kit_skip(kit, "there is only one device"), 0;
	kit_case(kit, TN_SLOT_PEER_COPY, "devices %u and %u", kit->index, kit->index ? 0 : 1);
	if (!open_pair(kit, pair))
		return 0;
	struct tn_peer_args args = copy_args(&pair->here, &pair->there);
	args.call.flags = TN_DRY_RUN;
	tn_status status = copy(&pair->here, &args);
	if (!status)
		return 1;
	if (status != TN_UNSUPPORTED)
		expect_ok(kit, status, "a dry run");
	kit_unsupported(kit);
	kit_skip(kit, "the two devices have no peer access");
	end_pair(pair);
	return 0;
}

/* ---- peer.copy -------------------------------------------------------------------------------*/

static void copies(const struct pair *pair, const struct end *to, const struct end *from,
		   uint64_t to_offset, uint64_t from_offset, uint64_t size)
{
	struct kit *kit = to->kit;
	unsigned char *old = pair->bytes[0], *given = pair->bytes[1], *found = pair->bytes[2];
	kit_case(kit, TN_SLOT_PEER_COPY, "%llu bytes at %llu to %llu, %s", (unsigned long long)size,
		 (unsigned long long)from_offset, (unsigned long long)to_offset,
		 to == &pair->here ? "here" : "there");
	fill(kit, old);
	fill(kit, given);
	upload(to, old, 0);
	upload(from, given, 0);
	struct tn_peer_args args = copy_args(to, from);
	args.offset = to_offset;
	args.peer_offset = from_offset;
	args.size = size;
	expect_ok(kit, copy(to, &args), "peer_copy");
	memcpy(old + to_offset, given + from_offset, size);
	download(to, found);
	if (memcmp(found, old, BYTES) != 0)
		kit_fail(kit, "the copied bytes are wrong, or at the wrong place");
	download(from, found);
	if (memcmp(found, given, BYTES) != 0)
		kit_fail(kit, "the peer's own bytes have changed");
	kit_pass(kit);
}

void check_peer_copy(struct kit *kit)
{
	static const uint64_t cases[][3] = {
		{0, 0, BYTES}, {0, 0, 1}, {1, 2, 255}, {4097, 3, 70001}, {256, BYTES - 5, 5}};
	struct pair pair;
	if (!begin_pair(kit, &pair))
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		copies(&pair, &pair.here, &pair.there, cases[i][0], cases[i][1], cases[i][2]);
		copies(&pair, &pair.there, &pair.here, cases[i][0], cases[i][1], cases[i][2]);
	}
	end_pair(&pair);
}

/* ---- peer.order ------------------------------------------------------------------------------*/

static void *make_stream(const struct end *end)
{
	struct kit *kit = end->kit;
	const struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .error = &kit->error}};
	void *stream = NULL;
	if (kit->backend->stream.stream_create(end->device, &args, &stream))
		kit_give_up(kit, "stream_create: %s", kit->error.text);
	return stream;
}

static void end_stream(struct end *end)
{
	const struct tn_stream_args args = {.call = call_of(end, sizeof(args), 0)};
	expect_ok(end->kit, end->kit->backend->stream.stream_destroy(end->device, &args),
		  "stream_destroy");
	end->stream = NULL;
}

/* The source's bytes change before and after each copy, the destination's before; only the end
 * waits. */
static void keeps_order(const struct pair *pair, const struct end *to, const struct end *from)
{
	struct kit *kit = to->kit;
	unsigned char *found = pair->bytes[ROUNDS + 1];
	const uint64_t part = BYTES / ROUNDS;
	for (size_t i = 0; i <= ROUNDS; i++)
		fill(kit, pair->bytes[i]);
	upload(to, pair->bytes[ROUNDS], TN_ASYNC);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		struct tn_peer_args args = copy_args(to, from);
		upload(from, pair->bytes[i], TN_ASYNC);
		args.offset = args.peer_offset = i * part;
		args.size = part;
		expect_ok(kit, copy(to, &args), "peer_copy");
	}
	upload(from, pair->bytes[ROUNDS], TN_ASYNC);
	download(to, found);
	for (uint64_t i = 0; i < ROUNDS; i++)
		if (memcmp(found + i * part, pair->bytes[i] + i * part, part) != 0)
			kit_fail(kit, "copy %llu lacks the data that the peer had then",
				 (unsigned long long)i);
	download(from, found);
	if (memcmp(found, pair->bytes[ROUNDS], BYTES) != 0)
		kit_fail(kit, "the peer lacks the data written after the copies");
	kit_pass(kit);
}

/* There and back, in turn. */
static void goes_there_and_back(const struct pair *pair)
{
	struct kit *kit = pair->here.kit;
	unsigned char *found = pair->bytes[ROUNDS + 1];
	kit_case(kit, TN_SLOT_PEER_COPY, "there and back");
	fill(kit, pair->bytes[0]);
	fill(kit, pair->bytes[1]);
	upload(&pair->here, pair->bytes[0], TN_ASYNC);
	upload(&pair->there, pair->bytes[1], TN_ASYNC);
	for (int i = 0; i < ROUNDS; i++) {
		struct tn_peer_args back = copy_args(&pair->here, &pair->there);
		struct tn_peer_args to = copy_args(&pair->there, &pair->here);
		to.size = back.size = BYTES / 2;
		to.peer_offset = back.offset = back.peer_offset = BYTES / 2;
		expect_ok(kit, copy(&pair->here, &back), "peer_copy");
		expect_ok(kit, copy(&pair->there, &to), "peer_copy");
	}
	memcpy(pair->bytes[0] + BYTES / 2, pair->bytes[1] + BYTES / 2, BYTES / 2);
	download(&pair->here, found);
	if (memcmp(found, pair->bytes[0], BYTES) != 0)
		kit_fail(kit, "the first device lacks the data copied to it");
	memcpy(pair->bytes[1], pair->bytes[1] + BYTES / 2, BYTES / 2);
	download(&pair->there, found);
	if (memcmp(found, pair->bytes[1], BYTES) != 0)
		kit_fail(kit, "the second device lacks the data copied to it");
	kit_pass(kit);
}

void check_peer_order(struct kit *kit)
{
	struct pair pair;
	if (!begin_pair(kit, &pair))
		return;
	kit_case(kit, TN_SLOT_PEER_COPY, "in the NULL streams, here");
	keeps_order(&pair, &pair.here, &pair.there);
	kit_case(kit, TN_SLOT_PEER_COPY, "in the NULL streams, there");
	keeps_order(&pair, &pair.there, &pair.here);
	goes_there_and_back(&pair);
	if (tn_backend_has_all(kit->backend, TN_SLOT_STREAM_CREATE, TN_SLOT_EVENT_ELAPSED)) {
		kit_case(kit, TN_SLOT_PEER_COPY, "in streams");
		pair.here.stream = make_stream(&pair.here);
		pair.there.stream = make_stream(&pair.there);
		keeps_order(&pair, &pair.here, &pair.there);
		end_stream(&pair.there);
		end_stream(&pair.here);
	}
	end_pair(&pair);
}

/* ---- peer.refused ----------------------------------------------------------------------------*/

static void expect_refused(const struct pair *pair, const struct tn_peer_args *args,
			   tn_status expected, const char *what)
{
	struct kit *kit = pair->here.kit;
	unsigned char *found = pair->bytes[2];
	kit_case(kit, TN_SLOT_PEER_COPY, "%s", what);
	upload(&pair->here, pair->bytes[0], 0);
	upload(&pair->there, pair->bytes[1], 0);
	tn_status status = copy(&pair->here, args);
	if (status != expected)
		kit_fail(kit, "expected %s, found %s", tn_status_name(expected),
			 tn_status_name(status));
	download(&pair->here, found);
	if (memcmp(found, pair->bytes[0], BYTES) != 0)
		kit_fail(kit, "bytes have changed");
	kit->tallies[kit->slot].refused++;
}

void check_peer_refused(struct kit *kit)
{
	struct pair pair;
	if (!begin_pair(kit, &pair))
		return;
	fill(kit, pair.bytes[0]);
	fill(kit, pair.bytes[1]);
	const struct tn_peer_args right = copy_args(&pair.here, &pair.there);
	struct tn_peer_args args = right;
	args.call.flags = TN_CALL_FLAG_UNASSIGNED;
	expect_refused(&pair, &args, TN_UNSUPPORTED, "an unknown flag");
	args = right;
	args.peer = pair.here.device;
	args.peer_stream = pair.here.stream;
	expect_refused(&pair, &args, TN_INVALID_ARGUMENT, "the device itself");
	args = right;
	args.peer = NULL;
	expect_refused(&pair, &args, TN_INVALID_ARGUMENT, "no peer");
	if (tn_backend_has_all(kit->backend, TN_SLOT_STREAM_CREATE, TN_SLOT_EVENT_ELAPSED)) {
		struct end other = pair.here;
		other.stream = make_stream(&pair.here);
		args = right;
		args.peer_stream = other.stream;
		expect_refused(&pair, &args, TN_INVALID_ARGUMENT,
			       "a peer_stream of the destination device");
		end_stream(&other);
	}
	args = right;
	args.call.flags = TN_DRY_RUN;
	args.buffer = args.peer_buffer = 0;
	expect_refused(&pair, &args, TN_OK, "a dry run");
	end_pair(&pair);
}
