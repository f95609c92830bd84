/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Log messages: a level, a subsystem ("loader", "pool", "cpu"), one line of text.  With no
 * callback, errors, warnings and notices go to stderr, one line each, as "tenon: SUBSYSTEM: TEXT".
 * TENON_LOG holds a level (off, error, warning, notice, info, debug) or `subsystem=level,...`.
 */
#ifndef TN_BASE_LOG_H
#define TN_BASE_LOG_H

#include <stddef.h>
#include <tenon/backend.h>
#include <tenon/log.h>

#define TN_LOG_MAX_RULES 16
#define TN_LOG_HELP                                                                                \
	"messages to report: off, error, warning, notice, info or debug, or subsystem=level,..."

struct tn_log_rule {
	char subsystem[24];
	int level;
};

struct tn_logger {
	tn_log_callback callback; /* NULL: stderr */
	void *user;
	int level; /* messages above it are dropped; 0 drops all */
	size_t n_rules;
	struct tn_log_rule rules[TN_LOG_MAX_RULES];
};

/* Sets the defaults: level notice, no callback. */
void tn_logger_init(struct tn_logger *logger);
/* The same, with the levels of TENON_LOG, if it is right: for what has no context. */
void tn_logger_init_by_environment(struct tn_logger *logger);
/* Parses a TENON_LOG text.  TN_FORMAT: unknown level; `error` has its name and column. */
tn_status tn_logger_configure(struct tn_logger *logger, const char *text,
			      struct tn_error_info *error);
int tn_log_wanted(const struct tn_logger *logger, int level, const char *subsystem);
/* Both make the text one printable line (tn_text_make_printable) of at most 1023 bytes.  A logger
 * of NULL drops the message. */
void tn_log_format(const struct tn_logger *logger, int level, const char *subsystem,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));
void tn_log_text(const struct tn_logger *logger, int level, const char *subsystem, const char *text,
		 size_t length);

#endif
