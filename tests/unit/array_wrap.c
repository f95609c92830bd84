/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays over memory of the program: no copy is made, the memory is returned once and after its
 * last use, and memory that does not fit is refused.
 */
#include <tenon/autograd.h>
#include <tenon/memory.h>

#include "array_fixture.h"

/* The tests' own allocations do not fail. */
#define FAILING_MALLOC 0
#include "device/capture.h"
#include "device/pool_parts.h"
#include "dispatch/operand.h"
#include "failing_memory.h"

/* A caller's memory, and how often it was returned.  The tests' is static: what they leave is
 * returned when the fixture closes. */
struct lent {
	float elements[24];
	int returned;
};

static void take_back(void *user)
{
	((struct lent *)user)->returned++;
}

static void count_up(struct lent *lent)
{
	*lent = (struct lent){.returned = 0};
	for (int i = 0; i < 24; i++)
		lent->elements[i] = (float)i;
}

static tn_array *wrap_strided(struct fixture *f, struct lent *lent, int rank, const int64_t *shape,
			      const int64_t *strides, int64_t offset)
{
	struct tn_wrap_options wrap = tn_wrap_defaults();
	wrap.dtype = TN_F32;
	wrap.rank = rank;
	wrap.shape = shape;
	wrap.strides = strides;
	wrap.offset = offset;
	wrap.data = lent->elements;
	wrap.size_bytes = sizeof(lent->elements);
	wrap.release = take_back;
	wrap.user = lent;
	return tn_array_wrap(context_of(f), &wrap);
}

static tn_array *wrap(struct fixture *f, struct lent *lent)
{
	count_up(lent);
	return wrap_strided(f, lent, SHAPE(4, 6), NULL, 0);
}

/* ---- No copy ---------------------------------------------------------------------------------*/

static void both_sides_see_what_the_other_writes(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	tn_array *x = wrap(f, &lent);
	tn_array *row = tn_slice(x, 0, 1, 2, 1);
	assert_elements(row, 6, 7, 8, 9, 10, 11);
	lent.elements[6] = 50;
	assert_elements(row, 50, 7, 8, 9, 10, 11);
	assert_ok(tn_fill(row, 3));
	assert_close(lent.elements[5], 5, 0);
	assert_close(lent.elements[6], 3, 0);
	assert_close(lent.elements[11], 3, 0);
	assert_close(lent.elements[12], 12, 0);
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(f->context.runtime.device, &use);
	assert_int_equal(use.used, 0);
	tn_array_destroy(x);
	tn_array_destroy(row);
	assert_int_equal(lent.returned, 1);
}

static void strides_may_be_negative_or_0(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	count_up(&lent);
	/* Columns of the 4 x 6 memory, rows from the last one up. */
	tn_array *x = wrap_strided(f, &lent, SHAPE(2, 4), (const int64_t[]){2, -6}, 18);
	assert_elements(x, 18, 12, 6, 0, 20, 14, 8, 2);
	assert_int_equal(tn_array_strides(x)[1], -6);
	assert_elements(tn_copy(tn_transpose(x, NULL)), 18, 20, 12, 14, 6, 8, 0, 2);
	tn_array *same = wrap_strided(f, &lent, SHAPE(2, 3), (const int64_t[]){0, 0}, 23);
	assert_elements(tn_add(same, same), 46, 46, 46, 46, 46, 46);
	assert_status(tn_fill(same, 1), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "elements that share memory");
	/* The stride of an axis of one element is not read. */
	tn_array *column = wrap_strided(f, &lent, SHAPE(24, 1), (const int64_t[]){1, INT64_MIN}, 0);
	assert_true(column->contiguous);
	assert_close(lent.elements[23], 23, 0);
}

