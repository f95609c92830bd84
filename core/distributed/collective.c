/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Whether the members of an operation are what it needs.
 */
#include <string.h>

#include "distributed/collective.h"

static const char *const names[] = {
	[TN_COLLECTIVE_BARRIER] = "barrier",
	[TN_COLLECTIVE_BROADCAST] = "broadcast",
	[TN_COLLECTIVE_ALL_REDUCE] = "all_reduce",
	[TN_COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
	[TN_COLLECTIVE_ALL_GATHER] = "all_gather",
};

static int is_known(uint32_t operation)
{
	return operation >= TN_COLLECTIVE_BARRIER && operation <= TN_COLLECTIVE_ALL_GATHER;
}

const char *tn_collective_name(uint32_t operation)
{
	return is_known(operation) ? names[operation] : "collective";
}

static int reduces(uint32_t operation)
{
	return operation == TN_COLLECTIVE_ALL_REDUCE || operation == TN_COLLECTIVE_REDUCE_SCATTER;
}

static tn_status check_reduction(const struct tn_collective_host *o, const char *name,
				 struct tn_error_info *error)
{
	const uint64_t dtypes = 1u << TN_F16 | 1u << TN_BF16 | 1u << TN_F32 | 1u << TN_F64 |
				1u << TN_I32 | 1u << TN_I64 | 1u << TN_U64;
	if (o->combiner != TN_REDUCE_SUM && o->combiner != TN_REDUCE_MAX &&
	    o->combiner != TN_REDUCE_MIN)
		return tn_fail(error, TN_INVALID_ARGUMENT, name,
			       "combiner: expected TN_REDUCE_SUM, TN_REDUCE_MAX or TN_REDUCE_MIN, "
			       "found %u",
			       o->combiner);
	if (!(dtypes >> o->dtype & 1))
		return tn_fail(error, TN_DTYPE, name,
			       "dtype: expected f16, bf16, f32, f64, i32, i64 or u64, found %s",
			       tn_dtype_name(o->dtype));
	return TN_OK;
}

/* Have two pieces of memory a byte in common? */
static int overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
	return x < y + b_bytes && y < x + a_bytes;
}

/* The two operands, one of which may be `in_place` within the other. */
static tn_status check_operands(const struct tn_collective_host *o, const char *name, uint32_t rank,
				uint32_t size, struct tn_error_info *error)
{
	uint64_t bytes = o->n * tn_dtype_size(o->dtype);
	const char *source = o->source, *target = o->target;
	uint64_t of_source = bytes, of_target = bytes;
	int in_place = source == target;
	if (o->operation == TN_COLLECTIVE_REDUCE_SCATTER) {
		of_source *= size;
		in_place = target == source + rank * bytes;
	} else if (o->operation == TN_COLLECTIVE_ALL_GATHER) {
		of_target *= size;
		in_place = source == target + rank * bytes;
	}
	if (!source || !target)
		return tn_fail(error, TN_INVALID_ARGUMENT, name, "%s is NULL",
			       source ? "target" : "source");
	if (!in_place && overlap(source, of_source, target, of_target))
		return tn_fail(error, TN_INVALID_ARGUMENT, name,
			       "source and target overlap, and not as the operation in place");
	return TN_OK;
}

static tn_status check_broadcast(const struct tn_collective_host *o, uint32_t size,
				 struct tn_error_info *error)
{
	if (o->root >= size)
		return tn_fail(error, TN_INVALID_ARGUMENT, "broadcast",
			       "root: expected a rank below %u, found %u", size, o->root);
	if (o->source)
		return tn_fail(error, TN_INVALID_ARGUMENT, "broadcast",
			       "source: expected NULL, the root's target is sent");
	if (!o->target && o->n)
		return tn_fail(error, TN_INVALID_ARGUMENT, "broadcast", "target is NULL");
	return TN_OK;
}

static tn_status check_barrier(const struct tn_collective_host *o, struct tn_error_info *error)
{
	if (o->n || o->dtype || o->source || o->target)
		return tn_fail(error, TN_INVALID_ARGUMENT, "barrier",
			       "expected no elements and no memory, found n = %llu, dtype %d",
			       (unsigned long long)o->n, o->dtype);
	return TN_OK;
}

tn_status tn_collective_check(const tn_communicator *communicator,
			      const struct tn_collective_host *o, struct tn_error_info *error)
{
	const struct tn_communicator_description *own = &communicator->description;
	const char *name = tn_collective_name(o->operation);
	if (!is_known(o->operation))
		return tn_fail(error, TN_INVALID_ARGUMENT, name,
			       "operation: expected TN_COLLECTIVE_..., found %u", o->operation);
	if ((!reduces(o->operation) && o->combiner) || o->reserved ||
	    (o->operation != TN_COLLECTIVE_BROADCAST && o->root))
		return tn_fail(error, TN_INVALID_ARGUMENT, name,
			       "expected 0 where it has no combiner or root, found combiner %u, "
			       "root %u, reserved %u",
			       o->combiner, o->root, o->reserved);
	if (o->operation == TN_COLLECTIVE_BARRIER)
		return check_barrier(o, error);
	size_t element = tn_dtype_size(o->dtype);
	if (!element)
		return tn_fail(error, TN_DTYPE, name, "dtype: %d is not an element type", o->dtype);
	if (o->n > INT64_MAX / own->size / element)
		return tn_fail(error, TN_LIMIT, name,
			       "%llu elements of %u ranks have more bytes than can be addressed",
			       (unsigned long long)o->n, own->size);
	if (o->operation == TN_COLLECTIVE_BROADCAST)
		return check_broadcast(o, own->size, error);
	tn_status status = reduces(o->operation) ? check_reduction(o, name, error) : TN_OK;
	if (status || !o->n)
		return status;
	return check_operands(o, name, own->rank, own->size, error);
}

uint64_t tn_collective_elements(const struct tn_collective_host *operation, uint32_t size)
{
	int spreads = operation->operation == TN_COLLECTIVE_REDUCE_SCATTER ||
		      operation->operation == TN_COLLECTIVE_ALL_GATHER;
	return spreads ? operation->n * size : operation->n;
}
