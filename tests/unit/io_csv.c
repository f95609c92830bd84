/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tables of comma-separated values: dtypes, labels, missing values, and errors with their place.
 */
#include "config.h"

#include <locale.h>
#include <math.h>

#include <tenon/io.h>

#include "io_spoil.h"
#include "numpy_csv.h"

static const char *make(const char *text)
{
	const char *path = files_path(folder, "x.csv");
	files_write(path, text, strlen(text));
	return path;
}

static struct tn_csv read_text(const char *text, const struct tn_csv_options *options)
{
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	struct tn_error_info error;
	tn_error_reset(&error);
	tn_status status = tn_csv_read(make(text), options, &csv, &error);
	if (status != TN_OK)
		fail_msg("%s", error.text);
	return csv;
}

static void refused(const char *path, const struct tn_csv_options *options, tn_status expected,
		    const char *part)
{
	struct tn_error_info error;
	struct tn_csv csv = {.struct_size = sizeof(csv), .n_classes = 77};
	tn_error_reset(&error);
	assert_status(tn_csv_read(path, options, &csv, &error), expected);
	assert_int_equal(csv.n_classes, 77);
	assert_contains(error.text, part);
}

static void check_f64(const struct tn_csv *csv, int64_t rows, int64_t columns, const double *values)
{
	assert_int_equal(csv->values.dtype, TN_F64);
	assert_int_equal(csv->values.rank, 2);
	assert_int_equal(csv->values.shape[0], rows);
	assert_int_equal(csv->values.shape[1], columns);
	assert_int_equal(csv->values.size_bytes, rows * columns * 8);
	assert_memory_equal(csv->values.data, values, csv->values.size_bytes);
}

static void numbers_are_f64_by_default(void **state)
{
	(void)state;
	struct tn_csv csv = read_text("1,-2.5,+3e2\n.5,4.,1E-3\n", NULL);
	check_f64(&csv, 2, 3, (double[]){1, -2.5, 300, .5, 4, 1e-3});
	assert_null(csv.labels.data);
	assert_null(csv.column_names);
	assert_null(csv.class_names);
	tn_csv_release(&csv);
	tn_csv_release(&csv);
	tn_csv_release(NULL);
}

static void line_ends_blanks_empty_lines_and_marks_do_not_matter(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"1,2\n3,4",
		"1,2\r\n3,4\r\n",
		"1,2\r\n3,4\r",
		"1,2\r3,4\r",
		"1,2\r3,4",
		"\r1,2\r\r3,4\r\n\r\n",
		"\"1\",2\r3,\"4\"\r",
		("\xef\xbb\xbf"
		 "1,2\n3,4\n"),
		" 1 ,\t2\n3, 4 \n",
		"\n1,2\n\n  \n3,4\n\n",
		"\"1\",\"2\"\n3,\"4\"",
		" \"1\" ,2\n3,4\n\n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tn_csv csv = read_text(texts[i], NULL);
		check_f64(&csv, 2, 2, (double[]){1, 2, 3, 4});
		tn_csv_release(&csv);
	}
}

static void other_separators_quotes_and_comments_are_options(void **state)
{
	(void)state;
	static const char *const texts[] = {"1;2\n3;4\n", "1\t2\n3\t4\n", "1 2\n3 4\n"};
	for (int i = 0; i < 3; i++) {
		struct tn_csv_options options = tn_csv_defaults();
		options.separator = ";\t "[i];
		struct tn_csv csv = read_text(texts[i], &options);
		check_f64(&csv, 2, 2, (double[]){1, 2, 3, 4});
		tn_csv_release(&csv);
	}
	struct tn_csv_options options = tn_csv_defaults();
	options.quote = '\'';
	options.comment = '#';
	struct tn_csv csv = read_text("# 9\n1,'2' # 3\n  #\n3,4#\n#", &options);
	check_f64(&csv, 2, 2, (double[]){1, 2, 3, 4});
	tn_csv_release(&csv);
}

