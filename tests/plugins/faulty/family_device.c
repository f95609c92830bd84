/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Families of faults of memory, streams, events and captures:
 *
 *	alloc limit N          more than N bytes are refused, and 64 TiB stated
 *	alloc align N          no alignment above N is kept
 *	alloc leak N           N bytes are lost by each refused allocation
 *	open device N          every device that is opened is number N
 *	import_memory round N  addresses are rounded down to N
 *	upload null_stream 0   asynchronous ones of streams run in the NULL stream; download too
 *	event_query says N     1: always reached; 0: never
 *	event_sync skips WHICH does not wait for events of the null stream, of created ones, of all
 *	event_record keeps 0   an event that is not reached keeps its place
 *	event_wait skips 0     nothing waits
 *	event_elapsed times X
 *	sync swallows 0        an error of queued work gets lost
 *	capture drops SLOT     a captured call of SLOT (of an array slot) is dropped
 *
 * With "from N" at the end, the Nth call of that entry is the first that is wrong; of sync the Nth
 * error.
 */
#include <stdlib.h>

#include "family.h"

static unsigned long long number;
static const char *word;
static unsigned long long right_calls; /* that come first */

/* Is this call, of the entry that is wrong, to be right? */
static int is_right(void)
{
	static unsigned long long calls;
	return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) <= right_calls;
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static tn_status alloc_limited(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	if (args->size > number)
		return tn_plugin_fail(args->call.error, TN_OUT_OF_MEMORY, "alloc", "too large");
	return right.device.alloc(device, args, buffer);
}

static tn_status describe_unlimited(void *instance, uint32_t index,
				    struct tn_device_description *out)
{
	struct tn_device_description own = {.struct_size = sizeof(own)};
	tn_status status = right.device.describe(instance, index, &own);
	own.max_alloc_bytes = UINT64_C(1) << 46;
	if (!status)
		tn_struct_answer(out, &own, sizeof(own));
	return status;
}

static tn_status alloc_misaligned(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	struct tn_alloc_args own;
	if (tn_arguments_take(&own, sizeof(own), args))
		return right.device.alloc(device, args, buffer);
	if (own.alignment > number)
		own.alignment = number;
	return right.device.alloc(device, &own, buffer);
}

static tn_status alloc_leaking(void *device, const struct tn_alloc_args *args, uint64_t *buffer)
{
	tn_status status = right.device.alloc(device, args, buffer);
	if (status) {
		void *volatile lost = malloc(number);
		memset(lost, 1, number);
	}
	return status;
}

static tn_status open_number(void *instance, const struct tn_open_args *args, void **device)
{
	struct tn_open_args own;
	if (tn_arguments_take(&own, sizeof(own), args))
		return right.device.open(instance, args, device);
	if (!is_right())
		own.index = (uint32_t)number;
	return right.device.open(instance, &own, device);
}

static tn_status import_rounded(void *device, const struct tn_import_args *args, uint64_t *buffer)
{
	struct tn_import_args own;
	if (tn_arguments_take(&own, sizeof(own), args))
		return right.import.import_memory(device, args, buffer);
	own.pointer -= own.pointer % number;
	return right.import.import_memory(device, &own, buffer);
}

static int plant_memory(const char *slot, const char *effect)
{
	if (!strcmp(slot, "open"))
		faulty.device.open = open_number;
	else if (!strcmp(slot, "import_memory"))
		faulty.import.import_memory = import_rounded;
	else if (strcmp(slot, "alloc") != 0)
		return 0;
	else if (!strcmp(effect, "align"))
		faulty.device.alloc = alloc_misaligned;
	else if (!strcmp(effect, "leak"))
		faulty.device.alloc = alloc_leaking;
	else
		faulty.device.alloc = alloc_limited;
	if (faulty.device.alloc == alloc_limited)
		faulty.device.describe = describe_unlimited;
	return 1;
}

/* ---- Streams and events ----------------------------------------------------------------------*/

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	if (tn_arguments_take(&own, sizeof(own), args))
		return right.device.upload(device, args);
	if (own.call.flags & TN_ASYNC && own.call.stream && !is_right())
		own.call.stream = NULL;
	return right.device.upload(device, &own);
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	struct tn_transfer_args own;
	if (tn_arguments_take(&own, sizeof(own), args))
		return right.device.download(device, args);
	if (own.call.flags & TN_ASYNC && own.call.stream && !is_right())
		own.call.stream = NULL;
	return right.device.download(device, &own);
}

static tn_status event_query(void *device, const struct tn_event_args *args, uint32_t *reached)
{
	tn_status status = right.stream.event_query(device, args, reached);
	if (!status && !is_right())
		*reached = (uint32_t)number;
	return status;
}

enum { EVENTS = 256 };
static void *of_null[EVENTS]; /* events last recorded in the NULL stream */