static void elements_need_only_their_own_alignment(void **state)
{
	struct fixture *f = *state;
	_Alignas(8) uint8_t bytes[64];
	for (int i = 0; i < 64; i++)
		bytes[i] = (uint8_t)i;
	for (int shift = 1; shift < 8; shift++) {
		struct tn_wrap_options options = tn_wrap_defaults();
		options.dtype = TN_U8;
		options.rank = 1;
		options.shape = (const int64_t[]){50};
		options.data = bytes + shift;
		options.size_bytes = 50;
		tn_array *x = tn_array_wrap(context_of(f), &options);
		double expected = 49 * 50 / 2 + 50 * shift;
		check_elements(tn_sum(x, TN_ALL_AXES, NULL, 0), 1, &expected, 0, __FILE__,
			       __LINE__);
	}
	struct tn_wrap_options options = tn_wrap_defaults();
	options.dtype = TN_I16;
	options.rank = 1;
	options.shape = (const int64_t[]){3};
	options.data = bytes + 1;
	options.size_bytes = 6;
	assert_null(tn_array_wrap(context_of(f), &options));
	assert_kept(f, TN_INVALID_ARGUMENT, "data: expected a multiple of 2, the size of i16");
}

static void read_only_memory_is_not_written(void **state)
{
	struct fixture *f = *state;
	static const float elements[3] = {1, 2, 3};
	struct tn_wrap_options options = tn_wrap_defaults();
	options.dtype = TN_F32;
	options.rank = 1;
	options.is_read_only = 1;
	options.shape = (const int64_t[]){3};
	options.data = (void *)(uintptr_t)elements;
	options.size_bytes = sizeof(elements);
	tn_array *x = tn_array_wrap(context_of(f), &options);
	tn_array *view = tn_slice(x, 0, 0, 2, 1);
	assert_elements(tn_add(x, x), 2, 4, 6);
	assert_status(tn_fill(view, 1), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "out: its memory was wrapped as read-only");
	assert_status(tn_add_into(x, x, x), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "read-only");
	assert_status(tn_assign_host(x, elements, sizeof(elements)), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "read-only");
	assert_ok(tn_fill(tn_copy(x), 1));
	assert_elements(x, 1, 2, 3);
}

/* Two wraps of the same memory are two storages, but overlap all the same.  They are longer than
 * the blocks in which the reference works. */
static void overlapping_wraps_are_read_before_they_are_written(void **state)
{
	enum { N = 9000, SHIFT = 3 };
	struct fixture *f = *state;
	static float elements[N + SHIFT];
	struct tn_wrap_options options = {.struct_size = sizeof(options),
					  .dtype = TN_F32,
					  .rank = 1,
					  .shape = (const int64_t[]){N},
					  .data = elements,
					  .size_bytes = N * sizeof(float)};
	tn_array *low = tn_array_wrap(context_of(f), &options);
	options.data = elements + SHIFT;
	tn_array *high = tn_array_wrap(context_of(f), &options);
	assert_true(tn_array_overlap(low, high) == TN_OVERLAP_PARTIAL);
	assert_true(tn_array_overlap(tn_slice(low, 0, 0, SHIFT, 1), high) == TN_OVERLAP_NONE);
	assert_true(tn_array_overlap(high, tn_slice(low, 0, 0, SHIFT + 1, 1)) ==
		    TN_OVERLAP_PARTIAL);
	for (int i = 0; i < N + SHIFT; i++)
		elements[i] = (float)i;
	assert_ok(tn_add_into(high, low, low));
	for (int i = 0; i < N + SHIFT; i++)
		assert_close(elements[i], i < SHIFT ? i : 2 * (i - SHIFT), 0);
	for (int i = 0; i < N + SHIFT; i++)
		elements[i] = (float)i;
	assert_ok(tn_assign(high, low));
	for (int i = SHIFT; i < N + SHIFT; i++)
		assert_close(elements[i], i - SHIFT, 0);
}

