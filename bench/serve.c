/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One frozen network in one thread and in two, each run with one thread of the library:
 *
 *     bench/serve MODEL BATCH
 *
 * They take turns.  It prints, for each pair, runs per second of wall time, microseconds of
 * processor time for a run, and the ratios: of the rates, and of the rates that the processor time
 * allows, which other work on the machine disturbs less; at the end the medians of the ratios.
 * MODEL: as of bench/train.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>
#include <time.h>

#include "networks.h"

enum { MOST = 2, N_PAIRS = 9 };
#define SECONDS 0.5

struct user {
	tn_context *context;
	tn_frozen *frozen;
	tn_array *x, *y;
	double runs;
	double cpu; /* seconds */
};

static double thread_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *run(void *argument)
{
	struct user *user = argument;
	struct tn_frozen_run_options options = tn_frozen_run_defaults();
	options.n_threads = 1;
	user->runs = 0;
	if (tn_frozen_run(user->frozen, user->x, user->y, &options))
		return NULL;
	const double start = network_clock(), cpu = thread_time();
	while (network_clock() - start < SECONDS) {
		for (int i = 0; i < 20; i++) {
			if (tn_frozen_run(user->frozen, user->x, user->y, &options))
				return NULL;
		}
		user->runs += 20;
	}
	user->cpu = thread_time() - cpu;
	return NULL;
}

/* Runs per second of wall time and of processor time. */
static void measure(struct user *users, int n, double *rate, double *own_rate)
{
	pthread_t threads[MOST];
	*rate = *own_rate = 0;
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, &users[i]);
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		*rate += users[i].runs / SECONDS;
		*own_rate += users[i].runs / users[i].cpu;
	}
	printf("threads: %d: %.0f runs/s, %.2f us of a processor; ", n, *rate, n * 1e6 / *own_rate);
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), ascending);
	return values[n / 2];
}

/* One thread and two, in turns. */
static void compare(struct user *users)
{
	double ratios[N_PAIRS], own_ratios[N_PAIRS];
	for (int pair = 0; pair < N_PAIRS; pair++) {
		double rates[MOST], own[MOST];
		for (int i = 0; i < MOST; i++)
			measure(users, i + 1, &rates[i], &own[i]);
		ratios[pair] = rates[1] / rates[0];
		own_ratios[pair] = own[1] / own[0];
		printf("ratio %.2f, of processor time %.2f\n", ratios[pair], own_ratios[pair]);
	}
	printf("median ratio %.2f, of processor time %.2f\n", median(ratios, N_PAIRS),
	       median(own_ratios, N_PAIRS));
}

static int prepare(struct user *users, const struct network *network, int64_t batch)
{
	const struct tn_model_shape *shape = &network->shape;
	const int64_t axes[] = {batch, shape->channels, shape->height, shape->width};
	for (int i = 0; i < MOST; i++) {
		if (tn_context_open(NULL, &users[i].context, NULL))
			return 0;
		users[i].x = tn_random_normal(users[i].context, 4, axes, 0, 1);
	}
	tn_module *net = network_create(users[0].context, network);
	if (!net || tn_module_build(net) || tn_module_freeze(net))
		return 0;
	users[0].frozen = users[1].frozen = tn_frozen_create(net);
	tn_module_destroy(net);
	for (int i = 0; i < MOST; i++) {
		users[i].y = tn_frozen_forward(users[i].frozen, users[i].x);
		if (!users[i].y)
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	struct user users[MOST] = {{0}};
	const struct network network = network_find(argc > 2 ? argv[1] : "");
	if (!network.name || !prepare(users, &network, atoll(argv[2]))) {
		fprintf(stderr, "usage: bench/serve MODEL BATCH\n");
		return 2;
	}
	compare(users);
	tn_frozen_destroy(users[0].frozen);
	for (int i = 0; i < MOST; i++)
		tn_context_close(users[i].context);
	return 0;
}
