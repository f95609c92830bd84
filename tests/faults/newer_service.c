/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it looks for a service behind those of the oldest host that it accepts, without asking
 * for struct_size.
 * Conform: L5 host.oldest
 */
#include "right.h"

/* Struct tn_host as a later version may have it. */
struct later_host {
	struct tn_host host;
	uint64_t (*clock)(void *context);
};

static volatile int has_clock;

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	has_clock = ((const struct later_host *)host)->clock != NULL;
	return right_create(host, error, instance);
}

static void break_it(struct right *right)
{
	(void)right;
}

RIGHT_PLUGIN_OF("newer_service", create);