static void derivatives_flow_through(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	tn_array *x = wrap(f, &lent);
	tn_tape *tape = tn_tape_begin(context_of(f));
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_sum(tn_square(tn_slice(x, 0, 0, 1, 1)), TN_ALL_AXES, NULL, 0);
	tn_keep(x);
	tn_array_destroy(x);
	assert_ok(tn_tape_backward(tape, y, NULL));
	tn_array *dx = tn_slice(tn_tape_gradient(tape, x), 0, 0, 2, 1);
	assert_elements(dx, 0, 2, 4, 6, 8, 10, 0, 0, 0, 0, 0, 0);
	tn_tape_end(tape);
	tn_array_destroy(x);
}

/* ---- The end ---------------------------------------------------------------------------------*/

static void the_last_reference_returns_the_memory_once(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	assert_ok(tn_scope_begin(context_of(f)));
	tn_array *x = wrap(f, &lent);
	tn_array *view = tn_keep(tn_transpose(x, NULL));
	tn_array_destroy(x);
	assert_int_equal(lent.returned, 0);
	tn_scope_end(context_of(f), NULL);
	assert_int_equal(lent.returned, 0);
	assert_close(tn_array_size(view), 24, 0);
	tn_array_destroy(view);
	assert_int_equal(lent.returned, 1);
}

static void the_tape_keeps_the_memory(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	tn_array *x = wrap(f, &lent);
	tn_tape *tape = tn_tape_begin(context_of(f));
	tn_array *w = tn_ones(context_of(f), TN_F32, SHAPE(4, 6));
	assert_ok(tn_tape_watch(tape, w));
	tn_array *y = tn_sum(tn_multiply(x, w), TN_ALL_AXES, NULL, 0);
	tn_array_destroy(x);
	assert_int_equal(lent.returned, 0);
	assert_ok(tn_tape_backward(tape, y, NULL));
	assert_elements(tn_slice(tn_slice(tn_tape_gradient(tape, w), 0, 3, 4, 1), 1, 4, 6, 1), 22,
			23);
	tn_tape_end(tape);
	assert_int_equal(lent.returned, 1);
}

static void closing_returns_the_memory(void **state)
{
	struct fixture *f = NULL;
	static struct lent lent;
	(void)state;
	open_fixture((void **)&f);
	tn_array *x = wrap(f, &lent);
	tn_keep(tn_slice(x, 0, 0, 1, 1));
	close_fixture((void **)&f);
	assert_int_equal(lent.returned, 1);
}

/* ---- Devices that are not synchronous --------------------------------------------------------*/

/* Waiting changes the caller's memory, as queued work would; NULL: closing a device waits too. */
static struct lent *waited_for;

static tn_status sync_writes(void *device, const struct tn_sync_args *args)
{
	(void)device, (void)args;
	if (!waited_for)
		return TN_OK;
	assert_int_equal(waited_for->returned, 0);
	waited_for->elements[0] += 100;
	return TN_OK;
}

static void queued_work_is_waited_for(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	struct tn_device *device = add_device(f, "queueing", ALL_SLOTS, 0);
	device->synchronous = 0;
	f->backends[1].device.sync = sync_writes;
	f->context.runtime.device = device;
	tn_array *x = wrap(f, &lent);
	waited_for = &lent;
	tn_array *view = tn_slice(x, 0, 0, 1, 1);
	tn_array_destroy(x);
	assert_close(lent.elements[0], 0, 0);
	tn_array_destroy(view);
	assert_close(lent.elements[0], 100, 0);
	assert_int_equal(lent.returned, 1);
	/* A lost device is not waited for. */
	x = wrap(f, &lent);
	device->lost = TN_DEVICE_LOST;
	tn_array_destroy(x);
	assert_close(lent.elements[0], 0, 0);
	assert_int_equal(lent.returned, 1);
	device->lost = TN_OK;
	waited_for = NULL;
}

static tn_status end_capture(void *device, const struct tn_graph_args *args, void **graph)
{
	(void)args;
	*graph = device;
	return TN_OK;
}