static void every_dtype_is_rounded_once_and_exact(void **state)
{
	(void)state;
	/* 1 + 2^-24 + 2^-60 rounds up in f32, but down if it is rounded to f64 before. */
	struct tn_csv_options options = tn_csv_defaults();
	options.dtype = TN_F32;
	struct tn_csv csv =
		read_text("1.000000059604644775390625867,-1e-46\n3.4028235e38,1e-45\n", &options);
	assert_int_equal(csv.values.dtype, TN_F32);
	assert_int_equal(csv.values.size_bytes, 16);
	const float *narrow = csv.values.data;
	assert_true(narrow[0] == 1.00000011920928955f);
	assert_true(narrow[1] == 0 && signbit(narrow[1]));
	assert_true(narrow[2] == 3.40282347e38f);
	assert_true(narrow[3] == 1.40129846e-45f);
	tn_csv_release(&csv);
	options.dtype = TN_I64;
	csv = read_text("9223372036854775807,-9223372036854775808,+007,-0\n", &options);
	const int64_t *whole = csv.values.data;
	assert_int_equal(csv.values.dtype, TN_I64);
	assert_true(whole[0] == INT64_MAX && whole[1] == INT64_MIN);
	assert_true(whole[2] == 7 && whole[3] == 0);
	tn_csv_release(&csv);
}

static void infinity_and_nan_are_numbers(void **state)
{
	(void)state;
	struct tn_csv csv = read_text("inf,-INF,Infinity,nan,NaN,-nan\n", NULL);
	const double *x = csv.values.data;
	assert_true(isinf(x[0]) && x[0] > 0 && isinf(x[1]) && x[1] < 0 && isinf(x[2]));
	assert_true(isnan(x[3]) && isnan(x[4]) && isnan(x[5]));
	tn_csv_release(&csv);
}

static void numbers_are_finite_on_request(void **state)
{
	(void)state;
	static const tn_dtype dtypes[] = {TN_F32, TN_F64};
	for (int i = 0; i < 2; i++) {
		struct tn_csv_options options = tn_csv_defaults();
		options.dtype = dtypes[i];
		options.finite = 1;
		options.missing_is_nan = 1;
		struct tn_csv csv = read_text("1,\n2,3\n", &options);
		tn_csv_release(&csv);
		refused(make("1,2\n3,-Infinity\n"), &options, TN_FORMAT,
			"line 2, column 3: field 2: expected a finite number, found '-Infinity'");
		refused(make("nan,2\n"), &options, TN_FORMAT, "expected a finite number");
	}
}

static void missing_values_are_nan_on_request(void **state)
{
	(void)state;
	static const char text[] = "1,,?\n, 4,\"\"\n";
	struct tn_csv_options options = tn_csv_defaults();
	options.missing_is_nan = 1;
	options.missing_text = "?";
	options.dtype = TN_F32;
	struct tn_csv csv = read_text(text, &options);
	const float *x = csv.values.data;
	assert_true(x[0] == 1 && isnan(x[1]) && isnan(x[2]));
	assert_true(isnan(x[3]) && x[4] == 4 && isnan(x[5]));
	tn_csv_release(&csv);
	refused(make(text), NULL, TN_FORMAT,
		"x.csv: line 1, column 3: field 2: expected a number, found nothing");
	options = tn_csv_defaults();
	options.missing_is_nan = 1;
	refused(make("1,?\n"), &options, TN_FORMAT,
		"line 1, column 3: field 2: expected a number, found '?'");
}

static void a_header_names_the_columns(void **state)
{
	(void)state;
	struct tn_csv_options options = tn_csv_defaults();
	options.header = 1;
	struct tn_csv csv = read_text("width, \"the \"\"height\"\",\nof it\" ,\n1,2,3\n", &options);
	check_f64(&csv, 1, 3, (double[]){1, 2, 3});
	assert_string_equal(csv.column_names[0], "width");
	assert_string_equal(csv.column_names[1], "the \"height\",\nof it");
	assert_string_equal(csv.column_names[2], "");
	tn_csv_release(&csv);
	options.label_column = 2;
	csv = read_text("a,b,c\n", &options);
	assert_non_null(csv.values.data);
	assert_non_null(csv.labels.data);
	assert_int_equal(csv.values.shape[0], 0);
	assert_int_equal(csv.values.shape[1], 2);
	assert_string_equal(csv.column_names[0], "a");
	assert_string_equal(csv.column_names[1], "c");
	assert_int_equal(csv.n_classes, 0);
	tn_csv_release(&csv);
}

#define FLOWERS "1,rose,10\n2,aster,20\n3,\"lily, white\",30\n4,aster,40\n"

