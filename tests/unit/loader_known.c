/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Data files of known backends, and signs of hardware below the test's own root.
 */
#include "loader/known_plugins.h"
#include "loader_fixture.h"

static struct opened log_of;
static struct tn_known_list known;

static void make(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static void read_all(void)
{
	prepare(&log_of);
	tn_known_release(&known);
	const struct tn_known_source source = {.kind = &tn_backend_kind,
					       .folder = folder,
					       .root = folder,
					       .parameters = &log_of.parameters,
					       .logger = &log_of.logger};
	assert_ok(tn_known_read(&source, &known));
	tn_parameters_release(&log_of.parameters);
}

static void reads_what_a_file_says(void **state)
{
	(void)state;
	make("b.backend", "# remark\n\n  name = b  \nhardware=Two words\nkind = integrated-gpu\n"
			  "packages = one, two\nfuture = ignored\nsign = /nothing\n");
	make("a.backend", "name = a\n");
	make("c.backend.bak", "name = c\n");
	read_all();
	assert_int_equal(known.n, 2);
	assert_string_equal(known.list[0].name, "a");
	const struct tn_known *b = tn_known_find(&known, "b");
	assert_string_equal(b->hardware, "Two words");
	assert_string_equal(b->packages, "one, two");
	assert_int_equal(b->kind, TN_DEVICE_INTEGRATED_GPU);
	assert_false(b->seen);
	/* Without signs the hardware is always assumed present. */
	assert_true(known.list[0].seen);
	assert_int_equal(log_of.n_messages, 0);
	assert_null(tn_known_find(&known, "c"));
}

static void a_malformed_file_is_named_with_its_line_and_left_out(void **state)
{
	static char longest[1000];
	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	make("1.backend", "name = Not a name\n");
	make("2.backend", "hardware = nothing else\n");
	make("3.backend", "name = three\nkind = toaster\n");
	make("4.backend", longest);
	make("5.backend", "name = good\n");
	make("6.backend", "name = good\nhardware = the second of a name\n");
	make("7.backend", "name = seven\n\nstart = quick\n");
	/* To look for it would take longer than to compute anything. */
	make("8.backend", "name = eight\nsign = /a*/b*/../c?\nsign = /*/../[a]/../?/../*\n");
	read_all();
	assert_int_equal(known.n, 1);
	assert_string_equal(known.list[0].hardware, "");
	assert_contains(log_of.messages, "1.backend:1: expected a name");
	assert_contains(log_of.messages, "2.backend:1: expected a line 'name = ...'");
	assert_contains(log_of.messages, "3.backend:2: expected gpu");
	assert_contains(log_of.messages, "4.backend:1: the line is too long");
	assert_contains(log_of.messages, "7.backend:3: expected slow");
	assert_contains(log_of.messages, "8.backend:3: expected a path of which at most 3 parts");
	assert_int_equal(log_of.n_messages, 6);
}

static void make_folder_in(const char *name)
{
	assert_int_equal(mkdir(in_folder(name), 0700), 0);
}

static void a_pipe_is_refused_and_nobody_waits_at_it(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(in_folder("1.backend"), 0600), 0);
	make_folder_in("2.backend");
	make("3.backend", "name = good\n");
	read_all();
	assert_int_equal(known.n, 1);
	assert_contains(log_of.messages, "1.backend: not a regular file");
	assert_contains(log_of.messages, "2.backend: not a regular file");
	assert_int_equal(log_of.n_messages, 2);
}

static void hardware_is_seen_by_path_pattern_and_pci_numbers(void **state)
{
	static const char *const folders[] = {"sys", "sys/bus", "sys/bus/pci",
					      "sys/bus/pci/devices",
					      "sys/bus/pci/devices/0000:01:00.0"};
	(void)state;
	for (size_t i = 0; i < 5; i++)
		make_folder_in(folders[i]);
	make("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
	make("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
	make("present", "");
	make("1.backend", "name = by_path\nsign = /nothing\nsign = /present\n");
	make("2.backend", "name = by_pattern\nsign = /pre*t\n");
	make("3.backend", "name = by_pci\nsign = pci 10de 03\n");
	make("4.backend", "name = other_vendor\nsign = pci 1002 03\n");
	make("5.backend", "name = other_class\nsign = pci 10de 02\n");
	make("6.backend", "name = relative\nsign = present\n");
	read_all();
	assert_true(tn_known_find(&known, "by_path")->seen);
	assert_true(tn_known_find(&known, "by_pattern")->seen);
	assert_true(tn_known_find(&known, "by_pci")->seen);
	assert_false(tn_known_find(&known, "other_vendor")->seen);
	assert_false(tn_known_find(&known, "other_class")->seen);
	assert_false(tn_known_find(&known, "relative")->seen);
	remove(in_folder("sys/bus/pci/devices/0000:01:00.0/vendor"));
	remove(in_folder("sys/bus/pci/devices/0000:01:00.0/class"));
	for (size_t i = 5; i-- > 0;)
		rmdir(in_folder(folders[i]));
}

static void a_missing_folder_is_an_empty_one(void **state)
{
	(void)state;
	prepare(&log_of);
	tn_known_release(&known);
	const struct tn_known_source source = {.kind = &tn_backend_kind,
					       .folder = "/nonexistent",
					       .root = "",
					       .parameters = &log_of.parameters,
					       .logger = &log_of.logger};
	assert_ok(tn_known_read(&source, &known));
	assert_int_equal(known.n, 0);
	tn_parameters_release(&log_of.parameters);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(reads_what_a_file_says),
		test(a_malformed_file_is_named_with_its_line_and_left_out),
		test(a_pipe_is_refused_and_nobody_waits_at_it),
		test(hardware_is_seen_by_path_pattern_and_pci_numbers),
		test(a_missing_folder_is_an_empty_one),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tn_known_release(&known);
	return failed;
}
