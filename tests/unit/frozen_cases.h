/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cases of one frozen network in many threads, which hold on every backend.
 */
#ifndef TN_TESTS_FROZEN_CASES_H
#define TN_TESTS_FROZEN_CASES_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "share_cases.h"

enum { FROZEN_THREADS = 8, FROZEN_SIDE = 6, FROZEN_CLASSES = 3, FROZEN_ROUNDS = 6 };

/* ---- A layer of the program ------------------------------------------------------------------*/

struct frozen_layer {
	double scale;
	pthread_barrier_t *barrier; /* forwards meet here twice, unless NULL */
	int *cancel;                /* forwards set it, unless NULL */
};

static inline tn_array *frozen_layer_forward(tn_module *module, void *state, const tn_array *x)
{
	const struct frozen_layer *layer = state;
	(void)module;
	if (layer->barrier) {
		pthread_barrier_wait(layer->barrier);
		pthread_barrier_wait(layer->barrier);
	}
	if (layer->cancel)
		__atomic_store_n(layer->cancel, 1, __ATOMIC_RELAXED);
	return tn_affine(x, layer->scale, 0);
}

static inline void *frozen_layer_copy(const void *state)
{
	struct frozen_layer *copy = malloc(sizeof(*copy));
	if (copy)
		memcpy(copy, state, sizeof(*copy));
	return copy;
}

static inline tn_module *frozen_layer(tn_context *context, struct frozen_layer layer,
				      int is_repeatable, int is_copied)
{
	const struct tn_module_class class_ = {.struct_size = sizeof(class_),
					       .name = "Scale",
					       .forward = frozen_layer_forward,
					       .destroy = free,
					       .is_repeatable = is_repeatable,
					       .copy = is_copied ? frozen_layer_copy : NULL};
	return tn_module_custom(context, &class_, frozen_layer_copy(&layer));
}

/* ---- A network -------------------------------------------------------------------------------*/

static inline void frozen_add(tn_module *chain, tn_module *member)
{
	assert_ok(tn_module_sequential_add(chain, NULL, member));
}

/* Layers that fold, pack and are tied, and the program's, before all is built. */
static inline tn_module *frozen_chain(tn_context *context, tn_module *own)
{
	tn_module *net = tn_module_sequential(context), *inner = tn_module_sequential(context);
	tn_module *a = tn_module_linear(context, 20, 20, NULL);
	tn_module *b = tn_module_linear(context, 20, 20, NULL);
	assert_ok(tn_module_share_parameter(b, "weight", a, "weight"));
	frozen_add(inner, tn_module_conv2d(context, 5, 5, 3, 3, NULL));
	frozen_add(inner, tn_module_batch_norm2d(context, 5, NULL));
	frozen_add(net, tn_module_conv2d(context, 2, 5, 3, 3, NULL));
	frozen_add(net, tn_module_batch_norm2d(context, 5, NULL));
	frozen_add(net, tn_module_relu(context));
	frozen_add(net, inner);
	frozen_add(net, tn_module_flatten(context));
	frozen_add(net, own);
	frozen_add(net, a);
	frozen_add(net, tn_module_tanh(context));
	frozen_add(net, b);
	frozen_add(net, tn_module_linear(context, 20, FROZEN_CLASSES, NULL));
	return net;
}

static inline tn_module *frozen_net(tn_context *context, struct frozen_layer layer,
				    int is_repeatable)
{
	tn_module *net = frozen_chain(context, frozen_layer(context, layer, is_repeatable, 1));
	struct tn_buffer_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_buffer_at(net, 0, &view));
	assert_ok(tn_fill(view.value, 0.25));
	assert_ok(tn_module_freeze(net));
	return net;
}

static const struct frozen_layer frozen_plain = {.scale = 1.5};

/* n pictures, the same in every context. */
static inline tn_array *frozen_pictures(tn_context *context, int64_t n)
{
	const int64_t shape[] = {n, 2, FROZEN_SIDE, FROZEN_SIDE};
	float values[16 * 2 * FROZEN_SIDE * FROZEN_SIDE];
	for (int64_t i = 0; i < n * 2 * FROZEN_SIDE * FROZEN_SIDE; i++)
		values[i] = (float)((i * 37) % 101 - 50) / 32;
	return tn_from_host(context, TN_F32, 4, shape, values);
}

static inline tn_array *frozen_result(tn_context *context, int64_t n)
{
	return tn_zeros(context, TN_F32, 2, (int64_t[]){n, FROZEN_CLASSES});
}

/* ---- Threads ---------------------------------------------------------------------------------*/

struct frozen_user {
	tn_context *context;
	tn_frozen *frozen;
	uint32_t n_threads;                    /* of each run */
	float expected[3][3 * FROZEN_CLASSES]; /* for 1 to 3 pictures */
};

