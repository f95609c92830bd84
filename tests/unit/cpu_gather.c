/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's gather and scatter-add against plain loops: every axis, layouts of both
 * operands, indices of both dtypes that are negative, repeated and out of range, sentinels around
 * the output.
 */
#include "cpu_fixture.h"

#include <tenon/plugin.h>

enum { ROOM = 64000, SENTINELS = 16 };

struct shape {
	int64_t shape[3]; /* of the indexed operand; 1s in front of a lower rank */
	uint32_t rank, axis;
	int64_t n_indices;
};

static const struct shape shapes[] = {
	{{1, 1, 5}, 1, 0, 9},      {{1, 7, 3}, 2, 0, 20},     {{1, 7, 3}, 2, 1, 2},
	{{1, 50, 64}, 2, 0, 300},  {{1, 3, 130}, 2, 0, 1},    {{4, 5, 33}, 3, 0, 6},
	{{4, 5, 33}, 3, 1, 17},    {{4, 5, 33}, 3, 2, 50},    {{1, 1, 1}, 3, 1, 3},
	{{2, 300, 31}, 3, 1, 299}, {{1, 20, 1000}, 2, 0, 30},
};
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

static char chosen_memory[ROOM * 8], listed_memory[ROOM * 8], expected_memory[ROOM * 8];
static int64_t indices[1024];
static int32_t narrow[1024];

/* layout 0: compact; 1: the first axis is the fastest; 2: gaps of one element. */
static struct tn_operand operand(void *memory, const int64_t *shape, uint32_t rank, int layout,
				 tn_dtype dtype)
{
	struct tn_operand made = {.buffer = (uint64_t)(uintptr_t)memory,
				  .offset = SENTINELS * tn_dtype_size(dtype),
				  .dtype = dtype,
				  .rank = rank};
	int64_t stride = layout == 2 ? 2 : 1;
	for (uint32_t i = 0; i < rank; i++) {
		uint32_t axis = layout == 1 ? i : rank - 1 - i;
		made.shape[axis] = shape[axis];
		made.strides[axis] = stride;
		stride *= shape[axis];
	}
	assert_in_range(stride + 2 * SENTINELS, 1, ROOM);
	return made;
}

static void fill(void *memory, tn_dtype dtype)
{
	for (int i = 0; i < ROOM; i++) {
		if (dtype == TN_F32)
			((float *)memory)[i] = (float)(i * 7919 % 1001) - 500; /* sums are exact */
		else if (dtype == TN_F16)
			((uint16_t *)memory)[i] =
				tn_plugin_f16_of_f32((float)(i * 7919 % 1001) - 500);
		else if (dtype == TN_BF16)
			((uint16_t *)memory)[i] =
				tn_plugin_bf16_of_f32((float)(i * 7919 % 255) - 127);
		else if (dtype == TN_I16)
			((int16_t *)memory)[i] = (int16_t)(i * 7919 % 1001 - 500);
		else if (dtype == TN_U8)
			((uint8_t *)memory)[i] = (uint8_t)(i * 7919);
		else
			((int64_t *)memory)[i] = i * 7919 % 1001 - 500;
	}
}

static void make_indices(int64_t length, int64_t n)
{
	for (int64_t j = 0; j < n; j++) {
		indices[j] = j * 5 % (2 * length + 2) - length - 1; /* -length-1 to length */
		narrow[j] = (int32_t)indices[j];
	}
}

static void add_or_copy(const struct tn_operand *to, int64_t t, const struct tn_operand *from,
			int64_t s, int adds)
{
	size_t size = tn_dtype_size(to->dtype), from_size = tn_dtype_size(from->dtype);
	char *out = (char *)(uintptr_t)(to->buffer + to->offset) + t * (int64_t)size;
	const char *in =
		(const char *)(uintptr_t)(from->buffer + from->offset) + s * (int64_t)from_size;
	if (s < 0)
		memset(out, 0, size);
	else if (!adds)
		memcpy(out, in, size);
	else if (from->dtype == TN_F16)
		*(float *)(void *)out += tn_plugin_f32_of_f16(*(const uint16_t *)(const void *)in);
	else if (from->dtype == TN_BF16)
		*(float *)(void *)out += tn_plugin_f32_of_bf16(*(const uint16_t *)(const void *)in);
	else if (to->dtype == TN_F32)
		*(float *)(void *)out += *(const float *)(const void *)in;
	else if (to->dtype == TN_I16)
		*(int16_t *)(void *)out =
			(int16_t)(*(int16_t *)(void *)out + *(const int16_t *)(const void *)in);
	else if (to->dtype == TN_U8)
		*(uint8_t *)out = (uint8_t)(*(uint8_t *)out + *(const uint8_t *)in);
	else
		*(int64_t *)(void *)out += *(const int64_t *)(const void *)in;
}

