/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The current device, devices and backends by name, the pool of memory as a program sees it, and
 * the times of a function: on every backend.
 */
#include "nn_backends.h"

static const char *const backends[] = {"reference", "cpu", "mock"};
#define N_OF(list) (sizeof(list) / sizeof((list)[0]))
#define MIB (UINT64_C(1) << 20)

static struct tn_memory_statistics statistics(const tn_device *device)
{
	struct tn_memory_statistics found = {.struct_size = sizeof(found)};
	assert_ok(tn_device_get_memory_statistics(device, &found));
	return found;
}

/* ---- The current device ----------------------------------------------------------------------*/

static void pushed_devices_are_popped_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		tn_device *first = tn_device_current(context);
		tn_device *reference = tn_device_find(context, "reference");
		assert_int_equal(tn_device_pop(context), TN_STATE);
		assert_kept(context, TN_STATE, "no device is pushed");
		for (int j = 0; j < 20; j++)
			assert_ok(tn_device_push(j % 2 ? first : reference));
		assert_ptr_equal(tn_device_current(context), first);
		assert_ok(tn_device_pop(context));
		assert_ptr_equal(tn_device_current(context), reference);
		tn_array *x = tn_ones(context, TN_F32, 0, NULL);
		assert_ptr_equal(tn_array_device(x), reference);
		/* Also while an error is kept, so that every push has its pop. */
		assert_null(tn_zeros(context, 0, 0, NULL));
		assert_int_equal(tn_device_push(first), TN_PENDING_ERROR);
		for (int j = 0; j < 19; j++)
			assert_ok(tn_device_pop(context));
		tn_error_clear(context);
		assert_ptr_equal(tn_device_current(context), first);
		assert_int_equal(tn_device_pop(context), TN_STATE);
		tn_context_close(context);
	}
	assert_int_equal(tn_device_push(NULL), TN_INVALID_ARGUMENT);
	assert_int_equal(tn_device_pop(NULL), TN_INVALID_ARGUMENT);
}

static void devices_are_found_by_name(void **state)
{
	(void)state;
	tn_context *context = open_mock("devices:3");
	assert_string_equal(tn_device_name(tn_device_find(context, "mock:2")), "mock:2");
	assert_ptr_equal(tn_device_find(context, "mock"), tn_device_current(context));
	assert_null(tn_device_find(context, "mock:3"));
	assert_kept(context, TN_NOT_FOUND,
		    "name: expected one of mock:0, mock:1, mock:2, reference:0, found 'mock:3'");
	assert_null(tn_device_find(context, "cuda"));
	assert_kept(context, TN_NOT_FOUND, "found 'cuda'");
	assert_null(tn_device_find(context, "mock:x"));
	assert_kept(context, TN_FORMAT, "column");
	static const char *const bad[] = {"", "auto", "mock!", "^mock", "mock,cpu"};
	for (size_t i = 0; i < N_OF(bad); i++) {
		assert_null(tn_device_find(context, bad[i]));
		assert_kept(context, TN_FORMAT, "expected a backend's name, or NAME:INDEX");
	}
	assert_null(tn_device_find(context, NULL));
	assert_kept(context, TN_INVALID_ARGUMENT, "name is NULL");
	assert_null(tn_device_find(NULL, "mock"));
	tn_context_close(context);
}

static void one_device_is_waited_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		tn_device *device = tn_device_current(context);
		tn_array_destroy(tn_ones(context, TN_F32, 1, (int64_t[]){1000}));
		assert_ok(tn_device_synchronize(device));
		assert_null(tn_zeros(context, 0, 0, NULL));
		assert_int_equal(tn_device_synchronize(device), TN_PENDING_ERROR);
		tn_context_close(context);
	}
	/* A device that was never opened is not opened for this. */
	tn_context *context = open_mock("devices:2");
	assert_ok(tn_device_synchronize(tn_device_find(context, "mock:1")));
	tn_context_close(context);
	assert_int_equal(tn_device_synchronize(NULL), TN_INVALID_ARGUMENT);
}

