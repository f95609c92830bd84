/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays from and to NPY, NPZ and raw files, and mapped ones, on the built-in backend and on the
 * preferred one.
 */
#include <tenon/tenon.h>

#include "io_files.h"

static const char *folder;
static tn_context *context;

static void refused(const void *made, tn_status status, const char *operation, const char *part)
{
	assert_null(made);
	assert_non_null(tn_error(context));
	assert_status(tn_error(context)->status, status);
	assert_string_equal(tn_error(context)->operation, operation);
	assert_contains(tn_error(context)->text, part);
	tn_error_clear(context);
}

static void expect_equal(const tn_array *found, const tn_array *expected)
{
	char *text;
	if (!found)
		fail_msg("%s: %s", tn_error(context)->operation, tn_error(context)->text);
	struct tn_assert_options strict = tn_assert_defaults();
	strict.strict = 1;
	if (tn_assert_array_equal(found, expected, &strict, &text))
		fail_msg("%s", text ? text : tn_error(context)->text);
}

/* 0, 1, 2, ... transposed: not row-major. */
static tn_array *sample(tn_dtype dtype)
{
	tn_array *real =
		tn_reshape(tn_arange(context, TN_F64, 0, 6, 1), 2, (const int64_t[]){3, 2});
	if (dtype == TN_BOOL)
		real = tn_remainder(real, tn_full(context, TN_F64, 0, NULL, 2));
	tn_array *both = dtype == TN_C64 || dtype == TN_C128 ? tn_complex(real, real) : real;
	return tn_transpose(tn_astype(both, dtype), NULL);
}

static void every_dtype_is_saved_and_loaded(void **state)
{
	const char *npy = files_path(folder, "a.npy"), *npz = files_path(folder, "a.npz");
	(void)state;
	for (tn_dtype dtype = TN_BOOL; dtype < TN_DTYPES; dtype++) {
		const tn_array *both[] = {sample(dtype), tn_ones(context, dtype, 0, NULL)};
		if (dtype == TN_BF16)
			continue;
		assert_ok(tn_save(npy, both[0]));
		expect_equal(tn_load(context, npy), both[0]);
		assert_ok(tn_savez(context, npz, 2, (const char *[]){"x", "one"}, both));
		expect_equal(tn_load_npz(context, npz, "x"), both[0]);
		expect_equal(tn_load_npz(context, npz, "one"), both[1]);
	}
	assert_ok(tn_savez(context, npz, 0, NULL, NULL));
	refused(tn_load_npz(context, npz, "x"), TN_NOT_FOUND, "NPZ", "a.npz");
}

static void what_cannot_be_saved_is_refused(void **state)
{
	const char *path = files_path(folder, "refused.npy");
	const tn_array *a = sample(TN_F32), *half = sample(TN_BF16), *none = NULL;
	(void)state;
	assert_status(tn_save(path, half), TN_DTYPE);
	refused(NULL, TN_DTYPE, "NPY", "NumPy has no type for bf16");
	assert_status(tn_save(NULL, a), TN_INVALID_ARGUMENT);
	refused(NULL, TN_INVALID_ARGUMENT, "save", "path is NULL");
	assert_status(tn_savez(context, path, 1, (const char *[]){"x"}, &none),
		      TN_INVALID_ARGUMENT);
	refused(NULL, TN_INVALID_ARGUMENT, "savez", "array 0 is NULL");
	assert_status(tn_savez(context, path, -1, NULL, NULL), TN_INVALID_ARGUMENT);
	refused(NULL, TN_INVALID_ARGUMENT, "savez", "found n = -1");
	assert_status(
		tn_savez(context, path, 2, (const char *[]){"x", "x"}, (const tn_array *[]){a, a}),
		TN_INVALID_ARGUMENT);
	refused(NULL, TN_INVALID_ARGUMENT, "NPZ", "x");
	refused(tn_load(context, path), TN_NOT_FOUND, "NPY", "refused.npy");
	refused(tn_load(context, NULL), TN_INVALID_ARGUMENT, "load", "path is NULL");
	refused(tn_load_npz(context, path, NULL), TN_INVALID_ARGUMENT, "load_npz", "name is NULL");
}