/* During a capture the host cannot wait: the release is postponed to its end. */
static void a_capture_postpones_the_release(void **state)
{
	struct fixture *f = *state;
	static struct lent first, second;
	struct tn_device *device = add_device(f, "queueing", ALL_SLOTS, 0);
	struct tn_store *capture = tn_mem_zeroed(1, sizeof(struct tn_store));
	void *graph = NULL;
	device->synchronous = 0;
	f->backends[1].capture.capture_end = end_capture;
	f->backends[1].device.sync = sync_writes;
	f->context.runtime.device = device;
	tn_array *x = wrap(f, &first), *y = wrap(f, &second);
	waited_for = &first;
	device->store = capture;
	tn_array_destroy(x);
	tn_array_destroy(y);
	assert_int_equal(first.returned + second.returned, 0);
	assert_ok(tn_device_capture_end(device, &graph, &capture, NULL));
	assert_close(first.elements[0], 100, 0);
	assert_int_equal(first.returned, 1);
	assert_int_equal(second.returned, 1);
	tn_device_release_deferred(device);
	assert_int_equal(first.returned, 1);
	waited_for = NULL;
	tn_mem_free(capture);
}

/* ---- Failures --------------------------------------------------------------------------------*/

static void memory_that_does_not_hold_the_elements_is_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int32_t rank;
		int64_t shape[2], strides[2], offset;
		const char *words;
	} cases[] = {
		{2, {4, 6}, {6, 1}, 1, "at offset 1 has elements 1 to 24"},
		{2, {5, 5}, {5, 1}, 0, "96 bytes hold 24 elements of f32, but shape (5, 5)"},
		{1, {4}, {-1}, 2, "with strides (-1,) at offset 2 has elements -1 to 2"},
		{1, {1}, {1}, -1, "has elements -1 to -1"},
		{2, {2, 2}, {-12, 12}, 11, "has elements -1 to 23"},
		{2, {3, 3}, {INT64_MAX, 1}, 0, "are more than can be addressed"},
		{2, {2, 2}, {INT64_MAX, INT64_MAX}, 0, "are more than can be addressed"},
		{2, {2, 2}, {INT64_MIN, -1}, 0, "are more than can be addressed"},
		{2, {2, -2}, {1, 1}, 0, "shape[1]: expected 0 or more, found -2"},
	};
	static struct lent lent;
	count_up(&lent);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_null(wrap_strided(f, &lent, cases[i].rank, cases[i].shape, cases[i].strides,
					 cases[i].offset));
		assert_kept(f, TN_INVALID_ARGUMENT, cases[i].words);
	}
	assert_int_equal(lent.returned, 0);
	/* The outermost elements are inside. */
	assert_non_null(wrap_strided(f, &lent, SHAPE(2, 2), (const int64_t[]){-12, 11}, 12));
}

static void invalid_options_are_refused(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	struct tn_wrap_options good = {.struct_size = sizeof(good),
				       .dtype = TN_F32,
				       .rank = 1,
				       .shape = (const int64_t[]){24},
				       .data = lent.elements,
				       .size_bytes = sizeof(lent.elements),
				       .release = take_back,
				       .user = &lent};
	struct tn_wrap_options bad = good;
	count_up(&lent);
	bad.struct_size = 0;
	assert_null(tn_array_wrap(context_of(f), &bad));
	assert_kept(f, TN_INVALID_ARGUMENT, "struct tn_wrap_options");
	bad = good;
	bad.dtype = 0;
	assert_null(tn_array_wrap(context_of(f), &bad));
	assert_kept(f, TN_DTYPE, "dtype: 0 is not an element type");
	bad = good;
	bad.data = NULL;
	assert_null(tn_array_wrap(context_of(f), &bad));
	assert_kept(f, TN_INVALID_ARGUMENT, "data is NULL");
	bad = good;
	bad.size_bytes = UINT64_MAX - 7;
	assert_null(tn_array_wrap(context_of(f), &bad));
	assert_kept(f, TN_INVALID_ARGUMENT, "more than can be addressed");
	assert_null(tn_array_wrap(context_of(f), NULL));
	assert_kept(f, TN_DTYPE, "dtype");
	assert_null(tn_array_wrap(NULL, &good));
	assert_null(tn_array_import(NULL, &good));
	/* While an error is kept, nothing is done. */
	assert_null(tn_zeros(context_of(f), 0, 0, NULL));
	assert_null(tn_array_wrap(context_of(f), &good));
	assert_null(tn_array_import(f->context.runtime.device, &good));
	assert_kept(f, TN_DTYPE, "dtype");
	assert_int_equal(lent.returned, 0);
}

