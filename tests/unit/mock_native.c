/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams of others as the library's, its streams for others, and a vendor's own table: the mock's
 * makes streams that only it knows, and gives them work.
 */
#include <tenon/faults.h>

#include "mock_fixture.h"

#include "../../plugins/mock/vendor.h"

enum { N = 64 };

/* The mock, its own table, and a stream that it made. */
struct vendor {
	tn_context *context;
	tn_device *device;
	const struct mock_vendor_table *table;
	void *handle, *native;
};

static void open_vendor(struct vendor *v, const char *faults)
{
	const void *table = NULL;
	v->context = open_mock(faults);
	v->device = tn_device_current(v->context);
	assert_ok(tn_device_vendor_table(v->device, MOCK_VENDOR_TABLE, &table, &v->handle));
	v->table = table;
	assert_true(v->table->struct_size >= sizeof(*v->table));
	v->native = v->table->stream_new(v->handle);
	assert_non_null(v->native);
}

static void close_vendor(struct vendor *v)
{
	assert_int_equal(v->table->stream_end(v->handle, v->native), TN_OK);
	tn_context_close(v->context);
}

/* Bytes on the device, all 1, and their address. */
static tn_array *make_bytes(const struct vendor *v, unsigned char **address)
{
	void *data = NULL;
	uint64_t offset = 0;
	tn_array *x = tn_full(v->context, TN_U8, 1, (int64_t[]){N}, 1);
	assert_ok(tn_array_export(x, &data, &offset));
	assert_ok(tn_synchronize(v->context));
	*address = (unsigned char *)data + offset;
	return x;
}

static void give_fill(const struct vendor *v, void *stream, unsigned char *address, int byte)
{
	assert_int_equal(v->table->stream_fill(v->handle, stream, address, N, (uint8_t)byte),
			 TN_OK);
}

static int value_of(const tn_array *x)
{
	double sum = 0;
	assert_ok(tn_item(tn_sum(x, TN_ALL_AXES, NULL, 0), &sum));
	return (int)(sum / N);
}

/* ---- Streams ---------------------------------------------------------------------------------*/

static void work_of_both_in_a_wrapped_stream_is_one_sequence(void **state)
{
	struct vendor v;
	unsigned char *address;
	void *again = NULL;
	(void)state;
	open_vendor(&v, "");
	tn_array *x = make_bytes(&v, &address);
	tn_stream *stream = tn_stream_wrap(v.device, v.native);
	assert_non_null(stream);
	assert_ok(tn_stream_native(stream, &again));
	assert_ptr_equal(again, v.native);
	uint64_t waits = v.table->waits(v.handle);
	give_fill(&v, v.native, address, 2);
	assert_ok(tn_stream_push(stream));
	assert_ok(tn_add_into(x, x, x));
	give_fill(&v, v.native, address + N / 2, 0);
	assert_int_equal(address[0], 1);
	assert_int_equal(v.table->waits(v.handle), waits);
	assert_ok(tn_stream_synchronize(stream));
	assert_int_equal(address[0], 4);
	assert_int_equal(address[N - 1], 0);
	assert_ok(tn_stream_pop(v.device));
	/* The stream outlives what wraps it. */
	tn_stream_destroy(stream);
	give_fill(&v, v.native, address, 9);
	stream = tn_stream_wrap(v.device, v.native);
	assert_ok(tn_stream_synchronize(stream));
	assert_int_equal(value_of(x), 9);
	tn_stream_destroy(stream);
	close_vendor(&v);
}

static void events_order_a_wrapped_stream_with_others(void **state)
{
	struct vendor v;
	unsigned char *address;
	(void)state;
	open_vendor(&v, "");
	tn_array *x = make_bytes(&v, &address);
	tn_stream *stream = tn_stream_wrap(v.device, v.native);
	tn_event *event = tn_event_create(v.device);
	give_fill(&v, v.native, address, 3);
	/* Without an event its work need not be done. */
	assert_int_equal(value_of(x), 1);
	assert_ok(tn_stream_push(stream));
	assert_ok(tn_event_record(event));
	assert_ok(tn_stream_pop(v.device));
	assert_ok(tn_event_wait(event));
	assert_int_equal(value_of(x), 3);
	tn_context_close(v.context); /* with the stream and what wraps it */
}

static void own_streams_take_work_of_others(void **state)
{
	struct vendor v;
	unsigned char *address;
	void *natives[2] = {NULL, NULL};
	(void)state;
	open_vendor(&v, "");
	tn_array *x = make_bytes(&v, &address);
	tn_stream *side = tn_stream_create(v.device);
	assert_ok(tn_stream_current_native(v.device, &natives[0]));
	assert_ok(tn_stream_push(side));
	assert_ok(tn_stream_current_native(v.device, &natives[1]));
	assert_ok(tn_stream_pop(v.device));
	assert_ptr_not_equal(natives[0], natives[1]);
	assert_ok(tn_stream_native(side, &natives[1]));
	give_fill(&v, natives[1], address, 5);
	give_fill(&v, natives[0], address, 4);
	assert_int_equal(value_of(x), 4);
	assert_ok(tn_stream_synchronize(side));
	assert_int_equal(value_of(x), 5);
	close_vendor(&v);
}

