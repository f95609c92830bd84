/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays on the device, with an image on the host of the expected bytes of the whole buffer.
 */
#include "conform.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program/cast.h"
#include "sweep.h"

enum { SENTINEL = 0xa5, GUARD = 64 };

const char *const layout_names[ALL_LAYOUTS] = {
	"compact",   "reversed",   "spaced", "shifted",       "backward",
	"broadcast", "overlapped", "random", "channels last",
};

uint64_t shape_count(uint32_t rank, const int64_t *shape)
{
	uint64_t n = 1;
	for (uint32_t axis = 0; axis < rank; axis++)
		n *= (uint64_t)shape[axis];
	return n;
}

void shape_index(uint32_t rank, const int64_t *shape, uint64_t i, int64_t *index)
{
	for (uint32_t axis = rank; axis-- > 0;) {
		index[axis] = (int64_t)(i % (uint64_t)shape[axis]);
		i /= (uint64_t)shape[axis];
	}
}

/* Compact strides, growing from the last axis to the first or in reverse. */
static void nested_strides(struct tn_operand *o, int64_t innermost, int64_t gap, int reversed)
{
	int64_t stride = innermost;
	for (uint32_t i = 0; i < o->rank; i++) {
		uint32_t axis = reversed ? i : o->rank - 1 - i;
		o->strides[axis] = stride;
		stride = stride * o->shape[axis] + gap;
	}
}

/* Axes nested in any order, with gaps.  For inputs some strides become negative or 0, and some
 * windows overlap. */
static void random_strides(struct kit *kit, struct tn_operand *o, enum role role)
{
	uint32_t order[TN_MAX_RANK];
	int64_t stride = kit_random(kit) % 3 ? 1 : 3;
	for (uint32_t i = 0; i < o->rank; i++) {
		uint32_t j = (uint32_t)(kit_random(kit) % (i + 1));
		order[i] = order[j];
		order[j] = i;
	}
	for (uint32_t i = 0; i < o->rank; i++) {
		uint32_t axis = order[i];
		unsigned kind = (unsigned)(kit_random(kit) % 8);
		o->strides[axis] = stride;
		if (role == INPUT && kind == 0)
			o->strides[axis] = 0;
		else if (role == INPUT && kind == 1)
			o->strides[axis] = 1;
		else if (role == INPUT && kind < 4)
			o->strides[axis] = -stride;
		stride = stride * o->shape[axis] + (kind == 5 ? 2 : 0);
	}
}

static void channels_last_strides(struct tn_operand *o)
{
	int64_t stride = o->shape[1];
	o->strides[1] = 1;
	for (uint32_t axis = o->rank; axis-- > 0;) {
		if (axis == 1)
			continue;
		o->strides[axis] = stride;
		stride *= o->shape[axis];
	}
}

static void set_strides(struct kit *kit, struct tn_operand *o, enum role role, enum layout layout)
{
	if (layout == RANDOM)
		return random_strides(kit, o, role);
	if (layout == CHANNELS_LAST && o->rank > 2)
		return channels_last_strides(o);
	nested_strides(o, layout == SPACED ? 3 : 1, layout == SPACED ? 5 : 0, layout == REVERSED);
	for (uint32_t axis = 0; axis < o->rank; axis++) {
		if (layout == BACKWARD)
			o->strides[axis] = -o->strides[axis];
		else if (layout == BROADCAST && (o->rank - axis) % 2)
			o->strides[axis] = 0;
		else if (layout == OVERLAPPED)
			o->strides[axis] = 1;
	}
}

/* Counts the elements before and after the one with index 0. */
static void reach(const struct tn_operand *o, int64_t *before, int64_t *after)
{
	*before = *after = 0;
	for (uint32_t axis = 0; axis < o->rank; axis++) {
		int64_t distance = (o->shape[axis] - 1) * o->strides[axis];
		if (distance < 0)
			*before -= distance;
		else
			*after += distance;
	}
}

static void *checked(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "the kit is out of memory\n");
	exit(1);
}

double *numbers(size_t n)
{
	return checked(calloc(n ? n : 1, sizeof(double)));
}

/* ---- Fences ----------------------------------------------------------------------------------*/