static tn_status event_record(void *device, const struct tn_event_args *args)
{
	static unsigned turn;
	for (int i = 0; i < EVENTS; i++)
		of_null[i] = of_null[i] == args->event ? NULL : of_null[i];
	if (!args->call.stream)
		of_null[turn++ % EVENTS] = args->event;
	return right.stream.event_record(device, args);
}

static tn_status record_first(void *device, const struct tn_event_args *args)
{
	struct tn_event_args own = *args;
	uint32_t reached = 1;
	own.call.stream = NULL;
	if (!right.stream.event_query(device, &own, &reached) && !reached && !is_right())
		return TN_OK;
	return right.stream.event_record(device, args);
}

static tn_status event_sync(void *device, const struct tn_event_args *args)
{
	int is_null = 0;
	for (int i = 0; i < EVENTS; i++)
		is_null |= args->event && of_null[i] == args->event;
	if ((!strcmp(word, "all") || is_null == !strcmp(word, "null")) && !is_right())
		return TN_OK;
	return right.stream.event_sync(device, args);
}

static tn_status event_wait(void *device, const struct tn_event_args *args)
{
	return is_right() ? right.stream.event_wait(device, args) : TN_OK;
}

static tn_status event_elapsed(void *device, const struct tn_elapsed_args *args, double *seconds)
{
	tn_status status = right.stream.event_elapsed(device, args, seconds);
	if (!status)
		*seconds *= strtod(word, NULL);
	return status;
}

static tn_status sync_swallows(void *device, const struct tn_sync_args *args)
{
	tn_status status = right.device.sync(device, args);
	return status == TN_BACKEND_FAILURE && !is_right() ? TN_OK : status;
}

static tn_status async_error(void *device, void *stream, struct tn_error_info *out)
{
	struct tn_error_info own = {.struct_size = sizeof(own)};
	tn_status status = right.device.async_error(device, stream, &own);
	if (status == TN_BACKEND_FAILURE && !is_right())
		return TN_OK;
	if (status)
		tn_struct_answer(out, &own, sizeof(own));
	return status;
}

static int plant_stream(const char *slot)
{
	if (!strcmp(slot, "upload")) {
		faulty.device.upload = upload;
	} else if (!strcmp(slot, "download")) {
		faulty.device.download = download;
	} else if (!strcmp(slot, "event_query")) {
		faulty.stream.event_query = event_query;
	} else if (!strcmp(slot, "event_sync")) {
		faulty.stream.event_sync = event_sync;
		faulty.stream.event_record = event_record;
	} else if (!strcmp(slot, "event_record")) {
		faulty.stream.event_record = record_first;
	} else if (!strcmp(slot, "event_wait")) {
		faulty.stream.event_wait = event_wait;
	} else if (!strcmp(slot, "event_elapsed")) {
		faulty.stream.event_elapsed = event_elapsed;
	} else if (!strcmp(slot, "sync")) {
		faulty.device.sync = sync_swallows;
		faulty.device.async_error = async_error;
	} else {
		return 0;
	}
	return 1;
}

/* ---- Captures --------------------------------------------------------------------------------*/

static _Thread_local int captures;
static size_t dropped; /* the place of the entry */

static tn_status capture_begin(void *device, const struct tn_graph_args *args)
{
	tn_status status = right.capture.capture_begin(device, args);
	captures += !status;
	return status;
}

static tn_status capture_end(void *device, const struct tn_graph_args *args, void **graph)
{
	tn_status status = right.capture.capture_end(device, args, graph);
	captures -= !status;
	return status;
}

static tn_status drop(void *device, const void *args)
{
	tn_status (*entry)(void *, const void *);
	if (captures && !(((const struct tn_call *)args)->flags & TN_DRY_RUN) && !is_right())
		return TN_OK;
	memcpy(&entry, (const char *)&right + dropped, sizeof(entry));
	return entry(device, args);
}

static int plant_capture(void)
{
	tn_status (*const entry)(void *, const void *) = drop;
	dropped = family_slot_place(word);
	if (!dropped)
		return 0;
	memcpy((char *)&faulty + dropped, &entry, sizeof(entry));
	faulty.capture.capture_begin = capture_begin;
	faulty.capture.capture_end = capture_end;
	return 1;
}

int family_plant_device(char *const *words, size_t n_words)
{
	if (n_words != 3 && (n_words != 5 || strcmp(words[3], "from") != 0))
		return 0;
	right_calls = n_words == 5 ? strtoull(words[4], NULL, 10) - 1 : 0;
	word = words[2];
	number = (unsigned long long)strtod(word, NULL);
	if (!strcmp(words[0], "capture"))
		return plant_capture();
	return plant_memory(words[0], words[1]) || plant_stream(words[0]);
}