/* Runs for all numbers of pictures, and compares; 0: a failure, or other bits. */
static inline int frozen_round(const struct frozen_user *user)
{
	struct tn_frozen_run_options options = tn_frozen_run_defaults();
	options.n_threads = user->n_threads;
	int is_right = !tn_scope_begin(user->context);
	for (int n = 1; n <= 3 && is_right; n++) {
		const size_t size = (size_t)n * FROZEN_CLASSES * sizeof(float);
		float found[2][3 * FROZEN_CLASSES] = {{0}};
		const tn_array *x = frozen_pictures(user->context, n);
		tn_array *y = frozen_result(user->context, n);
		is_right = !tn_frozen_run(user->frozen, x, y, &options) &&
			   !tn_to_host(y, found[0], size) &&
			   !tn_to_host(tn_frozen_forward(user->frozen, x), found[1], size) &&
			   !memcmp(found[0], user->expected[n - 1], size) &&
			   !memcmp(found[1], user->expected[n - 1], size);
	}
	tn_scope_end(user->context, NULL);
	return is_right;
}

static inline void *frozen_rounds(void *argument)
{
	const struct frozen_user *user = argument;
	for (int i = 0; i < FROZEN_ROUNDS; i++) {
		if (!frozen_round(user))
			return argument;
	}
	return NULL;
}

/* What the module itself gives. */
static inline void frozen_expect(struct frozen_user *user, tn_module *net)
{
	for (int n = 1; n <= 3; n++)
		assert_ok(tn_to_host(tn_module_forward(net, frozen_pictures(user->context, n)),
				     user->expected[n - 1],
				     (size_t)n * FROZEN_CLASSES * sizeof(float)));
}

static inline void frozen_start(pthread_t *threads, struct frozen_user *users, int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, frozen_rounds, &users[i]), 0);
}

static inline void frozen_join(const pthread_t *threads, const struct frozen_user *users, int n)
{
	for (int i = 0; i < n; i++) {
		void *failed;
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		if (failed)
			fail_msg("thread %d: %s", i, tn_error_text(users[i].context));
	}
}

/* Many threads have the bits of the module, while the module and its context are gone; the first
 * contexts close before the others, and the handle before all. */
static inline void frozen_in_threads(const struct share_backend *backend, int n, int is_repeatable)
{
	tn_context *origin = backend->open(backend->name);
	tn_module *net = frozen_net(origin, frozen_plain, is_repeatable);
	struct frozen_user users[FROZEN_THREADS] = {{.context = origin}};
	pthread_t threads[FROZEN_THREADS];
	frozen_expect(&users[0], net);
	tn_frozen *frozen = tn_frozen_create(net);
	assert_non_null(frozen);
	for (int i = n - 1; i >= 0; i--) {
		users[i] = users[0];
		users[i].context = backend->open(backend->name);
		users[i].frozen = frozen;
		users[i].n_threads = (uint32_t)(i % 3);
	}
	tn_module_destroy(net);
	tn_context_close(origin);
	frozen_start(threads, users, n);
	frozen_join(threads, users, n);
	for (int i = 0; i < n / 2; i++)
		tn_context_close(users[i].context);
	frozen_start(threads, users + n / 2, n - n / 2);
	frozen_join(threads, users + n / 2, n - n / 2);
	tn_frozen_destroy(frozen);
	for (int i = n / 2; i < n - 1; i++)
		tn_context_close(users[i].context);
	backend->close(users[n - 1].context);
}

/* ---- Memory ----------------------------------------------------------------------------------*/

enum { FROZEN_WIDTH = 256, FROZEN_BYTES = 4 * FROZEN_WIDTH * FROZEN_WIDTH };

/* The weights are in the memory of the first context alone, and what a backend makes of them in
 * that of the first which runs. */
static inline void frozen_memory(const struct share_backend *backend)
{
	tn_context *origin = backend->open(backend->name), *others[FROZEN_THREADS];
	tn_module *net = tn_module_sequential(origin);
	frozen_add(net, tn_module_linear(origin, FROZEN_WIDTH, FROZEN_WIDTH, NULL));
	frozen_add(net, tn_module_linear(origin, FROZEN_WIDTH, FROZEN_WIDTH, NULL));
	assert_ok(tn_module_build(net));
	assert_ok(tn_module_freeze(net));
	tn_frozen *frozen = tn_frozen_create(net);
	assert_non_null(frozen);
	tn_module_destroy(net);
	const uint64_t own = share_used(origin);
	assert_true(own >= 2 * FROZEN_BYTES && own < 3 * FROZEN_BYTES);
	for (int i = 0; i < FROZEN_THREADS; i++) {
		others[i] = backend->open(backend->name);
		tn_array *x = tn_ones(others[i], TN_F32, 2, (int64_t[]){8, FROZEN_WIDTH});
		assert_non_null(tn_frozen_forward(frozen, x));
		assert_non_null(tn_frozen_forward(frozen, x));
		/* Workspace, and in the first the packed weights, which the reference has in
		 * f64. */
		assert_true(share_used(others[i]) < (i ? 1 : 5) * FROZEN_BYTES);
	}
	tn_frozen_destroy(frozen);
	for (int i = 0; i < FROZEN_THREADS; i++)
		tn_context_close(others[i]);
	assert_true(share_used(origin) < FROZEN_BYTES / 8);
	backend->close(origin);
}

