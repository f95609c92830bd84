/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sums, maxima, gathered numbers and statuses over all ranks, by small collectives on host memory.
 */
#include "distributed/agree.h"

tn_status tn_agree_sum(tn_communicator *communicator, size_t n, double *values, const char *label)
{
	return tn_communicator_run(
		communicator,
		&(struct tn_collective_host){.struct_size = sizeof(struct tn_collective_host),
					     .operation = TN_COLLECTIVE_ALL_REDUCE,
					     .combiner = TN_REDUCE_SUM,
					     .dtype = TN_F64,
					     .n = n,
					     .source = values,
					     .target = values,
					     .label = label});
}

tn_status tn_agree_max(tn_communicator *communicator, size_t n, int64_t *values, const char *label)
{
	return tn_communicator_run(
		communicator,
		&(struct tn_collective_host){.struct_size = sizeof(struct tn_collective_host),
					     .operation = TN_COLLECTIVE_ALL_REDUCE,
					     .combiner = TN_REDUCE_MAX,
					     .dtype = TN_I64,
					     .n = n,
					     .source = values,
					     .target = values,
					     .label = label});
}

static tn_status gather(tn_communicator *communicator, tn_dtype dtype, size_t n, const void *values,
			void *all, const char *label)
{
	return tn_communicator_run(
		communicator,
		&(struct tn_collective_host){.struct_size = sizeof(struct tn_collective_host),
					     .operation = TN_COLLECTIVE_ALL_GATHER,
					     .dtype = dtype,
					     .n = n,
					     .source = values,
					     .target = all,
					     .label = label});
}

tn_status tn_agree_gather(tn_communicator *communicator, size_t n, const uint64_t *values,
			  uint64_t *all, const char *label)
{
	return gather(communicator, TN_U64, n, values, all, label);
}

tn_status tn_agree_gather_numbers(tn_communicator *communicator, size_t n, const double *values,
				  double *all, const char *label)
{
	return gather(communicator, TN_F64, n, values, all, label);
}

/* The rank's error goes to all. */
static tn_status tell(tn_communicator *communicator, struct tn_runtime *runtime, uint32_t rank,
		      struct tn_error_info *told, const char *label)
{
	tn_status status = tn_communicator_run(
		communicator,
		&(struct tn_collective_host){.struct_size = sizeof(struct tn_collective_host),
					     .operation = TN_COLLECTIVE_BROADCAST,
					     .dtype = TN_U8,
					     .root = rank,
					     .n = sizeof(*told),
					     .target = told,
					     .label = label});
	return status ? status
		      : tn_runtime_fail(runtime, told->status, told->operation, "rank %u: %s", rank,
					told->text);
}

/* The error that is kept would end the calls below, so it is put aside for them. */
tn_status tn_agree_status(tn_communicator *communicator, struct tn_runtime *runtime,
			  tn_status status, const char *label)
{
	const struct tn_error_info kept = runtime->error;
	struct tn_error_info told = kept;
	/* The lowest rank that failed has the highest number. */
	int64_t failed = status ? (int64_t)UINT32_MAX - tn_communicator_rank(communicator) : -1;
	tn_error_clear(runtime->context);
	told.status = kept.status ? kept.status : status;
	tn_status sent = tn_agree_max(communicator, 1, &failed, label);
	if (!sent && failed >= 0)
		sent = tell(communicator, runtime, (uint32_t)(UINT32_MAX - failed), &told, label);
	if (!status)
		return sent;
	runtime->error = kept;
	return status;
}
