/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A call between asynchronous transfers.  The arrays begin with other data, so that each piece that
 * runs too early or too late is seen:
 *     download of the inputs   the other data, unless the upload after it ran before
 *     upload, call, download   the expected results, unless one of them ran out of order
 *     upload of the other data the arrays contain it in the end, unless it ran before.
 */
#include "flights.h"

#include "borrow.h"

static void stage(struct flight *flight, struct staging *staging, size_t i,
		  const unsigned char *bytes, int pinned)
{
	const struct array *array = &flight->sample.array[i];
	staging_make(flight->sample.kit, staging, array->size, pinned);
	if (bytes)
		memcpy(staging->bytes, bytes, array->size);
	else
		memset(staging->bytes, 0x3c, array->size);
}

/* The workspace that the call requests, on the device. */
static void give_workspace(struct flight *flight)
{
	struct kit *kit = flight->sample.kit;
	struct tn_workspace *own = &flight->workspace;
	struct tn_call *call = &flight->sample.args.call;
	*own = (struct tn_workspace){.struct_size = sizeof(*own)};
	call->error = &kit->error;
	call->workspace = own;
	call->flags |= TN_DRY_RUN;
	if (kit_enter(kit, call))
		kit_fail(kit, "a dry run: %s", kit->error.text);
	call->flags &= ~(uint32_t)TN_DRY_RUN;
	own->size = own->minimum;
	if (own->size)
		own->buffer = kit_alloc(kit, own->size, TN_MEMORY_DEVICE);
	else
		call->workspace = NULL;
}

int64_t flight_large(int slot)
{
	enum { OF_ROWS = 1021, OF_LAYERS = 19 };
	return slot < TN_SLOT_CONV2D_FORWARD ? OF_ROWS : OF_LAYERS;
}

int flight_make(struct kit *kit, struct flight *flight, int slot, const char *what,
		unsigned variant, tn_dtype dtype, int64_t scale, int pinned)
{
	struct sample other;
	size_t size;
	memset(flight, 0, sizeof(*flight));
	sample_make_variant(kit, &other, slot, what, 100 + variant, dtype, scale);
	if (!sample_run(&other))
		flight->expected_was = sample_result(&other, &size);
	sample_make_variant(kit, &flight->sample, slot, what, variant, dtype, scale);
	for (size_t i = 0; i < other.n; i++) {
		stage(flight, &flight->was[i], i, other.before[i], pinned);
		stage(flight, &flight->in[i], i, flight->sample.before[i], pinned);
		stage(flight, &flight->out[i], i, NULL, pinned);
		stage(flight, &flight->final[i], i, NULL, 0);
	}
	sample_free(&other);
	if (sample_run(&flight->sample))
		return 0;
	flight->expected = sample_result(&flight->sample, &size);
	give_workspace(flight);
	return 1;
}

void flight_free(struct flight *flight)
{
	struct kit *kit = flight->sample.kit;
	for (size_t i = 0; i < flight->sample.n; i++) {
		staging_end(kit, &flight->was[i]);
		staging_end(kit, &flight->in[i]);
		staging_end(kit, &flight->out[i]);
		staging_end(kit, &flight->final[i]);
	}
	if (flight->workspace.buffer)
		kit_free(kit, flight->workspace.buffer);
	free(flight->expected);
	free(flight->expected_was);
	sample_free(&flight->sample);
}

tn_status flight_enter(struct flight *flight, void *stream)
{
	struct borrowed borrowed;
	struct kit *kit = flight->sample.kit;
	kit->slot = flight->sample.slot;
	flight->sample.args.call.stream = stream;
	if (!borrow(&borrowed, kit->slot, &flight->sample.args))
		kit_give_up(kit, "the kit is out of memory");
	tn_status status = kit_enter(kit, borrowed.args);
	borrow_spoil(&borrowed);
	borrow_end(&borrowed);
	return status;
}

/* ---- Transfers -------------------------------------------------------------------------------*/

static struct span span_of(const struct flight *flight, size_t i, const struct staging *staging)
{
	return (struct span){.buffer = flight->sample.array[i].operand.buffer,
			     .size = flight->sample.array[i].size,
			     .host = staging[i].bytes};
}

