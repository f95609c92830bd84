/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Several instances, and several devices of one instance (or one device opened twice), each used by
 * its own thread: the results must equal those of a single one.
 */
#include <pthread.h>
#include <time.h>

#include "context.h"
#include "instance.h"
#include "loader/slots.h"
#include "samples.h"
#include "slots.h"
#include "sweep.h"

/* Threads collide by chance, so they run for a while, on different data, so that using another
 * thread's data changes the numbers. */
enum { THREADS = 4, LEAST_ROUNDS = 12, SLOTS = 32, LASTS_MS = 300 };

struct worker {
	pthread_t thread;
	struct kit *like;
	struct instance instance;
	uint32_t index; /* of the device */
	int shares;     /* the instance of `like`, with its own device */
	uint64_t number;
	int opened;
	pthread_barrier_t *ready;
	void (*run)(struct worker *worker);
};

struct first {
	struct sample sample;
	unsigned char *result; /* NULL: not finished */
};

/* slot TN_SLOT_COUNT: a large product. */
static void make_first(struct kit *kit, struct first *first, int slot)
{
	size_t size;
	if (slot == TN_SLOT_COUNT)
		sample_make_large_product(kit, &first->sample, "large, in several threads");
	else
		sample_make(kit, &first->sample, slot, "in several threads");
	first->result = NULL;
	if (!sample_run(&first->sample))
		first->result = sample_result(&first->sample, &size);
}

static double milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void stress(struct worker *worker)
{
	struct kit *kit = &worker->instance.kit;
	const double begin = milliseconds(), lasts = kit_share(kit, LASTS_MS);
	struct first *all = calloc(SLOTS, sizeof(*all));
	int n = 0;
	if (!all)
		kit_give_up(kit, "the kit is out of memory");
	if (kit->description.matmul_dtypes)
		make_first(kit, &all[n++], TN_SLOT_COUNT);
	for (int slot = sample_next(kit, -1); slot >= 0 && n < SLOTS; slot = sample_next(kit, slot))
		make_first(kit, &all[n++], slot);
	for (int round = 0; round < LEAST_ROUNDS || milliseconds() - begin < lasts; round++) {
		for (int i = 0; i < n; i++) {
			int slot = all[i].sample.slot;
			kit_case(kit, slot, "%s: in several threads", tn_slots[slot].name);
			if (all[i].result && !sample_run(&all[i].sample))
				sample_expect_same(&all[i].sample, all[i].result, kit->check->id);
		}
	}
	for (int i = 0; i < n; i++) {
		sample_free(&all[i].sample);
		free(all[i].result);
	}
	free(all);
}

/* Arrays of lengths at which backends begin to use memory or threads of their own; each case begins
 * at the same time in all threads, with other data, and compares its results as in a sweep. */
static void run_sizes(struct worker *worker)
{
	enum { FIRST = 8, LENGTHS = 11 };
	static const tn_dtype dtypes[] = {TN_F32, TN_I32};
	static const struct {
		const struct sweep *sweep;
		uint32_t axis;
	} rows[] = {
		{&sweep_of_map, 1},    {&sweep_of_reduce, 2},      {&sweep_of_matmul, 2},
		{&sweep_of_matmul, 4}, {&sweep_of_copy, 0},        {&sweep_of_gather, 1},
		{&sweep_of_gather, 3}, {&sweep_of_scatter_add, 3}, {&sweep_of_scatter, 3},
		{&sweep_of_sort, 1},   {&sweep_of_scan, 1},
	};
	struct kit *kit = &worker->instance.kit;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int turn = 0; turn < 2 * LENGTHS; turn++) {
			const struct sweep *sweep = rows[i].sweep;
			const tn_dtype dtype = dtypes[turn % 2];
			int64_t lengths[SWEEP_AXES];
			for (uint32_t a = 0; a < sweep->n_axes; a++)
				lengths[a] = sweep->axes[a].base;
			lengths[rows[i].axis] = (INT64_C(1) << (FIRST + turn / 2)) + 1;
			pthread_barrier_wait(worker->ready);
			if (kit_reaches(kit, (uint64_t)sweep->work(lengths)) &&
			    tn_backend_has(kit->backend, (enum tn_slot)sweep->slot) &&
			    kit_claims_storage(kit, dtype) && sweep->claims(kit, dtype))
				sweep->run(kit, sweep, dtype, lengths);
		}
	}
}

/* create and destroy are called by one thread. */
static void *work(void *argument)
{
	struct worker *worker = argument;
	struct kit *kit = &worker->instance.kit;
	worker->opened =
		worker->shares || !instance_open(&worker->instance, worker->like, worker->index);
	kit->seed = worker->like->seed + 1000003 * (worker->number + 1);
	pthread_barrier_wait(worker->ready);
	if (worker->opened)
		worker->run(worker);
	else
		kit_fail(kit, "%s: %s", worker->instance.stage, kit->error.text);
	if (worker->opened && !worker->shares)
		instance_close(&worker->instance);
	return NULL;
}

