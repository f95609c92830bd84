/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory of a device that defers its work: transfers with host buffers run when the program waits,
 * and imported memory is used then too.
 */
#include "array/host_buffer.h"
#include "mock_fixture.h"

enum { N = 6 };

static const int64_t shape[] = {2, 3};
static int n_messages;

static void count_message(void *user, int level, const char *subsystem, const char *text,
			  size_t length)
{
	(void)user, (void)subsystem, (void)text, (void)length;
	n_messages += level <= 2;
}

/* A context whose warnings are counted: the mock refuses to free memory that queued work uses. */
static tn_context *open_counting(const char *faults)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.log = count_message;
	tn_context *context = NULL;
	n_messages = 0;
	set_faults(faults);
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static tn_array *numbers(tn_context *context)
{
	return tn_reshape(tn_arange(context, TN_F32, 1, N + 1, 1), 2, shape);
}

static void assert_numbers(const float *found, float first, float step)
{
	for (int i = 0; i < N; i++)
		assert_close(found[i], first + step * (float)i, 0);
}

/* ---- Host buffers ----------------------------------------------------------------------------*/

static void a_download_returns_before_the_data_is_there(void **state)
{
	tn_context *context = open_counting("");
	tn_host_buffer *buffer =
		tn_host_buffer_create(tn_device_current(context), 2 * N * sizeof(float));
	float *data = tn_host_buffer_data(buffer);
	(void)state;
	assert_true(tn_host_buffer_is_pinned(buffer));
	memset(data, 0, 2 * N * sizeof(float));
	tn_array *x = numbers(context);
	assert_ok(tn_to_host_async(x, buffer, 0));
	assert_ok(tn_to_host_async(tn_transpose(tn_add(x, x), NULL), buffer, N * sizeof(float)));
	/* What comes later does not change it. */
	assert_ok(tn_fill(x, 77));
	for (int i = 0; i < 2 * N; i++)
		assert_close(data[i], 0, 0);
	assert_ok(tn_synchronize(context));
	assert_numbers(data, 1, 1);
	static const float twice[N] = {2, 8, 4, 10, 6, 12};
	assert_memory_equal(data + N, twice, sizeof(twice));
	tn_host_buffer_destroy(buffer);
	tn_context_close(context);
	assert_int_equal(n_messages, 0);
}

static void an_upload_reads_the_buffer_when_it_runs(void **state)
{
	tn_context *context = open_counting("");
	tn_host_buffer *buffer = tn_host_buffer_create(tn_device_current(context), 100);
	float *data = tn_host_buffer_data(buffer), found[N];
	(void)state;
	tn_array *x = tn_zeros(context, TN_F32, 2, shape);
	assert_ok(tn_synchronize(context));
	memset(data, 0, 100);
	assert_ok(tn_assign_host_async(x, buffer, 0));
	tn_array *y = tn_negative(x);
	/* The program may not do this; it shows that nothing has been copied. */
	for (int i = 0; i < N; i++)
		data[i] = (float)(3 * i);
	assert_ok(tn_to_host(y, found, sizeof(found)));
	assert_numbers(found, 0, -3);
	tn_host_buffer_destroy(buffer);
	tn_context_close(context);
	assert_int_equal(n_messages, 0);
}

static void a_loader_loads_batches_into_pinned_memory(void **state)
{
	static const float values[N] = {0, 1, 2, 3, 4, 5};
	static const struct tn_field field = {.dtype = TN_F32};
	static const void *const data[] = {values};
	tn_context *context = open_counting("");
	tn_dataset *dataset = NULL;
	tn_data_loader *loader = NULL;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	float found[2];
	int n_pinned = 0;
	(void)state;
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	source.n_fields = 1;
	source.fields = &field;
	source.n = N;
	source.data = data;
	assert_ok(tn_dataset_from_fields(&source, &dataset, NULL));
	struct tn_data_loader_options loading = tn_data_loader_defaults();
	loading.batch_size = 2;
	loading.context = context;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &loading, &loader, NULL));
	for (const tn_host_buffer *b = tn_runtime_of(context)->host_buffers; b; b = b->next)
		n_pinned += tn_host_buffer_is_pinned(b);
	assert_int_equal(n_pinned, 3); /* the batch of the program, and two ahead */
	for (int i = 0; i < N / 2; i++) {
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		tn_array *x = tn_from_host(context, TN_F32, 1, (const int64_t[]){2}, batch.data[0]);
		assert_ok(tn_to_host(x, found, sizeof(found)));
		assert_memory_equal(found, values + 2 * i, sizeof(found));
	}
	tn_data_loader_destroy(loader);
	assert_null(tn_runtime_of(context)->host_buffers);
	tn_dataset_destroy(dataset);
	tn_context_close(context);
	assert_int_equal(n_messages, 0);
}

