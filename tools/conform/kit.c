/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The backend under test, its cases and its tally.
 */
#include "conform.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>

enum { MOST_MESSAGES = 40 }; /* of one slot */

tn_status kit_open(struct kit *kit, const struct tn_backend *backend, uint32_t index)
{
	struct tn_open_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .index = index};
	memset(kit, 0, sizeof(*kit));
	tn_error_reset(&kit->error);
	kit->backend = backend;
	kit->description.struct_size = sizeof(kit->description);
	tn_status status = backend->device.describe(backend->instance, index, &kit->description);
	return status == TN_OK ? backend->device.open(backend->instance, &args, &kit->device)
			       : status;
}

void kit_close(struct kit *kit)
{
	kit->backend->device.close(kit->device);
}

void kit_case(struct kit *kit, enum tn_slot slot, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(kit->case_name, sizeof(kit->case_name), format, arguments);
	va_end(arguments);
	kit->slot = slot;
	kit->case_failed = 0;
	kit->random = 0x9e3779b97f4a7c15;
	tn_error_reset(&kit->error);
}

void kit_fail(struct kit *kit, const char *format, ...)
{
	va_list arguments;
	if (kit->case_failed)
		return;
	kit->case_failed = 1;
	if (++kit->tallies[kit->slot].failed > MOST_MESSAGES)
		return;
	fprintf(stderr, "FAILED  %s: ", kit->case_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
}

int kit_claims_program(const struct kit *kit, tn_dtype dtype)
{
	return (int)(kit->description.program_dtypes >> dtype & 1);
}

int kit_claims_storage(const struct kit *kit, tn_dtype dtype)
{
	return (int)(kit->description.storage_dtypes >> dtype & 1);
}

int kit_claims_matmul(const struct kit *kit, tn_dtype dtype)
{
	return (int)(kit->description.matmul_dtypes >> dtype & 1);
}

double kit_epsilon(tn_dtype dtype)
{
	return dtype == TN_F64 ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
}

double kit_family_epsilon(const struct kit *kit, int family, tn_dtype dtype)
{
	/* TF32 and bf16x3 round products' factors to at least 10 bits. */
	if (dtype == TN_F32 && kit->description.accuracy[family] == TN_ACCURACY_REDUCED)
		return 1.0 / 2048;
	return kit_epsilon(dtype);
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t kit_random(struct kit *kit)
{
	uint64_t z = (kit->random += 0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

double kit_uniform(struct kit *kit, double low, double high)
{
	return low + (high - low) * (double)(kit_random(kit) >> 11) * 0x1p-53;
}
