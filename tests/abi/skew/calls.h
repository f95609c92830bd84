/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a host of any version expects of tests/abi/skew/plugin.c of any other version, calling it
 * with structs of its own sizes.  Guards surround memory that the callee must not access.
 */
#ifndef TN_TESTS_CALLS_H
#define TN_TESTS_CALLS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

struct peer {
	int level;          /* the plugin's */
	uint32_t abi_minor; /* the effective one */
	void *instance;
	struct tn_device_table device;
	struct tn_compute_table compute;
	struct tn_copy_table copy; /* without empty slots */
	struct tn_memory_table memory;
};

static int failures;

static void expect(int condition, const char *what)
{
	if (condition)
		return;
	printf("FAILED: %s\n", what);
	failures++;
}

/* Memory of exactly that size between guard bytes. */
enum { GUARD = 64 };

static void *guarded(size_t size)
{
	unsigned char *memory = malloc(size + 2 * GUARD);
	if (!memory)
		exit(2);
	memset(memory, 0xa5, size + 2 * GUARD);
	memset(memory + GUARD, 0, size);
	return memory + GUARD;
}

static void release_guarded(void *guarded_memory, size_t size, const char *what)
{
	unsigned char *memory = (unsigned char *)guarded_memory - GUARD;
	int whole = 1;
	for (size_t i = 0; i < GUARD; i++)
		whole &= memory[i] == 0xa5 && memory[GUARD + size + i] == 0xa5;
	expect(whole, what);
	free(memory);
}

static void check_count(const struct peer *peer)
{
	struct tn_device_count *count = guarded(sizeof(*count));
	count->struct_size = sizeof(*count);
	expect(peer->device.device_count(peer->instance, count) == TN_OK, "device_count");
	expect(count->count == 1, "device_count counts one device");
	expect(count->struct_size == sizeof(*count), "device_count leaves struct_size");
#if LEVEL >= 2
	expect(count->seen == (peer->level >= 2 ? 3 : 0), "device_count: a newer field");
#endif
	release_guarded(count, sizeof(*count), "device_count writes past the struct");
}

static void check_description(const struct peer *peer)
{
	struct tn_device_description *device = guarded(sizeof(*device));
	char expected[128];
	device->struct_size = sizeof(*device);
	expect(peer->device.describe(peer->instance, 0, device) == TN_OK, "describe");
	snprintf(expected, sizeof(expected), "minor %u, checks %d, cores %u, mode %s",
		 peer->abi_minor, LEVEL >= 1 && peer->level >= 1,
		 LEVEL >= 2 && peer->level >= 2 ? 48u : 0u,
		 LEVEL >= 1 && peer->level >= 1 ? "one" : "-");
	expect(!strcmp(device->name, expected), "describe: the plugin sees the host as it is");
	if (strcmp(device->name, expected))
		printf("expected '%s', found '%s'\n", expected, device->name);
#if LEVEL >= 1
	expect(!strcmp(device->note, peer->level >= 1 ? "a note" : ""), "describe: note");
#endif
#if LEVEL >= 2
	expect(device->cores == (peer->level >= 2 ? 64 : 0), "describe: a newer field");
#endif
	release_guarded(device, sizeof(*device), "describe writes past the struct");
}

static void check_memory(const struct peer *peer, void *device)
{
	struct tn_memory_information *memory = guarded(sizeof(*memory));
	memory->struct_size = sizeof(*memory);
	expect(peer->memory.information(device, TN_MEMORY_DEVICE, memory) == TN_OK, "information");
	expect(memory->total_bytes == 1000, "information: total_bytes");
	expect(memory->free_bytes == 500, "information: free_bytes");
	release_guarded(memory, sizeof(*memory), "information writes past the struct");
}

/* Slots that the plugin's version lacks are NULL in the host's table. */
static void check_slots(const struct peer *peer, void *device)
{
	struct tn_fill_args fill = {.call = {.struct_size = sizeof(fill)}};
	expect(peer->copy.fill(device, &fill) == TN_UNSUPPORTED, "fill is there");
	expect(!peer->copy.copy, "copy is not there");
#if LEVEL >= 1
	expect(!peer->device.async_error == (peer->level < 1),
	       "async_error is there, or NULL where the table ends before it");
	struct tn_gather_args gather = {.call = {.struct_size = sizeof(gather)}};
	expect(!peer->copy.gather == (peer->level < 1),
	       "gather is there, or NULL where the table ends before it");
	expect(!peer->copy.gather || peer->copy.gather(device, &gather) == TN_OK, "gather");
#endif
#if LEVEL >= 2
	struct tn_copy_args copy = {.call = {.struct_size = sizeof(copy)}};
	expect(!peer->copy.negate == (peer->level < 2),
	       "a newer slot is there, or NULL where the table ends before it");
	expect(!peer->copy.negate || peer->copy.negate(device, &copy) == TN_OK, "negate");
	uint64_t operations = 0;
	expect(!peer->device.reset == (peer->level < 2), "a newer slot of a mandatory table");
	expect(!peer->device.reset || peer->device.reset(device) == TN_OK, "reset");
	expect(!peer->compute.cost == (peer->level < 2), "a newer slot of a mandatory table");
	expect(!peer->compute.cost || peer->compute.cost(device, &operations) == TN_OK, "cost");
#endif
}

