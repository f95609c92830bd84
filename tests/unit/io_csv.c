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
		"\xef\xbb\xbf"
		"1,2\n3,4\n",
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
		struct tn_csv csv = read_text(
			texts[i], TN_OPTIONS(struct tn_csv_options, .separator = ";\t "[i]));
		check_f64(&csv, 2, 2, (double[]){1, 2, 3, 4});
		tn_csv_release(&csv);
	}
	struct tn_csv csv =
		read_text("# 9\n1,'2' # 3\n  #\n3,4#\n#",
			  TN_OPTIONS(struct tn_csv_options, .quote = '\'', .comment = '#'));
	check_f64(&csv, 2, 2, (double[]){1, 2, 3, 4});
	tn_csv_release(&csv);
}

static void every_dtype_is_rounded_once_and_exact(void **state)
{
	(void)state;
	/* 1 + 2^-24 + 2^-60 rounds up in f32, but down if it is rounded to f64 before. */
	struct tn_csv csv = read_text("1.000000059604644775390625867,-1e-46\n3.4028235e38,1e-45\n",
				      TN_OPTIONS(struct tn_csv_options, .dtype = TN_F32));
	assert_int_equal(csv.values.dtype, TN_F32);
	assert_int_equal(csv.values.size_bytes, 16);
	const float *narrow = csv.values.data;
	assert_true(narrow[0] == 1.00000011920928955f);
	assert_true(narrow[1] == 0 && signbit(narrow[1]));
	assert_true(narrow[2] == 3.40282347e38f);
	assert_true(narrow[3] == 1.40129846e-45f);
	tn_csv_release(&csv);
	csv = read_text("9223372036854775807,-9223372036854775808,+007,-0\n",
			TN_OPTIONS(struct tn_csv_options, .dtype = TN_I64));
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
		const struct tn_csv_options options = {.struct_size = sizeof(options),
						       .dtype = dtypes[i],
						       .finite = 1,
						       .missing_is_nan = 1};
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
	struct tn_csv csv = read_text(text, TN_OPTIONS(struct tn_csv_options, .missing_is_nan = 1,
						       .missing_text = "?", .dtype = TN_F32));
	const float *x = csv.values.data;
	assert_true(x[0] == 1 && isnan(x[1]) && isnan(x[2]));
	assert_true(isnan(x[3]) && x[4] == 4 && isnan(x[5]));
	tn_csv_release(&csv);
	refused(make(text), NULL, TN_FORMAT,
		"x.csv: line 1, column 3: field 2: expected a number, found nothing");
	refused(make("1,?\n"), TN_OPTIONS(struct tn_csv_options, .missing_is_nan = 1), TN_FORMAT,
		"line 1, column 3: field 2: expected a number, found '?'");
}

