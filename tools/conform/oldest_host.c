/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The plugin works under the oldest host that it accepts, whose struct tn_host ends before the
 * services that were added later.
 */
#include "instance.h"
#include "samples.h"
#include "slots.h"

/* struct tn_host as it grew: up to which field a host of at least that minor has it.  Each minor
 * that adds a service adds a row.  Before 1.0 a plugin's oldest host is one of its own minor. */
static const struct {
	uint32_t minor;
	size_t size;
} hosts[] = {
	{0, offsetof(struct tn_host, program_check) + sizeof(((struct tn_host *)0)->program_check)},
};

static size_t size_of_host(uint32_t minor)
{
	size_t size = 0;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		if (hosts[i].minor <= minor)
			size = hosts[i].size;
	}
	return size;
}

/* Calls every slot, with the results that it has under the newest host. */
static void use(struct kit *kit, struct kit *other)
{
	for (int slot = sample_next(kit, -1); slot >= 0; slot = sample_next(kit, slot)) {
		struct sample here, there;
		sample_make(kit, &here, slot, "under the newest host");
		tn_status expected = sample_run(&here);
		sample_make(other, &there, slot, "under the oldest host");
		tn_status found = sample_run(&there);
		/* Without the newer services it may do less. */
		if (found != expected && found != TN_UNSUPPORTED)
			kit_fail(other, "it returned %s, and %s under the newest host",
				 tn_status_name(found), tn_status_name(expected));
		if (!found && !expected) {
			size_t size;
			unsigned char *result = sample_result(&here, &size);
			sample_expect_close(&there, result, kit->check->id);
			free(result);
		}
		sample_free(&there);
		sample_free(&here);
	}
}

void check_oldest_host(struct kit *kit)
{
	struct instance *instance = malloc(sizeof(*instance));
	const uint32_t minor = kit->backend->plugin.descriptor.oldest_host;
	const size_t size = size_of_host(minor);
	if (!instance)
		kit_give_up(kit, "the kit is out of memory");
	kit_case(kit, KIT_PROCESS, "a host of interface %u.%u: %zu bytes of services", TN_ABI_MAJOR,
		 minor, size);
	if (instance_open_under(instance, kit, kit->index, minor, size)) {
		kit_fail(kit, "%s: %s", instance->stage, instance->kit.error.text);
	} else {
		use(kit, &instance->kit);
		instance_close(instance);
		instance_report(instance, kit);
		kit_case(kit, KIT_PROCESS, "a host of interface %u.%u", TN_ABI_MAJOR, minor);
		kit_pass(kit);
	}
	free(instance);
}
