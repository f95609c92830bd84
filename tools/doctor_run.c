/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The inputs of a check, which are the same on both sides, and its outputs.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "doctor.h"

/* splitmix64 (Steele, Lea and Flood 2014). */
uint64_t doctor_random(struct doctor_run *run)
{
	uint64_t z = run->random += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static size_t count_of(int rank, const int64_t *shape)
{
	size_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= (size_t)shape[i];
	return n;
}

static void *numbers(struct doctor_run *run, size_t n, size_t size)
{
	void *data = malloc(n * size + 1);
	if (!data)
		run->out_of_memory = 1;
	return data;
}

static float representable(const struct doctor_run *run, float x)
{
	return run->compute == TN_BF16  ? tn_f32_of_bf16(tn_bf16_of_f32(x))
	       : run->compute == TN_F16 ? tn_f32_of_f16(tn_f16_of_f32(x))
					: x;
}

tn_array *doctor_reals(struct doctor_run *run, double low, double high, int rank,
		       const int64_t *shape)
{
	size_t n = count_of(rank, shape);
	float *data = numbers(run, n, sizeof(*data));
	for (size_t i = 0; data && i < n; i++) {
		double share = (double)(doctor_random(run) >> 11) * 0x1p-53;
		float x = representable(run, (float)(low + (high - low) * share));
		data[i] = run->magnitudes ? fabsf(x) : x;
	}
	tn_array *array = data ? tn_from_host(run->context, TN_F32, rank, shape, data) : NULL;
	free(data);
	return array;
}

tn_array *doctor_whole(struct doctor_run *run, tn_dtype dtype, int64_t low, int64_t high, int rank,
		       const int64_t *shape)
{
	size_t n = count_of(rank, shape);
	int64_t *data = numbers(run, n, sizeof(*data));
	uint64_t span = (uint64_t)high - (uint64_t)low + 1;
	for (size_t i = 0; data && i < n; i++) {
		uint64_t word = doctor_random(run);
		int64_t x = (int64_t)((uint64_t)low + (span ? word % span : word));
		data[i] = run->magnitudes && x < 0 ? -x : x;
	}
	tn_array *wide = data ? tn_from_host(run->context, TN_I64, rank, shape, data) : NULL;
	free(data);
	return dtype == TN_I64 ? wide : tn_astype(wide, dtype);
}

tn_array *doctor_given(struct doctor_run *run, int64_t n, const float *values)
{
	float *data = numbers(run, (size_t)n, sizeof(*data));
	for (int64_t i = 0; data && i < n; i++)
		data[i] = representable(run, values[i]);
	tn_array *array = data ? tn_from_host(run->context, TN_F32, 1, &n, data) : NULL;
	free(data);
	return array;
}

/* ---- Outputs ---------------------------------------------------------------------------------*/

static struct doctor_values *add_values(struct doctor_run *run)
{
	struct doctor_values *grown =
		realloc(run->values, (run->n_values + 1) * sizeof(*run->values));
	if (!grown) {
		run->out_of_memory = 1;
		return NULL;
	}
	run->values = grown;
	struct doctor_values *values = &grown[run->n_values++];
	memset(values, 0, sizeof(*values));
	return values;
}

static void fetch(struct doctor_run *run, struct doctor_values *values, const tn_array *result)
{
	size_t size = tn_dtype_size(tn_array_dtype(result));
	values->dtype = tn_array_dtype(result);
	values->rank = tn_array_rank(result);
	memcpy(values->shape, tn_array_shape(result),
	       (size_t)values->rank * sizeof(*values->shape));
	values->count = (size_t)tn_array_size(result);
	values->data = numbers(run, values->count, size);
	/* On failure the context keeps the error, which is read after the check. */
	if (values->data && tn_to_host(result, values->data, values->count * size))
		memset(values->data, 0xff, values->count * size);
}

void doctor_give(struct doctor_run *run, const tn_array *result, enum doctor_bound bound,
		 double roundings, const char *format, ...)
{
	va_list arguments;
	struct doctor_values *values = result ? add_values(run) : NULL;
	if (!values)
		return;
	va_start(arguments, format);
	vsnprintf(values->what, sizeof(values->what), format, arguments);
	va_end(arguments);
	values->bound = bound;
	values->roundings = roundings;
	fetch(run, values, result);
}

tn_tape *doctor_record(struct doctor_run *run, int n, tn_array *const *inputs)
{
	tn_tape *tape = tn_tape_begin(run->context);
	for (int i = 0; tape && i < n; i++)
		(void)tn_tape_watch(tape, inputs[i]);
	return tape;
}

void doctor_give_gradients(struct doctor_run *run, tn_tape *tape, tn_array *output, int n,
			   tn_array *const *inputs, enum doctor_bound bound, double roundings,
			   const char *what)
{
	tn_array *dy =
		output ? doctor_reals(run, -1, 1, tn_array_rank(output), tn_array_shape(output))
		       : NULL;
	if (tape && dy && !tn_tape_backward(tape, output, dy)) {
		for (int i = 0; i < n; i++)
			doctor_give(run, tn_tape_gradient(tape, inputs[i]), bound, roundings,
				    "%s, gradient %d", what, i);
	}
	tn_tape_end(tape);
}

void doctor_run_release(struct doctor_run *run)
{
	for (size_t i = 0; i < run->n_values; i++)
		free(run->values[i].data);
	free(run->values);
	run->values = NULL;
	run->n_values = 0;
}