static void labels_are_numbered_in_the_order_of_their_texts(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct tn_csv_options options = tn_csv_defaults();
		options.label_column = (int[]){2, -2, 0}[i];
		options.header = i == 2;
		options.label_name = i == 2 ? "kind" : NULL;
		struct tn_csv csv = read_text(i == 2 ? "a,kind,b\n" FLOWERS : FLOWERS, &options);
		check_f64(&csv, 4, 2, (double[]){1, 10, 2, 20, 3, 30, 4, 40});
		assert_int_equal(csv.labels.dtype, TN_I32);
		assert_int_equal(csv.labels.rank, 1);
		assert_int_equal(csv.labels.shape[0], 4);
		assert_int_equal(csv.labels.size_bytes, 16);
		assert_memory_equal(csv.labels.data, ((int32_t[]){2, 0, 1, 0}), 16);
		assert_int_equal(csv.n_classes, 3);
		assert_string_equal(csv.class_names[0], "aster");
		assert_string_equal(csv.class_names[1], "lily, white");
		assert_string_equal(csv.class_names[2], "rose");
		if (i == 2) {
			assert_string_equal(csv.column_names[0], "a");
			assert_string_equal(csv.column_names[1], "b");
		}
		tn_csv_release(&csv);
	}
}

static void given_classes_keep_their_numbers(void **state)
{
	(void)state;
	static const char *const classes[] = {"rose", "lily, white", "none", "aster"};
	struct tn_csv_options options = tn_csv_defaults();
	options.label_column = 2;
	options.classes = classes;
	options.n_classes = 4;
	struct tn_csv csv = read_text(FLOWERS, &options);
	assert_memory_equal(csv.labels.data, ((int32_t[]){0, 3, 1, 3}), 16);
	assert_int_equal(csv.n_classes, 4);
	for (int i = 0; i < 4; i++)
		assert_string_equal(csv.class_names[i], classes[i]);
	tn_csv_release(&csv);
	options.n_classes = 3;
	refused(make(FLOWERS), &options, TN_FORMAT,
		"line 2, column 3: field 2: expected one of the given classes, found 'aster'");
}

