/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Joins the other ranks, gives this one a device, and ends the others when it fails.
 */
#include "train_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print_error.h"
#include "train_devices.h"

const char *const train_ranks_wires[] = {"same", "f16", "bf16", NULL};

/* Those of the list that the environment has; or all of the current one's backend. */
static int is_meant(tn_context *context, tn_device *device, int is_listed)
{
	const char *current = tn_device_name(tn_device_current(context));
	const char *name = tn_device_name(device);
	return is_listed ? train_devices_have(name)
			 : !strncmp(name, current, strcspn(current, ":") + 1);
}

/* Of those that are meant the one of that number, modulo how many there are; NULL: none is. */
static tn_device *find_device(tn_context *context, int is_listed, uint32_t place)
{
	const size_t n = tn_context_device_count(context);
	uint32_t n_meant = 0, k = 0;
	for (size_t i = 0; i < n; i++)
		n_meant += (uint32_t)is_meant(context, tn_context_device(context, i), is_listed);
	for (size_t i = 0; i < n; i++) {
		tn_device *device = tn_context_device(context, i);
		if (is_meant(context, device, is_listed) && k++ == place % n_meant)
			return device;
	}
	return NULL;
}

static tn_status take_device(const struct train_ranks *ranks, tn_context *context)
{
	const uint32_t place = tn_communicator_local_rank(ranks->communicator);
	tn_device *device = find_device(context, 1, place);
	return tn_device_set_current(context, device ? device : find_device(context, 0, place));
}

/* Refuses options that change nothing in one process; a launcher may start one rank. */
static int check_alone(const struct train_ranks *ranks)
{
	const char *lonely = ranks->sync_batch_norm ? "--sync-batch-norm"
			     : ranks->shard         ? "--shard-optimizer"
			     : ranks->wire          ? "--wire"
						    : NULL;
	if (!lonely)
		return EXIT_DONE;
	return usage_error("train",
			   "%s: expected ranks that a launcher has started (tenon launch, mpirun), "
			   "found one process",
			   lonely);
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
	if (!strcmp(tn_communicator_name(ranks->communicator), "none"))
		return check_alone(ranks);
	if (ranks->size == 1)
		return EXIT_DONE;
	report_rank(ranks->rank);
	ranks->times = calloc(ranks->size, sizeof(*ranks->times));
	if (!ranks->times)
		return no_memory("the times of the ranks");
	return take_device(ranks, context) ? finish(context) : EXIT_DONE;
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