/* ---- The end ---------------------------------------------------------------------------------*/

static inline void *frozen_forward_once(void *argument)
{
	const struct frozen_user *user = argument;
	return tn_frozen_forward(user->frozen, frozen_pictures(user->context, 2)) ? NULL : argument;
}

/* The handle ends in the midst of a run, which goes on to its end. */
static inline void frozen_ends_during_a_run(const struct share_backend *backend)
{
	pthread_barrier_t barrier;
	pthread_t thread;
	void *failed;
	pthread_barrier_init(&barrier, NULL, 2);
	tn_context *origin = backend->open(backend->name), *other = backend->open(backend->name);
	const struct frozen_layer layer = {.scale = 1, .barrier = &barrier};
	tn_module *net = frozen_net(origin, layer, 0);
	struct frozen_user user = {.context = other, .frozen = tn_frozen_create(net)};
	assert_non_null(user.frozen);
	assert_int_equal(pthread_create(&thread, NULL, frozen_forward_once, &user), 0);
	pthread_barrier_wait(&barrier);
	tn_frozen_destroy(user.frozen);
	tn_module_destroy(net);
	tn_context_close(origin);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	pthread_barrier_destroy(&barrier);
	backend->close(other);
}

/* ---- Graphs ----------------------------------------------------------------------------------*/

/* A captured run goes on reading the weights when the network, its origin and the context's view of
 * it are gone. */
static inline void frozen_is_kept_by_graphs(const struct share_backend *backend)
{
	float expected[2 * FROZEN_CLASSES], found[2 * FROZEN_CLASSES];
	tn_graph *graph = NULL;
	tn_context *origin = backend->open(backend->name), *taker = backend->open(backend->name);
	tn_module *nets[] = {frozen_net(origin, frozen_plain, 1),
			     frozen_net(taker, frozen_plain, 1)};
	tn_frozen *frozen = tn_frozen_create(nets[0]), *next = tn_frozen_create(nets[1]);
	tn_array *x = frozen_pictures(taker, 2), *y = frozen_result(taker, 2);
	assert_ok(tn_frozen_run(frozen, x, y, NULL));
	assert_ok(tn_to_host(y, expected, sizeof(expected)));
	assert_ok(tn_capture_begin(taker));
	assert_ok(tn_frozen_run(frozen, x, y, NULL));
	assert_ok(tn_capture_end(taker, &graph));
	tn_frozen_destroy(frozen);
	tn_module_destroy(nets[0]);
	tn_context_close(origin);
	assert_non_null(tn_frozen_forward(next, x)); /* frees the view of the other */
	assert_ok(tn_fill(y, 7));
	assert_ok(tn_graph_replay(graph));
	assert_ok(tn_to_host(y, found, sizeof(found)));
	assert_memory_equal(found, expected, sizeof(found));
	tn_graph_destroy(graph);
	tn_frozen_destroy(next);
	tn_module_destroy(nets[1]);
	backend->close(taker);
}

/* ---- Cancelling ------------------------------------------------------------------------------*/

static inline void frozen_is_cancelled(const struct share_backend *backend)
{
	struct tn_frozen_run_options options = tn_frozen_run_defaults();
	int cancel = 1;
	tn_context *context = backend->open(backend->name);
	for (int during = 0; during < 2; during++) {
		const struct frozen_layer layer = {.scale = 1, .cancel = during ? &cancel : NULL};
		tn_module *net = frozen_net(context, layer, !during);
		tn_frozen *frozen = tn_frozen_create(net);
		tn_array *x = frozen_pictures(context, 2), *y = frozen_result(context, 2);
		options.cancel = &cancel;
		__atomic_store_n(&cancel, !during, __ATOMIC_RELAXED);
		assert_status(tn_frozen_run(frozen, x, y, &options), TN_CANCELLED);
		assert_null(tn_error(context));
		__atomic_store_n(&cancel, 0, __ATOMIC_RELAXED);
		assert_status(tn_frozen_run(frozen, x, y, &options), during ? TN_CANCELLED : TN_OK);
		assert_ok(tn_frozen_run(frozen, x, y, NULL));
		__atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
		assert_status(tn_frozen_run(frozen, x, y, &options), TN_CANCELLED);
		tn_frozen_destroy(frozen);
		tn_module_destroy(net);
	}
	backend->close(context);
}

#endif
