/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The arguments of `start`, and operations in words.
 */
#include "communicator.h"

static const char *const operation_names[] = {
	[TN_COLLECTIVE_BARRIER] = "barrier",
	[TN_COLLECTIVE_BROADCAST] = "broadcast",
	[TN_COLLECTIVE_ALL_REDUCE] = "all_reduce",
	[TN_COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
	[TN_COLLECTIVE_ALL_GATHER] = "all_gather",
};
enum { N_OPERATIONS = sizeof(operation_names) / sizeof(operation_names[0]) };

#define REDUCED_DTYPES                                                                             \
	(TN_PLUGIN_DTYPE(TN_F16) | TN_PLUGIN_DTYPE(TN_BF16) | TN_PLUGIN_DTYPE(TN_F32) |            \
	 TN_PLUGIN_DTYPE(TN_F64) | TN_PLUGIN_DTYPE(TN_I32) | TN_PLUGIN_DTYPE(TN_I64) |             \
	 TN_PLUGIN_DTYPE(TN_U64))

const char *communicator_operation_name(uint32_t operation)
{
	return operation > 0 && operation < N_OPERATIONS ? operation_names[operation]
							 : "collective";
}

const char *communicator_dtype_name(uint32_t dtype)
{
	static const char *const names[TN_DTYPES] = {"?",   "bool", "i8",  "i16", "i32", "i64",
						     "u8",  "u16",  "u32", "u64", "f16", "bf16",
						     "f32", "f64",  "c64", "c128"};
	return names[dtype < TN_DTYPES ? dtype : 0];
}

int communicator_is_reduction(uint32_t operation)
{
	return operation == TN_COLLECTIVE_ALL_REDUCE || operation == TN_COLLECTIVE_REDUCE_SCATTER;
}

static const char *combiner_name(uint32_t combiner)
{
	switch (combiner) {
	case TN_REDUCE_SUM:
		return "sum";
	case TN_REDUCE_MAX:
		return "maximum";
	case TN_REDUCE_MIN:
		return "minimum";
	default:
		return "?";
	}
}

void communicator_describe_header(const struct communicator_header *header, char *text, size_t size)
{
	const char *name = communicator_operation_name(header->operation);
	const char *dtype = communicator_dtype_name(header->dtype);
	const unsigned long long n = header->n;
	if (communicator_is_reduction(header->operation))
		(void)snprintf(text, size, "%s(%s of %llu %s)", name,
			       combiner_name(header->combiner), n, dtype);
	else if (header->operation == TN_COLLECTIVE_BROADCAST)
		(void)snprintf(text, size, "%s(%llu %s from rank %u)", name, n, dtype,
			       header->root);
	else if (header->operation == TN_COLLECTIVE_BARRIER)
		(void)snprintf(text, size, "%s", name);
	else
		(void)snprintf(text, size, "%s(%llu %s)", name, n, dtype);
}

struct communicator_header communicator_header_of(const struct tn_collective_args *args)
{
	const struct communicator_header header = {args->operation, args->combiner,
						   (uint32_t)args->dtype, args->root, args->n};
	return header;
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_numbers(const struct tn_collective_args *args, uint32_t size)
{
	struct tn_error_info *error = args->call.error;
	const char *name = communicator_operation_name(args->operation);
	const int is_reduction = communicator_is_reduction(args->operation);
	const int is_barrier = args->operation == TN_COLLECTIVE_BARRIER;
	const int is_combiner = args->combiner == TN_REDUCE_SUM ||
				args->combiner == TN_REDUCE_MAX || args->combiner == TN_REDUCE_MIN;
	const int is_dtype =
		tn_dtype_size(args->dtype) && (!is_reduction || REDUCED_DTYPES >> args->dtype & 1);
	if (args->operation == 0 || args->operation >= N_OPERATIONS)
		return tn_plugin_fail(error, TN_UNSUPPORTED, name,
				      "operation %u is not known to this version", args->operation);
	if (is_reduction ? !is_combiner : args->combiner)
		return tn_plugin_fail(error, TN_UNSUPPORTED, name, "combiner %u: expected %s",
				      args->combiner,
				      is_reduction ? "sum, maximum or minimum" : "0");
	if (is_barrier ? args->dtype : !is_dtype)
		return tn_plugin_fail(error, TN_UNSUPPORTED, name, "dtype %d: expected %s",
				      (int)args->dtype,
				      is_barrier     ? "0"
				      : is_reduction ? "f16, bf16, f32, f64, i32, i64 or u64"
						     : "a dtype of this version");
	if (args->operation == TN_COLLECTIVE_BROADCAST ? args->root >= size : args->root)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, name,
				      "root %u: expected %s, of %u ranks", args->root,
				      args->operation == TN_COLLECTIVE_BROADCAST ? "a rank" : "0",
				      size);
	if (is_barrier && args->n)
		return tn_plugin_fail(error, TN_UNSUPPORTED, name, "n is %llu: expected 0",
				      (unsigned long long)args->n);
	return TN_OK;
}

/* An operand, as addresses. */
struct range {
	uintptr_t begin, end;
};

static struct range range_of(const void *memory, uint64_t bytes)
{
	const struct range range = {(uintptr_t)memory, (uintptr_t)memory + bytes};
	return range;
}

static int overlap(const struct range *a, const struct range *b)
{
	return a->begin < b->end && b->begin < a->end;
}

static tn_status check_operand(const struct tn_collective_args *args, const char *which,
			       const void *operand, int is_used)
{
	const size_t element = tn_dtype_size(args->dtype);
	const int is_complex = tn_plugin_dtype_kind(args->dtype) == TN_PLUGIN_KIND_COMPLEX;
	const char *name = communicator_operation_name(args->operation);
	if (is_used && !operand)
		return tn_plugin_fail(args->call.error, TN_INVALID_ARGUMENT, name,
				      "%s: expected %llu elements, found NULL", which,
				      (unsigned long long)args->n);
	if ((uintptr_t)operand % (is_complex ? element / 2 : element))
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "%s is not aligned as its elements, %s, are", which,
				      communicator_dtype_name((uint32_t)args->dtype));
	return TN_OK;
}

