/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes a small valid call of each computing slot, runs it and compares its results.  Planes are 6
 * x 5, channels 4, samples 2: small, and all lengths differ.
 */
#include "samples.h"

#include "base/bits.h"
#include "loader/slots.h"
#include "programs.h"

static const int64_t plane[4] = {2, 4, 6, 5}, filter[4] = {3, 4, 3, 3}, folded[4] = {2, 3, 6, 5};
static const int64_t pooled[4] = {2, 4, 3, 2}, channels[1] = {4}, filters[1] = {3};
static const int64_t table[2] = {7, 5}, listed[2] = {9, 5}, indices[1] = {9}, rows[1] = {7};

static struct array *add(struct sample *s, enum role role, tn_dtype dtype, uint32_t rank,
			 const int64_t *shape)
{
	struct array *array = &s->array[s->n];
	array_make(s->kit, array, role, dtype, rank, shape, COMPACT);
	array_randomise(array, -1, 1);
	s->all[s->n++] = array;
	return array;
}

/* The same with a first axis that grows with the sample: that of all operands but weights. */
static struct array *add_rows(struct sample *s, enum role role, tn_dtype dtype, uint32_t rank,
			      const int64_t *shape)
{
	int64_t grown[TN_MAX_RANK];
	memcpy(grown, shape, rank * sizeof(*shape));
	grown[0] *= s->scale;
	return add(s, role, dtype, rank, grown);
}

static struct tn_operand in(struct sample *s, uint32_t rank, const int64_t *shape)
{
	return add_rows(s, INPUT, s->dtype, rank, shape)->operand;
}

static struct tn_operand out(struct sample *s, uint32_t rank, const int64_t *shape)
{
	return add_rows(s, OUTPUT, s->dtype, rank, shape)->operand;
}

static struct tn_operand weights(struct sample *s, enum role role, uint32_t rank,
				 const int64_t *shape)
{
	return add(s, role, s->dtype, rank, shape)->operand;
}

/* Whole numbers from 0 to n - 1. */
static struct tn_operand numbers_below(struct sample *s, uint32_t rank, const int64_t *shape,
				       uint64_t n)
{
	struct array *array = add_rows(s, INPUT, TN_I32, rank, shape);
	for (uint64_t i = 0; i < array->count; i++)
		array_set_bits(array, i, kit_random(s->kit) % n);
	return array->operand;
}

/* Positive, like 1 / sqrt(variance + epsilon). */
static struct tn_operand positive(struct sample *s, uint32_t rank, const int64_t *shape)
{
	struct array *array = add_rows(s, INPUT, s->dtype, rank, shape);
	array_randomise(array, 0.5, 2);
	return array->operand;
}

/* ---- Level 2 ---------------------------------------------------------------------------------*/

static size_t make_map(struct sample *s)
{
	struct tn_map_args *args = &s->args.map;
	s->program = operation_program(TN_OP_SUB, 2, s->dtype, s->dtype);
	s->inputs[0] = in(s, 4, plane);
	s->inputs[1] = in(s, 4, plane);
	out(s, 4, plane);
	args->program = s->program;
	args->inputs = s->inputs;
	args->outputs = &s->array[2].operand;
	return sizeof(*args);
}

static size_t make_reduce(struct sample *s)
{
	struct tn_reduce_args *args = &s->args.reduce;
	s->program = identity_program(s->dtype, 1);
	s->inputs[0] = in(s, 4, plane);
	out(s, 2, plane);
	args->prologue = s->program;
	args->inputs = s->inputs;
	args->outputs = &s->array[1].operand;
	args->n_reduced = 2;
	args->n_values = 1;
	args->combiners[0] = TN_REDUCE_SUM;
	return sizeof(*args);
}

static tn_value times_plus(struct tn_builder *b, double factor, tn_value x, tn_value y)
{
	tn_value scaled =
		tn_build_op(b, TN_OP_MUL, TN_F32, x, tn_build_number(b, TN_F32, factor), 0);
	return tn_build_op(b, TN_OP_ADD, TN_F32, scaled, y, 0);
}

