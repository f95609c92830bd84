/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NPY files: every dtype and order is read and written, every malformed file refused.
 */
#include <tenon/io.h>

#include "io_spoil.h"

/* A file of version `major` with that dictionary and data. */
static const char *make(int major, const char *dictionary, const char *data, size_t data_size)
{
	unsigned char file[4096] = "\x93NUMPY";
	size_t length = strlen(dictionary), begin = major == 1 ? 10 : 12;
	file[6] = (unsigned char)major;
	file[8] = (unsigned char)length;
	file[9] = (unsigned char)(length >> 8);
	memcpy(file + begin, dictionary, length);
	memcpy(file + begin + length, data, data_size);
	const char *path = files_path(folder, "made.npy");
	files_write(path, file, begin + length + data_size);
	return path;
}

static tn_status read_npy(const char *path, struct tn_error_info *error)
{
	return spoil_read_array(tn_npy_read, path, error);
}

static void refused(const char *path, tn_status expected, const char *part)
{
	spoil_refused(read_npy, path, expected, part);
}

#define HEAD(descr, order, shape)                                                                  \
	"{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

static void every_malformed_header_is_refused_by_name(void **state)
{
	(void)state;
	static const struct {
		const char *dictionary;
		size_t data_size;
		tn_status status;
		const char *part;
	} cases[] = {
		{"", 0, TN_FORMAT, "offset 10: expected '{', found the end of the header"},
		{"[]", 0, TN_FORMAT, "offset 10: expected '{', found byte 5b"},
		{"{", 0, TN_FORMAT, "expected a quoted string, found the end"},
		{"{}", 0, TN_FORMAT, "found no descr"},
		{"{'descr': '<f4'}", 0, TN_FORMAT, "found no fortran_order"},
		{"{'descr': '<f4', 'fortran_order': False}", 0, TN_FORMAT, "found no shape"},
		{"{'descr': '<f4', 'descr': '<f4'}", 0, TN_FORMAT, "offset 28: expected descr"},
		{"{'other': 1}", 0, TN_FORMAT, "found 'other'"},
		{"{'descr' '<f4'}", 0, TN_FORMAT, "expected ':'"},
		{"{'descr': '<f4' 'shape': ()}", 0, TN_FORMAT, "expected ',' or '}'"},
		{"{'descr': '<f4", 0, TN_FORMAT, "expected a closing quote"},
		{"{'descr': '\\x3cf4'}", 0, TN_FORMAT, "without escapes"},
		{HEAD("'|O'", "False", "()"), 8, TN_UNSUPPORTED, "type '|O' are not read"},
		{HEAD("'<U4'", "False", "()"), 16, TN_UNSUPPORTED, "type '<U4' are not read"},
		{HEAD("'<M8[s]'", "False", "()"), 8, TN_UNSUPPORTED, "'<M8[s]' are not read"},
		{HEAD("'f4'", "False", "()"), 4, TN_UNSUPPORTED, "type 'f4' are not read"},
		{HEAD("[('x', '<f4')]", "False", "()"), 4, TN_UNSUPPORTED, "structured"},
		{HEAD("'|f4'", "False", "()"), 4, TN_FORMAT, "expected a byte order"},
		{HEAD("'<f4'", "0", "()"), 4, TN_FORMAT, "expected True or False"},
		{HEAD("'<f4'", "False", "3"), 4, TN_FORMAT, "expected '('"},
		{HEAD("'<f4'", "False", "(1)"), 4, TN_FORMAT, "expected ',' within (n,)"},
		{HEAD("'<f4'", "False", "(-1,)"), 4, TN_FORMAT, "expected a length, found byte 2d"},
		{HEAD("'<f4'", "False", "(,)"), 4, TN_FORMAT, "expected a length"},
		{HEAD("'<f4'", "False", "(1 1)"), 4, TN_FORMAT, "expected ',' or ')'"},
		{HEAD("'<f4'", "False", "(9223372036854775808,)"), 4, TN_FORMAT, "below 2^63"},
		{HEAD("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 4, TN_LIMIT,
		 "at most 16 axes"},
		{HEAD("'<f4'", "False", "(4294967296, 4294967296)"), 4, TN_LIMIT, "at most"},
		{HEAD("'<f4'", "False", "(2,)"), 7, TN_FORMAT,
		 "expected 8 bytes for shape (2,) of "
		 "f32, found 7"},
		{HEAD("'<f4'", "False", "(2,)"), 9, TN_FORMAT, "found 9"},
		{HEAD("'<f4'", "False", "()") "x", 4, TN_FORMAT, "expected the end of the header"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(make(1, cases[i].dictionary, "0123456789abcdef", cases[i].data_size),
			cases[i].status, cases[i].part);
	refused(make(1, HEAD("'|b1'", "False", "(2,)"), "\1\2", 2), TN_FORMAT,
		"element 1: expected a bool, 0 or 1, found 2");
}

/* By Python 2, and by several calls of numpy.save with one open file: the first is read, as
 * numpy.load does. */
static void long_lengths_and_arrays_in_a_row_are_read(void **state)
{
	(void)state;
	static const char data[] = "\1\2\3\4\x93NUMPY\1\0";
	static const char *const shapes[] = {HEAD("'|u1'", "False", "(2L, 2L)"),
					     HEAD("'|u1'", "False", "(2, 2)")};
	for (size_t i = 0; i < 2; i++) {
		struct tn_host_array array;
		assert_ok(tn_npy_read(make(1, shapes[i], data, i ? 12 : 4), &array, NULL));
		assert_int_equal(array.rank, 2);
		assert_int_equal(array.shape[1], 2);
		assert_memory_equal(array.data, data, 4);
		tn_host_array_release(&array);
	}
	refused(make(1, shapes[1], data, 9), TN_FORMAT, "expected 4 bytes for shape (2, 2)");
	refused(make(1, HEAD("'|u1'", "False", "(2LL,)"), data, 2), TN_FORMAT, "expected ',' or");
}

static void arrays_in_a_row_are_read_one_after_another(void **state)
{
	(void)state;
	const char *path = files_path(folder, "row.npy");
	unsigned char row[1024];
	size_t used = 0, size;
	for (int32_t i = 0; i < 3; i++) {
		const int64_t shape = i;
		const int32_t values[] = {i, i};
		assert_ok(tn_npy_write(path, TN_I32, 1, &shape, values, NULL));
		unsigned char *bytes = files_read(path, &size);
		memcpy(row + used, bytes, size);
		used += size;
		free(bytes);
	}
	files_write(path, row, used);
	uint64_t offset = 0;
	for (int32_t i = 0; i < 3; i++) {
		struct tn_host_array array;
		assert_ok(tn_npy_read_next(path, &offset, &array, NULL));
		assert_int_equal(array.shape[0], i);
		for (int32_t k = 0; k < i; k++)
			assert_int_equal(((const int32_t *)array.data)[k], i);
		tn_host_array_release(&array);
		assert_true((offset == 0) == (i == 2));
	}
	/* Cut off in the last one, and offsets that are none. */
	struct tn_host_array array;
	struct tn_error_info error;
	files_write(path, row, used - 1);
	offset = used - size;
	assert_status(tn_npy_read_next(path, &offset, &array, &error), TN_FORMAT);
	assert_contains(error.text, "row.npy, the array at 260: offset 128: expected 8 bytes");
	assert_int_equal(offset, used - size);
	offset = used;
	assert_status(tn_npy_read_next(path, &offset, &array, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text,
			"offset: expected at most the size of the file, 395, found 396");
	offset = 1;
	assert_status(tn_npy_read_next(path, &offset, &array, &error), TN_FORMAT);
}

static void false_beginnings_are_refused(void **state)
{
	(void)state;
	const char *path = files_path(folder, "start.npy");
	files_write(path, "\x93NUMPY\1\0\0", 9);
	refused(path, TN_FORMAT, "expected 1 more bytes");
	files_write(path, "\x93NUMPX\1\0\0\0", 10);
	refused(path, TN_FORMAT, "expected \\x93NUMPY");
	files_write(path, "\x93NUMPY\4\0\0\0", 10);
	refused(path, TN_FORMAT, "found 4.0");
	files_write(path, "\x93NUMPY\1\0\x11\x27", 10);
	refused(path, TN_LIMIT, "found 10001");
	files_write(path, "\x93NUMPY\1\0\2\0{", 11);
	refused(path, TN_FORMAT, "offset 11: expected 1 more bytes");
}

static void every_truncation_is_refused(void **state)
{
	(void)state;
	size_t size;
	unsigned char *bytes =
		files_read(make(1, HEAD("'<f4'", "False", "(2, 1)"), "01234567", 8), &size);
	spoil_truncations(read_npy, "cut.npy", bytes, 0, size, "expected ");
	free(bytes);
}

/* Elements may have any value, and the spaces between words be other white space. */
static void damage_in_a_header_is_refused(void **state)
{
	(void)state;
	size_t size;
	unsigned char *bytes =
		files_read(make(1, HEAD("'<f4'", "False", "(2, 1)"), "01234567", 8), &size);
	assert_int_equal(spoil_bytes(read_npy, "damaged.npy", bytes, 0, size, 0x80), size - 8);
	assert_true(spoil_bytes(read_npy, "damaged.npy", bytes, 0, size, 1) > size - 20);
	free(bytes);
}

static void either_byte_order_and_axis_order_is_read(void **state)
{
	(void)state;
	static const int16_t expected[6] = {1, 2, 3, 4, 5, 6};
	static const struct {
		const char *dictionary;
		const char *data;
	} cases[] = {
		{HEAD("'<i2'", "False", "(2, 3)"), "\1\0\2\0\3\0\4\0\5\0\6\0"},
		{HEAD("'>i2'", "False", "(2, 3)"), "\0\1\0\2\0\3\0\4\0\5\0\6"},
		{HEAD("'<i2'", "True", "(2, 3)"), "\1\0\4\0\2\0\5\0\3\0\6\0"},
		{"{\"shape\":(2,3,),\"fortran_order\":False,\"descr\":\"<i2\"}",
		 "\1\0\2\0\3\0\4\0\5\0\6\0"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_host_array array;
		for (int major = 1; major <= 3; major++) {
			assert_ok(tn_npy_read(make(major, cases[i].dictionary, cases[i].data, 12),
					      &array, NULL));
			assert_int_equal(array.dtype, TN_I16);
			assert_int_equal(array.rank, 2);
			assert_int_equal(array.shape[0], 2);
			assert_int_equal(array.shape[1], 3);
			assert_memory_equal(array.data, expected, 12);
			tn_host_array_release(&array);
		}
	}
}

static void scalars_and_empty_arrays_are_read(void **state)
{
	(void)state;
	struct tn_host_array array;
	assert_ok(tn_npy_read(make(1, HEAD("'<c8'", "False", "()"), "\0\0\x80\x3f\0\0\0\xc0", 8),
			      &array, NULL));
	assert_int_equal(array.dtype, TN_C64);
	assert_int_equal(array.rank, 0);
	assert_true(((float *)array.data)[1] == -2);
	tn_host_array_release(&array);
	assert_ok(tn_npy_read(make(1, HEAD("'<f8'", "True", "(0, 3)"), "", 0), &array, NULL));
	assert_int_equal(array.size_bytes, 0);
	tn_host_array_release(&array);
}

static void every_type_is_written_and_read_back(void **state)
{
	(void)state;
	static const tn_dtype dtypes[] = {TN_BOOL, TN_I8,  TN_I16, TN_I32, TN_I64, TN_U8,  TN_U16,
					  TN_U32,  TN_U64, TN_F16, TN_F32, TN_F64, TN_C64, TN_C128};
	static const int64_t shape[3] = {2, 1, 3};
	unsigned char data[6 * 16];
	const char *path = files_path(folder, "written.npy");
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i % 3 == 0;
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		struct tn_host_array array;
		assert_ok(tn_npy_write(path, dtypes[i], 3, shape, data, NULL));
		assert_ok(tn_npy_read(path, &array, NULL));
		assert_int_equal(array.dtype, dtypes[i]);
		assert_int_equal(array.rank, 3);
		assert_memory_equal(array.shape, shape, sizeof(shape));
		assert_memory_equal(array.data, data, array.size_bytes);
		tn_host_array_release(&array);
	}
	struct tn_error_info error;
	assert_status(tn_npy_write(path, TN_BF16, 0, NULL, data, &error), TN_DTYPE);
	assert_status(tn_npy_write(path, TN_F32, 17, shape, data, &error), TN_INVALID_ARGUMENT);
}

static void a_file_is_written_as_numpy_would(void **state)
{
	(void)state;
	static const char expected[] =
		"\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
	static const int64_t shape[1] = {1};
	const float one = 1;
	const char *path = files_path(folder, "golden.npy");
	size_t size;
	assert_ok(tn_npy_write(path, TN_F32, 1, shape, &one, NULL));
	unsigned char *bytes = files_read(path, &size);
	assert_int_equal(size, 132);
	assert_memory_equal(bytes, expected, sizeof(expected) - 1);
	for (size_t i = sizeof(expected) - 1; i < 127; i++)
		assert_int_equal(bytes[i], ' ');
	assert_memory_equal(bytes + 127, "\n\0\0\x80\x3f", 5);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_malformed_header_is_refused_by_name),
		cmocka_unit_test(long_lengths_and_arrays_in_a_row_are_read),
		cmocka_unit_test(arrays_in_a_row_are_read_one_after_another),
		cmocka_unit_test(false_beginnings_are_refused),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(damage_in_a_header_is_refused),
		cmocka_unit_test(either_byte_order_and_axis_order_is_read),
		cmocka_unit_test(scalars_and_empty_arrays_are_read),
		cmocka_unit_test(every_type_is_written_and_read_back),
		cmocka_unit_test(a_file_is_written_as_numpy_would),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
