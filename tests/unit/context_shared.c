/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Contexts that share an instance and its device: which do, in what order they close, in threads,
 * after a fork, beside failures, and without memory.
 */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "context_fixture.h"
#include "failing_memory.h"
#include "shared_cases.h"

#include "../plugins/counted.h"

static struct counted *counted;
static struct counted before;
static char counted_file[512];

/* What has been counted since `mark`. */
static void mark(void)
{
	before = *counted;
}

static void expect(int created, int destroyed, int opened, int closed)
{
	assert_int_equal(counted->created - before.created, created);
	assert_int_equal(counted->destroyed - before.destroyed, destroyed);
	assert_int_equal(counted->asked - before.asked, created);
	assert_int_equal(counted->opened - before.opened, opened);
	assert_int_equal(counted->closed - before.closed, closed);
}

struct setting {
	const char *depth;    /* the option; NULL: its default */
	const char *variable; /* NULL: not set */
	uint32_t n_threads;
	void *log_user;
	const char *levels; /* TENON_LOG */
};

/* In the environment that there is. */
static tn_status open_here(const struct setting *setting, tn_context **context)
{
	const char *path = counted_file;
	const struct tn_pair option = {"counted.depth", setting->depth};
	struct tn_context_options options = tn_context_defaults();
	options.backend = "counted!";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.backend_options = &option;
	options.n_backend_options = setting->depth != NULL;
	options.n_threads = setting->n_threads;
	options.log = keep_message;
	options.log_user = setting->log_user;
	return tn_context_open(&options, context, NULL);
}

static tn_status open_counted(const struct setting *setting, tn_context **context)
{
	if (setting->variable)
		setenv("TENON_TEST_SECOND", setting->variable, 1);
	else
		unsetenv("TENON_TEST_SECOND");
	if (setting->levels)
		setenv("TENON_LOG", setting->levels, 1);
	else
		unsetenv("TENON_LOG");
	return open_here(setting, context);
}

static const struct setting plain = {.n_threads = 2};

static tn_context *open_plain(void)
{
	tn_context *context = NULL;
	assert_ok(open_counted(&plain, &context));
	return context;
}

static int prepare(void **state)
{
	const void *table = NULL;
	void *handle;
	clear_environment(state);
	snprintf(counted_file, sizeof(counted_file), "%s", fixture("counted"));
	tn_context *context = open_plain();
	assert_ok(
		tn_device_vendor_table(tn_device_current(context), COUNTED_TABLE, &table, &handle));
	counted = (struct counted *)(uintptr_t)table;
	tn_context_close(context);
	mark();
	return 0;
}

/* ---- When an instance is asked for its devices -----------------------------------------------*/

/* A folder for data files, with that of the plugin. */
struct data {
	char top[256], folder[300], file[330];
};

static void write_data(struct data *data, const char *lines)
{
	assert_int_equal(make_program_folder(data->top, sizeof(data->top)), 0);
	snprintf(data->folder, sizeof(data->folder), "%s/backends.d", data->top);
	assert_int_equal(mkdir(data->folder, 0700), 0);
	snprintf(data->file, sizeof(data->file), "%s/counted.backend", data->folder);
	FILE *stream = fopen(data->file, "w");
	assert_non_null(stream);
	fprintf(stream, "name = counted\n%s\n", lines);
	fclose(stream);
	setenv("TENON_DATA_DIR", data->top, 1);
}

static void remove_data(const struct data *data)
{
	unsetenv("TENON_DATA_DIR");
	remove(data->file);
	rmdir(data->folder);
	rmdir(data->top);
}