/* out[0] := 0.375 in[0] + s and, if there are two, out[1] := 1.75 in[1] + 0.375 in[0] + s */
static struct tn_program *scaling_program(uint32_t n)
{
	tn_value out[2];
	struct tn_builder b;
	begin_program(&b);
	out[0] = times_plus(&b, 0.375, tn_build_source(&b, TN_OP_INPUT, TN_F32, 0),
			    tn_build_source(&b, TN_OP_SCALAR, TN_F32, 0));
	if (n == 2)
		out[1] = times_plus(&b, 1.75, tn_build_source(&b, TN_OP_INPUT, TN_F32, 1), out[0]);
	return finish_program(&b, n, 1, n, out);
}

static void make_outputs(struct sample *s, uint32_t rank)
{
	for (int i = 0; i < 2; i++)
		s->outputs[i] = out(s, rank, plane);
	s->scalar = (struct tn_scalar){.dtype = TN_F32, .bits = tn_bits_of_f32(-2.5f)};
}

static size_t make_map_with_programs(struct sample *s)
{
	struct tn_map_args *args = &s->args.map;
	s->program = scaling_program(2);
	s->inputs[0] = in(s, 4, plane);
	s->inputs[1] = in(s, 4, plane);
	make_outputs(s, 4);
	args->program = s->program;
	args->inputs = s->inputs;
	args->outputs = s->outputs;
	args->scalars = &s->scalar;
	return sizeof(*args);
}

/* The epilogue's second input is an operand. */
static size_t make_reduce_with_programs(struct sample *s)
{
	struct tn_reduce_args *args = &s->args.reduce;
	s->program = scaling_program(1);
	s->epilogue = scaling_program(2);
	s->inputs[0] = in(s, 4, plane);
	s->inputs[1] = in(s, 2, plane);
	make_outputs(s, 2);
	args->prologue = s->program;
	args->epilogue = s->epilogue;
	args->inputs = &s->inputs[0];
	args->epilogue_inputs = &s->inputs[1];
	args->outputs = s->outputs;
	args->scalars = args->epilogue_scalars = &s->scalar;
	args->n_reduced = 2;
	args->n_values = 1;
	args->combiners[0] = TN_REDUCE_SUM;
	return sizeof(*args);
}

static size_t make_matmul(struct sample *s)
{
	static const int64_t a[2] = {13, 17}, b[2] = {17, 19}, c[2] = {13, 19};
	struct tn_matmul_args *args = &s->args.matmul;
	args->a = in(s, 2, a);
	args->b = weights(s, INPUT, 2, b);
	args->c = out(s, 2, c);
	args->alpha = 1;
	return sizeof(*args);
}

static size_t make_large_matmul(struct sample *s)
{
	static const int64_t square[2] = {80, 80};
	struct tn_matmul_args *args = &s->args.matmul;
	args->a = in(s, 2, square);
	args->b = in(s, 2, square);
	args->c = out(s, 2, square);
	args->alpha = 1;
	return sizeof(*args);
}

static size_t make_fill(struct sample *s)
{
	struct tn_fill_args *args = &s->args.fill;
	uint64_t one = s->dtype == TN_F32   ? 0x3f800000
		       : s->dtype == TN_F64 ? 0x3ff0000000000000
					    : 1;
	args->output = out(s, 4, plane);
	args->value = (struct tn_scalar){.dtype = s->dtype, .bits = one};
	return sizeof(*args);
}

static size_t make_copy(struct sample *s)
{
	struct tn_copy_args *args = &s->args.copy;
	args->input = in(s, 4, plane);
	args->output = out(s, 4, plane);
	return sizeof(*args);
}

static size_t make_gather(struct sample *s)
{
	struct tn_gather_args *args = &s->args.gather;
	int scatters = s->slot != TN_SLOT_GATHER;
	args->input = in(s, 2, scatters ? listed : table);
	args->indices = numbers_below(s, 1, indices, 7);
	args->output = out(s, 2, scatters ? table : listed);
	args->mode = s->slot == TN_SLOT_SCATTER ? TN_SCATTER_MAX : 0;
	return sizeof(*args);
}

static size_t make_sort(struct sample *s)
{
	static const int64_t first[2] = {7, 3};
	struct tn_sort_args *args = &s->args.sort;
	args->input = in(s, 2, table);
	args->values = out(s, 2, first);
	args->indices = add_rows(s, OUTPUT, TN_I64, 2, first)->operand;
	args->axis = 1;
	args->has_values = args->has_indices = 1;
	return sizeof(*args);
}

