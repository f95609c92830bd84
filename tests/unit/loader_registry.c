/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Search, ranking, selection and their messages, with real plugins.
 */
#include "loader/registry.h"
#include "loader_fixture.h"
#include "../plugins/minimal.h"
#include "loader/slots.h"

#include <sys/wait.h>

static void put_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static const char *first(const struct opened *opened)
{
	static char text[64];
	const struct tn_choice *choice = &opened->registry->choices[0];
	snprintf(text, sizeof(text), "%s:%u", choice->backend->plugin.name, choice->index);
	return text;
}

/* A built-in backend of kind reference: the last resort. */
static tn_status describe_reference(void *instance, uint32_t index,
				    struct tn_device_description *out)
{
	tn_status status = minimal_describe(instance, index, out);
	out->kind = TN_DEVICE_REFERENCE;
	return status;
}

static const void *query_reference(void *instance, const char *id)
{
	static struct tn_device_table table;
	if (strcmp(id, TN_TABLE_DEVICE))
		return minimal_query(instance, id);
	table = minimal_device_table;
	table.describe = describe_reference;
	return &table;
}

static const struct tn_backend_descriptor built_in = {
	.struct_size = sizeof(built_in),
	.magic = TN_BACKEND_MAGIC,
	.abi_major = TN_ABI_MAJOR,
	.abi_minor = TN_ABI_MINOR,
	.oldest_host = TN_ABI_OLDEST_HOST,
	.uuid = {7},
	.name = "reference",
	.version = "1",
	.licence = "Apache-2.0",
	.create = minimal_create,
	.destroy = minimal_destroy,
	.query = query_reference,
};
static const struct tn_backend_descriptor *const built_ins[] = {&built_in};

static void prepare_with_reference(struct opened *opened, const char *selection)
{
	prepare(opened);
	opened->options.built_in = built_ins;
	opened->options.n_built_in = 1;
	opened->options.selection = selection;
}

static void auto_ranks_by_kind_then_score_then_name(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");          /* CPU, score -100 */
	put("null");        /* the same: sorted by name after it */
	put("two_devices"); /* CPU, scores -100 and -99 */
	put("copyonly");    /* an accelerator */
	prepare_with_reference(&opened, "auto");
	/* Found in an order other than that of their names. */
	const char *paths[] = {in_folder("backend_ok.so"), folder};
	opened.options.paths = paths;
	opened.options.n_paths = 2;
	assert_ok(open_prepared(&opened));
	static const char *const order[] = {"copyonly:0", "two_devices:1", "null:0",
					    "ok:0",       "two_devices:0", "reference:0"};
	assert_int_equal(opened.registry->n_choices, 6);
	for (size_t i = 0; i < 6; i++) {
		char text[64];
		const struct tn_choice *choice = &opened.registry->choices[i];
		snprintf(text, sizeof(text), "%s:%u", choice->backend->plugin.name, choice->index);
		assert_string_equal(text, order[i]);
	}
	assert_false(opened.registry->fell_back);
	assert_int_equal(opened.n_messages, 0);
	release(&opened);
}

static void a_named_backend_comes_first_and_others_follow(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	put("two_devices");
	assert_ok(open_selected(&opened, "ok"));
	assert_string_equal(first(&opened), "ok:0");
	assert_int_equal(opened.registry->n_choices, 3);
	assert_int_equal(opened.n_messages, 0);
	release(&opened);
	assert_ok(open_selected(&opened, "two_devices:0,ok"));
	assert_string_equal(first(&opened), "two_devices:0");
	assert_string_equal(opened.registry->choices[1].backend->plugin.name, "ok");
	assert_int_equal(row_of(&opened, "two_devices")->selected_device, 0);
	release(&opened);
	assert_ok(open_selected(&opened, "ok!"));
	assert_int_equal(opened.registry->n_choices, 1);
	release(&opened);
}

static void an_excluded_backend_is_not_even_opened(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	put("two_devices");
	assert_ok(open_selected(&opened, "^two_devices"));
	assert_string_equal(first(&opened), "ok:0");
	assert_int_equal(row_of(&opened, "two_devices")->status, TN_EXCLUDED);
	assert_int_equal(row_of(&opened, "two_devices")->stage, TN_STAGE_SEARCH);
	assert_int_equal(opened.n_messages, 0);
	release(&opened);
}

