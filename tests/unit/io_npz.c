/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NPZ archives: members are read and written, and archives that lie are refused.
 */
#include "config.h"

#include <tenon/io.h>

#include "io/zip_write.h"
#include "io_spoil.h"
#include "numpy_npz.h"

/* The arrays of numpy_npz.py. */
static const float weight[6] = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f};
static const int16_t columns[6] = {0, 1, 2, 3, 4, 5};
static const int64_t big_endian[2] = {1, -2};
static const uint8_t yes[1] = {1};
static const uint8_t zeros[1000];

static const struct tn_npz_array arrays[6] = {
	{"weight", TN_F32, 2, (const int64_t[]){2, 3}, weight},
	{"columns", TN_I16, 2, (const int64_t[]){2, 3}, columns},
	{"big.endian", TN_I64, 1, (const int64_t[]){2}, big_endian},
	{"empty", TN_C128, 2, (const int64_t[]){0, 3}, zeros},
	{"gr\xc3\xb6\xc3\x9f"
	 "e",
	 TN_BOOL, 0, NULL, yes},
	{"zeros", TN_U8, 1, (const int64_t[]){1000}, zeros},
};

static tn_npz *open_file(const char *path)
{
	tn_npz *file = NULL;
	struct tn_error_info error;
	tn_error_reset(&error);
	if (tn_npz_open(path, &file, &error) != TN_OK)
		fail_msg("%s", error.text);
	return file;
}

static void check_arrays(const char *path)
{
	tn_npz *file = open_file(path);
	assert_int_equal(tn_npz_count(file), 6);
	for (int i = 0; i < 6; i++) {
		struct tn_host_array array;
		assert_string_equal(tn_npz_name(file, (size_t)i), arrays[i].name);
		assert_ok(tn_npz_read(file, arrays[i].name, &array, NULL));
		assert_int_equal(array.dtype, arrays[i].dtype);
		assert_int_equal(array.rank, arrays[i].rank);
		for (uint32_t k = 0; k < array.rank; k++)
			assert_int_equal(array.shape[k], arrays[i].shape[k]);
		assert_memory_equal(array.data, arrays[i].data, array.size_bytes);
		tn_host_array_release(&array);
	}
	assert_null(tn_npz_name(file, 6));
	tn_npz_close(file);
	tn_npz_close(NULL);
}

static void what_savez_writes_is_read(void **state)
{
	(void)state;
	const char *path = files_path(folder, "savez.npz");
	files_write(path, numpy_savez, sizeof(numpy_savez));
	check_arrays(path);
}

static void what_savez_compressed_writes_is_read(void **state)
{
	(void)state;
	const char *path = files_path(folder, "compressed.npz");
	files_write(path, numpy_savez_compressed, sizeof(numpy_savez_compressed));
#ifdef HAVE_ZLIB
	check_arrays(path);
#else
	struct tn_error_info error;
	struct tn_host_array array;
	tn_npz *file = open_file(path);
	assert_int_equal(tn_npz_count(file), 6);
	assert_status(tn_npz_read(file, "weight", &array, &error), TN_UNSUPPORTED);
	assert_contains(error.text, "no zlib");
	tn_npz_close(file);
#endif
}

static void arrays_are_written_and_read_back(void **state)
{
	(void)state;
	size_t size, again_size;
	const char *path = files_path(folder, "written.npz");
	assert_ok(tn_npz_write(path, arrays, 6, NULL));
	check_arrays(path);
	unsigned char *bytes = files_read(path, &size);
	assert_ok(tn_npz_write(path, arrays, 6, NULL));
	unsigned char *again = files_read(path, &again_size);
	assert_int_equal(size, again_size);
	assert_memory_equal(bytes, again, size);
	free(bytes);
	free(again);
	assert_ok(tn_npz_write(path, NULL, 0, NULL));
	tn_npz *file = open_file(path);
	assert_int_equal(tn_npz_count(file), 0);
	tn_npz_close(file);
}

