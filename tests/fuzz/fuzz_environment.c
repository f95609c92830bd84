/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The variables of a context, as lines NAME=VALUE: TENON_LOG, TENON_THREADS, TENON_MEMORY_LIMIT and
 * the others that it reads itself.
 */
#include "base/log.h"
#include "context/settings.h"
#include "lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_settings(struct tn_parameters *parameters)
{
	const struct tn_context_options options = tn_context_defaults();
	struct tn_settings settings;
	struct tn_error_info error = {0};
	const tn_status status = tn_settings_read(parameters, &options, &settings, &error);
	fuzz_require(status == error.status && (!status || error.text[0]));
	if (status)
		return;
	fuzz_require(settings.n_threads <= 1024 && settings.memory_percent <= 100);
	fuzz_require(settings.fallback >= TN_FALLBACK_ALLOW &&
		     settings.fallback <= TN_FALLBACK_NATIVE);
	fuzz_require(settings.deterministic <= 1 && settings.check_handles <= 1);
}

static void read_levels(const char *levels)
{
	struct tn_logger logger;
	struct tn_error_info error = {0};
	tn_logger_init(&logger);
	const tn_status status = tn_logger_configure(&logger, levels, &error);
	fuzz_require(status == error.status && (!status || error.text[0]));
	fuzz_require(logger.n_rules <= TN_LOG_MAX_RULES);
	for (size_t i = 0; !status && i < logger.n_rules; i++) {
		const struct tn_log_rule *rule = &logger.rules[i];
		fuzz_require(rule->level >= 0 && rule->level <= TN_LOG_DEBUG);
		fuzz_require(tn_log_wanted(&logger, 0, rule->subsystem));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_lines lines;
	struct tn_parameters parameters;
	fuzz_lines_init(&lines, data, size);
	fuzz_lines_parameters(&lines, &parameters);
	const char *levels = fuzz_lines_value(&lines, "TENON_LOG");
	if (levels)
		read_levels(levels);
	read_settings(&parameters);
	tn_parameters_release(&parameters);
	fuzz_lines_release(&lines);
	return 0;
}
