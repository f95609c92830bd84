/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Effects of a backend on its process: checks that run alone, each in a process in which nothing is
 * loaded yet, or that the parent decides (verdict.c).
 */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"
#include "loader/table_name.h"
#include "process_state.h"

enum { BYTES = 4096, WARM = 3, CYCLES = 8 };
/* Leftovers allowed per cycle on average: the allocator keeps some memory. */
enum { MAPPED_LEAK = 64 << 10, ALLOCATED_LEAK = 4 << 10 };

/* ---- Using a device --------------------------------------------------------------------------*/

static void *open_device(struct kit *kit, const struct tn_backend *backend)
{
	struct tn_open_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .index = kit->index};
	void *device = NULL;
	tn_status status = backend->device.open(backend->plugin.instance, &args, &device);
	if (status) {
		kit_fail(kit, "open: %s: %s", tn_status_name(status), kit->error.text);
		return NULL;
	}
	return device;
}

/* Copies bytes to the device and back. */
static void use_device(struct kit *kit, const struct tn_backend *backend, void *device)
{
	const struct tn_device_table *table = &backend->device;
	unsigned char sent[BYTES], found[BYTES] = {0};
	struct tn_alloc_args alloc = {.call = {.struct_size = sizeof(alloc), .error = &kit->error},
				      .size = BYTES};
	struct tn_transfer_args move = {.call = {.struct_size = sizeof(move), .error = &kit->error},
					.size = BYTES,
					.host = sent};
	struct tn_sync_args sync = {.call = {.struct_size = sizeof(sync), .error = &kit->error}};
	struct tn_free_args release = {.call = CALL(struct tn_free_args)};
	for (size_t i = 0; i < BYTES; i++)
		sent[i] = (unsigned char)kit_random(kit);
	tn_status status = table->alloc(device, &alloc, &move.buffer);
	if (status)
		return kit_fail(kit, "alloc: %s: %s", tn_status_name(status), kit->error.text);
	status = table->upload(device, &move);
	move.host = found;
	if (!status)
		status = table->download(device, &move);
	if (!status)
		status = table->sync(device, &sync);
	release.buffer = move.buffer;
	if (status)
		kit_fail(kit, "transfer: %s: %s", tn_status_name(status), kit->error.text);
	else if (memcmp(sent, found, BYTES) != 0)
		kit_fail(kit, "the data read back differs from the data written");
	if (table->free(device, &release))
		kit_fail(kit, "free failed");
}

static void open_use_close(struct kit *kit, const struct tn_backend *backend)
{
	void *device = open_device(kit, backend);
	if (!device)
		return;
	use_device(kit, backend, device);
	backend->device.close(device);
}

/* Loads an instance; 0 if that fails (the reason is reported by file.loads only). */
static int load(struct kit *kit, struct target *target)
{
	target_load(target, kit, NULL);
	if (target->backend && kit->index < target->backend->n_devices)
		return 1;
	kit_skip(kit, "there is no such device here");
	target_unload(target);
	return 0;
}

/* Loads a further instance after a first one succeeded: now failing to load is a failure. */
static int load_again(struct kit *kit, struct target *target, const char *when)
{
	target_load(target, kit, NULL);
	kit_case(kit, KIT_PROCESS, "%s", when);
	if (target->backend && kit->index < target->backend->n_devices)
		return 1;
	kit_fail(kit, "no further instance with this device: %s: %s",
		 tn_status_name(target->status), target->text);
	target_unload(target);
	return 0;
}

/* ---- Instances -------------------------------------------------------------------------------*/

/* Instances are independent of one another. */
static void check_instances(struct kit *kit)
{
	struct target first, second, third;
	if (!load(kit, &first))
		return;
	kit_case(kit, KIT_PROCESS, "two instances at once");
	void *device = open_device(kit, first.backend);
	if (!device || !load_again(kit, &second, "two instances at once"))
		return;
	open_use_close(kit, second.backend);
	use_device(kit, first.backend, device);
	kit_pass(kit);
	if (!load_again(kit, &third, "the second destroyed, the first and a third go on"))
		return;
	target_unload(&second);
	use_device(kit, first.backend, device);
	open_use_close(kit, third.backend);
	kit_pass(kit);
	kit_case(kit, KIT_PROCESS, "the first destroyed, the third goes on");
	first.backend->device.close(device);
	target_unload(&first);
	open_use_close(kit, third.backend);
	target_unload(&third);
	kit_pass(kit);
	if (!load_again(kit, &first, "create after all were destroyed"))
		return;
	open_use_close(kit, first.backend);
	target_unload(&first);
	kit_pass(kit);
}

