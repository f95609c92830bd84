/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Levels, rules and lines of log messages.
 */
#include "base/log.h"

#include "base/error.h"
#include "check.h"

static void a_level_holds_for_all_and_a_rule_for_its_subsystem(void **state)
{
	(void)state;
	struct tn_logger logger;
	tn_logger_init(&logger);
	assert_true(tn_log_wanted(&logger, TN_LOG_NOTICE, "pool"));
	assert_false(tn_log_wanted(&logger, TN_LOG_INFO, "pool"));
	assert_ok(tn_logger_configure(&logger, "error,loader=debug,pool=off", NULL));
	assert_true(tn_log_wanted(&logger, TN_LOG_DEBUG, "loader"));
	assert_false(tn_log_wanted(&logger, TN_LOG_ERROR, "pool"));
	assert_true(tn_log_wanted(&logger, TN_LOG_ERROR, "cpu"));
	assert_false(tn_log_wanted(&logger, TN_LOG_WARNING, "cpu"));
}

static void a_bad_text_names_the_column_and_what_was_expected(void **state)
{
	(void)state;
	struct tn_error_info error;
	struct tn_logger logger;
	tn_logger_init(&logger);
	assert_status(tn_logger_configure(&logger, "info,pool=loud", &error), TN_FORMAT);
	assert_contains(error.text, "column 11");
	assert_contains(error.text, "'loud'");
	assert_status(tn_logger_configure(&logger, "=info", &error), TN_FORMAT);
	assert_contains(error.text, "subsystem");
}

struct seen {
	int n;
	char text[1100];
};

static void remember(void *user, int level, const char *subsystem, const char *text, size_t length)
{
	struct seen *seen = user;
	(void)level;
	(void)subsystem;
	seen->n++;
	memcpy(seen->text, text, length);
	seen->text[length] = '\0';
}

static void a_callback_gets_the_wanted_messages_and_long_ones_are_cut(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct tn_logger logger;
	tn_logger_init(&logger);
	logger.callback = remember;
	logger.user = &seen;
	tn_log_format(&logger, TN_LOG_INFO, "pool", "not wanted");
	assert_int_equal(seen.n, 0);
	tn_log_format(&logger, TN_LOG_WARNING, "pool", "%d blocks", 3);
	assert_string_equal(seen.text, "3 blocks");
	char *big = malloc(5000);
	memset(big, 'x', 4999);
	big[4999] = '\0';
	tn_log_format(&logger, TN_LOG_WARNING, "pool", "%s", big);
	assert_int_equal(strlen(seen.text), 1023);
	free(big);
	tn_log_format(NULL, TN_LOG_ERROR, "pool", "nobody");
	assert_int_equal(seen.n, 2);
}

static void a_message_is_one_printable_line(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct tn_logger logger;
	tn_logger_init(&logger);
	logger.callback = remember;
	logger.user = &seen;
	tn_log_format(&logger, TN_LOG_WARNING, "pool", "'%s' is unknown", "\033[1m\nred");
	assert_string_equal(seen.text, "'?[1m red' is unknown");
	tn_log_text(&logger, TN_LOG_WARNING, "pool", "bell \a and more", 6);
	assert_string_equal(seen.text, "bell ?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_level_holds_for_all_and_a_rule_for_its_subsystem),
		cmocka_unit_test(a_bad_text_names_the_column_and_what_was_expected),
		cmocka_unit_test(a_callback_gets_the_wanted_messages_and_long_ones_are_cut),
		cmocka_unit_test(a_message_is_one_printable_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
