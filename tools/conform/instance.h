/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Another instance of the backend under test, with a kit of its own, and with host services whose
 * memory is counted and can be made to run out.
 */
#ifndef TN_TOOLS_CONFORM_INSTANCE_H
#define TN_TOOLS_CONFORM_INSTANCE_H

#include "conform.h"

struct instance {
	struct kit kit; /* kit.device is open when `stage` says so */
	struct tn_backend backend;
	struct tn_host host;
	const char *stage; /* how far it came: "create", "query", "open", "" when all is well */
};

/* Makes an instance and opens device `index`.  On failure what was made is taken back. */
tn_status instance_open(struct instance *instance, const struct kit *like, uint32_t index);
void instance_close(struct instance *instance);

/* Adds its tallies to those of the kit. */
void instance_report(const struct instance *instance, struct kit *kit);

/* ---- Host memory -----------------------------------------------------------------------------*/

/* Allocation number n from now on gives NULL, once; 0: none. */
void host_memory_fail(unsigned n);
/* Did it come to that?  Ends the failing. */
int host_memory_has_failed(void);
/* Allocations that instances have not given back. */
long host_memory_live(void);

#endif
