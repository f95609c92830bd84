/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's memory, fill and copy: every element size, strides of both signs and 0,
 * transposes, sentinels around the output, on every level that this machine supports.
 */
#include "cpu_fixture.h"

static const tn_dtype dtypes[] = {TN_U8, TN_F16, TN_F32, TN_F64, TN_C128};

struct layout {
	uint32_t rank;
	int64_t shape[4];
	int64_t out[4]; /* strides */
	int64_t in[4];
	int64_t in_start; /* number of the first input element in the buffer */
	int64_t elements; /* room in each buffer */
};

static const struct layout layouts[] = {
	{0, {0}, {0}, {0}, 0, 1},
	{1, {17}, {1}, {1}, 0, 17},
	{1, {300000}, {1}, {1}, 0, 300000},
	{1, {300000}, {2}, {1}, 0, 600000},
	{1, {17}, {1}, {-1}, 16, 17},
	{1, {17}, {3}, {0}, 0, 60},
	{2, {33, 50}, {50, 1}, {1, 33}, 0, 1650},
	{2, {33, 50}, {60, 1}, {1, 40}, 3, 2400},
	{2, {33, 50}, {1, 33}, {50, 1}, 0, 1650},
	{2, {300, 310}, {310, 1}, {1, 300}, 0, 93000},
	{2, {64, 48}, {48, 1}, {1, 64}, 0, 3072},
	{2, {15, 17}, {20, 1}, {1, 18}, 5, 400},
	{3, {5, 33, 18}, {594, 18, 1}, {18, 90, 1}, 0, 2970},
	{3, {5, 33, 18}, {594, 18, 1}, {1, 90, 5}, 0, 2970},
	{4, {2, 3, 4, 5}, {60, 20, 5, 1}, {60, 1, 15, 3}, 0, 120},
	{4, {2, 3, 4, 5}, {60, 20, 5, 1}, {0, 20, -5, 1}, 15, 120},
};

static struct tn_operand operand(char *memory, const struct layout *layout, const int64_t *strides,
				 int64_t start, tn_dtype dtype)
{
	struct tn_operand made = {.buffer = (uint64_t)(uintptr_t)memory,
				  .offset = 64 + (uint64_t)start * tn_dtype_size(dtype),
				  .dtype = dtype,
				  .rank = layout->rank};
	memcpy(made.shape, layout->shape, sizeof(layout->shape));
	memcpy(made.strides, strides, sizeof(layout->shape));
	return made;
}

/* The element number of index number `i` (row-major) with these strides. */
static int64_t place(const struct layout *layout, const int64_t *strides, int64_t i)
{
	int64_t found = 0;
	for (uint32_t axis = layout->rank; axis-- > 0;) {
		found += i % layout->shape[axis] * strides[axis];
		i /= layout->shape[axis];
	}
	return found;
}

static int64_t count(const struct layout *layout)
{
	int64_t n = 1;
	for (uint32_t axis = 0; axis < layout->rank; axis++)
		n *= layout->shape[axis];
	return n;
}

static char *buffer(const struct layout *layout, size_t size, int filled)
{
	size_t bytes = (size_t)layout->elements * size + 128;
	char *memory = tn_mem_aligned(bytes, 64);
	for (size_t i = 0; i < bytes; i++)
		memory[i] = (char)(filled ? i * 7 + i / 251 : 0xa5);
	return memory;
}

/* The expected `out`, written element by element. */
static void check_bytes(const struct layout *layout, size_t size, const char *out,
			const char *(*source)(const struct layout *, const char *, size_t, int64_t),
			const char *in)
{
	char *expected = buffer(layout, size, 0);
	for (int64_t i = 0; i < count(layout); i++)
		memcpy(expected + 64 + (size_t)place(layout, layout->out, i) * size,
		       source(layout, in, size, i), size);
	assert_memory_equal(out, expected, (size_t)layout->elements * size + 128);
	tn_mem_free(expected);
}

static const char *copied(const struct layout *layout, const char *in, size_t size, int64_t i)
{
	return in + 64 + (size_t)(layout->in_start + place(layout, layout->in, i)) * size;
}

static const char *same(const struct layout *layout, const char *in, size_t size, int64_t i)
{
	(void)layout, (void)size, (void)i;
	return in;
}

