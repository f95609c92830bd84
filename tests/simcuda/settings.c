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

#define GIB ((size_t)1 << 30)

static const struct sim_model models[] = {
	{"t400", "NVIDIA T400 4GB", 75, 6, 1425, 4 * GIB, 0, 0},
	{"rtx3050", "NVIDIA GeForce RTX 3050", 86, 20, 1777, 8 * GIB, 0, 0},
	{"rtx4090", "NVIDIA GeForce RTX 4090", 89, 128, 2520, 24 * GIB, 0, 0},
	{"rtx5060", "NVIDIA GeForce RTX 5060", 120, 30, 2497, 8 * GIB, 0, 0},
	{"v100", "Tesla V100-PCIE-16GB", 70, 80, 1380, 16 * GIB, 0, 0},
	{"l4", "NVIDIA L4", 89, 58, 2040, 24 * GIB, 0, 0},
	{"a100", "NVIDIA A100 80GB PCIe", 80, 108, 1410, 80 * GIB, 0, 0},
	{"h100", "NVIDIA H100 PCIe", 90, 114, 1755, 80 * GIB, 0, 0},
	{"b200", "NVIDIA B200", 100, 148, 1965, 180 * GIB, 0, 0},
	{"orin", "Orin", 87, 16, 1300, 61 * GIB, 1, 0},
	{"gb10", "NVIDIA GB10", 121, 48, 2418, 119 * GIB, 1, 0},
};

/* One word of SIMCUDA_MODELS: NAME, or NAME/GIB. */
static void read_model(const char *word, struct sim_model *to)
{
	size_t length = strcspn(word, "/");
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (strlen(models[i].word) != length || strncmp(models[i].word, word, length) != 0)
			continue;
		*to = models[i];
		if (word[length])
			to->slice = strtoull(word + length + 1, NULL, 10) * GIB;
		return;
	}
	fprintf(stderr, "SIMCUDA_MODELS: there is no model \"%s\"\n", word);
}

/* Returns how many there are in the list. */
static int read_models(struct sim_settings *settings)
{
	const struct sim_model plain = {
		.arch = (int)number("SIMCUDA_ARCH", 90),
		.multiprocessors = (int)number("SIMCUDA_MULTIPROCESSORS", 8),
		.clock = 1980,
		.memory = number("SIMCUDA_MEMORY", GIB),
	};
	const char *list = getenv("SIMCUDA_MODELS");
	char *copy = list ? strdup(list) : NULL, *rest = NULL;
	int n = 0;
	for (int i = 0; i < SIM_MAX_DEVICES; i++)
		settings->models[i] = plain;
	for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word && n < SIM_MAX_DEVICES;
	     word = strtok_r(NULL, ",", &rest))
		read_model(word, &settings->models[n++]);
	free(copy);
	return n;
}

void sim_settings_read(struct sim_settings *settings)
{
	int n = read_models(settings);
	settings->devices = (int)number("SIMCUDA_DEVICES", n > 0 ? (size_t)n : 1);
	if (settings->devices > SIM_MAX_DEVICES)
		settings->devices = SIM_MAX_DEVICES;
	settings->driver = (int)number("SIMCUDA_DRIVER", 13000);
	settings->defer = number("SIMCUDA_DEFER", 0) != 0;
	settings->peer = number("SIMCUDA_PEER", 1) != 0;
	settings->pools = number("SIMCUDA_POOLS", 1) != 0;
	settings->verbose = number("SIMCUDA_VERBOSE", 0) != 0;
	settings->pageable = number("SIMCUDA_PAGEABLE", 0) != 0;
	settings->blocking = number("CUDA_LAUNCH_BLOCKING", 0) != 0;
	settings->seed = (unsigned)number("SIMCUDA_SEED", 1);
	settings->order = (unsigned)number("SIMCUDA_ORDER", 0);
}

void sim_device_name(const struct sim_model *model, char *text, size_t size)
{
	if (model->name)
		snprintf(text, size, "%s", model->name);
	else
		snprintf(text, size, "Simulated CUDA device sm_%d", model->arch);
}

void sim_device_uuid(int device, int is_slice, unsigned char uuid[16])
{
	memcpy(uuid, "simulated CUDA", 14);
	uuid[0] = (unsigned char)(uuid[0] + device);
	uuid[14] = is_slice ? '/' : '#';
	uuid[15] = (unsigned char)device;
}

/* In hexadecimal digits, like the real one. */
void sim_device_uuid_text(int device, int is_slice, char text[64])
{
	unsigned char uuid[16];
	int length = snprintf(text, 64, is_slice ? "MIG-" : "GPU-");
	sim_device_uuid(device, is_slice, uuid);
	for (int i = 0; i < 16; i++)
		length += snprintf(text + length, (size_t)(64 - length), "%s%02x",
				   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

void sim_device_bus(int device, char *text, size_t size)
{
	snprintf(text, size, "0000:%02X:00.0", device + 1);
}

struct sim_model sim_device_slice(const struct sim_model *model)
{
	struct sim_model slice = *model;
	slice.memory = model->slice;
	slice.multiprocessors =
		(int)((size_t)model->multiprocessors * model->slice / model->memory);
	return slice;
}
