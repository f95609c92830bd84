/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A small server: threads take requests from a queue and answer them with one network.  Each thread
 * has a context of its own; the weights are in memory once.
 *
 *     cc serve.c $(pkg-config --cflags --libs tenon) -lpthread -o serve && ./serve
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

enum { THREADS = 8, REQUESTS = 400, INPUTS = 16, CLASSES = 4 };

struct request {
	float x[INPUTS];
	float y[CLASSES];
};

static struct request queue[REQUESTS];
static atomic_int next_request; /* of the queue */
static atomic_int n_answered;
static int stop; /* the server is to end; written atomically */
static tn_frozen *network;

/* Answers requests until there are none.  x and y are the thread's own, and are used again. */
static void answer_requests(tn_context *context)
{
	tn_array *x = tn_zeros(context, TN_F32, 2, (int64_t[]){1, INPUTS});
	tn_array *y = tn_zeros(context, TN_F32, 2, (int64_t[]){1, CLASSES});
	struct tn_frozen_run_options options = tn_frozen_run_defaults();
	options.n_threads = 1; /* other requests have the other processors */
	options.cancel = &stop;
	for (int i; (i = atomic_fetch_add(&next_request, 1)) < REQUESTS;) {
		struct request *request = &queue[i];
		if (tn_assign_host(x, request->x, sizeof(request->x)) ||
		    tn_frozen_run(network, x, y, &options) ||
		    tn_to_host(y, request->y, sizeof(request->y)))
			break;
		atomic_fetch_add(&n_answered, 1);
	}
	if (tn_error(context))
		fprintf(stderr, "%s\n", tn_error_text(context));
}

static void *serve(void *argument)
{
	tn_context *context = NULL;
	struct tn_error_info error;
	if (tn_context_open(argument, &context, &error))
		fprintf(stderr, "%s\n", error.text);
	else
		answer_requests(context);
	tn_context_close(context);
	return NULL;
}

/* The network, whose own context and module are needed no more afterwards. */
static tn_frozen *make_network(void)
{
	tn_context *context = NULL;
	if (tn_context_open(NULL, &context, NULL))
		return NULL;
	tn_module *net = tn_module_sequential(context);
	tn_module_sequential_add(net, "fc1", tn_module_linear(context, INPUTS, 32, NULL));
	tn_module_sequential_add(net, "act", tn_module_relu(context));
	tn_module_sequential_add(net, "fc2", tn_module_linear(context, 32, CLASSES, NULL));
	/* A server loads weights here: tn_module_load. */
	if (tn_module_build(net) || tn_module_freeze(net))
		fprintf(stderr, "%s\n", tn_error_text(context));
	tn_frozen *frozen = tn_frozen_create(net);
	tn_module_destroy(net);
	tn_context_close(context);
	return frozen;
}

int main(void)
{
	pthread_t threads[THREADS];
	int n = 0;
	network = make_network();
	if (!network)
		return 1;
	for (int i = 0; i < REQUESTS * INPUTS; i++)
		queue[i / INPUTS].x[i % INPUTS] = (float)(i % INPUTS);
	while (n < THREADS && !pthread_create(&threads[n], NULL, serve, NULL))
		n++;
	/* To end at once: __atomic_store_n(&stop, 1, __ATOMIC_RELAXED). */
	while (n > 0)
		pthread_join(threads[--n], NULL);
	tn_frozen_destroy(network);
	/* Equal requests have equal answers, in whichever thread. */
	for (int i = 1; i < REQUESTS; i++)
		n += memcmp(queue[i].y, queue[0].y, sizeof(queue[i].y)) != 0;
	printf("%d answers, %d differ\n", atomic_load(&n_answered), n);
	return n || atomic_load(&n_answered) != REQUESTS;
}
