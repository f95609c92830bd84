/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cases of arrays that contexts share or hand over, which hold on every backend.  Each takes two
 * functions of the backend: one opens a context, the other closes it.
 */
#ifndef TN_TESTS_SHARE_CASES_H
#define TN_TESTS_SHARE_CASES_H

#include <pthread.h>
#include <tenon/tenon.h>

#include "array/array.h"
#include "kept_error.h"

enum { SHARE_THREADS = 8, SHARE_N = 300, SHARE_ROUNDS = 20 };

struct share_backend {
	const char *name;
	tn_context *(*open)(const char *name);
	void (*close)(tn_context *context); /* the last one of a case */
};

/* The device's memory in use, after what others have given back was taken in. */
static inline uint64_t share_used(tn_context *context)
{
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	assert_ok(tn_synchronize(context));
	tn_device_get_memory_use(tn_device_current(context), &use);
	return use.used;
}

/* 0, 1, ..., n - 1. */
static inline tn_array *share_line(tn_context *context, int n)
{
	float values[SHARE_N];
	for (int i = 0; i < n; i++)
		values[i] = (float)i;
	return tn_from_host(context, TN_F32, 1, (int64_t[]){n}, values);
}

static inline double share_sum(const tn_array *array)
{
	double sum = -1;
	tn_array *total = tn_sum(array, TN_ALL_AXES, NULL, 0);
	if (tn_item(total, &sum))
		sum = -1;
	tn_array_destroy(total);
	return sum;
}

static inline void *share_address(const tn_array *array)
{
	return (void *)(uintptr_t)(array->storage->block.buffer + array->storage->block.offset);
}

/* ---- Threads that read -----------------------------------------------------------------------*/

struct share_reader {
	tn_context *context;
	tn_shared *shared;
	const void *address;
	pthread_t thread;
	int failed;
};

/* An array comes and goes; another one stays until the context closes. */
static inline void *share_read(void *argument)
{
	struct share_reader *reader = argument;
	tn_array *all = tn_shared_array(reader->context, reader->shared);
	reader->failed = !all || share_address(all) != reader->address;
	for (int round = 0; round < SHARE_ROUNDS && !reader->failed; round++) {
		tn_array *v = tn_shared_array(reader->context, reader->shared);
		tn_array *square = tn_multiply(v, v);
		reader->failed = share_sum(v) != 44850 || share_sum(square) != 8955050 ||
				 share_sum(all) != 44850;
		tn_array_destroy(v);
		tn_array_destroy(square);
	}
	return NULL;
}

static inline void share_between_threads(const struct share_backend *backend)
{
	struct share_reader readers[SHARE_THREADS];
	tn_context *origin = backend->open(backend->name);
	tn_array *line = share_line(origin, SHARE_N);
	const uint64_t used = share_used(origin);
	tn_shared *shared = tn_share(line);
	assert_non_null(shared);
	for (int i = 0; i < SHARE_THREADS; i++)
		readers[i] = (struct share_reader){.context = backend->open(backend->name),
						   .shared = shared,
						   .address = share_address(line)};
	for (int i = 0; i < SHARE_THREADS; i++)
		assert_int_equal(pthread_create(&readers[i].thread, NULL, share_read, &readers[i]),
				 0);
	for (int round = 0; round < SHARE_ROUNDS; round++)
		assert_true(share_sum(line) == 44850);
	tn_array_destroy(line);
	for (int i = 0; i < SHARE_THREADS; i++) {
		assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
		assert_null(tn_error(readers[i].context));
		assert_false(readers[i].failed);
		assert_int_equal(share_used(readers[i].context), 0);
	}
	tn_shared_destroy(shared);
	for (int i = 0; i < SHARE_THREADS; i++) {
		assert_int_equal(share_used(origin), used);
		tn_context_close(readers[i].context);
	}
	assert_int_equal(share_used(origin), 0);
	backend->close(origin);
}

/* ---- The end ---------------------------------------------------------------------------------*/

enum { SHARE_ARRAY, SHARE_HANDLE, SHARE_ORIGIN, SHARE_TAKEN, SHARE_TAKER, SHARE_ENDS };

/* Order number `n` of all. */
static inline void share_order(int n, int order[SHARE_ENDS])
{
	for (int i = 0; i < SHARE_ENDS; i++)
		order[i] = i;
	for (int i = SHARE_ENDS; i > 1; n /= i, i--) {
		const int k = n % i, last = order[i - 1];
		order[i - 1] = order[k];
		order[k] = last;
	}
}

static inline void *share_end_handle(void *shared)
{
	tn_shared_destroy(shared);
	return NULL;
}

