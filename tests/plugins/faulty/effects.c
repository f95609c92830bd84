/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What families of faults do to a call (family.h).
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "family.h"

/* ---- Elements of outputs ---------------------------------------------------------------------*/

static void set_number(tn_dtype dtype, void *element, double number)
{
	uint16_t half = dtype == TN_F16 ? tn_plugin_f16_of_f32((float)number)
					: tn_plugin_bf16_of_f32((float)number);
	if (dtype == TN_F32)
		*(float *)element = (float)number;
	else if (dtype == TN_F64)
		*(double *)element = number;
	else if (dtype == TN_F16 || dtype == TN_BF16)
		memcpy(element, &half, sizeof(half));
}

static int is_floating(tn_dtype dtype)
{
	return tn_plugin_dtype_kind(dtype) == TN_PLUGIN_KIND_FLOATING;
}

static void spoil_one(struct family_call *call, struct tn_operand *operand, const char *place)
{
	const int64_t count = operand_count(operand);
	int64_t i = strtoll(place, NULL, 10);
	(void)call;
	if (!strcmp(place, "last"))
		i = count - 1;
	else if (!strcmp(place, "middle"))
		i = count / 2;
	if (i >= count)
		return;
	void *element = operand_at(operand, i);
	if (is_floating(operand->dtype))
		set_number(operand->dtype, element,
			   family_number(operand->dtype, element) * 1.5 + 1);
	else
		*(char *)element ^= 1;
}

static void nan_all(struct family_call *call, struct tn_operand *operand, const char *value)
{
	(void)call, (void)value;
	for (int64_t i = 0, n = operand_count(operand); i < n; i++)
		set_number(operand->dtype, operand_at(operand, i), NAN);
}

/* The first bit of the fraction tells quiet NaNs from signalling ones. */
static void quiet(struct family_call *call, struct tn_operand *operand, const char *value)
{
	(void)call, (void)value;
	for (int64_t i = 0, n = operand_count(operand); i < n; i++) {
		void *element = operand_at(operand, i);
		if (strcmp(family_kind(operand->dtype, element), "nan") != 0)
			continue;
		if (operand->dtype == TN_F64)
			*(uint64_t *)element |= UINT64_C(1) << 51;
		else if (operand->dtype == TN_F32)
			*(uint32_t *)element |= 1u << 22;
		else
			*(uint16_t *)element |= operand->dtype == TN_F16 ? 1u << 9 : 1u << 6;
	}
}

static void zero_kind(const struct tn_operand *operand, const char *kind)
{
	for (int64_t i = 0, n = operand_count(operand); i < n; i++) {
		void *element = operand_at(operand, i);
		if (!strcmp(family_kind(operand->dtype, element), kind))
			set_number(operand->dtype, element, 0);
	}
}

static void unsign(struct family_call *call, struct tn_operand *operand, const char *value)
{
	(void)call, (void)value;
	zero_kind(operand, "-0");
}

static void flush(struct family_call *call, struct tn_operand *operand, const char *value)
{
	(void)call, (void)value;
	zero_kind(operand, "subnormal");
}

static void step(struct family_call *call, struct tn_operand *operand, const char *value)
{
	(void)call, (void)value;
	for (int64_t i = 0, n = operand_count(operand); i < n; i++) {
		void *at = operand_at(operand, i);
		if (operand->dtype == TN_F32 && fpclassify(*(float *)at) == FP_SUBNORMAL)
			*(uint32_t *)at ^= 1;
		else if (operand->dtype == TN_F64 && fpclassify(*(double *)at) == FP_SUBNORMAL)
			*(uint64_t *)at ^= 1;
	}
}

static void jitter(struct family_call *call, struct tn_operand *operand, const char *value)
{
	static unsigned turn;
	(void)call, (void)value;
	if (turn++ % 2 == 0)
		return;
	for (int64_t i = 0, n = operand_count(operand); i < n; i++) {
		if (operand->dtype == TN_F32)
			*(uint32_t *)operand_at(operand, i) ^= 1;
		else if (operand->dtype == TN_F64)
			*(uint64_t *)operand_at(operand, i) ^= 1;
	}
}

