/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The first line as TENON_MOCK; what follows are calls of a device with those faults, 10 bytes
 * each, which provoke others by the table org.tenon.faults/1.  The allocations that fail are those
 * that were asked for.
 */
#include <string.h>

#include "file.h"
#include "mock/mock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct tn_backend_descriptor tenon_backend;

static void *take(void *context, size_t size, size_t alignment)
{
	(void)context, (void)alignment;
	return size > 1 << 20 ? NULL : malloc(size);
}

static void give(void *context, void *memory)
{
	(void)context;
	free(memory);
}

static const char *option(void *text, const char *name)
{
	return !strcmp(name, "faults") ? text : NULL;
}

static const char *parameter(void *text, const char *name, const char *help)
{
	(void)text, (void)name, (void)help;
	return NULL;
}

/* How many allocations succeed from now on, and how many fail then. */
struct forecast {
	uint64_t after, times;
};

struct session {
	void *device;
	struct forecast forecast;
	int is_certain; /* TENON_MOCK has no say in allocations */
	struct tn_error_info error;
};

static uint64_t number_of(const uint8_t *bytes)
{
	/* Small ones, and those near the end of the range. */
	const uint64_t value = bytes[1];
	return bytes[0] & 1 ? UINT64_MAX - value : value;
}

static void provoke(struct session *s, const uint8_t *call)
{
	struct tn_fault_args args = {.kind = call[1] % 7,
				     .after = number_of(call + 2),
				     .times = number_of(call + 4),
				     .bytes = number_of(call + 6)};
	args.call = (struct tn_call){.struct_size = sizeof(args), .error = &s->error};
	const tn_status status = mock_faults_table.provoke(s->device, &args);
	fuzz_require(status == TN_OK || status == TN_UNSUPPORTED || status == TN_DEVICE_LOST);
	if (!status && args.kind == TN_FAULT_ALLOC)
		s->forecast = (struct forecast){args.after, args.times ? args.times : UINT64_MAX};
	s->is_certain &= args.kind != TN_FAULT_LIMIT && status != TN_DEVICE_LOST;
}

static void reset(struct session *s)
{
	struct tn_sync_args args = {.call = {.struct_size = sizeof(args), .error = &s->error}};
	fuzz_require(mock_faults_table.reset(s->device, &args) == TN_OK);
	s->forecast = (struct forecast){UINT64_MAX, 0};
}

static int is_foretold(struct forecast *forecast)
{
	if (forecast->after) {
		forecast->after--;
		return 0;
	}
	forecast->times -= forecast->times != 0;
	return 1;
}

/* Allocates, writes, reads and frees. */
static void use(struct session *s)
{
	unsigned char bytes[16] = {0};
	uint64_t buffer = 0;
	struct tn_alloc_args alloc = {.call = {.struct_size = sizeof(alloc), .error = &s->error},
				      .size = sizeof(bytes)};
	struct tn_transfer_args move = {.call = {.struct_size = sizeof(move), .error = &s->error},
					.size = sizeof(bytes),
					.host = bytes};
	struct tn_sync_args sync = {.call = {.struct_size = sizeof(sync), .error = &s->error}};
	struct tn_free_args end = {.call = {.struct_size = sizeof(end), .error = &s->error}};
	const int fails = s->forecast.times && is_foretold(&s->forecast);
	tn_status status = mock_alloc(s->device, &alloc, &buffer);
	s->is_certain &= status != TN_DEVICE_LOST;
	fuzz_require(!s->is_certain || (status == TN_OUT_OF_MEMORY) == fails);
	if (status)
		return;
	move.buffer = end.buffer = buffer;
	(void)mock_upload(s->device, &move);
	(void)mock_download(s->device, &move);
	status = mock_device_table.sync(s->device, &sync);
	fuzz_require(!status || s->error.text[0]);
	(void)mock_free(s->device, &end);
}

static void run(struct session *s, const uint8_t *calls, size_t size)
{
	for (; size >= 10; calls += 10, size -= 10) {
		s->error.status = TN_OK;
		if (calls[0] % 4 == 0)
			provoke(s, calls);
		else if (calls[0] % 4 == 1)
			reset(s);
		else
			use(s);
	}
}

static void open_and_run(void *instance, const char *text, const uint8_t *calls, size_t size)
{
	struct tn_device_count count = {.struct_size = sizeof(count)};
	struct session s = {.forecast = {UINT64_MAX, 0},
			    .is_certain = !strstr(text, "oom"),
			    .error = {.struct_size = sizeof(s.error)}};
	struct tn_open_args args = {.call = {.struct_size = sizeof(args), .error = &s.error}};
	fuzz_require(mock_device_table.device_count(instance, &count) == TN_OK);
	fuzz_require(count.count <= MOCK_MOST_DEVICES && !count.count == (count.status != TN_OK));
	if (mock_device_table.open(instance, &args, &s.device))
		return;
	/* It would take its time. */
	if (!strstr(text, "slow"))
		run(&s, calls, size);
	mock_device_table.close(s.device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	const size_t length = end ? (size_t)(end - data) : size;
	char *text = malloc(length + 1);
	struct tn_error_info error = {.struct_size = sizeof(error)};
	void *instance = NULL;
	fuzz_require(text != NULL);
	memcpy(text, data, length);
	text[length] = '\0';
	const struct tn_host host = {.struct_size = sizeof(host),
				     .context = text,
				     .alloc = take,
				     .free = give,
				     .parameter = parameter,
				     .option = option};
	const tn_status status = tenon_backend.create(&host, &error, &instance);
	fuzz_require(status == error.status && (!status || error.text[0]));
	if (!status) {
		if (end)
			open_and_run(instance, text, end + 1, size - length - 1);
		tenon_backend.destroy(instance);
	}
	free(text);
	return 0;
}