static void run_all(struct kit *kit, struct worker *workers, int n,
		    void (*run)(struct worker *worker))
{
	pthread_barrier_t ready;
	if (pthread_barrier_init(&ready, NULL, (unsigned)n))
		kit_give_up(kit, "cannot create a barrier");
	for (int i = 0; i < n; i++) {
		workers[i].ready = &ready;
		workers[i].number = (uint64_t)i;
		workers[i].like = kit;
		workers[i].run = run;
		/* The threads already created would wait for this one for ever. */
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			kit_give_up(kit, "cannot create a thread");
	}
	for (int i = 0; i < n; i++) {
		pthread_join(workers[i].thread, NULL);
		instance_report(&workers[i].instance, kit);
	}
	pthread_barrier_destroy(&ready);
	kit_pass(kit);
}

static struct worker *make_workers(struct kit *kit, int n)
{
	struct worker *workers = calloc((size_t)n, sizeof(*workers));
	if (!workers)
		kit_give_up(kit, "the kit is out of memory");
	return workers;
}

void check_threads_instances(struct kit *kit)
{
	struct worker *workers = make_workers(kit, THREADS);
	kit_case(kit, KIT_PROCESS, "%d instances in %d threads", THREADS, THREADS);
	for (int i = 0; i < THREADS; i++)
		workers[i].index = kit->index;
	/* Those of earlier checks: each thread would close them with its kit. */
	kit_contexts_close();
	run_all(kit, workers, THREADS, stress);
	free(workers);
}

/* Makes a worker that uses the instance of the kit. */
static void share(const struct kit *kit, struct worker *worker)
{
	struct kit *own = &worker->instance.kit;
	worker->shares = 1;
	own->check = kit->check;
	own->seed = kit->seed;
	own->effort = kit->effort;
	own->slot = kit->slot;
	memcpy(own->case_name, kit->case_name, sizeof(own->case_name));
}

/* Opening is [instance], so it is done before the threads start. */
static int open_device(struct kit *kit, struct worker *worker, uint32_t index)
{
	struct kit *own = &worker->instance.kit;
	share(kit, worker);
	if (!kit_open(own, kit->backend, index))
		return 1;
	kit_fail(kit, "open of device %u: %s", index, own->error.text);
	return 0;
}

static void uses_two_devices(struct kit *kit, void (*run)(struct worker *worker))
{
	struct worker *workers = make_workers(kit, 2);
	uint32_t other = kit->backend->n_devices < 2 ? kit->index : kit->index ? 0 : 1;
	kit_case(kit, KIT_PROCESS, "devices %u and %u in two threads", kit->index, other);
	kit_close(kit);
	if (open_device(kit, &workers[0], kit->index)) {
		if (open_device(kit, &workers[1], other)) {
			run_all(kit, workers, 2, run);
			kit_close(&workers[1].instance.kit);
		}
		kit_close(&workers[0].instance.kit);
	}
	free(workers);
	if (kit_open(kit, kit->backend, kit->index))
		kit_give_up(kit, "the device does not open again: %s", kit->error.text);
}

void check_threads_devices(struct kit *kit)
{
	uses_two_devices(kit, stress);
}

void check_threads_sizes(struct kit *kit)
{
	uses_two_devices(kit, run_sizes);
}

/* *stream := one of its own, unless the device is synchronous: 0 when it cannot be created. */
static int open_stream(struct kit *kit, void **stream)
{
	struct tn_stream_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error}};
	*stream = NULL;
	if (!tn_backend_has(kit->backend, TN_SLOT_STREAM_CREATE) ||
	    kit->description.flags & TN_DEVICE_SYNCHRONOUS)
		return 1;
	return !kit->backend->stream.stream_create(kit->device, &args, stream);
}

static void close_stream(struct kit *kit, void *stream)
{
	struct tn_stream_args args = {
		.call = {.struct_size = sizeof(args), .stream = stream, .error = &kit->error}};
	if (stream && kit->backend->stream.stream_destroy(kit->device, &args))
		kit_fail(kit, "stream_destroy: %s", kit->error.text);
}

/* Two workers with the kit's device, one in the NULL stream. */
void check_threads_streams(struct kit *kit)
{
	void *stream;
	if (!(kit->description.flags & TN_DEVICE_CONCURRENT_STREAMS))
		return kit_skip(kit, "it does not state TN_DEVICE_CONCURRENT_STREAMS");
	kit_case(kit, KIT_PROCESS, "two streams of a device in two threads");
	if (!open_stream(kit, &stream))
		return kit_fail(kit, "stream_create: %s", kit->error.text);
	struct worker *workers = make_workers(kit, 2);
	for (int i = 0; i < 2; i++) {
		struct kit *own = &workers[i].instance.kit;
		share(kit, &workers[i]);
		own->backend = kit->backend;
		own->index = kit->index;
		own->description = kit->description;
		own->device = kit->device;
		own->options.stream = i ? stream : NULL;
	}
	run_all(kit, workers, 2, stress);
	free(workers);
	close_stream(kit, stream);
}
