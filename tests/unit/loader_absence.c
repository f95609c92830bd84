/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One broken plugin for each kind of failure, actually loaded: each has its own named reason and
 * stage, and does not affect others.
 */
#include "loader/registry.h"
#include "loader_fixture.h"

#include <elf.h>

/* Opens the folder with one plugin and the good one, and checks the former's row. */
static void check_row(const char *name, tn_status status, uint32_t stage, const char *text)
{
	struct opened opened;
	assert_ok(open_selected(&opened, NULL));
	const struct tn_load_row *row = row_of(&opened, name);
	if (row->status != status || row->stage != stage || !strstr(row->text, text))
		print_error("%s: %s at %s: %s\n", name, tn_status_name(row->status),
			    tn_stage_name(row->stage), row->text);
	assert_int_equal(row->status, status);
	assert_int_equal(row->stage, stage);
	assert_contains(row->text, text);
	assert_int_equal(row->found, TN_FOUND_API);
	/* A broken plugin does not affect others. */
	assert_non_null(tn_registry_find(opened.registry, "ok"));
	assert_null(tn_registry_find(opened.registry, name));
	assert_int_equal(row_of(&opened, "ok")->selected, 1);
	release(&opened);
}

static void each_broken_plugin_gives_its_own_reason(void **state)
{
	static const struct {
		const char *name;
		tn_status status;
		uint32_t stage;
		const char *text;
	} cases[] = {
		{"no_note", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "no Tenon note"},
		{"no_symbol", TN_BAD_PLUGIN, TN_STAGE_OPEN, "does not export 'tenon_backend'"},
		{"old_minor", TN_ABI_MISMATCH, TN_STAGE_NEGOTIATE, "made for interface 0.0"},
		{"new_minor", TN_ABI_MISMATCH, TN_STAGE_NEGOTIATE, "made for interface 0.99"},
		{"wrong_major", TN_ABI_MISMATCH, TN_STAGE_NEGOTIATE, "the majors differ"},
		{"disagrees", TN_BAD_PLUGIN, TN_STAGE_DESCRIBE, "disagree"},
		{"other_name", TN_BAD_PLUGIN, TN_STAGE_DESCRIBE, "name is 'wrong'"},
		{"short_table", TN_BAD_PLUGIN, TN_STAGE_QUERY,
		 "tenon.compute/1 is short: it has 24 bytes, matmul is at 24"},
		{"null_slot", TN_BAD_PLUGIN, TN_STAGE_QUERY,
		 "tenon.compute/1: reduce is mandatory"},
		{"no_table", TN_BAD_PLUGIN, TN_STAGE_QUERY, "no table tenon.compute/1"},
		{"zero_devices", TN_NO_DEVICE, TN_STAGE_DEVICES, "imaginary bus"},
		{"twin", TN_DUPLICATE, TN_STAGE_NEGOTIATE, "the same UUID as"},
	};
	(void)state;
	put("ok");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char file[64];
		put(cases[i].name);
		check_row(cases[i].name, cases[i].status, cases[i].stage, cases[i].text);
		snprintf(file, sizeof(file), "backend_%s.so", cases[i].name);
		remove(in_folder(file));
	}
}

static void create_may_answer_every_name_of_an_absence(void **state)
{
	static const tn_status absences[] = {TN_NO_PLUGIN,       TN_BAD_PLUGIN,   TN_ABI_MISMATCH,
					     TN_MISSING_LIBRARY, TN_NO_DRIVER,    TN_DRIVER_TOO_OLD,
					     TN_NO_DEVICE,       TN_PROBE_FAILED, TN_REFUSED};
	(void)state;
	put("ok");
	put("fails");
	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		char number[16];
		snprintf(number, sizeof(number), "%d", (int)absences[i]);
		setenv("TENON_TEST_STATUS", number, 1);
		check_row("fails", absences[i], TN_STAGE_CREATE, "as the test wanted");
	}
	/* Any other status means that the start failed. */
	setenv("TENON_TEST_STATUS", "6", 1);
	check_row("fails", TN_PROBE_FAILED, TN_STAGE_CREATE,
		  "create returned OUT_OF_MEMORY: as the test wanted");
	unsetenv("TENON_TEST_STATUS");
}

/* Writes backend_spoilt.so: the good plugin with `size` bytes at `offset` replaced. */
static void spoil(size_t offset, const void *bytes, size_t n)
{
	size_t size;
	char *data = read_fixture("ok", &size);
	memcpy(data + offset, bytes, n);
	write_file("backend_spoilt.so", data, size);
	free(data);
}

