/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Compares the values of two sides.  A failure names the operation, its shape, the first wrong
 * element, the expected and found values, and the number of wrong elements.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/dtype.h"
#include "doctor.h"

void doctor_fail(struct doctor_result *result, const char *format, ...)
{
	va_list arguments;
	if (result->state == DOCTOR_FAILED)
		return;
	result->state = DOCTOR_FAILED;
	va_start(arguments, format);
	vsnprintf(result->reason, sizeof(result->reason), format, arguments);
	va_end(arguments);
}

/* 64-bit integers lose low bits here: they are compared as bits and printed by print_element. */
static double element(const struct doctor_values *v, size_t i)
{
	union {
		uint8_t u8;
		int8_t i8;
		uint16_t u16;
		int16_t i16;
		uint32_t u32;
		int32_t i32;
		uint64_t u64;
		int64_t i64;
		float f32;
		double f64;
	} x = {.u64 = 0};
	size_t size = tn_dtype_size(v->dtype);
	memcpy(&x, (const char *)v->data + i * size, size < sizeof(x) ? size : sizeof(x));
	switch (v->dtype) {
	case TN_BOOL:
	case TN_U8:
		return x.u8;
	case TN_I8:
		return x.i8;
	case TN_I16:
		return x.i16;
	case TN_U16:
		return x.u16;
	case TN_I32:
		return x.i32;
	case TN_U32:
		return x.u32;
	case TN_I64:
		return (double)x.i64;
	case TN_U64:
		return (double)x.u64;
	case TN_F16:
		return (double)tn_f32_of_f16(x.u16);
	case TN_BF16:
		return (double)tn_f32_of_bf16(x.u16);
	case TN_F64:
		return x.f64;
	default:
		return (double)x.f32;
	}
}

static void print_element(const struct doctor_values *v, size_t i, char *text, size_t size)
{
	uint64_t word = 0;
	if (tn_dtype_size(v->dtype) == 8)
		memcpy(&word, (const char *)v->data + i * 8, 8);
	if (v->dtype == TN_I64)
		snprintf(text, size, "%" PRId64, (int64_t)word);
	else if (v->dtype == TN_U64)
		snprintf(text, size, "%" PRIu64, word);
	else
		snprintf(text, size, v->dtype == TN_F32 ? "%.9g" : "%.17g", element(v, i));
}

/* "(3, 4)" of an index or a shape. */
static void print_tuple(int n, const int64_t *numbers, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "(");
	for (int i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, i ? ", %" PRId64 : "%" PRId64,
				       numbers[i]);
	if (at < size)
		snprintf(text + at, size - at, ")");
}

static void index_of(const struct doctor_values *v, size_t i, int64_t *index)
{
	for (int axis = v->rank; axis-- > 0;) {
		index[axis] = (int64_t)(i % (size_t)v->shape[axis]);
		i /= (size_t)v->shape[axis];
	}
}

tn_dtype doctor_compute_dtype(uint8_t accuracy)
{
	return accuracy == TN_ACCURACY_BF16  ? TN_BF16
	       : accuracy == TN_ACCURACY_F16 ? TN_F16
					     : TN_F32;
}

uint8_t doctor_accuracy(const struct tn_device_description *description, uint32_t family)
{
	static const uint32_t parts[] = {TN_FAMILY_MAP, TN_FAMILY_REDUCE, TN_FAMILY_MATMUL};
	uint8_t most = description->accuracy[family];
	for (size_t i = 0; i < 3 && family != TN_FAMILY_MAP; i++) {
		const uint8_t part = description->accuracy[parts[i]];
		if (tn_half_unit(doctor_compute_dtype(part)) >
		    tn_half_unit(doctor_compute_dtype(most)))
			most = part;
	}
	return most;
}

/* The relative error of a value. */
static double error_of(const struct doctor_values *expected, uint8_t accuracy)
{
	const tn_dtype dtype = expected->dtype, compute = doctor_compute_dtype(accuracy);
	double unit = tn_is_floating(dtype) ? tn_half_unit(dtype) : 0x1p-24;
	if (accuracy == TN_ACCURACY_REDUCED)
		unit = fmax(unit, 0x1p-11);
	double error = unit * expected->roundings;
	if (compute != TN_F32 && tn_compute_dtype(dtype) == TN_F32)
		error += tn_half_unit(compute) *
			 fmin(fmax(expected->roundings, DOCTOR_FEWEST), DOCTOR_MOST);
	return error;
}