/* Of the arrays of that role: INPUT, OUTPUT, or -1 for both. */
static void transfer(struct flight *flight, void *stream, enum transfer way, uint32_t flags,
		     int role, const struct staging *staging)
{
	for (size_t i = 0; i < flight->sample.n; i++) {
		const struct span span = span_of(flight, i, staging);
		if (role < 0 || flight->sample.array[i].role == (enum role)role)
			kit_transfer(flight->sample.kit, stream, way, flags, &span);
	}
}

static void wait(struct kit *kit)
{
	if (kit_sync(kit, NULL))
		kit_fail(kit, "sync: %s", kit->error.text);
}

void flight_reset(struct flight *flight)
{
	transfer(flight, NULL, UPLOAD, 0, -1, flight->was);
	wait(flight->sample.kit);
}

void flight_set_inputs(struct flight *flight)
{
	transfer(flight, NULL, UPLOAD, 0, -1, flight->in);
	wait(flight->sample.kit);
}

/* Work of `later` from now on runs after that of `earlier` so far. */
static void join(struct kit *kit, void *earlier, void *later)
{
	if (earlier == later)
		return;
	void *event = kit_event(kit);
	kit_record(kit, earlier, event);
	kit_await(kit, later, event);
	kit_event_end(kit, event);
}

void flight_start(struct flight *flight, void *upload, void *call, void *download)
{
	struct kit *kit = flight->sample.kit;
	transfer(flight, upload, DOWNLOAD, TN_ASYNC, INPUT, flight->out);
	transfer(flight, upload, UPLOAD, TN_ASYNC, -1, flight->in);
	join(kit, upload, call);
	tn_status status = TN_OK;
	if (flight->graph)
		kit_launch(kit, call, flight->graph);
	else
		status = flight_enter(flight, call);
	if (status)
		kit_fail(kit, "%s: %s", tn_status_name(status), kit->error.text);
	join(kit, call, download);
	transfer(flight, download, DOWNLOAD, TN_ASYNC, OUTPUT, flight->out);
	join(kit, download, upload);
	transfer(flight, upload, UPLOAD, TN_ASYNC, -1, flight->was);
}

/* ---- Results ---------------------------------------------------------------------------------*/

static void expect_bytes(struct flight *flight, size_t i, const unsigned char *found,
			 const unsigned char *expected, const char *what)
{
	for (size_t at = 0; at < flight->sample.array[i].size; at++)
		if (found[at] != expected[at])
			return kit_fail(flight->sample.kit,
					"%s, array %zu: byte %zu is %02x, expected %02x", what, i,
					at, found[at], expected[at]);
}

void flight_expect_results(struct flight *flight, const unsigned char *expected)
{
	transfer(flight, NULL, DOWNLOAD, 0, -1, flight->final);
	for (size_t i = 0; i < flight->sample.n; i++)
		memcpy(flight->sample.array[i].image, flight->final[i].bytes,
		       flight->sample.array[i].size);
	sample_expect_same(&flight->sample, expected, flight->sample.kit->check->id);
}

void flight_expect_untouched(struct flight *flight)
{
	transfer(flight, NULL, DOWNLOAD, 0, OUTPUT, flight->final);
	for (size_t i = 0; i < flight->sample.n; i++)
		if (flight->sample.array[i].role == OUTPUT)
			expect_bytes(flight, i, flight->final[i].bytes, flight->was[i].bytes,
				     "an output that no work has written");
}

void flight_land(struct flight *flight)
{
	struct sample *sample = &flight->sample;
	for (size_t i = 0; i < sample->n; i++) {
		if (sample->array[i].role == INPUT)
			expect_bytes(flight, i, flight->out[i].bytes, flight->was[i].bytes,
				     "the download before the upload");
		else
			memcpy(sample->array[i].image, flight->out[i].bytes, sample->array[i].size);
	}
	sample_expect_same(sample, flight->expected, sample->kit->check->id);
	transfer(flight, NULL, DOWNLOAD, 0, -1, flight->final);
	for (size_t i = 0; i < sample->n; i++)
		expect_bytes(flight, i, flight->final[i].bytes, flight->was[i].bytes,
			     "after the last upload");
}
