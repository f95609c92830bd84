/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * DLPack: arrays of others without a copy, arrays for others, one call of each deleter, and tensors
 * that lie.
 */
#include <pthread.h>

#include "nn_backends.h"

/* ---- A library of others ---------------------------------------------------------------------*/

/* Six numbers as a tensor of 2 x 3, and how often it was deleted. */
struct other {
	struct tn_dlpack_managed managed;
	struct tn_dlpack_managed_unversioned unversioned;
	float numbers[6];
	int64_t shape[20], strides[20];
	int deleted;
};

static void delete_other(struct tn_dlpack_managed *managed)
{
	((struct other *)managed->manager_ctx)->deleted++;
}

static void delete_unversioned(struct tn_dlpack_managed_unversioned *managed)
{
	((struct other *)managed->manager_ctx)->deleted++;
}

static void make_other(struct other *other)
{
	*other = (struct other){.numbers = {1, 2, 3, 4, 5, 6}, .shape = {2, 3}, .strides = {3, 1}};
	const struct tn_dlpack_tensor tensor = {.data = other->numbers,
						.device = {TN_DLPACK_CPU, 0},
						.ndim = 2,
						.dtype = {TN_DLPACK_FLOAT, 32, 1},
						.shape = other->shape,
						.strides = other->strides};
	other->managed.version = (struct tn_dlpack_version){1, 1};
	other->managed.manager_ctx = other->unversioned.manager_ctx = other;
	other->managed.deleter = delete_other;
	other->unversioned.deleter = delete_unversioned;
	other->managed.tensor = other->unversioned.tensor = tensor;
}

static void check_numbers(const tn_array *a, int n, const float *expected)
{
	float found[64];
	assert_non_null(a);
	assert_int_equal(tn_array_size(a), n);
	assert_ok(tn_to_host(a, found, (size_t)n * sizeof(float)));
	for (int i = 0; i < n; i++)
		assert_true(found[i] == expected[i]);
}

#define assert_numbers(a, ...)                                                                     \
	check_numbers((a), (int)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)),                  \
		      (const float[]){__VA_ARGS__})

static uint64_t used(tn_context *context)
{
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	assert_ok(tn_synchronize(context));
	tn_device_get_memory_use(tn_device_current(context), &use);
	return use.used;
}

/* The backends whose devices take any address, and the mock, whose memory is far. */
static const char *const near[] = {"reference", "cpu"};
static const char *const all[] = {"reference", "cpu", "mock"};
#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

/* ---- In --------------------------------------------------------------------------------------*/

static void memory_of_others_is_used_in_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(near); i++) {
		static struct other other;
		tn_context *context = open_backend(near[i]);
		make_other(&other);
		tn_array *x = tn_from_dlpack(context, &other.managed, NULL);
		assert_numbers(x, 1, 2, 3, 4, 5, 6);
		assert_int_equal(tn_array_shape(x)[0], 2);
		assert_ok(tn_fill(tn_slice(x, 0, 1, 2, 1), 9));
		assert_true(other.numbers[2] == 3 && other.numbers[3] == 9);
		other.numbers[0] = 7;
		assert_numbers(x, 7, 2, 3, 9, 9, 9);
		tn_array *view = tn_keep(tn_transpose(x, NULL));
		tn_array_destroy(x);
		assert_int_equal(other.deleted, 0);
		tn_context_close(context);
		(void)view;
		assert_int_equal(other.deleted, 1);
	}
}

