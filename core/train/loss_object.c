/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses as objects: checks their options, fits a target's dtype to the kind, and gives sums and
 * weights.
 */
#include "train/loss_object.h"

#include <math.h>
#include <string.h>

#include "array/array.h"
#include "base/dtype.h"
#include "array/handle.h"
#include "base/memory.h"
#include "base/options.h"
#include "distributed/compare.h"
#include "layers/cross_entropy.h"
#include "nn/loss.h"
#include "nn/loss_rows.h"

static const char operation[] = "loss";

/* ---- Options ---------------------------------------------------------------------------------*/

/* Members that not every kind uses. */
static const struct member {
	const char *name;
	size_t offset;
	size_t size;
	uint32_t used_by; /* TN_USES_... */
} members[] = {
	{TN_MEMBER(struct tn_loss_options, weight), sizeof(void *), TN_USES_WEIGHT},
	{TN_MEMBER(struct tn_loss_options, pos_weight), sizeof(void *), TN_USES_POS_WEIGHT},
	{TN_MEMBER(struct tn_loss_options, label_smoothing), sizeof(double),
	 TN_USES_LABEL_SMOOTHING},
	{TN_MEMBER(struct tn_loss_options, has_ignore_label), sizeof(int), TN_USES_IGNORE_LABEL},
	{TN_MEMBER(struct tn_loss_options, ignore_label), sizeof(int32_t), TN_USES_IGNORE_LABEL},
	{TN_MEMBER(struct tn_loss_options, beta), sizeof(double), TN_USES_BETA},
	{TN_MEMBER(struct tn_loss_options, delta), sizeof(double), TN_USES_DELTA},
	{TN_MEMBER(struct tn_loss_options, log_target), sizeof(int), TN_USES_LOG_TARGET},
	{TN_MEMBER(struct tn_loss_options, p), sizeof(int), TN_USES_P},
	{TN_MEMBER(struct tn_loss_options, margin), sizeof(double), TN_USES_MARGIN},
};

static const struct tn_option numbers[] = {
	{TN_MEMBER(struct tn_loss_options, label_smoothing), .most = 1},
	{TN_MEMBER(struct tn_loss_options, beta), TN_MOST, .most = INFINITY},
	{TN_MEMBER(struct tn_loss_options, delta), TN_LEAST | TN_MOST, .most = INFINITY},
	{TN_MEMBER(struct tn_loss_options, margin), TN_LEAST | TN_MOST, .least = -INFINITY,
	 .most = INFINITY},
	{0},
};

/* The first member that differs from its default and that the kind does not use; NULL: none. */
static const char *member_unused(const struct tn_loss_options *o, const struct tn_loss_kind *kind)
{
	const struct tn_loss_options standard = tn_loss_defaults();
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const struct member *m = &members[i];
		if (!(kind->uses & m->used_by) &&
		    memcmp((const char *)o + m->offset, (const char *)&standard + m->offset,
			   m->size) != 0)
			return m->name;
	}
	return NULL;
}

static tn_status check_options(struct tn_runtime *rt, const struct tn_loss_options *o)
{
	const struct tn_loss_kind *kind = tn_loss_kind_at(o->kind);
	if (!kind)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "kind: expected TN_LOSS_..., found %u", o->kind);
	const char *unused = member_unused(o, kind);
	if (unused)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "%s: expected the default of %s, which it does not use, "
				       "found another value",
				       kind->name, unused);
	if (o->p != 1 && o->p != 2)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "p: expected 1 or 2, found %d", o->p);
	if ((o->weight && o->weight->runtime != rt) ||
	    (o->pos_weight && o->pos_weight->runtime != rt))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "weight, pos_weight: expected arrays of the loss's context, "
				       "found one of another");
	return tn_runtime_check(rt, o, numbers, operation);
}

/* ---- Objects ---------------------------------------------------------------------------------*/

static tn_loss *make(tn_context *context)
{
	tn_loss *loss = tn_mem_zeroed(1, sizeof(*loss));
	if (!loss) {
		tn_runtime_no_memory(tn_runtime_of(context), operation, "a loss");
		return NULL;
	}
	loss->context = context;
	loss->runtime = tn_runtime_of(context);
	return loss;
}

