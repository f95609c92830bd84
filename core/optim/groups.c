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
	       named->weight->rank <= o->max_rank;
}

static const struct tn_option lr_factor = {.name = "lr_factor", .most = INFINITY};
static const struct tn_option weight_decay = {.name = "weight_decay", .most = INFINITY};

/* NAN leaves the setting. */
static tn_status check_setting(struct tn_runtime *rt, const struct tn_option *member, double value,
			       const char *operation)
{
	if (isnan(value) || !tn_option_check(member, value, operation, &rt->report))
		return TN_OK;
	return tn_runtime_keep(rt, &rt->report);
}

static tn_status check(struct tn_runtime *rt, const struct tn_group_options *o,
		       const char *operation)
{
	if (o->max_rank < 0)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "max_rank: expected at least 0, found %d", o->max_rank);
	if (isnan(o->lr_factor) && isnan(o->weight_decay))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected lr_factor or weight_decay, found neither");
	tn_status status = check_setting(rt, &lr_factor, o->lr_factor, operation);
	return status ? status : check_setting(rt, &weight_decay, o->weight_decay, operation);
}

tn_status tn_optimizer_set_group(tn_optimizer *optimizer, const struct tn_group_options *options)
{
	static const char operation[] = "optimizer_set_group";
	struct tn_group_options o = tn_group_defaults();
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
		if (!isnan(o.lr_factor))
			setting->lr_factor = o.lr_factor;
		if (!isnan(o.weight_decay))
			setting->weight_decay = o.weight_decay;
	}
	if (n_chosen)
		return TN_OK;
	return tn_runtime_fail(rt, TN_NOT_FOUND, operation,
			       "no parameter of %zu has a name like '%s' and at most %d axes",
			       module->n_listing, o.names ? o.names : "*", o.max_rank);
}
