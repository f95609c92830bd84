/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Norms.  Their statistics are sums of up to 300 terms of magnitude about 1.
 */
#include "doctor.h"

enum { CHANNELS = 6, TERMS = 300 };

static const int64_t plane[] = {4, CHANNELS, 8, 9}, channels[] = {CHANNELS};

/* The differentiable inputs: x, w, b and a residual. */
static void make_inputs(struct doctor_run *run, tn_array **in)
{
	in[0] = doctor_reals(run, -2, 3, 4, plane);
	in[1] = doctor_reals(run, 0.5, 2, 1, channels);
	in[2] = doctor_reals(run, -1, 1, 1, channels);
	in[3] = doctor_reals(run, -2, 2, 4, plane);
}

static void one_batch_norm(struct doctor_run *run, int training, int has_residual,
			   uint32_t activation, const char *name)
{
	tn_array *in[4];
	make_inputs(run, in);
	tn_array *mean = doctor_reals(run, -0.5, 0.5, 1, channels);
	tn_array *variance = doctor_reals(run, 0.5, 2, 1, channels);
	struct tn_batch_norm_options options = tn_batch_norm_defaults();
	options.training = training;
	options.activation = activation;
	options.running_mean = mean;
	options.running_var = variance;
	options.residual = has_residual ? in[3] : NULL;
	int n = has_residual ? 4 : 3;
	tn_tape *tape = doctor_record(run, n, in);
	tn_array *y = tn_batch_norm(in[0], in[1], in[2], &options);
	doctor_give(run, y, DOCTOR_OF_LARGEST, TERMS, "%s", name);
	/* dw and db are sums of 288 terms of magnitude about 1.  Rounding to a narrower type
	 * decides which of the values near 0 an activation lets through. */
	if (activation == TN_ACTIVATION_NONE || run->compute == TN_F32)
		doctor_give_gradients(run, tape, y, n, in, DOCTOR_OF_LARGEST, 2 * TERMS, name);
	else
		tn_tape_end(tape);
	doctor_give(run, mean, DOCTOR_OF_LARGEST, TERMS, "%s, running mean", name);
	doctor_give(run, variance, DOCTOR_OF_LARGEST, TERMS, "%s, running variance", name);
}

void doctor_batch_norms(struct doctor_run *run)
{
	one_batch_norm(run, 1, 0, TN_ACTIVATION_NONE, "batch norm, training");
	one_batch_norm(run, 0, 0, TN_ACTIVATION_NONE, "batch norm, evaluating");
	one_batch_norm(run, 1, 0, TN_ACTIVATION_RELU, "batch norm + ReLU");
	one_batch_norm(run, 1, 1, TN_ACTIVATION_RELU, "batch norm + residual + ReLU");
	one_batch_norm(run, 0, 1, TN_ACTIVATION_RELU6, "batch norm + residual + ReLU6");
}

static void layer_norm(struct doctor_run *run, int n_axes)
{
	static const int64_t shape[] = {11, 5, 24};
	const int64_t *own = shape + 3 - n_axes;
	tn_array *in[3] = {doctor_reals(run, -2, 3, 3, shape),
			   doctor_reals(run, 0.5, 2, n_axes, own),
			   doctor_reals(run, -1, 1, n_axes, own)};
	tn_tape *tape = doctor_record(run, 3, in);
	tn_array *y = tn_layer_norm(in[0], in[1], in[2], n_axes, 1e-5);
	doctor_give(run, y, DOCTOR_OF_LARGEST, TERMS, "layer norm over %d axes", n_axes);
	doctor_give_gradients(run, tape, y, 3, in, DOCTOR_OF_LARGEST, 2 * TERMS, "layer norm");
}

void doctor_other_norms(struct doctor_run *run)
{
	layer_norm(run, 1);
	layer_norm(run, 2);
	for (int64_t groups = 1; groups <= CHANNELS; groups *= groups == 1 ? 3 : 2) {
		tn_array *in[4];
		make_inputs(run, in);
		tn_tape *tape = doctor_record(run, 3, in);
		tn_array *y = tn_group_norm(in[0], in[1], in[2], groups, 1e-5);
		doctor_give(run, y, DOCTOR_OF_LARGEST, 2 * TERMS, "group norm of %lld",
			    (long long)groups);
		doctor_give_gradients(run, tape, y, 3, in, DOCTOR_OF_LARGEST, 4 * TERMS,
				      "group norm");
	}
}
