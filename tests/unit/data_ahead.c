/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batches that threads load ahead. */
#include <tenon/array.h>
#include <tenon/data.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "check.h"

#define N 103

/* A data set whose sample i is {i, 2 i}; it counts what is read, and fails for two samples. */
struct reader {
	atomic_int n_read;
	atomic_int failing; /* this sample and the next fail; -2: none */
	int slow;
	pthread_t main;
	atomic_int by_others; /* samples read by other threads */
};

static tn_status read_sample(void *user, uint64_t sample, void *const *to,
			     struct tn_error_info *error)
{
	struct reader *reader = user;
	if (reader->slow)
		usleep(500);
	atomic_fetch_add(&reader->n_read, 1);
	if (!pthread_equal(reader->main, pthread_self()))
		atomic_fetch_add(&reader->by_others, 1);
	if ((int)sample == atomic_load(&reader->failing) ||
	    (int)sample == atomic_load(&reader->failing) + 1)
		return tn_fail(error, TN_IO, "reader", "sample %d is lost", (int)sample);
	if (to[0])
		*(float *)to[0] = (float)sample;
	if (to[1])
		*(int32_t *)to[1] = 2 * (int32_t)sample;
	return TN_OK;
}

static tn_dataset *make_dataset(struct reader *reader)
{
	static const struct tn_field fields[] = {{.dtype = TN_F32}, {.dtype = TN_I32}};
	const struct tn_dataset_fields source = {.struct_size = sizeof(source),
						 .n_fields = 2,
						 .fields = fields,
						 .n = N,
						 .read = read_sample,
						 .user = reader};
	tn_dataset *dataset = NULL;
	*reader = (struct reader){.failing = -2, .main = pthread_self()};
	assert_ok(tn_dataset_from_fields(&source, &dataset, NULL));
	return dataset;
}

static tn_context *open_context(uint32_t n_threads)
{
	tn_context *context = NULL;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	options.n_threads = n_threads;
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static tn_data_loader *make_loader(const tn_dataset *dataset, tn_context *context,
				   uint32_t prefetch)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 10;
	options.seed = 5;
	options.shuffle = 1;
	options.context = context;
	options.prefetch = prefetch;
	tn_data_loader *loader = NULL;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	return loader;
}

/* Takes a batch of both: they are equal. */
static uint32_t compare(tn_data_loader *a, tn_data_loader *b)
{
	struct tn_batch x = {.struct_size = sizeof(x)}, y = {.struct_size = sizeof(y)};
	assert_ok(tn_data_loader_next(a, &x, NULL));
	assert_ok(tn_data_loader_next(b, &y, NULL));
	assert_int_equal(x.n, y.n);
	assert_int_equal(x.epoch, y.epoch);
	assert_int_equal(x.index, y.index);
	assert_memory_equal(x.data[0], y.data[0], x.n * sizeof(float));
	assert_memory_equal(x.data[1], y.data[1], x.n * sizeof(int32_t));
	assert_memory_equal(x.samples, y.samples, x.n * sizeof(uint64_t));
	assert_int_equal(tn_data_loader_position(a).epoch, tn_data_loader_position(b).epoch);
	assert_int_equal(tn_data_loader_position(a).index, tn_data_loader_position(b).index);
	assert_int_equal(tn_data_loader_image(a, 3), tn_data_loader_image(b, 3));
	return x.n;
}

static void batches_are_the_same_with_any_number_of_threads(void **state)
{
	(void)state;
	static const uint32_t threads[] = {1, 2, 4, 16}, ahead[] = {0, 1, 3, 20};
	struct reader reader;
	tn_dataset *dataset = make_dataset(&reader);
	for (int i = 0; i < 4; i++) {
		tn_context *context = open_context(threads[i]);
		for (int j = 0; j < 4; j++) {
			tn_data_loader *plain = make_loader(dataset, NULL, 0);
			tn_data_loader *loader = make_loader(dataset, context, ahead[j]);
			for (int epochs = 0; epochs < 3;)
				epochs += compare(plain, loader) == 0;
			tn_data_loader_destroy(plain);
			tn_data_loader_destroy(loader);
		}
		tn_context_close(context);
	}
	tn_dataset_destroy(dataset);
}

static void seeking_drops_what_was_loaded_ahead(void **state)
{
	(void)state;
	static const struct tn_data_position positions[] = {{0, 50}, {3, 0}, {3, 0}, {2, 100},
							    {2, 20}, {0, N}, {1, 10}};
	struct reader reader;
	tn_dataset *dataset = make_dataset(&reader);
	tn_context *context = open_context(3);
	tn_data_loader *plain = make_loader(dataset, NULL, 0);
	tn_data_loader *loader = make_loader(dataset, context, 2);
	for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++) {
		assert_ok(tn_data_loader_seek(plain, positions[i], NULL));
		assert_ok(tn_data_loader_seek(loader, positions[i], NULL));
		for (int k = 0; k < 4; k++)
			compare(plain, loader);
	}
	tn_data_loader_destroy(plain);
	tn_data_loader_destroy(loader);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

