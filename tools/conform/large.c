/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * --mode=large: sizes and offsets that do not fit 24, 31 or 32 bits, if the device has enough
 * memory, and the sweeps of sizes with a larger budget.
 */
#include "programs.h"
#include "slots.h"
#include "sweep_layers.h"

enum { CHUNK = 32 << 20 }; /* bytes moved and compared at once */

static tn_status move(struct kit *kit, int to_device, uint64_t buffer, uint64_t offset, void *host,
		      uint64_t size)
{
	struct tn_transfer_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
					.buffer = buffer,
					.offset = offset,
					.size = size,
					.host = host};
	return to_device ? kit->backend->device.upload(kit->device, &args)
			 : kit->backend->device.download(kit->device, &args);
}

/* Element i before the call; the call negates it.  Adjacent elements differ, and so do elements a
 * power of two apart. */
static uint32_t pattern(uint64_t i)
{
	return (uint32_t)(i * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static void set_element(unsigned char *chunk, size_t size, uint64_t i, uint32_t value)
{
	if (size == 1)
		chunk[i] = (unsigned char)value;
	else
		memcpy(chunk + i * size, &value, size);
}

/* Uploads the operand's elements, or compares those on the device with the results. */
static void each_chunk(struct kit *kit, const struct tn_operand *operand, int compares)
{
	const uint64_t n = (uint64_t)operand->shape[0], size = tn_dtype_size(operand->dtype);
	const uint64_t most = CHUNK / size;
	unsigned char *chunk = malloc(CHUNK), *found = malloc(CHUNK);
	if (!chunk || !found)
		kit_give_up(kit, "the kit is out of memory");
	for (uint64_t first = 0; first < n; first += most) {
		uint64_t count = n - first < most ? n - first : most;
		uint64_t at = operand->offset + first * size;
		for (uint64_t i = 0; i < count; i++) {
			uint32_t value = pattern(first + i);
			set_element(chunk, size, i, compares ? 0u - value : value);
		}
		if (move(kit, !compares, operand->buffer, at, compares ? found : chunk,
			 count * size))
			kit_give_up(kit, "a transfer of %llu bytes at %llu: %s",
				    (unsigned long long)(count * size), (unsigned long long)at,
				    kit->error.text);
		for (uint64_t b = 0; compares && b < count * size; b++) {
			if (chunk[b] != found[b]) {
				kit_fail(kit,
					 "element %llu of %llu: expected byte %02x, found %02x",
					 (unsigned long long)(first + b / size),
					 (unsigned long long)n, chunk[b], found[b]);
				break;
			}
		}
	}
	free(chunk);
	free(found);
}

/* x := -x for n elements at an offset of a buffer that ends with them. */
static void negates(struct kit *kit, tn_dtype dtype, int64_t n, uint64_t offset)
{
	struct tn_operand x = {.offset = offset, .dtype = dtype, .rank = 1, .shape = {n}};
	struct tn_alloc_args alloc = {.call = {.struct_size = sizeof(alloc), .error = &kit->error},
				      .size = offset + (uint64_t)n * tn_dtype_size(dtype)};
	struct tn_free_args release = {.call = CALL(struct tn_free_args)};
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	x.strides[0] = 1;
	kit_case(kit, TN_SLOT_MAP, "map: %lld elements of %s at offset %llu", (long long)n,
		 tn_dtype_name(dtype), (unsigned long long)offset);
	tn_status status = alloc.size > kit->description.max_alloc_bytes
				   ? TN_OUT_OF_MEMORY
				   : kit->backend->device.alloc(kit->device, &alloc, &x.buffer);
	if (status == TN_OUT_OF_MEMORY)
		return kit_skip(kit, "the device has less than %llu bytes",
				(unsigned long long)alloc.size);
	if (status)
		return kit_fail(kit, "alloc: %s", kit->error.text);
	struct tn_program *program = operation_program(TN_OP_NEG, 1, TN_I32, TN_I32);
	struct tn_map_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				   .program = program,
				   .inputs = &x,
				   .outputs = &x};
	each_chunk(kit, &x, 0);
	if (kit_enter(kit, &args))
		kit_fail(kit, "%s", kit->error.text);
	else
		each_chunk(kit, &x, 1);
	kit_pass(kit);
	tn_program_destroy(program);
	release.buffer = x.buffer;
	kit->backend->device.free(kit->device, &release);
}

static void check_large_many(struct kit *kit)
{
	negates(kit, TN_I32, (1 << 24) + 3, 0);
}

static void check_large_bytes(struct kit *kit)
{
	negates(kit, TN_I32, (1 << 29) + 3, 0);
}

static void check_large_elements(struct kit *kit)
{
	negates(kit, TN_U8, (INT64_C(1) << 31) + 3, 0);
}

static void check_large_offset(struct kit *kit)
{
	negates(kit, TN_I32, 100003, (UINT64_C(1) << 32) + 256);
}

const struct check large_checks[] = {
	{"large.many", 2, "map runs over more than 2^24 elements", check_large_many},
	{"large.bytes", 2, "map runs over more than 2^31 bytes", check_large_bytes},
	{"large.elements", 2, "map runs over more than 2^31 elements", check_large_elements},
	{"large.offset", 2, "map runs at offsets from 2^32 on", check_large_offset},
	{"large.alloc", 1, "memory of all sizes can be allocated, up to half of what is free",
	 check_sizes_alloc},
	{"large.transfer", 1, "transfers of all sizes and offsets up to a gigabyte",
	 check_sizes_transfer},
	{"large.map", 2, "sizes.map, with a larger budget", check_sizes_map},
	{"large.reduce", 2, "sizes.reduce, with a larger budget", check_sizes_reduce},
	{"large.matmul", 2, "sizes.matmul, with a larger budget", check_sizes_matmul},
	{"large.fill", 2, "sizes.fill, with a larger budget", check_sizes_fill},
	{"large.copy", 2, "sizes.copy, with a larger budget", check_sizes_copy},
	{"large.gather", 2, "sizes.gather, with a larger budget", check_sizes_gather},
	{"large.scatter_add", 2, "sizes.scatter_add, with a larger budget",
	 check_sizes_scatter_add},
	{"large.scatter", 2, "sizes.scatter, with a larger budget", check_sizes_scatter},
	{"large.sort", 2, "sizes.sort, with a larger budget", check_sizes_sort},
	{"large.scan", 2, "sizes.scan, with a larger budget", check_sizes_scan},
	{"large.matmul_prepack", 2, "sizes.matmul_prepack, with a larger budget",
	 check_sizes_matmul_prepack},
	{"large.matmul_epilogue", 2, "sizes.matmul_epilogue, with a larger budget",
	 check_sizes_matmul_epilogue},
	{"large.conv2d_forward", 3, "sizes.conv2d_forward, with a larger budget",
	 check_sizes_conv2d_forward},
	{"large.conv2d_prepack", 3, "sizes.conv2d_prepack, with a larger budget",
	 check_sizes_conv2d_prepack},
	{"large.pool2d_forward", 3, "sizes.pool2d_forward, with a larger budget",
	 check_sizes_pool2d_forward},
	{"large.batch_norm_forward", 3, "sizes.batch_norm_forward, with a larger budget",
	 check_sizes_batch_norm_forward},
	{"large.layer_norm_forward", 3, "sizes.layer_norm_forward, with a larger budget",
	 check_sizes_layer_norm_forward},
	{"large.group_norm_forward", 3, "sizes.group_norm_forward, with a larger budget",
	 check_sizes_group_norm_forward},
	{"large.softmax_forward", 3, "sizes.softmax_forward, with a larger budget",
	 check_sizes_softmax_forward},
	{"large.cross_entropy_forward", 3, "sizes.cross_entropy_forward, with a larger budget",
	 check_sizes_cross_entropy_forward},
	{"large.attention_forward", 3, "sizes.attention_forward, with a larger budget",
	 check_sizes_attention_forward},
	{"large.conv2d_input_gradient", 4, "sizes.conv2d_input_gradient, with a larger budget",
	 check_sizes_conv2d_input_gradient},
	{"large.conv2d_weight_gradient", 4, "sizes.conv2d_weight_gradient, with a larger budget",
	 check_sizes_conv2d_weight_gradient},
	{"large.pool2d_backward", 4, "sizes.pool2d_backward, with a larger budget",
	 check_sizes_pool2d_backward},
	{"large.batch_norm_backward", 4, "sizes.batch_norm_backward, with a larger budget",
	 check_sizes_batch_norm_backward},
	{"large.layer_norm_backward", 4, "sizes.layer_norm_backward, with a larger budget",
	 check_sizes_layer_norm_backward},
	{"large.group_norm_backward", 4, "sizes.group_norm_backward, with a larger budget",
	 check_sizes_group_norm_backward},
	{"large.softmax_backward", 4, "sizes.softmax_backward, with a larger budget",
	 check_sizes_softmax_backward},
	{"large.cross_entropy_backward", 4, "sizes.cross_entropy_backward, with a larger budget",
	 check_sizes_cross_entropy_backward},
	{"large.attention_backward", 4, "sizes.attention_backward, with a larger budget",
	 check_sizes_attention_backward},
	{NULL, 0, NULL, NULL},
};
