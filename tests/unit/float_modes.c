/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers become text, and texts numbers, as usual in a program that rounds in another direction or
 * flushes subnormals or traps exceptions, and its modes are left as they were.
 */
#include <fenv.h>
#include <float.h>
#include <tenon/tenon.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "check.h"

enum { N = 8 };

static const char *const texts[N] = {"0.1",    "0.3",  "2.675", "1e-310",
				     "5e-324", "1e23", "0.7",   "-1.1"};

/* What the modes may not change: bits of the numbers that were read, and texts. */
struct results {
	double table[N], loaded[N];
	char printed[4096], saved[4096], program[4096];
};

static const struct mode {
	const char *name;
	int rounding;
	unsigned changed; /* bits of the register of x86 */
} modes[] = {
	{"to nearest", FE_TONEAREST, 0},
	{"upward", FE_UPWARD, 0},
	{"downward", FE_DOWNWARD, 0},
	{"towards zero", FE_TOWARDZERO, 0},
	{"flushing subnormals", FE_TONEAREST, 0x8040},
	{"trapping underflow and inexact results", FE_TONEAREST, 0x1800},
};

static int change(unsigned changed)
{
#if defined(__SSE2__)
	_mm_setcsr((_mm_getcsr() & 0x6000) | (0x1f80 ^ changed));
	return 1;
#else
	return !changed;
#endif
}

static void read_file(const char *path, char text[4096])
{
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, 4095, file)] = 0;
	fclose(file);
}

static void write_table(const char *path)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 0; i < N; i++)
		fprintf(file, "%s%s", texts[i], i + 1 < N ? "," : "\n");
	fclose(file);
}

static void read_table(const char *path, double values[N])
{
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	assert_ok(tn_csv_read(path, NULL, &csv, NULL));
	memcpy(values, csv.values.data, N * sizeof(*values));
	tn_csv_release(&csv);
}

/* A program with all numbers, as it is parsed and printed. */
static void print_program(char text[4096])
{
	static const char *const inputs[] = {"x"};
	static const tn_dtype dtypes[] = {TN_F64};
	const struct tn_program_names names = {.struct_size = sizeof(names),
					       .inputs = inputs,
					       .input_dtypes = dtypes,
					       .n_inputs = 1};
	char source[1024] = "y = x";
	tn_program *program = NULL;
	for (int i = 0; i < N; i++)
		snprintf(source + strlen(source), sizeof(source) - strlen(source), " + x * %s",
			 texts[i][0] == '-' ? texts[i] + 1 : texts[i]);
	assert_ok(tn_program_parse(source, &names, &program, NULL));
	assert_true(tn_program_text(program, text, 4096) < 4096);
	tn_program_destroy(program);
}

static void compute(tn_context *context, const char *folder, struct results *r)
{
	char path[4096];
	memset(r, 0, sizeof(*r));
	snprintf(path, sizeof(path), "%s/table.csv", folder);
	read_table(path, r->table);
	struct tn_loadtxt_options options = tn_loadtxt_defaults();
	options.delimiter = ',';
	tn_array *loaded = tn_loadtxt(context, path, &options);
	assert_ok(tn_to_host(loaded, r->loaded, sizeof(r->loaded)));
	char *printed = tn_array_str(loaded, NULL);
	assert_non_null(printed);
	snprintf(r->printed, sizeof(r->printed), "%s", printed);
	tn_string_free(printed);
	snprintf(path, sizeof(path), "%s/saved.txt", folder);
	assert_ok(tn_savetxt(path, loaded, NULL));
	read_file(path, r->saved);
	unlink(path);
	print_program(r->program);
	tn_array_destroy(loaded);
}

static void texts_and_numbers_are_those_of_the_usual_modes(void **state)
{
	char folder[] = "/tmp/float_modes.XXXXXX", path[4096];
	struct results usual, found;
	tn_context *context;
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/table.csv", folder);
	write_table(path);
	assert_ok(tn_context_open(NULL, &context, NULL));
	compute(context, folder, &usual);
	for (int i = 0; i < N; i++)
		assert_true(usual.table[i] == strtod(texts[i], NULL));
	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		if (fesetround(modes[m].rounding) || !change(modes[m].changed))
			continue;
		compute(context, folder, &found);
		int rounding = fegetround();
		fesetround(FE_TONEAREST);
		change(0);
		assert_int_equal(rounding, modes[m].rounding);
		if (memcmp(&found, &usual, sizeof(found)))
			fail_msg("%s: other numbers or texts:\n%s\n%s\n%s\n%s%s%s", modes[m].name,
				 usual.printed, found.printed, usual.program, found.program,
				 usual.saved, found.saved);
	}
	tn_context_close(context);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_and_numbers_are_those_of_the_usual_modes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