/* The plain loop over the listed operand. */
static void expect(const struct tn_operand *listed, const struct tn_operand *chosen, uint32_t axis,
		   int adds)
{
	int64_t n = 1;
	for (uint32_t a = 0; a < listed->rank; a++)
		n *= listed->shape[a];
	for (int64_t e = 0; e < n; e++) {
		int64_t rest = e, l = 0, c = 0;
		int outside = 0;
		for (uint32_t a = listed->rank; a-- > 0; rest /= listed->shape[a]) {
			int64_t at = rest % listed->shape[a];
			l += at * listed->strides[a];
			if (a == axis) {
				at = indices[at] < 0 ? indices[at] + chosen->shape[a] : indices[at];
				outside = at < 0 || at >= chosen->shape[a];
			}
			c += at * chosen->strides[a];
		}
		if (!adds)
			add_or_copy(listed, l, chosen, outside ? -1 : c, 0);
		else if (!outside)
			add_or_copy(chosen, c, listed, l, 1);
	}
}

static void check(const struct fixture *f, const struct shape *s, int layouts, tn_dtype dtype,
		  int is_wide, int adds)
{
	const tn_dtype total = dtype == TN_F16 || dtype == TN_BF16 ? TN_F32 : dtype;
	uint32_t skip = 3 - s->rank;
	int64_t shape[3], listed_shape[3];
	memcpy(shape, s->shape + skip, s->rank * sizeof(*shape));
	memcpy(listed_shape, shape, sizeof(shape));
	listed_shape[s->axis] = s->n_indices;
	struct tn_gather_args args = {.call = {.struct_size = sizeof(args)}, .axis = s->axis};
	struct tn_operand chosen = operand(chosen_memory, shape, s->rank, layouts % 3, total);
	struct tn_operand listed =
		operand(listed_memory, listed_shape, s->rank, layouts / 3, dtype);
	args.indices = (struct tn_operand){
		.buffer = (uint64_t)(uintptr_t)(is_wide ? (void *)indices : (void *)narrow),
		.dtype = is_wide ? TN_I64 : TN_I32,
		.rank = 1,
		.shape = {s->n_indices},
		.strides = {1}};
	make_indices(shape[s->axis], s->n_indices);
	fill(chosen_memory, total);
	fill(listed_memory, dtype);
	char *output = adds ? chosen_memory : listed_memory;
	memcpy(expected_memory, output, sizeof(expected_memory));
	struct tn_operand wanted = adds ? chosen : listed;
	wanted.buffer = (uint64_t)(uintptr_t)expected_memory;
	expect(adds ? &listed : &wanted, adds ? &wanted : &chosen, s->axis, adds);
	args.input = adds ? listed : chosen;
	args.output = adds ? chosen : listed;
	assert_ok(adds ? f->copy->scatter_add(f->device, &args)
		       : f->copy->gather(f->device, &args));
	assert_memory_equal(output, expected_memory, sizeof(expected_memory));
}

static void every_axis_and_layout(int adds)
{
	struct fixture f = {0};
	fixture_open(&f, 3);
	for (size_t i = 0; i < N_SHAPES; i++) {
		for (int layouts = 0; layouts < 9; layouts++) {
			check(&f, &shapes[i], layouts, TN_F32, layouts % 2, adds);
			check(&f, &shapes[i], layouts, TN_I64, layouts % 2 == 0, adds);
			check(&f, &shapes[i], layouts, layouts % 2 ? TN_U8 : TN_I16, 1, adds);
			if (adds)
				check(&f, &shapes[i], layouts, layouts % 2 ? TN_F16 : TN_BF16, 1,
				      adds);
		}
	}
	fixture_close(&f);
}

static void rows_are_gathered(void **state)
{
	(void)state;
	every_axis_and_layout(0);
}

static void terms_are_added(void **state)
{
	(void)state;
	every_axis_and_layout(1);
}

static void wrong_arguments_are_refused(void **state)
{
	(void)state;
	struct fixture f = {0};
	fixture_open(&f, 1);
	const int64_t shape[] = {4, 5}, listed[] = {3, 5}, wrong[] = {3, 4};
	struct tn_gather_args args = {
		.call = {.struct_size = sizeof(args), .flags = TN_DRY_RUN},
		.input = operand(NULL, shape, 2, 0, TN_F32),
		.output = operand(NULL, listed, 2, 0, TN_F32),
		.indices = {.dtype = TN_I32, .rank = 1, .shape = {3}, .strides = {1}}};
	assert_ok(f.copy->gather(f.device, &args));
	assert_status(f.copy->scatter_add(f.device, &args), TN_SHAPE);
	args.output = operand(NULL, wrong, 2, 0, TN_F32);
	assert_status(f.copy->gather(f.device, &args), TN_SHAPE);
	args.output = operand(NULL, listed, 2, 0, TN_I32);
	assert_status(f.copy->gather(f.device, &args), TN_DTYPE);
	args.output.dtype = TN_F32;
	args.indices.dtype = TN_F32;
	assert_status(f.copy->gather(f.device, &args), TN_DTYPE);
	args.indices.dtype = TN_I32;
	args.axis = 2;
	assert_status(f.copy->gather(f.device, &args), TN_SHAPE);
	args.axis = 0;
	args.input = operand(NULL, listed, 2, 0, TN_BOOL);
	args.output = operand(NULL, shape, 2, 0, TN_BOOL);
	assert_status(f.copy->scatter_add(f.device, &args), TN_UNSUPPORTED);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_gathered),
		cmocka_unit_test(terms_are_added),
		cmocka_unit_test(wrong_arguments_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