tn_loss *tn_loss_create(tn_context *context, const struct tn_loss_options *options)
{
	struct tn_runtime *rt = tn_runtime_of(context);
	struct tn_loss_options o = tn_loss_defaults();
	if (!context ||
	    tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_loss_options", operation) ||
	    tn_runtime_ready(rt) || check_options(rt, &o))
		return NULL;
	tn_loss *loss = make(context);
	if (!loss)
		return NULL;
	loss->kind = tn_loss_kind_at(o.kind);
	loss->options = o;
	if (o.weight)
		tn_array_hold(tn_array_const_cast(o.weight));
	if (o.pos_weight)
		tn_array_hold(tn_array_const_cast(o.pos_weight));
	return loss;
}

tn_loss *tn_loss_custom(tn_context *context, const struct tn_loss_class *class_)
{
	struct tn_runtime *rt = tn_runtime_of(context);
	struct tn_loss_class own = tn_loss_class_defaults();
	if (!context ||
	    tn_runtime_take(rt, &own, sizeof(own), class_, "struct tn_loss_class", operation) ||
	    tn_runtime_ready(rt))
		return NULL;
	if (!own.name || !*own.name || !own.sum) {
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				"expected a class with a name and sum, found no %s",
				own.sum ? "name" : "sum");
		return NULL;
	}
	char *name = tn_mem_copy_string(own.name);
	tn_loss *loss = name ? make(context) : NULL;
	if (loss) {
		loss->class_ = own;
		loss->class_.name = name;
		return loss;
	}
	if (!name)
		tn_runtime_no_memory(rt, operation, "a loss");
	tn_mem_free(name);
	return NULL;
}

void tn_loss_destroy(tn_loss *loss)
{
	if (!loss || tn_handle_has_ended(loss->runtime, loss, "loss_destroy"))
		return;
	if (loss->class_.destroy)
		loss->class_.destroy(loss->class_.user);
	tn_array_unhold(tn_array_const_cast(loss->options.weight));
	tn_array_unhold(tn_array_const_cast(loss->options.pos_weight));
	tn_mem_free((char *)(uintptr_t)loss->class_.name);
	tn_handle_end(&loss->runtime, loss, "the loss");
}

const char *tn_loss_name(const tn_loss *loss)
{
	if (!loss || tn_handle_check(loss->runtime, "loss_name"))
		return NULL;
	return loss->kind ? loss->kind->name : loss->class_.name;
}

int tn_loss_is_repeatable(const tn_loss *loss)
{
	return loss->kind || loss->class_.is_repeatable;
}

uint32_t tn_loss_number(const tn_loss *loss)
{
	return loss->kind ? loss->options.kind : UINT32_MAX;
}

tn_status tn_loss_hash(const tn_loss *loss, uint64_t *hash)
{
	const struct tn_loss_options *o = &loss->options;
	const char *name = tn_loss_name(loss);
	const double values[] = {o->label_smoothing,
				 o->has_ignore_label,
				 o->ignore_label,
				 o->beta,
				 o->delta,
				 o->log_target,
				 o->p,
				 o->margin,
				 o->weight != NULL,
				 o->pos_weight != NULL};
	tn_hash_more(hash, name, strlen(name));
	tn_hash_more(hash, values, sizeof(values));
	tn_status status = tn_hash_elements(hash, o->weight);
	return status ? status : tn_hash_elements(hash, o->pos_weight);
}

/* f16 and bf16 are too narrow for sums. */
static tn_dtype dtype_of_sums(const tn_array *a)
{
	return a->dtype == TN_F64 ? TN_F64 : TN_F32;
}

/* ---- The program's own -----------------------------------------------------------------------*/

/* As a 0-d array of that dtype. */
static tn_array *as_number(tn_array *a, tn_dtype dtype)
{
	if (a && a->rank)
		a = tn_reshape(a, 0, NULL);
	return a && a->dtype != dtype ? tn_astype(a, dtype) : a;
}