/* ---- Maps ------------------------------------------------------------------------------------*/

static void write_npy(const char *path, const char *dictionary, const void *data, size_t size)
{
	unsigned char file[512] = "\x93NUMPY\1";
	const size_t length = strlen(dictionary);
	file[8] = (unsigned char)length;
	memcpy(file + 10, dictionary, length);
	memcpy(file + 10 + length, data, size);
	files_write(path, file, 10 + length + size);
}

static void a_map_has_the_elements_of_the_file(void **state)
{
	const char *path = files_path(folder, "map.npy");
	(void)state;
	for (tn_dtype dtype = TN_BOOL; dtype < TN_DTYPES; dtype++) {
		if (dtype == TN_BF16)
			continue;
		assert_ok(tn_save(path, sample(dtype)));
		tn_array *map = tn_npy_map(context, path);
		assert_int_equal(unlink(path), 0);
		expect_equal(map, sample(dtype));
		expect_equal(tn_copy(tn_slice(map, 1, 1, 3, 1)),
			     tn_copy(tn_slice(sample(dtype), 1, 1, 3, 1)));
		tn_array_destroy(map);
	}
	assert_ok(tn_save(path, tn_zeros(context, TN_F32, 2, (const int64_t[]){0, 3})));
	expect_equal(tn_npy_map(context, path),
		     tn_zeros(context, TN_F32, 2, (const int64_t[]){0, 3}));
}

static void columns_are_strides(void **state)
{
	static const int16_t data[6] = {0, 1, 2, 3, 4, 5};
	const char *path = files_path(folder, "columns.npy");
	(void)state;
	/* 54 bytes, and 10 before them. */
	write_npy(path, "{'descr':'<i2','fortran_order':True,'shape':(2,3)}    ", data, 12);
	tn_array *map = tn_npy_map(context, path);
	assert_non_null(map);
	assert_int_equal(tn_array_strides(map)[0], 1);
	assert_int_equal(tn_array_strides(map)[1], 2);
	expect_equal(map, sample(TN_I16));
	expect_equal(tn_load(context, path), sample(TN_I16));
}

static void a_map_is_not_written(void **state)
{
	const char *path = files_path(folder, "constant.npy");
	(void)state;
	assert_ok(tn_save(path, sample(TN_F32)));
	tn_array *map = tn_npy_map(context, path);
	assert_non_null(map);
	assert_true(tn_fill(map, 1) != TN_OK);
	assert_contains(tn_error(context)->text, "read-only");
	tn_error_clear(context);
	expect_equal(map, sample(TN_F32));
}

static void what_cannot_be_mapped_is_refused(void **state)
{
	static const char zeros[16];
	const char *path = files_path(folder, "no-map.npy");
	(void)state;
	write_npy(path, "{'descr':'>f8','fortran_order':False,'shape':(1,)}    ", zeros, 8);
	refused(tn_npy_map(context, path), TN_UNSUPPORTED, "npy_map", "the other one: tn_load");
	write_npy(path, "{'descr':'<f8','fortran_order':False,'shape':(1,)}   ", zeros, 8);
	refused(tn_npy_map(context, path), TN_UNSUPPORTED, "npy_map",
		"expected data at a multiple of 8 bytes, found offset 63");
	write_npy(path, "{'descr':'|b1','fortran_order':False,'shape':(2,)}    ", "\1\2", 2);
	refused(tn_npy_map(context, path), TN_FORMAT, "npy_map",
		"element 1: expected a bool, 0 or 1, found 2");
	write_npy(path, "{'descr':'<f8','fortran_order':False,'shape':(2,)}    ", zeros, 15);
	refused(tn_npy_map(context, path), TN_FORMAT, "NPY", "expected 16 bytes");
	refused(tn_npy_map(context, folder), TN_IO, "npy_map", "found a folder");
	refused(tn_npy_map(context, files_path(folder, "none.npy")), TN_NOT_FOUND, "npy_map",
		"none.npy");
}

/* ---- Raw files -------------------------------------------------------------------------------*/

