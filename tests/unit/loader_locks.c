/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Who waits while a plugin is in `create`: those alone that want the same instance.  And a child
 * that is forked while another thread is in the loader can use the loader.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <tenon/context.h>

#include "loader_fixture.h"
#include "../plugins/minimal.h"

#define FORKS 100

static sem_t entered, may_go;
static atomic_int n_created, n_failing;

static tn_status slow_create(const struct tn_host *host, struct tn_error_info *error,
			     void **instance)
{
	atomic_fetch_add(&n_created, 1);
	sem_post(&entered);
	while (sem_wait(&may_go))
		;
	if (atomic_fetch_sub(&n_failing, 1) > 0)
		return TN_NO_DEVICE;
	return minimal_create(host, error, instance);
}

#define DESCRIPTOR(NAME, CREATE, UUID)                                                             \
	{                                                                                          \
		.struct_size = sizeof(struct tn_backend_descriptor), .magic = TN_BACKEND_MAGIC,    \
		.abi_major = TN_ABI_MAJOR, .abi_minor = TN_ABI_MINOR,                              \
		.oldest_host = TN_ABI_OLDEST_HOST, .uuid = {UUID}, .name = (NAME), .version = "1", \
		.licence = "Apache-2.0", .create = (CREATE), .destroy = minimal_destroy,           \
		.query = minimal_query                                                             \
	}

static const struct tn_backend_descriptor slow = DESCRIPTOR("slow", slow_create, 1);
static const struct tn_backend_descriptor quick = DESCRIPTOR("quick", minimal_create, 2);

/* A registry with one backend, which it shares. */
static tn_status open_one(struct opened *opened, const struct tn_backend_descriptor *const *backend)
{
	memset(opened, 0, sizeof(*opened));
	tn_parameters_init(&opened->parameters);
	opened->options.parameters = &opened->parameters;
	opened->options.paths_only = 1;
	opened->options.shares = 1;
	opened->options.built_in = backend;
	opened->options.n_built_in = 1;
	return open_prepared(opened);
}

static void *open_slow(void *user)
{
	static const struct tn_backend_descriptor *const backend = &slow;
	open_one(user, &backend);
	return NULL;
}

/* Two contexts want the slow one, of which `failing` attempts fail first; a third the quick one. */
static void wait_for(int failing, int expected_created)
{
	static const struct tn_backend_descriptor *const other = &quick;
	struct opened first, second, third;
	pthread_t threads[2];
	atomic_store(&n_created, 0);
	atomic_store(&n_failing, failing);
	pthread_create(&threads[0], NULL, open_slow, &first);
	sem_wait(&entered);
	pthread_create(&threads[1], NULL, open_slow, &second);
	assert_ok(open_one(&third, &other));
	release(&third);
	assert_int_equal(atomic_load(&n_created), 1);
	sem_post(&may_go);
	sem_post(&may_go);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert_int_equal(atomic_load(&n_created), expected_created);
	assert_status(second.status, failing > 1 ? TN_NO_DEVICE : TN_OK);
	assert_status(first.status, failing ? TN_NO_DEVICE : TN_OK);
	if (!failing)
		assert_ptr_equal(first.registry->backends[0]->plugin.instance,
				 second.registry->backends[0]->plugin.instance);
	release(&first);
	release(&second);
	while (!sem_trywait(&may_go) || !sem_trywait(&entered))
		;
}

static void only_equal_ones_wait_for_a_create(void **state)
{
	(void)state;
	sem_init(&entered, 0, 0);
	sem_init(&may_go, 0, 0);
	wait_for(0, 1);
	wait_for(1, 2);
	wait_for(2, 2);
}

/* ---- Forks -----------------------------------------------------------------------------------*/

static void use_instances(void)
{
	static const struct tn_backend_descriptor *const backend = &quick;
	struct opened opened;
	if (open_one(&opened, &backend))
		abort();
	release(&opened);
}

static void use_registered(void)
{
	for (int i = 0; i < 100; i++) {
		if (tn_backend_register(&quick))
			abort();
	}
}

/* What of the whole process a thread may be changing. */
static void (*const uses[])(void) = {use_instances, use_registered};

static atomic_int is_over;

static void *use_always(void *user)
{
	void (*use)(void) = *(void (*const *)(void))user;
	while (!atomic_load(&is_over))
		use();
	return NULL;
}

static void a_child_may_use_what_a_thread_was_using(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		pthread_t thread;
		int n_failed = 0;
		atomic_store(&is_over, 0);
		pthread_create(&thread, NULL, use_always, (void *)(uintptr_t)&uses[i]);
		for (int j = 0; j < FORKS; j++) {
			int result;
			fflush(NULL);
			pid_t child = fork();
			if (child == 0) {
				alarm(2);
				uses[i]();
				_exit(0);
			}
			waitpid(child, &result, 0);
			n_failed += result != 0;
			if (result)
				break;
		}
		atomic_store(&is_over, 1);
		pthread_join(thread, NULL);
		assert_int_equal(n_failed, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_equal_ones_wait_for_a_create),
		cmocka_unit_test(a_child_may_use_what_a_thread_was_using),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
