/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Options and environment: an option that is given wins over its variable.
 */
#include "context/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "context/context.h"

static tn_status malformed(const char *name, const char *value, const char *expected,
			   struct tn_error_info *error)
{
	return tn_fail(error, TN_FORMAT, name, "expected %s, found '%s'", expected, value);
}

/* A decimal number without surrounding characters. */
static int parse_number(const char *text, uint64_t *value, const char **end)
{
	char *stop;
	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	*value = strtoull(text, &stop, 10);
	*end = stop;
	return !errno;
}

static tn_status read_number(struct tn_parameters *parameters, const char *name, const char *help,
			     uint64_t most, const char *expected, uint64_t *value,
			     struct tn_error_info *error)
{
	const char *end, *text = tn_parameter_read(parameters, name, help);
	uint64_t number;
	if (!text || !*text)
		return TN_OK;
	if (!parse_number(text, &number, &end) || *end || number > most)
		return malformed(name, text, expected, error);
	*value = number;
	return TN_OK;
}

/* Bytes, with K, M or G for powers of 1024, or per cent. */
static tn_status read_limit(struct tn_parameters *parameters, const char *name, const char *help,
			    uint64_t *value, uint64_t *percent, struct tn_error_info *error)
{
	static const char suffixes[] = "KMG";
	const char *end, *text = tn_parameter_read(parameters, name, help);
	uint64_t number, unit = 1;
	if (!text || !*text)
		return TN_OK;
	int good = parse_number(text, &number, &end);
	if (good && !strcmp(end, "%") && number > 0 && number <= 100) {
		*percent = number;
		return TN_OK;
	}
	const char *suffix = good && *end ? strchr(suffixes, *end) : NULL;
	if (suffix) {
		unit = UINT64_C(1024) << 10 * (suffix - suffixes);
		end++;
	}
	if (!good || *end || number > UINT64_MAX / unit)
		return malformed(name, text, "bytes, as 1000000, 512M or 8G, or 1% to 100%", error);
	*value = number * unit;
	return TN_OK;
}

static tn_status read_fallback(struct tn_parameters *parameters, uint32_t *fallback,
			       struct tn_error_info *error)
{
	static const char *const names[] = {[TN_FALLBACK_ALLOW] = "allow",
					    [TN_FALLBACK_WARN] = "warn",
					    [TN_FALLBACK_ERROR] = "error",
					    [TN_FALLBACK_NATIVE] = "native"};
	const char *text = tn_parameter_read(
		parameters, "TENON_FALLBACK",
		"what to do for an operation that the backend lacks: allow, warn (once per "
		"operation on the host), error (no host runs), native (no compositions either)");
	if (!text || !*text)
		return TN_OK;
	for (uint32_t i = TN_FALLBACK_ALLOW; i <= TN_FALLBACK_NATIVE; i++) {
		if (!strcmp(names[i], text)) {
			*fallback = i;
			return TN_OK;
		}
	}
	return malformed("TENON_FALLBACK", text, "allow, warn, error or native", error);
}

static tn_status read_variables(struct tn_parameters *parameters, struct tn_settings *settings,
				struct tn_error_info *error)
{
	uint64_t n_threads = 0, deterministic = 0, check_handles = 0;
	tn_status status =
		read_number(parameters, "TENON_THREADS",
			    "threads of the pool, the caller included; 0: one per processor", 1024,
			    "a number from 0 to 1024", &n_threads, error);
	if (!status)
		status = read_fallback(parameters, &settings->fallback, error);
	if (!status)
		status = read_limit(parameters, "TENON_MEMORY_LIMIT",
				    "the most bytes that a device's pool takes, with an optional "
				    "suffix K, M or G, or per cent of its memory (90%)",
				    &settings->memory_limit, &settings->memory_percent, error);
	if (!status)
		status = read_number(parameters, "TENON_SEED", "the seed of every random number",
				     UINT64_MAX, "a number", &settings->seed, error);
	if (!status)
		status = read_number(parameters, "TENON_DETERMINISTIC",
				     "1: the same bits from run to run, whatever it costs", 1,
				     "0 or 1", &deterministic, error);
	if (!status)
		status = read_number(parameters, "TENON_CHECK_HANDLES",
				     "1: a handle that is used after its end is an error", 1,
				     "0 or 1", &check_handles, error);
	settings->check_handles = (uint32_t)check_handles;
	settings->n_threads = (uint32_t)n_threads;
	settings->deterministic = (uint32_t)deterministic;
	return status;
}

tn_status tn_settings_read(struct tn_parameters *parameters,
			   const struct tn_context_options *options, struct tn_settings *settings,
			   struct tn_error_info *error)
{
	memset(settings, 0, sizeof(*settings));
	settings->fallback = TN_FALLBACK_ALLOW;
	tn_status status = read_variables(parameters, settings, error);
	if (status)
		return status;
	if (options->fallback > TN_FALLBACK_NATIVE)
		return tn_fail(error, TN_INVALID_ARGUMENT, "context_open",
			       "fallback: expected at most %d, found %" PRIu32, TN_FALLBACK_NATIVE,
			       options->fallback);
	if (options->n_threads > 1024)
		return tn_fail(error, TN_INVALID_ARGUMENT, "context_open",
			       "n_threads: expected at most 1024, found %" PRIu32,
			       options->n_threads);
	if (options->n_threads)
		settings->n_threads = options->n_threads;
	if (options->fallback)
		settings->fallback = options->fallback;
	if (options->memory_limit) {
		settings->memory_limit = options->memory_limit;
		settings->memory_percent = 0;
	}
	if (options->seed != TN_SEED_FROM_ENVIRONMENT)
		settings->seed = options->seed;
	if (options->deterministic)
		settings->deterministic = 1;
	return TN_OK;
}