static void a_misspelt_exclusion_gets_the_nearest_name(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	put("two_devices");
	assert_int_equal(mkdir(in_folder("backends.d"), 0700), 0);
	put_text("backends.d/acme.backend", "name = acme\nkind = gpu\nsign = /nonexistent\n");
	assert_ok(open_selected(&opened, "^twodevices,^acme,^another_machines"));
	assert_string_equal(opened.messages, "2 loader: backend: '^twodevices' excludes nothing; "
					     "did you mean '^two_devices'?\n");
	assert_int_equal(row_of(&opened, "two_devices")->status, TN_OK);
	assert_int_equal(row_of(&opened, "acme")->status, TN_EXCLUDED);
	assert_string_equal(row_of(&opened, "acme")->text, "excluded by '^acme'");
	release(&opened);
	remove(in_folder("backends.d/acme.backend"));
}

static void a_kind_or_an_identity_selects_a_device_of_any_backend(void **state)
{
	static const struct {
		const char *selection, *first;
		size_t n_choices;
		const char *message; /* or the error, where `first` is NULL */
	} rows[] = {
		{"accelerator", "copyonly:0", 5, ""},
		{"accelerator!", "copyonly:0", 1, ""},
		{"pci:01:00.0", "two_devices:1", 5, ""},
		{"ok,pci:0000:01:00.0!", "ok:0", 3, ""},
		{"uuid:09000000-0000-0000-0000-000000000000!", "paired:0", 1, ""},
		{"gpu", "copyonly:0", 5,
		 "Acme GPU present, acme not used: NO_PLUGIN: no file backend_acme.so was found; "
		 "install acme; searched /"},
		{"gpu,ok!", "ok:0", 1, "acme not used: NO_PLUGIN"},
		{"gpu!", NULL, 0, "Acme GPU present, acme not used: NO_PLUGIN"},
		{"^acme,gpu!", NULL, 0, "gpu not used: NO_DEVICE: no backend has such a device"},
		{"pci:02:00.0!", NULL, 0,
		 "pci:02:00.0 not used: NO_DEVICE: no backend has such a device"},
		{"gpuu!", NULL, 0, "did you mean 'gpu'?"},
	};
	(void)state;
	put("ok");
	put("two_devices");
	put("paired"); /* is the second of them */
	put("copyonly");
	assert_int_equal(mkdir(in_folder("backends.d"), 0700), 0);
	put_text("backends.d/acme.backend", "name = acme\nhardware = Acme GPU\nkind = gpu\n"
					    "sign = /dev/null\npackages = acme\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opened opened;
		open_selected(&opened, rows[i].selection);
		if (!rows[i].first) {
			assert_int_not_equal(opened.status, TN_OK);
			assert_contains(opened.error.text, rows[i].message);
		} else {
			assert_ok(opened.status);
			assert_string_equal(first(&opened), rows[i].first);
			assert_int_equal(opened.registry->n_choices, rows[i].n_choices);
			assert_contains(opened.messages, rows[i].message);
			assert_int_equal(opened.n_messages, rows[i].message[0] != '\0');
		}
		release(&opened);
	}
	remove(in_folder("backends.d/acme.backend"));
}

static void falling_back_says_why_in_exactly_one_line(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	put("zero_devices");
	assert_ok(open_selected(&opened, "zero_devices"));
	assert_string_equal(first(&opened), "ok:0");
	assert_true(opened.registry->fell_back);
	assert_true(tn_load_report_fell_back(opened.report));
	assert_int_equal(opened.n_messages, 1);
	assert_string_equal(opened.messages,
			    "3 loader: zero_devices not used: NO_DEVICE: the imaginary bus has no "
			    "card in it; using ok:0\n");
	assert_int_equal(tn_load_report_notice_count(opened.report), 1);
	release(&opened);
	/* Two skipped ones are still one line. */
	assert_ok(open_selected(&opened, "absent,zero_devices,ok"));
	assert_int_equal(opened.n_messages, 1);
	assert_contains(opened.messages, "absent not used: NO_PLUGIN");
	assert_contains(opened.messages, "; zero_devices not used: NO_DEVICE");
	release(&opened);
	/* An index that the backend does not have. */
	assert_ok(open_selected(&opened, "ok:3"));
	assert_contains(opened.messages, "ok:3 not used: NO_DEVICE: ok has 1 device;");
	assert_true(opened.registry->fell_back);
	release(&opened);
	/* Broken, and named: the notice has the reason and no warning repeats it. */
	put("null_slot");
	assert_ok(open_selected(&opened, "null_slot"));
	assert_int_equal(opened.n_messages, 1);
	assert_contains(opened.messages, "3 loader: null_slot not used: BAD_PLUGIN: table");
	release(&opened);
}

