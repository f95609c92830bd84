/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * IDX files, plain and gzipped: every type is read, every malformed file refused.
 */
#include "config.h"

#include <tenon/io.h>

#include "io_spoil.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#define U8_2X3 "\0\0\x08\2\0\0\0\2\0\0\0\3"

static tn_status read_idx(const char *path, struct tn_error_info *error)
{
	return spoil_read_array(tn_idx_read, path, error);
}

static void refused(const char *path, tn_status expected, const char *part)
{
	spoil_refused(read_idx, path, expected, part);
}

static const struct spoil_case malformed[] = {
	{"", 0, TN_FORMAT, "offset 0: expected 4 bytes of header, found 0"},
	{"\0\0\x08", 3, TN_FORMAT, "offset 0: expected 4 bytes of header, found 3"},
	{"\1\0\x08\1\0\0\0\0", 8, TN_FORMAT, "offset 0: expected the bytes 00 00, found 01 00"},
	{"\0\0\x0a\1\0\0\0\0", 8, TN_FORMAT,
	 "offset 2: expected a type 08, 09, 0b, 0c, 0d or 0e, "
	 "found 0a"},
	{"\0\0\x08\0", 4, TN_FORMAT, "offset 3: expected 1 to 8 axes, found 0"},
	{"\0\0\x08\x09", 4, TN_FORMAT, "offset 3: expected 1 to 8 axes, found 9"},
	{"\0\0\x08\1\0\0\0", 7, TN_FORMAT, "offset 4: expected 4 bytes of axis lengths, found 3"},
	{U8_2X3 "abcde", 17, TN_FORMAT,
	 "offset 12: expected 6 bytes for shape (2, 3) of u8, found "
	 "at most 5"},
	{U8_2X3 "abcdefg", 19, TN_FORMAT, "offset 18: expected the end of the content"},
	{"\0\0\x08\1\0\0\0\0x", 9, TN_FORMAT, "offset 8: expected the end of the content"},
	{"\0\0\x08\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16, TN_LIMIT,
	 "shape (4294967295, 4294967295, 4294967295) of u8"},
	{"\0\0\x0e\2\x80\0\0\0\x20\0\0\0", 12, TN_LIMIT, "offset 4: expected at most"},
	{"\0\0\x0d\1\0\0\0\1\0\0\0", 11, TN_FORMAT, "expected 4 bytes for shape (1,) of f32"},
};

static void every_malformed_file_is_refused_by_name(void **state)
{
	(void)state;
	spoil_malformed(read_idx, "bad-idx", malformed, sizeof(malformed) / sizeof(malformed[0]));
}

static void every_truncation_is_refused(void **state)
{
	(void)state;
	spoil_truncations(read_idx, "cut-idx", U8_2X3 "abcdef", 0, 18, "expected ");
}

/* Elements may have any value; the type may be another of one byte, i8. */
static void damage_in_a_header_is_refused(void **state)
{
	static const unsigned char bytes[] = U8_2X3 "abcdef";
	(void)state;
	assert_int_equal(spoil_bytes(read_idx, "damaged-idx", bytes, 0, 18, 0x40), 12);
	assert_int_equal(spoil_bytes(read_idx, "damaged-idx", bytes, 0, 18, 1), 11);
}

