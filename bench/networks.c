/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds and makes the networks that are measured, and measures time and memory of the process.
 */
#include "networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/models.h"

/* Of a network of the gallery in a form: what the form is for, with ten classes. */
static struct network of_gallery(const char *name)
{
	struct network network = {NULL, {3, 32, 32, 10}, 0.9};
	const size_t length = strcspn(name, ":");
	for (size_t i = 0; name[length] && tn_model_at(i); i++) {
		const struct tn_model_info *info = tn_model_at(i);
		if (strlen(info->name) != length || strncmp(info->name, name, length) != 0)
			continue;
		network.name = name;
		if (!strcmp(name + length, ":nnott"))
			network.shape = (struct tn_model_shape){1, 28, 28, 10};
		if (!strcmp(name + length, ":published"))
			network.shape = info->published;
		network.shape.n_classes = 10;
	}
	return network;
}

struct network network_find(const char *name)
{
	static const struct network networks[] = {
		{"mlp", {1, 28, 28, 10}, 0},          {"lenet", {1, 28, 28, 10}, 0},
		{"resnet18", {3, 32, 32, 10}, 0.9},   {"efficientnet", {3, 64, 64, 1000}, 0.9},
		{"convnext", {3, 64, 64, 1000}, 0.9},
	};
	for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
		if (!strcmp(networks[i].name, name))
			return networks[i];
	}
	return of_gallery(name);
}

tn_module *network_create(tn_context *context, const struct network *network)
{
	if (!strcmp(network->name, "efficientnet"))
		return tn_model_create(context, "efficientnet_lite0:published", &network->shape);
	/* Of a stated width, a network has no stochastic depth. */
	if (!strcmp(network->name, "convnext"))
		return tn_model_create_width(context, "convnext_tiny:published", &network->shape,
					     96);
	return tn_model_create(context, network->name, &network->shape);
}

double network_clock(void)
{
	static int is_known, is_processor;
	struct timespec t;
	if (!is_known) {
		const char *name = getenv("BENCH_CLOCK");
		is_processor = name && !strcmp(name, "processor");
		is_known = 1;
	}
	clock_gettime(is_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Not ru_maxrss, which a program inherits from the one that started it. */
long network_peak_memory(void)
{
	char line[128];
	long peak = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "VmHWM:", 6))
			peak = atol(line + 6);
	}
	if (status)
		fclose(status);
	return peak;
}