/* Two arrays in four have one: which, depends on the case and the array's place in it alone. */
static enum fence fence_of(struct kit *kit)
{
	static const enum fence drawn[] = {NO_FENCE, FENCE_BEHIND, NO_FENCE, FENCE_BEFORE};
	uint64_t name = 0;
	if (!(kit->description.flags & TN_DEVICE_TAKES_ANY_ADDRESS))
		return NO_FENCE;
	for (const char *c = kit->case_name; *c; c++)
		name = name * 31 + (unsigned char)*c;
	return kit->options.fence ? kit->options.fence : drawn[(name + kit->n_arrays++) % 4];
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of the pages that hold the buffer, without the two inaccessible ones. */
static size_t pages_for(const struct array *array)
{
	const size_t page = page_size();
	return (array->size + page - 1) / page * page;
}

static void allocate_fenced(struct array *array, enum fence fence)
{
	const size_t page = page_size(), room = pages_for(array);
	unsigned char *pages = mmap(NULL, room + 2 * page, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + page, room, PROT_READ | PROT_WRITE))
		kit_give_up(array->kit, "the kit is out of memory");
	array->fenced = pages;
	array->operand.buffer = (uint64_t)(uintptr_t)(pages + page);
	if (fence == FENCE_BEHIND)
		array->operand.buffer += room - array->size;
}

static void allocate(struct array *array)
{
	struct kit *kit = array->kit;
	struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .size = array->size};
	tn_status status = kit->backend->device.alloc(kit->device, &args, &array->operand.buffer);
	if (status)
		kit_give_up(kit, "alloc of %zu bytes: %s: %s", array->size, tn_status_name(status),
			    kit->error.text);
}

/* Axes of length 1 have no part in a position. */
static void merge_axes(struct array *array)
{
	const struct tn_operand *o = &array->operand;
	int64_t size = (int64_t)tn_dtype_size(o->dtype);
	uint32_t last = 0;
	array->lengths[0] = 1;
	array->steps[0] = 0;
	for (uint32_t axis = 0; axis < o->rank; axis++) {
		int64_t length = o->shape[axis], step = o->strides[axis] * size;
		if (length == 1)
			continue;
		if (array->lengths[last] == 1 || array->steps[last] == length * step)
			array->lengths[last] *= length;
		else
			array->lengths[++last] = length;
		array->steps[last] = step;
	}
	array->n_axes = last + 1;
}

/* Do the elements, in whatever order, fill the bytes from the offset on? */
static int is_dense(const struct array *array)
{
	const int64_t size = (int64_t)tn_dtype_size(array->operand.dtype);
	int64_t last = 0;
	for (uint32_t axis = 0; axis < array->n_axes; axis++) {
		if (array->lengths[axis] > 1 && array->steps[axis] <= 0)
			return 0;
		last += (array->lengths[axis] - 1) * array->steps[axis];
	}
	return last / size + 1 == (int64_t)array->count;
}

void array_reshaped(struct array *array)
{
	size_t size = tn_dtype_size(array->operand.dtype);
	uint64_t run = 1;
	array->count = shape_count(array->operand.rank, array->operand.shape);
	merge_axes(array);
	free(array->element);
	array->element = NULL;
	if (is_dense(array))
		return;
	if (array->steps[array->n_axes - 1] == (int64_t)size)
		run = (uint64_t)array->lengths[array->n_axes - 1];
	array->element = checked(calloc(array->size, 1));
	for (uint64_t i = 0; i < array->count; i += run)
		memset(array->element + (array_at(array, i) - array->image), 255, run * size);
}

static void begin(struct kit *kit, struct array *array, enum role role, tn_dtype dtype,
		  uint32_t rank, const int64_t *shape)
{
	struct tn_operand *o = &array->operand;
	memset(array, 0, sizeof(*array));
	array->kit = kit;
	array->role = role;
	o->dtype = dtype;
	o->rank = rank;
	if (rank)
		memcpy(o->shape, shape, rank * sizeof(*shape));
}

/* Makes the buffer of an operand with strides, which begins `shift` elements late. */
static void place(struct array *array, uint64_t shift)
{
	struct tn_operand *o = &array->operand;
	size_t size = tn_dtype_size(o->dtype);
	int64_t before, after;
	reach(o, &before, &after);
	const enum fence fence = fence_of(array->kit);
	o->offset = (fence == FENCE_BEFORE ? 0 : GUARD) + ((uint64_t)before + shift) * size;
	array->size = (size_t)o->offset + (size_t)(after + 1) * size +
		      (fence == FENCE_BEHIND ? 0 : GUARD);
	array->image = checked(malloc(array->size));
	memset(array->image, SENTINEL, array->size);
	array_reshaped(array);
	if (fence)
		allocate_fenced(array, fence);
	else
		allocate(array);
}

void array_make(struct kit *kit, struct array *array, enum role role, tn_dtype dtype, uint32_t rank,
		const int64_t *shape, enum layout layout)
{
	begin(kit, array, role, dtype, rank, shape);
	set_strides(kit, &array->operand, role, layout);
	place(array, layout == SHIFTED || (layout == RANDOM && kit_random(kit) % 2));
}

