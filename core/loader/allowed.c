/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Asks the selection, with the kind that a plugin's data file states.
 */
#include "loader/allowed.h"

#include "base/error.h"
#include "loader/known_plugins.h"
#include "loader/report.h"

tn_status tn_plugin_allowed(const struct tn_loading *loading, const char *name,
			    struct tn_error_info *error)
{
	const struct tn_known *known = loading->known ? tn_known_find(loading->known, name) : NULL;
	if (tn_selection_excludes(&loading->selection, name))
		return tn_fail(error, TN_EXCLUDED, "search", "excluded by '^%s'", name);
	if (tn_selection_forbids(&loading->selection, name, known ? known->kind : 0))
		return tn_fail(error, TN_EXCLUDED, "search", "excluded by %s=%s", loading->source,
			       loading->report->selection);
	return TN_OK;
}