static void strides_and_offsets_are_taken_as_they_are(void **state)
{
	(void)state;
	tn_context *context = open_backend("cpu");
	static struct other other;
	make_other(&other);
	/* Rows and columns backwards, from the last element on. */
	other.strides[0] = -3;
	other.strides[1] = -1;
	other.managed.tensor.byte_offset = 5 * sizeof(float);
	assert_numbers(tn_from_dlpack(context, &other.managed, NULL), 6, 5, 4, 3, 2, 1);
	other.strides[0] = 0;
	other.strides[1] = 2;
	other.managed.tensor.byte_offset = sizeof(float);
	assert_numbers(tn_from_dlpack(context, &other.managed, NULL), 2, 4, 6, 2, 4, 6);
	/* The stride of an axis of length 1 is not read. */
	other.shape[0] = 1;
	other.strides[0] = INT64_MIN;
	assert_numbers(tn_from_dlpack(context, &other.managed, NULL), 2, 4, 6);
	/* Compact, as old producers say it. */
	make_other(&other);
	other.managed.tensor.strides = other.unversioned.tensor.strides = NULL;
	assert_numbers(tn_from_dlpack(context, &other.managed, NULL), 1, 2, 3, 4, 5, 6);
	assert_numbers(tn_from_dlpack_unversioned(context, &other.unversioned, NULL), 1, 2, 3, 4, 5,
		       6);
	/* No axes. */
	other.managed.tensor.ndim = 0;
	other.managed.tensor.shape = NULL;
	assert_numbers(tn_from_dlpack(context, &other.managed, NULL), 1);
	tn_context_close(context);
	assert_int_equal(other.deleted, 6);
}

static void every_dtype_has_its_code(void **state)
{
	tn_context *context = open_backend("reference");
	(void)state;
	for (tn_dtype dtype = TN_BOOL; dtype < TN_DTYPES; dtype++) {
		tn_array *x = tn_zeros(context, dtype, 1, (int64_t[]){3});
		struct tn_dlpack_managed *managed = tn_to_dlpack(x, NULL);
		assert_non_null(managed);
		assert_int_equal(managed->tensor.dtype.bits, 8 * tn_dtype_size(dtype));
		assert_int_equal(managed->tensor.dtype.lanes, 1);
		tn_array *y = tn_from_dlpack(context, managed, NULL);
		assert_non_null(y);
		assert_int_equal(tn_array_dtype(y), dtype);
		tn_array_destroy(x);
		tn_array_destroy(y);
	}
	assert_int_equal(used(context), 0);
	tn_context_close(context);
}

static void read_only_memory_is_not_written(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	static struct other other;
	make_other(&other);
	other.managed.flags = TN_DLPACK_READ_ONLY;
	tn_array *x = tn_from_dlpack(context, &other.managed, NULL);
	assert_numbers(tn_add(x, x), 2, 4, 6, 8, 10, 12);
	assert_int_equal(tn_fill(x, 1), TN_INVALID_ARGUMENT);
	assert_kept(context, TN_INVALID_ARGUMENT, "read-only");
	/* It stays read-only for the next consumer, unless that one gets a copy. */
	struct tn_dlpack_managed *managed = tn_to_dlpack(x, NULL);
	assert_int_equal(managed->flags, TN_DLPACK_READ_ONLY);
	assert_ptr_equal(managed->tensor.data, other.numbers);
	managed->deleter(managed);
	assert_null(tn_to_dlpack_unversioned(x, NULL));
	assert_kept(context, TN_UNSUPPORTED, "read-only, which DLPack before 1.0 cannot say");
	struct tn_to_dlpack_options to_dlpack = tn_to_dlpack_defaults();
	to_dlpack.copy = TN_COPY_ALWAYS;
	struct tn_dlpack_managed_unversioned *old = tn_to_dlpack_unversioned(x, &to_dlpack);
	assert_true(((float *)old->tensor.data)[5] == 6);
	old->deleter(old);
	tn_context_close(context);
	assert_int_equal(other.deleted, 1);
}

static void a_copy_returns_the_memory_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(all); i++) {
		tn_context *context = open_backend(all[i]);
		static struct other other;
		make_other(&other);
		other.strides[0] = 1;
		other.strides[1] = 2;
		struct tn_from_dlpack_options from_dlpack = tn_from_dlpack_defaults();
		from_dlpack.copy = TN_COPY_ALWAYS;
		from_dlpack.device = tn_device_current(context);
		tn_array *x = tn_from_dlpack(context, &other.managed, &from_dlpack);
		assert_int_equal(other.deleted, 1);
		memset(other.numbers, 0, sizeof(other.numbers));
		assert_numbers(x, 1, 3, 5, 2, 4, 6);
		assert_ptr_equal(tn_array_device(x), tn_device_current(context));
		tn_context_close(context);
		assert_int_equal(other.deleted, 1);
	}
}