static void every_type_is_read_in_host_byte_order(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
		tn_dtype dtype;
		double values[2];
	} cases[] = {
		{"\0\0\x08\1\0\0\0\2\1\xff", 10, TN_U8, {1, 255}},
		{"\0\0\x09\1\0\0\0\2\1\xff", 10, TN_I8, {1, -1}},
		{"\0\0\x0b\1\0\0\0\2\1\2\xff\xfe", 12, TN_I16, {258, -2}},
		{"\0\0\x0c\1\0\0\0\2\1\2\3\4\xff\xff\xff\xfe", 16, TN_I32, {16909060, -2}},
		{"\0\0\x0d\1\0\0\0\2\x3f\x80\0\0\xc0\x20\0\0", 16, TN_F32, {1, -2.5}},
		{"\0\0\x0e\1\0\0\0\2\x3f\xf0\0\0\0\0\0\0\xc0\4\0\0\0\0\0\0", 24, TN_F64, {1, -2.5}},
	};
	const char *path = files_path(folder, "typed-idx");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_host_array array;
		files_write(path, cases[i].bytes, cases[i].size);
		assert_ok(tn_idx_read(path, &array, NULL));
		assert_int_equal(array.dtype, cases[i].dtype);
		assert_int_equal(array.rank, 1);
		assert_int_equal(array.shape[0], 2);
		for (int j = 0; j < 2; j++) {
			double value = array.dtype == TN_U8    ? ((uint8_t *)array.data)[j]
				       : array.dtype == TN_I8  ? ((int8_t *)array.data)[j]
				       : array.dtype == TN_I16 ? ((int16_t *)array.data)[j]
				       : array.dtype == TN_I32 ? ((int32_t *)array.data)[j]
				       : array.dtype == TN_F32 ? ((float *)array.data)[j]
							       : ((double *)array.data)[j];
			assert_true(value == cases[i].values[j]);
		}
		tn_host_array_release(&array);
		tn_host_array_release(&array);
	}
}

static void an_empty_array_is_read(void **state)
{
	(void)state;
	struct tn_host_array array;
	const char *path = files_path(folder, "empty-idx");
	files_write(path, "\0\0\x08\2\0\0\0\0\0\0\0\3", 12);
	assert_ok(tn_idx_read(path, &array, NULL));
	assert_int_equal(array.size_bytes, 0);
	assert_non_null(array.data);
	tn_host_array_release(&array);
}

static void what_is_not_there_is_not_found(void **state)
{
	(void)state;
	refused(files_path(folder, "none"), TN_NOT_FOUND, "No such file");
}

#ifdef HAVE_ZLIB

static void a_gzipped_file_is_told_by_its_bytes_not_its_name(void **state)
{
	(void)state;
	struct tn_host_array array;
	const char *path = files_path(folder, "no-suffix");
	files_write_gzipped(path, U8_2X3 "abcdef", 18);
	assert_ok(tn_idx_read(path, &array, NULL));
	assert_memory_equal(array.data, "abcdef", 6);
	tn_host_array_release(&array);
}

static void every_truncation_of_a_gzipped_file_is_refused(void **state)
{
	(void)state;
	size_t size;
	const char *path = files_path(folder, "whole.gz");
	files_write_gzipped(path, U8_2X3 "abcdef", 18);
	unsigned char *bytes = files_read(path, &size);
	spoil_truncations(read_idx, "cut.gz", bytes, 2, size,
			  "found the end of the file (truncated?)");
	free(bytes);
}

static void damage_in_a_gzipped_file_is_named(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		const char *part;
	} cases[] = {
		{2, "unknown compression method"},    {10, "invalid block type"},
		{13, "invalid stored block lengths"}, {35, "incorrect data check"},
		{38, "incorrect length check"},
	};
	const char *path = files_path(folder, "damaged.gz");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size;
		files_write_gzipped(path, U8_2X3 "abcdef", 18);
		unsigned char *bytes = files_read(path, &size);
		bytes[cases[i].at] ^= 6;
		files_write(path, bytes, size);
		free(bytes);
		refused(path, TN_FORMAT, cases[i].part);
	}
}

