/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Two contexts that share the instance and the device, as in a program with two threads: their
 * calls alternate, in streams of their own, and the results must be those of one alone.  All
 * numbers have at most 8 bits, so that results are exact on every device.
 */
#include <pthread.h>

#include "array/runtime.h"
#include "context.h"
#include "device/device.h"
#include "slots.h"

enum { SIDE = 32, ROUNDS = 60, VALUES = 5 };
static const double values[VALUES] = {0.25, 0.5, 1, 2, 4};

/* SIDE x SIDE numbers, all `value`; destroyed by the caller. */
static tn_array *make_square(tn_context *context, double value)
{
	return tn_full(context, TN_F32, 2, (int64_t[]){SIDE, SIDE}, value);
}

/* Each element of A A + A, where all elements of A are `value`. */
static double expected_of(double value)
{
	return SIDE * value * value + value;
}

/* Is it what the context computes from A? */
static int is_right(tn_context *context, tn_array *a, double value)
{
	double least = 0, most = 0;
	if (tn_scope_begin(context))
		return 0;
	const tn_array *result = tn_add(tn_matmul(a, a), a);
	tn_status status = tn_item(tn_min(result, TN_ALL_AXES, NULL, 0), &least);
	if (!status)
		status = tn_item(tn_max(result, TN_ALL_AXES, NULL, 0), &most);
	tn_scope_end(context, NULL);
	return !status && least == expected_of(value) && most == expected_of(value);
}

struct user {
	tn_context *context;
	int first; /* of the values that it computes with */
	int n_wrong;
};

static void *compute(void *argument)
{
	struct user *user = argument;
	for (int round = 0; round < ROUNDS; round++) {
		const double value = values[(user->first + round) % VALUES];
		tn_array *a = make_square(user->context, value);
		user->n_wrong += !is_right(user->context, a, value);
		tn_array_destroy(a);
	}
	return NULL;
}

static void compute_at_once(struct kit *kit, struct user users[2])
{
	pthread_t thread;
	kit_case(kit, KIT_PROCESS, "two contexts of a device in two threads");
	if (pthread_create(&thread, NULL, compute, &users[1]))
		kit_give_up(kit, "cannot create a thread");
	compute(&users[0]);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		if (users[i].n_wrong)
			return kit_fail(kit, "%d of %d results of context %d are wrong",
					users[i].n_wrong, ROUNDS, i + 1);
	}
	kit_pass(kit);
}

/* An index that is out of range fails in the second context alone. */
static void keep_errors_apart(struct kit *kit, const struct user users[2])
{
	const int64_t far[] = {SIDE + 7};
	tn_context *one = users[0].context, *two = users[1].context;
	kit_case(kit, KIT_PROCESS, "an error of one of two contexts of a device");
	tn_array *a = make_square(two, 1);
	tn_array *index = tn_from_host(two, TN_I64, 1, (int64_t[]){1}, far);
	(void)tn_take(a, index, 0, TN_RAISE);
	if (tn_synchronize(one))
		kit_fail(kit, "the other context has it: %s", tn_error(one)->text);
	else if (!tn_synchronize(two))
		kit_fail(kit, "its own context does not have it");
	else
		kit_pass(kit);
	tn_error_clear(one);
	tn_error_clear(two);
}

/* What the first context has made is there when the second one is gone. */
static void outlive(struct kit *kit, struct user users[2], tn_array *made)
{
	kit_case(kit, KIT_PROCESS, "one of two contexts of a device when the other is closed");
	tn_context_close(users[1].context);
	users[1].context = NULL;
	if (is_right(users[0].context, made, values[0]))
		kit_pass(kit);
	else
		kit_fail(kit, "what it has made before is wrong now");
}

static int have_one_device(const struct user users[2])
{
	return tn_device_current(users[0].context)->handle ==
	       tn_device_current(users[1].context)->handle;
}

void check_threads_shared(struct kit *kit)
{
	struct user users[2] = {{.context = kit_context(kit), .first = 0},
				{.context = kit_second_context(kit), .first = 2}};
	if (have_one_device(users)) {
		tn_array *made = make_square(users[0].context, values[0]);
		compute_at_once(kit, users);
		keep_errors_apart(kit, users);
		outlive(kit, users, made);
		tn_array_destroy(made);
	} else {
		kit_skip(kit, "it has one stream: contexts do not share its devices");
	}
	tn_context_close(users[1].context);
}
