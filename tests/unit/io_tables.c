/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tables of text: tn_loadtxt and tn_savetxt.  What numpy.savetxt writes is here as it wrote it.
 */
#include <locale.h>
#include <math.h>
#include <tenon/tenon.h>

#include "io_files.h"

static const char *folder;
static tn_context *context;

static const char *table(const char *text)
{
	const char *path = files_path(folder, "table.txt");
	files_write(path, text, strlen(text));
	return path;
}

static void expect_text(const tn_array *array, const char *expected)
{
	char *text = tn_array_repr(array, NULL);
	if (!text)
		fail_msg("%s: %s", tn_error(context)->operation, tn_error(context)->text);
	assert_string_equal(text, expected);
	tn_string_free(text);
}

static void shapes_and_lines_are_numpys(void **state)
{
	(void)state;
	static const struct {
		const char *text, *expected[3]; /* for ndmin 0, 1 and 2 */
	} cases[] = {
		{"1 2\n3 4\n",
		 {"array([[1., 2.],\n       [3., 4.]])", "array([[1., 2.],\n       [3., 4.]])",
		  "array([[1., 2.],\n       [3., 4.]])"}},
		{"1 2 # 3\n", {"array([1., 2.])", "array([1., 2.])", "array([[1., 2.]])"}},
		{"\n1\r2\r\n\r\n",
		 {"array([1., 2.])", "array([1., 2.])", "array([[1.],\n       [2.]])"}},
		{"\t -.5e1 ", {"array(-5.)", "array([-5.])", "array([[-5.]])"}},
		{"# nothing\n\n",
		 {"array([], dtype=float64)", "array([], dtype=float64)",
		  "array([], shape=(0, 1), dtype=float64)"}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint32_t ndmin = 0; ndmin < 3; ndmin++) {
			struct tn_loadtxt_options loadtxt = tn_loadtxt_defaults();
			loadtxt.ndmin = ndmin;
			expect_text(tn_loadtxt(context, table(cases[i].text), &loadtxt),
				    cases[i].expected[ndmin]);
		}
	}
}

static void rows_and_columns_are_chosen(void **state)
{
	static const int columns[] = {2, 0, -1};
	const char *text = "a,b,c\n1, 2,3\n\n4,5 ,6\n7,8,9\n";
	(void)state;
	struct tn_loadtxt_options loadtxt = tn_loadtxt_defaults();
	loadtxt.delimiter = ',';
	loadtxt.skiprows = 1;
	loadtxt.max_rows = 2;
	loadtxt.usecols = columns;
	loadtxt.n_usecols = 3;
	loadtxt.dtype = TN_I32;
	expect_text(tn_loadtxt(context, table(text), &loadtxt),
		    "array([[3, 1, 3],\n       [6, 4, 6]], dtype=int32)");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.usecols = columns + 1;
	loadtxt.n_usecols = 1;
	expect_text(tn_loadtxt(context, table("1 2\n3 4 5\n"), &loadtxt), "array([1., 3.])");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.comments = "//";
	loadtxt.max_rows = 1;
	expect_text(tn_loadtxt(context, table("1 // 2\n// 3\n#"), &loadtxt), "array(1.)");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.usecols = columns;
	loadtxt.n_usecols = 2;
	loadtxt.ndmin = 2;
	expect_text(tn_loadtxt(context, table(""), &loadtxt),
		    "array([], shape=(0, 2), dtype=float64)");
}

static void missing_fields_have_the_callers_value(void **state)
{
	(void)state;
	struct tn_loadtxt_options loadtxt = tn_loadtxt_defaults();
	loadtxt.delimiter = ',';
	loadtxt.fill_missing = 1;
	loadtxt.filling_value = NAN;
	loadtxt.missing_text = "NA";
	expect_text(tn_loadtxt(context, table("1,,NA\n,2, \n"), &loadtxt),
		    "array([[ 1., nan, nan],\n       [nan,  2., nan]])");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.delimiter = ',';
	loadtxt.fill_missing = 1;
	loadtxt.filling_value = -7;
	loadtxt.dtype = TN_I8;
	expect_text(tn_loadtxt(context, table("1,,3"), &loadtxt),
		    "array([ 1, -7,  3], dtype=int8)");
}