static void a_buffer_is_destroyed_after_its_transfers(void **state)
{
	tn_context *context = open_counting("");
	tn_host_buffer *buffer = tn_host_buffer_create(tn_device_current(context), 100);
	float *data = tn_host_buffer_data(buffer), found[N];
	(void)state;
	tn_array *x = tn_zeros(context, TN_F32, 2, shape);
	for (int i = 0; i < N; i++)
		data[i] = (float)i;
	assert_ok(tn_assign_host_async(x, buffer, 0));
	tn_host_buffer_destroy(buffer);
	assert_ok(tn_to_host(x, found, sizeof(found)));
	assert_numbers(found, 0, 1);
	/* And one that is left to the context, with a transfer that nothing has waited for. */
	buffer = tn_host_buffer_create(tn_device_current(context), 100);
	assert_ok(tn_to_host_async(x, buffer, 0));
	tn_context_close(context);
	assert_int_equal(n_messages, 0);
}

static void a_failed_copy_is_reported_by_the_next_wait(void **state)
{
	tn_context *context = open_counting("async-error:2");
	tn_host_buffer *buffer = tn_host_buffer_create(tn_device_current(context), 100);
	float *data = tn_host_buffer_data(buffer);
	(void)state;
	memset(data, 0, 100);
	tn_array *x = tn_ones(context, TN_F32, 2, shape);
	assert_ok(tn_to_host_async(x, buffer, 0));
	assert_status(tn_synchronize(context), TN_BACKEND_FAILURE);
	assert_string_equal(tn_error(context)->operation, "download");
	assert_kept(context, TN_BACKEND_FAILURE, "piece of work 2 failed");
	assert_close(data[0], 0, 0);
	assert_ok(tn_to_host_async(x, buffer, 0));
	assert_ok(tn_synchronize(context));
	assert_numbers(data, 1, 0);
	tn_context_close(context);
}

static void captured_work_has_no_such_transfers(void **state)
{
	tn_context *context = open_counting("");
	tn_host_buffer *buffer = tn_host_buffer_create(tn_device_current(context), 100);
	float *data = tn_host_buffer_data(buffer);
	tn_graph *graph = NULL;
	(void)state;
	memset(data, 0, 100);
	tn_array *x = numbers(context), *y = tn_zeros(context, TN_F32, 2, shape);
	assert_ok(tn_to_host_async(x, buffer, 0));
	assert_ok(tn_capture_begin(context));
	assert_status(tn_to_host_async(x, buffer, 0), TN_NOT_CAPTURABLE);
	assert_kept(context, TN_NOT_CAPTURABLE, "the host cannot wait");
	assert_ok(tn_assign(y, tn_add(x, x)));
	/* The transfer from before the capture is not done: the buffer must outlive it. */
	tn_host_buffer_destroy(buffer);
	assert_ok(tn_capture_end(context, &graph));
	assert_ok(tn_graph_replay(graph));
	tn_graph_destroy(graph);
	tn_context_close(context);
	assert_int_equal(n_messages, 0);
}

static void a_lost_device_gives_its_buffers_back(void **state)
{
	tn_context *context = open_counting("lost:2");
	tn_host_buffer *buffer = tn_host_buffer_create(tn_device_current(context), 100);
	(void)state;
	tn_array *x = tn_ones(context, TN_F32, 2, shape);
	assert_ok(tn_to_host_async(x, buffer, 0));
	assert_status(tn_synchronize(context), TN_DEVICE_LOST);
	tn_error_clear(context);
	assert_status(tn_to_host_async(x, buffer, 0), TN_DEVICE_LOST);
	tn_error_clear(context);
	tn_host_buffer_destroy(buffer);
	assert_null(tn_host_buffer_create(tn_device_current(context), 100));
	assert_kept(context, TN_DEVICE_LOST, "mock:0 was lost");
	tn_context_close(context);
	assert_int_equal(n_messages, 0);
}

/* ---- Imported memory -------------------------------------------------------------------------*/

struct lent {
	float elements[N];
	float at_return; /* element 0 */
	int returned;
};

static void take_back(void *user)
{
	struct lent *lent = user;
	lent->returned++;
	lent->at_return = lent->elements[0];
}

static tn_array *import(tn_context *context, struct lent *lent)
{
	for (int i = 0; i < N; i++)
		lent->elements[i] = (float)i;
	lent->returned = 0;
	struct tn_wrap_options wrap = tn_wrap_defaults();
	wrap.dtype = TN_F32;
	wrap.rank = 2;
	wrap.shape = shape;
	wrap.data = lent->elements;
	wrap.size_bytes = sizeof(lent->elements);
	wrap.release = take_back;
	wrap.user = lent;
	return tn_array_import(tn_device_current(context), &wrap);
}