/* A failure leaves the memory with the caller, also when it comes after the storage was made. */
static void host_memory_runs_out(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	tn_array *x = NULL;
	int n = 0;
	for (; !x; n++) {
		memory_fails_at(n, 1);
		x = wrap(f, &lent);
		memory_works();
		if (!x)
			assert_kept(f, TN_OUT_OF_MEMORY, "no host memory for");
		assert_int_equal(lent.returned, 0);
	}
	assert_int_equal(n, 4);
	tn_array_destroy(x);
	assert_int_equal(lent.returned, 1);
}

static void an_empty_array_uses_no_memory(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	struct tn_wrap_options options = tn_wrap_defaults();
	options.dtype = TN_F32;
	options.rank = 2;
	options.shape = (const int64_t[]){0, 3};
	options.release = take_back;
	options.user = &lent;
	tn_array *x = tn_array_wrap(context_of(f), &options);
	assert_shape(x, 0, 3);
	assert_int_equal(lent.returned, 1);
	tn_array_destroy(x);
	assert_int_equal(lent.returned, 1);
}

static void a_device_that_takes_no_address_refuses_it(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	f->context.runtime.device = add_device(f, "far", MEMORY_ALONE, 1);
	assert_null(wrap(f, &lent));
	assert_kept(f, TN_UNSUPPORTED, "far:0 cannot use any address of host memory");
	struct tn_wrap_options options = tn_wrap_defaults();
	options.dtype = TN_F32;
	options.rank = 1;
	options.shape = (const int64_t[]){24};
	options.data = lent.elements;
	options.size_bytes = sizeof(lent.elements);
	options.release = take_back;
	options.user = &lent;
	assert_null(tn_array_import(f->context.runtime.device, &options));
	assert_kept(f, TN_UNSUPPORTED, "far:0: the backend cannot import memory (tenon.import/1)");
	tn_array *own = tn_zeros(context_of(f), TN_F32, 0, NULL);
	void *data;
	uint64_t offset;
	assert_status(tn_array_export(own, &data, &offset), TN_UNSUPPORTED);
	assert_kept(f, TN_UNSUPPORTED, "far:0: the backend does not give its memory away");
	assert_int_equal(lent.returned, 0);
}

/* ---- Import ----------------------------------------------------------------------------------*/

/* A backend that imports: how many handles live, and whether the memory was returned before. */
static struct {
	int live, releases;
	struct lent *lent;
	tn_status status;
} imports;

static tn_status import_memory(void *device, const struct tn_import_args *args, uint64_t *buffer)
{
	(void)device;
	if (imports.status)
		return imports.status;
	imports.live++;
	*buffer = args->pointer | FAR;
	return TN_OK;
}

static tn_status import_release(void *device, const struct tn_free_args *args)
{
	(void)device;
	assert_true(args->buffer == ((uint64_t)(uintptr_t)imports.lent->elements | FAR));
	assert_int_equal(imports.lent->returned, 0);
	imports.live--;
	imports.releases++;
	return TN_OK;
}

static tn_status export_memory(void *device, const struct tn_export_args *args, uint64_t *pointer)
{
	(void)device;
	*pointer = args->buffer & ~FAR;
	return imports.status;
}

