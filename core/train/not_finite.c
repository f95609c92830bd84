/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Looks through fields, parameters and, in anomaly mode, operations for the first number that is
 * not finite.
 */
#include "train/not_finite.h"

#include <tenon/autograd.h>

#include <stdio.h>

#include "array/array.h"
#include "autograd/anomaly.h"
#include "nn/module.h"
#include "nn/tree.h"

static int is_finite(const tn_array *array)
{
	tn_status status = tn_anomaly_check(array, "trainer", NULL, 0, 0);
	if (status)
		tn_error_clear(array->runtime->context);
	return status != TN_NOT_FINITE;
}

/* 0: all are finite. */
static int find_input(const struct tn_steps *steps, char *text, size_t size)
{
	const struct tn_batches *batches = steps->batches;
	const tn_module *module = steps->objective->module;
	struct tn_field field;
	for (uint32_t i = 0; i < batches->n_fields; i++) {
		if (is_finite(steps->fields[i]))
			continue;
		if (tn_data_loader_field_at(batches->loader, i, &field))
			field.name = NULL;
		snprintf(text, size,
			 "field %u of the batch, %s, has elements that are infinite "
			 "or NaN",
			 i, field.name ? field.name : "without a name");
		return 1;
	}
	for (size_t i = 0; i < module->n_listing; i++) {
		if (is_finite(module->listing[i].weight->value))
			continue;
		snprintf(text, size, "the parameter %s has elements that are infinite or NaN",
			 module->listing[i].name);
		return 1;
	}
	return 0;
}

/* With ranks each runs its own batch, and nothing is summed: what the others have given to the
 * gradients goes first. */
static void run_again(const struct tn_steps *steps)
{
	const struct tn_objective *o = steps->objective;
	struct tn_loss_value value;
	tn_array *output, *target;
	if (steps->parallel && tn_data_parallel_hold(steps->parallel, 1))
		return;
	if (steps->parallel)
		tn_module_zero_gradients(o->module);
	tn_tape *tape = tn_tape_begin(o->context);
	o->runtime->anomaly_step = 0; /* the trainer names the step */
	if (tape &&
	    !tn_objective_loss(o, steps->batches->n_fields, steps->fields,
			       (uint32_t)steps->fields[0]->shape[0], &value, &output, &target))
		tn_tape_backward(tape, value.loss, NULL);
	tn_tape_end(tape);
}

/* Computes the step again in anomaly mode. */
static void find_operation(const struct tn_steps *steps, char *text, size_t size)
{
	struct tn_runtime *rt = steps->objective->runtime;
	const struct tn_random_state random = rt->random;
	const int anomaly = rt->anomaly;
	const uint64_t step = rt->anomaly_step;
	rt->random = steps->random;
	tn_anomaly_mode(rt->context, 1);
	run_again(steps);
	tn_anomaly_mode(rt->context, anomaly);
	rt->anomaly_step = step;
	rt->random = random;
	if (rt->error.status == TN_NOT_FINITE)
		snprintf(text, size, "%s: %s", rt->error.operation, rt->error.text);
	else
		snprintf(text, size, "no operation of a second run%s",
			 steps->parallel ? " of this rank" : "");
	tn_error_clear(rt->context);
}

void tn_not_finite_find(const struct tn_steps *steps, char *text, size_t size)
{
	struct tn_runtime *rt = steps->objective->runtime;
	/* Batch norms that wait for other ranks would wait for those whose run ends early. */
	const int is_joint = steps->parallel && steps->parallel->options.sync_batch_norm;
	if (tn_scope_begin(rt->context))
		return;
	if (!find_input(steps, text, size)) {
		if (is_joint)
			snprintf(text, size, "neither the batch nor the weights of this rank");
		else
			find_operation(steps, text, size);
	}
	tn_scope_end(rt->context, NULL);
}

int tn_network_is_finite(const tn_module *module)
{
	int is = !tn_module_list(module) && !tn_scope_begin(module->context);
	if (!is)
		return 0;
	for (size_t i = 0; i < module->n_listing && is; i++)
		is = is_finite(module->listing[i].weight->value);
	for (size_t i = 0; i < module->n_buffer_listing && is; i++)
		is = is_finite(module->buffer_listing[i].buffer->value);
	tn_scope_end(module->context, NULL);
	return is;
}
