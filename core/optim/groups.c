/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Settings of groups of parameters.
 */
#include <fnmatch.h>

#include "base/options.h"
#include "capture/capture.h"
#include "optim/optimizer.h"

static int is_chosen(const struct tn_group_options *o, const struct tn_named_weight *named)
{
	return (!o->names || !fnmatch(o->names, named->name, 0)) &&
	       (!o->max_rank || named->weight->rank <= o->max_rank);
}

static const struct tn_option members[] = {
	{TN_MEMBER(struct tn_group_options, lr_factor), .most = INFINITY},
	{TN_MEMBER(struct tn_group_options, weight_decay), .most = INFINITY},
	{0},
};

static tn_status check(struct tn_runtime *rt, struct tn_group_options *o, const char *operation)
{
	if (o->max_rank < 0)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "max_rank: expected at least 0, found %d", o->max_rank);
	tn_status status = tn_runtime_check(rt, o, members, operation);
	if (status)
		return status;
	if (o->no_decay && o->weight_decay != 0.0)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "weight_decay: expected 0 beside no_decay, found %g",
				       o->weight_decay);
	if (o->lr_factor == 0.0 && o->weight_decay == 0.0 && !o->no_decay)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected lr_factor, weight_decay or no_decay, found none");
	return TN_OK;
}

tn_status tn_optimizer_set_group(tn_optimizer *optimizer, const struct tn_group_options *options)
{
	static const char operation[] = "optimizer_set_group";
	struct tn_group_options o = {0};
	size_t n_chosen = 0;
	if (!optimizer)
		return TN_INVALID_ARGUMENT;
	const tn_module *module = optimizer->module;
	struct tn_runtime *rt = module->runtime;
	tn_status status =
		tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_group_options", operation);
	if (!status)
		status = tn_capture_refuse(rt, operation, "settings of parameters");
	if (!status)
		status = check(rt, &o, operation);
	if (status)
		return status;
	for (size_t i = 0; i < module->n_listing; i++) {
		struct tn_weight_setting *setting = &optimizer->settings[i];
		if (!is_chosen(&o, &module->listing[i]))
			continue;
		n_chosen++;
		if (o.lr_factor != 0.0)
			setting->lr_factor = o.lr_factor;
		if (o.weight_decay != 0.0 || o.no_decay)
			setting->weight_decay = o.weight_decay;
	}
	if (n_chosen)
		return TN_OK;
	return tn_runtime_fail(rt, TN_NOT_FOUND, operation,
			       "no parameter of %zu has a name like '%s' and at most %d axes",
			       module->n_listing, o.names ? o.names : "*",
			       o.max_rank ? o.max_rank : TN_MAX_RANK);
}
