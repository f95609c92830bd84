/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tests of every program that compares recorded cases on several backends.
 */
#include "parity/parity.h"

#include "parity/functions.h"

enum { MOST_TESTS = 32, NAME = 96 };

static int reads_next(FILE *file, struct record *record)
{
	return parity.read ? parity.read(file) : record_read(file, record);
}

static void check_case(tn_context *context, const struct record *record, int number, int is_brief)
{
	const struct record *read = parity.read ? NULL : record;
	if (is_brief && parity.is_brief && !parity.is_brief(read, number))
		return;
	assert_ok(tn_scope_begin(context));
	parity.check(context, read, number);
	tn_scope_end(context, NULL);
}

/* Returns the number of cases that the file has, of the brief choice too. */
static int check_file(tn_context *context, const char *name, int is_brief)
{
	FILE *file = record_open(name);
	struct record record = {.n_arrays = 0};
	int n = 0;
	if (parity.given)
		assert_true(record_read(file, parity.given));
	for (; reads_next(file, &record); n++) {
		check_case(context, &record, n, is_brief);
		record_free(&record);
	}
	if (parity.given)
		record_free(parity.given);
	fclose(file);
	return n;
}

/* Closes the context. */
static void check_all(tn_context *context, int is_brief)
{
	for (int i = 0; i < PARITY_FILES && parity.records[i].file; i++) {
		const int n = check_file(context, parity.records[i].file, is_brief);
		if (!record_is_complete(n, parity.records[i].n_cases))
			fail_msg("%s: expected %d cases, found %d", parity.records[i].file,
				 parity.records[i].n_cases, n);
	}
	assert_null(tn_error(context));
	tn_context_close(context);
}

int parity_is_first(const struct record *record, int number)
{
	static char seen[RECORD_NAME];
	(void)number;
	if (strcmp(record->layer, seen) == 0)
		return 0;
	memcpy(seen, record->layer, RECORD_NAME);
	return 1;
}

int parity_is_first_in_f32(const struct record *record, int number)
{
	return record_ints(record, "dtype")[0] == TN_F32 && parity_is_first(record, number);
}

static void the_reference(void **state)
{
	(void)state;
	check_all(trial_open("reference!"), 0);
}

static void the_preferred_backend(void **state)
{
	(void)state;
	check_all(trial_open(NULL), 0);
}

static void the_mock(void **state)
{
	(void)state;
	check_all(open_mock(""), parity.is_mock_brief);
}

static void the_given_backend(void **state)
{
	check_all(trial_open(*state), 1);
}

/* The name is that of the subject and the claim. */
static struct CMUnitTest test_of(char name[NAME], const char *subject, CMUnitTestFunction f)
{
	snprintf(name, NAME, "%s_%s", subject, parity.claim);
	return (struct CMUnitTest){.name = name, .test_func = f};
}

static int run_on_given(char *backend)
{
	char name[NAME];
	struct CMUnitTest tests[] = {test_of(name, "the_given_backend", the_given_backend)};
	tests[0].initial_state = backend;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int n_arguments, char **arguments)
{
	char names[3][NAME];
	struct CMUnitTest tests[MOST_TESTS] = {
		test_of(names[0], "the_reference", the_reference),
		test_of(names[1], "the_preferred_backend", the_preferred_backend),
	};
	if (n_arguments > 1)
		return run_on_given(arguments[1]);
	assert_true(parity.n_tests <= MOST_TESTS - 3);
	for (size_t i = 0; i < parity.n_tests; i++)
		tests[2 + i] = parity.tests[i];
	/* Last: it changes the environment. */
	tests[2 + parity.n_tests] = test_of(names[2], "the_mock", the_mock);
	return _cmocka_run_group_tests("parity", tests, 3 + parity.n_tests, NULL, NULL);
}