static void wrapped_streams_count_as_the_devices(void **state)
{
	struct vendor v;
	tn_stream *streams[TN_MAX_STREAMS];
	(void)state;
	open_vendor(&v, "");
	for (int i = 0; i < TN_MAX_STREAMS; i++)
		streams[i] = tn_stream_wrap(v.device, v.native);
	assert_non_null(streams[TN_MAX_STREAMS - 1]);
	assert_refused(v.context, tn_stream_wrap(v.device, v.native), TN_LIMIT, "stream_wrap",
		       "at most 63 streams");
	for (int i = 0; i < TN_MAX_STREAMS; i++)
		tn_stream_destroy(streams[i]);
	close_vendor(&v);
}

static void what_cannot_be_wrapped_is_refused(void **state)
{
	struct vendor v;
	int here = 0;
	void *native = &here;
	(void)state;
	open_vendor(&v, "devices:2");
	assert_null(tn_stream_wrap(NULL, v.native));
	assert_refused(v.context, tn_stream_wrap(v.device, NULL), TN_INVALID_ARGUMENT,
		       "stream_wrap", "native is NULL");
	assert_refused(v.context, tn_stream_wrap(v.device, &here), TN_INVALID_ARGUMENT,
		       "stream_import", "is no stream of this device");
	assert_refused(v.context, tn_stream_wrap(tn_device_find(v.context, "mock:1"), v.native),
		       TN_INVALID_ARGUMENT, "stream_import", "mock:1: ");
	tn_device *reference = tn_device_find(v.context, "reference");
	assert_refused(v.context, tn_stream_wrap(reference, v.native), TN_UNSUPPORTED,
		       "stream_wrap", "reference:0 has one stream only");
	assert_int_equal(tn_stream_current_native(reference, &native), TN_UNSUPPORTED);
	assert_int_equal(tn_stream_native(NULL, &native), TN_INVALID_ARGUMENT);
	assert_int_equal(tn_stream_current_native(NULL, &native), TN_INVALID_ARGUMENT);
	assert_ptr_equal(native, &here);
	assert_null(tn_error(v.context));
	tn_graph *graph = NULL;
	assert_ok(tn_capture_begin(v.context));
	assert_refused(v.context, tn_stream_wrap(v.device, v.native), TN_NOT_CAPTURABLE,
		       "stream_wrap", "work is captured");
	assert_ok(tn_stream_current_native(v.device, &native));
	assert_ok(tn_capture_end(v.context, &graph));
	tn_graph_destroy(graph);
	close_vendor(&v);
}

/* ---- The device and the vendor's table -------------------------------------------------------*/

static void devices_have_handles_of_their_vendors(void **state)
{
	struct vendor v;
	uint64_t natives[3] = {0, 0, 7};
	(void)state;
	open_vendor(&v, "devices:2");
	assert_ok(tn_device_native(v.device, &natives[0]));
	assert_ok(tn_device_native(tn_device_find(v.context, "mock:1"), &natives[1]));
	assert_true(natives[0] && natives[1] && natives[0] != natives[1]);
	assert_int_equal(tn_device_native(tn_device_find(v.context, "reference"), &natives[2]),
			 TN_UNSUPPORTED);
	assert_int_equal(tn_device_native(NULL, &natives[2]), TN_INVALID_ARGUMENT);
	assert_int_equal(natives[2], 7);
	assert_null(tn_error(v.context));
	close_vendor(&v);
}

static tn_status open_on(const struct tn_native_device *natives, size_t n, tn_context **context,
			 struct tn_error_info *error)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock!";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.native_devices = natives;
	options.n_native_devices = n;
	set_faults("devices:2");
	return tn_context_open(&options, context, error);
}

static void devices_are_opened_on_handles_of_others(void **state)
{
	static const struct tn_native_device natives[] = {{"mock:1", 0x1234}, {"mock:0", 0x5678}};
	static const struct {
		struct tn_native_device given;
		tn_status status;
		const char *words;
	} wrong[] = {
		{{NULL, 5}, TN_INVALID_ARGUMENT, "native_devices[0]: device is NULL"},
		{{"mock:0", 0}, TN_INVALID_ARGUMENT, "native_devices[0]: native is 0"},
		{{"mock:2", 5},
		 TN_NOT_FOUND,
		 "native_devices[0]: this context has no device mock:2"},
		{{"mock", 5}, TN_NOT_FOUND, "native_devices[0]: this context has no device mock"},
	};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint64_t native = 0;
		tn_device *device;
		assert_ok(open_on(&natives[i], 1, &context, &error));
		device = tn_device_find(context, natives[i].device);
		assert_ok(tn_device_native(device, &native));
		assert_int_equal(native, natives[i].native);
		assert_ok(
			tn_device_native(tn_device_find(context, natives[1 - i].device), &native));
		assert_int_not_equal(native, natives[1 - i].native);
		tn_context_close(context);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(open_on(&wrong[i].given, 1, &context, &error), wrong[i].status);
		assert_non_null(strstr(error.text, wrong[i].words));
	}
	assert_int_equal(open_on(NULL, 1, &context, &error), TN_INVALID_ARGUMENT);
}