/* Of a GPU by its data file: not before something asks for more than what the selection names. */
static void devices_are_counted_when_the_selection_comes_to_them(void **state)
{
	static const struct {
		const char *selection, *current;
		int asked; /* at once */
	} rows[] = {
		{"reference", "reference:0", 0}, {"absent,reference", "reference:0", 0},
		{"auto", "counted:0", 1},        {"absent", "counted:0", 1},
		{"gpu", "counted:0", 1},         {"reference,counted", "reference:0", 1},
	};
	const char *path = counted_file;
	struct data data;
	(void)state;
	write_data(&data, "kind = gpu");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int question = 0; question < 5; question++) {
			struct tn_context_options options = tn_context_defaults();
			tn_context *context = NULL;
			options.backend = rows[i].selection;
			options.plugin_paths = &path;
			options.n_plugin_paths = 1;
			options.log = keep_message;
			mark();
			assert_ok(tn_context_open(&options, &context, NULL));
			assert_string_equal(tn_device_name(tn_device_current(context)),
					    rows[i].current);
			assert_non_null(tn_device_find(context, rows[i].current));
			assert_ptr_equal(tn_context_device(context, 0), tn_device_current(context));
			assert_int_equal(counted->asked - before.asked, rows[i].asked);
			if (question == 0)
				assert_int_equal(tn_context_device_count(context), 2);
			if (question == 1)
				assert_non_null(tn_device_find(context, "counted:0"));
			if (question == 2)
				assert_true(tn_backend_available(context, "counted", NULL));
			if (question == 3)
				assert_non_null(tn_context_device(context, 1));
			const struct tn_load_row *row =
				tn_load_report_find(tn_context_report(context), "counted");
			assert_int_equal(row->n_devices, 1);
			assert_int_equal(row->stage, TN_STAGE_READY);
			assert_int_equal(counted->asked - before.asked, 1);
			assert_ok(
				tn_device_set_current(context, tn_device_find(context, "counted")));
			tn_context_close(context);
		}
	}
	remove_data(&data);
}

/* Not even in `auto`, if there is another one. */
static void a_slow_start_waits_where_no_sign_is_seen(void **state)
{
	static const struct {
		const char *lines, *selection;
		int asked;
	} rows[] = {
		{"start = slow\nsign = /absent/sign", "auto", 0},
		{"start = slow\nsign = /absent/sign", "ok", 0},
		{"start = slow\nsign = /absent/sign", "absent", 0},
		{"start = slow\nsign = /absent/sign", "absent,reference", 0},
		{"start = slow\nsign = /", "absent", 1},
		{"start = slow\nsign = /absent/sign", "counted", 1},
		{"start = slow\nsign = /absent/sign", "^ok", 1},
		{"start = slow\nsign = /", "auto", 1},
		{"start = slow\nsign = /", "ok", 0},
		{"start = slow", "auto", 1},
		{"sign = /absent/sign", "auto", 1},
	};
	char ok_file[256];
	(void)state;
	snprintf(ok_file, sizeof(ok_file), "%s", fixture("ok"));
	const char *const paths[] = {counted_file, ok_file};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tn_context_options options = tn_context_defaults();
		tn_context *context = NULL;
		struct data data;
		write_data(&data, rows[i].lines);
		options.backend = rows[i].selection;
		options.plugin_paths = paths;
		options.n_plugin_paths = 2;
		mark();
		assert_ok(tn_context_open(&options, &context, NULL));
		assert_int_equal(counted->asked - before.asked, rows[i].asked);
		assert_non_null(tn_device_find(context, "counted:0"));
		assert_int_equal(counted->asked - before.asked, 1);
		tn_context_close(context);
		remove_data(&data);
	}
}

/* ---- Which share, and how long ---------------------------------------------------------------*/

static void one_instance_and_device_live_until_the_last_context_closes(void **state)
{
	static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		tn_context *contexts[3];
		mark();
		for (int k = 0; k < 3; k++)
			contexts[k] = open_plain();
		expect(1, 0, 1, 0);
		for (int k = 0; k < 2; k++)
			tn_context_close(contexts[orders[i][k]]);
		expect(1, 0, 1, 0);
		assert_non_null(tn_ones(contexts[orders[i][2]], TN_F32, 1, (int64_t[]){4}));
		tn_context_close(contexts[orders[i][2]]);
		expect(1, 1, 1, 1);
	}
}

static void what_a_plugin_could_tell_apart_has_an_instance_of_its_own(void **state)
{
	(void)state;
	const struct {
		struct setting setting;
		int created;
	} rows[] = {
		{{.n_threads = 2}, 0},
		{{.n_threads = 2, .depth = "3"}, 0},
		{{.n_threads = 2, .depth = "4"}, 1},
		{{.n_threads = 2, .variable = "other"}, 1},
		{{.n_threads = 3}, 1},
		{{.n_threads = 2, .log_user = &before}, 1},
		{{.n_threads = 2, .levels = "counted=debug"}, 1},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tn_context *one = open_plain(), *two = NULL;
		mark();
		assert_ok(open_counted(&rows[i].setting, &two));
		expect(rows[i].created, 0, rows[i].created, 0);
		tn_context_close(one);
		assert_non_null(tn_ones(two, TN_F32, 1, (int64_t[]){4}));
		tn_context_close(two);
		expect(rows[i].created, 1 + rows[i].created, rows[i].created, 1 + rows[i].created);
	}
}

