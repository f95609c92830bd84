/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The folders that are searched for plugins, in a privileged process too, and backends that the
 * program has registered.  tests/cli/moved.sh has those beside the library.
 */
#include "loader/search.h"
#include "loader_fixture.h"
#include "../plugins/minimal.h"

#include <tenon/context.h>

#include "paths.h"

#define DESCRIPTOR(NAME, MINOR, UUID)                                                              \
	{                                                                                          \
		.struct_size = sizeof(struct tn_backend_descriptor), .magic = TN_BACKEND_MAGIC,    \
		.abi_major = TN_ABI_MAJOR, .abi_minor = (MINOR),                                   \
		.oldest_host = TN_ABI_OLDEST_HOST, .uuid = {UUID}, .name = (NAME), .version = "1", \
		.licence = "Apache-2.0", .create = minimal_create, .destroy = minimal_destroy,     \
		.query = minimal_query                                                             \
	}

/* A built-in backend, so that there is a device. */
static void prepare_with_own(struct opened *opened)
{
	static const struct tn_backend_descriptor own = DESCRIPTOR("own", TN_ABI_MINOR, 5);
	static const struct tn_backend_descriptor *const built_in[] = {&own};
	prepare(opened);
	opened->options.built_in = built_in;
	opened->options.n_built_in = 1;
	opened->options.n_paths = 0;
	setenv("TENON_PLUGIN_PATH", folder, 1);
	unsetenv("TENON_PLUGIN_PATH_ONLY");
}

/* The folders that a process searches, as text; to be freed. */
static char *searched(struct opened *opened, int privileged)
{
	struct tn_candidates candidates;
	struct tn_text text;
	unsetenv("TENON_PLUGIN_PATH_ONLY");
	opened->parameters.privileged = privileged;
	opened->options.n_paths = 0;
	tn_text_init(&text);
	assert_ok(tn_search(&opened->options, &tn_backend_kind, &candidates));
	tn_search_describe(&candidates, &text);
	tn_candidates_release(&candidates);
	tn_parameters_release(&opened->parameters);
	return tn_text_take(&text);
}

/* Each text is found behind the one before it. */
static void assert_order(const char *text, const char *const *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *found = strstr(text, parts[i]);
		if (!found)
			print_error("'%s' is not where it belongs in '%s'\n", parts[i], text);
		assert_non_null(found);
		text = found + strlen(parts[i]);
	}
}

static void folders_have_an_order(void **state)
{
	struct opened opened;
	char users[600];
	(void)state;
	put("ok");
	prepare(&opened);
	setenv("TENON_PLUGIN_PATH", folder, 1);
	setenv("XDG_DATA_HOME", in_folder("data"), 1);
	snprintf(users, sizeof(users), "%s/data/tenon/0", folder);
	char *text = searched(&opened, 0);
	const char *const order[] = {folder, "/lib/tenon/0", users, TN_PLUGIN_DIR};
	assert_order(text, order, sizeof(order) / sizeof(order[0]));
	assert_contains(text, "/usr/local/lib/tenon/0");
	assert_contains(text, "/usr/lib/" TN_MULTIARCH "/tenon/0");
	assert_contains(text, "/usr/lib/tenon/0");
	free(text);
	/* By default below HOME. */
	prepare(&opened);
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", folder, 1);
	snprintf(users, sizeof(users), "%s/.local/share/tenon/0 (absent)", folder);
	text = searched(&opened, 0);
	assert_contains(text, users);
	free(text);
}

static void a_folder_of_two_names_is_searched_once(void **state)
{
	struct opened opened;
	char path[600];
	(void)state;
	put("ok");
	prepare(&opened);
	assert_int_equal(symlink(folder, in_folder("alias")), 0);
	snprintf(path, sizeof(path), "%s:%s/alias", folder, folder);
	setenv("TENON_PLUGIN_PATH", path, 1);
	char *text = searched(&opened, 0);
	assert_contains(text, folder);
	assert_null(strstr(text, "alias"));
	free(text);
}

