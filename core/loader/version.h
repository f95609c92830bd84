/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Versions of the interface and their compatibility.
 */
#ifndef TN_LOADER_VERSION_H
#define TN_LOADER_VERSION_H

#include <tenon/backend.h>

/* The oldest minor of a plugin that this library accepts, from major 1 on. */
enum { TN_ABI_OLDEST_PLUGIN = 0 };

/* A version of the interface as one side states it. */
struct tn_abi_version {
	uint32_t major;
	uint32_t minor;
	uint32_t oldest_peer; /* the oldest minor of the other side that this one accepts */
};

/* Are the two compatible?  On TN_OK *effective is the minor that both use; otherwise
 * TN_ABI_MISMATCH with both versions in the text.  A pure function. */
tn_status tn_abi_negotiate(const struct tn_abi_version *host, const struct tn_abi_version *plugin,
			   uint32_t *effective, struct tn_error_info *error);

#endif