static struct tn_device *add_importing(struct fixture *f, struct lent *lent)
{
	struct tn_device *device = add_device(f, "importing", MEMORY_ALONE, 1);
	struct tn_backend *backend = &f->backends[f->n_backends - 1];
	memset(&imports, 0, sizeof(imports));
	imports.lent = lent;
	backend->native[TN_SLOT_IMPORT_MEMORY] = 1;
	backend->native[TN_SLOT_IMPORT_RELEASE] = 1;
	backend->native[TN_SLOT_EXPORT_MEMORY] = 1;
	backend->import.import_memory = import_memory;
	backend->import.import_release = import_release;
	backend->import.export_memory = export_memory;
	count_up(lent);
	return device;
}

static tn_array *import(tn_device *device, struct lent *lent)
{
	struct tn_wrap_options options = tn_wrap_defaults();
	options.dtype = TN_F32;
	options.rank = 1;
	options.shape = (const int64_t[]){4};
	options.offset = 2;
	options.data = lent->elements;
	options.size_bytes = sizeof(lent->elements);
	options.release = take_back;
	options.user = lent;
	return tn_array_import(device, &options);
}

static void a_handle_ends_before_its_memory_is_returned(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	struct tn_device *device = add_importing(f, &lent);
	void *data = NULL;
	uint64_t offset = 0;
	assert_ok(tn_scope_begin(context_of(f)));
	tn_array *x = import(device, &lent);
	assert_int_equal(imports.live, 1);
	assert_elements(x, 2, 3, 4, 5);
	assert_ok(tn_array_export(tn_slice(x, 0, 1, 2, 1), &data, &offset));
	assert_ptr_equal(data, lent.elements);
	assert_int_equal(offset, 3 * sizeof(float));
	imports.status = TN_BACKEND_FAILURE;
	assert_status(tn_array_export(x, &data, &offset), TN_BACKEND_FAILURE);
	assert_kept(f, TN_BACKEND_FAILURE, "importing:0");
	assert_status(tn_array_export(x, NULL, &offset), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "data or offset_bytes is NULL");
	tn_scope_end(context_of(f), NULL);
	assert_int_equal(imports.releases, 1);
	assert_int_equal(lent.returned, 1);
}

static void an_import_that_fails_leaves_no_handle(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	struct tn_device *device = add_importing(f, &lent);
	tn_array *x = NULL;
	for (int n = 0; !x; n++) {
		memory_fails_at(n, 1);
		x = import(device, &lent);
		memory_works();
		tn_error_clear(context_of(f));
		assert_int_equal(imports.live, x != NULL);
		assert_int_equal(lent.returned, 0);
	}
	tn_array_destroy(x);
	assert_true(imports.releases > 1);
	assert_int_equal(lent.returned, 1);
	imports.status = TN_INVALID_ARGUMENT;
	assert_null(import(device, &lent));
	assert_kept(f, TN_INVALID_ARGUMENT, "importing:0");
	assert_int_equal(lent.returned, 1);
}

/* ---- Import and export on the host -----------------------------------------------------------*/

static void an_array_on_the_host_gives_its_address(void **state)
{
	struct fixture *f = *state;
	static struct lent lent;
	void *data = NULL;
	uint64_t offset = 0;
	tn_array *x = counted(f, 1, SHAPE(3, 4));
	assert_ok(tn_array_export(tn_slice(x, 0, 1, 3, 1), &data, &offset));
	assert_close(((float *)((char *)data + offset))[0], 5, 0);
	((float *)((char *)data + offset))[1] = 60;
	assert_elements(tn_slice(x, 0, 1, 2, 1), 5, 60, 7, 8);
	count_up(&lent);
	struct tn_wrap_options options = tn_wrap_defaults();
	options.dtype = TN_F32;
	options.rank = 1;
	options.shape = (const int64_t[]){2};
	options.offset = 3;
	options.data = lent.elements;
	options.size_bytes = sizeof(lent.elements);
	options.release = take_back;
	options.user = &lent;
	tn_array *y = tn_array_import(f->context.runtime.reference, &options);
	assert_elements(y, 3, 4);
	assert_ok(tn_array_export(y, &data, &offset));
	assert_ptr_equal((char *)data + offset, &lent.elements[3]);
	tn_array_destroy(y);
	assert_int_equal(lent.returned, 1);
}

