/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One convolution of the CPU plugin compared with loops over its definition, for the tests of its
 * algorithms.
 */
#ifndef TN_TESTS_CPU_CONV2D_H
#define TN_TESTS_CPU_CONV2D_H

#include <math.h>

#include "cpu_fixture.h"
#include "kernels/kernels.h"

struct conv_shape {
	const char *name;
	int64_t n, c, h, w, o, r, s, groups, stride[2], dilation[2], padding[4];
};

/* Channels first, last, last with gaps everywhere, last with the images last of all, and columns
 * before rows. */
#define CONV_LAYOUTS 5

struct conv_case {
	const struct conv_shape *shape;
	int pass; /* 0 forward, 1 input gradient, 2 weight gradient */
	int layout;
	int accumulate, has_bias, has_residual, packed, foreign, fractions;
	uint32_t activation;
};

/* An operand in its own memory, filled, with sentinels between and around its elements. */
struct conv_array {
	struct tn_operand operand;
	float *memory;
	int64_t room;
};

#define CONV_SENTINEL (-12345.0f)
#define CONV_MARGIN 64

static inline const char *conv_levels(unsigned i)
{
	const struct cpu_kernels *kernels = cpu_kernels_variant(i);
	return kernels ? strrchr(kernels->name, '-') ? strrchr(kernels->name, '-') + 1
						     : kernels->name
		       : NULL;
}

/* The order of the axes in memory, and the gap after each. */
static inline void conv_strides(struct tn_operand *operand, int layout, int64_t *room)
{
	static const int orders[CONV_LAYOUTS][4] = {
		{3, 2, 1, 0}, {1, 3, 2, 0}, {1, 3, 2, 0}, {1, 0, 3, 2}, {2, 3, 1, 0}};
	int64_t stride = 1;
	for (int i = 0; i < 4; i++) {
		int axis = orders[layout][i];
		operand->strides[axis] = stride;
		stride *= operand->shape[axis];
		if (layout == 2)
			stride += 3 - i % 2;
	}
	*room = stride;
}

static inline float conv_number(uint32_t *state, int fractions)
{
	*state = *state * 1664525u + 1013904223u;
	int32_t number = (int32_t)(*state >> 16) % 7 - 3;
	return fractions ? (float)number / 7.0f : (float)number;
}

static inline float *conv_at(const struct conv_array *a, int64_t i, int64_t j, int64_t k, int64_t l)
{
	const int64_t *strides = a->operand.strides;
	return a->memory + CONV_MARGIN + i * strides[0] + j * strides[1] + k * strides[2] +
	       l * strides[3];
}

static inline struct conv_array conv_array(const int64_t *shape, int layout, uint32_t seed,
					   int fractions)
{
	struct conv_array a = {.operand = {.dtype = TN_F32, .rank = 4}};
	memcpy(a.operand.shape, shape, 4 * sizeof(*shape));
	conv_strides(&a.operand, layout, &a.room);
	a.room += 2 * CONV_MARGIN;
	a.memory = tn_mem_aligned((size_t)a.room * sizeof(float), 64);
	a.operand.buffer = (uint64_t)(uintptr_t)a.memory;
	a.operand.offset = CONV_MARGIN * sizeof(float);
	for (int64_t i = 0; i < a.room; i++)
		a.memory[i] = CONV_SENTINEL;
	for (int64_t i = 0; i < shape[0]; i++)
		for (int64_t j = 0; j < shape[1]; j++)
			for (int64_t k = 0; k < shape[2]; k++)
				for (int64_t l = 0; l < shape[3]; l++)
					*conv_at(&a, i, j, k, l) = conv_number(&seed, fractions);
	return a;
}

struct conv_set {
	struct conv_array x, w, y, residual;
	float bias[512];
	double *sums;  /* the expected output, row-major */
	double *sizes; /* and the sum of the products' magnitudes */
};

static inline int64_t conv_windows(const struct conv_shape *s, int axis)
{
	int64_t length = axis ? s->w : s->h, window = axis ? s->s : s->r;
	return (length + s->padding[axis] + s->padding[axis + 2] -
		s->dilation[axis] * (window - 1) - 1) /
		       s->stride[axis] +
	       1;
}

static inline struct conv_array *conv_written(struct conv_set *set, int pass)
{
	return pass == 0 ? &set->y : pass == 1 ? &set->x : &set->w;
}

static inline int64_t conv_place(const struct conv_array *a, int64_t i, int64_t j, int64_t k,
				 int64_t l)
{
	const int64_t *shape = a->operand.shape;
	return ((i * shape[1] + j) * shape[2] + k) * shape[3] + l;
}

