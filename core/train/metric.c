/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The library's metrics are of a class like a program's own.
 */
#include "train/metric.h"

#include <tenon/autograd.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/handle.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "distributed/compare.h"
#include "train/metric_classes.h"
#include "train/metric_numbers.h"

static const char operation[] = "metric";

/* ---- The class of the library's metrics ------------------------------------------------------*/

static void end_sums(void *state)
{
	tn_metric_sums_end(state);
	tn_mem_free(state);
}

static void *begin_sums(void *user, tn_context *context)
{
	tn_metric *metric = user;
	struct tn_metric_sums *sums = tn_mem_zeroed(1, sizeof(*sums));
	if (!sums) {
		tn_runtime_no_memory(metric->runtime, operation, "the sums of a metric");
		return NULL;
	}
	sums->context = context;
	sums->kind = metric->kind;
	sums->options = &metric->options;
	sums->form = &metric->form;
	if (!tn_metric_sums_begin(sums))
		return sums;
	end_sums(sums);
	return NULL;
}

static tn_status add_to_sums(void *state, const tn_array *output, const tn_array *target)
{
	struct tn_metric_sums *sums = state;
	return sums->kind->add(sums, output, target);
}

static tn_status value_of_sums(void *state, double *value)
{
	return tn_metric_sums_value(state, value);
}

static size_t arrays_of_sums(void *state, tn_array **arrays, size_t room)
{
	const struct tn_metric_sums *sums = state;
	size_t n = 0;
	while (n < sums->kind->n_arrays && n < room && sums->arrays[n]) {
		arrays[n] = sums->arrays[n];
		n++;
	}
	return n;
}

static const struct tn_metric_class sums_class = {.struct_size = sizeof(sums_class),
						  .is_repeatable = 1,
						  .begin = begin_sums,
						  .add = add_to_sums,
						  .value = value_of_sums,
						  .arrays = arrays_of_sums,
						  .end = end_sums,
						  .is_sum = 1};

/* ---- Options ---------------------------------------------------------------------------------*/

static const struct tn_metric_kind *const kinds[] = {
	[TN_METRIC_ACCURACY] = &tn_metric_accuracy,
	[TN_METRIC_TOP_K] = &tn_metric_top_k,
	[TN_METRIC_F1] = &tn_metric_f1,
	[TN_METRIC_CONFUSION] = &tn_metric_confusion,
	[TN_METRIC_MSE] = &tn_metric_mse,
	[TN_METRIC_MAE] = &tn_metric_mae,
	[TN_METRIC_R2] = &tn_metric_r2,
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const char *default_name(uint32_t kind)
{
	static const char *const names[N_KINDS] = {
		[TN_METRIC_ACCURACY] = "accuracy",
		[TN_METRIC_TOP_K] = "top", /* and k */
		[TN_METRIC_F1] = "f1",
		[TN_METRIC_CONFUSION] = "confusion",
		[TN_METRIC_MSE] = "mse",
		[TN_METRIC_MAE] = "mae",
		[TN_METRIC_R2] = "r2",
	};
	return names[kind];
}

/* The first member that is set and that the kind does not use; NULL: there is none. */
static const char *member_unused(const struct tn_metric_options *o)
{
	int has_labels = o->kind <= TN_METRIC_CONFUSION;
	int may_have_many = o->kind == TN_METRIC_ACCURACY || o->kind == TN_METRIC_F1;
	if (o->k != tn_metric_defaults().k && o->kind != TN_METRIC_TOP_K)
		return "k";
	if (o->average && o->kind != TN_METRIC_F1)
		return "average";
	if (o->is_multi_label && !may_have_many)
		return "is_multi_label";
	if (o->threshold != 0.0 && !o->is_multi_label)
		return "threshold";
	if ((o->has_ignore_label || o->ignore_label) && (!has_labels || o->is_multi_label))
		return "has_ignore_label";
	return NULL;
}

static tn_status check_options(struct tn_runtime *rt, const struct tn_metric_options *o)
{
	if (o->kind >= N_KINDS)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "kind: expected TN_METRIC_..., found %u", o->kind);
	const char *name = kinds[o->kind]->name, *unused = member_unused(o);
	if (unused)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "%s: expected the default of %s, which it does not use%s",
				       name, unused,
				       o->is_multi_label     ? " with is_multi_label"
				       : o->threshold != 0.0 ? " without is_multi_label"
							     : "");
	if (o->k < 1)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "%s: expected a k of 1 or more, found %lld", name,
				       (long long)o->k);
	if (o->average > TN_F1_MICRO)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "%s: average: expected TN_F1_MACRO or TN_F1_MICRO, found %u",
				       name, o->average);
	if (!isfinite(o->threshold))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "%s: expected a finite threshold, found %g", name,
				       o->threshold);
	return TN_OK;
}

