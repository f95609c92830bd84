/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/models.h"

const struct network *network_find(const char *name)
{
	static const struct network networks[] = {
		{"mlp", {1, 28, 28, 10}, 0},          {"lenet", {1, 28, 28, 10}, 0},
		{"resnet18", {3, 32, 32, 10}, 0.9},   {"efficientnet", {3, 64, 64, 1000}, 0.9},
		{"convnext", {3, 64, 64, 1000}, 0.9},
	};
	for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
		if (!strcmp(networks[i].name, name))
			return &networks[i];
	}
	return NULL;
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