static void backends_are_asked_whether_they_are_there(void **state)
{
	(void)state;
	const char *reason = NULL;
	tn_context *context = open_backend("reference");
	assert_int_equal(tn_backend_available(context, "reference", &reason), 1);
	assert_string_equal(reason, "");
	assert_int_equal(tn_backend_available(context, "reference", NULL), 1);
	assert_int_equal(tn_backend_available(context, "nothing", &reason), 0);
	assert_string_equal(reason, "no backend of that name is known here");
	assert_int_equal(tn_backend_available(context, NULL, &reason), 0);
	assert_int_equal(tn_backend_available(NULL, "cpu", &reason), 0);
	assert_string_equal(reason, "there is no context");
	tn_context_close(context);
	/* One that is absent for a reason. */
	setenv("TENON_SIMULATE", "cpu:no-device", 1);
	context = open_backend("reference");
	assert_int_equal(tn_backend_available(context, "cpu", &reason), 0);
	assert_true(reason[0] != '\0');
	tn_context_close(context);
	unsetenv("TENON_SIMULATE");
}

static void attributes_are_lines_of_the_report(void **state)
{
	(void)state;
	tn_context *context = open_backend("cpu");
	tn_device *device = tn_device_current(context);
	struct tn_report_line line = {.struct_size = sizeof(line)};
	assert_ok(tn_device_attribute(device, "threads", &line));
	assert_string_equal(line.key, "threads");
	assert_true(line.text[0] != '\0');
	assert_int_equal(tn_device_attribute(device, "thread", &line), TN_NOT_FOUND);
	assert_string_equal(line.key, "threads");
	assert_int_equal(tn_device_attribute(device, NULL, &line), TN_INVALID_ARGUMENT);
	tn_context_close(context);
}

static void the_configuration_is_text(void **state)
{
	(void)state;
	assert_null(tn_show_config(NULL));
	for (size_t i = 0; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		char *text = tn_show_config(context);
		assert_contains(text, "Tenon 0.");
		assert_contains(text, "backend interface ");
		assert_contains(text, "compiler flags: ");
		assert_contains(text, "configure options: ");
		assert_contains(text, "zlib ");
		assert_contains(text, "processors: ");
		assert_contains(text, "* ");
		char line[64];
		snprintf(line, sizeof(line), "\n%s: current\n",
			 tn_device_name(tn_device_current(context)));
		assert_contains(text, line);
		tn_string_free(text);
		tn_context_close(context);
	}
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static void the_pool_is_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		tn_device *device = tn_device_current(context);
		struct tn_memory_statistics start = statistics(device), now;
		tn_array *x = tn_empty(context, TN_U8, 1, (int64_t[]){3 * MIB});
		tn_array *y = tn_empty(context, TN_U8, 1, (int64_t[]){20 * MIB});
		now = statistics(device);
		assert_true(now.used >= 23 * MIB && now.peak >= now.used && now.limit == 0);
		assert_int_equal(now.n_used, start.n_used + 2);
		assert_int_equal(now.n_allocations, start.n_allocations + 2);
		assert_true(now.n_reserved >= 2 && now.n_reservations >= now.n_reserved);
		tn_array_destroy(y);
		assert_true(statistics(device).peak == now.peak);
		assert_true(statistics(device).cached >= 20 * MIB);
		tn_device_memory_reset_peak(device);
		assert_true(statistics(device).peak == statistics(device).used);
		/* From the cache: the backend is not asked again. */
		y = tn_empty(context, TN_U8, 1, (int64_t[]){20 * MIB});
		assert_int_equal(statistics(device).n_reservations, now.n_reservations);
		assert_int_equal(statistics(device).n_allocations, now.n_allocations + 1);
		assert_true(statistics(device).peak >= 23 * MIB);
		tn_array_destroy(x);
		tn_array_destroy(y);
		tn_device_memory_trim(device, 0);
		now = statistics(device);
		assert_int_equal(now.used, start.used);
		assert_int_equal(now.n_used, start.n_used);
		assert_true(now.cached < 3 * MIB);
		tn_context_close(context);
	}
}

static void statistics_fit_their_reader(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	tn_device *device = tn_device_current(context);
	struct tn_memory_statistics found = {.struct_size = 24, .peak = 77};
	tn_array_destroy(tn_ones(context, TN_F32, 1, (int64_t[]){10}));
	assert_ok(tn_device_get_memory_statistics(device, &found));
	assert_int_equal(found.struct_size, 24);
	assert_true(found.cached > 0);
	assert_int_equal(found.peak, 77);
	found.struct_size = 0;
	assert_int_equal(tn_device_get_memory_statistics(device, &found), TN_INVALID_ARGUMENT);
	assert_int_equal(tn_device_get_memory_statistics(NULL, &found), TN_INVALID_ARGUMENT);
	assert_int_equal(tn_device_get_memory_statistics(device, NULL), TN_INVALID_ARGUMENT);
	tn_context_close(context);
}