/* ---- Objects ---------------------------------------------------------------------------------*/

/* Names are keys of histories in JSON, and stand in checkpoints. */
static int is_name(const char *name)
{
	size_t length = strlen(name);
	return length && tn_utf8_prefix(name, length) == length;
}

static tn_metric *make(tn_context *context, const struct tn_metric_class *class_, const char *name)
{
	if (!is_name(name)) {
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, operation,
				"name: expected a text of UTF-8, found %s",
				*name ? "other bytes" : "an empty one");
		return NULL;
	}
	tn_metric *metric = tn_mem_zeroed(1, sizeof(*metric));
	if (metric) {
		metric->context = context;
		metric->runtime = tn_runtime_of(context);
		metric->class_ = *class_;
		metric->class_.name = tn_mem_copy_string(name);
	}
	if (metric && metric->class_.name)
		return metric;
	tn_mem_free(metric);
	tn_runtime_no_memory(tn_runtime_of(context), operation, "a metric");
	return NULL;
}

tn_metric *tn_metric_create(tn_context *context, const struct tn_metric_options *options)
{
	struct tn_runtime *rt = tn_runtime_of(context);
	struct tn_metric_options o = tn_metric_defaults();
	char name[64];
	if (!context ||
	    tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_metric_options", operation) ||
	    tn_runtime_ready(rt) || check_options(rt, &o))
		return NULL;
	int length = snprintf(name, sizeof(name), "%s", default_name(o.kind));
	if (o.kind == TN_METRIC_TOP_K)
		snprintf(name + length, sizeof(name) - (size_t)length, "%lld", (long long)o.k);
	tn_metric *metric = make(context, &sums_class, o.name ? o.name : name);
	if (!metric)
		return NULL;
	o.name = NULL;
	metric->kind = kinds[o.kind];
	metric->options = o;
	metric->class_.user = metric;
	metric->class_.is_rising = metric->kind->is_rising;
	return metric;
}

tn_metric *tn_metric_custom(tn_context *context, const struct tn_metric_class *class_)
{
	struct tn_runtime *rt = tn_runtime_of(context);
	struct tn_metric_class own = tn_metric_class_defaults();
	if (!context ||
	    tn_runtime_take(rt, &own, sizeof(own), class_, "struct tn_metric_class", operation) ||
	    tn_runtime_ready(rt))
		return NULL;
	own.is_rising = own.is_rising != 0;
	const char *missing = !own.name                   ? "name"
			      : !own.begin                ? "begin"
			      : !own.add                  ? "add"
			      : !own.value                ? "value"
			      : own.is_sum && !own.arrays ? "arrays"
							  : NULL;
	if (!missing)
		return make(context, &own, own.name);
	tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
			"expected a class with a name, begin, add and value, found no %s", missing);
	return NULL;
}

void tn_metric_destroy(tn_metric *metric)
{
	if (!metric || tn_handle_has_ended(metric->runtime, metric, "metric_destroy"))
		return;
	tn_metric_pass_end(metric, metric->pass);
	tn_mem_free((char *)metric->class_.name);
	tn_handle_end(&metric->runtime, metric, "the metric");
}

const char *tn_metric_name(const tn_metric *metric)
{
	return metric && !tn_handle_check(metric->runtime, "metric_name") ? metric->class_.name
									  : NULL;
}

int tn_metric_is_rising(const tn_metric *metric)
{
	return metric && !tn_handle_check(metric->runtime, "metric_is_rising")
		       ? metric->class_.is_rising
		       : 0;
}

void tn_metric_hash(const tn_metric *metric, uint64_t *hash)
{
	const struct tn_metric_options *o = &metric->options;
	const double values[] = {metric->class_.is_rising,
				 o->kind,
				 (double)o->k,
				 o->average,
				 o->is_multi_label != 0,
				 o->threshold,
				 o->has_ignore_label != 0,
				 o->ignore_label};
	tn_hash_more(hash, metric->class_.name, strlen(metric->class_.name));
	tn_hash_more(hash, values, sizeof(values));
}

/* ---- Passes ----------------------------------------------------------------------------------*/

tn_status tn_metric_pass_begin(tn_metric *metric, void **pass)
{
	tn_status status = tn_runtime_ready(metric->runtime);
	*pass = NULL;
	if (status)
		return status;
	*pass = metric->class_.begin(metric->class_.user, metric->context);
	if (*pass)
		return TN_OK;
	if (metric->runtime->error.status)
		return metric->runtime->error.status;
	return tn_runtime_fail(metric->runtime, TN_OUT_OF_MEMORY, operation,
			       "begin of the class %s gave no state", metric->class_.name);
}