static size_t make_scan(struct sample *s)
{
	struct tn_scan_args *args = &s->args.scan;
	args->input = in(s, 2, table);
	args->output = out(s, 2, table);
	args->axis = 1;
	args->combiner = TN_REDUCE_SUM;
	args->accumulator = s->dtype;
	return sizeof(*args);
}

/* ---- Layers ----------------------------------------------------------------------------------*/

static struct tn_operand as(struct sample *s, int written, uint32_t rank, const int64_t *shape)
{
	return written ? out(s, rank, shape) : in(s, rank, shape);
}

static size_t make_conv2d(struct sample *s)
{
	struct tn_conv2d_args *args = &s->args.conv2d;
	args->x = as(s, s->slot == TN_SLOT_CONV2D_INPUT_GRADIENT, 4, plane);
	args->w = weights(s, s->slot == TN_SLOT_CONV2D_WEIGHT_GRADIENT ? OUTPUT : INPUT, 4, filter);
	args->y = as(s, s->slot == TN_SLOT_CONV2D_FORWARD, 4, folded);
	if (s->slot == TN_SLOT_CONV2D_FORWARD) {
		args->bias = weights(s, INPUT, 1, filters);
		args->has_bias = 1;
	}
	args->groups = 1;
	for (int i = 0; i < 2; i++)
		args->stride[i] = args->dilation[i] = 1;
	for (int i = 0; i < 4; i++)
		args->padding[i] = 1;
	return sizeof(*args);
}

static size_t make_pool2d(struct sample *s)
{
	struct tn_pool2d_args *args = &s->args.pool2d;
	int is_forward = s->slot == TN_SLOT_POOL2D_FORWARD;
	args->x = as(s, !is_forward, 4, plane);
	args->y = as(s, is_forward, 4, pooled);
	args->kind = TN_POOL_MAX;
	args->has_index = 1;
	args->index = is_forward ? add_rows(s, OUTPUT, TN_I32, 4, pooled)->operand
				 : numbers_below(s, 4, pooled, 30);
	for (int i = 0; i < 2; i++)
		args->kernel[i] = args->stride[i] = 2;
	return sizeof(*args);
}

enum { GROUPS = 2 };

/* mean and rstd: of channels, which do not grow with the sample, of rows, or of groups of
 * planes. */
static void make_statistics(struct sample *s, int is_forward)
{
	static const int64_t groups[1] = {2 * GROUPS};
	struct tn_norm_args *args = &s->args.norm;
	const int64_t scale = s->scale, *length = rows;
	if (s->slot == TN_SLOT_BATCH_NORM_FORWARD || s->slot == TN_SLOT_BATCH_NORM_BACKWARD) {
		length = channels;
		s->scale = 1;
	} else if (args->groups) {
		length = groups;
	}
	args->mean = as(s, is_forward, 1, length);
	args->rstd = is_forward ? out(s, 1, length) : positive(s, 1, length);
	s->scale = scale;
}

static size_t make_norm(struct sample *s)
{
	struct tn_norm_args *args = &s->args.norm;
	const int slot = s->slot;
	int is_layer = slot == TN_SLOT_LAYER_NORM_FORWARD || slot == TN_SLOT_LAYER_NORM_BACKWARD;
	int is_group = slot == TN_SLOT_GROUP_NORM_FORWARD || slot == TN_SLOT_GROUP_NORM_BACKWARD;
	int is_forward = slot == TN_SLOT_BATCH_NORM_FORWARD || slot == TN_SLOT_LAYER_NORM_FORWARD ||
			 slot == TN_SLOT_GROUP_NORM_FORWARD;
	uint32_t rank = is_layer ? 2 : 4;
	const int64_t *shape = is_layer ? table : plane, *length = is_layer ? table + 1 : channels;
	args->groups = is_group ? GROUPS : 0;
	args->x = in(s, rank, shape);
	args->y = as(s, is_forward, rank, shape);
	args->w = weights(s, INPUT, 1, length);
	args->has_affine = 1;
	args->epsilon = 1e-5;
	make_statistics(s, is_forward);
	if (is_forward) {
		args->b = weights(s, INPUT, 1, length);
		return sizeof(*args);
	}
	args->dx = out(s, rank, shape);
	args->dw = weights(s, OUTPUT, 1, length);
	args->db = weights(s, OUTPUT, 1, length);
	args->wants = 3;
	return sizeof(*args);
}