static void raw_elements_are_read_back(void **state)
{
	const char *path = files_path(folder, "raw");
	size_t size;
	(void)state;
	for (tn_dtype dtype = TN_BOOL; dtype < TN_DTYPES; dtype++) {
		const tn_array *line = tn_reshape(tn_copy(sample(dtype)), 1, (const int64_t[]){6});
		for (uint32_t order = TN_ORDER_NATIVE; order <= TN_ORDER_BIG; order++) {
			assert_ok(tn_tofile(sample(dtype), path, order));
			expect_equal(tn_fromfile(context, path, dtype, -1, 0, order), line);
			expect_equal(tn_fromfile(context, path, dtype, 2, 3 * tn_dtype_size(dtype),
						 order),
				     tn_copy(tn_slice(line, 0, 3, 5, 1)));
		}
	}
	assert_ok(tn_tofile(tn_full(context, TN_U32, 0, NULL, 0x01020304), path, TN_ORDER_BIG));
	unsigned char *bytes = files_read(path, &size);
	assert_int_equal(size, 4);
	assert_memory_equal(bytes, "\1\2\3\4", 4);
	free(bytes);
	assert_int_equal(tn_array_size(tn_fromfile(context, path, TN_U8, 0, 4, 0)), 0);
}

static void other_raw_files_are_refused(void **state)
{
	const char *path = files_path(folder, "raw");
	(void)state;
	files_write(path, "\1\2\3\4\5", 5);
	refused(tn_fromfile(context, path, TN_I32, -1, 0, 0), TN_FORMAT, "fromfile",
		"expected a multiple of 4 bytes, elements of i32, found 5");
	refused(tn_fromfile(context, path, TN_I32, 2, 1, 0), TN_FORMAT, "fromfile",
		"offset 1: expected 2 elements of i32, found 4 bytes");
	refused(tn_fromfile(context, path, TN_U8, INT64_MAX, 1, 0), TN_FORMAT, "fromfile",
		"elements of u8, found 4 bytes");
	refused(tn_fromfile(context, path, TN_U8, -1, 6, 0), TN_FORMAT, "fromfile",
		"expected at least 6 bytes, the offset, found 5");
	refused(tn_fromfile(context, path, TN_BOOL, -1, 0, 0), TN_FORMAT, "fromfile",
		"element 1: expected a bool, 0 or 1, found 2");
	refused(tn_fromfile(context, path, TN_U8, -2, 0, 0), TN_INVALID_ARGUMENT, "fromfile",
		"count: expected -1 or more, found -2");
	refused(tn_fromfile(context, path, TN_U8, -1, 0, 3), TN_INVALID_ARGUMENT, "fromfile",
		"byte_order");
	refused(tn_fromfile(context, path, 99, -1, 0, 0), TN_DTYPE, "fromfile",
		"99 is not a dtype");
	assert_status(tn_tofile(sample(TN_F32), files_path(folder, "no/raw"), 0), TN_IO);
	refused(NULL, TN_IO, "tofile", "no");
	assert_status(tn_tofile(sample(TN_F32), path, 7), TN_INVALID_ARGUMENT);
	refused(NULL, TN_INVALID_ARGUMENT, "tofile", "byte_order");
}

static int open_context(const char *backend)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	folder = files_folder();
	assert_ok(tn_context_open(&options, &context, NULL));
	return 0;
}

static int open_reference(void **state)
{
	(void)state;
	return open_context("reference!");
}

static int open_preferred(void **state)
{
	(void)state;
	return open_context("cpu");
}

/* Maps are undone at the latest when the context closes. */
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
		cmocka_unit_test(every_dtype_is_saved_and_loaded),
		cmocka_unit_test(what_cannot_be_saved_is_refused),
		cmocka_unit_test(a_map_has_the_elements_of_the_file),
		cmocka_unit_test(columns_are_strides),
		cmocka_unit_test(a_map_is_not_written),
		cmocka_unit_test(what_cannot_be_mapped_is_refused),
		cmocka_unit_test(raw_elements_are_read_back),
		cmocka_unit_test(other_raw_files_are_refused),
	};
	return cmocka_run_group_tests(tests, open_reference, close_context) +
	       cmocka_run_group_tests(tests, open_preferred, close_context);
}