static void imported_memory_is_used_in_place(void **state)
{
	tn_context *context = open_counting("");
	struct lent lent;
	float found[N];
	(void)state;
	tn_array *x = import(context, &lent);
	assert_ok(tn_to_host(tn_transpose(tn_transpose(x, NULL), NULL), found, sizeof(found)));
	assert_numbers(found, 0, 1);
	lent.elements[0] = 4;
	assert_ok(tn_add_into(x, x, x));
	assert_close(lent.elements[0], 4, 0); /* it has not run */
	assert_ok(tn_synchronize(context));
	assert_close(lent.elements[0], 8, 0);
	assert_close(lent.elements[N - 1], 2 * (N - 1), 0);
	void *data = NULL;
	uint64_t offset = 1;
	assert_ok(tn_array_export(tn_slice(x, 0, 1, 2, 1), &data, &offset));
	assert_ptr_equal(data, lent.elements);
	assert_int_equal(offset, 3 * sizeof(float));
	tn_context_close(context);
	assert_int_equal(lent.returned, 1);
	assert_int_equal(n_messages, 0);
}

static void imported_memory_is_returned_after_queued_work(void **state)
{
	tn_context *context = open_counting("");
	struct lent lent;
	(void)state;
	tn_array *x = import(context, &lent);
	assert_ok(tn_fill(x, 9));
	assert_close(lent.elements[0], 0, 0);
	tn_array_destroy(x);
	assert_int_equal(lent.returned, 1);
	assert_close(lent.at_return, 9, 0);
	tn_context_close(context);
	assert_int_equal(lent.returned, 1);
	assert_int_equal(n_messages, 0);
}

static void captured_work_keeps_imported_memory(void **state)
{
	tn_context *context = open_counting("");
	struct lent lent;
	tn_graph *graph = NULL;
	(void)state;
	tn_array *x = import(context, &lent);
	assert_ok(tn_capture_begin(context));
	assert_ok(tn_add_into(x, x, x));
	tn_array_destroy(x);
	assert_ok(tn_capture_end(context, &graph));
	assert_int_equal(lent.returned, 0);
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_graph_replay(graph));
	assert_close(lent.elements[1], 1, 0);
	tn_graph_destroy(graph);
	assert_int_equal(lent.returned, 1);
	assert_close(lent.elements[1], 4, 0);
	tn_context_close(context);
	assert_int_equal(n_messages, 0);
}

static void imports_that_fail_keep_nothing(void **state)
{
	tn_context *context = open_counting("");
	struct lent lent;
	(void)state;
	struct tn_wrap_options wrap = tn_wrap_defaults();
	wrap.dtype = TN_F32;
	wrap.data = lent.elements;
	wrap.size_bytes = 4;
	assert_null(tn_array_wrap(context, &wrap));
	assert_kept(context, TN_UNSUPPORTED, "mock:0 cannot use any address of host memory");
	/* A handle of the mock backend is not a pointer. */
	wrap.data = (void *)(uintptr_t)UINT64_C(0xa5c5000000000000);
	wrap.release = take_back;
	wrap.user = &lent;
	assert_null(tn_array_import(tn_device_current(context), &wrap));
	assert_kept(context, TN_INVALID_ARGUMENT, "is a handle, not a pointer");
	tn_context_close(context);
}

static void a_lost_device_returns_imported_memory(void **state)
{
	tn_context *context = open_counting("lost:1");
	struct lent lent;
	(void)state;
	tn_array *x = import(context, &lent);
	assert_ok(tn_fill(x, 9));
	assert_status(tn_synchronize(context), TN_DEVICE_LOST);
	tn_error_clear(context);
	tn_array_destroy(x);
	assert_int_equal(lent.returned, 1);
	assert_close(lent.elements[0], 0, 0);
	tn_context_close(context);
	assert_int_equal(n_messages, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_download_returns_before_the_data_is_there),
		cmocka_unit_test(an_upload_reads_the_buffer_when_it_runs),
		cmocka_unit_test(a_loader_loads_batches_into_pinned_memory),
		cmocka_unit_test(a_buffer_is_destroyed_after_its_transfers),
		cmocka_unit_test(a_failed_copy_is_reported_by_the_next_wait),
		cmocka_unit_test(captured_work_has_no_such_transfers),
		cmocka_unit_test(a_lost_device_gives_its_buffers_back),
		cmocka_unit_test(imported_memory_is_used_in_place),
		cmocka_unit_test(imported_memory_is_returned_after_queued_work),
		cmocka_unit_test(captured_work_keeps_imported_memory),
		cmocka_unit_test(imports_that_fail_keep_nothing),
		cmocka_unit_test(a_lost_device_returns_imported_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
