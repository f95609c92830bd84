/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The backend under test, its cases and its tally.  Messages of checks are sent to the parent:
 * child.c.
 */
#include "context.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>

const char *const route_names[ROUTES] = {"native", "lent", "composed", "host"};

/* Like the host, it uses what describe says of the open device. */
tn_status kit_open(struct kit *kit, const struct tn_backend *backend, uint32_t index)
{
	struct tn_open_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .index = index};
	memset(&kit->options, 0, sizeof(kit->options)); /* left by a check that ended its process */
	tn_error_reset(&kit->error);
	kit->backend = backend;
	kit->index = index;
	memset(&kit->description, 0, sizeof(kit->description));
	kit->description.struct_size = sizeof(kit->description);
	tn_status status = backend->device.open(backend->plugin.instance, &args, &kit->device);
	if (status)
		return status;
	status = backend->device.describe(backend->plugin.instance, index, &kit->description);
	if (status)
		backend->device.close(kit->device);
	return status;
}

void kit_close(struct kit *kit)
{
	kit_contexts_close();
	kit->backend->device.close(kit->device);
	kit->device = NULL;
}

void kit_case(struct kit *kit, int slot, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(kit->case_name, sizeof(kit->case_name), format, arguments);
	va_end(arguments);
	kit->slot = slot;
	kit->case_failed = 0;
	kit->n_arrays = 0;
	kit->random = (kit->seed + 1) * 0x9e3779b97f4a7c15;
	tn_error_reset(&kit->error);
}

void kit_pass(struct kit *kit)
{
	kit->tallies[kit->slot].done++;
}

void kit_unsupported(struct kit *kit)
{
	kit->tallies[kit->slot].unsupported++;
}

void kit_cover(struct kit *kit, const char *operation, enum route route, unsigned n)
{
	size_t i = 0;
	while (i < kit->n_coverage && strcmp(kit->coverage[i].operation, operation) != 0)
		i++;
	if (i == KIT_OPERATIONS)
		kit_give_up(kit, "more than %d operations are covered", KIT_OPERATIONS);
	if (i == kit->n_coverage) {
		memset(&kit->coverage[i], 0, sizeof(kit->coverage[i]));
		snprintf(kit->coverage[i].operation, sizeof(kit->coverage[i].operation), "%s",
			 operation);
		kit->n_coverage++;
	}
	kit->coverage[i].by[route] += n;
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

const tn_dtype layer_dtypes[LAYER_DTYPES] = {TN_F32, TN_F64, TN_F16, TN_BF16};

int kit_is_tried(const struct kit *kit, tn_dtype dtype, unsigned layout)
{
	int is_wide = dtype == TN_F32 || dtype == TN_F64;
	return kit_claims_storage(kit, dtype) &&
	       (is_wide || layout == COMPACT || layout == SHIFTED || layout == CHANNELS_LAST);
}

double kit_epsilon(tn_dtype dtype)
{
	return dtype == TN_F64 ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
}

double kit_family_epsilon(const struct kit *kit, int family, tn_dtype dtype)
{
	if (dtype != TN_F32)
		return kit_epsilon(dtype);
	switch (kit->description.accuracy[family]) {
	case TN_ACCURACY_REDUCED: /* TF32 and bf16x3 round factors to at least 10 bits. */
	case TN_ACCURACY_F16:
		return 1.0 / 2048;
	case TN_ACCURACY_BF16:
		return 1.0 / 256;
	default:
		return kit_epsilon(dtype);
	}
}

void kit_vary(struct kit *kit, uint64_t n)
{
	kit->random += (n + 1) * 0xd1342543de82ef95;
	kit->random = kit_random(kit);
}

int kit_takes(struct kit *kit)
{
	kit->effort_due += kit->effort;
	if (kit->effort_due < 1)
		return 0;
	kit->effort_due = fmin(kit->effort_due - 1, 1);
	return 1;
}

unsigned kit_share(const struct kit *kit, unsigned n)
{
	return kit->effort < 1 ? 1 + (unsigned)(kit->effort * (n - 1)) : n;
}

int kit_reaches(const struct kit *kit, uint64_t elements)
{
	return kit->effort >= 1 || (double)elements <= kit->effort * 0x1p24;
}

double kit_uniform(struct kit *kit, double low, double high)
{
	return low + (high - low) * (double)(kit_random(kit) >> 11) * 0x1p-53;
}
