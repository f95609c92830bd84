/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Safetensors files: read, written whole or not at all, and refused when malformed.
 */
#include <errno.h>
#include <tenon/io.h>

#include "io/safetensors_checksum.h"
#include "io_spoil.h"

/* The writer's calls to make a file durable, in order ("file folder"), wrapped by the linker. */
static char durable[64];
static int fail_sync; /* the next fsync */

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

static void note(const char *what)
{
	size_t used = strlen(durable);
	snprintf(durable + used, sizeof(durable) - used, "%s ", what);
}

int __wrap_fsync(int fd)
{
	struct stat status;
	assert_int_equal(fstat(fd, &status), 0);
	note(S_ISDIR(status.st_mode) ? "folder" : "file");
	if (fail_sync) {
		fail_sync = 0;
		errno = EIO;
		return -1;
	}
	return __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
	note("rename");
	return __real_rename(from, to);
}

/* Writes a file of `header` and `data_size` bytes 0, 1, 2, ... */
static const char *make(const char *header, size_t data_size)
{
	unsigned char file[8192] = {0};
	size_t size = strlen(header);
	for (int i = 0; i < 8; i++)
		file[i] = (unsigned char)((uint64_t)size >> 8 * i);
	memcpy(file + 8, header, size);
	for (size_t i = 0; i < data_size; i++)
		file[8 + size + i] = (unsigned char)i;
	const char *path = files_path(folder, "made.safetensors");
	files_write(path, file, 8 + size + data_size);
	return path;
}

static tn_status open_tensors(const char *path, struct tn_error_info *error)
{
	tn_safetensors *none = (tn_safetensors *)0x1, *file = none;
	tn_status status = tn_safetensors_open(path, &file, error);
	if (status)
		assert_ptr_equal(file, none);
	else
		tn_safetensors_close(file);
	return status;
}

static void refused(const char *path, tn_status expected, const char *part)
{
	spoil_refused(open_tensors, path, expected, part);
}

/* One tensor "a" of four bytes, with parts replaced. */
#define A(dtype, shape, offsets)                                                                   \
	"{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define B "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":"
#define C "\"c\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":"