static void a_required_backend_is_an_error_with_its_reason(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	put("zero_devices");
	assert_status(open_selected(&opened, "zero_devices!"), TN_NO_DEVICE);
	assert_string_equal(opened.error.operation, "backend");
	assert_contains(opened.error.text, "imaginary bus");
	assert_null(opened.registry);
	assert_int_equal(opened.n_messages, 0);
	/* The report exists nevertheless. */
	assert_int_equal(row_of(&opened, "ok")->status, TN_EXCLUDED);
	assert_string_equal(row_of(&opened, "ok")->text, "excluded by backend=zero_devices!");
	release(&opened);
	assert_status(open_selected(&opened, "cuda!"), TN_NO_PLUGIN);
	release(&opened);
	prepare(&opened);
	opened.options.selection = "zero_devices";
	opened.options.required = 1;
	assert_status(open_prepared(&opened), TN_NO_DEVICE);
	release(&opened);
	/* One of several is enough. */
	assert_ok(open_selected(&opened, "zero_devices,ok!"));
	assert_int_equal(opened.registry->n_choices, 1);
	assert_true(opened.registry->fell_back);
	release(&opened);
}

static void an_unknown_name_gets_the_nearest_one(void **state)
{
	struct opened opened;
	(void)state;
	put("two_devices");
	assert_ok(open_selected(&opened, "twodevices"));
	assert_contains(opened.messages, "did you mean 'two_devices'?");
	assert_int_equal(row_of(&opened, "twodevices")->status, TN_NO_PLUGIN);
	assert_int_equal(row_of(&opened, "twodevices")->found, TN_FOUND_NOWHERE);
	release(&opened);
	assert_ok(open_selected(&opened, "vulkan"));
	assert_contains(opened.messages,
			"no file backend_vulkan.so was found; available: two_devices");
	release(&opened);
	/* A part of a name is not the name. */
	assert_ok(open_selected(&opened, "two"));
	assert_int_equal(row_of(&opened, "two")->status, TN_NO_PLUGIN);
	release(&opened);
}

static void the_selection_comes_from_the_variable_too(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	put("null");
	prepare(&opened);
	setenv("TENON_BACKEND", "ok", 1);
	assert_ok(open_prepared(&opened));
	assert_string_equal(first(&opened), "ok:0");
	assert_string_equal(tn_load_report_selection(opened.report), "ok");
	release(&opened);
	prepare(&opened);
	setenv("TENON_BACKEND", "ok,,", 1);
	assert_status(open_prepared(&opened), TN_FORMAT);
	assert_contains(opened.error.text, "column 4 of 'ok,,'");
	assert_string_equal(opened.error.operation, "TENON_BACKEND");
	release(&opened);
	prepare(&opened);
	setenv("TENON_BACKEND", "\033[31mred", 1);
	assert_status(open_prepared(&opened), TN_FORMAT);
	assert_contains(opened.error.text, "column 1 of '?[31mred': expected a backend's name");
	release(&opened);
	/* The program's setting takes precedence. */
	prepare(&opened);
	setenv("TENON_BACKEND", "ok", 1);
	opened.options.selection = "null";
	assert_ok(open_prepared(&opened));
	assert_string_equal(first(&opened), "null:0");
	release(&opened);
}