static void a_header_names_the_columns(void **state)
{
	(void)state;
	struct tn_csv csv = read_text("width, \"the \"\"height\"\",\nof it\" ,\n1,2,3\n",
				      TN_OPTIONS(struct tn_csv_options, .header = 1));
	check_f64(&csv, 1, 3, (double[]){1, 2, 3});
	assert_string_equal(csv.column_names[0], "width");
	assert_string_equal(csv.column_names[1], "the \"height\",\nof it");
	assert_string_equal(csv.column_names[2], "");
	tn_csv_release(&csv);
	csv = read_text("a,b,c\n",
			TN_OPTIONS(struct tn_csv_options, .header = 1, .label_column = 2));
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
	static const struct tn_csv_options options[3] = {
		{.struct_size = sizeof(options[0]), .label_column = 2},
		{.struct_size = sizeof(options[0]), .label_column = -2},
		{.struct_size = sizeof(options[0]), .header = 1, .label_name = "kind"},
	};
	for (int i = 0; i < 3; i++) {
		struct tn_csv csv = read_text(i == 2 ? "a,kind,b\n" FLOWERS : FLOWERS, &options[i]);
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
	struct tn_csv_options options = {.struct_size = sizeof(options),
					 .label_column = 2,
					 .classes = classes,
					 .n_classes = 4};
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
		struct tn_csv_options options;
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
		{"1\r2\n",
		 {0},
		 "line 1, column 3: expected a line feed after the carriage return, found '2'"},
		{"\"1\n2\",3\n", {0}, "line 1, column 1: field 1"},
		{"\"a\n\n\",b\n1,x\n", {.header = 1}, "line 4, column 3: field 2 ('b')"},
		{"1,a\n2,\n",
		 {.label_column = 2},
		 "line 2, column 3: field 2: expected a label, found nothing"},
		{"1,\xff\n", {.label_column = 2}, "line 1, column 3: field 2: expected UTF-8"},
		{"a,\xc0\xaf\n", {.header = 1}, "line 1, column 3: field 2: expected UTF-8"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_csv_options options = cases[i].options;
		options.struct_size = sizeof(options);
		refused(make(cases[i].text), &options, TN_FORMAT, cases[i].part);
	}
	const char *path = files_path(folder, "x.csv");
	files_write(path, "1,\0\n", 4);
	refused(path, NULL, TN_FORMAT, "line 1, column 3: expected text, found byte 00");
	refused(files_path(folder, "none"), NULL, TN_NOT_FOUND, "No such file");
}

static void wrong_options_are_refused_by_name(void **state)
{
	(void)state;
	static const char *const twice[] = {"a", "b", "a"}, *const empty[] = {""};
	static const struct {
		struct tn_csv_options options;
		tn_status status;
		const char *part;
	} cases[] = {
		{{.dtype = TN_I32}, TN_DTYPE, "dtype: expected f64, f32 or i64, found i32"},
		{{.separator = '"'}, TN_INVALID_ARGUMENT, "separator, quote, comment"},
		{{.separator = '.'}, TN_INVALID_ARGUMENT, "separator, quote, comment"},
		{{.quote = 'a'}, TN_INVALID_ARGUMENT, "separator, quote, comment"},
		{{.comment = ','}, TN_INVALID_ARGUMENT, "separator, quote, comment"},
		{{.separator = '\n'}, TN_INVALID_ARGUMENT, "separator, quote, comment"},
		{{.dtype = TN_I64, .missing_is_nan = 1}, TN_INVALID_ARGUMENT, "i64 has no NaN"},
		{{.missing_text = "?"}, TN_INVALID_ARGUMENT, "expected missing_is_nan"},
		{{.label_name = "a"}, TN_INVALID_ARGUMENT, "expected a header"},
		{{.label_name = "a", .header = 1, .label_column = 1},
		 TN_INVALID_ARGUMENT,
		 "no label_column"},
		{{.label_name = "c", .header = 1},
		 TN_INVALID_ARGUMENT,
		 "x.csv: line 1: label_name: expected one column named 'c', found 0"},
		{{.label_name = "a", .header = 1}, TN_INVALID_ARGUMENT, "'a', found 2"},
		{{.label_column = 4},
		 TN_INVALID_ARGUMENT,
		 "line 1: label_column: expected at most 3 columns, as in this line, found 4"},
		{{.label_column = -4}, TN_INVALID_ARGUMENT, "found -4"},
		{{.classes = twice, .n_classes = 3}, TN_INVALID_ARGUMENT, "expected a label_name"},
		{{.n_classes = 3}, TN_INVALID_ARGUMENT, "expected classes"},
		{{.classes = twice, .n_classes = 3, .label_column = 1},
		 TN_INVALID_ARGUMENT,
		 "classes[2]: expected a name that is neither NULL, empty nor given before, found "
		 "'a'"},
		{{.classes = empty, .n_classes = 1, .label_column = 1},
		 TN_INVALID_ARGUMENT,
		 "classes[0]"},
	};
	const char *path = make("a,b,a\n1,2,3\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_csv_options options = cases[i].options;
		options.struct_size = sizeof(options);
		refused(path, &options, cases[i].status, cases[i].part);
	}
	refused(path, &(struct tn_csv_options){.header = 1}, TN_INVALID_ARGUMENT, "struct_size");
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
	refused(path, TN_OPTIONS(struct tn_csv_options, .label_column = 1), TN_LIMIT,
		"line 65537: expected at most 65536 different labels");
	free(text);
}

static tn_status read_table(const char *path, struct tn_error_info *error)
{
	struct tn_csv csv = {.struct_size = sizeof(csv), .n_classes = 77};
	tn_status status = tn_csv_read(
		path,
		TN_OPTIONS(struct tn_csv_options, .header = 1, .comment = '#', .label_column = -1),
		&csv, error);
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
	struct tn_csv csv = read_text(text, TN_OPTIONS(struct tn_csv_options, .label_column = 3));
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
	struct tn_csv csv =
		read_text("1.5;2\n", TN_OPTIONS(struct tn_csv_options, .separator = ';'));
	check_f64(&csv, 1, 2, (double[]){1.5, 2});
	tn_csv_release(&csv);
	refused(make("1,5;2\n"), TN_OPTIONS(struct tn_csv_options, .separator = ';'), TN_FORMAT,
		"found '1,5'");
	setlocale(LC_ALL, "C");
}

static void numbers_are_those_that_numpy_reads(void **state)
{
	(void)state;
	struct tn_csv csv =
		read_text(numpy_csv_text, TN_OPTIONS(struct tn_csv_options, .header = 1,
						     .comment = '#', .missing_is_nan = 1));
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