static const struct {
	const char *header;
	size_t data_size;
	tn_status status;
	const char *part;
} malformed[] = {
	{"", 0, TN_FORMAT, "offset 8: expected '{', found the end of the text"},
	{" {}", 0, TN_FORMAT, "offset 8: expected '{', found byte 20"},
	{"[]", 0, TN_FORMAT, "offset 8: expected '{', found byte 5b"},
	{"{}\n", 0, TN_FORMAT, "offset 10: expected spaces"},
	{"{} {}", 0, TN_FORMAT, "offset 11: expected spaces"},
	{"{", 0, TN_FORMAT, "offset 9: expected a string, found the end of the text"},
	{"{\"a\":", 0, TN_FORMAT, "tensor \"a\": expected an object"},
	{"{\"a\"", 0, TN_FORMAT, "offset 12: expected a colon, found the end of the text"},
	{"{\"a", 0, TN_FORMAT, "offset 11: expected the end of a string, found the end"},
	{"{]", 0, TN_FORMAT, "offset 9: expected a string, found byte 5d"},
	{"{,", 0, TN_FORMAT, "offset 9: expected a string, found byte 2c"},
	{"{\"\xff\":1}", 0, TN_FORMAT, "offset 10: expected UTF-8, found byte ff"},
	{"{\"\xc0\x80\":1}", 0, TN_FORMAT, "offset 10: expected UTF-8, found byte c0"},
	{"{\"\xed\xa0\x80\":1}", 0, TN_FORMAT, "offset 10: expected UTF-8, found byte ed"},
	{"{\"\xf4\x90\x80\x80\":1}", 0, TN_FORMAT, "offset 10: expected UTF-8, found byte f4"},
	{"{\"\xc3", 0, TN_FORMAT, "offset 10: expected UTF-8, found byte c3"},
	{"{\"\n\":1}", 0, TN_FORMAT, "offset 10: expected an escaped control character"},
	{"{\"a\\u0000b\":1}", 0, TN_FORMAT, "expected a character other than \\u0000"},
	{"{\"\\ud834\":1}", 0, TN_FORMAT, "expected both halves of a surrogate pair"},
	{"{\"\\udd1e\":1}", 0, TN_FORMAT, "expected both halves of a surrogate pair"},
	{"{\"\\ud834\\u0041\":1}", 0, TN_FORMAT, "expected a low surrogate"},
	{"{\"\\u00g0\":1}", 0, TN_FORMAT, "offset 14: expected a hexadecimal digit, found byte 67"},
	{"{\"\\x\":1}", 0, TN_FORMAT, "offset 11: expected an escape character, found byte 78"},
	{"{\"\\", 0, TN_FORMAT, "offset 11: expected an escape character, found the end"},
	{"{\"a\":[[[[1]]]]}", 0, TN_FORMAT, "tensor \"a\": expected an object"},
	{"{\"a\":1}", 0, TN_FORMAT, "tensor \"a\": expected an object"},
	{"{\"a\":{}}", 0, TN_FORMAT, "tensor \"a\": expected the key \"dtype\""},
	{"{\"a\":{\"dtype\":1}}", 0, TN_FORMAT, "key \"dtype\": expected a string"},
	{"{\"a\":{\"dtype\":\"F32\"}}", 0, TN_FORMAT, "expected the key \"shape\""},
	{"{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 4, TN_FORMAT, "the key \"data_offsets\""},
	{"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"x\":1}}", 4, TN_FORMAT,
	 "each once, found \"x\""},
	{A("F31", "[1]", "[0,4]"), 4, TN_FORMAT, "expected a known dtype, found \"F31\""},
	{A("f32", "[1]", "[0,4]"), 4, TN_FORMAT, "expected a known dtype, found \"f32\""},
	{A("F32", "{}", "[0,4]"), 4, TN_FORMAT, "key \"shape\": expected an array"},
	{A("F32", "[-1]", "[0,4]"), 4, TN_FORMAT, "expected at least 0, found -1"},
	{A("F32", "[1.0]", "[0,4]"), 4, TN_FORMAT, "offset 37: expected an integer, found byte 31"},
	{A("F32", "[01]", "[0,4]"), 4, TN_FORMAT, "expected a number without leading zeros"},
	{A("F32", "[1 2]", "[0,4]"), 4, TN_FORMAT, "expected a comma or ']', found byte 32"},
	{A("F32", "[1,]", "[0,4]"), 4, TN_FORMAT, "expected a number, found byte 5d"},
	{A("F32", "[-]", "[0,4]"), 4, TN_FORMAT, "expected a number, found byte 5d"},
	{A("F32", "[9223372036854775808]", "[0,4]"), 4, TN_FORMAT, "an integer below 2^63"},
	{A("F32", "[9223372036854775807]", "[0,4]"), 4, TN_FORMAT, "overflows"},
	{A("F32", "[99999999999999999999]", "[0,4]"), 4, TN_FORMAT, "an integer below 2^63"},
	{A("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, TN_LIMIT, "16 axes"},
	{A("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, TN_LIMIT, "found 18"},
	{A("F32", "[1]", "[4]"), 4, TN_FORMAT, "expected 2 data_offsets, found 1"},
	{A("F32", "[1]", "[0,4,4]"), 4, TN_FORMAT, "expected 2 data_offsets, found 3"},
	{A("F32", "[1]", "[4,0]"), 4, TN_FORMAT, "in order, found 4, 0"},
	{A("F32", "[1]", "[-4,0]"), 4, TN_FORMAT, "expected at least 0, found -4"},
	{A("F32", "[1]", "\"0,4\""), 4, TN_FORMAT, "key \"data_offsets\": expected an array"},
	{A("F32", "[2]", "[0,4]"), 4, TN_FORMAT, "expected 8 bytes for shape (2,) of F32"},
	{A("F32", "[4294967296,4294967296]", "[0,0]"), 0, TN_FORMAT, "overflows"},
	{A("U8", "[4611686018427387904,4]", "[0,0]"), 0, TN_FORMAT, "overflows"},
	{A("F4", "[3]", "[0,2]"), 2, TN_FORMAT, "expected whole bytes"},
	{A("F32", "[1]", "[1,5]"), 5, TN_FORMAT, "begin at 0, found 1 (hole)"},
	{A("F32", "[1]", "[0,4]"), 3, TN_FORMAT, "expected 4 bytes of data, found 3"},
	{A("F32", "[1]", "[0,4]"), 5, TN_FORMAT, "expected 4 bytes of data, found 5"},
	{"{" B "[0,2]}," C "[1,3]}}", 3, TN_FORMAT,
	 "tensor \"c\": expected data_offsets to begin at "
	 "2, found 1 (overlap)"},
	{"{" B "[0,2]}," C "[0,2]}}", 2, TN_FORMAT, "(overlap)"},
	{"{" B "[0,2]}," C "[3,5]}}", 5, TN_FORMAT, "(hole)"},
	{"{" B "[0,2]}," B "[2,4]}}", 4, TN_FORMAT, "tensor \"b\": occurs twice"},
	{"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
	 TN_FORMAT, "each once, found \"dtype\""},
	{"{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}", 0, TN_FORMAT, "metadata \"k\" occurs twice"},
	{"{\"__metadata__\":{},\"__metadata__\":{}}", 0, TN_FORMAT,
	 "key \"__metadata__\" occurs twice"},
	{"{\"__metadata__\":[]}", 0, TN_FORMAT, "key \"__metadata__\": expected an object"},
	{"{\"__metadata__\":{\"k\":1}}", 0, TN_FORMAT, "metadata \"k\": expected a string"},
	{"{}", 1, TN_FORMAT, "expected 0 bytes of data, found 1"},
};

static void other_kinds_of_files_are_named(void **state)
{
	(void)state;
	static const struct spoil_case cases[] = {
		{"\x93NUMPY\1\0v\0{'descr'", 18, TN_FORMAT, "found an NPY file"},
		{"\x89HDF\r\n\x1a\n\0\0\0\0", 12, TN_FORMAT, "found an HDF5 file"},
		{"GGUF\3\0\0\0\x2c\0\0\0", 12, TN_FORMAT, "found a GGUF file"},
		{"\x1f\x8b\x08\0\0\0\0\0\0\3", 10, TN_FORMAT, "found a gzipped file"},
		{"version https://git-lfs.github.com/spec/v1\n", 43, TN_FORMAT,
		 "found a pointer of Git LFS"},
		{"<!DOCTYPE html>", 15, TN_FORMAT, "found a page of the web"},
		{"Not found\n", 10, TN_FORMAT, "found text"},
		{"\x08\x07\x12\x07pytorch", 11, TN_FORMAT, "found other bytes"},
		{"\0\0\0\0\0\0\0AA", 9, TN_FORMAT, "found other bytes"},
	};
	spoil_malformed(open_tensors, "kind.safetensors", cases, sizeof(cases) / sizeof(cases[0]));
}

static void every_malformed_header_is_refused_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		refused(make(malformed[i].header, malformed[i].data_size), malformed[i].status,
			malformed[i].part);
}

static void short_files_and_false_lengths_are_refused(void **state)
{
	(void)state;
	static const struct spoil_case cases[] = {
		{"", 0, TN_FORMAT, "expected at least 8 bytes, found 0"},
		{"\2\0\0\0\0\0\0", 7, TN_FORMAT, "expected at least 8 bytes, found 7"},
		{"\2\0\0\0\0\0\0\0{", 9, TN_FORMAT, "at most 1 bytes"},
		{"\2\0\0\0\0\0\0\0", 8, TN_FORMAT, "at most 0 bytes"},
		{"\1\xe1\xf5\5\0\0\0\0{}", 10, TN_LIMIT, "found 100000001"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, TN_LIMIT, "found 18446744073709551615"},
		/* What torch.save writes, now and before version 1.6. */
		{"PK\3\4\0\0\10\10\0\0", 10, TN_FORMAT, "found a zip archive or pickle"},
		/* An NPZ file, by the name of its first member. */
		{"PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0w.npy", 35, TN_FORMAT,
		 "found an NPZ file; convert it: tenon convert"},
		{"PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0w.np", 34, TN_FORMAT,
		 "found a zip archive or pickle"},
		{"\x80\2\x8a\n\x6c\xfc\x9c\x46", 8, TN_FORMAT, "weights_only=True"},
		{"\x80\2\0\0\0\0\0\0", 8, TN_FORMAT, "at most 0 bytes"},
	};
	spoil_malformed(open_tensors, "short.safetensors", cases, sizeof(cases) / sizeof(cases[0]));
}

static void every_truncation_of_a_good_file_is_refused(void **state)
{
	(void)state;
	size_t size;
	unsigned char *bytes = files_read(make(A("F32", "[2, 1]", "[0,8]"), 8), &size);
	spoil_truncations(open_tensors, "cut.safetensors", bytes, 0, size, "expected");
	free(bytes);
}

/* The name and the elements may be others; nothing else. */
static void damage_in_a_header_is_refused(void **state)
{
	(void)state;
	size_t size;
	unsigned char *bytes = files_read(make(A("F32", "[2,1]", "[0,8]"), 8), &size);
	const char *name = "damaged.safetensors";
	assert_int_equal(spoil_bytes(open_tensors, name, bytes, 0, size, 0x80), size - 8);
	assert_int_equal(spoil_bytes(open_tensors, name, bytes, 0, size, 1), size - 9);
	free(bytes);
}

static void a_header_of_too_many_tensors_is_refused(void **state)
{
	(void)state;
	const size_t n = TN_SAFETENSORS_MAX_TENSORS + 1, each = 60;
	char *bytes = malloc(8 + n * each);
	size_t size = 8;
	for (size_t i = 0; i < n; i++)
		size += (size_t)sprintf(bytes + size,
					"%c\"%zu\":{\"dtype\":\"U8\",\"shape\":[0],"
					"\"data_offsets\":[0,0]}",
					i ? ',' : '{', i);
	bytes[size++] = '}';
	for (int i = 0; i < 8; i++)
		bytes[i] = (char)((uint64_t)(size - 8) >> 8 * i);
	files_write(files_path(folder, "many.safetensors"), bytes, size);
	free(bytes);
	refused(files_path(folder, "many.safetensors"), TN_LIMIT,
		"expected at most 100000 tensors, found more");
}

static void escapes_in_names_are_read(void **state)
{
	(void)state;
	tn_safetensors *file;
	const char *path = make("{\"__metadata__\" : { \"\\u0041\\ud834\\uDD1E\\u00e9\\u20ac\" :"
				"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001F\"}\r\n}",
				0);
	assert_ok(tn_safetensors_open(path, &file, NULL));
	assert_string_equal(tn_safetensors_metadata_key(file, 0),
			    "A\xf0\x9d\x84\x9e\xc3\xa9\xe2\x82\xac");
	assert_string_equal(tn_safetensors_metadata_value(file, 0), "\"\\/\b\f\n\r\t\x1f");
	tn_safetensors_close(file);
}

static void what_is_not_a_regular_file_is_refused_without_blocking(void **state)
{
	(void)state;
	refused(files_path(folder, "none"), TN_NOT_FOUND, "No such file");
	const char *pipe = files_path(folder, "pipe");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	refused(pipe, TN_IO, "expected a regular file, found a pipe");
	struct tn_error_info error;
	tn_safetensors *file;
	assert_status(tn_safetensors_open(folder, &file, &error), TN_IO);
	assert_contains(error.text, "folder");
}

static void scalars_empty_tensors_and_metadata_are_read(void **state)
{
	(void)state;
	tn_safetensors *file;
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	size_t index;
	unsigned char bytes[4];
	const char *path =
		make("{\"__metadata__\":{\"z\":\"1\",\"a\":\"\"},"
		     "\"s\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[0,4]},"
		     "\"e\":{\"dtype\":\"F64\",\"shape\":[3,0],\"data_offsets\":[4,4]},"
		     "\"q\":{\"data_offsets\":[4,6],\"dtype\":\"F8_E4M3\",\"shape\":[2]}}  ",
		     6);
	assert_ok(tn_safetensors_open(path, &file, NULL));
	assert_int_equal(tn_safetensors_count(file), 3);
	assert_int_equal(tn_safetensors_metadata_count(file), 2);
	assert_string_equal(tn_safetensors_metadata_key(file, 0), "a");
	assert_string_equal(tn_safetensors_metadata_value(file, 1), "1");
	assert_string_equal(tn_safetensors_metadata(file, "z"), "1");
	assert_null(tn_safetensors_metadata(file, "y"));
	assert_null(tn_safetensors_metadata_key(file, 2));

	assert_ok(tn_safetensors_find(file, "s", &index, NULL));
	assert_ok(tn_safetensors_at(file, index, &info));
	assert_int_equal(info.rank, 0);
	assert_int_equal(info.dtype, TN_I32);
	assert_ok(tn_safetensors_read(file, index, bytes, 4, NULL));
	assert_memory_equal(bytes, "\0\1\2\3", 4);

	assert_ok(tn_safetensors_find(file, "e", &index, NULL));
	assert_ok(tn_safetensors_at(file, index, &info));
	assert_int_equal(info.size_bytes, 0);
	assert_int_equal(info.shape[0], 3);
	assert_ok(tn_safetensors_read(file, index, bytes, 0, NULL));
	tn_safetensors_close(file);
}

static void a_name_is_not_found_among_none(void **state)
{
	struct tn_error_info error;
	tn_safetensors *file;
	size_t index;
	(void)state;
	assert_ok(tn_safetensors_open(make("{}      ", 0), &file, NULL));
	assert_status(tn_safetensors_find(file, "w", &index, &error), TN_NOT_FOUND);
	assert_contains(error.text, "expected a tensor \"w\", found none among 0");
	tn_safetensors_close(file);
}

static void a_tensor_is_read_only_by_its_number_size_and_type(void **state)
{
	(void)state;
	tn_safetensors *file;
	struct tn_error_info error;
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	size_t index;
	unsigned char bytes[4];
	assert_ok(tn_safetensors_open(make(A("F8_E5M2", "[4]", "[0,4]"), 4), &file, NULL));
	assert_ok(tn_safetensors_at(file, 0, &info));
	assert_int_equal(info.dtype, 0);
	assert_string_equal(info.type, "F8_E5M2");
	assert_status(tn_safetensors_read(file, 0, bytes, 4, &error), TN_DTYPE);
	assert_contains(error.text, "elements of type F8_E5M2 cannot be read");
	assert_status(tn_safetensors_read(file, 1, bytes, 4, &error), TN_INVALID_ARGUMENT);
	assert_status(tn_safetensors_at(file, 1, &info), TN_INVALID_ARGUMENT);
	assert_status(tn_safetensors_find(file, "b", &index, &error), TN_NOT_FOUND);
	assert_contains(error.text, "expected a tensor \"b\", found none among 1");
	tn_safetensors_close(file);

	assert_ok(tn_safetensors_open(make(A("BOOL", "[4]", "[0,4]"), 4), &file, NULL));
	assert_status(tn_safetensors_read(file, 0, bytes, 3, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "expected a buffer of 4 bytes, found 3");
	assert_status(tn_safetensors_read(file, 0, bytes, 4, &error), TN_FORMAT);
	assert_contains(error.text, "expected a bool, 0 or 1, found 2");
	tn_safetensors_close(file);
}

static void a_file_that_shrinks_is_an_error(void **state)
{
	(void)state;
	tn_safetensors *file;
	struct tn_error_info error;
	unsigned char bytes[4];
	const char *path = make(A("F32", "[1]", "[0,4]"), 4);
	assert_ok(tn_safetensors_open(path, &file, NULL));
	assert_int_equal(truncate(path, 20), 0);
	assert_status(tn_safetensors_read(file, 0, bytes, 4, &error), TN_FORMAT);
	assert_contains(error.text, "found the end of the file");
	tn_safetensors_close(file);
}

static const int64_t shape_23[] = {2, 3};
static const float floats[6] = {0, 1, -2.5f, 3e38f, 1e-45f, 0.1f};
static const uint8_t bytes3[3] = {1, 0, 1};
static const int64_t longs[1] = {INT64_MIN};
static const int64_t shape_3[] = {3}, shape_1[] = {1};

static const struct tn_tensor_source good[] = {
	{.name = "layer1.0.conv1.weight",
	 .dtype = TN_F32,
	 .rank = 2,
	 .shape = shape_23,
	 .data = floats},
	{.name = "mask", .dtype = TN_BOOL, .rank = 1, .shape = shape_3, .data = bytes3},
	{.name = "steps", .dtype = TN_I64, .rank = 1, .shape = shape_1, .data = longs},
	{.name = "\xc3\xa9\"\\\n", .dtype = TN_F32, .rank = 0, .data = floats},
};
static const struct tn_metadata_entry metadata[] = {
	{"format", "tn"}, {"a", "\"quoted\"\t\\\b\f\n\r\x01\x7f/\xf0\x9d\x84\x9e"}};

static void what_was_written_is_read_back(void **state)
{
	(void)state;
	tn_safetensors *file;
	const char *path = files_path(folder, "good.safetensors");
	assert_ok(tn_safetensors_write(path, good, 4, metadata, 2, NULL));
	assert_ok(tn_safetensors_open(path, &file, NULL));
	assert_int_equal(tn_safetensors_count(file), 4);
	assert_string_equal(tn_safetensors_metadata(file, "a"), metadata[1].value);
	static const size_t sizes[] = {24, 3, 8, 4};
	for (size_t i = 0; i < 4; i++) {
		unsigned char bytes[24];
		struct tn_tensor_info info = {.struct_size = sizeof(info)};
		size_t index;
		assert_ok(tn_safetensors_find(file, good[i].name, &index, NULL));
		assert_ok(tn_safetensors_at(file, index, &info));
		assert_int_equal(info.dtype, good[i].dtype);
		assert_int_equal(info.rank, good[i].rank);
		assert_ok(tn_safetensors_read(file, index, bytes, sizes[i], NULL));
		assert_memory_equal(bytes, good[i].data, sizes[i]);
	}
	tn_safetensors_close(file);
}

static void the_bytes_do_not_depend_on_the_order_of_arguments(void **state)
{
	(void)state;
	size_t size_a, size_b;
	struct tn_tensor_source turned[4] = {good[3], good[1], good[0], good[2]};
	struct tn_metadata_entry turned_metadata[2] = {metadata[1], metadata[0]};
	const char *path = files_path(folder, "order.safetensors");
	assert_ok(tn_safetensors_write(path, good, 4, metadata, 2, NULL));
	unsigned char *a = files_read(path, &size_a);
	assert_ok(tn_safetensors_write(path, turned, 4, turned_metadata, 2, NULL));
	unsigned char *b = files_read(path, &size_b);
	assert_int_equal(size_a, size_b);
	assert_memory_equal(a, b, size_a);
	assert_int_equal((8 + a[0] + 256 * a[1]) % 8, 0);
	/* As short as the format allows, except for required escapes. */
	const char *escaped = "{\"__metadata__\":{\"a\":\"\\\"quoted\\\"\\t\\\\\\b\\f\\n\\r\\u0001"
			      "\x7f/\xf0\x9d\x84\x9e\",";
	assert_memory_equal(a + 8, escaped, strlen(escaped));
	free(a);
	free(b);
}

static void a_file_is_written_as_the_reference_implementation_would(void **state)
{
	(void)state;
	static const char header[] = "{\"__metadata__\":{\"k\":\"v\"},\"x\":{\"dtype\":\"F32\","
				     "\"shape\":[1],\"data_offsets\":[0,4]}}   ";
	size_t size;
	struct tn_tensor_source x = {
		.name = "x", .dtype = TN_F32, .rank = 1, .shape = shape_1, .data = &floats[1]};
	struct tn_metadata_entry entry = {"k", "v"};
	const char *path = files_path(folder, "golden.safetensors");
	assert_ok(tn_safetensors_write(path, &x, 1, &entry, 1, NULL));
	unsigned char *bytes = files_read(path, &size);
	size_t padded =
		(strlen("{\"__metadata__\":{\"k\":\"v\"},\"x\":{\"dtype\":\"F32\",\"shape\":"
			"[1],\"data_offsets\":[0,4]}}") +
		 7) /
		8 * 8;
	assert_int_equal(bytes[0], padded);
	assert_memory_equal(bytes + 8, header, padded);
	assert_memory_equal(bytes + 8 + padded, "\0\0\x80\x3f", 4);
	assert_int_equal(size, 8 + padded + 4);
	free(bytes);
}

/* Gives consecutive numbers, or fails at its second call. */
struct source {
	int fail;
	int calls;
};

static tn_status fetch(void *user, uint64_t offset, void *destination, size_t size,
		       struct tn_error_info *error)
{
	struct source *source = user;
	if (++source->calls == 2 && source->fail)
		return tn_fail(error, TN_DEVICE_LOST, "download", "gone");
	for (size_t i = 0; i < size / 4; i++)
		((uint32_t *)destination)[i] = (uint32_t)(offset / 4 + i);
	return TN_OK;
}

static void a_tensor_is_fetched_in_pieces(void **state)
{
	(void)state;
	const int64_t shape[] = {600000};
	struct source source = {0};
	struct tn_tensor_source x = {.name = "x",
				     .dtype = TN_U32,
				     .rank = 1,
				     .shape = shape,
				     .fetch = fetch,
				     .user = &source};
	const char *path = files_path(folder, "fetched.safetensors");
	assert_ok(tn_safetensors_write(path, &x, 1, NULL, 0, NULL));
	assert_true(source.calls > 1);
	tn_safetensors *file;
	uint32_t *numbers = malloc(2400000);
	assert_ok(tn_safetensors_open(path, &file, NULL));
	assert_ok(tn_safetensors_read(file, 0, numbers, 2400000, NULL));
	for (uint32_t i = 0; i < 600000; i++)
		assert_int_equal(numbers[i], i);
	tn_safetensors_close(file);
	free(numbers);
}

static uint32_t crc32_of(const unsigned char *bytes, size_t size)
{
	uint32_t crc = ~0u;
	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* Of a file of several pieces; what only looks like its key is another one. */
static void a_checksum_is_that_of_the_file(void **state)
{
	static const struct tn_metadata_entry entries[] = {{"a", "\"tenon.checksum\":\"12345678\""},
							   {"tenon.checksum", "whatever"}};
	(void)state;
	const int64_t shape[] = {150001};
	struct source source = {0};
	struct tn_tensor_source x = {.name = "tenon.checksum",
				     .dtype = TN_U32,
				     .rank = 1,
				     .shape = shape,
				     .fetch = fetch,
				     .user = &source};
	const char *path = files_path(folder, "checked.safetensors");
	struct tn_error_info error;
	tn_safetensors *file;
	size_t size;
	unsigned long stated;
	assert_ok(tn_safetensors_write(path, &x, 1, entries, 2, NULL));
	assert_ok(tn_safetensors_open(path, &file, NULL));
	const char *digits = tn_safetensors_metadata(file, "tenon.checksum");
	assert_int_equal(strspn(digits, "0123456789abcdef"), 8);
	stated = strtoul(digits, NULL, 16);
	unsigned char *bytes = files_read(path, &size);
	unsigned char *place = memmem(bytes, size, digits, 8);
	memset(place, '0', 8);
	assert_int_equal(stated, crc32_of(bytes, size));
	assert_ok(tn_safetensors_check(file, &error));
	tn_safetensors_close(file);
	bytes[size - 1] ^= 4;
	memcpy(place, "00000000", 8);
	files_write(path, bytes, size);
	assert_ok(tn_safetensors_open(path, &file, NULL));
	assert_status(tn_safetensors_check(file, &error), TN_FORMAT);
	assert_contains(error.text, "checked.safetensors: expected the checksum 00000000, found ");
	tn_safetensors_close(file);
	/* Written otherwise than the library does. */
	memcpy(place - 1, " \"0000000", 9);
	files_write(path, bytes, size);
	assert_ok(tn_safetensors_open(path, &file, NULL));
	assert_status(tn_safetensors_check(file, &error), TN_FORMAT);
	assert_contains(error.text, "expected the checksum 0000000, found another layout");
	tn_safetensors_close(file);
	free(bytes);
}

static void a_failed_write_leaves_the_old_file_and_nothing_else(void **state)
{
	(void)state;
	const int64_t shape[] = {600000};
	struct tn_error_info error;
	struct source source = {.fail = 1};
	struct tn_tensor_source x = {.name = "x",
				     .dtype = TN_U32,
				     .rank = 1,
				     .shape = shape,
				     .fetch = fetch,
				     .user = &source};
	const char *path = files_path(folder, "kept.safetensors");
	files_write(path, "old", 3);
	int before = files_count(folder);
	assert_status(tn_safetensors_write(path, &x, 1, NULL, 0, &error), TN_DEVICE_LOST);
	assert_string_equal(error.text, "gone");
	assert_int_equal(files_count(folder), before);
	size_t size;
	unsigned char *bytes = files_read(path, &size);
	assert_int_equal(size, 3);
	assert_memory_equal(bytes, "old", 3);
	free(bytes);
}

static void what_the_format_cannot_say_is_not_written(void **state)
{
	(void)state;
	const int64_t negative[] = {-1};
	static const struct tn_metadata_entry twice[] = {{"k", "1"}, {"k", "2"}};
	static const struct tn_metadata_entry latin[] = {{"k", "\xe9"}};
	const struct {
		struct tn_tensor_source tensors[2];
		size_t n;
		const struct tn_metadata_entry *metadata;
		size_t n_metadata;
		tn_status status;
		const char *part;
	} cases[] = {
		{{{.name = ""}}, 1, NULL, 0, TN_INVALID_ARGUMENT, "an empty one"},
		{{{.name = NULL}}, 1, NULL, 0, TN_INVALID_ARGUMENT, "an empty one"},
		{{{.name = "__metadata__"}}, 1, NULL, 0, TN_INVALID_ARGUMENT, "reserved"},
		{{{.name = "x", .dtype = TN_C128}}, 1, NULL, 0, TN_DTYPE, "no type for c128"},
		{{{.name = "x", .dtype = 0}}, 1, NULL, 0, TN_DTYPE, "no type for"},
		{{{.name = "x", .dtype = TN_F32, .rank = 1, .shape = negative, .data = floats}},
		 1,
		 NULL,
		 0,
		 TN_INVALID_ARGUMENT,
		 "negative length"},
		{{{.name = "x", .dtype = TN_F32, .rank = 17, .shape = shape_1, .data = floats}},
		 1,
		 NULL,
		 0,
		 TN_INVALID_ARGUMENT,
		 "rank above 16"},
		{{{.name = "x", .dtype = TN_F32}},
		 1,
		 NULL,
		 0,
		 TN_INVALID_ARGUMENT,
		 "expected data or fetch"},
		{{{.name = "\xff", .dtype = TN_F32, .data = floats}},
		 1,
		 NULL,
		 0,
		 TN_INVALID_ARGUMENT,
		 "expected UTF-8"},
		{{{.name = "x", .dtype = TN_F32, .data = floats},
		  {.name = "x", .dtype = TN_U8, .data = floats}},
		 2,
		 NULL,
		 0,
		 TN_INVALID_ARGUMENT,
		 "tensor \"x\" occurs twice"},
		{{{.name = NULL}}, 0, twice, 2, TN_INVALID_ARGUMENT, "metadata \"k\" occurs twice"},
		{{{.name = NULL}}, 0, latin, 1, TN_INVALID_ARGUMENT, "expected UTF-8"},
	};
	int before = files_count(folder);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_error_info error;
		tn_error_reset(&error);
		assert_status(tn_safetensors_write(files_path(folder, "bad"), cases[i].tensors,
						   cases[i].n, cases[i].metadata,
						   cases[i].n_metadata, &error),
			      cases[i].status);
		assert_contains(error.text, cases[i].part);
	}
	assert_int_equal(files_count(folder), before);
}

static void a_place_that_cannot_be_written_is_an_error(void **state)
{
	(void)state;
	struct tn_error_info error;
	assert_status(
		tn_safetensors_write(files_path(folder, "no/such/x"), good, 1, NULL, 0, &error),
		TN_IO);
	assert_contains(error.text, "No such file");
	assert_status(tn_safetensors_write(folder, good, 1, NULL, 0, &error), TN_IO);
	assert_contains(error.text, "found a folder");
	assert_status(tn_safetensors_write("/dev/null", good, 1, NULL, 0, &error), TN_IO);
}

static void a_file_is_synced_before_it_gets_its_name_and_the_folder_after(void **state)
{
	(void)state;
	durable[0] = '\0';
	assert_ok(tn_safetensors_write(files_path(folder, "d"), good, 4, NULL, 0, NULL));
	assert_string_equal(durable, "file rename folder ");
}

static void a_file_that_cannot_be_synced_does_not_replace_the_old_one(void **state)
{
	(void)state;
	struct tn_error_info error;
	const char *path = files_path(folder, "unsynced");
	files_write(path, "old", 3);
	int before = files_count(folder);
	durable[0] = '\0';
	fail_sync = 1;
	assert_status(tn_safetensors_write(path, good, 4, NULL, 0, &error), TN_IO);
	assert_contains(error.text, "unsynced: syncing: ");
	assert_string_equal(durable, "file ");
	assert_int_equal(files_count(folder), before);
	size_t size;
	unsigned char *bytes = files_read(path, &size);
	assert_int_equal(size, 3);
	free(bytes);
}

static void a_name_may_be_as_long_as_the_system_allows(void **state)
{
	(void)state;
	char name[258];
	struct tn_error_info error;
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	assert_status(tn_safetensors_write(files_path(folder, name), good, 4, NULL, 0, &error),
		      TN_IO);
	assert_contains(error.text, "File name too long");
	int before = files_count(folder);
	name[255] = '\0';
	assert_ok(tn_safetensors_write(files_path(folder, name), good, 4, NULL, 0, &error));
	assert_int_equal(files_count(folder), before + 1);
	assert_int_equal(access(files_path(folder, name), F_OK), 0);
}

static void a_replaced_file_keeps_its_mode(void **state)
{
	(void)state;
	struct stat status;
	const char *path = files_path(folder, "mode.safetensors");
	files_write(path, "old", 3);
	assert_int_equal(chmod(path, 0640), 0);
	assert_ok(tn_safetensors_write(path, good, 4, NULL, 0, NULL));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
}

static void long_paths_do_not_hide_the_message(void **state)
{
	(void)state;
	struct tn_error_info error;
	tn_safetensors *file;
	char path[1200];
	memset(path, 'x', sizeof(path));
	for (size_t i = 0; i < sizeof(path); i += 100)
		path[i] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_status(tn_safetensors_open(path, &file, &error), TN_NOT_FOUND);
	assert_contains(error.text, "xxx: No such file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_kinds_of_files_are_named),
		cmocka_unit_test(every_malformed_header_is_refused_by_name),
		cmocka_unit_test(short_files_and_false_lengths_are_refused),
		cmocka_unit_test(every_truncation_of_a_good_file_is_refused),
		cmocka_unit_test(damage_in_a_header_is_refused),
		cmocka_unit_test(a_header_of_too_many_tensors_is_refused),
		cmocka_unit_test(escapes_in_names_are_read),
		cmocka_unit_test(what_is_not_a_regular_file_is_refused_without_blocking),
		cmocka_unit_test(scalars_empty_tensors_and_metadata_are_read),
		cmocka_unit_test(a_name_is_not_found_among_none),
		cmocka_unit_test(a_tensor_is_read_only_by_its_number_size_and_type),
		cmocka_unit_test(a_file_that_shrinks_is_an_error),
		cmocka_unit_test(what_was_written_is_read_back),
		cmocka_unit_test(the_bytes_do_not_depend_on_the_order_of_arguments),
		cmocka_unit_test(a_file_is_written_as_the_reference_implementation_would),
		cmocka_unit_test(a_tensor_is_fetched_in_pieces),
		cmocka_unit_test(a_checksum_is_that_of_the_file),
		cmocka_unit_test(a_failed_write_leaves_the_old_file_and_nothing_else),
		cmocka_unit_test(what_the_format_cannot_say_is_not_written),
		cmocka_unit_test(a_place_that_cannot_be_written_is_an_error),
		cmocka_unit_test(a_file_is_synced_before_it_gets_its_name_and_the_folder_after),
		cmocka_unit_test(a_file_that_cannot_be_synced_does_not_replace_the_old_one),
		cmocka_unit_test(a_name_may_be_as_long_as_the_system_allows),
		cmocka_unit_test(a_replaced_file_keeps_its_mode),
		cmocka_unit_test(long_paths_do_not_hide_the_message),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