static void with_nothing_else_the_built_in_backend_is_used_and_that_is_said(void **state)
{
	struct opened opened;
	(void)state;
	prepare_with_reference(&opened, NULL);
	assert_ok(open_prepared(&opened));
	assert_true(opened.registry->fell_back);
	char text[600];
	snprintf(text, sizeof(text),
		 "3 loader: no backend plugin is usable; searched %s; using reference:0, which is "
		 "built in and slow\n",
		 folder);
	assert_string_equal(opened.messages, text);
	assert_int_equal(row_of(&opened, "reference")->found, TN_FOUND_BUILT_IN);
	assert_null(row_of(&opened, "reference")->path);
	release(&opened);
	prepare_with_reference(&opened, "reference");
	assert_ok(open_prepared(&opened));
	assert_false(opened.registry->fell_back);
	assert_int_equal(opened.n_messages, 0);
	release(&opened);
	assert_status(open_selected(&opened, NULL), TN_NO_DEVICE);
	release(&opened);
}

static void a_fault_is_simulated_for_a_backend_that_is_there_or_not(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	put("null");
	prepare(&opened);
	setenv("TENON_SIMULATE", "ok:driver-too-old,cuda:no-device", 1);
	opened.options.selection = "ok";
	assert_ok(open_prepared(&opened));
	assert_string_equal(first(&opened), "null:0");
	assert_int_equal(row_of(&opened, "ok")->status, TN_DRIVER_TOO_OLD);
	assert_int_equal(row_of(&opened, "cuda")->status, TN_NO_DEVICE);
	assert_contains(opened.messages, "DRIVER_TOO_OLD: simulated by TENON_SIMULATE");
	assert_int_equal(opened.n_messages, 1);
	release(&opened);
	prepare(&opened);
	setenv("TENON_SIMULATE", "ok", 1);
	assert_status(open_prepared(&opened), TN_FORMAT);
	release(&opened);
	unsetenv("TENON_SIMULATE");
}

static void visible_hardware_without_its_backend_is_said_once(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	assert_int_equal(mkdir(in_folder("backends.d"), 0700), 0);
	put_text("backends.d/npu.backend", "# A card.\nname = npu\nhardware = Acme NPU\n"
					   "kind = accelerator\nsign = /dev/nul[l]\n"
					   "packages = acme-npu\n");
	put_text("backends.d/gpu.backend", "name = gpu\nhardware = Acme GPU\nkind = gpu\n"
					   "sign = /nonexistent\npackages = libgpu1\n"
					   "source = Acme's source tree\n");
	put_text("backends.d/bad.backend", "name = bad\nwhat is this\n");
	put_text("backends.d/notes.txt", "not read\n");
	assert_ok(open_selected(&opened, NULL));
	assert_string_equal(first(&opened), "ok:0");
	assert_int_equal(row_of(&opened, "npu")->status, TN_NO_PLUGIN);
	assert_int_equal(row_of(&opened, "npu")->hardware_seen, 1);
	assert_int_equal(row_of(&opened, "gpu")->hardware_seen, 0);
	assert_string_equal(row_of(&opened, "npu")->packages, "acme-npu");
	assert_string_equal(row_of(&opened, "gpu")->text,
			    "no file backend_gpu.so was found; it is built from Acme's source "
			    "tree, and needs libgpu1");
	assert_int_equal(tn_load_report_notice_count(opened.report), 1);
	assert_string_equal(tn_load_report_notice(opened.report, 0),
			    "Acme NPU present, npu not used: NO_PLUGIN: no file backend_npu.so was "
			    "found; install acme-npu; using ok:0");
	assert_contains(opened.messages, "bad.backend:2: expected 'key = value'");
	assert_int_equal(opened.n_messages, 2);
	release(&opened);
	/* Named, it is still one line. */
	remove(in_folder("backends.d/bad.backend"));
	assert_ok(open_selected(&opened, "npu"));
	assert_int_equal(opened.n_messages, 1);
	assert_contains(opened.messages, "Acme NPU present, npu not used");
	release(&opened);
	/* Excluded, or another one requested: no message. */
	assert_ok(open_selected(&opened, "^npu"));
	assert_int_equal(opened.n_messages, 0);
	release(&opened);
	assert_ok(open_selected(&opened, "ok"));
	assert_int_equal(opened.n_messages, 0);
	release(&opened);
	remove(in_folder("backends.d/npu.backend"));
	remove(in_folder("backends.d/gpu.backend"));
	remove(in_folder("backends.d/notes.txt"));
}