static int cycle(struct kit *kit, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct target target;
		int there = i ? load_again(kit, &target, "create, open, use, close, destroy again")
			      : load(kit, &target);
		if (!there)
			return 0;
		kit_case(kit, KIT_PROCESS, "%u times create, open, use, close, destroy", n);
		open_use_close(kit, target.backend);
		target_unload(&target);
	}
	return 1;
}

/* In both halves, by `leak` bytes a cycle or more: the heap of a new thread, or its stack, is one
 * large mapping, once. */
static int grows(uint64_t before, uint64_t middle, uint64_t after, uint64_t leak)
{
	return middle >= before + CYCLES / 2 * leak && after >= middle + CYCLES / 2 * leak;
}

/* Leftovers of the first cycles (libraries, pools) may stay; later cycles must leave nothing. */
static void check_leaks(struct kit *kit)
{
	struct process_state before, middle, after;
	if (!cycle(kit, WARM))
		return;
	process_state_take(&before);
	if (!process_has_proc())
		return kit_not_tried(kit, 1, "what is left behind: there is no /proc to count it");
	cycle(kit, CYCLES / 2);
	process_state_take(&middle);
	cycle(kit, CYCLES / 2);
	process_state_take(&after);
	if (after.descriptors > before.descriptors)
		kit_fail(kit, "%u more descriptors are open",
			 after.descriptors - before.descriptors);
	if (after.threads > before.threads)
		kit_fail(kit, "%u more threads are running", after.threads - before.threads);
	/* malloc maps and unmaps at will: only one mapping per cycle is a leak. */
	if (after.mappings >= before.mappings + CYCLES)
		kit_fail(kit, "%u more mappings", after.mappings - before.mappings);
	/* Adjacent mappings are merged. */
	if (grows(before.mapped_bytes, middle.mapped_bytes, after.mapped_bytes, MAPPED_LEAK))
		kit_fail(kit, "%llu more bytes are mapped",
			 (unsigned long long)(after.mapped_bytes - before.mapped_bytes));
	if (grows(before.allocated_bytes, middle.allocated_bytes, after.allocated_bytes,
		  ALLOCATED_LEAK))
		kit_fail(kit, "%llu more bytes are allocated",
			 (unsigned long long)(after.allocated_bytes - before.allocated_bytes));
	kit_pass(kit);
}

/* Tables and strings from a plugin must not change until destroy. */
/* A table of the vendor's own: what holds for every table. */
static void check_vendor_table(struct kit *kit, const uint32_t *table)
{
	kit_case(kit, KIT_PROCESS, "query of %s", kit->table);
	if (!tn_is_vendor_table(kit->table))
		kit_fail(kit, "expected a name in reverse DNS with a version, as "
			      "com.example.table/1");
	else if (!table)
		kit_fail(kit, "it has no such table");
	else if (*table < 2 * sizeof(uint32_t))
		kit_fail(kit, "struct_size is %u", *table);
	else
		kit_remark(kit, "%s: struct_size is %u", kit->table, *table);
	kit_pass(kit);
}

