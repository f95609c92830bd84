/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Notes the stage that a candidate has reached, and tells exclusions, absences and failures apart.
 */
#include "loader/stage.h"

#include <string.h>

#include "base/error.h"
#include "loader/report.h"

void tn_plugin_enter(const struct tn_loading *loading, const struct tn_candidate *candidate,
		     uint32_t stage)
{
	candidate->row->stage = stage;
	if (loading->patience && candidate->path && stage >= TN_STAGE_OPEN)
		tn_patience_note(loading->patience, candidate->name, candidate->path, stage);
	if (loading->options->progress)
		loading->options->progress(loading->options->user, candidate->path, stage);
}

int tn_plugin_is_absence(tn_status status)
{
	return status >= TN_NO_PLUGIN && status <= TN_REFUSED;
}

tn_status tn_plugin_absence(tn_status status, const char *entry, struct tn_error_info *error)
{
	if (tn_plugin_is_absence(status))
		return status;
	char text[sizeof(error->text)];
	memcpy(text, error->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	int64_t native_code = error->native_code;
	tn_fail(error, TN_PROBE_FAILED, entry, "%s returned %s%s%s", entry, tn_status_name(status),
		text[0] ? ": " : "", text);
	error->native_code = native_code;
	return TN_PROBE_FAILED;
}