static void a_limit_is_set_later(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		tn_device *device = tn_device_current(context);
		const int64_t large[] = {40 * MIB};
		tn_array_destroy(tn_empty(context, TN_U8, 1, large));
		assert_true(statistics(device).cached >= 40 * MIB);
		/* What is cached beyond it is given back. */
		tn_device_set_memory_limit(device, 16 * MIB);
		assert_int_equal(statistics(device).limit, 16 * MIB);
		assert_true(statistics(device).cached <= 16 * MIB);
		assert_null(tn_empty(context, TN_U8, 1, large));
		assert_kept(context, TN_OUT_OF_MEMORY, "limit 16777216");
		/* Up to it the pool works, whatever it holds in pieces of other sizes. */
		tn_array *small = tn_empty(context, TN_U8, 1, (int64_t[]){100});
		tn_array_destroy(small);
		tn_array *fits = tn_empty(context, TN_U8, 1, (int64_t[]){14 * MIB});
		assert_non_null(fits);
		tn_array_destroy(fits);
		tn_device_set_memory_limit(device, 0);
		tn_array *again = tn_empty(context, TN_U8, 1, large);
		assert_non_null(again);
		/* Below what is in use: that stays. */
		tn_device_set_memory_limit(device, 1);
		assert_true(statistics(device).used >= 40 * MIB);
		assert_ok(tn_fill(again, 1));
		tn_context_close(context);
	}
}

static void a_limit_is_per_cent(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_device *device = tn_device_current(context);
	uint64_t all = tn_device_describe(device)->memory_bytes;
	assert_ok(tn_device_set_memory_limit_percent(device, 25));
	assert_int_equal(statistics(device).limit, all / 4);
	static const double bad[] = {0, -1, 100.5, NAN, INFINITY};
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(tn_device_set_memory_limit_percent(device, bad[i]),
				 TN_INVALID_ARGUMENT);
	assert_int_equal(statistics(device).limit, all / 4);
	tn_context_close(context);
	/* The variable. */
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	struct tn_error_info error;
	setenv("TENON_MEMORY_LIMIT", "50%", 1);
	assert_ok(tn_context_open(&options, &context, &error));
	assert_int_equal(statistics(tn_device_current(context)).limit, all / 2);
	tn_context_close(context);
	options.memory_limit = 5 * MIB;
	assert_ok(tn_context_open(&options, &context, &error));
	assert_int_equal(statistics(tn_device_current(context)).limit, 5 * MIB);
	tn_context_close(context);
	static const char *const malformed[] = {"0%", "101%", "50%%", "%", "5 %"};
	for (size_t i = 0; i < N_OF(malformed); i++) {
		setenv("TENON_MEMORY_LIMIT", malformed[i], 1);
		assert_int_equal(tn_context_open(&options, &context, &error), TN_FORMAT);
		assert_contains(error.text, "or 1% to 100%");
	}
	unsetenv("TENON_MEMORY_LIMIT");
}

static void the_workspace_limit_is_read_and_set(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		tn_device *device = tn_device_current(context);
		assert_int_equal(tn_device_workspace_limit(device), 64 * MIB);
		tn_array *x = tn_ones(context, TN_F32, 4, (int64_t[]){4, 8, 20, 20});
		tn_array *w = tn_ones(context, TN_F32, 4, (int64_t[]){8, 8, 3, 3});
		float wide[8], narrow[8];
		tn_array *y = tn_sum(tn_conv2d(x, w, NULL, NULL), 3, (int[]){0, 2, 3}, 0);
		assert_ok(tn_to_host(y, wide, sizeof(wide)));
		tn_device_set_workspace_limit(device, 1000);
		assert_int_equal(tn_device_workspace_limit(device), 1000);
		y = tn_sum(tn_conv2d(x, w, NULL, NULL), 3, (int[]){0, 2, 3}, 0);
		assert_ok(tn_to_host(y, narrow, sizeof(narrow)));
		assert_true(wide[0] == 4 * 18 * 18 * 72 && narrow[0] == wide[0]);
		tn_context_close(context);
	}
	assert_int_equal(tn_device_workspace_limit(NULL), 0);
}

/* ---- Hooks -----------------------------------------------------------------------------------*/

struct seen {
	uint64_t n[4], bytes[4];
	uint64_t last_id[4], used;
	const char *tag;
	tn_stream *stream;
	tn_device *device;
};