static void wrong_arrays_are_not_written(void **state)
{
	(void)state;
	static const int64_t negative[1] = {-1};
	static const int64_t vast[2] = {(int64_t)1 << 20, (int64_t)1 << 20};
	static const struct {
		struct tn_npz_array array;
		tn_status status;
		const char *part;
	} cases[] = {
		{{NULL, TN_U8, 0, NULL, yes}, TN_INVALID_ARGUMENT, "expected a name in UTF-8"},
		{{"", TN_U8, 0, NULL, yes}, TN_INVALID_ARGUMENT, "expected a name in UTF-8"},
		{{"\xff", TN_U8, 0, NULL, yes}, TN_INVALID_ARGUMENT, "expected a name in UTF-8"},
		{{"b", TN_BF16, 0, NULL, yes}, TN_DTYPE, "array 'b': NumPy has no type for bf16"},
		{{"b", TN_U8, 17, NULL, yes}, TN_INVALID_ARGUMENT, "array 'b': a rank above 16"},
		{{"b", TN_U8, 1, negative, yes}, TN_INVALID_ARGUMENT, "negative length"},
		{{"b", TN_U8, 2, vast, yes}, TN_LIMIT, "at most 68719476736 bytes"},
		{{"a", TN_U8, 0, NULL, yes}, TN_INVALID_ARGUMENT, "two arrays 'a'"},
	};
	const char *path = files_path(folder, "unwritten.npz");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_error_info error;
		struct tn_npz_array both[2] = {{"a", TN_U8, 0, NULL, yes}, cases[i].array};
		tn_error_reset(&error);
		assert_status(tn_npz_write(path, both, 2, &error), cases[i].status);
		assert_contains(error.text, "unwritten.npz");
		assert_contains(error.text, cases[i].part);
		assert_int_not_equal(access(path, F_OK), 0);
	}
}

/* A file of one array "w" of two f32: its local header is at 0, its content from 35 to 171, its
 * entry of the directory from 171 to 222, the end record from 222 to 244. */
enum { CONTENT = 35, ENTRY = 171, END = 222, SIZE = 244 };

static const float pair[2] = {1, 2};

static void make(unsigned char *bytes)
{
	static const int64_t shape[1] = {2};
	const struct tn_npz_array array = {"w", TN_F32, 1, shape, pair};
	const char *path = files_path(folder, "w.npz");
	size_t size;
	assert_ok(tn_npz_write(path, &array, 1, NULL));
	unsigned char *made = files_read(path, &size);
	assert_int_equal(size, SIZE);
	memcpy(bytes, made, SIZE);
	free(made);
}

/* Opens the file and reads "w" from it, which is `pair`. */
static tn_status read_npz(const char *path, struct tn_error_info *error)
{
	struct tn_host_array array = {.rank = 77};
	tn_npz *file = NULL;
	tn_status status = tn_npz_open(path, &file, error);
	assert_true((status == TN_OK) == (file != NULL));
	if (status == TN_OK)
		status = tn_npz_read(file, "w", &array, error);
	if (status) {
		assert_int_equal(array.rank, 77);
	} else {
		assert_int_equal(array.size_bytes, 8);
		assert_memory_equal(array.data, pair, 8);
		tn_host_array_release(&array);
	}
	tn_npz_close(file);
	return status;
}

static void refused(const unsigned char *bytes, size_t size, tn_status expected, const char *part)
{
	const char *path = files_path(folder, "bad.npz");
	files_write(path, bytes, size);
	spoil_refused(read_npz, path, expected, part);
}