static size_t make_softmax(struct sample *s)
{
	struct tn_softmax_args *args = &s->args.softmax;
	if (s->slot == TN_SLOT_SOFTMAX_FORWARD) {
		args->x = in(s, 2, table);
		args->y = out(s, 2, table);
	} else {
		args->y = in(s, 2, table);
		args->dy = in(s, 2, table);
		args->dx = out(s, 2, table);
	}
	args->axis = 1;
	return sizeof(*args);
}

static size_t make_cross_entropy(struct sample *s)
{
	struct tn_cross_entropy_args *args = &s->args.cross_entropy;
	int is_forward = s->slot == TN_SLOT_CROSS_ENTROPY_FORWARD;
	args->x = in(s, 2, table);
	args->labels = numbers_below(s, 1, rows, 5);
	args->maximum = as(s, is_forward, 1, rows);
	args->log_sum = is_forward ? out(s, 1, rows) : positive(s, 1, rows);
	args->loss = as(s, is_forward, 1, rows);
	if (!is_forward)
		args->dx = out(s, 2, table);
	args->ignore_label = -1;
	return sizeof(*args);
}

static size_t make_attention(struct sample *s)
{
	static const int64_t q[3] = {2, 5, 3}, k[3] = {2, 7, 3}, v[3] = {2, 7, 4}, y[3] = {2, 5, 4};
	struct tn_attention_args *args = &s->args.attention;
	int is_forward = s->slot == TN_SLOT_ATTENTION_FORWARD;
	args->q = in(s, 3, q);
	args->k = in(s, 3, k);
	args->v = in(s, 3, v);
	args->y = as(s, is_forward, 3, y);
	args->maximum = as(s, is_forward, 2, y);
	args->log_sum = is_forward ? out(s, 2, y) : positive(s, 2, y);
	args->scale = 0.5;
	args->causal = 1;
	if (is_forward)
		return sizeof(*args);
	args->dy = in(s, 3, y);
	args->dq = out(s, 3, q);
	args->dk = out(s, 3, k);
	args->dv = out(s, 3, v);
	args->wants = 7;
	return sizeof(*args);
}

/* ---- All of them -----------------------------------------------------------------------------*/