/* The end of the last loaded segment of an ELF file. */
static size_t end_of_segments(const char *data)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	size_t end = 0;
	memcpy(&header, data, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		memcpy(&segment, data + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_LOAD)
			end = segment.p_offset + segment.p_filesz;
	}
	return end;
}

static void foreign_and_damaged_files_are_never_opened(void **state)
{
	size_t size;
	uint64_t far = UINT64_MAX - 8;
	uint16_t arm = 40, executable = 2, many = 0xffff;
	(void)state;
	put("ok");
	char *data = read_fixture("ok", &size);

	write_file("backend_spoilt.so", "#!/bin/sh\necho not a library\n", 30);
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "not an ELF file");
	write_file("backend_spoilt.so", "", 0);
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "shorter than its header");
	write_file("backend_spoilt.so", data, end_of_segments(data) - 1);
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "truncated: a segment at offset");
	write_file("backend_spoilt.so", data, 40);
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "truncated: the ELF header");
	spoil(4, "\1", 1);
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "class 32-bit");
	spoil(5, "\2", 1);
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "the other byte order");
	spoil(18, &arm, 2);
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "another machine: ELF machine 40");
	spoil(16, &executable, 2);
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "not a shared object");
	spoil(32, &far, 8); /* e_phoff */
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "truncated: a program header");
	spoil(56, &many, 2); /* e_phnum */
	check_row("spoilt", TN_BAD_PLUGIN, TN_STAGE_INSPECT, "65535 program headers");
	free(data);
}

static void a_file_of_another_kind_or_name_is_refused(void **state)
{
	(void)state;
	put("ok");
	assert_int_equal(mkfifo(in_folder("backend_pipe.so"), 0600), 0);
	check_row("pipe", TN_BAD_PLUGIN, TN_STAGE_SEARCH, "not a regular file");
	put("null");
	assert_int_equal(rename(in_folder("backend_null.so"), in_folder("backend_Eigen.so")), 0);
	check_row("Eigen", TN_BAD_PLUGIN, TN_STAGE_SEARCH, "NAME of a-z, 0-9 and '_'");
	assert_int_equal(symlink("/nonexistent", in_folder("backend_dangling.so")), 0);
	check_row("dangling", TN_BAD_PLUGIN, TN_STAGE_SEARCH, "No such file");
	/* The whole good file under another name. */
	spoil(0, "\177ELF", 4);
	check_row("spoilt", TN_DUPLICATE, TN_STAGE_NEGOTIATE, "the same UUID");
}

static void a_missing_library_is_named(void **state)
{
	size_t size;
	(void)state;
	put("ok");
	put("two_devices");
	/* Another plugin that needs the C library under a name that does not exist. */
	char *data = read_fixture("two_devices", &size);
	char *needed = memmem(data, size, "libc.so.6", 9);
	assert_non_null(needed);
	memcpy(needed, "libq.so.6", 9);
	write_file("backend_two_devices.so", data, size);
	free(data);
	check_row("two_devices", TN_MISSING_LIBRARY, TN_STAGE_OPEN, "libq.so.6");
}

static void a_link_to_the_same_file_is_a_duplicate(void **state)
{
	(void)state;
	put("ok");
	assert_int_equal(symlink("backend_ok.so", in_folder("backend_same.so")), 0);
	check_row("same", TN_DUPLICATE, TN_STAGE_SEARCH, "the same file as");
	assert_int_equal(link(in_folder("backend_ok.so"), in_folder("backend_too.so")), 0);
	check_row("too", TN_DUPLICATE, TN_STAGE_SEARCH, "the same file as");
}

/* Opens the folder; the outcome for "ok" and the other copy of its file. */
static void check_pair(const char *other, tn_status other_status)
{
	struct opened opened;
	assert_ok(open_selected(&opened, NULL));
	assert_int_equal(row_of(&opened, other)->status, other_status);
	assert_int_equal(row_of(&opened, "ok")->status, TN_OK);
	assert_string_equal(opened.registry->choices[0].backend->plugin.name, "ok");
	release(&opened);
}

static void a_copy_under_a_wrong_name_that_comes_first_hides_nothing(void **state)
{
	size_t size;
	(void)state;
	put("ok");
	char *data = read_fixture("ok", &size);
	write_file("backend_a.so", data, size);
	free(data);
	check_pair("a", TN_BAD_PLUGIN);
	/* A link is the same file, too. */
	remove(in_folder("backend_a.so"));
	assert_int_equal(symlink("backend_ok.so", in_folder("backend_a.so")), 0);
	check_pair("a", TN_BAD_PLUGIN);
}