static void a_broken_file_that_nobody_named_is_warned_of_once(void **state)
{
	struct opened opened;
	(void)state;
	put("ok");
	put("no_note");
	put("zero_devices");
	assert_ok(open_selected(&opened, NULL));
	assert_int_equal(opened.n_messages, 1);
	assert_contains(opened.messages, "2 loader: /");
	assert_contains(opened.messages, "backend_no_note.so: BAD_PLUGIN: it has no Tenon note");
	release(&opened);
}

static void paths_are_searched_in_order_and_the_first_wins(void **state)
{
	struct opened opened;
	char variable[600];
	(void)state;
	put("ok");
	put("null");
	assert_int_equal(mkdir(in_folder("later"), 0700), 0);
	assert_int_equal(rename(in_folder("backend_null.so"), in_folder("later/backend_null.so")),
			 0);
	put("null");
	put("twin");
	assert_int_equal(rename(in_folder("backend_twin.so"), in_folder("later/backend_twin.so")),
			 0);
	/* The variable's folder is searched later; a relative entry is ignored. */
	prepare(&opened);
	snprintf(variable, sizeof(variable), "relative:%s", in_folder("later"));
	setenv("TENON_PLUGIN_PATH", variable, 1);
	opened.options.selection = "ok";
	assert_ok(open_prepared(&opened));
	assert_contains(opened.messages, "'relative' is ignored: not an absolute path");
	size_t duplicates = 0;
	for (size_t i = 0; i < tn_load_report_count(opened.report); i++) {
		const struct tn_load_row *row = tn_load_report_at(opened.report, i);
		duplicates += row->status == TN_DUPLICATE && row->found == TN_FOUND_VARIABLE;
	}
	/* null is a copy of the same plugin, twin has the UUID of ok. */
	assert_int_equal(duplicates, 2);
	assert_int_equal(row_of(&opened, "ok")->found, TN_FOUND_API);
	assert_contains(tn_registry_find(opened.registry, "ok")->plugin.path, folder);
	release(&opened);
	remove(in_folder("later/backend_null.so"));
	remove(in_folder("later/backend_twin.so"));
}

static void a_single_file_may_be_given_and_bare_names_may_not(void **state)
{
	struct opened opened;
	const char *paths[] = {in_folder("backend_ok.so"), "backend_null.so",
			       in_folder("backend_gone.so")};
	(void)state;
	put("ok");
	put("null");
	prepare(&opened);
	opened.options.paths = paths;
	opened.options.n_paths = 3;
	assert_ok(open_prepared(&opened));
	assert_int_equal(opened.registry->n_backends, 1);
	assert_contains(opened.messages, "'backend_null.so' is ignored");
	assert_int_equal(row_of(&opened, "gone")->status, TN_NO_PLUGIN);
	release(&opened);
}

static void an_empty_slot_answers_unsupported(void **state)
{
	struct opened opened;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_conv2d_args args = {.call = {.struct_size = sizeof(args), .error = &error}};
	(void)state;
	put("ok");
	assert_ok(open_selected(&opened, NULL));
	const struct tn_backend *backend = tn_registry_find(opened.registry, "ok");
	assert_true(tn_backend_has(backend, TN_SLOT_MATMUL));
	assert_true(tn_backend_has(backend, TN_SLOT_DEVICE_COUNT));
	assert_false(tn_backend_has(backend, TN_SLOT_FILL));
	assert_true(tn_backend_has_all(backend, TN_SLOT_DEVICE_COUNT, TN_SLOT_MATMUL));
	assert_false(tn_backend_has_all(backend, TN_SLOT_MATMUL, TN_SLOT_FILL));
	for (int slot = 0; slot < TN_SLOT_COUNT; slot++)
		assert_int_equal(tn_backend_has(backend, (enum tn_slot)slot), slot < TN_SLOT_FILL);
	for (int slot = TN_SLOT_FILL; slot < TN_SLOT_COUNT; slot++) {
		const void *const *entry =
			(const void *)((const char *)backend + tn_slots[slot].entry);
		assert_null(*entry);
	}
	assert_status(tn_slot_call(backend, TN_SLOT_CONV2D_WEIGHT_GRADIENT, NULL, &args.call),
		      TN_UNSUPPORTED);
	assert_int_equal(backend->nn.struct_size, sizeof(struct tn_nn_table));
	release(&opened);
}