static void a_device_that_cannot_use_the_memory_gets_a_copy(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_device *mock = tn_device_current(context);
	static struct other other;
	make_other(&other);
	struct tn_from_dlpack_options options = {
		.struct_size = sizeof(options), .device = mock, .copy = TN_COPY_NEVER};
	assert_null(tn_from_dlpack(context, &other.managed, &options));
	assert_kept(context, TN_UNSUPPORTED,
		    "copy: mock:0 cannot use memory of DLPack's type 1 (CPU) without a copy");
	assert_int_equal(other.deleted, 0);
	options.copy = TN_COPY_IF_NEEDED;
	tn_array *x = tn_from_dlpack(context, &other.managed, &options);
	assert_numbers(x, 1, 2, 3, 4, 5, 6);
	assert_ptr_equal(tn_array_device(x), mock);
	assert_int_equal(other.deleted, 1);
	/* Without a device of the caller's: where the memory is, beside the mock. */
	make_other(&other);
	x = tn_from_dlpack(context, &other.managed, NULL);
	assert_string_equal(tn_device_name(tn_array_device(x)), "reference:0");
	assert_int_equal(other.deleted, 0);
	tn_context_close(context);
	assert_int_equal(other.deleted, 1);
}

/* ---- Tensors that lie ------------------------------------------------------------------------*/

struct lie {
	const char *words;
	tn_status status;
	void (*tell)(struct other *other);
};

static void no_data(struct other *o)
{
	o->managed.tensor.data = NULL;
}
static void odd_data(struct other *o)
{
	o->managed.tensor.byte_offset = 2;
}
static void negative(struct other *o)
{
	o->shape[1] = -3;
}
static void huge(struct other *o)
{
	o->shape[0] = o->shape[1] = INT64_MAX / 2;
}
static void far_strides(struct other *o)
{
	o->strides[0] = INT64_MAX;
}
static void low_strides(struct other *o)
{
	o->strides[0] = INT64_MIN;
}
static void far_offset(struct other *o)
{
	o->managed.tensor.byte_offset = UINT64_MAX - 8;
}
static void below_zero(struct other *o)
{
	o->strides[0] = -(INT64_MAX / 8);
}
static void many_axes(struct other *o)
{
	o->managed.tensor.ndim = 17;
}
static void few_axes(struct other *o)
{
	o->managed.tensor.ndim = -1;
}
static void most_axes(struct other *o)
{
	o->managed.tensor.ndim = INT32_MAX;
}
static void no_shape(struct other *o)
{
	o->managed.tensor.shape = NULL;
}
static void new_version(struct other *o)
{
	o->managed.version.major = 2;
}
static void vectors(struct other *o)
{
	o->managed.tensor.dtype.lanes = 4;
}
static void no_lanes(struct other *o)
{
	o->managed.tensor.dtype.lanes = 0;
}
static void unknown_code(struct other *o)
{
	o->managed.tensor.dtype.code = 10;
}
static void odd_bits(struct other *o)
{
	o->managed.tensor.dtype.bits = 24;
}
static void far_device(struct other *o)
{
	o->managed.tensor.device.type = 10;
}
static void no_device(struct other *o)
{
	o->managed.tensor.device.type = -5;
}
static void cuda_device(struct other *o)
{
	o->managed.tensor.device = (struct tn_dlpack_device){TN_DLPACK_CUDA, 3};
}
static void no_strides(struct other *o)
{
	o->managed.version.minor = 2;
	o->managed.tensor.strides = NULL;
}