/* What is destroyed, closed, or ends in another thread. */
static inline void share_end_all(const struct share_backend *backend, const int *order)
{
	tn_context *origin = backend->open(backend->name), *taker = backend->open(backend->name);
	tn_array *line = share_line(origin, SHARE_N);
	tn_shared *shared = tn_share(line);
	tn_array *taken = tn_shared_array(taker, shared);
	int has_ended[SHARE_ENDS] = {0};
	pthread_t thread;
	for (int i = 0; i < SHARE_ENDS; i++) {
		has_ended[order[i]] = 1;
		if (order[i] == SHARE_HANDLE) {
			assert_int_equal(pthread_create(&thread, NULL, share_end_handle, shared),
					 0);
			assert_int_equal(pthread_join(thread, NULL), 0);
		} else if (order[i] == SHARE_ARRAY && !has_ended[SHARE_ORIGIN]) {
			tn_array_destroy(line);
		} else if (order[i] == SHARE_TAKEN && !has_ended[SHARE_TAKER]) {
			assert_true(share_sum(taken) == 44850);
			tn_array_destroy(taken);
		} else if (order[i] == SHARE_ORIGIN) {
			(i == SHARE_ENDS - 1 ? backend->close : tn_context_close)(origin);
		} else if (order[i] == SHARE_TAKER) {
			(i == SHARE_ENDS - 1 ? backend->close : tn_context_close)(taker);
		}
		if (!has_ended[SHARE_TAKEN] && !has_ended[SHARE_TAKER])
			assert_true(share_sum(taken) == 44850);
		if (!has_ended[SHARE_ORIGIN])
			assert_int_equal(share_used(origin) == 0, has_ended[SHARE_ARRAY] &&
									  has_ended[SHARE_HANDLE] &&
									  (has_ended[SHARE_TAKEN] ||
									   has_ended[SHARE_TAKER]));
	}
}

/* Every `step`th of the 120 orders. */
static inline void share_ends_in_any_order(const struct share_backend *backend, int step)
{
	for (int n = 0; n < 120; n += step) {
		int order[SHARE_ENDS];
		share_order(n, order);
		share_end_all(backend, order);
	}
}

/* Memory that queued work of the taker still reads is not the origin's to use again. */
static inline void share_ends_after_the_work(const struct share_backend *backend)
{
	tn_context *origin = backend->open(backend->name), *taker = backend->open(backend->name);
	tn_array *line = share_line(origin, SHARE_N);
	tn_shared *shared = tn_share(line);
	tn_array *taken = tn_shared_array(taker, shared);
	void *address = share_address(line);
	tn_array_destroy(line);
	tn_shared_destroy(shared);
	tn_array *square = tn_multiply(taken, taken);
	tn_array_destroy(taken);
	assert_int_equal(share_used(origin), 0);
	tn_array *next = tn_full(origin, TN_F32, 1, (int64_t[]){SHARE_N}, 7);
	assert_ptr_equal(share_address(next), address);
	assert_true(share_sum(next) == 7 * SHARE_N);
	assert_true(share_sum(square) == 8955050);
	tn_context_close(origin);
	backend->close(taker);
}

/* ---- Graphs ----------------------------------------------------------------------------------*/

/* A step that reads the memory through a map, a product and a copy. */
static inline void share_step(tn_array *sum, tn_array *product, const tn_array *taken)
{
	tn_array *row = tn_reshape(taken, 2, (int64_t[]){1, SHARE_N});
	tn_array *column = tn_reshape(taken, 2, (int64_t[]){SHARE_N, 1});
	assert_ok(tn_add_into(sum, taken, sum));
	assert_ok(tn_matmul_into(product, row, 0, column, 0, 1, 0));
	tn_array_destroy(tn_copy(taken));
	tn_array_destroy(row);
	tn_array_destroy(column);
}

/* A graph goes on reading memory whose array, handle and, of another context, origin are gone; it
 * goes back when the graph ends. */
