/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The grammar of TENON_BACKEND, and of simulated faults.
 */
#include "check.h"
#include "loader/selection.h"

static tn_status parse(const char *text, struct tn_selection *selection)
{
	return tn_selection_parse(text, "backend", selection, NULL);
}

static void reads_every_form_of_a_selection(void **state)
{
	struct tn_selection s;
	(void)state;
	assert_ok(parse(NULL, &s));
	assert_int_equal(s.n_named + s.n_excluded, 0);
	assert_ok(parse("", &s));
	assert_ok(parse("auto", &s));
	assert_int_equal(s.n_named + s.n_excluded, 0);
	assert_ok(parse("cuda", &s));
	assert_int_equal(s.n_named, 1);
	assert_int_equal(s.named[0].index, TN_ANY_INDEX);
	assert_false(s.required);
	assert_ok(parse("cuda:1!", &s));
	assert_string_equal(s.named[0].name, "cuda");
	assert_int_equal(s.named[0].index, 1);
	assert_true(s.required);
	assert_ok(parse("cuda:0,cuda:1,^hip,cpu", &s));
	assert_int_equal(s.n_named, 3);
	assert_int_equal(s.n_excluded, 1);
	assert_true(tn_selection_excludes(&s, "hip"));
	assert_false(tn_selection_excludes(&s, "hi"));
	assert_true(tn_selection_names(&s, "cpu"));
	assert_ok(parse("automatic", &s));
	assert_int_equal(s.n_named, 1);
	assert_ok(parse("cuda:1,cuda,cpu:0", &s));
	assert_int_equal(s.n_named, 3);
}