static void every_wrong_byte_is_refused_by_name(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		unsigned char byte;
		tn_status status;
		const char *part;
	} cases[] = {
		{END, 0, TN_FORMAT, "offset 222: expected the end record of a ZIP file"},
		{END + 20, 1, TN_FORMAT, "without a comment"},
		{END + 4, 1, TN_FORMAT, "offset 222: expected one disk, found several"},
		{END + 10, 2, TN_FORMAT, "expected one disk"},
		{END + 12, 52, TN_FORMAT, "offset 222: expected the end of the directory"},
		{END + 16, 0, TN_FORMAT, "offset 222: expected the end of the directory"},
		{ENTRY, 0, TN_FORMAT, "offset 171: expected an entry of the directory"},
		{ENTRY + 28, 6, TN_FORMAT, "offset 171: expected an entry within the directory"},
		{ENTRY + 28, 0, TN_FORMAT, "offset 217: expected a name in UTF-8"},
		{ENTRY + 46, 0xff, TN_FORMAT, "offset 217: expected a name in UTF-8"},
		{ENTRY + 46, 0, TN_FORMAT, "offset 217: expected a name in UTF-8"},
		{ENTRY + 8, 1, TN_UNSUPPORTED, "member 'w.npy': it is encrypted"},
		{ENTRY + 20, 1, TN_FORMAT, "expected one size of stored content, found 1 and 136"},
		{ENTRY + 42, 200, TN_FORMAT, "before the directory at 171, found offset 200"},
		{ENTRY + 42, 1, TN_FORMAT, "offset 1: expected the header of member 'w.npy'"},
		{ENTRY + 46, 'v', TN_FORMAT, "offset 0: expected name, method, sizes and checksum"},
		{ENTRY + 10, 8, TN_FORMAT, "offset 0: expected name, method, sizes and checksum"},
		{ENTRY + 16, 0, TN_FORMAT, "offset 0: expected name, method, sizes and checksum"},
		{0, 0, TN_FORMAT, "offset 0: expected the header of member 'w.npy'"},
		{18, 1, TN_FORMAT, "offset 0: expected name, method, sizes and checksum"},
		{22, 1, TN_FORMAT, "offset 0: expected name, method, sizes and checksum"},
		{28, 1, TN_FORMAT,
		 "expected 136 bytes of content at offset 36, found the directory"},
		{CONTENT, 0, TN_FORMAT, "member 'w.npy': offset 0: expected \\x93NUMPY"},
		{CONTENT + 130, 7, TN_FORMAT, "member 'w.npy': expected the checksum"},
	};
	unsigned char bytes[SIZE];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make(bytes);
		bytes[cases[i].at] = cases[i].byte;
		refused(bytes, SIZE, cases[i].status, cases[i].part);
	}
	make(bytes);
	bytes[8] = bytes[ENTRY + 10] = 12;
	refused(bytes, SIZE, TN_UNSUPPORTED,
		"member 'w.npy': expected method 0 (stored) or 8 (deflated), found 12");
	make(bytes);
	bytes[END + 8] = bytes[END + 10] = 2;
	refused(bytes, SIZE, TN_FORMAT, "offset 171: expected 46 bytes for each member");
	make(bytes);
	bytes[END + 8] = bytes[END + 10] = 0;
	refused(bytes, SIZE, TN_FORMAT,
		"offset 171: expected the end of the directory, found more");
	make(bytes);
	bytes[END + 12] = bytes[END + 13] = bytes[END + 14] = bytes[END + 15] = 0xff;
	refused(bytes, SIZE, TN_FORMAT, "offset 202: expected a zip64 locator");
	bytes[0] = 'v';
	refused(bytes, 20, TN_FORMAT, "expected a ZIP file, of at least 22 bytes");
	make(bytes);
	bytes[30] = bytes[ENTRY + 46] = 'v';
	refused(bytes, SIZE, TN_NOT_FOUND, "no array 'w' among 1; nearest: 'v'");
	static const unsigned char without_arrays[22] = "PK\5\6";
	refused(without_arrays, 22, TN_NOT_FOUND, "no array 'w', the file has none");
}

static void every_truncation_is_refused(void **state)
{
	(void)state;
	unsigned char bytes[SIZE];
	make(bytes);
	spoil_truncations(read_npz, "cut.npz", bytes, 0, SIZE, "expected");
}

/* Whatever byte is damaged, the file is refused or gives the same array. */
static void no_damage_changes_an_array(void **state)
{
	(void)state;
	unsigned char bytes[SIZE];
	size_t read = 0;
	make(bytes);
	for (int bit = 0; bit < 8; bit++)
		read += SIZE - spoil_bytes(read_npz, "damaged.npz", bytes, 0, SIZE,
					   (unsigned char)(1 << bit));
	/* Versions, dates, attributes and unused flags do not count; all else does. */
	assert_in_range(read, 1, SIZE);
}

/* The file of make with a second member of that name and the same content, at `header`; 0: only a
 * second entry of the directory, for the first member. */
static size_t make_two(unsigned char *bytes, uint64_t header, const char *name)
{
	struct tn_text text;
	unsigned char one[SIZE];
	make(one);
	struct tn_zip_entry entry = {
		.name = (char *)(uintptr_t)name,
		.crc = one[14] | (uint32_t)one[15] << 8 | (uint32_t)one[16] << 16 |
		       (uint32_t)one[17] << 24,
		.size = 136,
		.header = header,
	};
	tn_text_init(&text);
	tn_text_append(&text, (const char *)one, ENTRY);
	if (header) {
		tn_zip_put_local(&text, &entry);
		tn_text_append(&text, (const char *)one + CONTENT, 136);
	}
	uint64_t directory = text.length;
	tn_text_append(&text, (const char *)one + ENTRY, END - ENTRY);
	tn_zip_put_entry(&text, &entry);
	tn_zip_put_end(&text, 2, directory, text.length - directory);
	assert_false(text.failed);
	size_t size = text.length;
	memcpy(bytes, text.data, size);
	tn_text_release(&text);
	return size;
}