static void tensors_that_lie_are_refused(void **state)
{
	static const struct lie lies[] = {
		{"data is NULL, and shape (2, 3) has elements", TN_INVALID_ARGUMENT, no_data},
		{"data: expected a multiple of 4", TN_INVALID_ARGUMENT, odd_data},
		{"shape[1]: expected 0 or more, found -3", TN_INVALID_ARGUMENT, negative},
		{"has more bytes than can be addressed", TN_LIMIT, huge},
		{"is more than can be addressed", TN_LIMIT, far_strides},
		{"is more than can be addressed", TN_LIMIT, low_strides},
		{"at byte_offset 18446744073709551607 is more", TN_LIMIT, far_offset},
		{"is more than can be addressed", TN_LIMIT, below_zero},
		{"ndim: expected 0 to 16, found 17", TN_LIMIT, many_axes},
		{"ndim: expected 0 to 16, found -1", TN_INVALID_ARGUMENT, few_axes},
		{"ndim: expected 0 to 16, found 2147483647", TN_LIMIT, most_axes},
		{"shape is NULL", TN_INVALID_ARGUMENT, no_shape},
		{"version: expected 1, found 2.1", TN_UNSUPPORTED, new_version},
		{"expected elements of one lane, found 4 lanes", TN_UNSUPPORTED, vectors},
		{"expected elements of one lane, found 0 lanes", TN_UNSUPPORTED, no_lanes},
		{"DLPack's code 10 with 32 bits", TN_UNSUPPORTED, unknown_code},
		{"DLPack's code 2 with 24 bits", TN_UNSUPPORTED, odd_bits},
		{"none for DLPack's type 10 (ROCm), number 0", TN_DEVICE, far_device},
		{"none for DLPack's type -5 (unknown), number 0", TN_DEVICE, no_device},
		{"none for DLPack's type 2 (CUDA), number 3", TN_DEVICE, cuda_device},
		{"strides is NULL, which DLPack does not allow", TN_INVALID_ARGUMENT, no_strides},
	};
	tn_context *context = open_backend("reference");
	(void)state;
	for (size_t i = 0; i < N_OF(lies); i++) {
		struct other other;
		make_other(&other);
		lies[i].tell(&other);
		assert_null(tn_from_dlpack(context, &other.managed, NULL));
		assert_kept(context, lies[i].status, lies[i].words);
		assert_int_equal(other.deleted, 0);
	}
	assert_null(tn_from_dlpack(context, NULL, NULL));
	assert_kept(context, TN_INVALID_ARGUMENT, "managed is NULL");
	assert_null(tn_from_dlpack_unversioned(context, NULL, NULL));
	assert_kept(context, TN_INVALID_ARGUMENT, "managed is NULL");
	tn_context_close(context);
}

static void empty_tensors_need_no_memory(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	static struct other other;
	make_other(&other);
	other.shape[0] = 0;
	other.managed.tensor.data = NULL;
	tn_array *x = tn_from_dlpack(context, &other.managed, NULL);
	assert_int_equal(tn_array_size(x), 0);
	assert_int_equal(other.deleted, 1);
	struct tn_dlpack_managed *managed = tn_to_dlpack(x, NULL);
	assert_int_equal(managed->tensor.shape[0], 0);
	managed->deleter(managed);
	tn_context_close(context);
	assert_int_equal(other.deleted, 1);
}

/* ---- Out -------------------------------------------------------------------------------------*/

static void an_array_is_lent_without_a_copy(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(near); i++) {
		tn_context *context = open_backend(near[i]);
		tn_array *x = tn_from_host(context, TN_F32, 2, (int64_t[]){2, 3},
					   (float[]){1, 2, 3, 4, 5, 6});
		tn_array *slice = tn_slice(x, 1, 1, 3, 1), *view = tn_transpose(slice, NULL);
		struct tn_dlpack_managed *managed = tn_to_dlpack(view, NULL);
		const struct tn_dlpack_tensor *tensor = &managed->tensor;
		float *data = tensor->data;
		assert_int_equal(managed->version.major, 1);
		assert_int_equal(managed->flags, 0);
		assert_int_equal(tensor->device.type, TN_DLPACK_CPU);
		assert_int_equal(tensor->ndim, 2);
		assert_int_equal(tensor->shape[0], 2);
		assert_int_equal(tensor->strides[0], 1);
		assert_int_equal(tensor->strides[1], 3);
		assert_true(data[tensor->byte_offset] == 2 && data[3] == 5);
		data[3] = 50;
		assert_numbers(x, 1, 2, 3, 4, 50, 6);
		tn_array_destroy(view);
		tn_array_destroy(slice);
		tn_array_destroy(x);
		assert_true(used(context) > 0);
		assert_true(data[3] == 50);
		managed->deleter(managed);
		assert_int_equal(used(context), 0);
		tn_context_close(context);
	}
}

