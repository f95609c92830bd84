/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses against recorded PyTorch numbers.
 */
#include "parity/functions.h"
#include "parity/parity.h"

static tn_array *cross_entropy(const struct trial *t, const tn_array *x, const tn_array *y)
{
	const struct tn_cross_entropy_options options = {
		.struct_size = sizeof(options),
		.reduction = (uint32_t)trial_int(t, "reduction", 0),
		.weight = trial_array(t, "weight", t->dtype),
		.label_smoothing = trial_number(t),
		.has_ignore_label = record_ints(t->record, "ignore") != NULL,
		.ignore_label = (int32_t)trial_int(t, "ignore", 0)};
	return tn_cross_entropy(x, y ? y : trial_array(t, "labels", TN_I32), &options);
}

static tn_array *nll(const struct trial *t, const tn_array *x, const tn_array *y)
{
	const struct tn_nll_loss_options options = {
		.struct_size = sizeof(options),
		.reduction = (uint32_t)trial_int(t, "reduction", 0),
		.weight = trial_array(t, "weight", t->dtype),
		.has_ignore_label = record_ints(t->record, "ignore") != NULL,
		.ignore_label = (int32_t)trial_int(t, "ignore", 0)};
	(void)y;
	return tn_nll_loss(x, trial_array(t, "labels", TN_I32), &options);
}

static tn_array *bce_with_logits(const struct trial *t, const tn_array *x, const tn_array *y)
{
	const struct tn_binary_cross_entropy_options options = {
		.struct_size = sizeof(options),
		.reduction = (uint32_t)trial_int(t, "reduction", 0),
		.weight = trial_array(t, "weight", t->dtype),
		.pos_weight = trial_array(t, "pos_weight", t->dtype)};
	return tn_binary_cross_entropy_with_logits(x, y, &options);
}

static tn_array *loss_of(const struct trial *t, const tn_array *x, const tn_array *y)
{
	const char *layer = t->record->layer;
	uint32_t reduction = (uint32_t)trial_int(t, "reduction", 0);
	if (!strcmp(layer, "mse"))
		return tn_mse_loss(x, y, reduction);
	if (!strcmp(layer, "l1"))
		return tn_l1_loss(x, y, reduction);
	if (!strcmp(layer, "smooth_l1"))
		return tn_smooth_l1_loss(x, y, trial_number(t), reduction);
	if (!strcmp(layer, "huber"))
		return tn_huber_loss(x, y, trial_number(t), reduction);
	if (!strcmp(layer, "bce_with_logits"))
		return bce_with_logits(t, x, y);
	if (!strcmp(layer, "kl_div"))
		return tn_kl_div(x, y, (int)trial_int(t, "log_target", 0), reduction);
	if (!strcmp(layer, "hinge_embedding"))
		return tn_hinge_embedding_loss(x, y, trial_number(t), reduction);
	if (!strcmp(layer, "cosine_embedding"))
		return tn_cosine_embedding_loss(x, y, trial_array(t, "target", t->dtype),
						trial_number(t), reduction);
	if (!strcmp(layer, "multi_margin"))
		return tn_multi_margin_loss(x, trial_array(t, "labels", TN_I32),
					    (int)trial_int(t, "p", 0), trial_number(t),
					    trial_array(t, "weight", t->dtype), reduction);
	if (!strcmp(layer, "nll"))
		return nll(t, x, y);
	if (!strcmp(layer, "cross_entropy"))
		return cross_entropy(t, x, y);
	fail_msg("the loss %s is not known", layer);
	return NULL;
}

static void run_case(const struct trial *t)
{
	tn_array *x = trial_array(t, "x", t->dtype), *y = trial_array(t, "y", t->dtype);
	int has_dy = record_array(t->record, "dy") != NULL;
	tn_tape *tape = tn_tape_begin(t->context);
	assert_ok(tn_tape_watch(tape, x));
	if (has_dy)
		assert_ok(tn_tape_watch(tape, y));
	tn_array *loss = loss_of(t, x, y);
	trial_expect(t, "loss", loss);
	assert_ok(tn_tape_backward(tape, loss, trial_array(t, "dloss", t->dtype)));
	trial_expect(t, "dx", tn_tape_gradient(tape, x));
	if (has_dy)
		trial_expect(t, "dy", tn_tape_gradient(tape, y));
	tn_tape_end(tape);
}

static void check(tn_context *context, const struct record *record, int number)
{
	(void)number;
	trial_run(context, record, run_case);
}

const struct parity parity = {
	.claim = "has_pytorchs_losses",
	.records = {{"losses.txt", 128}, {"drawn_losses.txt", 121}},
	.check = check,
};