static void a_privileged_process_searches_the_fixed_folders_only(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	prepare(&opened);
	setenv("TENON_PLUGIN_PATH", folder, 1);
	setenv("XDG_DATA_HOME", folder, 1);
	char *text = searched(&opened, 1);
	assert_int_equal(strncmp(text, TN_PLUGIN_DIR, strlen(TN_PLUGIN_DIR)), 0);
	assert_null(strstr(text, folder));
	free(text);
	/* What every process has is not worth a warning. */
	prepare_with_own(&opened);
	opened.parameters.privileged = 1;
	assert_ok(open_prepared(&opened));
	assert_contains(opened.messages, "ignored in a privileged process: ");
	assert_null(strstr(opened.messages, "HOME"));
	release(&opened);
	unsetenv("XDG_DATA_HOME");
}

static void what_is_no_backend_is_not_registered(void **state)
{
	static struct tn_backend_descriptor bad = DESCRIPTOR("bad", TN_ABI_MINOR, 9);
	(void)state;
	assert_status(tn_backend_register(NULL), TN_INVALID_ARGUMENT);
	bad.magic = 1;
	assert_status(tn_backend_register(&bad), TN_INVALID_ARGUMENT);
	bad.magic = TN_BACKEND_MAGIC;
	bad.struct_size = 40;
	assert_status(tn_backend_register(&bad), TN_INVALID_ARGUMENT);
	bad.struct_size = sizeof(bad);
	bad.name = "Bad";
	assert_status(tn_backend_register(&bad), TN_INVALID_ARGUMENT);
	bad.name = NULL;
	assert_status(tn_backend_register(&bad), TN_INVALID_ARGUMENT);
}

static void a_registered_backend_is_a_plugin_without_a_file(void **state)
{
	static const struct tn_backend_descriptor ok = DESCRIPTOR("ok", TN_ABI_MINOR, 8);
	static const struct tn_backend_descriptor old = DESCRIPTOR("old", 1, 7);
	struct opened opened;
	(void)state;
	put("ok");
	assert_ok(tn_backend_register(&ok));
	assert_ok(tn_backend_register(&ok));
	assert_ok(tn_backend_register(&old));
	assert_ok(open_selected(&opened, "ok"));
	const struct tn_load_row *row = row_of(&opened, "ok");
	assert_status(row->status, TN_OK);
	assert_int_equal(row->found, TN_FOUND_REGISTERED);
	assert_null(row->path);
	assert_status(row_of(&opened, "old")->status, TN_ABI_MISMATCH);
	row = tn_load_report_at(opened.report, 2);
	assert_status(row->status, TN_DUPLICATE);
	assert_contains(row->path, "backend_ok.so");
	assert_contains(tn_load_report_text(opened.report), "registered");
	release(&opened);
	assert_status(open_selected(&opened, "^ok"), TN_NO_DEVICE);
	assert_status(row_of(&opened, "ok")->status, TN_EXCLUDED);
	release(&opened);
}

static void there_is_a_most(void **state)
{
	static struct tn_backend_descriptor many[TN_MOST_REGISTERED + 1];
	tn_status status = TN_OK;
	size_t n = 0;
	(void)state;
	for (; !status && n < sizeof(many) / sizeof(many[0]); n++) {
		many[n] = (struct tn_backend_descriptor)DESCRIPTOR("one", TN_ABI_MINOR, 6);
		status = tn_backend_register(&many[n]);
	}
	assert_status(status, TN_UNSUPPORTED);
	assert_true(n > TN_MOST_REGISTERED / 2);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(folders_have_an_order),
		test(a_folder_of_two_names_is_searched_once),
		test(a_privileged_process_searches_the_fixed_folders_only),
		test(what_is_no_backend_is_not_registered),
		test(a_registered_backend_is_a_plugin_without_a_file),
		test(there_is_a_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