static void every_dtype_is_read(void **state)
{
	(void)state;
	static const struct {
		tn_dtype dtype;
		const char *text, *expected;
	} cases[] = {
		{TN_BOOL, "0 1", "array([False,  True])"},
		{TN_I8, "-128 127", "array([-128,  127], dtype=int8)"},
		{TN_I16, "-32768 32767", "array([-32768,  32767], dtype=int16)"},
		{TN_I32, "-2147483648 2147483647",
		 "array([-2147483648,  2147483647], dtype=int32)"},
		{TN_I64, "-9223372036854775808 9223372036854775807",
		 "array([-9223372036854775808,  9223372036854775807])"},
		{TN_U8, "0 255", "array([  0, 255], dtype=uint8)"},
		{TN_U16, "0 65535", "array([    0, 65535], dtype=uint16)"},
		{TN_U32, "0 4294967295", "array([         0, 4294967295], dtype=uint32)"},
		{TN_U64, "0 +18446744073709551615",
		 "array([                   0, 18446744073709551615], dtype=uint64)"},
		{TN_F16, "0.1 65504", "array([1.00e-01, 6.55e+04], dtype=float16)"},
		{TN_BF16, "0.1 -2", "array([ 0.1, -2. ], dtype=bfloat16)"},
		{TN_F32, "0.1 Infinity", "array([0.1, inf], dtype=float32)"},
		{TN_F64, "+.1e1 NaN -inf", "array([  1.,  nan, -inf])"},
		{TN_C64, "(1+2j) 3J", "array([1.+2.j, 0.+3.j], dtype=complex64)"},
		{TN_C128, "-1e-1-2E+1j 4 ", "array([-0.1-20.j,  4.  +0.j])"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_loadtxt_options loadtxt = tn_loadtxt_defaults();
		loadtxt.dtype = cases[i].dtype;
		expect_text(tn_loadtxt(context, table(cases[i].text), &loadtxt), cases[i].expected);
	}
}

static void refused(const char *text, const struct tn_loadtxt_options *options, tn_status status,
		    const char *part)
{
	const tn_array *made = tn_loadtxt(context, table(text), options);
	if (made || tn_error(context)->status != status || !strstr(tn_error(context)->text, part))
		fail_msg("%s: expected %s, found %s", text, part,
			 made ? "an array" : tn_error(context)->text);
	assert_string_equal(tn_error(context)->operation, "loadtxt");
	tn_error_clear(context);
}

static void malformed_tables_are_refused_by_place(void **state)
{
	static const int third[] = {2};
	(void)state;
	refused("1 2\n3\n", NULL, TN_FORMAT,
		"table.txt: line 2: expected 2 fields, as in line 1, found 1");
	refused("1 2\n\n# c\n3  x4\n", NULL, TN_FORMAT,
		"line 4, column 4: field 2: expected a number, found 'x4'");
	struct tn_loadtxt_options loadtxt = tn_loadtxt_defaults();
	loadtxt.delimiter = ',';
	refused("1,,2", &loadtxt, TN_FORMAT, "field 2: expected a number, found ''");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.usecols = third;
	loadtxt.n_usecols = 1;
	refused("1 2", &loadtxt, TN_FORMAT,
		"line 1: expected a column 2 (usecols), found 2 fields");
	refused("0x10", NULL, TN_FORMAT, "expected a number");
	refused("1e999", NULL, TN_FORMAT, "at most 1.7976931348623157e308");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.dtype = TN_F16;
	refused("65520", &loadtxt, TN_FORMAT, "f16, at most 65504");
	loadtxt.dtype = TN_BF16;
	refused("3.4e38", &loadtxt, TN_FORMAT, "bf16, at most 3.3895314e38");
	loadtxt.dtype = TN_BOOL;
	refused("2", &loadtxt, TN_FORMAT, "a bool, 0 or 1, found '2'");
	loadtxt.dtype = TN_I8;
	refused("128", &loadtxt, TN_FORMAT, "i8, from -128 to 127");
	loadtxt.dtype = TN_U32;
	refused("-1", &loadtxt, TN_FORMAT, "u32, from 0 to 2^32 - 1");
	loadtxt.dtype = TN_U64;
	refused("18446744073709551616", &loadtxt, TN_FORMAT, "u64");
	refused("-0", &loadtxt, TN_FORMAT, "u64");
	loadtxt.dtype = TN_I64;
	refused("1.0", &loadtxt, TN_FORMAT, "an integer");
	loadtxt.dtype = TN_C64;
	refused("1+j", &loadtxt, TN_FORMAT, "a complex number such as 1+2j");
	refused("()", &loadtxt, TN_FORMAT, "a complex number");
	const char *path = files_path(folder, "zero.txt");
	files_write(path, "1 2\n3\0", 6);
	assert_null(tn_loadtxt(context, path, NULL));
	assert_contains(tn_error(context)->text, "line 2, column 2: expected text, found byte 00");
	tn_error_clear(context);
}

static void options_out_of_range_are_refused(void **state)
{
	static const int first[] = {0};
	(void)state;
	struct tn_loadtxt_options loadtxt = tn_loadtxt_defaults();
	loadtxt.dtype = 99;
	refused("1", &loadtxt, TN_DTYPE, "99 is not a dtype");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.delimiter = '\n';
	refused("1", &loadtxt, TN_INVALID_ARGUMENT, "delimiter");
	loadtxt.delimiter = '#';
	refused("1", &loadtxt, TN_INVALID_ARGUMENT, "delimiter");
	loadtxt.delimiter = 256;
	refused("1", &loadtxt, TN_INVALID_ARGUMENT, "delimiter");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.skiprows = -1;
	refused("1", &loadtxt, TN_INVALID_ARGUMENT, "skiprows");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.n_usecols = 1;
	refused("1", &loadtxt, TN_INVALID_ARGUMENT, "n_usecols");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.usecols = first;
	refused("1", &loadtxt, TN_INVALID_ARGUMENT, "n_usecols");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.ndmin = 3;
	refused("1", &loadtxt, TN_INVALID_ARGUMENT, "ndmin: expected at most 2, found 3");
	loadtxt = tn_loadtxt_defaults();
	loadtxt.missing_text = "NA";
	refused("1", &loadtxt, TN_INVALID_ARGUMENT, "missing_text");
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static void expect_file(const tn_array *array, const struct tn_savetxt_options *options,
			const char *expected)
{
	const char *path = files_path(folder, "written.txt");
	size_t size;
	if (tn_savetxt(path, array, options))
		fail_msg("%s: %s", tn_error(context)->operation, tn_error(context)->text);
	unsigned char *text = files_read(path, &size);
	text[size] = '\0';
	assert_string_equal((const char *)text, expected);
	free(text);
}

static tn_array *numbers(tn_dtype dtype, int rank, const int64_t *shape, const double *values)
{
	return tn_astype(tn_from_host(context, TN_F64, rank, shape, values), dtype);
}

static void tables_are_written_as_by_numpy(void **state)
{
	static const double values[] = {0.1, -2, 1e300, INFINITY, NAN, -0.0};
	(void)state;
	const tn_array *a = numbers(TN_F64, 2, (const int64_t[]){2, 3}, values);
	expect_file(a, NULL,
		    "1.000000000000000056e-01 -2.000000000000000000e+00 1.000000000000000053e+300\n"
		    "inf nan -0.000000000000000000e+00\n");
	struct tn_savetxt_options savetxt = tn_savetxt_defaults();
	savetxt.fmt = "%+09.2g";
	savetxt.delimiter = ";";
	savetxt.header = "a\nb";
	savetxt.footer = "c";
	expect_file(
		a, &savetxt,
		"# a\n# b\n+000000.1;-00000002;+001e+300\n+00000inf;+00000nan;-00000000\n# c\n");
	savetxt = tn_savetxt_defaults();
	savetxt.fmt = "%-4d";
	savetxt.delimiter = "|";
	expect_file(tn_slice(tn_slice(a, 0, 0, 1, 1), 1, 0, 2, 1), &savetxt, "0   |-2  \n");
	savetxt = tn_savetxt_defaults();
	savetxt.fmt = "%.0f";
	expect_file(tn_slice(tn_slice(a, 0, 0, 1, 1), 1, 2, 3, 1), &savetxt,
		    "10000000000000000525047602552044202487044685811081591549158541155118024579889"
		    "08195786371375080447864043704443832883878176942523235360430575644792184786706"
		    "98284838720092657580373783023379478809005936895323497079994508111903896764088"
		    "0074652742780142494579258788820056842838115669472196386865459400540160\n");
}

static void integers_are_exact(void **state)
{
	static const int64_t values[] = {INT64_MIN, -1, 0, INT64_MAX};
	(void)state;
	const tn_array *a = tn_from_host(context, TN_I64, 1, (const int64_t[]){4}, values);
	struct tn_savetxt_options savetxt = tn_savetxt_defaults();
	savetxt.fmt = "%d";
	expect_file(a, &savetxt, "-9223372036854775808\n-1\n0\n9223372036854775807\n");
	savetxt.fmt = "%.3i";
	expect_file(a, &savetxt, "-9223372036854775808\n-001\n000\n9223372036854775807\n");
	savetxt.fmt = "%.1e";
	expect_file(a, &savetxt, "-9.2e+18\n-1.0e+00\n0.0e+00\n9.2e+18\n");
	const tn_array *u =
		tn_full_number(context, TN_U64, 1, (const int64_t[]){1}, tn_number_u64(UINT64_MAX));
	savetxt.fmt = "%d";
	expect_file(u, &savetxt, "18446744073709551615\n");
	savetxt.fmt = "%3d";
	expect_file(tn_astype(a, TN_BOOL), &savetxt, "  1\n  1\n  0\n  1\n");
}

/* What is cut to 0 has no sign. */
static void numbers_are_cut_to_integers(void **state)
{
	static const double values[] = {-1.5, -1, -0.5, -0.0, 0, 0.5, 1, 1.5, 4294967296.75};
	static const struct {
		const char *fmt, *expected;
	} cases[] = {
		{"%d", "-1\n-1\n0\n0\n0\n0\n1\n1\n4294967296\n"},
		{"%+i", "-1\n-1\n+0\n+0\n+0\n+0\n+1\n+1\n+4294967296\n"},
		{"%3d", " -1\n -1\n  0\n  0\n  0\n  0\n  1\n  1\n4294967296\n"},
		{"%03d", "-01\n-01\n000\n000\n000\n000\n001\n001\n4294967296\n"},
	};
	(void)state;
	const tn_array *a = numbers(TN_F64, 1, (const int64_t[]){9}, values);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_savetxt_options savetxt = tn_savetxt_defaults();
		savetxt.fmt = cases[i].fmt;
		expect_file(a, &savetxt, cases[i].expected);
	}
}

static void complex_numbers_are_sums(void **state)
{
	static const double real[] = {1, -0.5}, imaginary[] = {2, -3};
	const int64_t shape[] = {2};
	(void)state;
	const tn_array *a =
		tn_complex(numbers(TN_F64, 1, shape, real), numbers(TN_F64, 1, shape, imaginary));
	struct tn_savetxt_options savetxt = tn_savetxt_defaults();
	savetxt.fmt = "%.2f";
	expect_file(a, &savetxt, " (1.00+2.00j)\n (-0.50-3.00j)\n");
	savetxt.fmt = "%g";
	expect_file(a, &savetxt, " (1+2j)\n (-0.5-3j)\n");
	struct tn_loadtxt_options loadtxt = tn_loadtxt_defaults();
	loadtxt.dtype = TN_C128;
	expect_text(tn_loadtxt(context, files_path(folder, "written.txt"), &loadtxt),
		    "array([ 1. +2.j, -0.5-3.j])");
}

static void the_locale_of_the_program_does_not_count(void **state)
{
	(void)state;
	const char *found = setlocale(LC_ALL, "de_DE.UTF-8");
	struct tn_savetxt_options savetxt = tn_savetxt_defaults();
	savetxt.fmt = "%g";
	expect_file(tn_full(context, TN_F64, 1, (const int64_t[]){1}, 1.5), &savetxt, "1.5\n");
	expect_text(tn_loadtxt(context, files_path(folder, "written.txt"), NULL), "array(1.5)");
	if (!found)
		print_message("(without a locale of another decimal point)\n");
	setlocale(LC_ALL, "C");
}

static void not_written(const tn_array *a, const struct tn_savetxt_options *options,
			tn_status status, const char *part)
{
	const char *path = files_path(folder, "not-written.txt");
	assert_status(tn_savetxt(path, a, options), status);
	assert_string_equal(tn_error(context)->operation, "savetxt");
	assert_contains(tn_error(context)->text, part);
	tn_error_clear(context);
	assert_int_equal(access(path, F_OK), -1);
}

static void formats_are_checked(void **state)
{
	static const struct {
		const char *fmt, *part;
	} cases[] = {
		{"", "expected '%' at byte 1"},
		{"x%d", "expected '%' at byte 1"},
		{"%", "expected one of d i e E f F g G at byte 2"},
		{"%s", "expected one of d i e E f F g G at byte 2"},
		{"%n", "expected one of d i e E f F g G at byte 2"},
		{"%*d", "expected one of d i e E f F g G at byte 2"},
		{"%ld", "expected one of d i e E f F g G at byte 2"},
		{"%#g", "expected one of d i e E f F g G at byte 2"},
		{"%d%n", "expected the end at byte 3"},
		{"%d ", "expected the end at byte 3"},
		{"%1001d", "expected a width of at most 1000"},
		{"%.1001f", "expected a precision of at most 1000"},
		{"%99999999999999999999d", "expected a width of at most 1000"},
	};
	(void)state;
	const tn_array *a = tn_ones(context, TN_F64, 1, (const int64_t[]){1});
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_savetxt_options savetxt = tn_savetxt_defaults();
		savetxt.fmt = cases[i].fmt;
		not_written(a, &savetxt, TN_INVALID_ARGUMENT, cases[i].part);
	}
	struct tn_savetxt_options savetxt = tn_savetxt_defaults();
	savetxt.fmt = "%d";
	not_written(tn_full(context, TN_F32, 1, (const int64_t[]){1}, NAN), &savetxt,
		    TN_INVALID_ARGUMENT, "'%d': expected finite numbers, element 0 is not");
	savetxt = tn_savetxt_defaults();
	savetxt.reserved = 1;
	not_written(a, &savetxt, TN_INVALID_ARGUMENT, "reserved");
	not_written(tn_scalar_f32(context, 1), NULL, TN_SHAPE, "rank 1 or 2, found shape ()");
}

static int open_context(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	(void)state;
	folder = files_folder();
	assert_ok(tn_context_open(&options, &context, NULL));
	return 0;
}

static int close_context(void **state)
{
	(void)state;
	tn_context_close(context);
	files_remove(folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_and_lines_are_numpys),
		cmocka_unit_test(rows_and_columns_are_chosen),
		cmocka_unit_test(missing_fields_have_the_callers_value),
		cmocka_unit_test(every_dtype_is_read),
		cmocka_unit_test(malformed_tables_are_refused_by_place),
		cmocka_unit_test(options_out_of_range_are_refused),
		cmocka_unit_test(tables_are_written_as_by_numpy),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(numbers_are_cut_to_integers),
		cmocka_unit_test(complex_numbers_are_sums),
		cmocka_unit_test(the_locale_of_the_program_does_not_count),
		cmocka_unit_test(formats_are_checked),
	};
	return cmocka_run_group_tests(tests, open_context, close_context);
}