static void reads_kinds_and_identities(void **state)
{
	static const struct {
		const char *text;
		enum tn_selects what;
		uint8_t bytes[16];
	} cases[] = {
		{"gpu", TN_SELECTS_GPU, {0}},
		{"accelerator", TN_SELECTS_ACCELERATOR, {0}},
		{"gpus", TN_SELECTS_BACKEND, {0}},
		{"pci:65:00.0", TN_SELECTS_IDENTITY, {[4] = 0x65}},
		{"pci:0000:65:1f.7", TN_SELECTS_IDENTITY, {[4] = 0x65, 0x1f, 7}},
		{"pci:0001A2B3:fF:00.1", TN_SELECTS_IDENTITY, {0xb3, 0xa2, 1, 0, 0xff, 0, 1}},
		{"uuid:GPU-00010203-0405-0607-0809-0a0b0c0d0e0f",
		 TN_SELECTS_IDENTITY,
		 {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		{"uuid:MIG-FF000000-0000-0000-0000-000000000001",
		 TN_SELECTS_IDENTITY,
		 {[0] = 255, [15] = 1}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_selection s;
		char required[80];
		snprintf(required, sizeof(required), "ok,%s!", cases[i].text);
		assert_ok(parse(required, &s));
		assert_int_equal(s.n_named, 2);
		assert_true(s.required);
		assert_int_equal(s.named[1].what, cases[i].what);
		assert_string_equal(s.named[1].name, cases[i].text);
		assert_memory_equal(s.named[1].identity.bytes, cases[i].bytes, 16);
	}
}

static void an_identity_is_read_as_it_is_written(void **state)
{
	const struct tn_device_description device = {
		.kind = TN_DEVICE_INTEGRATED_GPU,
		.identity_type = TN_IDENTITY_PCI,
		.identity = {0xb3, 0xa2, 1, 0, 0xff, 0x1f, 1},
		.identity2_type = TN_IDENTITY_UUID,
		.identity2 = {0xde, 0xad, [15] = 7},
	};
	const struct tn_device_description unknown = {.identity_type = 77};
	static const char *const texts[] = {"pci:1a2b3:ff:1f.1",
					    "uuid:dead0000-0000-0000-0000-000000000007"};
	struct tn_selection s;
	char text[TN_IDENTITY_TEXT];
	(void)state;
	for (int which = 0; which < 2; which++) {
		assert_true(tn_identity_write(&device, which, text));
		assert_string_equal(text, texts[which]);
		assert_ok(parse(text, &s));
		assert_true(tn_selection_item_is(&s.named[0], "any", 5, &device));
		assert_false(tn_selection_item_is(&s.named[0], "any", 5, &unknown));
		assert_false(tn_identity_write(&unknown, which, text));
	}
	assert_ok(parse("gpu,accelerator,any:5", &s));
	assert_true(tn_selection_item_is(&s.named[0], "any", 5, &device));
	assert_false(tn_selection_item_is(&s.named[1], "any", 5, &device));
	assert_true(tn_selection_item_is(&s.named[1], "any", 5, &unknown));
	assert_true(tn_selection_item_is(&s.named[2], "any", 5, &device));
	assert_false(tn_selection_item_is(&s.named[2], "any", 4, &device));
}

/* What '!' leaves: a kind or an identity may be any backend's. */
static void knows_which_backends_are_forbidden(void **state)
{
	static const struct {
		const char *text;
		int cpu, cuda;
	} cases[] = {
		{"cpu!", 0, 1},     {"cpu:3!", 0, 1},       {"cpu,cuda:1!", 0, 0}, {"cpu", 0, 0},
		{"", 0, 0},         {"^cuda", 0, 0},        {"reference!", 1, 1},  {"gpu!", 0, 0},
		{"cpu,gpu!", 0, 0}, {"pci:65:00.0!", 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_selection s;
		assert_ok(parse(cases[i].text, &s));
		assert_int_equal(tn_selection_forbids(&s, "cpu", 0), cases[i].cpu);
		assert_int_equal(tn_selection_forbids(&s, "cuda", 0), cases[i].cuda);
	}
}

static void a_malformed_selection_names_the_column(void **state)
{
	static const struct {
		const char *text, *column, *what;
	} cases[] = {
		{"cuda,", "column 6", "found the end"},
		{",cuda", "column 1", "found ','"},
		{"cuda cpu", "column 5", "found ' '"},
		{"cuda:", "column 6", "the number of a device"},
		{"cuda:-1", "column 6", "found '-'"},
		{"cuda:x", "column 6", "found 'x'"},
		{"cuda:1000000", "column 6", "below 100000"},
		{"^", "column 2", "after '^'"},
		{"^^cuda", "column 2", "found '^'"},
		{"^cuda:1", "column 6", "found ':'"},
		{"cuda!cpu", "column 6", "the end after '!'"},
		{"cuda!!", "column 6", "the end after '!'"},
		{"!", "column 1", "found '!'"},
		{"auto!", "column 1", "excludes other items"},
		{"^cuda!", "column 6", "needs a backend's name"},
		{"cpu,auto", "column 5", "excludes other items"},
		{"cpu,^cpu", "column 1", "both named and excluded"},
		{"cpu:00", "column 5", "without leading zeros, found '0'"},
		{"cpu:01", "column 5", "without leading zeros"},
		{"cpu,cpu", "column 5", "found 'cpu' again"},
		{"cpu:1,gpu,cpu:1", "column 11", "found 'cpu:1' again"},
		{"^a,^a", "column 5", "found 'a' again"},
		{"gpu,gpu", "column 5", "found 'gpu' again"},
		{"pci:65:00.0,pci:0000:65:00.0", "column 13", "again"},
		{"cpu:1:2", "column 6", "expected ',', '!' or the end, found ':'"},
		{"gpu:0", "column 4", "expected ',', '!' or the end, found ':'"},
		{"^gpu", "column 2", "a backend's name after '^', found 'gpu'"},
		{"^auto", "column 2", "found 'auto'"},
		{"^pci:65:00.0", "column 2", "found 'pci'"},
		{"pci", "column 4", "':' and a PCI address, found the end"},
		{"pci:", "column 5", "a hexadecimal PCI address"},
		{"pci:65", "column 7", "found the end"},
		{"pci:65:0.0", "column 9", "found '.'"},
		{"pci:65:00:0", "column 10", "found ':'"},
		{"pci:065:00.0", "column 8", "found ':'"},
		{"pci:000000000:65:00.0", "column 13", "found '0'"},
		{"pci:0000:65:00.0.0", "column 17", "found '.'"},
		{"uuid", "column 5", "':' and a UUID"},
		{"uuid:GPU-", "column 10", "8-4-4-4-12"},
		{"uuid:CPU-00010203", "column 7", "found 'P'"},
		{"uuid:00010203-0405-0607-0809-0a0b0c0d0e0", "column 41", "found the end"},
		{"uuid:000102030405060708090a0b0c0d0e0f", "column 14", "found '0'"},
		{"uuid:00010203-0405-0607-0809-0a0b0c0d0e0f0", "column 42", "found '0'"},
		{"uid:00", "column 5", "without leading zeros"},
		{"uuidd:a", "column 7", "did you mean 'uuid:'?"},
		{"pcie:x", "column 6", "did you mean 'pci:'?"},
		{"a_name_that_is_longer_than_thirty_one_letters", "column 1", "at most 31"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_selection s;
		struct tn_error_info error;
		assert_status(tn_selection_parse(cases[i].text, "backend", &s, &error), TN_FORMAT);
		assert_contains(error.text, cases[i].column);
		assert_contains(error.text, cases[i].what);
		assert_contains(error.text, cases[i].text);
		assert_string_equal(error.operation, "backend");
	}
}

static void a_name_of_31_letters_is_taken_and_one_of_32_is_not(void **state)
{
	struct tn_selection s;
	struct tn_error_info error;
	(void)state;
	assert_ok(parse("a234567890123456789012345678901", &s));
	assert_string_equal(s.named[0].name, "a234567890123456789012345678901");
	assert_status(tn_selection_parse("a2345678901234567890123456789012", "backend", &s, &error),
		      TN_FORMAT);
	assert_contains(error.text, "at most 31 letters, found 32");
}

static void too_many_names_are_a_limit_and_no_overflow(void **state)
{
	struct tn_selection s;
	struct tn_error_info error;
	char text[400] = "a";
	(void)state;
	for (int i = 0; i < 40; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%sa%d",
			 i % 2 ? "" : "^", i);
	assert_status(tn_selection_parse(text, "backend", &s, &error), TN_LIMIT);
	assert_contains(error.text, "more than 32");
}

static void reads_simulated_faults(void **state)
{
	struct tn_simulation s;
	struct tn_error_info error;
	(void)state;
	assert_ok(tn_simulation_parse("cuda:no-driver,cpu:missing-library", &s, NULL));
	assert_int_equal(tn_simulation_of(&s, "cuda"), TN_NO_DRIVER);
	assert_int_equal(tn_simulation_of(&s, "cpu"), TN_MISSING_LIBRARY);
	assert_int_equal(tn_simulation_of(&s, "hip"), TN_OK);
	assert_ok(tn_simulation_parse(NULL, &s, NULL));
	assert_int_equal(s.n, 0);
	assert_status(tn_simulation_parse("cuda:on-fire", &s, &error), TN_FORMAT);
	assert_contains(error.text, "column 6");
	assert_contains(error.text, "driver-too-old");
	assert_status(tn_simulation_parse("cuda", &s, &error), TN_FORMAT);
	assert_contains(error.text, "':' and a fault");
	assert_status(tn_simulation_parse("cuda:refused;", &s, &error), TN_FORMAT);
	assert_contains(error.text, "column 13");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_form_of_a_selection),
		cmocka_unit_test(reads_kinds_and_identities),
		cmocka_unit_test(an_identity_is_read_as_it_is_written),
		cmocka_unit_test(knows_which_backends_are_forbidden),
		cmocka_unit_test(a_malformed_selection_names_the_column),
		cmocka_unit_test(a_name_of_31_letters_is_taken_and_one_of_32_is_not),
		cmocka_unit_test(too_many_names_are_a_limit_and_no_overflow),
		cmocka_unit_test(reads_simulated_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