static void a_failing_create_leaves_the_other_context_alone(void **state)
{
	static const struct setting fails = {.n_threads = 2, .variable = "fail"};
	(void)state;
	tn_context *one = open_plain(), *two = NULL;
	mark();
	assert_status(open_counted(&fails, &two), TN_NO_DRIVER);
	assert_null(two);
	assert_non_null(tn_ones(one, TN_F32, 1, (int64_t[]){4}));
	two = open_plain();
	expect(0, 0, 0, 0);
	tn_context_close(one);
	tn_context_close(two);
	expect(0, 1, 0, 1);
}

static void every_context_lists_the_variables_of_its_instance(void **state)
{
	static const struct setting set = {.n_threads = 2, .variable = "7"};
	(void)state;
	tn_context *contexts[2];
	for (int i = 0; i < 2; i++)
		assert_ok(open_counted(&set, &contexts[i]));
	for (int i = 0; i < 2; i++) {
		struct tn_variable row = {.struct_size = sizeof(row)};
		int found = 0;
		for (size_t k = 0; !tn_variable_at(contexts[i], k, &row); k++)
			found += !strcmp(row.name, "TENON_TEST_SECOND") && row.value &&
				 !strcmp(row.value, "7");
		assert_int_equal(found, 1);
		tn_context_close(contexts[i]);
	}
}

/* What a plugin has read may be why it is absent. */
static void the_variables_of_an_absent_plugin_are_listed(void **state)
{
	const char *path = counted_file;
	struct tn_context_options options = tn_context_defaults();
	struct tn_variable row = {.struct_size = sizeof(row)};
	tn_context *context = NULL;
	int found = 0;
	(void)state;
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.log = keep_message;
	setenv("TENON_TEST_SECOND", "fail", 1);
	assert_ok(tn_context_open(&options, &context, NULL));
	for (size_t k = 0; !tn_variable_at(context, k, &row); k++)
		found += !strcmp(row.name, "TENON_TEST_SECOND") && row.value;
	assert_int_equal(found, 1);
	tn_context_close(context);
	unsetenv("TENON_TEST_SECOND");
}

/* ---- Threads ---------------------------------------------------------------------------------*/

static void *open_compute_close(void *argument)
{
	for (int i = 0; i < 20; i++) {
		tn_context *context;
		if (open_here(&plain, &context))
			return argument;
		tn_array *line = tn_ones(context, TN_F32, 1, (int64_t[]){4});
		for (int k = 0; k < 10; k++)
			line = tn_add(line, line);
		tn_context_close(context);
		if (!line)
			return argument;
	}
	return NULL;
}

static void threads_open_compute_and_close_in_turn(void **state)
{
	pthread_t threads[3];
	(void)state;
	unsetenv("TENON_TEST_SECOND");
	counted->most_inside = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_compute_close, &before), 0);
	for (int i = 0; i < 3; i++) {
		void *failed;
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(counted->most_inside, 1);
	assert_int_equal(counted->created, counted->destroyed);
	assert_int_equal(counted->opened, counted->closed);
}

/* ---- Fork ------------------------------------------------------------------------------------*/

/* Nothing of the parent's is called; the child's contexts share anew. */
static int child(tn_context *one, tn_context *two)
{
	tn_context *own[2];
	tn_context_close(one);
	for (int i = 0; i < 2; i++) {
		if (open_counted(&plain, &own[i]))
			return 1;
	}
	tn_context_close(two);
	if (counted->created - before.created != 1 || counted->opened - before.opened != 1 ||
	    counted->destroyed != before.destroyed || counted->closed != before.closed)
		return 2;
	for (int i = 0; i < 2; i++)
		tn_context_close(own[i]);
	return counted->destroyed - before.destroyed != 1 || counted->closed - before.closed != 1;
}

