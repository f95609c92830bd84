/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Old and new plugins with old and new hosts: first the rule itself, as data, then a real plugin
 * that was built for interface 1.2 under hosts that claim other versions, and tables that are
 * shorter and longer than the host's.
 */
#include "../unit/loader_fixture.h"
#include "../plugins/minimal.h"
#include "loader/registry.h"
#include "loader/slots.h"
#include "loader/version.h"

static void the_rule_of_versions(void **state)
{
	static const struct {
		struct tn_abi_version host, plugin;
		int effective; /* -1: refused */
		const char *text;
	} cases[] = {
		/* Before 1.0 versions must be equal. */
		{{0, 1, 1}, {0, 1, 1}, 1, ""},
		{{0, 1, 1}, {0, 0, 0}, -1, "before 1.0 they must be equal"},
		{{0, 1, 0}, {0, 2, 0}, -1, "interface 0.2, this library has 0.1"},
		{{0, 1, 1}, {1, 1, 1}, -1, "the majors differ"},
		{{1, 0, 0}, {0, 1, 0}, -1, "the majors differ"},
		/* From 1.0 on the lower minor is used. */
		{{1, 3, 0}, {1, 3, 0}, 3, ""},
		{{1, 3, 0}, {1, 1, 0}, 1, ""},
		{{1, 1, 0}, {1, 3, 0}, 1, ""},
		{{1, 1, 1}, {1, 1, 1}, 1, ""},
		/* ... unless one side rejects the other as too old. */
		{{1, 3, 2}, {1, 1, 0}, -1, "takes 1.2 and later"},
		{{1, 1, 0}, {1, 3, 2}, -1, "needs a library with interface 1.2 or later"},
		{{1, UINT32_MAX, 0}, {1, 0, 0}, 0, ""},
		{{2, 0, 0}, {1, 9, 0}, -1, "interface 1.9, this library has 2.0"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_error_info error;
		uint32_t effective = 12345;
		tn_status status =
			tn_abi_negotiate(&cases[i].host, &cases[i].plugin, &effective, &error);
		if (cases[i].effective >= 0) {
			assert_ok(status);
			assert_int_equal(effective, cases[i].effective);
		} else {
			assert_status(status, TN_ABI_MISMATCH);
			assert_int_equal(effective, 12345);
			assert_contains(error.text, cases[i].text);
		}
	}
}

/* The fixture wrong_major declares interface 1.2 and accepts hosts from 1.1 on. */
static void check_host(struct tn_abi_version host, int effective, const char *text)
{
	struct opened opened;
	const char *path = fixture("wrong_major");
	prepare(&opened);
	opened.options.paths = &path;
	opened.options.host = host;
	(void)open_prepared(&opened);
	const struct tn_load_row *row = row_of(&opened, "wrong_major");
	assert_int_equal(row->abi_major, 1);
	assert_int_equal(row->abi_minor, 2);
	if (effective < 0) {
		assert_int_equal(row->status, TN_ABI_MISMATCH);
		assert_contains(row->text, text);
	} else {
		const struct tn_backend *backend = tn_registry_find(opened.registry, "wrong_major");
		assert_int_equal(row->status, TN_OK);
		assert_int_equal(row->abi_effective, effective);
		assert_int_equal(backend->plugin.abi_minor, effective);
		/* The plugin is informed, but does not decide. */
		assert_int_equal(
			((const struct minimal *)backend->plugin.instance)->host->abi_minor,
			effective);
	}
	release(&opened);
}

static void a_plugin_runs_under_older_and_newer_hosts(void **state)
{
	(void)state;
	check_host((struct tn_abi_version){1, 2, 2}, 2, "");
	check_host((struct tn_abi_version){1, 7, 0}, 2, "");
	check_host((struct tn_abi_version){1, 1, 0}, 1, "");
	check_host((struct tn_abi_version){1, 0, 0}, -1, "or later, this one has 1.0");
	check_host((struct tn_abi_version){1, 7, 3}, -1, "takes 1.3 and later");
	check_host((struct tn_abi_version){2, 2, 0}, -1, "the majors differ");
	check_host((struct tn_abi_version){0, 0, 0}, -1, "the majors differ");
}

/* ---- Tables of other sizes -------------------------------------------------------------------*/

static tn_status fill(void *device, const struct tn_fill_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

/* A copy table from before `copy` was added, one from the future, and one that ends within a
 * slot. */
static const struct tn_copy_table old_table = {
	.struct_size = offsetof(struct tn_copy_table, copy),
	.fill = fill,
};
static const struct {
	struct tn_copy_table table;
	void (*later)(void);
} new_table = {{.struct_size = sizeof(new_table), .fill = fill}, NULL};
static const struct tn_copy_table cut_table = {
	.struct_size = offsetof(struct tn_copy_table, fill) + 4,
	.fill = fill,
};
static const void *copy_table;

static const void *query(void *instance, const char *id)
{
	return strcmp(id, TN_TABLE_COPY) ? minimal_query(instance, id) : copy_table;
}

static const struct tn_backend_descriptor descriptor = {
	.struct_size = sizeof(descriptor),
	.magic = TN_BACKEND_MAGIC,
	.abi_major = TN_ABI_MAJOR,
	.abi_minor = TN_ABI_MINOR,
	.oldest_host = TN_ABI_OLDEST_HOST,
	.uuid = {9},
	.name = "grown",
	.version = "1",
	.licence = "Apache-2.0",
	.create = minimal_create,
	.destroy = minimal_destroy,
	.query = query,
};

static void check_table(const void *table, int has_fill)
{
	static const struct tn_backend_descriptor *const built_in[] = {&descriptor};
	struct tn_copy_args args = {.call.struct_size = sizeof(args)};
	struct opened opened;
	copy_table = table;
	prepare(&opened);
	opened.options.n_paths = 0;
	opened.options.built_in = built_in;
	opened.options.n_built_in = 1;
	assert_ok(open_prepared(&opened));
	const struct tn_backend *backend = tn_registry_find(opened.registry, "grown");
	assert_int_equal(tn_backend_has(backend, TN_SLOT_FILL), has_fill);
	assert_true(backend->copy.fill == (has_fill ? fill : NULL));
	assert_false(tn_backend_has(backend, TN_SLOT_COPY));
	assert_status(tn_slot_call(backend, TN_SLOT_COPY, NULL, &args.call), TN_UNSUPPORTED);
	assert_int_equal(backend->copy.struct_size, sizeof(struct tn_copy_table));
	release(&opened);
}

static void shorter_and_longer_tables_are_taken_as_far_as_both_know(void **state)
{
	(void)state;
	check_table(&old_table, 1);
	check_table(&new_table, 1);
	check_table(&cut_table, 0);
	check_table(NULL, 0);
}

static void a_descriptor_from_the_future_is_longer(void **state)
{
	static struct {
		struct tn_backend_descriptor descriptor;
		uint64_t more[4];
	} longer;
	const struct tn_backend_descriptor *const built_in[] = {&longer.descriptor};
	struct opened opened;
	(void)state;
	copy_table = NULL;
	longer.descriptor = descriptor;
	longer.descriptor.struct_size = sizeof(longer);
	memset(longer.more, 0xff, sizeof(longer.more));
	prepare(&opened);
	opened.options.n_paths = 0;
	opened.options.built_in = built_in;
	opened.options.n_built_in = 1;
	assert_ok(open_prepared(&opened));
	release(&opened);
	/* A struct that ends before `query` is not a descriptor. */
	longer.descriptor.struct_size = offsetof(struct tn_backend_descriptor, query);
	prepare(&opened);
	opened.options.n_paths = 0;
	opened.options.built_in = built_in;
	opened.options.n_built_in = 1;
	assert_status(open_prepared(&opened), TN_NO_DEVICE);
	assert_contains(row_of(&opened, "grown")->text, "has no query");
	/* Undefined flags have a meaning that this host would miss. */
	release(&opened);
	longer.descriptor = descriptor;
	longer.descriptor.flags = 4;
	prepare(&opened);
	opened.options.n_paths = 0;
	opened.options.built_in = built_in;
	opened.options.n_built_in = 1;
	assert_status(open_prepared(&opened), TN_NO_DEVICE);
	assert_int_equal(row_of(&opened, "grown")->status, TN_ABI_MISMATCH);
	release(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rule_of_versions),
		cmocka_unit_test(a_plugin_runs_under_older_and_newer_hosts),
		cmocka_unit_test(shorter_and_longer_tables_are_taken_as_far_as_both_know),
		cmocka_unit_test(a_descriptor_from_the_future_is_longer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