tn_status tn_loss_of_own(struct tn_runtime *rt, const char *name, tn_array *sum, tn_array *weight,
			 uint32_t n, struct tn_loss_value *value)
{
	if (!sum || sum->size != 1 || (weight && weight->size != 1))
		return tn_runtime_fail(
			rt, TN_SHAPE, operation, "%s: expected a %s of one element, found %s", name,
			sum && sum->size == 1 ? "weight" : "sum", sum ? "another array" : "none");
	const tn_dtype dtype = dtype_of_sums(sum);
	*value = (struct tn_loss_value){as_number(sum, dtype), as_number(weight, dtype)};
	if (!weight)
		value->loss = tn_affine(value->loss, 1.0 / n, 0.0);
	return rt->error.status;
}

/* ---- Kinds -----------------------------------------------------------------------------------*/

/* A floating array in that dtype. */
static const tn_array *in_dtype(const tn_array *array, tn_dtype dtype)
{
	return array && tn_is_floating(array->dtype) && array->dtype != dtype
		       ? tn_astype(array, dtype)
		       : array;
}

/* The output and the target as a kind takes them: the output has the dtype of sums, labels are i32,
 * and numbers have the output's dtype. */
static tn_status fit(const tn_loss *loss, const tn_array **output, const tn_array **target)
{
	*output = in_dtype(*output, dtype_of_sums(*output));
	if (!*output)
		return loss->runtime->error.status;
	int is_label = loss->kind->has_labels && (*target)->rank < (*output)->rank;
	if (is_label && tn_is_integer((*target)->dtype) && (*target)->dtype != TN_I32)
		*target = tn_astype(*target, TN_I32);
	else
		*target = in_dtype(*target, (*output)->dtype);
	return loss->runtime->error.status;
}

/* Have the samples of the fitted target different weights? */
static int is_weighted(const tn_loss *loss, const tn_array *output, const tn_array *target)
{
	const struct tn_loss_options *o = &loss->options;
	return loss->kind->weighs && target->rank < output->rank &&
	       (o->weight || o->has_ignore_label);
}

tn_status tn_loss_unit(const tn_loss *loss, double *unit)
{
	const tn_array *weight = loss->kind && loss->kind->weighs ? loss->options.weight : NULL;
	*unit = 1.0;
	if (!weight || tn_scope_begin(loss->context))
		return loss->runtime->error.status;
	double mean;
	tn_status status = tn_item(tn_mean(tn_astype(weight, TN_F64), TN_ALL_AXES, NULL, 0), &mean);
	tn_scope_end(loss->context, NULL);
	if (!status && mean > 0.0 && isfinite(mean))
		*unit = mean;
	return status;
}

/* The sum of the labels' weights; labels that are ignored have none. */
static tn_array *weight_of_labels(const tn_loss *loss, const tn_array *output,
				  const tn_array *labels)
{
	struct tn_loss_rows rows;
	const struct tn_check *check = loss->kind->weighs;
	const struct tn_loss_options *o = &loss->options;
	const int64_t ignored = o->has_ignore_label ? o->ignore_label : TN_NO_LABEL;
	const tn_array *weight = o->weight ? tn_detach(o->weight) : NULL;
	if (tn_runtime_ready(loss->runtime) ||
	    tn_loss_rows_of(&rows, check, output, labels, ignored) ||
	    tn_loss_check_weight(check->operation, output, weight, rows.input->shape[1]) ||
	    tn_loss_rows_weigh(&rows, weight))
		return NULL;
	return tn_sum(rows.factors, TN_ALL_AXES, NULL, 0);
}

/* What the mean divides the sum by, where samples weigh alike. */
static double count_units(const struct tn_loss_kind *kind, const tn_array *output)
{
	const int axis = output->rank > 1; /* of the classes */
	switch (kind->unit) {
	case TN_LOSS_OF_ROWS:
		return output->rank && output->shape[axis]
			       ? (double)output->size / (double)output->shape[axis]
			       : 0.0;
	case TN_LOSS_OF_FIRST_AXIS:
		return output->rank ? (double)output->shape[0] : 1.0;
	default:
		return (double)output->size;
	}
}

