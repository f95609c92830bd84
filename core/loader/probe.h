/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The isolated probe: loading a plugin in another process, and the protocol with that process.
 *
 * The helper program gets the file's path as its argument and a pipe as descriptor TN_PROBE_FD.  It
 * writes a line "stage N" as each stage is entered, then a line "report" and the report as JSON.
 */
#ifndef TN_LOADER_PROBE_H
#define TN_LOADER_PROBE_H

#include <tenon/report.h>

#include "base/parameter.h"

#define TN_PROBE_FD 3

/* See tn_probe; the helper's path is TENON_PROBE_HELPER, else the installed one. */
tn_status tn_probe_file(struct tn_parameters *parameters, const char *path, uint32_t timeout_ms,
			tn_load_report **report, struct tn_error_info *error);

#endif