static void see(void *user, const struct tn_memory_event *event)
{
	struct seen *seen = user;
	assert_int_equal(event->struct_size, sizeof(*event));
	seen->n[event->kind]++;
	seen->bytes[event->kind] += event->bytes;
	seen->last_id[event->kind] = event->id;
	seen->used = event->used;
	seen->tag = event->tag;
	seen->stream = event->stream;
	seen->device = event->device;
}

static void hooks_see_every_allocation(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		struct seen seen = {0};
		tn_context *context = open_backend(backends[i]);
		tn_device *device = tn_device_current(context);
		tn_array *before = tn_ones(context, TN_F32, 1, (int64_t[]){100});
		tn_memory_set_hook(context, see, &seen);
		assert_null(tn_memory_set_tag(context, "weights"));
		tn_array *x = tn_empty(context, TN_U8, 1, (int64_t[]){30 * MIB});
		assert_int_equal(seen.n[TN_MEMORY_ALLOCATE], 1);
		assert_true(seen.bytes[TN_MEMORY_ALLOCATE] >= 30 * MIB);
		assert_int_equal(seen.n[TN_MEMORY_RESERVE], 1);
		assert_string_equal(seen.tag, "weights");
		assert_ptr_equal(seen.device, device);
		assert_null(seen.stream);
		assert_int_equal(seen.used, statistics(device).used);
		assert_string_equal(tn_memory_set_tag(context, NULL), "weights");
		tn_array_destroy(x);
		assert_int_equal(seen.n[TN_MEMORY_FREE], 1);
		assert_true(seen.last_id[TN_MEMORY_FREE] == seen.last_id[TN_MEMORY_ALLOCATE]);
		/* The tag of its allocation, not the one of now. */
		assert_string_equal(seen.tag, "weights");
		tn_array_destroy(before);
		assert_int_equal(seen.n[TN_MEMORY_FREE], 2);
		assert_null(seen.tag);
		tn_device_memory_trim(device, 0);
		assert_true(seen.n[TN_MEMORY_RELEASE] >= 1);
		assert_true(seen.bytes[TN_MEMORY_RELEASE] >= 30 * MIB);
		/* In a stream of the program's. */
		tn_stream *side = tn_stream_create(device);
		assert_ok(tn_stream_push(side));
		tn_array_destroy(tn_empty(context, TN_F32, 1, (int64_t[]){10}));
		assert_ptr_equal(seen.stream, side);
		assert_ok(tn_stream_pop(device));
		/* Every block of a convolution with its workspace comes back. */
		tn_array *image = tn_ones(context, TN_F32, 4, (int64_t[]){2, 16, 32, 32});
		tn_array *filter = tn_ones(context, TN_F32, 4, (int64_t[]){16, 16, 3, 3});
		tn_array_destroy(tn_conv2d(image, filter, NULL, NULL));
		tn_array_destroy(image);
		tn_array_destroy(filter);
		assert_ok(tn_synchronize(context));
		assert_int_equal(seen.n[TN_MEMORY_ALLOCATE] + 1, seen.n[TN_MEMORY_FREE]);
		assert_int_equal(statistics(device).n_used, 0);
		/* Removed, it sees nothing more. */
		tn_memory_set_hook(context, NULL, NULL);
		struct seen then = seen;
		tn_array_destroy(tn_ones(context, TN_F32, 1, (int64_t[]){100}));
		assert_memory_equal(&then, &seen, sizeof(seen));
		tn_context_close(context);
	}
	tn_memory_set_hook(NULL, see, NULL);
	assert_null(tn_memory_set_tag(NULL, "x"));
}

/* ---- Times -----------------------------------------------------------------------------------*/

struct work {
	tn_context *context;
	tn_array *x;
	int calls, fails_at;
};

static tn_status add_up(void *data)
{
	struct work *work = data;
	if (++work->calls == work->fails_at)
		return TN_CANCELLED;
	tn_array_destroy(tn_add(work->x, work->x));
	return TN_OK;
}

static void check_times(const struct tn_benchmark_times *times)
{
	assert_true(times->min >= 0 && times->min <= times->median);
	assert_true(times->median <= times->max && times->mean <= times->max * (1 + 1e-9));
	assert_true(times->mean >= times->min * (1 - 1e-9));
	assert_true(times->std >= 0 && times->std <= times->max - times->min + 1e-12);
}

