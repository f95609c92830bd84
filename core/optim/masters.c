/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Mixed precision: P. Micikevicius et al., "Mixed Precision Training", ICLR 2018.
 */
#include "optim/masters.h"

#include "array/array.h"
#include "array/make.h"
#include "base/dtype.h"
#include "base/text.h"
#include "dispatch/ledger.h"
#include "ops/map.h"

/* near = the master rounded to nearest, ties to even, which is what a store does; master = the
 * weight unless it is that. */
#define COMPARED "; master = near == stored ? master : stored"
static const char update_f16[] =
	"bits = bitcast_u32(master);"
	"near = bitcast_f32((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000);"
	"near = abs(near) > 65504 ? near * inf : near;"
	"near = abs(master) < 0x1p-14 ? round(master * 0x1p24) * 0x1p-24 : near" COMPARED;
static const char update_bf16[] =
	"bits = bitcast_u32(master);"
	"near = bitcast_f32((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000)" COMPARED;

static const char *update_text(tn_dtype dtype)
{
	return dtype == TN_F16 ? update_f16 : update_bf16;
}

tn_status tn_masters_make(tn_optimizer *optimizer)
{
	const tn_module *module = optimizer->module;
	if (!tn_is_narrow(module->arena.values->dtype))
		return TN_OK;
	tn_array *masters = tn_astype(tn_weights_of_share(optimizer), tn_arena_dtype(module));
	if (!masters)
		return module->runtime->error.status;
	optimizer->masters = tn_array_hold(masters);
	return TN_OK;
}

char *tn_masters_text(tn_dtype dtype, const char *rule)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s; w = master; %s; master = w; stored = w", update_text(dtype),
		       rule);
	return tn_text_take(&text);
}

tn_status tn_masters_update(const tn_optimizer *optimizer)
{
	const tn_array *values = tn_weights_of_share(optimizer);
	struct tn_runtime *rt = optimizer->module->runtime;
	if (!optimizer->masters)
		return TN_OK;
	const tn_dtype dtypes[] = {values->dtype, optimizer->masters->dtype};
	const struct tn_formula update = {
		.text = update_text(values->dtype), .inputs = "stored master", .outputs = "master"};
	tn_array *masters = optimizer->masters;
	struct tn_map_run map = {.operation = tn_operation_named(rt, "masters"),
				 .inputs = (const tn_array *const[]){values, masters},
				 .outputs = &masters};
	tn_status status = tn_formula_program(rt, "masters", &update, dtypes, &map.program);
	return tn_end_into(rt, status ? status : tn_map_run(rt, &map));
}