static inline int64_t conv_count(const struct conv_array *a)
{
	const int64_t *shape = a->operand.shape;
	return shape[0] * shape[1] * shape[2] * shape[3];
}

/* Every weight is combined with every element of y's plane. */
static inline void conv_meet(struct conv_set *set, const struct conv_case *c, int64_t n, int64_t o,
			     int64_t p, int64_t q)
{
	const struct conv_shape *s = c->shape;
	int64_t depth = s->c / s->groups, g = o / (s->o / s->groups);
	for (int64_t k = 0; k < depth; k++)
		for (int64_t i = 0; i < s->r; i++)
			for (int64_t j = 0; j < s->s; j++) {
				int64_t h = p * s->stride[0] + i * s->dilation[0] - s->padding[0];
				int64_t v = q * s->stride[1] + j * s->dilation[1] - s->padding[1];
				if (h < 0 || h >= s->h || v < 0 || v >= s->w)
					continue;
				int64_t ch = g * depth + k;
				double x = *conv_at(&set->x, n, ch, h, v);
				double w = *conv_at(&set->w, o, k, i, j);
				double y = *conv_at(&set->y, n, o, p, q);
				int64_t at = c->pass == 0   ? conv_place(&set->y, n, o, p, q)
					     : c->pass == 1 ? conv_place(&set->x, n, ch, h, v)
							    : conv_place(&set->w, o, k, i, j);
				double product = c->pass == 0   ? x * w
						 : c->pass == 1 ? y * w
								: x * y;
				set->sums[at] += product;
				set->sizes[at] += fabs(product);
			}
}

static inline double conv_activate(uint32_t activation, double x)
{
	switch (activation) {
	case TN_ACTIVATION_RELU:
		return x > 0 ? x : 0;
	case TN_ACTIVATION_RELU6:
		return x > 6 ? 6 : x > 0 ? x : 0;
	case TN_ACTIVATION_SIGMOID:
		return 1 / (1 + exp(-x));
	case TN_ACTIVATION_TANH:
		return tanh(x);
	case TN_ACTIVATION_SILU:
		return x / (1 + exp(-x));
	case TN_ACTIVATION_GELU:
		return x * (1 + erf(x * sqrt(0.5))) / 2;
	default:
		return x;
	}
}

static inline void conv_finish(struct conv_set *set, const struct conv_case *c)
{
	const struct conv_array *out = conv_written(set, c->pass);
	const int64_t *shape = out->operand.shape;
	for (int64_t i = 0; i < shape[0]; i++)
		for (int64_t j = 0; j < shape[1]; j++)
			for (int64_t k = 0; k < shape[2]; k++)
				for (int64_t l = 0; l < shape[3]; l++) {
					double *sum = &set->sums[conv_place(out, i, j, k, l)];
					if (c->accumulate)
						*sum += *conv_at(out, i, j, k, l);
					if (c->has_bias)
						*sum += set->bias[2 * j];
					if (c->has_residual)
						*sum += *conv_at(&set->residual, i, j, k, l);
					*sum = conv_activate(c->activation, *sum);
				}
}

static inline struct conv_set conv_make(const struct conv_case *c)
{
	const struct conv_shape *s = c->shape;
	int64_t p = conv_windows(s, 0), q = conv_windows(s, 1);
	struct conv_set set;
	set.x = conv_array((int64_t[]){s->n, s->c, s->h, s->w}, c->layout, 1, c->fractions);
	set.w = conv_array((int64_t[]){s->o, s->c / s->groups, s->r, s->s},
			   c->layout == 3   ? 1
			   : c->layout == 4 ? 4
					    : 0,
			   2, c->fractions);
	set.y = conv_array((int64_t[]){s->n, s->o, p, q}, c->layout, 3, c->fractions);
	set.residual = conv_array((int64_t[]){s->n, s->o, p, q}, (c->layout + 1) % CONV_LAYOUTS, 4,
				  c->fractions);
	uint32_t seed = 5;
	for (int i = 0; i < 512; i++)
		set.bias[i] = conv_number(&seed, c->fractions);
	size_t n = (size_t)conv_count(conv_written(&set, c->pass)) * sizeof(double);
	set.sums = tn_mem_alloc(n);
	set.sizes = tn_mem_alloc(n);
	memset(set.sums, 0, n);
	memset(set.sizes, 0, n);
	return set;
}