static void check_tables(struct kit *kit)
{
	const char *const ids[] = {
		TN_TABLE_DEVICE,  TN_TABLE_COMPUTE, TN_TABLE_COPY,   TN_TABLE_MEMORY,
		TN_TABLE_REPORT,  TN_TABLE_STREAM,  TN_TABLE_NN,     TN_TABLE_COMPILE,
		TN_TABLE_CAPTURE, TN_TABLE_PEER,    TN_TABLE_SORT,   TN_TABLE_SCAN,
		TN_TABLE_IMPORT,  TN_TABLE_NATIVE,  TN_TABLE_LINALG, kit->table};
	enum { N = sizeof(ids) / sizeof(ids[0]), MOST = 4096 };
	static unsigned char before[N][MOST];
	const uint32_t *tables[N];
	struct target target;
	if (!load(kit, &target))
		return;
	const struct tn_backend_descriptor *d = &target.backend->plugin.descriptor;
	void *instance = target.backend->plugin.instance;
	kit_case(kit, KIT_PROCESS, "query of an unknown table");
	if (d->query(instance, "com.example.nobody/1"))
		kit_fail(kit, "it returned one: expected NULL");
	kit_pass(kit);
	for (size_t i = 0; i < N; i++) {
		tables[i] = ids[i] ? d->query(instance, ids[i]) : NULL;
		if (tables[i])
			memcpy(before[i], tables[i], *tables[i] < MOST ? *tables[i] : MOST);
	}
	if (kit->table)
		check_vendor_table(kit, tables[N - 1]);
	kit_case(kit, KIT_PROCESS, "tables and strings after use");
	open_use_close(kit, target.backend);
	for (size_t i = 0; i < N; i++) {
		if (ids[i] && tables[i] != d->query(instance, ids[i]))
			kit_fail(kit, "query of %s gives another table", ids[i]);
		else if (tables[i] &&
			 memcmp(before[i], tables[i], *tables[i] < MOST ? *tables[i] : MOST) != 0)
			kit_fail(kit, "the table %s has changed", ids[i]);
	}
	kit_pass(kit);
	target_unload(&target);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The best of several calls, since the machine may be busy. */
static void check_cheap(struct kit *kit)
{
	struct tn_device_count count = {.struct_size = sizeof(count)};
	struct tn_device_description description = {.struct_size = sizeof(description)};
	double best_count = 1e9, best_describe = 1e9;
	struct target target;
	if (!load(kit, &target))
		return;
	kit_case(kit, KIT_PROCESS, "device_count and describe within 50 ms");
	for (int i = 0; i < 5; i++) {
		double begin = seconds();
		target.backend->device.device_count(target.backend->plugin.instance, &count);
		double middle = seconds();
		target.backend->device.describe(target.backend->plugin.instance, kit->index,
						&description);
		double end = seconds();
		best_count = middle - begin < best_count ? middle - begin : best_count;
		best_describe = end - middle < best_describe ? end - middle : best_describe;
	}
	if (best_count > 0.05)
		kit_fail(kit, "device_count takes %.0f ms", best_count * 1e3);
	if (best_describe > 0.05)
		kit_fail(kit, "describe takes %.0f ms", best_describe * 1e3);
	kit_pass(kit);
	target_unload(&target);
}

static void check_state(struct kit *kit)
{
	struct process_state before, after;
	struct target target;
	process_state_take(&before);
	if (!load(kit, &target))
		return;
	kit_case(kit, KIT_PROCESS, "signal handlers, locale, environment, rounding");
	process_state_take(&after);
	process_state_expect(kit, &before, &after, "create and device_count");
	open_use_close(kit, target.backend);
	process_state_take(&after);
	process_state_expect(kit, &before, &after, "using the device");
	target_unload(&target);
	process_state_take(&after);
	process_state_expect(kit, &before, &after, "the whole life");
	kit_pass(kit);
}

/* ---- Threads ---------------------------------------------------------------------------------*/

enum { MOMENT_MS = 20, LATE_MS = 300 };

static void sleep_ms(long ms)
{
	const struct timespec time = {.tv_nsec = ms * 1000000};
	nanosleep(&time, NULL);
}

/* Uses a stream of its own, if there are any: it may have a thread of its own. */
static void use_stream(struct kit *kit, const struct tn_backend *backend, void *device,
		       struct process_threads *during)
{
	struct tn_stream_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error}};
	struct tn_sync_args sync = {.call = {.struct_size = sizeof(sync), .error = &kit->error}};
	int has_streams = tn_backend_has(backend, TN_SLOT_STREAM_CREATE) &&
			  !(backend->devices[kit->index].flags & TN_DEVICE_SYNCHRONOUS);
	if (has_streams && backend->stream.stream_create(device, &args, &args.call.stream))
		return kit_fail(kit, "stream_create: %s", kit->error.text);
	sync.call.stream = args.call.stream;
	backend->device.sync(device, &sync);
	use_device(kit, backend, device);
	/* The C library blocks all signals in a thread until it runs. */
	sleep_ms(MOMENT_MS);
	process_threads_take(during);
	if (has_streams && backend->stream.stream_destroy(device, &args))
		kit_fail(kit, "stream_destroy: %s", kit->error.text);
}

/* Uses two devices, or one twice, from create to destroy.  *own := the threads that this
 * started, none of which is the kit's. */
static int live(struct kit *kit, struct process_threads *own)
{
	struct process_threads before;
	struct target target;
	process_threads_take(&before);
	target_load_serial(&target, kit);
	if (!target.backend || kit->index >= target.backend->n_devices) {
		kit_skip(kit, "there is no such device here");
		target_unload(&target);
		return 0;
	}
	void *first = open_device(kit, target.backend);
	void *second = open_device(kit, target.backend);
	own->n = 0;
	if (first && second) {
		use_device(kit, target.backend, second);
		use_stream(kit, target.backend, first, own);
	}
	if (first)
		target.backend->device.close(first);
	if (second)
		target.backend->device.close(second);
	target_unload(&target);
	process_threads_drop(own, &before);
	/* The kernel lists a thread for a moment after it was joined. */
	if (own->n)
		sleep_ms(MOMENT_MS);
	return 1;
}

