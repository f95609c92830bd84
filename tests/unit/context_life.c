/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opening and closing contexts: several at once, with live arrays and in forked children; and any
 * host allocation during opening may fail. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "context_fixture.h"

static tn_array *make_some(tn_context *context)
{
	const int64_t shape[] = {5, 7};
	tn_array *a = tn_ones(context, TN_F32, 2, shape);
	return tn_keep(tn_add(a, tn_transpose(tn_copy(tn_transpose(a, NULL)), NULL)));
}

static void a_context_opens_and_closes_again_and_again(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		tn_context *context;
		assert_ok(open_with("ok", "ok", "two_devices", &context, NULL));
		tn_context_close(context);
	}
	tn_context_close(NULL);
}

static void closing_frees_the_arrays_that_are_alive(void **state)
{
	(void)state;
	tn_context *context;
	assert_ok(open_with("reference", NULL, NULL, &context, NULL));
	assert_ok(tn_scope_begin(context));
	assert_non_null(make_some(context));
	assert_ok(tn_scope_begin(context));
	assert_non_null(make_some(context));
	tn_context_close(context);
	assert_null(strstr(messages, "never freed"));
}

static void two_contexts_know_nothing_of_each_other(void **state)
{
	(void)state;
	tn_context *one, *two;
	assert_ok(open_with("reference", "ok", NULL, &one, NULL));
	assert_ok(open_with("reference", "ok", NULL, &two, NULL));
	assert_ptr_not_equal(tn_device_current(one), tn_device_current(two));
	tn_random_set_state(one, (struct tn_random_state){.seed = 3});
	assert_int_equal(tn_random_get_state(two).seed, 0);
	tn_array *a = make_some(one), *b = make_some(two);
	assert_null(tn_add(a, b));
	assert_status(tn_error(one)->status, TN_DEVICE);
	tn_context_close(one);
	tn_error_clear(two);
	double sum;
	assert_ok(tn_item(tn_sum(b, TN_ALL_AXES, NULL, 0), &sum));
	assert_close(sum, 70, 0);
	tn_context_close(two);
}

/* Opens, computes and closes, a few times; NULL: success. */
static void *work(void *argument)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	options.plugin_paths = argument;
	options.n_plugin_paths = 1;
	options.n_threads = 2;
	for (int i = 0; i < 5; i++) {
		tn_context *context;
		double sum = 0;
		if (tn_context_open(&options, &context, NULL))
			return argument;
		if (tn_item(tn_sum(make_some(context), TN_ALL_AXES, NULL, 0), &sum) || sum != 70)
			return argument;
		tn_context_close(context);
	}
	return NULL;
}

static void each_thread_may_have_a_context_of_its_own(void **state)
{
	(void)state;
	const char *path = fixture("ok");
	pthread_t threads[3];
	setenv("TENON_LOG", "off", 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &path), 0);
	for (int i = 0; i < 3; i++) {
		void *failed;
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

/* The child's calls return TN_FORKED; it may close, and may open its own context. */
static int child(tn_context *inherited, tn_array *array)
{
	tn_context *own = NULL;
	float values[35];
	if (tn_to_host(array, values, sizeof(values)) != TN_FORKED)
		return 1;
	tn_error_clear(inherited);
	if (tn_add(array, array) || tn_error(inherited)->status != TN_FORKED)
		return 2;
	tn_error_clear(inherited);
	if (tn_synchronize(inherited) != TN_FORKED)
		return 3;
	tn_context_close(inherited);
	if (open_with("reference", "ok", NULL, &own, NULL))
		return 4;
	if (tn_to_host(make_some(own), values, sizeof(values)) || values[34] != 2)
		return 5;
	tn_context_close(own);
	return 0;
}

static void a_forked_child_is_refused_and_may_open_its_own(void **state)
{
	(void)state;
	tn_context *context;
	float values[35];
	assert_ok(open_with("reference", "ok", NULL, &context, NULL));
	tn_array *array = make_some(context);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child(context, array));
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(tn_to_host(array, values, sizeof(values)));
	tn_context_close(context);
}

/* Wrapped at link time. */
void *__real_tn_mem_alloc(size_t size);
void *__wrap_tn_mem_alloc(size_t size);
void *__real_tn_mem_zeroed(size_t count, size_t size);
void *__wrap_tn_mem_zeroed(size_t count, size_t size);
void *__real_tn_mem_realloc(void *memory, size_t count, size_t size);
void *__wrap_tn_mem_realloc(void *memory, size_t count, size_t size);
void *__real_tn_mem_aligned(size_t size, size_t alignment);
void *__wrap_tn_mem_aligned(size_t size, size_t alignment);
char *__real_tn_mem_copy_string(const char *text);
char *__wrap_tn_mem_copy_string(const char *text);

static long left = -1; /* allocations until one fails; negative: none */

static int fails_now(void)
{
	return left >= 0 && left-- == 0;
}

void *__wrap_tn_mem_alloc(size_t size)
{
	return fails_now() ? NULL : __real_tn_mem_alloc(size);
}

void *__wrap_tn_mem_zeroed(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_tn_mem_zeroed(count, size);
}

void *__wrap_tn_mem_realloc(void *memory, size_t count, size_t size)
{
	return fails_now() ? NULL : __real_tn_mem_realloc(memory, count, size);
}

void *__wrap_tn_mem_aligned(size_t size, size_t alignment)
{
	return fails_now() ? NULL : __real_tn_mem_aligned(size, alignment);
}

char *__wrap_tn_mem_copy_string(const char *text)
{
	return fails_now() ? NULL : __real_tn_mem_copy_string(text);
}

/* 1 if allocation n failed, 0 if there are fewer.  The opening then fails cleanly, or succeeds
 * without (if the memory was that of one plugin; without `ok` only no_open may remain). */
static int open_with_failure(const char *selection, long n)
{
	tn_context *context = NULL;
	struct tn_error_info error;
	left = n;
	tn_status status = open_with(selection, "ok", "no_open", &context, &error);
	int failed = left < 0;
	left = -1;
	assert_int_equal(status == TN_OK, context != NULL);
	if (status) {
		assert_true(status == TN_OUT_OF_MEMORY || status == TN_NO_DRIVER ||
			    strstr(error.text, "OUT_OF_MEMORY"));
		assert_status(error.status, status);
		assert_true(error.text[0] != '\0');
	} else {
		assert_non_null(tn_device_current(context));
	}
	tn_context_close(context);
	return failed;
}

static void opening_survives_the_loss_of_any_allocation(void **state)
{
	(void)state;
	static const char *const selections[] = {"absent,no_open,ok", "^reference", "ok"};
	for (size_t i = 0; i < 3; i++) {
		long n = 0;
		while (open_with_failure(selections[i], n))
			n++;
		assert_true(n > 30);
	}
}

#define CASE(name) cmocka_unit_test_setup(name, clear_environment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_context_opens_and_closes_again_and_again),
		CASE(closing_frees_the_arrays_that_are_alive),
		CASE(two_contexts_know_nothing_of_each_other),
		CASE(each_thread_may_have_a_context_of_its_own),
		CASE(a_forked_child_is_refused_and_may_open_its_own),
		CASE(opening_survives_the_loss_of_any_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