static void vendors_tables_have_names_in_reverse_dns(void **state)
{
	static const struct {
		const char *name;
		tn_status status;
	} rows[] = {
		{"org.tenon.mock/1", TN_OK},
		{"org.tenon.mock/2", TN_NOT_FOUND},
		{"com.example.table/1", TN_NOT_FOUND},
		{"com.ex-ample.a_b.c9/12", TN_NOT_FOUND},
		{"tenon.device/1", TN_INVALID_ARGUMENT},
		{"tenon.mock/1", TN_INVALID_ARGUMENT},
		{"tenonmock/1", TN_INVALID_ARGUMENT},
		{"org.tenon.mock", TN_INVALID_ARGUMENT},
		{"org.tenon.mock/", TN_INVALID_ARGUMENT},
		{"org.tenon.mock/0", TN_INVALID_ARGUMENT},
		{"org.tenon.mock/01", TN_INVALID_ARGUMENT},
		{"org.tenon.mock/1a", TN_INVALID_ARGUMENT},
		{"org.tenon.mock/-1", TN_INVALID_ARGUMENT},
		{"org.tenon.mock /1", TN_INVALID_ARGUMENT},
		{"Org.tenon.mock/1", TN_INVALID_ARGUMENT},
		{"org..mock/1", TN_INVALID_ARGUMENT},
		{".org.mock/1", TN_INVALID_ARGUMENT},
		{"org.mock./1", TN_INVALID_ARGUMENT},
		{"/1", TN_INVALID_ARGUMENT},
		{"", TN_INVALID_ARGUMENT},
	};
	struct vendor v;
	(void)state;
	open_vendor(&v, "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const void *table = rows;
		void *handle = &v;
		tn_status status = tn_device_vendor_table(v.device, rows[i].name, &table, &handle);
		if (status != rows[i].status)
			fail_msg("'%s': %s, expected %s", rows[i].name, tn_status_name(status),
				 tn_status_name(rows[i].status));
		assert_ptr_equal(table, status ? (const void *)rows : v.table);
		assert_ptr_equal(handle, status ? (void *)&v : v.handle);
		assert_int_equal(tn_error(v.context) != NULL, status == TN_INVALID_ARGUMENT);
		if (tn_error(v.context))
			assert_contains(tn_error(v.context)->text, rows[i].name);
		tn_error_clear(v.context);
	}
	const void *table = NULL;
	void *handle = NULL;
	assert_int_equal(tn_device_vendor_table(tn_device_find(v.context, "reference"),
						MOCK_VENDOR_TABLE, &table, &handle),
			 TN_NOT_FOUND);
	close_vendor(&v);
}

/* A program's own tests provoke an error where they want it, and only there. */
static void faults_are_set_through_a_table(void **state)
{
	struct vendor v;
	const void *found = NULL;
	struct tn_fault_args args = {
		.call = {.struct_size = sizeof(args)}, .kind = TN_FAULT_WORK, .times = 1};
	(void)state;
	open_vendor(&v, "");
	tn_array *x = tn_full(v.context, TN_F32, 1, (int64_t[]){N}, 1);
	assert_ok(tn_synchronize(v.context));
	assert_ok(tn_device_vendor_table(v.device, TN_TABLE_FAULTS, &found, &v.handle));
	const struct tn_faults_table *faults = found;
	assert_int_equal(faults->provoke(v.handle, &args), TN_OK);
	assert_non_null(tn_add(x, x));
	assert_int_equal(tn_synchronize(v.context), TN_BACKEND_FAILURE);
	assert_non_null(strstr(tn_error(v.context)->text, TN_TABLE_FAULTS));
	tn_error_clear(v.context);
	assert_int_equal(value_of(tn_add(x, x)), 2);
	/* As many as there are numbers, after one that succeeds. */
	args.after = 1;
	args.times = UINT64_MAX;
	assert_int_equal(faults->provoke(v.handle, &args), TN_OK);
	assert_non_null(tn_add(x, x));
	assert_ok(tn_synchronize(v.context));
	assert_non_null(tn_add(x, x));
	assert_int_equal(tn_synchronize(v.context), TN_BACKEND_FAILURE);
	tn_error_clear(v.context);
	args.kind = 99;
	assert_int_equal(faults->provoke(v.handle, &args), TN_UNSUPPORTED);
	close_vendor(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_of_both_in_a_wrapped_stream_is_one_sequence),
		cmocka_unit_test(events_order_a_wrapped_stream_with_others),
		cmocka_unit_test(own_streams_take_work_of_others),
		cmocka_unit_test(wrapped_streams_count_as_the_devices),
		cmocka_unit_test(what_cannot_be_wrapped_is_refused),
		cmocka_unit_test(devices_have_handles_of_their_vendors),
		cmocka_unit_test(devices_are_opened_on_handles_of_others),
		cmocka_unit_test(vendors_tables_have_names_in_reverse_dns),
		cmocka_unit_test(faults_are_set_through_a_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