static inline void conv_meet_all(struct conv_set *set, const struct conv_case *c)
{
	const int64_t *shape = set->y.operand.shape;
	for (int64_t i = 0; i < shape[0]; i++)
		for (int64_t j = 0; j < shape[1]; j++)
			for (int64_t k = 0; k < shape[2]; k++)
				for (int64_t l = 0; l < shape[3]; l++)
					conv_meet(set, c, i, j, k, l);
}

/* Caches the sums of the last shape and pass: neither layouts nor epilogues change a product. */
struct conv_known {
	struct conv_shape shape;
	int pass, fractions;
	double *sums, *sizes;
};

static inline int conv_is_known(const struct conv_known *known, const struct conv_case *c)
{
	return known->sums && known->pass == c->pass && known->fractions == c->fractions &&
	       !memcmp(&known->shape, c->shape, sizeof(known->shape));
}

static inline void conv_learn(struct conv_known *known, struct conv_set *set,
			      const struct conv_case *c, size_t bytes)
{
	conv_meet_all(set, c);
	tn_mem_free(known->sums);
	tn_mem_free(known->sizes);
	*known = (struct conv_known){*c->shape, c->pass, c->fractions, tn_mem_alloc(bytes),
				     tn_mem_alloc(bytes)};
	memcpy(known->sums, set->sums, bytes);
	memcpy(known->sizes, set->sizes, bytes);
}

static inline void conv_expect(struct conv_set *set, const struct conv_case *c)
{
	static struct conv_known known;
	size_t bytes = (size_t)conv_count(conv_written(set, c->pass)) * sizeof(double);
	if (!conv_is_known(&known, c))
		conv_learn(&known, set, c, bytes);
	memcpy(set->sums, known.sums, bytes);
	memcpy(set->sizes, known.sizes, bytes);
	conv_finish(set, c);
}

static inline void conv_release(struct conv_set *set)
{
	tn_mem_free(set->x.memory);
	tn_mem_free(set->w.memory);
	tn_mem_free(set->y.memory);
	tn_mem_free(set->residual.memory);
	tn_mem_free(set->sums);
	tn_mem_free(set->sizes);
}

static inline struct tn_conv2d_args conv_args(const struct conv_case *c, struct conv_set *set)
{
	const struct conv_shape *s = c->shape;
	struct tn_conv2d_args args = {.call = {.struct_size = sizeof(args)},
				      .x = set->x.operand,
				      .w = set->w.operand,
				      .y = set->y.operand,
				      .residual = set->residual.operand,
				      .has_bias = (uint32_t)c->has_bias,
				      .has_residual = (uint32_t)c->has_residual,
				      .groups = (uint32_t)s->groups,
				      .activation = c->activation};
	args.bias = (struct tn_operand){.buffer = (uint64_t)(uintptr_t)set->bias,
					.dtype = TN_F32,
					.rank = 1,
					.shape = {s->o},
					.strides = {2}};
	memcpy(args.stride, s->stride, sizeof(args.stride));
	memcpy(args.dilation, s->dilation, sizeof(args.dilation));
	memcpy(args.padding, s->padding, sizeof(args.padding));
	args.call.flags = c->accumulate ? TN_ACCUMULATE : 0;
	return args;
}

/* A dry run's arguments, without memory. */
static inline struct tn_conv2d_args conv_dry(const struct conv_case *c)
{
	static struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct conv_set set = conv_make(c);
	struct tn_conv2d_args args = conv_args(c, &set);
	conv_release(&set);
	args.call.flags |= TN_DRY_RUN;
	args.call.workspace = &workspace;
	args.x.buffer = args.y.buffer = args.w.buffer = args.bias.buffer = 0;
	return args;
}

typedef tn_status (*conv_entry)(void *device, const struct tn_conv2d_args *args);

static inline void conv_prepare(struct tn_workspace *workspace)
{
	uint64_t size = workspace->minimum;
	workspace->size = size;
	char *memory = tn_mem_aligned(size + 256, 256);
	memset(memory, 0xff, size + 256); /* NaN */
	workspace->buffer = (uint64_t)(uintptr_t)memory;
}

static inline void conv_put_away(struct tn_workspace *workspace)
{
	unsigned char *memory = (unsigned char *)(uintptr_t)workspace->buffer;
	for (int i = 0; i < 256; i++)
		assert_int_equal(memory[workspace->size + (uint64_t)i], 0xff);
	tn_mem_free(memory);
}