/* ---- The CPU backend -------------------------------------------------------------------------*/

/* Every column of a matrix, from every address that a float can have in a line of the cache. */
static void the_cpu_backend_takes_any_address(void **state)
{
	enum { ROWS = 70, COLUMNS = 40, SHIFTS = 16 };
	static _Alignas(64) float elements[ROWS * COLUMNS + SHIFTS];
	const char *build = getenv("TENON_BUILD");
	char path[4096], *file = NULL;
	tn_context *context = NULL;
	(void)state;
	snprintf(path, sizeof(path), "%s/.libs/backend_cpu.so", build ? build : ".");
	file = realpath(path, NULL);
	if (!file)
		skip();
	unsetenv("TENON_BACKEND");
	setenv("TENON_PLUGIN_PATH_ONLY", "1", 1);
	struct tn_context_options options = tn_context_defaults();
	options.backend = "cpu!";
	options.plugin_paths = (const char *const[]){file};
	options.n_plugin_paths = 1;
	assert_ok(tn_context_open(&options, &context, NULL));
	for (int shift = 0; shift < SHIFTS; shift++) {
		float sums[COLUMNS], product[COLUMNS];
		for (int i = 0; i < ROWS * COLUMNS; i++)
			elements[shift + i] = (float)(i % 7);
		assert_ok(tn_scope_begin(context));
		struct tn_wrap_options wrap_options = tn_wrap_defaults();
		wrap_options.dtype = TN_F32;
		wrap_options.rank = 2;
		wrap_options.shape = (const int64_t[]){ROWS, COLUMNS};
		wrap_options.data = elements + shift;
		wrap_options.size_bytes = ROWS * COLUMNS * sizeof(float);
		tn_array *x = tn_array_wrap(context, &wrap_options);
		assert_ok(tn_to_host(tn_sum(x, 1, (int[]){0}, 0), sums, sizeof(sums)));
		tn_array *one = tn_ones(context, TN_F32, SHAPE(ROWS));
		assert_ok(tn_to_host(tn_matmul(one, x), product, sizeof(product)));
		for (int column = 0; column < COLUMNS; column++) {
			float sum = 0;
			for (int row = 0; row < ROWS; row++)
				sum += (float)((row * COLUMNS + column) % 7);
			assert_close(sums[column], sum, 0);
			assert_close(product[column], sum, 0);
		}
		assert_ok(tn_add_into(x, x, x));
		for (int i = 0; i < ROWS * COLUMNS; i++)
			assert_close(elements[shift + i], 2 * (i % 7), 0);
		tn_scope_end(context, NULL);
	}
	tn_context_close(context);
	free(file);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(both_sides_see_what_the_other_writes),
		TEST(strides_may_be_negative_or_0),
		TEST(elements_need_only_their_own_alignment),
		TEST(read_only_memory_is_not_written),
		TEST(overlapping_wraps_are_read_before_they_are_written),
		TEST(derivatives_flow_through),
		TEST(the_last_reference_returns_the_memory_once),
		TEST(the_tape_keeps_the_memory),
		cmocka_unit_test(closing_returns_the_memory),
		TEST(queued_work_is_waited_for),
		TEST(a_capture_postpones_the_release),
		TEST(memory_that_does_not_hold_the_elements_is_refused),
		TEST(invalid_options_are_refused),
		TEST(host_memory_runs_out),
		TEST(an_empty_array_uses_no_memory),
		TEST(a_device_that_takes_no_address_refuses_it),
		TEST(a_handle_ends_before_its_memory_is_returned),
		TEST(an_import_that_fails_leaves_no_handle),
		TEST(an_array_on_the_host_gives_its_address),
		cmocka_unit_test(the_cpu_backend_takes_any_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