void array_make_view(struct kit *kit, struct array *array, enum role role, tn_dtype dtype,
		     uint32_t rank, const int64_t *shape, const int64_t *strides, uint64_t shift)
{
	begin(kit, array, role, dtype, rank, shape);
	if (rank)
		memcpy(array->operand.strides, strides, rank * sizeof(*strides));
	place(array, shift);
}

void array_free(struct array *array)
{
	struct kit *kit = array->kit;
	struct tn_free_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .buffer = array->operand.buffer};
	tn_status status = array->fenced ? TN_OK : kit->backend->device.free(kit->device, &args);
	if (array->fenced)
		munmap(array->fenced, pages_for(array) + 2 * page_size());
	/* Of a lost device buffers are freed too, and it may say that it is lost. */
	if (status && status != TN_DEVICE_LOST)
		kit_fail(kit, "free: %s", kit->error.text);
	free(array->image);
	free(array->element);
}

unsigned char *array_at(const struct array *array, uint64_t i)
{
	int64_t at = (int64_t)array->operand.offset;
	for (uint32_t axis = array->n_axes - 1; axis > 0; axis--) {
		at += (int64_t)(i % (uint64_t)array->lengths[axis]) * array->steps[axis];
		i /= (uint64_t)array->lengths[axis];
	}
	return array->image + at + (int64_t)i * array->steps[0];
}

/* Of c128, the real part. */
static size_t bits_size(const struct array *array)
{
	const size_t size = tn_dtype_size(array->operand.dtype);
	return size < sizeof(uint64_t) ? size : sizeof(uint64_t);
}

uint64_t array_bits(const struct array *array, uint64_t i)
{
	uint64_t bits = 0;
	memcpy(&bits, array_at(array, i), bits_size(array));
	return bits;
}

void array_set_bits(struct array *array, uint64_t i, uint64_t bits)
{
	memcpy(array_at(array, i), &bits, bits_size(array));
}

/* Most arrays are of f32, which C converts itself. */
double array_number(const struct array *array, uint64_t i)
{
	float single;
	if (array->operand.dtype != TN_F32)
		return tn_f64_of_bits(
			tn_cast_bits(array->operand.dtype, TN_F64, array_bits(array, i)));
	memcpy(&single, array_at(array, i), sizeof(single));
	return (double)single;
}

void array_set_number(struct array *array, uint64_t i, double number)
{
	float single = (float)number;
	if (array->operand.dtype == TN_F32)
		memcpy(array_at(array, i), &single, sizeof(single));
	else
		array_set_bits(array, i,
			       tn_cast_bits(TN_F64, array->operand.dtype, tn_bits_of_f64(number)));
}

void array_randomise(struct array *array, double low, double high)
{
	tn_dtype dtype = array->operand.dtype;
	for (uint64_t i = 0; i < array->count; i++) {
		unsigned char *at = array_at(array, i);
		if (tn_is_floating(dtype)) {
			double number = kit_uniform(array->kit, low, high);
			array_set_number(array, i,
					 dtype == TN_F64 ? number
							 : kit_representable(array->kit, number));
			continue;
		}
		for (size_t byte = 0; byte < tn_dtype_size(dtype); byte++)
			at[byte] = (unsigned char)kit_random(array->kit);
		if (dtype == TN_BOOL)
			at[0] &= 1;
	}
}

int array_has(const struct array *array, size_t byte)
{
	size_t first = (size_t)array->operand.offset;
	if (array->element)
		return array->element[byte];
	return byte >= first && byte < first + array->count * tn_dtype_size(array->operand.dtype);
}

double *array_numbers(const struct array *array)
{
	double *all = numbers(array->count);
	if (!tn_is_complex(array->operand.dtype)) {
		sweep_load(array, all);
		return all;
	}
	for (uint64_t i = 0; i < array->count; i++)
		all[i] = array_number(array, i);
	return all;
}

void array_narrow(const struct array *array, const double *expected, double *tolerance)
{
	tn_dtype dtype = array->operand.dtype;
	if (!tn_is_narrow(dtype))
		return;
	for (uint64_t i = 0; i < array->count; i++)
		tolerance[i] += tn_half_unit(dtype) * (fabs(expected[i]) + tolerance[i]) + 0x1p-25;
}

void array_compare(const struct array *array, const double *expected, const double *tolerance)
{
	for (uint64_t i = 0; i < array->count; i++) {
		double found = array_number(array, i);
		if ((isnan(found) && isnan(expected[i])) || found == expected[i] ||
		    fabs(found - expected[i]) <= tolerance[i])
			continue;
		kit_fail(array->kit, "element %llu: expected %.17g within %.3g, found %.17g",
			 (unsigned long long)i, expected[i], tolerance[i], found);
		return;
	}
}