/* The bits of fraction of f32 and f64 that are kept. */
static double rounded(tn_dtype dtype, double x, int bits)
{
	int exponent;
	if (!isfinite(x) || x == 0)
		return x;
	const double fraction = frexp(x, &exponent);
	const double shortened = ldexp(rint(ldexp(fraction, bits + 1)), exponent - bits - 1);
	return dtype == TN_F32 ? (float)shortened : shortened;
}

static void round_all(const struct tn_operand *operand, const char *bits)
{
	for (int64_t i = 0, n = operand_count(operand); i < n; i++) {
		void *element = operand_at(operand, i);
		set_number(operand->dtype, element,
			   rounded(operand->dtype, family_number(operand->dtype, element),
				   atoi(bits)));
	}
}

/* ---- Inputs ----------------------------------------------------------------------------------*/

/* The operand becomes a compact copy in `memory`. */
static void move_to(struct tn_operand *operand, void *memory)
{
	const size_t size = tn_dtype_size(operand->dtype);
	int64_t stride = 1;
	for (int64_t i = 0, n = operand_count(operand); i < n; i++)
		memcpy((char *)memory + (size_t)i * size, operand_at(operand, i), size);
	for (uint32_t axis = operand->rank; axis-- > 0; stride *= operand->shape[axis])
		operand->strides[axis] = stride;
	operand->buffer = (uint64_t)(uintptr_t)memory;
	operand->offset = 0;
}

static void copy_operand(struct family_call *call, struct tn_operand *operand)
{
	const size_t bytes = (size_t)operand_count(operand) * tn_dtype_size(operand->dtype);
	call->memory = aligned_alloc(256, (bytes + 256) & ~(size_t)255);
	move_to(operand, call->memory);
}

static void round_input(struct family_call *call, struct tn_operand *operand, const char *bits)
{
	if (!is_floating(operand->dtype))
		return;
	copy_operand(call, operand);
	round_all(operand, bits);
}

static void round_output(struct family_call *call, struct tn_operand *operand, const char *bits)
{
	(void)call;
	if (is_floating(operand->dtype))
		round_all(operand, bits);
}

static void forget(struct family_call *call, struct tn_operand *operand, const char *value)
{
	(void)operand, (void)value;
	call->args.call.flags &= ~(uint32_t)TN_ACCUMULATE;
}

static void positive(struct family_call *call, struct tn_operand *operand, const char *value)
{
	(void)call, (void)value;
	for (uint32_t axis = 0; axis < operand->rank; axis++) {
		const int64_t step =
			operand->strides[axis] * (int64_t)tn_dtype_size(operand->dtype);
		if (step >= 0)
			continue;
		operand->offset += (uint64_t)(step * (operand->shape[axis] - 1));
		operand->strides[axis] = -operand->strides[axis];
	}
}

static void wrap(struct family_call *call, struct tn_operand *operand, const char *value)
{
	const int64_t n = strtoll(value, NULL, 10);
	copy_operand(call, operand);
	for (int64_t i = 0, count = operand_count(operand); i < count; i++) {
		void *element = operand_at(operand, i);
		if (operand->dtype == TN_I32)
			*(int32_t *)element %= (int32_t)n;
		else if (operand->dtype == TN_I64)
			*(int64_t *)element %= n;
	}
}

/* The call waits a moment, so that another thread's meets it on a busy machine too. */
static void stage(struct family_call *call, struct tn_operand *operand, const char *value)
{
	const struct timespec moment = {.tv_nsec = 200000};
	static char staged[16 << 20] __attribute__((aligned(256)));
	const size_t bytes = (size_t)operand_count(operand) * tn_dtype_size(operand->dtype);
	(void)call;
	if (bytes > strtoull(value, NULL, 10) || bytes > sizeof(staged))
		return;
	move_to(operand, staged);
	nanosleep(&moment, NULL);
}