static tn_status check_operands(const struct tn_collective_args *args, uint32_t rank, uint32_t size)
{
	const uint64_t element = tn_dtype_size(args->dtype);
	const int has_source = args->operation != TN_COLLECTIVE_BROADCAST;
	const char *name = communicator_operation_name(args->operation);
	uint64_t bytes, all;
	if (__builtin_mul_overflow(args->n, element, &bytes) ||
	    __builtin_mul_overflow(bytes, size, &all) || all > INT64_MAX)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "n is %llu: more than memory can hold",
				      (unsigned long long)args->n);
	if (!has_source && args->source)
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "source: expected NULL");
	if (!args->n)
		return TN_OK;
	tn_status status = check_operand(args, "target", args->target, 1);
	if (!status)
		status = check_operand(args, "source", args->source, has_source);
	if (status || !has_source)
		return status;

	const int scatters = args->operation == TN_COLLECTIVE_REDUCE_SCATTER;
	const int gathers = args->operation == TN_COLLECTIVE_ALL_GATHER;
	const struct range source = range_of(args->source, scatters ? all : bytes);
	const struct range target = range_of(args->target, gathers ? all : bytes);
	const uintptr_t own = rank * (uintptr_t)bytes;
	const int is_in_place =
		target.begin + (gathers ? own : 0) == source.begin + (scatters ? own : 0);
	if (!is_in_place && overlap(&source, &target))
		return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, name,
				      "source and target overlap, but not as in place");
	return TN_OK;
}

tn_status communicator_take(struct tn_collective_args *own, const struct tn_collective_args *theirs,
			    uint32_t rank, uint32_t size)
{
	tn_status status = tn_plugin_take(own, sizeof(*own), theirs, TN_DETERMINISTIC, "start");
	if (!status)
		status = check_numbers(own, size);
	if (!status && own->operation != TN_COLLECTIVE_BARRIER)
		status = check_operands(own, rank, size);
	return status;
}
