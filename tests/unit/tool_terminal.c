/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Output that fits a terminal: the progress bar's line at every width, also when the width changes,
 * and wrapped text.
 */
#include "../../tools/bar.h"
#include "../../tools/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check.h"

static const double accuracies[] = {0.9712, 1};

static const struct tn_trainer_progress example = {.epoch = 3,
						   .n_epochs = 60,
						   .sample = 500,
						   .n_samples = 1000,
						   .loss = 0.12345,
						   .metrics = accuracies,
						   .samples_per_second = 12345,
						   .seconds_left = 133};

static void a_line_is_shorter_than_the_terminal_is_wide(void **state)
{
	static const struct tn_trainer_progress others[] = {
		{.epoch = 1, .n_epochs = 1, .metrics = accuracies},
		{.epoch = 1000000,
		 .n_epochs = 1000000,
		 .sample = 4000000000u,
		 .n_samples = 4000000000u,
		 .loss = 1e300,
		 .metrics = accuracies + 1,
		 .samples_per_second = 1e12,
		 .seconds_left = 1e300},
		{.epoch = 1,
		 .n_epochs = 2,
		 .loss = NAN,
		 .metrics = accuracies,
		 .seconds_left = INFINITY},
	};
	char line[256];
	(void)state;
	for (size_t columns = 1; columns <= 300; columns++) {
		/* "^C" fits too. */
		const size_t most = columns > 8 ? columns - 2 : columns > 2 ? columns : 2;
		bar_text(&example, columns, line, sizeof(line));
		assert_true(strlen(line) < most);
		for (size_t i = 0; i < 3; i++) {
			bar_text(&others[i], columns, line, sizeof(line));
			assert_true(strlen(line) < most);
		}
	}
}

static void what_there_is_no_room_for_is_left_out(void **state)
{
	static const struct {
		size_t columns;
		const char *line;
	} cases[] = {
		{120, "epoch 3/60  [=>                            ]   4%  loss 0.1235  "
		      "accuracy 97.12%  12345 images/s  2:13 left"},
		{80, "epoch 3/60  [>                ]   4%  loss 0.1235  accuracy 97.12%  "
		     "2:13 left"},
		{60, "epoch 3/60   4%  loss 0.1235  accuracy 97.12%  2:13 left"},
		{42, "epoch 3/60   4%  loss 0.1235  2:13 left"},
		{20, "  4%  2:13 left"},
		{5, "  4%"},
	};
	char line[256];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bar_text(&example, cases[i].columns, line, sizeof(line));
		assert_string_equal(line, cases[i].line);
	}
}

/* The terminal's output since the last call, up to a mark appended to it. */
static void take(int terminal, int inside, char *text, size_t size)
{
	size_t n = 0;
	assert_int_equal(write(inside, "#", 1), 1);
	do {
		ssize_t more = read(terminal, text + n, size - 1 - n);
		assert_true(more > 0);
		n += (size_t)more;
	} while (text[n - 1] != '#');
	text[n - 1] = '\0';
}

static void set_columns(int terminal, unsigned short columns)
{
	const struct winsize size = {.ws_row = 24, .ws_col = columns};
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
}

static void each_line_fits_the_terminal_as_it_is_then(void **state)
{
	struct bar bar;
	char text[512], line[256];
	(void)state;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
		skip();
	int inside = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	int saved = dup(STDERR_FILENO);
	assert_true(inside >= 0 && saved >= 0);
	set_columns(terminal, 120);
	dup2(inside, STDERR_FILENO);
	bar_init(&bar, "vt100", 0);
	bar_progress(&bar, &example);
	dup2(saved, STDERR_FILENO);
	take(terminal, inside, text, sizeof(text));
	bar_text(&example, 120, line, sizeof(line));
	assert_contains(text, line);
	/* Narrower: the terminal has wrapped the line into three. */
	set_columns(terminal, 40);
	dup2(inside, STDERR_FILENO);
	bar_progress(&bar, &example);
	bar_clear(&bar);
	dup2(saved, STDERR_FILENO);
	take(terminal, inside, text, sizeof(text));
	bar_text(&example, 40, line, sizeof(line));
	assert_contains(text, "\033[2A\r\033[J");
	assert_contains(text, line);
	assert_null(strstr(text, "images/s"));
	assert_string_equal(text + strlen(text) - 4, "\r\033[J");
	/* The width is unknown. */
	set_columns(terminal, 0);
	dup2(inside, STDERR_FILENO);
	bar_progress(&bar, &example);
	dup2(saved, STDERR_FILENO);
	take(terminal, inside, text, sizeof(text));
	bar_text(&example, 80, line, sizeof(line));
	assert_contains(text, line);
	close(inside);
	close(saved);
	close(terminal);
}

static void no_terminal_no_bar(void **state)
{
	struct bar bar;
	int ends[2];
	char byte;
	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	int saved = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	bar_init(&bar, "vt100", 0);
	bar_progress(&bar, &example);
	bar_clear(&bar);
	dup2(saved, STDERR_FILENO);
	assert_true(read(ends[0], &byte, 1) < 0);
	close(saved);
	close(ends[0]);
	close(ends[1]);
}

static void text_is_broken_at_blanks_and_goes_on_further_in(void **state)
{
	static const char text[] = "short\n  one two three four five\n   a-word-that-is-longer\n\n";
	static const struct {
		size_t columns;
		const char *expected;
	} cases[] = {
		{0, text},
		{80, text},
		{15, "short\n  one two three\n    four five\n   a-word-that-is-longer\n\n"},
		{1, "short\n  one\n    two\n    three\n    four\n    five\n   "
		    "a-word-that-is-longer\n\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *written = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&written, &size);
		assert_non_null(out);
		write_wrapped(out, text, cases[i].columns);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(written, cases[i].expected);
		free(written);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_shorter_than_the_terminal_is_wide),
		cmocka_unit_test(what_there_is_no_room_for_is_left_out),
		cmocka_unit_test(each_line_fits_the_terminal_as_it_is_then),
		cmocka_unit_test(no_terminal_no_bar),
		cmocka_unit_test(text_is_broken_at_blanks_and_goes_on_further_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