static void far_memory_is_copied_to_the_host(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	struct tn_dlpack_device place = {7, 7};
	tn_array *x = tn_arange(context, TN_F32, 0, 5, 1);
	assert_int_equal(tn_dlpack_device_of(x, &place), TN_UNSUPPORTED);
	assert_int_equal(place.type, 7);
	assert_null(tn_to_dlpack(x, NULL));
	assert_kept(context, TN_UNSUPPORTED, "DLPack has no type for the memory of mock:0");
	struct tn_to_dlpack_options to_dlpack = tn_to_dlpack_defaults();
	to_dlpack.on_host = 1;
	to_dlpack.copy = TN_COPY_NEVER;
	assert_null(tn_to_dlpack(x, &to_dlpack));
	assert_kept(context, TN_UNSUPPORTED, "the host cannot read memory of mock:0");
	to_dlpack = tn_to_dlpack_defaults();
	to_dlpack.on_host = 1;
	struct tn_dlpack_managed *managed = tn_to_dlpack(x, &to_dlpack);
	assert_int_equal(managed->flags, TN_DLPACK_COPIED);
	assert_int_equal(managed->tensor.device.type, TN_DLPACK_CPU);
	assert_true(((float *)managed->tensor.data)[4] == 4);
	managed->deleter(managed);
	tn_context_close(context);
}

static void what_a_tape_follows_is_only_copied(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){2});
	assert_ok(tn_tape_watch(tape, x));
	assert_null(tn_to_dlpack(x, NULL));
	assert_kept(context, TN_STATE, "a tape is recording");
	struct tn_to_dlpack_options to_dlpack = tn_to_dlpack_defaults();
	to_dlpack.copy = TN_COPY_ALWAYS;
	struct tn_dlpack_managed *managed = tn_to_dlpack(x, &to_dlpack);
	assert_int_equal(managed->flags, TN_DLPACK_COPIED);
	managed->deleter(managed);
	tn_tape_end(tape);
	tn_context_close(context);
}

/* ---- The end ---------------------------------------------------------------------------------*/

static void *call_deleter(void *managed)
{
	((struct tn_dlpack_managed *)managed)->deleter(managed);
	return NULL;
}

static void deleters_are_called_from_any_thread(void **state)
{
	enum { ROUNDS = 200 };
	tn_context *context = open_backend("cpu");
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t thread;
		tn_array *x = tn_full(context, TN_F32, 1, (int64_t[]){1000}, i);
		struct tn_dlpack_managed *managed = tn_to_dlpack(x, NULL);
		tn_array_destroy(x);
		assert_int_equal(pthread_create(&thread, NULL, call_deleter, managed), 0);
		for (int j = 0; j < 5; j++)
			tn_array_destroy(tn_ones(context, TN_F32, 1, (int64_t[]){1000 + 4000 * j}));
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	assert_int_equal(used(context), 0);
	tn_context_close(context);
}

static void memory_outlives_its_context(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(all); i++) {
		tn_context *context = open_backend(all[i]);
		struct tn_dlpack_managed *managed[2];
		for (int j = 0; j < 2; j++) {
			struct tn_to_dlpack_options to_dlpack = tn_to_dlpack_defaults();
			to_dlpack.on_host = 1;
			managed[j] = tn_to_dlpack(
				tn_full(context, TN_F32, 1, (int64_t[]){3}, 5 + j), &to_dlpack);
		}
		tn_context_close(context);
		assert_true(((float *)managed[0]->tensor.data)[2] == 5);
		managed[0]->deleter(managed[0]);
		assert_true(((float *)managed[1]->tensor.data)[2] == 6);
		managed[1]->deleter(managed[1]);
	}
}

static void count_message(void *user, int level, const char *subsystem, const char *text,
			  size_t length)
{
	(void)level, (void)subsystem, (void)text, (void)length;
	++*(int *)user;
}

static void count_event(void *user, const struct tn_memory_event *event)
{
	(void)event;
	++*(int *)user;
}

