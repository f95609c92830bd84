/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One physical device found by two backends: paired, and never hidden.
 */
#include "loader/report_json.h"
#include "loader_fixture.h"

static void the_identity_tells(void **state)
{
	struct tn_device_description a = {.identity_type = TN_IDENTITY_PCI}, b = a;
	(void)state;
	assert_int_equal(tn_device_same(&a, &b), 1);
	b.identity[4] = 2;
	assert_int_equal(tn_device_same(&a, &b), 0);
	b = a;
	b.identity_type = TN_IDENTITY_UUID;
	assert_int_equal(tn_device_same(&a, &b), 0);
	/* Two devices without identity are not treated as one. */
	a.identity_type = b.identity_type = TN_IDENTITY_NONE;
	assert_int_equal(tn_device_same(&a, &b), 0);
	assert_int_equal(tn_device_same(NULL, &b), 0);
}

static void any_identity_of_one_may_be_any_of_the_other(void **state)
{
	static const uint8_t uuid[16] = {7, 6, 5};
	struct tn_device_description both = {.identity_type = TN_IDENTITY_PCI,
					     .identity = {[4] = 1},
					     .identity2_type = TN_IDENTITY_UUID};
	struct tn_device_description pci = {.identity_type = TN_IDENTITY_PCI,
					    .identity = {[4] = 1}},
				     named = {.identity_type = TN_IDENTITY_UUID}, other = both;
	(void)state;
	memcpy(both.identity2, uuid, sizeof(uuid));
	memcpy(named.identity, uuid, sizeof(uuid));
	assert_int_equal(tn_device_same(&both, &pci), 1);
	assert_int_equal(tn_device_same(&both, &named), 1);
	assert_int_equal(tn_device_same(&named, &both), 1);
	assert_int_equal(tn_device_same(&pci, &named), 0);
	/* Drivers may disagree about the UUID, not about the PCI address. */
	other.identity2[0] = 99;
	assert_int_equal(tn_device_same(&both, &other), 1);
	/* The second identity alone. */
	pci.identity_type = TN_IDENTITY_NONE;
	pci.identity2_type = TN_IDENTITY_PCI;
	pci.identity2[4] = 1;
	assert_int_equal(tn_device_same(&both, &pci), 1);
}

static void parts_of_a_device_are_not_one_device(void **state)
{
	static const uint8_t uuid[16] = {7, 6, 5};
	struct tn_device_description whole = {.identity_type = TN_IDENTITY_PCI,
					      .identity = {[4] = 1}},
				     first = whole, second = whole, named = {0};
	(void)state;
	first.slice = 1;
	second.slice = 2;
	assert_int_equal(tn_device_same(&first, &second), 0);
	assert_int_equal(tn_device_same(&first, &whole), 0);
	assert_int_equal(tn_device_same(&first, &first), 1);
	/* A part's UUID is its own, for a backend that does not number parts, too. */
	first.identity2_type = named.identity2_type = TN_IDENTITY_UUID;
	memcpy(first.identity2, uuid, sizeof(uuid));
	memcpy(named.identity2, uuid, sizeof(uuid));
	assert_int_equal(tn_device_same(&first, &named), 1);
	assert_int_equal(tn_device_same(&second, &named), 0);
}

static void both_backends_keep_the_device_and_the_report_pairs_them(void **state)
{
	struct opened opened;
	(void)state;
	put("paired");
	put("two_devices");
	assert_ok(open_selected(&opened, "two_devices:1"));
	assert_int_equal(opened.registry->n_choices, 3);
	assert_string_equal(opened.registry->choices[0].backend->plugin.name, "two_devices");
	const char *text = tn_load_report_text(opened.report);
	assert_contains(text, "paired:0  a device that does nothing, CPU, "
			      "uuid:09000000-0000-0000-0000-000000000000, pci:0000:01:00.0, "
			      "the same device as two_devices:1");
	assert_contains(text, "two_devices:1  a device that does nothing, CPU, "
			      "pci:0000:01:00.0, the same device as paired:0");
	assert_contains(text, "two_devices:0  a device that does nothing, CPU\n");
	const char *json = tn_load_report_json(opened.report);
	assert_contains(json, "\"paired:0\"");
	assert_contains(json, "\"same_device_as\": []");
	/* As it comes back from the probe's helper program. */
	struct tn_load_report *again = tn_report_from_json(json, strlen(json));
	assert_non_null(again);
	json = tn_load_report_json(again);
	assert_contains(json, "\"identity\": \"09000000000000000000000000000000\"");
	assert_contains(json, "\"identity2_type\": 1");
	assert_contains(json, "\"identity2\": \"00000000010000000000000000000000\"");
	assert_contains(json, "\"two_devices:1\"");
	tn_load_report_destroy(again);
	release(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_identity_tells),
		cmocka_unit_test(any_identity_of_one_may_be_any_of_the_other),
		cmocka_unit_test(parts_of_a_device_are_not_one_device),
		cmocka_unit_test_setup_teardown(
			both_backends_keep_the_device_and_the_report_pairs_them, make_folder,
			remove_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
