/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a host of any version expects of tests/abi/skew/communicator.c of any other version.
 */
#ifndef TN_TESTS_COMMUNICATOR_CALLS_H
#define TN_TESTS_COMMUNICATOR_CALLS_H

#include <tenon/communicator.h>

#include "calls.h"

struct communicator_peer {
	int level; /* the plugin's */
	void *instance;
	struct tn_communicator_table table; /* without empty slots */
};

static void check_joined(const struct communicator_peer *peer, void *communicator)
{
	struct tn_communicator_description *found = guarded(sizeof(*found));
	found->struct_size = sizeof(*found);
	expect(peer->table.describe(communicator, found) == TN_OK, "describe");
	expect(found->struct_size == sizeof(*found), "describe leaves struct_size");
	expect(found->rank == 1 && found->size == 4 && found->local_rank == 1, "describe: ranks");
#if LEVEL >= 1
	expect(!strcmp(found->engine, peer->level >= 1 ? "an engine, one" : ""),
	       "describe: engine");
#endif
#if LEVEL >= 2
	expect(found->cores == (peer->level >= 2 ? 64 : 0), "describe: a newer field");
#endif
	release_guarded(found, sizeof(*found), "describe writes past the struct");
}

static void check_test(const struct communicator_peer *peer, void *communicator, void *request)
{
	struct tn_collective_state *state = guarded(sizeof(*state));
	struct tn_error_info error = {.struct_size = sizeof(error)};
	state->struct_size = sizeof(*state);
	expect(peer->table.test(communicator, request, state, &error) == TN_OK, "test");
	expect(state->is_done == 1, "test: it is done");
#if LEVEL >= 1
	expect(state->waits_for == (peer->level >= 1 ? TN_RANK_UNKNOWN : 0), "test: waits_for");
#endif
#if LEVEL >= 2
	expect(state->bytes_left == (peer->level >= 2 ? 5 : 0), "test: a newer field");
#endif
	release_guarded(state, sizeof(*state), "test writes past the struct");
}

/* A sum of two numbers, with one argument changed by `change`: the status that is expected, and
 * what is added. */
static void check_sum(const struct communicator_peer *peer, void *communicator,
		      void (*change)(struct tn_collective_args *args), tn_status expected,
		      float added)
{
	const float source[2] = {1, 3};
	float target[2] = {-1, -1};
	void *request = NULL;
	struct tn_error_info *error = guarded(sizeof(*error));
	struct tn_collective_args *args = guarded(sizeof(*args));
	*args = (struct tn_collective_args){
		.call = {.struct_size = sizeof(*args), .error = error},
		.operation = TN_COLLECTIVE_ALL_REDUCE,
		.combiner = TN_REDUCE_SUM,
		.dtype = TN_F32,
		.n = 2,
		.source = source,
		.target = target,
	};
	error->struct_size = sizeof(*error);
	if (change)
		change(args);
	expect(peer->table.start(communicator, args, &request) == expected, "start: its status");
	if (expected) {
		expect(error->status == expected && error->operation[0], "start: its error");
		expect(target[0] == -1 && !request, "start: nothing happened");
	} else {
		expect(target[0] == 4 + added && target[1] == 12 + added, "start: the sum");
		check_test(peer, communicator, request);
	}
	release_guarded(args, sizeof(*args), "start writes past the arguments");
	release_guarded(error, sizeof(*error), "start writes past the error");
}

static void change_operation(struct tn_collective_args *args)
{
	args->operation = TN_COLLECTIVE_UNASSIGNED;
}

static void change_flags(struct tn_collective_args *args)
{
	args->call.flags = TN_CALL_FLAG_UNASSIGNED;
}

#if LEVEL >= 2
static void change_later(struct tn_collective_args *args)
{
	args->later = 2;
}
#endif

static void check_communicator(const struct communicator_peer *peer)
{
	struct tn_communicator_open_args *args = guarded(sizeof(*args));
	void *communicator = NULL;
	args->call.struct_size = sizeof(*args);
	expect(peer->table.open(peer->instance, args, &communicator) == TN_OK, "open");
	release_guarded(args, sizeof(*args), "open writes past the arguments");
	check_joined(peer, communicator);
	check_sum(peer, communicator, NULL, TN_OK, 0);
	check_sum(peer, communicator, change_operation, TN_UNSUPPORTED, 0);
	check_sum(peer, communicator, change_flags, TN_UNSUPPORTED, 0);
#if LEVEL >= 2
	check_sum(peer, communicator, change_later, peer->level >= 2 ? TN_OK : TN_UNSUPPORTED, 2);
	expect(!peer->table.later == (peer->level < 2), "a newer slot, or NULL");
#endif
	peer->table.close(communicator);
}

#endif