static const struct {
	int slot;
	int family;
	size_t (*make)(struct sample *sample); /* returns the size of the arguments */
} samples[] = {
	{TN_SLOT_MAP, TN_FAMILY_MAP, make_map},
	{TN_SLOT_REDUCE, TN_FAMILY_REDUCE, make_reduce},
	{TN_SLOT_MATMUL, TN_FAMILY_MATMUL, make_matmul},
	{TN_SLOT_FILL, TN_FAMILY_COPY, make_fill},
	{TN_SLOT_COPY, TN_FAMILY_COPY, make_copy},
	{TN_SLOT_GATHER, TN_FAMILY_COPY, make_gather},
	{TN_SLOT_SCATTER_ADD, TN_FAMILY_COPY, make_gather},
	{TN_SLOT_SORT, TN_FAMILY_COPY, make_sort},
	{TN_SLOT_SCAN, TN_FAMILY_REDUCE, make_scan},
	{TN_SLOT_CONV2D_FORWARD, TN_FAMILY_CONV, make_conv2d},
	{TN_SLOT_CONV2D_INPUT_GRADIENT, TN_FAMILY_CONV, make_conv2d},
	{TN_SLOT_CONV2D_WEIGHT_GRADIENT, TN_FAMILY_CONV, make_conv2d},
	{TN_SLOT_POOL2D_FORWARD, TN_FAMILY_POOL, make_pool2d},
	{TN_SLOT_POOL2D_BACKWARD, TN_FAMILY_POOL, make_pool2d},
	{TN_SLOT_BATCH_NORM_FORWARD, TN_FAMILY_NORM, make_norm},
	{TN_SLOT_BATCH_NORM_BACKWARD, TN_FAMILY_NORM, make_norm},
	{TN_SLOT_LAYER_NORM_FORWARD, TN_FAMILY_NORM, make_norm},
	{TN_SLOT_LAYER_NORM_BACKWARD, TN_FAMILY_NORM, make_norm},
	{TN_SLOT_GROUP_NORM_FORWARD, TN_FAMILY_NORM, make_norm},
	{TN_SLOT_GROUP_NORM_BACKWARD, TN_FAMILY_NORM, make_norm},
	{TN_SLOT_SOFTMAX_FORWARD, TN_FAMILY_SOFTMAX, make_softmax},
	{TN_SLOT_SOFTMAX_BACKWARD, TN_FAMILY_SOFTMAX, make_softmax},
	{TN_SLOT_CROSS_ENTROPY_FORWARD, TN_FAMILY_SOFTMAX, make_cross_entropy},
	{TN_SLOT_CROSS_ENTROPY_BACKWARD, TN_FAMILY_SOFTMAX, make_cross_entropy},
	{TN_SLOT_SCATTER, TN_FAMILY_COPY, make_gather},
	{TN_SLOT_ATTENTION_FORWARD, TN_FAMILY_SOFTMAX, make_attention},
	{TN_SLOT_ATTENTION_BACKWARD, TN_FAMILY_SOFTMAX, make_attention},
};
enum { N_SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static int find(int slot)
{
	for (int i = 0; i < N_SAMPLES; i++)
		if (samples[i].slot == slot)
			return i;
	return -1;
}

int sample_family(int slot)
{
	return samples[find(slot)].family;
}

int sample_is_gradient(int slot)
{
	switch (slot) {
	case TN_SLOT_CONV2D_INPUT_GRADIENT:
	case TN_SLOT_CONV2D_WEIGHT_GRADIENT:
	case TN_SLOT_POOL2D_BACKWARD:
	case TN_SLOT_BATCH_NORM_BACKWARD:
	case TN_SLOT_LAYER_NORM_BACKWARD:
	case TN_SLOT_GROUP_NORM_BACKWARD:
	case TN_SLOT_SOFTMAX_BACKWARD:
	case TN_SLOT_CROSS_ENTROPY_BACKWARD:
	case TN_SLOT_ATTENTION_BACKWARD:
		return 1;
	default:
		return 0;
	}
}

int sample_has(const struct kit *kit, int slot, tn_dtype dtype)
{
	uint64_t claimed = slot == TN_SLOT_MATMUL ? kit->description.matmul_dtypes
						  : kit->description.program_dtypes;
	int is_program = slot == TN_SLOT_MAP || slot == TN_SLOT_REDUCE || slot == TN_SLOT_MATMUL;
	if (dtype != TN_F32 && is_program && !(claimed >> dtype & 1))
		return 0;
	return dtype == TN_F32 || dtype == TN_F64 || slot == TN_SLOT_MAP || slot == TN_SLOT_FILL ||
	       slot == TN_SLOT_COPY || slot == TN_SLOT_GATHER;
}

int sample_next(const struct kit *kit, int slot)
{
	for (int i = find(slot) + 1; i < N_SAMPLES; i++) {
		int next = samples[i].slot;
		uint64_t claimed = next == TN_SLOT_MATMUL ? kit->description.matmul_dtypes
							  : kit->description.program_dtypes;
		if (tn_backend_has(kit->backend, (enum tn_slot)next) &&
		    (next > TN_SLOT_MATMUL || claimed))
			return next;
	}
	return -1;
}

static void *copied(const void *from, size_t size)
{
	void *to = malloc(size ? size : 1);
	if (to)
		memcpy(to, from, size);
	return to;
}

static void make(struct kit *kit, struct sample *sample, int slot, tn_dtype dtype, int64_t scale,
		 size_t (*make_arguments)(struct sample *sample), const char *what)
{
	memset(sample, 0, sizeof(*sample));
	sample->dtype = dtype;
	sample->scale = scale;
	sample->kit = kit;
	sample->slot = slot;
	kit_case(kit, slot, "%s: %s", tn_slots[slot].name, what);
	sample->args_size = make_arguments(sample);
	sample->args.call.struct_size = (uint32_t)sample->args_size;
	for (size_t i = 0; i < sample->n; i++) {
		sample->before[i] = copied(sample->array[i].image, sample->array[i].size);
		if (!sample->before[i])
			kit_give_up(kit, "the kit is out of memory");
	}
}

void sample_make(struct kit *kit, struct sample *sample, int slot, const char *what)
{
	make(kit, sample, slot, TN_F32, 1, samples[find(slot)].make, what);
}

void sample_make_variant(struct kit *kit, struct sample *sample, int slot, const char *what,
			 unsigned variant, tn_dtype dtype, int64_t scale)
{
	const uint64_t seed = kit->seed;
	kit->seed += UINT64_C(1000003) * variant;
	make(kit, sample, slot, dtype, scale, samples[find(slot)].make, what);
	kit->seed = seed;
}

void sample_make_large_product(struct kit *kit, struct sample *sample, const char *what)
{
	make(kit, sample, TN_SLOT_MATMUL, TN_F32, 1, make_large_matmul, what);
}

void sample_make_with_programs(struct kit *kit, struct sample *sample, int slot, const char *what)
{
	make(kit, sample, slot, TN_F32, 1,
	     slot == TN_SLOT_MAP ? make_map_with_programs : make_reduce_with_programs, what);
}

void sample_free(struct sample *sample)
{
	for (size_t i = 0; i < sample->n; i++) {
		array_free(&sample->array[i]);
		free(sample->before[i]);
	}
	tn_program_destroy(sample->program);
	tn_program_destroy(sample->epilogue);
}

void sample_restore(struct sample *sample)
{
	for (size_t i = 0; i < sample->n; i++)
		memcpy(sample->array[i].image, sample->before[i], sample->array[i].size);
}

tn_status sample_run(struct sample *sample)
{
	sample_restore(sample);
	return kit_run(sample->kit, &sample->args, sample->all, sample->n);
}

static size_t bytes_of(const struct array *array)
{
	return (size_t)array->count * tn_dtype_size(array->operand.dtype);
}

unsigned char *sample_result(const struct sample *sample, size_t *size)
{
	unsigned char *result;
	size_t at = 0;
	*size = 0;
	for (size_t i = 0; i < sample->n; i++)
		*size += sample->array[i].role == OUTPUT ? bytes_of(&sample->array[i]) : 0;
	result = malloc(*size + 1);
	if (!result)
		kit_give_up(sample->kit, "the kit is out of memory");
	for (size_t i = 0; i < sample->n; i++) {
		const struct array *array = &sample->array[i];
		const size_t element = tn_dtype_size(array->operand.dtype);
		for (uint64_t e = 0; array->role == OUTPUT && e < array->count; e++, at += element)
			memcpy(result + at, array_at(array, e), element);
	}
	return result;
}

void sample_expect_bits(const struct sample *sample, const unsigned char *result, const char *id)
{
	for (size_t i = 0; i < sample->n; i++) {
		const struct array *array = &sample->array[i];
		const size_t element = tn_dtype_size(array->operand.dtype);
		for (uint64_t e = 0; array->role == OUTPUT && e < array->count;
		     e++, result += element)
			if (memcmp(array_at(array, e), result, element) != 0)
				kit_fail_as(sample->kit, id, "element %llu is not what it was",
					    (unsigned long long)e);
	}
}

void sample_expect_same(const struct sample *sample, const unsigned char *result, const char *id)
{
	const struct kit *kit = sample->kit;
	if (kit->description.determinism[sample_family(sample->slot)] == TN_DETERMINISM_ALWAYS)
		sample_expect_bits(sample, result, id);
	else
		sample_expect_close(sample, result, id);
}

void sample_expect_close(const struct sample *sample, const unsigned char *result, const char *id)
{
	for (size_t i = 0; i < sample->n; i++) {
		const struct array *array = &sample->array[i];
		struct array then = *array;
		/* The elements follow each other. */
		then.operand.offset = 0;
		then.image = (unsigned char *)result;
		then.n_axes = 1;
		then.steps[0] = (int64_t)tn_dtype_size(array->operand.dtype);
		for (uint64_t e = 0; array->role == OUTPUT && e < array->count; e++) {
			double a = array_number(&then, e), b = array_number(array, e);
			if (!(fabs(a - b) <= 1e-3 * (1 + fabs(a))))
				kit_fail_as(sample->kit, id, "element %llu is %.9g, was %.9g",
					    (unsigned long long)e, b, a);
		}
		result += array->role == OUTPUT ? bytes_of(array) : 0;
	}
}