/* Threads that end with their instance are the plugin's own.  Those of a vendor's library may stay;
 * process.leaks counts whether there are more each time. */
static void check_threads_end(struct kit *kit)
{
	struct process_threads own, left, later;
	if (!live(kit, &own))
		return;
	kit_case(kit, KIT_PROCESS, "threads after destroy");
	if (!process_has_proc())
		return kit_not_tried(kit, 1, "threads after destroy: there is no /proc");
	process_threads_take(&left);
	process_threads_keep(&left, &own);
	if (left.n)
		sleep_ms(LATE_MS);
	process_threads_take(&later);
	process_threads_drop(&left, &later);
	if (left.n)
		kit_fail(kit, "%zu threads ended after destroy: expected that it joins them",
			 left.n);
	kit_pass(kit);
}

/* What the system, a user or another process sends to a process, not to a thread. */
static const int sent[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGUSR2};

static void check_threads_signals(struct kit *kit)
{
	struct process_threads own, left;
	if (!live(kit, &own))
		return;
	kit_case(kit, KIT_PROCESS, "signals blocked in the plugin's threads");
	if (!process_has_proc())
		return kit_not_tried(kit, 1, "signals of threads: there is no /proc");
	process_threads_take(&left);
	process_threads_drop(&own, &left);
	for (size_t i = 0; i < own.n; i++) {
		for (size_t s = 0; s < sizeof(sent) / sizeof(sent[0]); s++) {
			if (own.blocked[i] >> (sent[s] - 1) & 1)
				continue;
			kit_fail(kit,
				 "signal %d is not blocked in a thread of the plugin, where "
				 "the program's handler would run",
				 sent[s]);
			break;
		}
	}
	kit_pass(kit);
}

/* ---- fork ------------------------------------------------------------------------------------*/

/* Waits for a grandchild, which reports its own failures. */
static void join(struct kit *kit, pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status))
		kit_fail(kit, "the forked child died of signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		kit_fail(kit, "the forked child ended with status %d", WEXITSTATUS(status));
}

/* After counting devices, a forked child can use them with its own instance. */
static void check_fork_before(struct kit *kit)
{
	struct target target, own;
	if (!load(kit, &target))
		return;
	kit_case(kit, KIT_PROCESS, "fork after device_count and describe");
	pid_t pid = fork();
	if (pid == 0) {
		if (load_again(kit, &own, "in the child forked after device_count")) {
			open_use_close(kit, own.backend);
			target_unload(&own);
		}
		_exit(0);
	}
	if (pid > 0)
		join(kit, pid);
	open_use_close(kit, target.backend);
	target_unload(&target);
	kit_pass(kit);
}

/* A forked child of a process that uses the device does not use it, and may exit normally. */
static void check_fork_after(struct kit *kit)
{
	struct target target;
	if (!load(kit, &target))
		return;
	kit_case(kit, KIT_PROCESS, "fork while the device is open");
	void *device = open_device(kit, target.backend);
	if (!device)
		return;
	use_device(kit, target.backend, device);
	pid_t pid = fork();
	if (pid == 0) {
		sanitizer_forked();
		target_unload(&target);
		exit(0);
	}
	if (pid > 0)
		join(kit, pid);
	use_device(kit, target.backend, device);
	target.backend->device.close(device);
	target_unload(&target);
	kit_pass(kit);
}

const struct check process_checks[] = {
	{"process.instances", 5, "instances are independent, and can be created again",
	 check_instances},
	{"process.tables", 5, "returned tables and strings do not change", check_tables},
	{"process.cheap", 5, "device_count and describe take less than 50 ms", check_cheap},
	{"process.leaks", 5,
	 "create to destroy leaves no descriptor, thread, mapping or memory behind", check_leaks},
	{"process.state", 5,
	 "signals, locale, environment, floating-point modes, limits and the program's files do "
	 "not change",
	 check_state},
	{"process.fork_before", 5, "after device_count and describe a forked child can use devices",
	 check_fork_before},
	{"process.fork_after", 5,
	 "a child forked while a device is open may exit, and the parent continues",
	 check_fork_after},
	{"process.silence", 5, "nothing is written to standard output or error", NULL},
	{"process.close", 5, "close, destroy and the end of the process neither crash nor hang",
	 NULL},
	{"threads.end", 5, "the plugin's own threads end before destroy returns",
	 check_threads_end},
	{"threads.signals", 5, "signals are blocked in the plugin's own threads",
	 check_threads_signals},
	{"threads.races", 5, "a thread sanitizer reports nothing", NULL},
	{NULL, 0, NULL, NULL},
};