static double largest(const struct doctor_values *v)
{
	double most = 0;
	for (size_t i = 0; i < v->count; i++) {
		double size = fabs(element(v, i));
		most = isfinite(size) && size > most ? size : most;
	}
	return most;
}

/* The factor of an element's bound. */
static double scale_of(const struct doctor_values *expected, const struct doctor_values *magnitude,
		       double most, size_t i)
{
	if (expected->bound == DOCTOR_OF_MAGNITUDE)
		return magnitude ? fabs(element(magnitude, i)) : 0;
	if (expected->bound == DOCTOR_OF_LARGEST)
		return most + 0x1p-6;
	return fabs(element(expected, i)) + 0x1p-6;
}

static int same_bits(const struct doctor_values *a, const struct doctor_values *b, size_t i)
{
	size_t size = tn_dtype_size(a->dtype);
	return !memcmp((const char *)a->data + i * size, (const char *)b->data + i * size, size);
}

/* The difference divided by the allowed one: wrong if above 1. */
static double share_of(double found, double expected, double allowed)
{
	if ((isnan(found) && isnan(expected)) || found == expected)
		return 0;
	if (!isfinite(found) || !isfinite(expected))
		return INFINITY;
	double difference = fabs(found - expected);
	return difference <= allowed ? difference / allowed : INFINITY;
}

struct wrong {
	size_t count, first;
	double allowed; /* of the first wrong element */
};

static void look(struct doctor_result *result, const struct doctor_values *found,
		 const struct doctor_values *expected, const struct doctor_values *magnitude,
		 uint8_t accuracy, struct wrong *wrong)
{
	double most = expected->bound == DOCTOR_OF_LARGEST ? largest(expected) : 0;
	const double error = error_of(expected, accuracy);
	for (size_t i = 0; i < expected->count; i++) {
		double x = element(found, i), y = element(expected, i), allowed = 0, share;
		if (error == 0) {
			share = same_bits(found, expected, i) || (isnan(x) && isnan(y)) ? 0
											: INFINITY;
		} else {
			allowed = error * scale_of(expected, magnitude, most, i);
			share = share_of(x, y, allowed);
		}
		if (share <= 1 && share > result->worst)
			result->worst = share;
		if (share <= 1 || wrong->count++)
			continue;
		wrong->first = i;
		wrong->allowed = allowed;
	}
}

static void say(struct doctor_result *result, const struct doctor_values *found,
		const struct doctor_values *expected, const struct wrong *wrong)
{
	char shape[128], at[128], is[40], should_be[40], allowed[48] = "";
	const char *type = tn_dtype_name(expected->dtype);
	int64_t index[TN_MAX_RANK];
	index_of(expected, wrong->first, index);
	print_tuple(expected->rank, expected->shape, shape, sizeof(shape));
	print_tuple(expected->rank, index, at, sizeof(at));
	print_element(expected, wrong->first, should_be, sizeof(should_be));
	print_element(found, wrong->first, is, sizeof(is));
	if (wrong->allowed > 0)
		snprintf(allowed, sizeof(allowed), " within %.3g", wrong->allowed);
	if (expected->rank == 0) {
		doctor_fail(result, "%s: one %s: expected %s%s, found %s", expected->what, type,
			    should_be, allowed, is);
		return;
	}
	doctor_fail(result,
		    "%s: result %s of %s: element %s: expected %s%s, found %s; %zu of %zu wrong",
		    expected->what, shape, type, at, should_be, allowed, is, wrong->count,
		    expected->count);
}

void doctor_compare(struct doctor_result *result, const struct doctor_values *found,
		    const struct doctor_values *expected, const struct doctor_values *magnitude,
		    uint8_t accuracy)
{
	struct wrong wrong = {0, 0, 0};
	if (found->dtype != expected->dtype || found->rank != expected->rank ||
	    memcmp(found->shape, expected->shape,
		   (size_t)expected->rank * sizeof(*expected->shape)) != 0) {
		doctor_fail(result, "%s: the result has another dtype or shape", expected->what);
		return;
	}
	if (!found->data || !expected->data)
		return;
	look(result, found, expected, magnitude, accuracy, &wrong);
	result->cases++;
	if (wrong.count)
		say(result, found, expected, &wrong);
}