static void overlapping_and_equal_members_are_refused(void **state)
{
	(void)state;
	unsigned char bytes[1024];
	size_t size = make_two(bytes, 0, "w.npy");
	refused(bytes, size, TN_FORMAT,
		"offset 0: expected separate members, found that 'w.npy' and 'w.npy' overlap");
	size = make_two(bytes, ENTRY, "w.npy");
	refused(bytes, size, TN_FORMAT, "expected different names, found two arrays 'w'");
	size = make_two(bytes, ENTRY, "w");
	refused(bytes, size, TN_FORMAT, "expected different names, found two arrays 'w'");
	size = make_two(bytes, ENTRY, "x.npy");
	files_write(files_path(folder, "two.npz"), bytes, size);
	tn_npz *file = open_file(files_path(folder, "two.npz"));
	assert_int_equal(tn_npz_count(file), 2);
	assert_string_equal(tn_npz_name(file, 1), "x");
	tn_npz_close(file);
}

/* More members than the end record can count. */
static void many_arrays_are_written_and_read(void **state)
{
	(void)state;
	enum { N = 65536 };
	static char names[N][8];
	static uint32_t values[N];
	struct tn_npz_array *many = calloc(N, sizeof(*many));
	const char *path = files_path(folder, "many.npz");
	assert_non_null(many);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), "%u", i);
		values[i] = i;
		many[i] = (struct tn_npz_array){names[i], TN_U32, 0, NULL, &values[i]};
	}
	assert_ok(tn_npz_write(path, many, N, NULL));
	tn_npz *file = open_file(path);
	assert_int_equal(tn_npz_count(file), N);
	for (uint32_t i = 0; i < N; i += 1000) {
		struct tn_host_array array;
		assert_ok(tn_npz_read(file, names[i], &array, NULL));
		assert_int_equal(*(uint32_t *)array.data, i);
		tn_host_array_release(&array);
	}
	tn_npz_close(file);
	unlink(path);
	free(many);
}

/* Members beyond 4 GiB, in a file with holes. */
static void large_files_have_zip64_numbers(void **state)
{
	(void)state;
	const uint64_t size = (uint64_t)5 << 30;
	struct tn_zip_entry large = {.name = (char *)(uintptr_t) "large.npy", .size = size};
	struct tn_zip_entry far = {.name = (char *)(uintptr_t) "far.npy", .crc = 0, .size = 0};
	struct tn_text text;
	const char *path = files_path(folder, "large.npz");
	tn_text_init(&text);
	tn_zip_put_local(&text, &large);
	files_write(path, text.data, text.length);
	far.header = text.length + size;
	assert_int_equal(truncate(path, (off_t)far.header), 0);
	text.length = 0;
	tn_zip_put_local(&text, &far);
	uint64_t directory = far.header + text.length;
	size_t local = text.length;
	tn_zip_put_entry(&text, &large);
	tn_zip_put_entry(&text, &far);
	tn_zip_put_end(&text, 2, directory, text.length - local);
	assert_false(text.failed);
	FILE *stream = fopen(path, "ab");
	assert_non_null(stream);
	assert_int_equal(fwrite(text.data, 1, text.length, stream), text.length);
	assert_int_equal(fclose(stream), 0);
	tn_npz *file = open_file(path);
	assert_int_equal(tn_npz_count(file), 2);
	assert_string_equal(tn_npz_name(file, 1), "far");
	struct tn_host_array array;
	struct tn_error_info error;
	assert_status(tn_npz_read(file, "large", &array, &error), TN_FORMAT);
	assert_contains(error.text, "member 'large.npy': offset 0: expected \\x93NUMPY");
	tn_npz_close(file);
	/* The same directory, at another offset. */
	text.data[text.length - 98 + 48] ^= 1;
	files_write(path, text.data, text.length);
	assert_status(tn_npz_open(path, &file, &error), TN_FORMAT);
	assert_contains(error.text, "expected a zip64 end record right before its locator");
	tn_text_release(&text);
	unlink(path);
}

