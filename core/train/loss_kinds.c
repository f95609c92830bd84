/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of losses: each row calls a function of tenon/loss.h with the members that it uses.
 */
#include "train/loss_kinds.h"

#include "layers/cross_entropy.h"

static tn_array *cross_entropy(const struct tn_loss_options *o, const tn_array *output,
			       const tn_array *target, uint32_t reduction)
{
	struct tn_cross_entropy_options options = tn_cross_entropy_defaults();
	options.reduction = reduction;
	options.weight = o->weight;
	options.label_smoothing = o->label_smoothing;
	options.has_ignore_label = o->has_ignore_label;
	options.ignore_label = o->ignore_label;
	return tn_cross_entropy(output, target, &options);
}

static tn_array *nll(const struct tn_loss_options *o, const tn_array *output,
		     const tn_array *target, uint32_t reduction)
{
	struct tn_nll_loss_options options = tn_nll_loss_defaults();
	options.reduction = reduction;
	options.weight = o->weight;
	options.has_ignore_label = o->has_ignore_label;
	options.ignore_label = o->ignore_label;
	return tn_nll_loss(output, target, &options);
}

static tn_array *binary_cross_entropy(const struct tn_loss_options *o, const tn_array *output,
				      const tn_array *target, uint32_t reduction)
{
	struct tn_binary_cross_entropy_options options = tn_binary_cross_entropy_defaults();
	options.reduction = reduction;
	options.weight = o->weight;
	options.pos_weight = o->pos_weight;
	return tn_binary_cross_entropy_with_logits(output, target, &options);
}

static tn_array *mse(const struct tn_loss_options *o, const tn_array *output,
		     const tn_array *target, uint32_t reduction)
{
	(void)o;
	return tn_mse_loss(output, target, reduction);
}

static tn_array *l1(const struct tn_loss_options *o, const tn_array *output, const tn_array *target,
		    uint32_t reduction)
{
	(void)o;
	return tn_l1_loss(output, target, reduction);
}

static tn_array *smooth_l1(const struct tn_loss_options *o, const tn_array *output,
			   const tn_array *target, uint32_t reduction)
{
	return tn_smooth_l1_loss(output, target, o->beta, reduction);
}

static tn_array *kl_div(const struct tn_loss_options *o, const tn_array *output,
			const tn_array *target, uint32_t reduction)
{
	return tn_kl_div(output, target, o->log_target,
			 reduction == TN_REDUCTION_MEAN ? TN_REDUCTION_BATCH_MEAN : reduction);
}

static tn_array *huber(const struct tn_loss_options *o, const tn_array *output,
		       const tn_array *target, uint32_t reduction)
{
	return tn_huber_loss(output, target, o->delta, reduction);
}

static tn_array *hinge_embedding(const struct tn_loss_options *o, const tn_array *output,
				 const tn_array *target, uint32_t reduction)
{
	return tn_hinge_embedding_loss(output, target, o->margin, reduction);
}

static tn_array *multi_margin(const struct tn_loss_options *o, const tn_array *output,
			      const tn_array *target, uint32_t reduction)
{
	return tn_multi_margin_loss(output, target, o->p, o->margin, o->weight, reduction);
}

static const struct tn_loss_kind kinds[] = {
	[TN_LOSS_CROSS_ENTROPY] = {.name = "cross_entropy",
				   .uses = TN_USES_WEIGHT | TN_USES_LABEL_SMOOTHING |
					   TN_USES_IGNORE_LABEL,
				   .unit = TN_LOSS_OF_ROWS,
				   .has_labels = 1,
				   .weighs = &tn_label_checks[TN_LABELS_OF_CROSS_ENTROPY],
				   .compute = cross_entropy},
	[TN_LOSS_NLL] = {.name = "nll",
			 .uses = TN_USES_WEIGHT | TN_USES_IGNORE_LABEL,
			 .unit = TN_LOSS_OF_ROWS,
			 .has_labels = 1,
			 .weighs = &tn_label_checks[TN_LABELS_OF_NLL_LOSS],
			 .compute = nll},
	[TN_LOSS_BINARY_CROSS_ENTROPY] = {.name = "binary_cross_entropy",
					  .uses = TN_USES_WEIGHT | TN_USES_POS_WEIGHT,
					  .compute = binary_cross_entropy},
	[TN_LOSS_MSE] = {.name = "mse", .compute = mse},
	[TN_LOSS_L1] = {.name = "l1", .compute = l1},
	[TN_LOSS_SMOOTH_L1] = {.name = "smooth_l1", .uses = TN_USES_BETA, .compute = smooth_l1},
	[TN_LOSS_KL_DIV] = {.name = "kl_div",
			    .uses = TN_USES_LOG_TARGET,
			    .unit = TN_LOSS_OF_FIRST_AXIS,
			    .compute = kl_div},
	[TN_LOSS_HUBER] = {.name = "huber", .uses = TN_USES_DELTA, .compute = huber},
	[TN_LOSS_HINGE_EMBEDDING] = {.name = "hinge_embedding",
				     .uses = TN_USES_MARGIN,
				     .compute = hinge_embedding},
	[TN_LOSS_MULTI_MARGIN] = {.name = "multi_margin",
				  .uses = TN_USES_WEIGHT | TN_USES_P | TN_USES_MARGIN,
				  .unit = TN_LOSS_OF_ROWS,
				  .has_labels = 1,
				  .compute = multi_margin},
};

const struct tn_loss_kind *tn_loss_kind_at(uint32_t kind)
{
	return kind < sizeof(kinds) / sizeof(kinds[0]) ? &kinds[kind] : NULL;
}
