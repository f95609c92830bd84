/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Descriptions that the device does not meet.
 */
#include "faulty.h"

static void (*change)(struct tn_device_description *description);

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	struct tn_device_description own = {.struct_size = sizeof(own)};
	tn_status status = right.device.describe(instance, index, &own);
	if (status)
		return status;
	change(&own);
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static void large_alignment(struct tn_device_description *description)
{
	description->alignment = 1u << 20;
}

static void plant_alignment(void)
{
	change = large_alignment;
	faulty.device.describe = describe;
}

static void one_pib(struct tn_device_description *description)
{
	description->memory_bytes = UINT64_C(1) << 50;
}

static void plant_memory(void)
{
	change = one_pib;
	faulty.device.describe = describe;
}

static void half_programs(struct tn_device_description *description)
{
	description->program_dtypes |= UINT64_C(1) << TN_F16;
}

static void plant_half_programs(void)
{
	change = half_programs;
	faulty.device.describe = describe;
}

static void complex_programs(struct tn_device_description *description)
{
	description->program_dtypes |= UINT64_C(1) << TN_C64;
}

static void plant_complex_programs(void)
{
	change = complex_programs;
	faulty.device.describe = describe;
}

static uint32_t stated_ulps;

static void with_stated_ulps(struct tn_device_description *description)
{
	description->function_ulps = stated_ulps;
}

void state_function_ulps(uint32_t ulps)
{
	stated_ulps = ulps;
	change = with_stated_ulps;
	faulty.device.describe = describe;
}

static void plant_many_ulps(void)
{
	state_function_ulps(TN_MOST_FUNCTION_ULPS + 1);
}

static void without_subnormals(struct tn_device_description *description)
{
	description->numerics = 0;
}

void state_no_subnormals(void)
{
	change = without_subnormals;
	faulty.device.describe = describe;
}

static void two_uuids(struct tn_device_description *description)
{
	description->identity_type = description->identity2_type = TN_IDENTITY_UUID;
}

static void plant_two_uuids(void)
{
	change = two_uuids;
	faulty.device.describe = describe;
}

const struct fault device_faults[] = {
	{"alignment_not_kept", plant_alignment},
	{"memory_1_pib", plant_memory},
	{"programs_in_f16", plant_half_programs},
	{"programs_in_c64", plant_complex_programs},
	{"functions_17_ulps", plant_many_ulps},
	{"two_uuids", plant_two_uuids},
	{NULL, NULL},
};