static void a_forked_child_does_not_use_the_parents_instance(void **state)
{
	int status;
	(void)state;
	tn_context *one = open_plain(), *two = open_plain();
	mark();
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child(one, two));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	tn_context_close(one);
	assert_non_null(tn_ones(two, TN_F32, 1, (int64_t[]){4}));
	tn_context_close(two);
	expect(0, 1, 0, 1);
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static void a_second_context_may_run_out_of_memory(void **state)
{
	long failed = 1;
	(void)state;
	tn_context *one = open_plain();
	mark();
	for (long n = 0; failed; n++) {
		tn_context *two = NULL;
		memory_fails_at(n, 0);
		tn_status status = open_counted(&plain, &two);
		failed = memory_works();
		assert_int_equal(status == TN_OK, two != NULL);
		tn_context_close(two);
		assert_non_null(tn_device_current(one));
		assert_true(tn_ones(one, TN_F32, 1, (int64_t[]){4}) != NULL);
		assert_true(n < 2000);
	}
	tn_context_close(one);
	assert_int_equal(counted->created - before.created + 1,
			 counted->destroyed - before.destroyed);
	assert_int_equal(counted->opened - before.opened + 1, counted->closed - before.closed);
}

/* ---- Backends --------------------------------------------------------------------------------*/

/* NULL: it is not built. */
static tn_context *open_limited(const char *name, const char *file, uint64_t memory_limit,
				const struct tn_native_device *native)
{
	const char *build = getenv("TENON_BUILD");
	char relative[4096], absolute[4096];
	const char *path = absolute;
	struct tn_context_options options = tn_context_defaults();
	tn_context *context = NULL;
	snprintf(relative, sizeof(relative), "%s/%s", build ? build : ".", file ? file : "");
	if (file && !realpath(relative, absolute))
		return NULL;
	options.backend = name;
	options.plugin_paths = &path;
	options.n_plugin_paths = file != NULL;
	options.n_threads = 2;
	options.memory_limit = memory_limit;
	options.native_devices = native;
	options.n_native_devices = native != NULL;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static tn_context *open_backend(const char *name, const char *file)
{
	return open_limited(name, file, 0, NULL);
}

static const struct {
	const char *name, *file;
} backends[] = {
	{"reference!", NULL},
	{"cpu!", ".libs/backend_cpu.so"},
	{"mock!", "plugins/mock/.libs/backend_mock.so"},
};

static void contexts_compute_at_once_and_close_in_either_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(backends) / sizeof(backends[0]); i++) {
		tn_context *contexts[2];
		for (int k = 0; k < 2; k++)
			contexts[k] = open_backend(backends[i / 2].name, backends[i / 2].file);
		if (contexts[0])
			check_shared(contexts[0], contexts[1], contexts[i % 2]);
	}
}

/* The mock's 5th piece of work fails, in the stream of the context that gave it. */
static void an_asynchronous_error_reaches_the_context_whose_work_failed(void **state)
{
	(void)state;
	for (int culprit = 0; culprit < 2; culprit++) {
		tn_context *contexts[2];
		setenv("TENON_MOCK", "async-error:5", 1);
		for (int k = 0; k < 2; k++)
			contexts[k] = open_backend("mock!", backends[2].file);
		check_one_device(contexts[0], contexts[1]);
		tn_array *line = tn_ones(contexts[!culprit], TN_F32, 1, (int64_t[]){4});
		assert_non_null(line);
		assert_ok(tn_synchronize(contexts[!culprit]));
		for (int k = 0; k < 8; k++)
			tn_ones(contexts[culprit], TN_F32, 1, (int64_t[]){4});
		assert_non_null(tn_add(line, line));
		assert_ok(tn_synchronize(contexts[!culprit]));
		assert_status(tn_synchronize(contexts[culprit]), TN_BACKEND_FAILURE);
		assert_ok(tn_synchronize(contexts[!culprit]));
		for (int k = 0; k < 2; k++)
			tn_context_close(contexts[k]);
		unsetenv("TENON_MOCK");
	}
}

