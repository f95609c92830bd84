/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Another instance of the backend under test, with its own kit, and with host services that count
 * allocations and can make them fail.
 */
#ifndef TN_TOOLS_CONFORM_INSTANCE_H
#define TN_TOOLS_CONFORM_INSTANCE_H

#include "conform.h"

struct instance {
	struct kit kit; /* kit.device is open if `stage` is "" */
	struct tn_backend backend;
	struct tn_host host;
	struct tn_host *given; /* to create: &host, or one of another size */
	const char *stage;     /* the failed stage: "create", "query", "open"; "": none */
};

/* Makes an instance and opens device `index`.  On failure everything is undone. */
tn_status instance_open(struct instance *instance, const struct kit *like, uint32_t index);
/* The same with a struct tn_host of `size` bytes, behind which no memory is mapped, as a host of
 * interface minor `minor` has it. */
tn_status instance_open_under(struct instance *instance, const struct kit *like, uint32_t index,
			      uint32_t minor, size_t size);
void instance_close(struct instance *instance);

/* Adds its tallies to those of the kit. */
void instance_report(const struct instance *instance, struct kit *kit);

/* ---- Host memory -----------------------------------------------------------------------------*/

/* Makes allocation number n from now on return NULL, once; 0: none. */
void host_memory_fail(unsigned n);
/* Was it reached?  Resets it. */
int host_memory_has_failed(void);
/* The number of allocations not yet freed by instances. */
long host_memory_live(void);

#endif
