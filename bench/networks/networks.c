/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void network_add(tn_module *chain, const char *name, tn_module *member, tn_status *status)
{
	if (*status)
		tn_module_destroy(member);
	else
		*status = tn_sequential_add(chain, name, member);
}

tn_module *network_end(tn_module *chain, tn_status status)
{
	if (!status)
		return chain;
	tn_module_destroy(chain);
	return NULL;
}

tn_module *network_conv(tn_context *context, int64_t in, int64_t out, int64_t kernel,
			int64_t stride, int64_t groups)
{
	const struct tn_module_conv2d_options options = {
		.struct_size = sizeof(options),
		.window = {.struct_size = sizeof(options.window),
			   .stride = {stride, stride},
			   .padding = {kernel / 2, kernel / 2},
			   .groups = groups},
		.no_bias = 1};
	return tn_module_conv2d(context, in, out, kernel, kernel, &options);
}

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
	int64_t n_classes = network->shape.n_classes;
	if (!strcmp(network->name, "resnet18"))
		return network_resnet18(context, 64, n_classes);
	if (!strcmp(network->name, "efficientnet"))
		return network_effnet(context, 32, n_classes);
	if (!strcmp(network->name, "convnext"))
		return network_convnext(context, 96, n_classes);
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