static void check_copy(struct fixture *f, const struct layout *layout, tn_dtype dtype)
{
	size_t size = tn_dtype_size(dtype);
	char *in = buffer(layout, size, 1), *out = buffer(layout, size, 0);
	struct tn_copy_args args = {
		.call = {.struct_size = sizeof(args)},
		.input = operand(in, layout, layout->in, layout->in_start, dtype),
		.output = operand(out, layout, layout->out, 0, dtype)};
	assert_ok(f->copy->copy(f->device, &args));
	check_bytes(layout, size, out, copied, in);
	tn_mem_free(in);
	tn_mem_free(out);
}

static void check_fill(struct fixture *f, const struct layout *layout, tn_dtype dtype)
{
	size_t size = tn_dtype_size(dtype);
	char *in = buffer(layout, size, 1), *out = buffer(layout, size, 0);
	struct tn_fill_args args = {
		.call = {.struct_size = sizeof(args)},
		.output = operand(out, layout, layout->out, 0, dtype),
		.value = {.dtype = dtype, .on_device = 1, .buffer = (uint64_t)(uintptr_t)in}};
	assert_ok(f->copy->fill(f->device, &args));
	check_bytes(layout, size, out, same, in);
	tn_mem_free(in);
	tn_mem_free(out);
}

static void every_layout(struct fixture *f)
{
	for (size_t d = 0; d < sizeof(dtypes) / sizeof(*dtypes); d++)
		for (size_t l = 0; l < sizeof(layouts) / sizeof(*layouts); l++) {
			check_copy(f, &layouts[l], dtypes[d]);
			check_fill(f, &layouts[l], dtypes[d]);
		}
}

static void every_layout_is_copied_and_filled(void **unused)
{
	(void)unused;
	static const char *const levels[] = {"v2", "v3", "v4"};
	for (size_t level = 0; level < 3; level++) {
		struct fixture f = {.variant = levels[level]};
		fixture_open(&f, 2);
		every_layout(&f);
		fixture_close(&f);
	}
}

static void buffers_are_aligned_and_transfers_arrive(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 1);
	static const uint64_t sizes[] = {1, 1000, 5000000};
	for (size_t i = 0; i < 3; i++) {
		struct tn_alloc_args alloc = {.call = {.struct_size = sizeof(alloc)},
					      .size = sizes[i]};
		uint64_t buffer_handle = 0;
		assert_ok(f.devices->alloc(f.device, &alloc, &buffer_handle));
		assert_true(buffer_handle != 0 && buffer_handle % 256 == 0);
		char in = 42, out = 0;
		struct tn_transfer_args transfer = {.call = {.struct_size = sizeof(transfer)},
						    .buffer = buffer_handle,
						    .offset = sizes[i] - 1,
						    .size = 1,
						    .host = &in};
		assert_ok(f.devices->upload(f.device, &transfer));
		transfer.host = &out;
		assert_ok(f.devices->download(f.device, &transfer));
		assert_int_equal(out, 42);
		struct tn_free_args release = {.call = {.struct_size = sizeof(release)},
					       .buffer = buffer_handle};
		assert_ok(f.devices->free(f.device, &release));
	}
	struct tn_alloc_args alloc = {.call = {.struct_size = sizeof(alloc)},
				      .size = UINT64_MAX - 4096};
	uint64_t none = 0;
	assert_status(f.devices->alloc(f.device, &alloc, &none), TN_OUT_OF_MEMORY);
	assert_int_equal(none, 0);
	fixture_close(&f);
}

static void the_description_names_processor_and_kernels(void **unused)
{
	(void)unused;
	struct fixture f = {.variant = "v2"};
	fixture_open(&f, 1);
	assert_int_equal(f.description.kind, TN_DEVICE_CPU);
	assert_true(f.description.name[0] != 0);
	assert_true(f.description.memory_bytes > 0);
	assert_contains(f.description.note, "kernels for ");
	assert_string_equal(f.descriptor->name, "cpu");
	struct tn_device_description other = {.struct_size = sizeof(other)};
	assert_status(f.devices->describe(f.instance, 1, &other), TN_INVALID_ARGUMENT);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_layout_is_copied_and_filled),
		cmocka_unit_test(buffers_are_aligned_and_transfers_arrive),
		cmocka_unit_test(the_description_names_processor_and_kernels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