static void a_first_copy_that_lacks_a_library_does_not_hide_a_whole_one(void **state)
{
	struct opened opened;
	const struct tn_load_row *rows[2];
	size_t size;
	(void)state;
	char *data = read_fixture("two_devices", &size);
	char *needed = memmem(data, size, "libc.so.6", 9);
	assert_non_null(needed);
	memcpy(needed, "libq.so.6", 9);
	write_file("backend_two_devices.so", data, size);
	free(data);
	const char *paths[] = {folder, fixture("two_devices")};
	prepare(&opened);
	opened.options.paths = paths;
	opened.options.n_paths = 2;
	assert_ok(open_prepared(&opened));
	for (size_t i = 0; i < 2; i++)
		assert_non_null(rows[i] = tn_load_report_at(opened.report, i));
	assert_int_equal(rows[0]->status, TN_MISSING_LIBRARY);
	assert_int_equal(rows[1]->status, TN_OK);
	assert_ptr_equal(row_of(&opened, "two_devices"), rows[1]);
	assert_int_equal(rows[1]->selected, 1);
	release(&opened);
}

static void a_privileged_process_refuses_what_others_may_write(void **state)
{
	/* A folder of an ordinary user's is refused for its owner, whatever its mode. */
	const int is_roots = geteuid() == 0;
	struct opened opened;
	(void)state;
	put("ok");
	chmod(in_folder("backend_ok.so"), 0666);
	prepare(&opened);
	opened.parameters.privileged = 1;
	assert_status(open_prepared(&opened), TN_NO_DEVICE);
	assert_int_equal(row_of(&opened, "ok")->status, TN_REFUSED);
	assert_int_equal(row_of(&opened, "ok")->stage, TN_STAGE_INSPECT);
	assert_contains(row_of(&opened, "ok")->text,
			is_roots ? "writable by others" : "belongs to user");
	release(&opened);

	chmod(in_folder("backend_ok.so"), 0664);
	prepare(&opened);
	opened.parameters.privileged = 1;
	assert_status(open_prepared(&opened), TN_NO_DEVICE);
	assert_contains(row_of(&opened, "ok")->text,
			is_roots ? "writable by its group" : "belongs to user");
	release(&opened);

	chmod(in_folder("backend_ok.so"), 0644);
	chmod(folder, 0777);
	prepare(&opened);
	opened.parameters.privileged = 1;
	assert_status(open_prepared(&opened), TN_NO_DEVICE);
	assert_int_equal(row_of(&opened, "ok")->status, TN_REFUSED);
	assert_contains(row_of(&opened, "ok")->text, is_roots ? "mode 0777" : "belongs to user");
	release(&opened);

	/* In a sticky folder others cannot replace the file, but add one. */
	chmod(folder, 01777);
	prepare(&opened);
	opened.parameters.privileged = 1;
	assert_status(open_prepared(&opened), TN_NO_DEVICE);
	assert_contains(row_of(&opened, "ok")->text, is_roots ? "mode 1777" : "belongs to user");
	release(&opened);
	chmod(folder, 0700);

	/* An unprivileged process accepts it. */
	chmod(in_folder("backend_ok.so"), 0666);
	assert_ok(open_selected(&opened, NULL));
	release(&opened);
}

static void a_privileged_process_takes_what_root_alone_may_write(void **state)
{
	struct stat information;
	struct opened opened;
	(void)state;
	if (geteuid() != 0 || stat("/tmp", &information) || information.st_uid != 0)
		skip();
	put("ok");
	chmod(in_folder("backend_ok.so"), 0644);
	prepare(&opened);
	opened.parameters.privileged = 1;
	assert_ok(open_prepared(&opened));
	assert_int_equal(row_of(&opened, "ok")->status, TN_OK);
	/* The environment was ignored, which was reported. */
	assert_contains(opened.messages, "ignored in a privileged process");
	assert_contains(opened.messages, "TENON_PLUGIN_PATH_ONLY");
	release(&opened);
	assert_int_equal(chown(in_folder("backend_ok.so"), 12345, 0), 0);
	prepare(&opened);
	opened.parameters.privileged = 1;
	assert_status(open_prepared(&opened), TN_NO_DEVICE);
	assert_contains(row_of(&opened, "ok")->text, "belongs to user 12345");
	release(&opened);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(each_broken_plugin_gives_its_own_reason),
		test(create_may_answer_every_name_of_an_absence),
		test(foreign_and_damaged_files_are_never_opened),
		test(a_file_of_another_kind_or_name_is_refused),
		test(a_missing_library_is_named),
		test(a_link_to_the_same_file_is_a_duplicate),
		test(a_copy_under_a_wrong_name_that_comes_first_hides_nothing),
		test(a_first_copy_that_lacks_a_library_does_not_hide_a_whole_one),
		test(a_privileged_process_refuses_what_others_may_write),
		test(a_privileged_process_takes_what_root_alone_may_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