static void members_join_and_zeros_alone_may_follow(void **state)
{
	(void)state;
	struct tn_host_array array;
	size_t size_a, size_b;
	const char *path = files_path(folder, "members.gz");
	unsigned char joined[256] = {0};
	files_write_gzipped(path, U8_2X3 "ab", 14);
	unsigned char *a = files_read(path, &size_a);
	files_write_gzipped(path, "cdef", 4);
	unsigned char *b = files_read(path, &size_b);
	memcpy(joined, a, size_a);
	memcpy(joined + size_a, b, size_b);
	for (size_t zeros = 0; zeros < 100; zeros += 33) {
		files_write(path, joined, size_a + size_b + zeros);
		assert_ok(tn_idx_read(path, &array, NULL));
		assert_memory_equal(array.data, "abcdef", 6);
		tn_host_array_release(&array);
	}
	joined[size_a + size_b + 50] = 'x';
	files_write(path, joined, size_a + size_b + 51);
	refused(path, TN_FORMAT, "expected");
	free(a);
	free(b);
}

/* 12 bytes of header that claim `claimed` elements, then `zeros` zeros, well compressed. */
static const char *bomb(uint32_t claimed, size_t zeros)
{
	const char *path = files_path(folder, "bomb.gz");
	unsigned char header[8] = {0,
				   0,
				   8,
				   1,
				   (unsigned char)(claimed >> 24),
				   (unsigned char)(claimed >> 16),
				   (unsigned char)(claimed >> 8),
				   (unsigned char)claimed};
	static const unsigned char block[65536];
	gzFile file = gzopen(path, "wb9");
	assert_non_null(file);
	assert_int_equal(gzwrite(file, header, 8), 8);
	for (size_t i = 0; i < zeros; i += sizeof(block))
		assert_int_equal(gzwrite(file, block, sizeof(block)), sizeof(block));
	assert_int_equal(gzclose(file), Z_OK);
	return path;
}

static void a_gzip_bomb_is_refused_without_unpacking_it(void **state)
{
	(void)state;
	refused(bomb(4, 1 << 24), TN_FORMAT, "offset 12: expected the end of the content");
	refused(bomb(4000000000u, 65536), TN_FORMAT, "expected 4000000000 bytes for shape");
	refused(bomb(70000, 65536), TN_FORMAT, "expected 70000 bytes of elements, found 65536");
}

/* Deflate could expand that to 67 million bytes, but no pictures are that uniform. */
static void a_gzipped_file_that_grows_more_than_pictures_do_is_refused_by_its_header(void **state)
{
	(void)state;
	/* 67,200,512 bytes are promised, 64 MiB are 67,108,864. */
	static unsigned char content[65535] = "\0\0\x08\1\x04\x01\x66\0";
	const char *path = files_path(folder, "grows.gz");
	files_write_gzipped(path, content, sizeof(content));
	refused(path, TN_LIMIT,
		"offset 4: expected at most 67108864 bytes in a gzipped file of its size, found "
		"shape (67200512,) of u8");
}

#else

static void without_zlib_a_gzipped_file_is_unsupported_and_says_so(void **state)
{
	(void)state;
	const char *path = files_path(folder, "no-zlib.gz");
	files_write_gzipped(path, U8_2X3 "abcdef", 18);
	refused(path, TN_UNSUPPORTED, "no zlib");
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_malformed_file_is_refused_by_name),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(damage_in_a_header_is_refused),
		cmocka_unit_test(every_type_is_read_in_host_byte_order),
		cmocka_unit_test(an_empty_array_is_read),
		cmocka_unit_test(what_is_not_there_is_not_found),
#ifdef HAVE_ZLIB
		cmocka_unit_test(a_gzipped_file_is_told_by_its_bytes_not_its_name),
		cmocka_unit_test(every_truncation_of_a_gzipped_file_is_refused),
		cmocka_unit_test(damage_in_a_gzipped_file_is_named),
		cmocka_unit_test(members_join_and_zeros_alone_may_follow),
		cmocka_unit_test(a_gzip_bomb_is_refused_without_unpacking_it),
		cmocka_unit_test(
			a_gzipped_file_that_grows_more_than_pictures_do_is_refused_by_its_header),
#else
		cmocka_unit_test(without_zlib_a_gzipped_file_is_unsupported_and_says_so),
#endif
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