static struct tn_operand two_by_two(const float *data)
{
	struct tn_operand x = {.buffer = (uint64_t)(uintptr_t)data,
			       .dtype = TN_F32,
			       .rank = 2,
			       .shape = {2, 2},
			       .strides = {2, 1}};
	return x;
}

/* Makes a call with arguments and error between guards. */
struct product {
	struct tn_matmul_args *args;
	struct tn_error_info *error;
	struct tn_workspace *workspace;
	float c[4];
};

static const float a_data[4] = {1, 2, 3, 4}, b_data[4] = {5, 6, 7, 8};

static void product_init(struct product *product)
{
	static const float before[4] = {100, 100, 100, 100};
	memcpy(product->c, before, sizeof(before));
	product->error = guarded(sizeof(*product->error));
	product->error->struct_size = sizeof(*product->error);
	product->workspace = guarded(sizeof(*product->workspace));
	product->workspace->struct_size = sizeof(*product->workspace);
	product->args = guarded(sizeof(*product->args));
	product->args->call.struct_size = sizeof(*product->args);
	product->args->call.error = product->error;
	product->args->call.workspace = product->workspace;
	product->args->a = two_by_two(a_data);
	product->args->b = two_by_two(b_data);
	product->args->c = two_by_two(product->c);
	product->args->alpha = 1;
}

/* Makes a dry run and the call and checks the status; on success c[0] must become `first`. */
static void product_run(struct product *product, const struct peer *peer, void *device,
			tn_status expected, float first, const char *what)
{
	uint32_t flags = product->args->call.flags;
	product->args->call.flags = flags | TN_DRY_RUN;
	expect(peer->compute.matmul(device, product->args) == expected, what);
	expect(product->c[0] == 100, "a dry run writes nothing");
	product->args->call.flags = flags;
	expect(peer->compute.matmul(device, product->args) == expected, what);
	expect(product->c[0] == (expected ? 100 : first), what);
	expect(!strcmp(product->error->operation, expected ? "matmul" : ""),
	       "the error names the operation");
	expect(product->error->struct_size == sizeof(*product->error), "struct_size is left");
#if LEVEL >= 1
	expect(!expected || peer->level == 0 || product->error->text[0], "the error has a text");
#endif
	release_guarded(product->args, sizeof(*product->args), "matmul: arguments");
	release_guarded(product->workspace, sizeof(*product->workspace), "matmul: workspace");
	release_guarded(product->error, sizeof(*product->error), "matmul: error");
}

static void check_products(const struct peer *peer, void *device)
{
	struct product product;
	product_init(&product);
	product_run(&product, peer, device, TN_OK, 19, "matmul, with a tail of zero");
	product_init(&product);
	product.args->call.flags = 1u << 30;
	product_run(&product, peer, device, TN_UNSUPPORTED, 0, "matmul with an unknown flag");
#if LEVEL >= 1
	product_init(&product);
	product.args->beta = 2;
	product_run(&product, peer, device, peer->level >= 1 ? TN_OK : TN_UNSUPPORTED, 219,
		    "matmul with beta, which came later");
#endif
#if LEVEL >= 2
	product_init(&product);
	product.args->gamma = 3;
	product_run(&product, peer, device, peer->level >= 2 ? TN_OK : TN_UNSUPPORTED, 22,
		    "matmul with gamma, which came later");
#endif
}

/* out = in, through the plugin to the host's own interpreter. */
static void check_map(const struct peer *peer, void *device)
{
	const struct tn_instruction instruction = {.op = TN_OP_INPUT, .dtype = TN_F32};
	const uint16_t output = 0;
	struct tn_program program = {.struct_size = sizeof(program),
				     .n_inputs = 1,
				     .n_outputs = 1,
				     .n_instructions = 1,
				     .instructions = &instruction,
				     .outputs = &output,
				     .bytes = &instruction,
				     .n_bytes = sizeof(instruction)};
	float c[4] = {0, 0, 0, 0};
	struct tn_operand in = two_by_two(a_data), out = two_by_two(c);
	struct tn_error_info *error = guarded(sizeof(*error));
	struct tn_map_args *args = guarded(sizeof(*args));
	error->struct_size = sizeof(*error);
	*args = (struct tn_map_args){.call = {.struct_size = sizeof(*args), .error = error},
				     .program = &program,
				     .inputs = &in,
				     .outputs = &out};
	expect(peer->compute.map(device, args) == TN_OK, "map");
	expect(!memcmp(c, a_data, sizeof(c)), "map copies");
	args->call.flags = 1u << 30;
	expect(peer->compute.map(device, args) == TN_UNSUPPORTED, "map with an unknown flag");
	expect(!strcmp(error->operation, "map"), "map's error");
	release_guarded(args, sizeof(*args), "map: arguments");
	release_guarded(error, sizeof(*error), "map: error");
}

static void check_peer(const struct peer *peer)
{
	struct tn_open_args args = {.call = {.struct_size = sizeof(args)}};
	void *device = NULL;
	check_count(peer);
	check_description(peer);
	expect(peer->device.open(peer->instance, &args, &device) == TN_OK, "open");
	check_memory(peer, device);
	check_slots(peer, device);
	check_products(peer, device);
	check_map(peer, device);
	peer->device.close(device);
}

#endif
