/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host memory runs out at each allocation of a plugin in turn, and the plugin frees all that it
 * allocated.
 */
#include <time.h>

#include "instance.h"
#include "process_state.h"
#include "samples.h"
#include "slots.h"

enum { MOST_FAILURES_INJECTED = 24 };

static struct instance *new_instance(struct kit *kit)
{
	struct instance *instance = malloc(sizeof(*instance));
	if (!instance)
		kit_give_up(kit, "the kit is out of memory");
	return instance;
}

/* ---- Balance ---------------------------------------------------------------------------------*/

/* Calls of one slot, up to a number or a time; returns their number. */
static unsigned calls(struct sample *sample)
{
	enum { MOST = 2000, MOST_CLOCKS = CLOCKS_PER_SEC / 50 };
	const clock_t begin = clock();
	unsigned n = 0;
	const struct kit *kit = sample->kit;
	struct tn_sync_args sync = {.call = CALL(struct tn_sync_args)};
	sample->args.call.workspace = NULL;
	while (n < MOST && clock() - begin < MOST_CLOCKS) {
		(void)kit_enter(kit, &sample->args);
		n++;
	}
	(void)kit->backend->device.sync(kit->device, &sync);
	return n;
}

/* The first call may keep memory; later ones must not. */
static void use(struct instance *instance)
{
	enum { A_CALL = 16, LEAST = 8192 };
	struct kit *kit = &instance->kit;
	for (int slot = sample_next(kit, -1); slot >= 0; slot = sample_next(kit, slot)) {
		struct sample sample;
		sample_make(kit, &sample, slot, "of another instance");
		if (!sample_run(&sample)) {
			(void)calls(&sample);
			uint64_t before = process_allocated_bytes();
			unsigned n = calls(&sample);
			uint64_t after = process_allocated_bytes();
			if (after > before + LEAST && after > before + (uint64_t)n * A_CALL)
				kit_fail(kit, "%u calls left %llu bytes of memory behind", n,
					 (unsigned long long)(after - before));
		}
		sample_free(&sample);
	}
}

void check_memory_host_balance(struct kit *kit)
{
	struct instance *instance = new_instance(kit);
	long before = host_memory_live();
	kit_case(kit, KIT_PROCESS, "an instance that is made, used and destroyed");
	if (instance_open(instance, kit, kit->index)) {
		kit_fail(kit, "%s: %s", instance->stage, instance->kit.error.text);
	} else {
		use(instance);
		instance_close(instance);
		instance_report(instance, kit);
		if (host_memory_live() != before)
			kit_fail(kit, "%ld allocations of host memory were not freed",
				 host_memory_live() - before);
		kit_pass(kit);
	}
	free(instance);
}

/* ---- create, open, alloc ---------------------------------------------------------------------*/

static tn_status make_and_free(struct instance *instance)
{
	struct kit *kit = &instance->kit;
	struct tn_alloc_args alloc = {.call = {.struct_size = sizeof(alloc), .error = &kit->error},
				      .size = 4096};
	struct tn_free_args release = {
		.call = {.struct_size = sizeof(release), .error = &kit->error}};
	tn_status status = kit->backend->device.alloc(kit->device, &alloc, &release.buffer);
	if (!status)
		status = kit->backend->device.free(kit->device, &release);
	if (status)
		instance->stage = "alloc";
	return status;
}

/* 0 if the backend made fewer allocations. */
static int fails_at(struct kit *kit, struct instance *instance, unsigned n)
{
	int came_to_it;
	host_memory_fail(n);
	tn_status status = instance_open(instance, kit, kit->index);
	int is_open = !status;
	if (is_open)
		status = make_and_free(instance);
	came_to_it = host_memory_has_failed();
	if (status && (status != TN_OUT_OF_MEMORY || !came_to_it))
		kit_fail(kit, "%s returns %s: %s", instance->stage, tn_status_name(status),
			 instance->kit.error.text);
	if (is_open && make_and_free(instance))
		kit_fail(kit, "alloc does not work afterwards: %s", instance->kit.error.text);
	if (is_open)
		instance_close(instance);
	return came_to_it;
}

void check_memory_exhausted_open(struct kit *kit)
{
	struct instance *instance = new_instance(kit);
	int goes_on = 1;
	for (unsigned n = 1; goes_on && n <= MOST_FAILURES_INJECTED; n++) {
		long before = host_memory_live();
		kit_case(kit, KIT_PROCESS,
			 "create, open and alloc: host memory runs out at call %u", n);
		goes_on = fails_at(kit, instance, n);
		if (host_memory_live() != before)
			kit_fail(kit, "%ld allocations were not freed",
				 host_memory_live() - before);
		kit_pass(kit);
	}
	free(instance);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

/* The call without memory reports it or manages without; the next one gives the first result. */
static int runs_out_at(struct sample *sample, const unsigned char *result, unsigned n)
{
	struct kit *kit = sample->kit;
	int came_to_it;
	kit->options.fails_at = n;
	tn_status status = sample_run(sample);
	came_to_it = kit->options.has_failed;
	kit->options.fails_at = 0;
	kit->options.has_failed = 0;
	if (!status)
		sample_expect_close(sample, result, "memory.exhausted_calls");
	if (sample_run(sample))
		kit_fail(kit, "it does not work afterwards: %s", kit->error.text);
	else
		sample_expect_close(sample, result, "memory.exhausted_calls");
	return came_to_it;
}

static void runs_out(struct kit *kit, int slot)
{
	struct sample sample;
	size_t size;
	unsigned char *result;
	sample_make(kit, &sample, slot, "host memory runs out");
	if (!sample_run(&sample)) {
		result = sample_result(&sample, &size);
		for (unsigned n = 1; n <= MOST_FAILURES_INJECTED; n++)
			if (!runs_out_at(&sample, result, n))
				break;
		free(result);
	}
	sample_free(&sample);
}

void check_memory_exhausted_calls(struct kit *kit)
{
	struct instance *instance = new_instance(kit);
	kit_case(kit, KIT_PROCESS, "an instance whose host memory runs out");
	if (instance_open(instance, kit, kit->index)) {
		kit_fail(kit, "%s: %s", instance->stage, instance->kit.error.text);
	} else {
		struct kit *own = &instance->kit;
		for (int slot = sample_next(own, -1); slot >= 0; slot = sample_next(own, slot))
			runs_out(own, slot);
		instance_close(instance);
		instance_report(instance, kit);
		kit_pass(kit);
	}
	free(instance);
}