#ifdef HAVE_ZLIB
/* A deflated member of `packed` bytes that claims `size` bytes. */
static size_t make_deflated(unsigned char *bytes, const void *packed, size_t packed_size,
			    uint32_t size, uint32_t crc)
{
	struct tn_text text;
	struct tn_zip_entry entry = {
		.name = (char *)(uintptr_t) "w.npy", .crc = crc, .size = packed_size};
	tn_text_init(&text);
	tn_zip_put_local(&text, &entry);
	tn_text_append(&text, packed, packed_size);
	uint64_t directory = text.length;
	tn_zip_put_entry(&text, &entry);
	tn_zip_put_end(&text, 1, directory, text.length - directory);
	assert_false(text.failed);
	text.data[8] = text.data[directory + 10] = 8;
	for (int i = 0; i < 4; i++)
		text.data[22 + i] = text.data[directory + 24 + (unsigned)i] = (char)(size >> 8 * i);
	size_t length = text.length;
	memcpy(bytes, text.data, length);
	tn_text_release(&text);
	return length;
}

static void deflated_members_that_lie_are_refused(void **state)
{
	(void)state;
	static unsigned char bytes[400000], packed[400000];
	unsigned char one[SIZE];
	make(one);
	uint32_t crc = one[14] | (uint32_t)one[15] << 8 | (uint32_t)one[16] << 16 |
		       (uint32_t)one[17] << 24;
	/* One stored block. */
	packed[0] = 1;
	packed[1] = 136;
	packed[2] = 0;
	packed[3] = 0x77;
	packed[4] = 0xff;
	memcpy(packed + 5, one + CONTENT, 136);
	size_t size = make_deflated(bytes, packed, 141, 136, crc);
	files_write(files_path(folder, "deflated.npz"), bytes, size);
	struct tn_host_array array;
	tn_npz *file = open_file(files_path(folder, "deflated.npz"));
	assert_ok(tn_npz_read(file, "w", &array, NULL));
	assert_memory_equal(array.data, pair, 8);
	tn_host_array_release(&array);
	tn_npz_close(file);
	for (size_t n = 1; n < 141; n++) {
		size = make_deflated(bytes, packed, n, 136, crc);
		refused(bytes, size, TN_FORMAT, "expected more deflated data, found its end");
	}
	size = make_deflated(bytes, packed, 141, 136, crc ^ 1);
	refused(bytes, size, TN_FORMAT, "expected the checksum");
	size = make_deflated(bytes, packed, 142, 136, crc);
	refused(bytes, size, TN_FORMAT, "expected deflated data of exactly 136 bytes");
	size = make_deflated(bytes, packed, 141, 135, crc);
	refused(bytes, size, TN_FORMAT, "expected 8 bytes for shape (2,) of f32, found 7");
	size = make_deflated(bytes, packed, 141, 137, crc);
	refused(bytes, size, TN_FORMAT, "expected 8 bytes for shape (2,) of f32, found 9");
	packed[0] = 7;
	size = make_deflated(bytes, packed, 141, 136, crc);
	refused(bytes, size, TN_FORMAT, "expected deflated data, found: invalid block type");
	size = make_deflated(bytes, packed, 100, 200000, crc);
	refused(bytes, size, TN_FORMAT,
		"expected at most 103200 bytes from its 100 deflated ones, found 200000");
	size = make_deflated(bytes, packed, 300000, 67108865, crc);
	refused(bytes, size, TN_LIMIT,
		"expected at most 67108864 bytes from its 300000 deflated ones, found 67108865");
}
#endif

/* With a FILE, writes the arrays to it, for numpy_npz.py. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_savez_writes_is_read),
		cmocka_unit_test(what_savez_compressed_writes_is_read),
		cmocka_unit_test(arrays_are_written_and_read_back),
		cmocka_unit_test(wrong_arrays_are_not_written),
		cmocka_unit_test(every_wrong_byte_is_refused_by_name),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(no_damage_changes_an_array),
		cmocka_unit_test(overlapping_and_equal_members_are_refused),
		cmocka_unit_test(many_arrays_are_written_and_read),
		cmocka_unit_test(large_files_have_zip64_numbers),
#ifdef HAVE_ZLIB
		cmocka_unit_test(deflated_members_that_lie_are_refused),
#endif
	};
	if (argc > 1)
		return tn_npz_write(argv[1], arrays, 6, NULL) != TN_OK;
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