static inline void share_is_kept_by_graphs(const struct share_backend *backend)
{
	for (int is_own = 0; is_own < 2; is_own++) {
		tn_graph *graph = NULL;
		double product = -1;
		tn_context *origin = backend->open(backend->name);
		tn_context *taker = is_own ? origin : backend->open(backend->name);
		tn_array *sum = tn_zeros(taker, TN_F32, 1, (int64_t[]){SHARE_N});
		tn_array *square = tn_zeros(taker, TN_F32, 2, (int64_t[]){1, 1});
		tn_array *line = share_line(origin, SHARE_N);
		tn_shared *shared = tn_share(line);
		tn_array *taken = is_own ? line : tn_shared_array(taker, shared);
		share_step(sum, square, taken);
		assert_ok(tn_fill(sum, 0));
		assert_ok(tn_capture_begin(taker));
		share_step(sum, square, taken);
		assert_ok(tn_capture_end(taker, &graph));
		const uint64_t used = share_used(origin);
		tn_array_destroy(taken);
		tn_shared_destroy(shared);
		if (!is_own) {
			tn_array_destroy(line);
			assert_int_equal(share_used(origin), used);
			assert_non_null(tn_full(origin, TN_F32, 1, (int64_t[]){SHARE_N}, 9));
			tn_context_close(origin);
		}
		assert_non_null(tn_full(taker, TN_F32, 1, (int64_t[]){SHARE_N}, 7));
		for (int round = 0; round < 3; round++)
			assert_ok(tn_graph_replay(graph));
		assert_true(share_sum(sum) == 3 * 44850);
		assert_ok(tn_item(square, &product));
		assert_true(product == 8955050);
		tn_graph_destroy(graph);
		backend->close(taker);
	}
}

/* ---- Handing over ----------------------------------------------------------------------------*/