/* The program's callbacks end with its context, not with the memory. */
static void callbacks_end_with_the_context(void **state)
{
	(void)state;
	int messages = 0, events = 0;
	tn_context *context = NULL;
	setenv("TENON_LOG", "debug", 1);
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	options.log = count_message;
	options.log_user = &messages;
	assert_ok(tn_context_open(&options, &context, NULL));
	unsetenv("TENON_LOG");
	tn_memory_set_hook(context, count_event, &events);
	struct tn_dlpack_managed *managed =
		tn_to_dlpack(tn_ones(context, TN_F32, 1, (int64_t[]){100}), NULL);
	tn_context_close(context);
	assert_true(messages > 0 && events > 0);
	messages = events = 0;
	managed->deleter(managed);
	assert_int_equal(messages + events, 0);
}

/* From one context to another and back: the same memory all the way. */
static void contexts_exchange_arrays(void **state)
{
	(void)state;
	tn_context *a = open_backend("reference"), *b = open_backend("cpu");
	tn_array *x = tn_full(a, TN_F32, 1, (int64_t[]){4}, 3);
	tn_array *y = tn_from_dlpack(b, tn_to_dlpack(x, NULL), NULL);
	tn_array *z = tn_from_dlpack(a, tn_to_dlpack(y, NULL), NULL);
	tn_array_destroy(x);
	assert_ok(tn_fill(z, 8));
	assert_numbers(y, 8, 8, 8, 8);
	tn_context_close(a);
	assert_numbers(y, 8, 8, 8, 8);
	tn_context_close(b);
}

static void options_out_of_range_are_refused(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	static struct other other;
	make_other(&other);
	tn_array *x = tn_ones(context, TN_F32, 0, NULL);
	struct tn_to_dlpack_options to_dlpack = tn_to_dlpack_defaults();
	to_dlpack.copy = 3;
	assert_null(tn_to_dlpack(x, &to_dlpack));
	assert_kept(context, TN_INVALID_ARGUMENT, "copy: expected TN_COPY_IF_NEEDED (0)");
	to_dlpack = tn_to_dlpack_defaults();
	to_dlpack.stream = -2;
	assert_null(tn_to_dlpack(x, &to_dlpack));
	assert_kept(context, TN_INVALID_ARGUMENT, "stream: expected -1 or more, found -2");
	struct tn_from_dlpack_options from_dlpack = tn_from_dlpack_defaults();
	from_dlpack.copy = 3;
	assert_null(tn_from_dlpack(context, &other.managed, &from_dlpack));
	assert_kept(context, TN_INVALID_ARGUMENT, "copy: expected TN_COPY_IF_NEEDED (0)");
	tn_context *second = open_backend("reference");
	from_dlpack = tn_from_dlpack_defaults();
	from_dlpack.device = tn_device_current(second);
	assert_null(tn_from_dlpack(context, &other.managed, &from_dlpack));
	assert_kept(context, TN_DEVICE, "device: reference:0 belongs to another context");
	assert_int_equal(other.deleted, 0);
	assert_null(tn_to_dlpack(NULL, NULL));
	assert_null(tn_from_dlpack(NULL, &other.managed, NULL));
	tn_context_close(second);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_of_others_is_used_in_place),
		cmocka_unit_test(strides_and_offsets_are_taken_as_they_are),
		cmocka_unit_test(every_dtype_has_its_code),
		cmocka_unit_test(read_only_memory_is_not_written),
		cmocka_unit_test(a_copy_returns_the_memory_at_once),
		cmocka_unit_test(a_device_that_cannot_use_the_memory_gets_a_copy),
		cmocka_unit_test(tensors_that_lie_are_refused),
		cmocka_unit_test(empty_tensors_need_no_memory),
		cmocka_unit_test(an_array_is_lent_without_a_copy),
		cmocka_unit_test(far_memory_is_copied_to_the_host),
		cmocka_unit_test(what_a_tape_follows_is_only_copied),
		cmocka_unit_test(deleters_are_called_from_any_thread),
		cmocka_unit_test(memory_outlives_its_context),
		cmocka_unit_test(callbacks_end_with_the_context),
		cmocka_unit_test(contexts_exchange_arrays),
		cmocka_unit_test(options_out_of_range_are_refused),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