void tn_metric_pass_end(tn_metric *metric, void *pass)
{
	if (pass && metric->class_.end)
		metric->class_.end(pass);
}

/* The status of a class's function, whose error the context may keep. */
static tn_status finish(const tn_metric *metric, const char *function, tn_status status)
{
	if (metric->runtime->error.status)
		return metric->runtime->error.status;
	if (!status)
		return TN_OK;
	return tn_runtime_fail(metric->runtime, status, operation, "%s of the class %s failed: %s",
			       function, metric->class_.name, tn_status_name(status));
}

tn_status tn_metric_pass_add(tn_metric *metric, void *pass, const tn_array *output,
			     const tn_array *target)
{
	tn_context *context = metric->context;
	tn_status status = tn_runtime_ready(metric->runtime);
	if (!status)
		status = tn_scope_begin(context);
	if (status)
		return status;
	status = tn_no_grad_begin(context);
	if (!status) {
		status = metric->class_.add(pass, output, target);
		tn_no_grad_end(context);
	}
	tn_scope_end(context, NULL);
	return finish(metric, "add", status);
}

tn_status tn_metric_pass_value(tn_metric *metric, void *pass, double *value)
{
	tn_status status = tn_runtime_ready(metric->runtime);
	return status ? status : finish(metric, "value", metric->class_.value(pass, value));
}

size_t tn_metric_pass_arrays(tn_metric *metric, void *pass, tn_array **arrays, size_t room)
{
	return metric->class_.arrays ? metric->class_.arrays(pass, arrays, room) : 0;
}

tn_status tn_metric_pass_join(tn_metric *metric, void *pass, tn_communicator *communicator)
{
	tn_array *arrays[TN_METRIC_ARRAYS];
	tn_status status = tn_runtime_ready(metric->runtime);
	if (status || metric->kind)
		return status ? status : tn_metric_sums_join(pass, communicator);
	const size_t n = tn_metric_pass_arrays(metric, pass, arrays, TN_METRIC_ARRAYS);
	for (size_t i = 0; i < n && !status; i++)
		status = tn_all_reduce(communicator, arrays[i], TN_REDUCE_SUM);
	return status;
}

tn_status tn_metric_begin(tn_metric *metric)
{
	void *pass;
	if (!metric)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_metric_pass_begin(metric, &pass);
	if (status)
		return status;
	tn_metric_pass_end(metric, metric->pass);
	metric->pass = pass;
	metric->has_samples = 0;
	return TN_OK;
}

tn_status tn_metric_add(tn_metric *metric, const tn_array *output, const tn_array *target)
{
	const tn_array *any = output ? output : target;
	const struct tn_given given[] = {
		{"metric", metric}, {"output", output}, {"target", target}};
	struct tn_runtime *rt = metric ? metric->runtime : any ? any->runtime : NULL;
	tn_status status = tn_runtime_given(rt, "metric_add", 3, given);
	if (!status && !metric->pass)
		status = tn_metric_begin(metric);
	if (!status)
		status = tn_metric_pass_add(metric, metric->pass, output, target);
	if (!status)
		metric->has_samples |= output->size != 0;
	return status;
}

tn_status tn_metric_value(tn_metric *metric, double *value)
{
	if (!metric || !value)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(metric->runtime);
	if (status)
		return status;
	if (!metric->has_samples)
		return tn_runtime_fail(metric->runtime, TN_STATE, "metric_value",
				       "%s: no samples have been added", metric->class_.name);
	return tn_metric_pass_value(metric, metric->pass, value);
}

tn_status tn_metric_counts(tn_metric *metric, uint64_t *counts, size_t n)
{
	if (!metric || !counts)
		return TN_INVALID_ARGUMENT;
	const struct tn_metric_sums *sums = metric->pass;
	struct tn_runtime *rt = metric->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (metric->kind != &tn_metric_confusion || !sums || !sums->arrays[0])
		return tn_runtime_fail(rt, TN_STATE, operation,
				       "counts: expected a confusion matrix to which a batch was "
				       "added, found %s",
				       metric->kind == &tn_metric_confusion ? "one without a batch"
				       : metric->kind                       ? metric->kind->name
									    : metric->class_.name);
	const tn_array *array = sums->arrays[0];
	if (n != (size_t)array->size)
		return tn_runtime_fail(rt, TN_SHAPE, operation,
				       "counts: expected room for %lld counts, found %zu",
				       (long long)array->size, n);
	return tn_to_host(array, counts, n * sizeof(*counts));
}
