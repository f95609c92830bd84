/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loaders of several ranks: together they read what one loader reads.
 */
#include <tenon/augment.h>

#include "check.h"

enum { N = 23, H = 3, W = 4, BATCH = 5, MOST_RANKS = 5 };

static tn_dataset *make_dataset(void)
{
	static uint8_t images[N * H * W];
	static int32_t labels[N];
	for (int i = 0; i < N * H * W; i++)
		images[i] = (uint8_t)(i % 251);
	for (int i = 0; i < N; i++)
		labels[i] = i % 5;
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = H;
	source.width = W;
	source.name = "numbered";
	source.images = images;
	source.labels = labels;
	source.n_images = N;
	source.n_classes = 5;
	source.scale = 1;
	tn_dataset *dataset;
	assert_ok(tn_dataset_create(&source, &dataset, NULL));
	return dataset;
}

static tn_data_loader *open_rank(const tn_dataset *dataset, uint32_t rank, uint32_t n_ranks,
				 uint32_t uneven, const double *weights, tn_context *context)
{
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.max_shift = 1;
	augmentation.hflip_prob = 0.5;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = BATCH;
	options.seed = 4;
	options.shuffle = 1;
	options.augmentation = &augmentation;
	options.weights = weights;
	options.context = context;
	options.rank = rank;
	options.n_ranks = n_ranks;
	options.uneven = uneven;
	tn_data_loader *loader;
	assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	return loader;
}

/* One loader for all samples, and one for each rank. */
struct ranks {
	uint32_t n;
	tn_data_loader *whole, *rank[MOST_RANKS];
};

static struct ranks open_ranks(const tn_dataset *dataset, uint32_t n, uint32_t uneven,
			       const double *weights, tn_context *context)
{
	struct ranks ranks = {.n = n, .whole = open_rank(dataset, 0, 1, 0, weights, NULL)};
	for (uint32_t r = 0; r < n; r++)
		ranks.rank[r] = open_rank(dataset, r, n, uneven, weights, context);
	return ranks;
}

static void close_ranks(const struct ranks *ranks)
{
	tn_data_loader_destroy(ranks->whole);
	for (uint32_t r = 0; r < ranks->n; r++)
		tn_data_loader_destroy(ranks->rank[r]);
}

/* The next batch of rank r is its part of the whole's batch. */
static void compare_batch(const struct ranks *ranks, uint32_t r, const struct tn_batch *whole)
{
	struct tn_batch own = {.struct_size = sizeof(own)};
	const uint32_t first = whole->n * r / ranks->n, end = whole->n * (r + 1) / ranks->n;
	assert_ok(tn_data_loader_next(ranks->rank[r], &own, NULL));
	assert_int_equal(own.n, end - first);
	if (!own.n)
		return;
	assert_int_equal(own.n_global, whole->n);
	assert_int_equal(own.index, whole->index);
	assert_int_equal(own.epoch, whole->epoch);
	assert_memory_equal(own.samples, whole->samples + first, own.n * sizeof(*own.samples));
	for (uint32_t i = 0; i < own.n_fields; i++) {
		const size_t size = i ? sizeof(int32_t) : H * W * sizeof(float);
		assert_memory_equal(own.data[i], (const char *)whole->data[i] + first * size,
				    own.n * size);
	}
}

/* The whole's last batch has N % BATCH = 3 samples. */
static void compare_epoch(const struct ranks *ranks, int uneven)
{
	struct tn_batch whole = {.struct_size = sizeof(whole)}, own = whole;
	for (;;) {
		assert_ok(tn_data_loader_next(ranks->whole, &whole, NULL));
		if (!whole.n)
			break;
		if (whole.n < ranks->n && !uneven)
			continue;
		for (uint32_t r = 0; r < ranks->n; r++)
			compare_batch(ranks, r, &whole);
	}
	for (uint32_t r = 0; r < ranks->n; r++) {
		if (tn_data_loader_position(ranks->rank[r]).epoch == whole.epoch) {
			assert_ok(tn_data_loader_next(ranks->rank[r], &own, NULL));
			assert_int_equal(own.n, 0);
		}
		assert_int_equal(tn_data_loader_position(ranks->rank[r]).epoch, whole.epoch + 1);
		assert_int_equal(tn_data_loader_position(ranks->rank[r]).index, 0);
	}
}

