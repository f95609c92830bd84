/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The element types of safetensors, in one table.
 */
#include "io/safetensors_type.h"

#include <string.h>

static const struct tn_safetensors_type types[] = {
	{"BOOL", 8, TN_BOOL}, {"U8", 8, TN_U8},      {"I8", 8, TN_I8},      {"I16", 16, TN_I16},
	{"U16", 16, TN_U16},  {"F16", 16, TN_F16},   {"BF16", 16, TN_BF16}, {"I32", 32, TN_I32},
	{"U32", 32, TN_U32},  {"F32", 32, TN_F32},   {"I64", 64, TN_I64},   {"U64", 64, TN_U64},
	{"F64", 64, TN_F64},  {"C64", 64, TN_C64},   {"F8_E4M3", 8, 0},     {"F8_E5M2", 8, 0},
	{"F8_E8M0", 8, 0},    {"F8_E4M3FNUZ", 8, 0}, {"F8_E5M2FNUZ", 8, 0}, {"F6_E2M3", 6, 0},
	{"F6_E3M2", 6, 0},    {"F4", 4, 0},
};

const struct tn_safetensors_type *tn_safetensors_type_named(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i].name, name))
			return &types[i];
	}
	return NULL;
}

const struct tn_safetensors_type *tn_safetensors_type_of(tn_dtype dtype)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (dtype && types[i].dtype == dtype)
			return &types[i];
	}
	return NULL;
}