static void malformed_tables_are_refused_with_their_place(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		struct {
			tn_dtype dtype;
			uint32_t header;
			int32_t label_column;
		} options;
		const char *part;
	} cases[] = {
		{"", {0}, "line 1, column 1: expected a row, found the end of the content"},
		{"\n \n", {0}, "line 3, column 1: expected a row, found the end of the content"},
		{"", {.header = 1}, "expected a row of names, found the end"},
		{"a,b\n1,2\n",
		 {0},
		 "line 1, column 1: field 1: expected a number, found 'a' (a row of names? set "
		 "header)"},
		{"a,b\n1,x\n",
		 {.header = 1},
		 "line 2, column 3: field 2 ('b'): expected a number, found 'x'"},
		{"1,2\n3\n", {0}, "line 2: expected 2 fields, as in line 1, found 1"},
		{"a,b\n\n1,2,3\n",
		 {.header = 1},
		 "line 3: expected 2 fields, as in line 1, found 3"},
		{"1\n0x10\n", {0}, "line 2, column 1: field 1: expected a number, found '0x10'"},
		{"1\n1e\n", {0}, "found '1e'"},
		{"1\n1e+\n", {0}, "found '1e+'"},
		{"1\n.\n", {0}, "found '.'"},
		{"1\n-\n", {0}, "found '-'"},
		{"1\n1.2.3\n", {0}, "found '1.2.3'"},
		{"1\n1 2\n", {0}, "found '1 2'"},
		{"1\n+-1\n", {0}, "found '+-1'"},
		{"1\nnan(1)\n", {0}, "found 'nan(1)'"},
		{"1\n\" 2\"\n", {0}, "expected a number, found ' 2'"},
		{"1\n1e400\n", {0}, "expected a number of f64, at most 1.79"},
		{"1\n1e39\n", {.dtype = TN_F32}, "expected a number of f32, at most 3.40"},
		{"1\n1.0\n", {.dtype = TN_I64}, "expected an integer, found '1.0'"},
		{"1\nnan\n", {.dtype = TN_I64}, "expected an integer, found 'nan'"},
		{"1\n-\n", {.dtype = TN_I64}, "expected an integer, found '-'"},
		{"1\n9223372036854775808\n",
		 {.dtype = TN_I64},
		 "expected an integer of i64, from -2^63 to 2^63 - 1, found '9223372036854775808'"},
		{"1\n-9223372036854775809\n", {.dtype = TN_I64}, "expected an integer of i64"},
		{"1,\"2\n3",
		 {0},
		 "line 1, column 3: expected a quote at the end of this field, found the end"},
		{"1,\"2\"3\n",
		 {0},
		 "line 1, column 6: expected a separator or the end of the line after the quotes, "
		 "found '3'"},
		{"1,2\"3\n",
		 {0},
		 "line 1, column 4: expected no quote within an unquoted field, found '\"'"},
		{"1\r2\r\n\rx\n", {0}, "line 4, column 1: field 1: expected a number, found 'x'"},
		{"\"1\r2\r\n3\",x\r4,5", {0}, "line 1, column 1: field 1"},
		{"\"1\r2\r\n3\",4\r5,x", {.label_column = 1}, "line 4, column 3: field 2"},
		{"\"1\n2\",3\n", {0}, "line 1, column 1: field 1"},
		{"\"a\n\n\",b\n1,x\n", {.header = 1}, "line 4, column 3: field 2 ('b')"},
		{"1,a\n2,\n",
		 {.label_column = 2},
		 "line 2, column 3: field 2: expected a label, found nothing"},
		{"1,\xff\n", {.label_column = 2}, "line 1, column 3: field 2: expected UTF-8"},
		{"a,\xc0\xaf\n", {.header = 1}, "line 1, column 3: field 2: expected UTF-8"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_csv_options options = tn_csv_defaults();
		if (cases[i].options.dtype)
			options.dtype = cases[i].options.dtype;
		options.header = cases[i].options.header;
		options.label_column = cases[i].options.label_column;
		refused(make(cases[i].text), &options, TN_FORMAT, cases[i].part);
	}
	const char *path = files_path(folder, "x.csv");
	files_write(path, "1,\0\n", 4);
	refused(path, NULL, TN_FORMAT, "line 1, column 3: expected text, found byte 00");
	refused(files_path(folder, "none"), NULL, TN_NOT_FOUND, "No such file");
}

/* Refuses the options, and resets them. */
static void refuse(struct tn_csv_options *options, tn_status expected, const char *part)
{
	refused(files_path(folder, "x.csv"), options, expected, part);
	*options = tn_csv_defaults();
}

static void wrong_options_are_refused_by_name(void **state)
{
	(void)state;
	static const char *const twice[] = {"a", "b", "a"}, *const empty[] = {""};
	struct tn_csv_options options = tn_csv_defaults();
	make("a,b,a\n1,2,3\n");
	options.dtype = TN_I32;
	refuse(&options, TN_DTYPE, "dtype: expected f64, f32 or i64, found i32");
	options.separator = '"';
	refuse(&options, TN_INVALID_ARGUMENT, "separator, quote, comment");
	options.separator = '.';
	refuse(&options, TN_INVALID_ARGUMENT, "separator, quote, comment");
	options.quote = 'a';
	refuse(&options, TN_INVALID_ARGUMENT, "separator, quote, comment");
	options.comment = ',';
	refuse(&options, TN_INVALID_ARGUMENT, "separator, quote, comment");
	options.separator = '\n';
	refuse(&options, TN_INVALID_ARGUMENT, "separator, quote, comment");
	options.dtype = TN_I64;
	options.missing_is_nan = 1;
	refuse(&options, TN_INVALID_ARGUMENT, "i64 has no NaN");
	options.missing_text = "?";
	refuse(&options, TN_INVALID_ARGUMENT, "expected missing_is_nan");
	options.label_name = "a";
	refuse(&options, TN_INVALID_ARGUMENT, "expected a header");
	options.label_name = "a";
	options.header = 1;
	options.label_column = 1;
	refuse(&options, TN_INVALID_ARGUMENT, "no label_column");
	options.label_name = "c";
	options.header = 1;
	refuse(&options, TN_INVALID_ARGUMENT,
	       "x.csv: line 1: label_name: expected one column named 'c', found 0");
	options.label_name = "a";
	options.header = 1;
	refuse(&options, TN_INVALID_ARGUMENT, "'a', found 2");
	options.label_column = 4;
	refuse(&options, TN_INVALID_ARGUMENT,
	       "line 1: label_column: expected at most 3 columns, as in this line, found 4");
	options.label_column = -4;
	refuse(&options, TN_INVALID_ARGUMENT, "found -4");
	options.classes = twice;
	options.n_classes = 3;
	refuse(&options, TN_INVALID_ARGUMENT, "expected a label_name");
	options.n_classes = 3;
	refuse(&options, TN_INVALID_ARGUMENT, "expected classes");
	options.classes = twice;
	options.n_classes = 3;
	options.label_column = 1;
	refuse(&options, TN_INVALID_ARGUMENT,
	       "classes[2]: expected a name that is neither NULL, empty nor given before, found "
	       "'a'");
	options.classes = empty;
	options.n_classes = 1;
	options.label_column = 1;
	refuse(&options, TN_INVALID_ARGUMENT, "classes[0]");
	options.struct_size = 0;
	refuse(&options, TN_INVALID_ARGUMENT, "struct_size");
}

