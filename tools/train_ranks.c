/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Joins the other ranks, gives this one a device, and ends the others when it fails.
 */
#include "train_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lost_devices.h"

const char *const train_ranks_wires[] = {"same", "f16", "bf16", NULL};

/* Is it of the backend of `current`, and not in the list? */
static int is_left(tn_device *device, const char *current, const char *lost)
{
	const char *name = tn_device_name(device);
	return !strncmp(name, current, strcspn(current, ":") + 1) && !lost_devices_have(lost, name);
}

/* Of those that are left the one of that number, modulo how many there are; NULL: there is none. */
static tn_device *find_device(tn_context *context, const char *lost, uint32_t place)
{
	const char *current = tn_device_name(tn_device_current(context));
	const size_t n = tn_context_device_count(context);
	uint32_t n_left = 0, k = 0;
	for (size_t i = 0; i < n; i++)
		n_left += (uint32_t)is_left(tn_context_device(context, i), current, lost);
	for (size_t i = 0; i < n; i++) {
		tn_device *device = tn_context_device(context, i);
		if (is_left(device, current, lost) && k++ == place % n_left)
			return device;
	}
	return NULL;
}

tn_device *train_ranks_device(tn_context *context, uint32_t place)
{
	const char *lost = lost_devices(), *last = strrchr(lost, ',');
	/* All were lost: the last one may need some time. */
	const char *const left_out[] = {lost, last ? last + 1 : lost, ""};
	tn_device *device = NULL;
	for (size_t i = 0; i < N_ROWS(left_out) && !device; i++)
		device = find_device(context, left_out[i], place);
	return device;
}

static int take_device(const struct train_ranks *ranks, tn_context *context)
{
	const uint32_t place = tn_communicator_local_rank(ranks->communicator);
	if (tn_device_set_current(context, train_ranks_device(context, place)))
		return finish(context);
	return EXIT_DONE;
}

int train_ranks_open(struct train_ranks *ranks, tn_context *context)
{
	struct tn_error_info error;
	struct tn_pair pairs[MOST_PLUGIN_OPTIONS];
	char keys[MOST_PLUGIN_OPTIONS][128];
	struct tn_communicator_options options = tn_communicator_defaults();
	split_plugin_options(&ranks->options, pairs, keys);
	options.communicator_options = pairs;
	options.n_communicator_options = ranks->options.n;
	ranks->size = 1;
	if (tn_communicator_open(context, &options, &ranks->communicator, &error))
		return report_error(&error);
	ranks->rank = tn_communicator_rank(ranks->communicator);
	ranks->size = tn_communicator_size(ranks->communicator);
	if (ranks->size == 1)
		return *lost_devices() ? take_device(ranks, context) : EXIT_DONE;
	report_rank(ranks->rank);
	ranks->times = calloc(ranks->size, sizeof(*ranks->times));
	if (!ranks->times) {
		fprintf(stderr, "tenon train: no memory for the times of %u ranks\n", ranks->size);
		return EXIT_FAILED;
	}
	return take_device(ranks, context);
}

tn_status train_ranks_share(struct train_ranks *ranks, tn_module *module)
{
	static const tn_dtype wires[] = {0, TN_F16, TN_BF16};
	if (ranks->size == 1)
		return TN_OK;
	struct tn_data_parallel_options options = tn_data_parallel_defaults();
	options.sync_batch_norm = (uint32_t)ranks->sync_batch_norm;
	options.wire_dtype = wires[ranks->wire];
	options.sharded = (uint32_t)ranks->shard;
	ranks->parallel = tn_data_parallel_create(module, ranks->communicator, &options);
	return ranks->parallel ? TN_OK : TN_PENDING_ERROR;
}

tn_status train_ranks_epoch(struct train_ranks *ranks, double seconds)
{
	const double waited = tn_communicator_waited(ranks->communicator);
	const struct rank_times own = {seconds, waited - ranks->waited};
	ranks->waited = waited;
	if (ranks->size == 1)
		return TN_OK;
	struct tn_collective_host gather = tn_collective_host_defaults();
	gather.operation = TN_COLLECTIVE_ALL_GATHER;
	gather.dtype = TN_F64;
	gather.n = 2;
	gather.source = &own;
	gather.target = ranks->times;
	gather.label = "times";
	return tn_communicator_run(ranks->communicator, &gather);
}

void train_ranks_end(struct train_ranks *ranks)
{
	tn_data_parallel_destroy(ranks->parallel);
	ranks->parallel = NULL;
}

void train_ranks_close(struct train_ranks *ranks, int code)
{
	char reason[64];
	if (code != EXIT_DONE && ranks->size > 1) {
		snprintf(reason, sizeof(reason), "rank %u of %u has failed", ranks->rank,
			 ranks->size);
		tn_communicator_abort(ranks->communicator, code, reason);
	}
	tn_communicator_close(ranks->communicator);
	free(ranks->times);
	*ranks = (struct train_ranks){.size = 1};
}