static void together_ranks_read_what_one_reads(void **state)
{
	(void)state;
	tn_dataset *dataset = make_dataset();
	for (uint32_t n = 1; n <= MOST_RANKS; n++) {
		for (uint32_t uneven = 0; uneven < 2; uneven++) {
			struct ranks ranks = open_ranks(dataset, n, uneven, NULL, NULL);
			compare_epoch(&ranks, (int)uneven);
			compare_epoch(&ranks, (int)uneven);
			close_ranks(&ranks);
		}
	}
	tn_dataset_destroy(dataset);
}

static void with_weights_and_threads_too(void **state)
{
	(void)state;
	double weights[N];
	tn_dataset *dataset = make_dataset();
	tn_context *context;
	assert_ok(tn_context_open(NULL, &context, NULL));
	for (int i = 0; i < N; i++)
		weights[i] = 1 + i % 3;
	struct ranks ranks = open_ranks(dataset, 2, 0, weights, context);
	compare_epoch(&ranks, 0);
	compare_epoch(&ranks, 0);
	close_ranks(&ranks);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void the_number_of_batches_is_that_which_comes(void **state)
{
	(void)state;
	/* Of 4 full batches and one of 3 samples. */
	static const uint64_t expected[2][MOST_RANKS] = {{4, 4, 4, 4, 4}, {4, 5, 5, 5, 4}};
	tn_dataset *dataset = make_dataset();
	for (uint32_t uneven = 0; uneven < 2; uneven++) {
		for (uint32_t r = 0; r < 4; r++) {
			tn_data_loader *loader = open_rank(dataset, r, 4, uneven, NULL, NULL);
			assert_int_equal(tn_data_loader_batches(loader), expected[uneven][r]);
			tn_data_loader_destroy(loader);
		}
	}
	tn_dataset_destroy(dataset);
}

/* Positions are those of all ranks: a training goes on with another number of them. */
static void a_position_holds_for_any_number_of_ranks(void **state)
{
	(void)state;
	struct tn_batch whole = {.struct_size = sizeof(whole)};
	tn_dataset *dataset = make_dataset();
	struct ranks two = open_ranks(dataset, 2, 0, NULL, NULL);
	struct ranks three = open_ranks(dataset, 3, 0, NULL, NULL);
	for (int i = 0; i < 2; i++) {
		assert_ok(tn_data_loader_next(two.whole, &whole, NULL));
		compare_batch(&two, 0, &whole);
	}
	const struct tn_data_position at = tn_data_loader_position(two.rank[0]);
	assert_int_equal(at.index, 2 * BATCH);
	for (uint32_t r = 0; r < 3; r++)
		assert_ok(tn_data_loader_seek(three.rank[r], at, NULL));
	assert_ok(tn_data_loader_seek(three.whole, at, NULL));
	compare_epoch(&three, 0);
	close_ranks(&two);
	close_ranks(&three);
	tn_dataset_destroy(dataset);
}

static void ranks_that_cannot_be_are_refused(void **state)
{
	(void)state;
	struct tn_error_info error;
	tn_dataset *dataset = make_dataset();
	static const uint32_t wrong[][3] = {{2, 2, 4}, {1, 0, 4}, {0, 5, 4}};
	for (size_t i = 0; i < 3; i++) {
		struct tn_data_loader_options options = tn_data_loader_defaults();
		options.rank = wrong[i][0];
		options.n_ranks = wrong[i][1];
		options.batch_size = wrong[i][2];
		tn_data_loader *loader = NULL;
		assert_int_equal(
			tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error),
			TN_INVALID_ARGUMENT);
		assert_null(loader);
	}
	tn_dataset_destroy(dataset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(together_ranks_read_what_one_reads),
		cmocka_unit_test(with_weights_and_threads_too),
		cmocka_unit_test(the_number_of_batches_is_that_which_comes),
		cmocka_unit_test(a_position_holds_for_any_number_of_ranks),
		cmocka_unit_test(ranks_that_cannot_be_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