static void more_than_the_limits_is_refused(void **state)
{
	(void)state;
	const char *path = files_path(folder, "large.csv");
	char *text = malloc(TN_CSV_MAX_ROW + 2u);
	assert_non_null(text);
	memset(text, ',', TN_CSV_MAX_COLUMNS);
	files_write(path, text, TN_CSV_MAX_COLUMNS);
	refused(path, NULL, TN_LIMIT, "line 1: expected at most 1048576 fields in a row");
	memset(text, '1', TN_CSV_MAX_ROW + 1u);
	files_write(path, text, TN_CSV_MAX_ROW + 1u);
	refused(path, NULL, TN_LIMIT, "line 1: expected at most 67108864 bytes in a row");
	size_t used = 0;
	for (unsigned i = 0; i <= TN_CSV_MAX_CLASSES; i++)
		used += (size_t)sprintf(text + used, "%u\n", i);
	files_write(path, text, used);
	struct tn_csv_options options = tn_csv_defaults();
	options.label_column = 1;
	refused(path, &options, TN_LIMIT, "line 65537: expected at most 65536 different labels");
	free(text);
}

static tn_status read_table(const char *path, struct tn_error_info *error)
{
	struct tn_csv csv = {.struct_size = sizeof(csv), .n_classes = 77};
	struct tn_csv_options options = tn_csv_defaults();
	options.header = 1;
	options.comment = '#';
	options.label_column = -1;
	tn_status status = tn_csv_read(path, &options, &csv, error);
	if (status) {
		assert_status(status, TN_FORMAT);
		assert_contains(error->text, ".csv: line ");
		assert_int_equal(csv.n_classes, 77);
	} else {
		assert_non_null(csv.values.data);
		tn_csv_release(&csv);
	}
	return status;
}

static const char table[] = "a,\"b \"\"c\"\"\"\r\n1.5,x\r\n-2e3,\"y\nz\"\r\n# end\r\n";

/* A shorter file is another table or an error with its line: nothing else. */
static void every_truncation_gives_a_table_or_an_error(void **state)
{
	(void)state;
	struct spoil s;
	int good = 0;
	spoil_begin(&s, "cut.csv", table, sizeof(table));
	for (size_t n = sizeof(table); n-- > 0;) {
		struct tn_error_info error;
		assert_int_equal(ftruncate(s.fd, (off_t)n), 0);
		good += read_table(s.path, &error) == TN_OK;
	}
	spoil_end(&s);
	assert_true(good > 4);
}

static void damage_gives_a_table_or_an_error(void **state)
{
	const unsigned char *bytes = (const unsigned char *)table;
	const size_t size = sizeof(table) - 1;
	(void)state;
	/* Bytes above 7f are allowed in names, labels and comments only, as UTF-8. */
	assert_in_range(spoil_bytes(read_table, "damaged.csv", bytes, 0, size, 0x80), size - 6,
			size);
	assert_true(spoil_bytes(read_table, "damaged.csv", bytes, 0, size, 1) > 10);
}