static void each_context_has_a_limit_of_its_own(void **state)
{
	const int64_t shape[] = {4 << 20};
	(void)state;
	tn_context *narrow = open_limited("mock!", backends[2].file, 1 << 20, NULL);
	tn_context *wide = open_backend("mock!", backends[2].file);
	check_one_device(narrow, wide);
	assert_null(tn_zeros(narrow, TN_U8, 1, shape));
	assert_status(tn_error(narrow)->status, TN_OUT_OF_MEMORY);
	assert_non_null(tn_zeros(wide, TN_U8, 1, shape));
	tn_error_clear(narrow);
	assert_non_null(tn_zeros(narrow, TN_U8, 1, (int64_t[]){4}));
	tn_context_close(narrow);
	tn_context_close(wide);
}

static void a_device_on_a_handle_of_others_is_opened_apart(void **state)
{
	struct tn_native_device native = {.device = "mock:0"};
	(void)state;
	tn_context *one = open_backend("mock!", backends[2].file);
	assert_ok(tn_device_native(tn_device_current(one), &native.native));
	tn_context *two = open_limited("mock!", backends[2].file, 0, &native);
	const struct tn_device *a = tn_device_current(one), *b = tn_device_current(two);
	assert_ptr_equal(a->backend->plugin.shared, b->backend->plugin.shared);
	assert_ptr_not_equal(a->handle, b->handle);
	assert_null(b->stream);
	tn_context_close(one);
	assert_null(shared_sums(two));
	tn_context_close(two);
}

/* A device that is lost is lost for those who have it: the next context gets another. */
static void a_lost_device_is_not_shared_with_a_new_context(void **state)
{
	(void)state;
	setenv("TENON_MOCK", "lost:3", 1);
	tn_context *one = open_backend("mock!", backends[2].file);
	for (int k = 0; k < 5; k++)
		tn_ones(one, TN_F32, 1, (int64_t[]){4});
	assert_status(tn_synchronize(one), TN_DEVICE_LOST);
	tn_context *two = open_backend("mock!", backends[2].file);
	assert_ptr_not_equal(tn_device_current(one)->handle, tn_device_current(two)->handle);
	assert_non_null(tn_ones(two, TN_F32, 1, (int64_t[]){4}));
	assert_ok(tn_synchronize(two));
	tn_context_close(one);
	tn_context_close(two);
	unsetenv("TENON_MOCK");
}

/* The others are told so, which is no error of a training: it goes on without. */
static void one_context_captures_at_a_time(void **state)
{
	tn_graph *graph = NULL;
	(void)state;
	tn_context *one = open_backend("mock!", backends[2].file);
	tn_context *two = open_backend("mock!", backends[2].file);
	check_one_device(one, two);
	assert_ok(tn_capture_begin(one));
	assert_status(tn_capture_begin(two), TN_NOT_CAPTURABLE);
	tn_error_clear(two);
	assert_non_null(tn_ones(two, TN_F32, 1, (int64_t[]){4}));
	assert_ok(tn_synchronize(two));
	assert_ok(tn_capture_end(one, &graph));
	tn_graph_destroy(graph);
	assert_ok(tn_capture_begin(two));
	assert_ok(tn_capture_end(two, &graph));
	tn_graph_destroy(graph);
	tn_context_close(one);
	tn_context_close(two);
}

#define CASE(name) cmocka_unit_test_setup(name, prepare)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(devices_are_counted_when_the_selection_comes_to_them),
		CASE(a_slow_start_waits_where_no_sign_is_seen),
		CASE(one_instance_and_device_live_until_the_last_context_closes),
		CASE(what_a_plugin_could_tell_apart_has_an_instance_of_its_own),
		CASE(a_failing_create_leaves_the_other_context_alone),
		CASE(every_context_lists_the_variables_of_its_instance),
		CASE(the_variables_of_an_absent_plugin_are_listed),
		CASE(threads_open_compute_and_close_in_turn),
		CASE(a_forked_child_does_not_use_the_parents_instance),
		CASE(a_second_context_may_run_out_of_memory),
		CASE(contexts_compute_at_once_and_close_in_either_order),
		CASE(an_asynchronous_error_reaches_the_context_whose_work_failed),
		CASE(a_lost_device_is_not_shared_with_a_new_context),
		CASE(one_context_captures_at_a_time),
		CASE(each_context_has_a_limit_of_its_own),
		CASE(a_device_on_a_handle_of_others_is_opened_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