static void two_registries_have_an_instance_each(void **state)
{
	struct opened a, b;
	(void)state;
	put("ok");
	assert_ok(open_selected(&a, NULL));
	assert_ok(open_selected(&b, NULL));
	assert_ptr_not_equal(tn_registry_find(a.registry, "ok")->plugin.instance,
			     tn_registry_find(b.registry, "ok")->plugin.instance);
	release(&a);
	/* Closing one leaves the other's code and instance alone;
	 * and create after destroy is legal. */
	assert_ok(tn_registry_find(b.registry, "ok")
			  ->compute.matmul(tn_registry_find(b.registry, "ok")->plugin.instance,
					   NULL));
	release(&b);
	assert_ok(open_selected(&a, NULL));
	release(&a);
}

static void a_forked_child_leaves_the_instances_alone(void **state)
{
	struct opened opened;
	int status;
	(void)state;
	put("ok");
	assert_ok(open_selected(&opened, NULL));
	pid_t child = fork();
	if (child == 0) {
		/* destroy would be called through this: a child that calls it dies. */
		opened.registry->backends[0]->plugin.descriptor.destroy = NULL;
		tn_registry_close(opened.registry);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	release(&opened);
}

static void the_report_is_text_and_json(void **state)
{
	struct opened opened;
	(void)state;
	put("two_devices");
	put("zero_devices");
	assert_ok(open_selected(&opened, "zero_devices"));
	const char *text = tn_load_report_text(opened.report);
	assert_contains(text, "selection: zero_devices (fell back)\n");
	assert_contains(text, "* two_devices   ready");
	assert_contains(text, "two_devices:1  a device that does nothing, CPU, pci:0000:01:00.0\n");
	assert_contains(text, "zero_devices  NO_DEVICE");
	assert_contains(text, "notice: zero_devices not used");
	assert_ptr_equal(text, tn_load_report_text(opened.report));
	const char *json = tn_load_report_json(opened.report);
	assert_contains(json, "\"fell_back\": true");
	assert_contains(json, "\"status\": \"NO_DEVICE\"");
	assert_contains(json, "\"stage\": \"devices\"");
	assert_contains(json, "imaginary bus");
	const struct tn_load_row *row = row_of(&opened, "two_devices");
	assert_int_equal(row->struct_size, sizeof(*row));
	assert_int_equal(row->n_devices, 2);
	assert_string_equal(row->version, "1.0");
	assert_int_equal(row->abi_minor, TN_ABI_MINOR);
	assert_int_equal(row->selected, 1);
	assert_int_equal(row->selected_device, 1);
	assert_true(row->microseconds > 0);
	release(&opened);
}

static int remove_all(void **state)
{
	rmdir(in_folder("backends.d"));
	rmdir(in_folder("later"));
	return remove_folder(state);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(auto_ranks_by_kind_then_score_then_name),
		test(a_named_backend_comes_first_and_others_follow),
		test(an_excluded_backend_is_not_even_opened),
		test(a_misspelt_exclusion_gets_the_nearest_name),
		test(a_kind_or_an_identity_selects_a_device_of_any_backend),
		test(falling_back_says_why_in_exactly_one_line),
		test(a_required_backend_is_an_error_with_its_reason),
		test(an_unknown_name_gets_the_nearest_one),
		test(the_selection_comes_from_the_variable_too),
		test(with_nothing_else_the_built_in_backend_is_used_and_that_is_said),
		test(a_fault_is_simulated_for_a_backend_that_is_there_or_not),
		test(visible_hardware_without_its_backend_is_said_once),
		test(a_broken_file_that_nobody_named_is_warned_of_once),
		test(paths_are_searched_in_order_and_the_first_wins),
		test(a_single_file_may_be_given_and_bare_names_may_not),
		test(an_empty_slot_answers_unsupported),
		test(two_registries_have_an_instance_each),
		test(a_forked_child_leaves_the_instances_alone),
		test(the_report_is_text_and_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
