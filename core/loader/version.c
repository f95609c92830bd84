/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Negotiation of the interface version.  While the major is 0 the interface changes freely and the
 * minors must be equal; from 1 on both sides use the lower minor, unless one is too old for the
 * other.
 */
#include "loader/version.h"

#include "base/error.h"
#include "loader/backend.h"

tn_status tn_abi_negotiate(const struct tn_abi_version *host, const struct tn_abi_version *plugin,
			   uint32_t *effective, struct tn_error_info *error)
{
	if (plugin->major != host->major)
		return tn_fail(
			error, TN_ABI_MISMATCH, "negotiate",
			"made for interface %u.%u, this library has %u.%u: the majors differ",
			plugin->major, plugin->minor, host->major, host->minor);
	if (host->major == 0 && plugin->minor != host->minor)
		return tn_fail(error, TN_ABI_MISMATCH, "negotiate",
			       "made for interface %u.%u, this library has %u.%u: before 1.0 they "
			       "must be equal",
			       plugin->major, plugin->minor, host->major, host->minor);
	if (plugin->minor < host->oldest_peer)
		return tn_fail(
			error, TN_ABI_MISMATCH, "negotiate",
			"made for interface %u.%u, this library (%u.%u) takes %u.%u and later",
			plugin->major, plugin->minor, host->major, host->minor, host->major,
			host->oldest_peer);
	if (host->minor < plugin->oldest_peer)
		return tn_fail(error, TN_ABI_MISMATCH, "negotiate",
			       "needs a library with interface %u.%u or later, this one has %u.%u",
			       plugin->major, plugin->oldest_peer, host->major, host->minor);
	*effective = plugin->minor < host->minor ? plugin->minor : host->minor;
	return TN_OK;
}
