/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Units of Winograd's convolution on the host's threads.
 */
#include <stdatomic.h>

#include "conv_winograd.h"

struct shared {
	const struct winograd_units *units;
	_Atomic int64_t next;
};

static void take_units(void *argument, uint64_t begin, uint64_t end)
{
	struct shared *shared = argument;
	const struct winograd_units *units = shared->units;
	for (uint64_t thread = begin; thread < end; thread++) {
		float *scratch = units->scratch; /* NULL: the work needs none */
		if (scratch)
			scratch += (int64_t)thread * units->scratch_floats;
		int64_t unit;
		while ((unit = atomic_fetch_add(&shared->next, 1)) < units->n)
			units->work(units->job, unit, scratch);
	}
}

int64_t winograd_threads(const struct cpu_device *device, int64_t n)
{
	const struct tn_host *host = device->instance->host;
	int64_t threads = host->thread_count(host->context);
	return n < threads ? n : threads;
}

void winograd_run(const struct winograd_units *units)
{
	struct shared shared = {.units = units};
	cpu_parallel(units->device, (uint64_t)winograd_threads(units->device, units->n), 1,
		     take_units, &shared);
}

struct cpu_winograd_image winograd_image(const struct cpu_images *images, int64_t height,
					 int64_t width, int64_t channels)
{
	return (struct cpu_winograd_image){.data = images->data,
					   .height = height,
					   .width = width,
					   .channels = channels,
					   .image = images->image,
					   .down = images->row,
					   .across = images->pixel};
}
