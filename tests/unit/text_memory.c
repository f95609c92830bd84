/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Texts, assertions and files of arrays, with each of their allocations failing in turn: each call
 * either succeeds or keeps the error, leaves no file behind, and leaks nothing (with
 * AddressSanitizer).
 */
/* The system's functions, such as newlocale, go without. */
#define FAILING_MALLOC 0
#include <tenon/tenon.h>

#include "failing_memory.h"
#include "io_files.h"

static const char *folder;
static tn_context *context;
static const tn_array *a, *b;

static int made(tn_array *array)
{
	const int is_there = array != NULL;
	tn_array_destroy(array);
	return is_there;
}

static int printed(char *text)
{
	const int is_there = text != NULL;
	tn_string_free(text);
	return is_there;
}

static int print(void)
{
	struct tn_print_options options = tn_print_defaults();
	options.threshold = 4;
	options.edgeitems = 1;
	return printed(tn_array_repr(a, &options));
}

static int print_alone(void)
{
	return printed(tn_array_str(tn_scalar_f32(context, 0.1f), NULL));
}

static int compare_arrays(void)
{
	char *text;
	const tn_status status = tn_assert_allclose(a, b, 0, 0, NULL, &text);
	assert_int_equal(status == TN_NOT_EQUAL, text != NULL);
	tn_string_free(text);
	return status == TN_NOT_EQUAL;
}

static int save(void)
{
	return !tn_save(files_path(folder, "a.npy"), a);
}

static int load(void)
{
	return made(tn_load(context, files_path(folder, "a.npy")));
}

static int map(void)
{
	return made(tn_npy_map(context, files_path(folder, "a.npy")));
}

static int savez(void)
{
	return !tn_savez(context, files_path(folder, "a.npz"), 2, (const char *[]){"a", "b"},
			 (const tn_array *[]){a, b});
}

static int load_npz(void)
{
	return made(tn_load_npz(context, files_path(folder, "a.npz"), "b"));
}

static int tofile(void)
{
	return !tn_tofile(a, files_path(folder, "a.raw"), TN_ORDER_BIG);
}

static int fromfile(void)
{
	return made(tn_fromfile(context, files_path(folder, "a.raw"), TN_F32, -1, 0, TN_ORDER_BIG));
}

static int savetxt(void)
{
	return !tn_savetxt(files_path(folder, "a.txt"), a, NULL);
}

static int loadtxt(void)
{
	return made(tn_loadtxt(context, files_path(folder, "a.txt"), NULL));
}

/* In this order: what one writes the next reads. */
static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
	{"print", print},
	{"print_alone", print_alone},
	{"compare_arrays", compare_arrays},
	{"save", save},
	{"load", load},
	{"map", map},
	{"savez", savez},
	{"load_npz", load_npz},
	{"tofile", tofile},
	{"fromfile", fromfile},
	{"savetxt", savetxt},
	{"loadtxt", loadtxt},
};

/* Makes allocation n of the call fail; returns whether it has so many. */
static int fails_well(size_t i, long n)
{
	assert_ok(tn_scope_begin(context));
	memory_fails_at(n, 0);
	const int succeeded = calls[i].call();
	const long failures = memory_works();
	const struct tn_error_info *error = tn_error(context);
	if (succeeded == (error != NULL) || (error && error->status != TN_OUT_OF_MEMORY))
		fail_msg("%s, allocation %ld: %s", calls[i].name, n,
			 error ? error->text : "no error is kept");
	tn_error_clear(context);
	tn_scope_end(context, NULL);
	return failures > 0;
}

static void each_allocation_may_fail(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const int before = files_count(folder);
		long n = 0;
		while (fails_well(i, n))
			n++;
		assert_true(n > 0);
		/* The last call succeeded: at most one file is new. */
		assert_true(files_count(folder) <= before + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	const int64_t shape[] = {3, 4};
	folder = files_folder();
	if (tn_context_open(&options, &context, NULL))
		return 1;
	a = tn_reshape(tn_arange(context, TN_F32, 0, 12, 1), 2, shape);
	b = tn_affine(a, 1, 0.5);
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tn_context_close(context);
	files_remove(folder);
	return failed;
}