/* Chunks of the reader end within numbers, quotes and line ends. */
static void a_long_table_is_read_whole(void **state)
{
	(void)state;
	enum { ROWS = 20011 };
	char *text = malloc(64 * ROWS);
	size_t used = 0;
	assert_non_null(text);
	for (int i = 0; i < ROWS; i++)
		used += (size_t)sprintf(text + used, "%d,\"%d.25\",\"c\"\"%d\"\r\n", i, -i, i % 7);
	struct tn_csv_options options = tn_csv_defaults();
	options.label_column = 3;
	struct tn_csv csv = read_text(text, &options);
	assert_int_equal(csv.values.shape[0], ROWS);
	assert_int_equal(csv.n_classes, 7);
	assert_string_equal(csv.class_names[6], "c\"6");
	for (int i = 0; i < ROWS; i++) {
		const double *row = (const double *)csv.values.data + 2 * (size_t)i;
		assert_true(row[0] == i && row[1] == (i ? -i - .25 : .25));
		assert_int_equal(((int32_t *)csv.labels.data)[i], i % 7);
	}
	tn_csv_release(&csv);
	free(text);
}

static void the_locale_of_the_program_does_not_matter(void **state)
{
	(void)state;
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
	const char *set = NULL;
	for (size_t i = 0; !set && i < sizeof(names) / sizeof(names[0]); i++)
		set = setlocale(LC_ALL, names[i]);
	if (!set)
		skip();
	assert_string_equal(localeconv()->decimal_point, ",");
	struct tn_csv_options options = tn_csv_defaults();
	options.separator = ';';
	struct tn_csv csv = read_text("1.5;2\n", &options);
	check_f64(&csv, 1, 2, (double[]){1.5, 2});
	tn_csv_release(&csv);
	refused(make("1,5;2\n"), &options, TN_FORMAT, "found '1,5'");
	setlocale(LC_ALL, "C");
}

static void numbers_are_those_that_numpy_reads(void **state)
{
	(void)state;
	struct tn_csv_options options = tn_csv_defaults();
	options.header = 1;
	options.comment = '#';
	options.missing_is_nan = 1;
	struct tn_csv csv = read_text(numpy_csv_text, &options);
	size_t n = sizeof(numpy_csv_values) / sizeof(numpy_csv_values[0]);
	assert_int_equal(csv.values.size_bytes, n * 8);
	for (size_t i = 0; i < n; i++) {
		double value = ((const double *)csv.values.data)[i];
		if (isnan(numpy_csv_values[i]))
			assert_true(isnan(value));
		else
			assert_memory_equal(&value, &numpy_csv_values[i], 8);
	}
	tn_csv_release(&csv);
}

#ifdef HAVE_ZLIB
static void a_gzipped_table_is_read(void **state)
{
	(void)state;
	struct tn_csv csv = {.struct_size = sizeof(csv)};
	const char *path = files_path(folder, "packed");
	files_write_gzipped(path, "1,2\n3,4\n", 8);
	assert_ok(tn_csv_read(path, NULL, &csv, NULL));
	check_f64(&csv, 2, 2, (double[]){1, 2, 3, 4});
	tn_csv_release(&csv);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_f64_by_default),
		cmocka_unit_test(line_ends_blanks_empty_lines_and_marks_do_not_matter),
		cmocka_unit_test(other_separators_quotes_and_comments_are_options),
		cmocka_unit_test(every_dtype_is_rounded_once_and_exact),
		cmocka_unit_test(infinity_and_nan_are_numbers),
		cmocka_unit_test(numbers_are_finite_on_request),
		cmocka_unit_test(missing_values_are_nan_on_request),
		cmocka_unit_test(a_header_names_the_columns),
		cmocka_unit_test(labels_are_numbered_in_the_order_of_their_texts),
		cmocka_unit_test(given_classes_keep_their_numbers),
		cmocka_unit_test(malformed_tables_are_refused_with_their_place),
		cmocka_unit_test(wrong_options_are_refused_by_name),
		cmocka_unit_test(more_than_the_limits_is_refused),
		cmocka_unit_test(every_truncation_gives_a_table_or_an_error),
		cmocka_unit_test(damage_gives_a_table_or_an_error),
		cmocka_unit_test(a_long_table_is_read_whole),
		cmocka_unit_test(the_locale_of_the_program_does_not_matter),
		cmocka_unit_test(numbers_are_those_that_numpy_reads),
#ifdef HAVE_ZLIB
		cmocka_unit_test(a_gzipped_table_is_read),
#endif
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
