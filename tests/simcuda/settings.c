/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The environment variables of the simulated CUDA, and the marks of its devices.
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t number(const char *name, size_t otherwise)
{
	const char *text = getenv(name);
	char *end = NULL;
	if (!text || !*text)
		return otherwise;
	size_t value = strtoull(text, &end, 0);
	if (*end)
		fprintf(stderr, "%s: expected a number, found \"%s\"\n", name, text);
	return value;
}

void sim_settings_read(struct sim_settings *settings)
{
	settings->devices = (int)number("SIMCUDA_DEVICES", 1);
	if (settings->devices > SIM_MAX_DEVICES)
		settings->devices = SIM_MAX_DEVICES;
	settings->arch = (int)number("SIMCUDA_ARCH", 90);
	settings->driver = (int)number("SIMCUDA_DRIVER", 13000);
	settings->multiprocessors = (int)number("SIMCUDA_MULTIPROCESSORS", 8);
	settings->defer = number("SIMCUDA_DEFER", 0) != 0;
	settings->peer = number("SIMCUDA_PEER", 1) != 0;
	settings->pools = number("SIMCUDA_POOLS", 1) != 0;
	settings->verbose = number("SIMCUDA_VERBOSE", 0) != 0;
	settings->pageable = number("SIMCUDA_PAGEABLE", 0) != 0;
	settings->blocking = number("CUDA_LAUNCH_BLOCKING", 0) != 0;
	settings->seed = (unsigned)number("SIMCUDA_SEED", 1);
	settings->order = (unsigned)number("SIMCUDA_ORDER", 0);
	settings->memory = number("SIMCUDA_MEMORY", (size_t)1 << 30);
}

void sim_device_name(const struct sim_settings *settings, char *text, size_t size)
{
	snprintf(text, size, "Simulated CUDA device sm_%d", settings->arch);
}

void sim_device_uuid(int device, unsigned char uuid[16])
{
	memcpy(uuid, "simulated CUDA", 14);
	uuid[14] = '#';
	uuid[15] = (unsigned char)device;
}

void sim_device_bus(int device, char *text, size_t size)
{
	snprintf(text, size, "0000:%02X:00.0", device + 1);
}