/* Dry run, then the call with exactly the workspace that it requested. */
static inline void conv_call(struct fixture *f, conv_entry entry, struct tn_conv2d_args *args)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	uint32_t flags = args->call.flags;
	args->call.workspace = &workspace;
	args->call.error = &error;
	args->call.flags = flags | TN_DRY_RUN;
	assert_ok(entry(f->device, args));
	assert_true(workspace.preferred >= workspace.minimum);
	conv_prepare(&workspace);
	args->call.flags = flags;
	if (entry(f->device, args))
		fail_msg("%s: %s", error.operation, error.text);
	conv_put_away(&workspace);
	args->call.workspace = NULL;
	args->call.error = NULL;
}

/* Packs w (foreign: for twice the images) and passes it to the call. */
static inline void conv_pack(struct fixture *f, const struct conv_case *c,
			     struct tn_conv2d_args *args)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_conv2d_args pack = *args;
	uint64_t size = 0;
	if (c->foreign)
		pack.x.shape[0] = pack.y.shape[0] = pack.x.shape[0] * 2;
	pack.call.workspace = &workspace;
	pack.call.flags |= TN_DRY_RUN;
	assert_ok(f->nn->conv2d_prepack(f->device, &pack, &size));
	assert_true(size > 0);
	pack.packed.buffer = (uint64_t)(uintptr_t)tn_mem_aligned(size + 256, 256);
	pack.packed.size = size;
	char *end = (char *)(uintptr_t)pack.packed.buffer + size;
	memset(end, 0x5a, 256);
	conv_prepare(&workspace);
	pack.call.flags &= ~(uint32_t)TN_DRY_RUN;
	assert_ok(f->nn->conv2d_prepack(f->device, &pack, &size));
	conv_put_away(&workspace);
	for (int i = 0; i < 256; i++)
		assert_int_equal(end[i], 0x5a);
	args->packed = pack.packed;
}

static inline void conv_run(struct fixture *f, const struct conv_case *c, struct conv_set *set)
{
	const conv_entry entries[] = {f->nn->conv2d_forward, f->nn->conv2d_input_gradient,
				      f->nn->conv2d_weight_gradient};
	struct tn_conv2d_args args = conv_args(c, set);
	if (c->packed) {
		conv_pack(f, c, &args);
		if (!c->foreign)
			args.w.buffer = 0; /* it need not be read */
	}
	conv_call(f, entries[c->pass], &args);
	if (c->packed)
		tn_mem_free((void *)(uintptr_t)args.packed.buffer);
}

/* Elements are as expected, each within `tolerance` times the summed magnitudes, and all other
 * bytes are unchanged. */
static inline void conv_compare(const struct conv_case *c, struct conv_set *set, double tolerance)
{
	struct conv_array *out = conv_written(set, c->pass);
	const int64_t *shape = out->operand.shape;
	for (int64_t i = 0; i < shape[0]; i++)
		for (int64_t j = 0; j < shape[1]; j++)
			for (int64_t k = 0; k < shape[2]; k++)
				for (int64_t l = 0; l < shape[3]; l++) {
					float *found = conv_at(out, i, j, k, l);
					int64_t at = conv_place(out, i, j, k, l);
					double sum = set->sums[at];
					if (!(fabs(*found - sum) <=
					      tolerance * (set->sizes[at] + 1)))
						fail_msg("%s, pass %d, layout %d: at %d %d %d %d "
							 "found %.9g, expected %.9g",
							 c->shape->name, c->pass, c->layout, (int)i,
							 (int)j, (int)k, (int)l, (double)*found,
							 sum);
					*found = CONV_SENTINEL;
				}
	for (int64_t i = 0; i < out->room; i++)
		assert_true(out->memory[i] == CONV_SENTINEL);
}

/* Runs the case and compares; a tolerance of 0 is equality. */
static inline void conv_check(struct fixture *f, const struct conv_case *c, double tolerance)
{
	struct conv_set set = conv_make(c);
	conv_expect(&set, c);
	conv_run(f, c, &set);
	conv_compare(c, &set, tolerance);
	conv_release(&set);
}

static inline size_t conv_result_bytes(const struct conv_case *c)
{
	struct conv_set set = conv_make(c);
	size_t bytes = (size_t)conv_written(&set, c->pass)->room * sizeof(float);
	conv_release(&set);
	return bytes;
}

/* The output with that many threads. */
static inline float *conv_result(unsigned n_threads, const struct conv_case *c)
{
	struct fixture f = {0};
	struct conv_set set = conv_make(c);
	struct conv_array *out = conv_written(&set, c->pass);
	fixture_open(&f, n_threads);
	conv_run(&f, c, &set);
	fixture_close(&f);
	float *copy = tn_mem_alloc((size_t)out->room * sizeof(float));
	memcpy(copy, out->memory, (size_t)out->room * sizeof(float));
	conv_release(&set);
	return copy;
}

#endif
