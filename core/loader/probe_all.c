/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Probes all files that a context would load, with a registry that loads nothing itself.
 */
#include "base/error.h"
#include "loader/backend.h"
#include "loader/probe.h"
#include "loader/registry.h"

tn_status tn_probe_all(const char *const *paths, size_t n_paths, uint32_t timeout_ms,
		       tn_load_report **report, struct tn_error_info *error)
{
	struct tn_logger logger;
	struct tn_parameters parameters;
	struct tn_registry *registry = NULL;
	tn_load_report *made = NULL;
	struct tn_registry_options options = {
		.logger = &logger,
		.parameters = &parameters,
		.paths = paths,
		.n_paths = n_paths,
		.selection = "auto",
		.probe_ms = timeout_ms,
	};
	tn_error_reset(error);
	if (!timeout_ms)
		return tn_fail(error, TN_INVALID_ARGUMENT, "probe",
			       "timeout_ms: expected at least 1, found 0");
	tn_logger_init(&logger);
	tn_parameters_init(&parameters);
	tn_status status = tn_registry_open(&options, &registry, &made, error);
	tn_registry_close(registry);
	tn_parameters_release(&parameters);
	if (status)
		tn_load_report_destroy(made);
	else
		*report = made;
	return status;
}