static void functions_are_timed(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		struct work work = {.context = context,
				    .x = tn_ones(context, TN_F32, 1, (int64_t[]){1000})};
		struct tn_benchmark_result result = {.struct_size = sizeof(result)};
		struct tn_benchmark_options benchmark = tn_benchmark_defaults();
		benchmark.warmup = 3;
		benchmark.repeats = 7;
		assert_ok(tn_benchmark(context, add_up, &work, &benchmark, &result));
		assert_int_equal(work.calls, 10);
		assert_int_equal(result.n, 7);
		assert_true(result.has_events == !strcmp(backends[i], "mock"));
		check_times(&result.host);
		check_times(&result.device);
		assert_true(result.host.max > 0);
		assert_true(result.total_seconds >= result.host.mean * 7);
		/* The time ends it, after one call at least. */
		work.calls = 0;
		benchmark = tn_benchmark_defaults();
		benchmark.warmup = 0;
		benchmark.max_seconds = 1e-12;
		assert_ok(tn_benchmark(context, add_up, &work, &benchmark, &result));
		assert_int_equal(work.calls, 1);
		assert_true(result.host.std == 0 && result.host.min == result.host.max);
		char *text = tn_benchmark_text("add", &result);
		assert_contains(text, "add: 1 calls\n  host   mean ");
		assert_contains(text, "\n  device mean ");
		tn_string_free(text);
		tn_context_close(context);
	}
	assert_null(tn_benchmark_text("add", NULL));
}

static void a_failure_ends_the_measurement(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	struct work work = {.context = context,
			    .x = tn_ones(context, TN_F32, 1, (int64_t[]){10}),
			    .fails_at = 13};
	struct tn_benchmark_result result = {.struct_size = sizeof(result), .n = 77};
	assert_int_equal(tn_benchmark(context, add_up, &work, NULL, &result), TN_CANCELLED);
	assert_int_equal(work.calls, 13);
	assert_int_equal(result.n, 77);
	assert_null(tn_error(context));
	work.fails_at = 0;
	assert_int_equal(tn_benchmark(context, NULL, &work, NULL, &result), TN_INVALID_ARGUMENT);
	assert_kept(context, TN_INVALID_ARGUMENT, "function is NULL");
	struct tn_benchmark_options benchmark = tn_benchmark_defaults();
	benchmark.max_seconds = -1;
	assert_int_equal(tn_benchmark(context, add_up, &work, &benchmark, &result),
			 TN_INVALID_ARGUMENT);
	assert_kept(context, TN_INVALID_ARGUMENT, "expected max_seconds of 0 or more");
	tn_context *second = open_backend("reference");
	benchmark = tn_benchmark_defaults();
	benchmark.device = tn_device_current(second);
	assert_int_equal(tn_benchmark(context, add_up, &work, &benchmark, &result), TN_DEVICE);
	assert_kept(context, TN_DEVICE, "belongs to another context");
	assert_int_equal(tn_benchmark(NULL, add_up, &work, NULL, &result), TN_INVALID_ARGUMENT);
	tn_context_close(second);
	tn_context_close(context);
}

static tn_status misuse(void *data)
{
	tn_array_destroy(tn_reshape(((struct work *)data)->x, 1, (int64_t[]){7}));
	return TN_OK;
}

static void an_error_of_the_context_ends_it_too(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	struct work work = {.context = context,
			    .x = tn_ones(context, TN_F32, 2, (int64_t[]){2, 2})};
	struct tn_benchmark_result result = {.struct_size = sizeof(result), .n = 77};
	assert_int_equal(tn_benchmark(context, misuse, &work, NULL, &result), TN_SHAPE);
	assert_int_equal(tn_benchmark(context, add_up, &work, NULL, &result), TN_PENDING_ERROR);
	assert_int_equal(work.calls, 0);
	assert_int_equal(result.n, 77);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushed_devices_are_popped_in_order),
		cmocka_unit_test(devices_are_found_by_name),
		cmocka_unit_test(one_device_is_waited_for),
		cmocka_unit_test(backends_are_asked_whether_they_are_there),
		cmocka_unit_test(attributes_are_lines_of_the_report),
		cmocka_unit_test(the_configuration_is_text),
		cmocka_unit_test(the_pool_is_counted),
		cmocka_unit_test(statistics_fit_their_reader),
		cmocka_unit_test(a_limit_is_set_later),
		cmocka_unit_test(a_limit_is_per_cent),
		cmocka_unit_test(the_workspace_limit_is_read_and_set),
		cmocka_unit_test(hooks_see_every_allocation),
		cmocka_unit_test(functions_are_timed),
		cmocka_unit_test(a_failure_ends_the_measurement),
		cmocka_unit_test(an_error_of_the_context_ends_it_too),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
