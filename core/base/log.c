/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parses TENON_LOG, decides which messages are wanted, and delivers them as single printable
 * lines.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/parameter.h"
#include "base/text.h"

#define LINE_SIZE 1024

static const char *const level_names[] = {"off", "error", "warning", "notice", "info", "debug"};

void tn_logger_init(struct tn_logger *logger)
{
	memset(logger, 0, sizeof(*logger));
	logger->level = TN_LOG_NOTICE;
}

/* The level named by text[0..length), or -1. */
static int level_of(const char *text, size_t length)
{
	for (int i = 0; i < (int)(sizeof(level_names) / sizeof(level_names[0])); i++) {
		if (strlen(level_names[i]) == length && !memcmp(level_names[i], text, length))
			return i;
	}
	return -1;
}

tn_status tn_logger_configure(struct tn_logger *logger, const char *text,
			      struct tn_error_info *error)
{
	/* Each item is `level` or `subsystem=level`. */
	size_t length;
	for (const char *item = text; *item; item += length + (item[length] == ',')) {
		length = strcspn(item, ",");
		const char *end = item + length, *equals = memchr(item, '=', length);
		const char *name = equals ? equals + 1 : item;
		int level = level_of(name, (size_t)(end - name));
		if (level < 0)
			return tn_fail(
				error, TN_FORMAT, "TENON_LOG",
				"column %zu: expected off, error, warning, notice, info or debug, "
				"found '%.*s'",
				(size_t)(name - text) + 1, (int)(end - name), name);
		if (!equals) {
			logger->level = level;
			continue;
		}
		struct tn_log_rule *rule = &logger->rules[logger->n_rules];
		size_t size = (size_t)(equals - item), column = (size_t)(item - text) + 1;
		if (size == 0 || size >= sizeof(rule->subsystem))
			return tn_fail(error, TN_FORMAT, "TENON_LOG",
				       "column %zu: expected a subsystem of 1 to %zu letters",
				       column, sizeof(rule->subsystem) - 1);
		if (logger->n_rules == TN_LOG_MAX_RULES)
			return tn_fail(error, TN_LIMIT, "TENON_LOG",
				       "column %zu: more than %d subsystems", column,
				       TN_LOG_MAX_RULES);
		memcpy(rule->subsystem, item, size);
		rule->subsystem[size] = '\0';
		rule->level = level;
		logger->n_rules++;
	}
	return TN_OK;
}

void tn_logger_init_by_environment(struct tn_logger *logger)
{
	struct tn_parameters parameters;
	tn_logger_init(logger);
	tn_parameters_init(&parameters);
	const char *levels = tn_parameter_read(&parameters, "TENON_LOG", TN_LOG_HELP);
	if (levels && tn_logger_configure(logger, levels, NULL))
		tn_logger_init(logger);
	tn_parameters_release(&parameters);
}

int tn_log_wanted(const struct tn_logger *logger, int level, const char *subsystem)
{
	if (!logger)
		return 0;
	for (size_t i = 0; i < logger->n_rules; i++) {
		if (!strcmp(logger->rules[i].subsystem, subsystem))
			return level <= logger->rules[i].level;
	}
	return level <= logger->level;
}

/* Delivers a line.  The buffer is the caller's and is made printable in place. */
static void deliver(const struct tn_logger *logger, int level, const char *subsystem, char *line)
{
	tn_text_make_printable(line);
	if (logger->callback)
		logger->callback(logger->user, level, subsystem, line, strlen(line));
	else
		fprintf(stderr, "tenon: %s: %s\n", subsystem, line);
}

void tn_log_text(const struct tn_logger *logger, int level, const char *subsystem, const char *text,
		 size_t length)
{
	char line[LINE_SIZE];
	if (!tn_log_wanted(logger, level, subsystem))
		return;
	if (length >= sizeof(line))
		length = sizeof(line) - 1;
	memcpy(line, text, length);
	line[length] = '\0';
	deliver(logger, level, subsystem, line);
}

void tn_log_format(const struct tn_logger *logger, int level, const char *subsystem,
		   const char *format, ...)
{
	char line[LINE_SIZE];
	if (!tn_log_wanted(logger, level, subsystem))
		return;
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length >= 0)
		deliver(logger, level, subsystem, line);
}