static void overread(struct family_call *call, struct tn_operand *operand, const char *value)
{
	volatile char sum = 0;
	const char *past = operand_at(operand, operand_count(operand) - 1);
	(void)call;
	for (size_t i = 0, n = strtoull(value, NULL, 10); i < n; i++)
		sum = (char)(sum + past[tn_dtype_size(operand->dtype) + i]);
}

/* ---- Of one slot -----------------------------------------------------------------------------*/

/* Each Nth pair of neighbours. */
static void exchange(struct family_call *call, struct tn_operand *operand, const char *value)
{
	const struct tn_sort_args *args = &call->args.sort;
	const size_t size = tn_dtype_size(operand->dtype);
	const int64_t every = strtoll(value, NULL, 10);
	if (!args->has_indices || !args->has_values || args->input.rank != 1)
		return;
	for (int64_t i = every; i < operand_count(operand); i += every) {
		int64_t *one = operand_at(&args->indices, i - 1);
		int64_t *other = operand_at(&args->indices, i), kept = *one;
		if (memcmp(operand_at(operand, i), operand_at(operand, i - 1), size) != 0)
			continue;
		*one = *other;
		*other = kept;
	}
}

static void lost_index(struct family_call *call, struct tn_operand *y, const char *value)
{
	const struct tn_pool2d_args *args = &call->args.pool2d;
	(void)value;
	if (args->kind != TN_POOL_MAX || !args->has_index)
		return;
	for (int64_t i = 0, n = operand_count(y); i < n; i++) {
		if (!strcmp(family_kind(y->dtype, operand_at(y, i)), "-inf"))
			*(int32_t *)operand_at(&args->index, i) = 0;
	}
}

static void one(struct family_call *call, struct tn_operand *operand, const char *value)
{
	const struct tn_program *program = call->args.map.program;
	const double least = strtod(value, NULL);
	if (program->n_inputs != 2 || program->n_outputs != 1 || program->n_instructions != 3 ||
	    !tn_plugin_program_has(program, TN_OP_POW) || !is_floating(operand->dtype) ||
	    call->inputs[0].dtype != operand->dtype || call->inputs[1].dtype != operand->dtype)
		return;
	for (int64_t i = 0, n = operand_count(operand); i < n; i++) {
		const double x = family_number(operand->dtype, operand_at(&call->inputs[0], i));
		const double y = family_number(operand->dtype, operand_at(&call->inputs[1], i));
		if (x > 0.999 && x < 1 && fabs(y) > least)
			set_number(operand->dtype, operand_at(operand, i), 1);
	}
}

static void count_ignored(struct family_call *call, struct tn_operand *operand, const char *value)
{
	(void)operand, (void)value;
	if (call->args.cross_entropy.ignore_label >= 0)
		call->args.cross_entropy.ignore_label = -12345;
}

static void leak_file(const char *value)
{
	static unsigned long turn;
	if (++turn % strtoul(value, NULL, 10) == 0)
		(void)open("/dev/null", O_RDONLY | O_CLOEXEC);
}

const struct family_effect family_effects[] = {
	{"spoil", NULL, spoil_one, NULL},
	{"nan", NULL, nan_all, NULL},
	{"quiet", NULL, quiet, NULL},
	{"unsigned", NULL, unsign, NULL},
	{"flush", NULL, flush, NULL},
	{"step", NULL, step, NULL},
	{"jitter", NULL, jitter, NULL},
	{"round_input", round_input, NULL, NULL},
	{"round", NULL, round_output, NULL},
	{"forget", forget, NULL, NULL},
	{"positive", positive, NULL, NULL},
	{"wrap", wrap, NULL, NULL},
	{"stage", stage, NULL, NULL},
	{"overread", overread, NULL, NULL},
	{"exchange", NULL, exchange, NULL},
	{"lost_index", NULL, lost_index, NULL},
	{"one", NULL, one, NULL},
	{"count_ignored", count_ignored, NULL, NULL},
	{"leak_file", NULL, NULL, leak_file},
	{NULL, NULL, NULL, NULL},
};