/* ---- Sums and means --------------------------------------------------------------------------*/

tn_status tn_loss_of_batch(const tn_loss *loss, const tn_array *output, const tn_array *target,
			   uint32_t n, struct tn_loss_value *value)
{
	tn_array *weight = NULL;
	if (!loss->kind) {
		tn_array *sum = loss->class_.sum(loss->class_.user, output, target, &weight);
		return tn_loss_of_own(loss->runtime, loss->class_.name, sum, weight, n, value);
	}
	tn_status status = fit(loss, &output, &target);
	if (status)
		return status;
	const int has_weight = is_weighted(loss, output, target);
	value->loss = loss->kind->compute(&loss->options, output, target,
					  has_weight ? TN_REDUCTION_SUM : TN_REDUCTION_MEAN);
	value->weight = has_weight ? weight_of_labels(loss, output, target) : NULL;
	return loss->runtime->error.status;
}

/* The number of samples of a batch. */
static uint32_t count_samples(const tn_array *output)
{
	return output->rank ? (uint32_t)output->shape[0] : 1;
}

static tn_status sum_of_kind(const tn_loss *loss, const tn_array *output, const tn_array *target,
			     tn_array *results[2])
{
	tn_status status = fit(loss, &output, &target);
	if (status)
		return status;
	results[0] = loss->kind->compute(&loss->options, output, target, TN_REDUCTION_SUM);
	if (!results[0])
		return loss->runtime->error.status;
	results[1] = is_weighted(loss, output, target)
			     ? weight_of_labels(loss, output, target)
			     : tn_full(loss->context, results[0]->dtype, 0, NULL,
				       count_units(loss->kind, output));
	return loss->runtime->error.status;
}

static tn_status sum_of_own(const tn_loss *loss, const tn_array *output, const tn_array *target,
			    tn_array *results[2])
{
	struct tn_loss_value value;
	tn_array *weight = NULL;
	tn_array *sum = loss->class_.sum(loss->class_.user, output, target, &weight);
	if (!weight && sum)
		weight = tn_full(loss->context, dtype_of_sums(sum), 0, NULL, count_samples(output));
	tn_status status = tn_loss_of_own(loss->runtime, loss->class_.name, sum, weight, 1, &value);
	results[0] = status ? NULL : value.loss;
	results[1] = status ? NULL : value.weight;
	return status;
}

tn_array *tn_loss_sum(tn_loss *loss, const tn_array *output, const tn_array *target,
		      tn_array **weight)
{
	tn_array *results[2] = {NULL, NULL};
	const struct tn_given given[] = {
		{"loss", loss}, {"output", output}, {"target", target}, {"weight", weight}};
	const tn_array *any = output ? output : target;
	struct tn_runtime *rt = loss ? loss->runtime : any ? any->runtime : NULL;
	if (weight)
		*weight = NULL;
	if (tn_runtime_given(rt, operation, 4, given) || tn_runtime_ready(rt) ||
	    tn_scope_begin(loss->context))
		return NULL;
	tn_status status = loss->kind ? sum_of_kind(loss, output, target, results)
				      : sum_of_own(loss, output, target, results);
	tn_scope_end_all(loss->context, status, 2, results);
	*weight = results[1];
	return results[0];
}

tn_array *tn_loss_mean(tn_loss *loss, const tn_array *output, const tn_array *target)
{
	struct tn_loss_value value;
	const struct tn_given given[] = {{"loss", loss}, {"output", output}, {"target", target}};
	const tn_array *any = output ? output : target;
	struct tn_runtime *rt = loss ? loss->runtime : any ? any->runtime : NULL;
	if (tn_runtime_given(rt, operation, 3, given) || tn_runtime_ready(rt) ||
	    tn_scope_begin(loss->context))
		return NULL;
	tn_status status = tn_loss_of_batch(loss, output, target, count_samples(output), &value);
	if (!status && value.weight)
		value.loss = tn_divide(value.loss, value.weight);
	return tn_scope_end(loss->context, status ? NULL : value.loss);
}