static inline void share_hands_over(const struct share_backend *backend)
{
	tn_context *contexts[2] = {backend->open(backend->name), backend->open(backend->name)};
	tn_array *line = share_line(contexts[0], SHARE_N);
	void *address = share_address(line);
	const uint64_t used = share_used(contexts[0]);
	for (int round = 0; round < 5; round++) {
		tn_context *to = contexts[(round + 1) % 2];
		tn_shared *shared = tn_hand_over(line);
		assert_non_null(shared);
		line = tn_shared_array(to, shared);
		assert_non_null(line);
		assert_ptr_equal(share_address(line), address);
		assert_null(tn_shared_array(contexts[round % 2], shared));
		assert_error(contexts[round % 2], TN_STATE, "shared_array",
			     "a context has taken it already");
		tn_shared_destroy(shared);
		assert_ok(tn_add_into(line, line, line));
		assert_true(share_sum(line) == 44850 * (2 << round));
		assert_int_equal(share_used(contexts[0]), used);
		assert_int_equal(share_used(contexts[1]), 0);
	}
	tn_array_destroy(line);
	assert_int_equal(share_used(contexts[0]), 0);
	tn_shared_destroy(tn_hand_over(share_line(contexts[0], SHARE_N)));
	assert_int_equal(share_used(contexts[0]), 0);
	tn_context_close(contexts[0]);
	backend->close(contexts[1]);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

/* An array of 4 numbers that must not be written, of 2 x 2 too, and what is written into it. */
struct share_target {
	tn_context *context;
	tn_array *a, *square, *values, *indices, *mask;
};

typedef tn_status share_write(const struct share_target *t);

static inline tn_status share_write_assign(const struct share_target *t)
{
	return tn_assign(t->a, t->values);
}
static inline tn_status share_write_assign_host(const struct share_target *t)
{
	return tn_assign_host(t->a, (float[4]){1, 2, 3, 4}, 16);
}
static inline tn_status share_write_assign_host_async(const struct share_target *t)
{
	tn_host_buffer *buffer = tn_host_buffer_create(tn_device_current(t->context), 16);
	tn_status status = tn_assign_host_async(t->a, buffer, 0);
	tn_host_buffer_destroy(buffer);
	return status;
}
static inline tn_status share_write_fill(const struct share_target *t)
{
	return tn_fill(t->a, 3);
}
static inline tn_status share_write_fill_number(const struct share_target *t)
{
	return tn_fill_number(t->a, tn_number_f64(3));
}
static inline tn_status share_write_view(const struct share_target *t)
{
	return tn_fill(tn_slice(t->a, 0, 1, 3, 1), 3);
}
static inline tn_status share_write_add(const struct share_target *t)
{
	return tn_add_into(t->a, t->values, t->values);
}
static inline tn_status share_write_subtract(const struct share_target *t)
{
	return tn_subtract_into(t->a, t->a, t->values);
}
static inline tn_status share_write_multiply(const struct share_target *t)
{
	return tn_multiply_into(t->a, t->values, t->a);
}
static inline tn_status share_write_matmul(const struct share_target *t)
{
	tn_array *b = tn_reshape(t->values, 2, (int64_t[]){2, 2});
	return tn_matmul_into(t->square, b, 0, b, 0, 1, 0);
}
static inline tn_status share_write_index_put(const struct share_target *t)
{
	return tn_index_put(t->a, 1, (struct tn_index_term[]){TN_SLICE(0, 4, 1)}, t->values,
			    TN_PUT_ASSIGN);
}
static inline tn_status share_write_put(const struct share_target *t)
{
	return tn_put(t->a, t->indices, t->values, TN_RAISE);
}
static inline tn_status share_write_put_along_axis(const struct share_target *t)
{
	return tn_put_along_axis(t->a, t->indices, t->values, 0);
}
static inline tn_status share_write_place(const struct share_target *t)
{
	return tn_place(t->a, t->mask, t->values);
}
static inline tn_status share_write_putmask(const struct share_target *t)
{
	return tn_putmask(t->a, t->mask, t->values);
}
static inline tn_status share_write_copyto(const struct share_target *t)
{
	return tn_copyto(t->a, t->values, t->mask);
}
static inline tn_status share_write_fill_diagonal(const struct share_target *t)
{
	return tn_fill_diagonal(t->square, t->values, 0);
}
static inline tn_status share_write_init_zeros(const struct share_target *t)
{
	return tn_init_zeros(t->a);
}
static inline tn_status share_write_init_constant(const struct share_target *t)
{
	return tn_init_constant(t->a, 2);
}
static inline tn_status share_write_init_uniform(const struct share_target *t)
{
	return tn_init_uniform(t->a, 0, 1);
}
static inline tn_status share_write_init_normal(const struct share_target *t)
{
	return tn_init_normal(t->a, 0, 1);
}
static inline tn_status share_write_init_trunc_normal(const struct share_target *t)
{
	return tn_init_trunc_normal(t->a, 0, 1, -2, 2);
}
static inline tn_status share_write_init_xavier(const struct share_target *t)
{
	return tn_init_xavier_uniform(t->square, 1);
}
static inline tn_status share_write_init_kaiming(const struct share_target *t)
{
	return tn_init_kaiming_normal(t->square, NULL);
}
static inline tn_status share_write_init_orthogonal(const struct share_target *t)
{
	return tn_init_orthogonal(t->square, 1);
}
static inline tn_status share_write_init_dirac(const struct share_target *t)
{
	return tn_init_dirac(tn_reshape(t->a, 3, (int64_t[]){2, 2, 1}), 1);
}
static inline tn_status share_write_init_by_activation(const struct share_target *t)
{
	return tn_init_by_activation(t->square, NULL, TN_NONLINEARITY_RELU);
}
static inline tn_status share_write_shuffle(const struct share_target *t)
{
	return tn_generator_shuffle(tn_default_generator(t->context), t->a, 0);
}
static inline tn_status share_write_ufunc_at(const struct share_target *t)
{
	return tn_ufunc_at(tn_ufunc_find("add"), t->a, t->indices, t->values);
}
static inline tn_status share_status(const struct share_target *t, const tn_array *made)
{
	return made ? TN_OK : tn_error(t->context)->status;
}
static inline tn_status share_write_ufunc_call(const struct share_target *t)
{
	const tn_array *both[] = {t->values, t->values};
	struct tn_ufunc_options options = tn_ufunc_defaults();
	options.out = t->a;
	return share_status(t, tn_ufunc_call(tn_ufunc_find("add"), 2, both, &options));
}
static inline tn_status share_write_ufunc_reduce(const struct share_target *t)
{
	struct tn_ufunc_options options = tn_ufunc_defaults();
	options.out = tn_slice(t->a, 0, 0, 2, 1);
	return share_status(t, tn_ufunc_reduce(tn_ufunc_find("add"),
					       tn_reshape(t->values, 2, (int64_t[]){2, 2}), 1,
					       (int[]){0}, 0, &options));
}
static inline tn_status share_write_ufunc_accumulate(const struct share_target *t)
{
	struct tn_ufunc_options options = tn_ufunc_defaults();
	options.out = t->a;
	return share_status(t, tn_ufunc_accumulate(tn_ufunc_find("add"), t->values, 0, &options));
}
static inline tn_status share_write_gradient(const struct share_target *t)
{
	int filled = 1;
	tn_tape *tape = tn_tape_begin(t->context);
	tn_status status = tn_tape_watch_into(tape, t->values, t->a, &filled);
	tn_array *y = tn_sum(tn_multiply(t->values, t->values), TN_ALL_AXES, NULL, 0);
	if (!status)
		status = tn_tape_backward(tape, y, NULL);
	tn_tape_end(tape);
	return status;
}
static inline tn_status share_write_first_gradient(const struct share_target *t)
{
	int filled = 0;
	tn_tape *tape = tn_tape_begin(t->context);
	tn_status status = tn_tape_watch_into(tape, t->values, t->a, &filled);
	tn_array *y = tn_sum(tn_multiply(t->values, t->values), TN_ALL_AXES, NULL, 0);
	if (!status)
		status = tn_tape_backward(tape, y, NULL);
	tn_tape_end(tape);
	return status;
}
static inline tn_status share_write_with_ranks(const struct share_target *t, int reduces)
{
	const struct tn_communicator_options none = {.struct_size = sizeof(none), .name = "none"};
	tn_communicator *ranks = NULL;
	tn_status status = tn_communicator_open(t->context, &none, &ranks, NULL);
	if (!status)
		status = reduces ? tn_all_reduce(ranks, t->a, TN_COMBINE_SUM)
				 : tn_broadcast(ranks, t->a, 0);
	tn_communicator_close(ranks);
	return status;
}
static inline tn_status share_write_broadcast(const struct share_target *t)
{
	return share_write_with_ranks(t, 0);
}
static inline tn_status share_write_all_reduce(const struct share_target *t)
{
	return share_write_with_ranks(t, 1);
}
static inline tn_status share_write_hand_over(const struct share_target *t)
{
	return tn_hand_over(t->a) ? TN_OK : tn_error(t->context)->status;
}

/* Every function that writes an array that it is given, and the operation that it names. */
static const struct share_writer {
	const char *operation;
	share_write *write;
} share_writers[] = {
	{"copy", share_write_assign},
	{"assign_host", share_write_assign_host},
	{"assign_host_async", share_write_assign_host_async},
	{"fill", share_write_fill},
	{"fill", share_write_fill_number},
	{"fill", share_write_view},
	{"add", share_write_add},
	{"subtract", share_write_subtract},
	{"multiply", share_write_multiply},
	{"matmul", share_write_matmul},
	{"index_put", share_write_index_put},
	{"put", share_write_put},
	{"put_along_axis", share_write_put_along_axis},
	{"place", share_write_place},
	{"putmask", share_write_putmask},
	{"copyto", share_write_copyto},
	{"fill_diagonal", share_write_fill_diagonal},
	{"init_constant", share_write_init_zeros},
	{"init_constant", share_write_init_constant},
	{"init_uniform", share_write_init_uniform},
	{"init_normal", share_write_init_normal},
	{"init_trunc_normal", share_write_init_trunc_normal},
	{"init_xavier_uniform", share_write_init_xavier},
	{"init_kaiming_normal", share_write_init_kaiming},
	{"init_orthogonal", share_write_init_orthogonal},
	{"init_dirac", share_write_init_dirac},
	{"init_kaiming_normal", share_write_init_by_activation},
	{"shuffle", share_write_shuffle},
	{"add", share_write_ufunc_at},
	{"add", share_write_ufunc_call},
	{"add", share_write_ufunc_reduce},
	{"add", share_write_ufunc_accumulate},
	{"add", share_write_gradient},
	{"copy", share_write_first_gradient},
	{"broadcast", share_write_broadcast},
	{"all_reduce", share_write_all_reduce},
	{"hand_over", share_write_hand_over},
};

static inline void share_check_writers(tn_context *context, tn_array *a)
{
	for (size_t i = 0; i < sizeof(share_writers) / sizeof(share_writers[0]); i++) {
		const struct share_writer *row = &share_writers[i];
		assert_ok(tn_scope_begin(context));
		const struct share_target target = {
			.context = context,
			.a = a,
			.square = tn_reshape(a, 2, (int64_t[]){2, 2}),
			.values = tn_full(context, TN_F32, 1, (int64_t[]){4}, 7),
			.indices = tn_from_host(context, TN_I64, 1, (int64_t[]){4},
						(int64_t[]){3, 2, 1, 0}),
			.mask = tn_ones(context, TN_BOOL, 1, (int64_t[]){4})};
		tn_status status = row->write(&target);
		if (status != TN_STATE)
			fail_msg("writer %zu (%s): %s", i, row->operation, tn_status_name(status));
		assert_error(context, TN_STATE, row->operation,
			     "shared with other contexts, and constant");
		tn_scope_end(context, NULL);
	}
	assert_true(share_sum(a) == 6);
}

static inline void share_refuses_writers(const struct share_backend *backend)
{
	tn_context *origin = backend->open(backend->name), *taker = backend->open(backend->name);
	tn_array *line = share_line(origin, 4);
	tn_shared *shared = tn_share(line);
	tn_array *taken = tn_shared_array(taker, shared);
	share_check_writers(origin, line);
	share_check_writers(taker, taken);
	share_check_writers(origin, tn_shared_array(origin, shared));
	tn_shared_destroy(shared);
	share_check_writers(origin, line);
	tn_context_close(taker);
	backend->close(origin);
}

#endif