/* While the program has the first batch, threads read the next two, and no more. */
static void threads_load_as_many_batches_as_asked(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct reader reader;
	tn_dataset *dataset = make_dataset(&reader);
	tn_context *context = open_context(2);
	tn_data_loader *loader = make_loader(dataset, context, 2);
	assert_int_equal(atomic_load(&reader.n_read), 0);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	for (int i = 0; i < 10000 && atomic_load(&reader.n_read) < 30; i++)
		usleep(1000);
	assert_int_equal(atomic_load(&reader.n_read), 30);
	assert_true(atomic_load(&reader.by_others) >= 20);
	usleep(20000);
	assert_int_equal(atomic_load(&reader.n_read), 30);
	tn_data_loader_destroy(loader);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void an_error_comes_with_the_batch_it_belongs_to(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct reader reader;
	tn_dataset *dataset = make_dataset(&reader);
	for (uint32_t threads = 1; threads <= 4; threads++) {
		struct tn_error_info error;
		tn_context *context = open_context(threads);
		struct tn_data_loader_options options = tn_data_loader_defaults();
		options.batch_size = 10;
		options.context = context;
		options.prefetch = 4;
		tn_data_loader *loader = NULL;
		assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
		/* 34 and 35 fail: the first is reported. */
		atomic_store(&reader.failing, 34);
		for (int i = 0; i < 3; i++)
			assert_ok(tn_data_loader_next(loader, &batch, NULL));
		for (int i = 0; i < 2; i++) {
			assert_status(tn_data_loader_next(loader, &batch, &error), TN_IO);
			assert_string_equal(error.text, "sample 34 is lost");
			assert_int_equal(tn_data_loader_position(loader).index, 30);
		}
		atomic_store(&reader.failing, -2);
		assert_ok(tn_data_loader_next(loader, &batch, &error));
		assert_int_equal(batch.index, 30);
		assert_true(((const float *)batch.data[0])[4] == 34);
		tn_data_loader_destroy(loader);
		tn_context_close(context);
	}
	tn_dataset_destroy(dataset);
}

static void destroying_a_loader_waits_for_threads_that_load(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct reader reader;
	tn_dataset *dataset = make_dataset(&reader);
	tn_context *context = open_context(4);
	reader.slow = 1;
	for (int i = 0; i < 10; i++) {
		tn_data_loader *loader = make_loader(dataset, context, 5);
		assert_ok(tn_data_loader_next(loader, &batch, NULL));
		tn_data_loader_destroy(loader);
		int n_read = atomic_load(&reader.n_read);
		usleep(2000);
		assert_int_equal(atomic_load(&reader.n_read), n_read);
	}
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void a_forked_child_is_told(void **state)
{
	(void)state;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_error_info error;
	struct reader reader;
	tn_dataset *dataset = make_dataset(&reader);
	tn_context *context = open_context(3);
	tn_data_loader *loader = make_loader(dataset, context, 5);
	tn_data_loader *plain = make_loader(dataset, NULL, 0);
	assert_ok(tn_data_loader_next(loader, &batch, NULL));
	pid_t child = fork();
	if (child == 0) {
		int right = tn_data_loader_next(loader, &batch, &error) == TN_FORKED;
		right &= tn_data_loader_next(plain, &batch, &error) == TN_OK;
		tn_data_loader_destroy(loader);
		_exit(right ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	tn_data_loader_destroy(loader);
	tn_data_loader_destroy(plain);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void what_a_loader_cannot_do_is_refused(void **state)
{
	(void)state;
	struct tn_error_info error;
	struct reader reader;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = 1;
	tn_data_loader *loader = NULL;
	tn_dataset *dataset = make_dataset(&reader);
	tn_context *context = open_context(2);
	options.context = context;
	options.prefetch = 1025;
	assert_status(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error),
		      TN_INVALID_ARGUMENT);
	assert_contains(error.text, "expected a prefetch of at most 1024, found 1025");
	options.prefetch = 0;
	options.batch_size = UINT32_MAX;
	static const struct tn_field wide[] = {{.dtype = TN_F64, .rank = 1, .shape = {1 << 20}}};
	const struct tn_dataset_fields source = {.struct_size = sizeof(source),
						 .n_fields = 1,
						 .fields = wide,
						 .n = 10000,
						 .read = read_sample,
						 .user = &reader};
	tn_dataset *large = NULL;
	assert_ok(tn_dataset_from_fields(&source, &large, NULL));
	assert_status(tn_data_loader_create(large, TN_PART_TRAIN, &options, &loader, &error),
		      TN_LIMIT);
	assert_contains(error.text, "field 0: expected a batch of at most 68719476736 bytes");
	options.batch_size = 1;
	assert_null(tn_reshape(tn_zeros(context, TN_F32, 1, (const int64_t[]){2}), 1,
			       (const int64_t[]){3}));
	assert_status(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error),
		      TN_PENDING_ERROR);
	assert_contains(error.text, "found one that keeps: ");
	assert_non_null(tn_error(context));
	assert_null(loader);
	tn_dataset_destroy(large);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_are_the_same_with_any_number_of_threads),
		cmocka_unit_test(seeking_drops_what_was_loaded_ahead),
		cmocka_unit_test(threads_load_as_many_batches_as_asked),
		cmocka_unit_test(an_error_comes_with_the_batch_it_belongs_to),
		cmocka_unit_test(destroying_a_loader_waits_for_threads_that_load),
		cmocka_unit_test(a_forked_child_is_told),
		cmocka_unit_test(what_a_loader_cannot_do_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
