/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Activations against recorded PyTorch numbers, at kinks and far from 0 too.
 */
#include "parity/functions.h"
#include "parity/parity.h"

static tn_array *leaky_relu(const tn_array *x, const double *v)
{
	return tn_leaky_relu(x, v[0]);
}
static tn_array *elu(const tn_array *x, const double *v)
{
	return tn_elu(x, v[0]);
}
static tn_array *celu(const tn_array *x, const double *v)
{
	return tn_celu(x, v[0]);
}
static tn_array *softplus(const tn_array *x, const double *v)
{
	return tn_softplus(x, v[0], v[1]);
}
static tn_array *hardtanh(const tn_array *x, const double *v)
{
	return tn_hardtanh(x, v[0], v[1]);
}

static const struct {
	const char *name;
	tn_array *(*plain)(const tn_array *x);
	tn_array *(*f)(const tn_array *x, const double *values);
} rows[] = {
	{"leaky_relu", NULL, leaky_relu},
	{"elu", NULL, elu},
	{"celu", NULL, celu},
	{"selu", tn_selu, NULL},
	{"softplus", NULL, softplus},
	{"mish", tn_mish, NULL},
	{"softsign", tn_softsign, NULL},
	{"log_sigmoid", tn_log_sigmoid, NULL},
	{"hardsigmoid", tn_hardsigmoid, NULL},
	{"hardtanh", NULL, hardtanh},
	{"relu", tn_relu, NULL},
	{"relu6", tn_relu6, NULL},
	{"tanh", tn_tanh, NULL},
	{"sigmoid", tn_sigmoid, NULL},
	{"silu", tn_silu, NULL},
	{"hardswish", tn_hardswish, NULL},
	{"gelu", tn_gelu, NULL},
	{"gelu_tanh", tn_gelu_tanh, NULL},
};

static tn_array *activation_of(const struct trial *t, const tn_array *x, const tn_array *w)
{
	if (w)
		return tn_prelu(x, w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, t->record->layer) != 0)
			continue;
		return rows[i].f ? rows[i].f(x, record_array(t->record, "numbers")->values)
				 : rows[i].plain(x);
	}
	fail_msg("the activation %s is not known", t->record->layer);
	return NULL;
}

static void run_case(const struct trial *t)
{
	tn_array *x = trial_array(t, "x", t->dtype), *w = trial_array(t, "w", t->dtype);
	tn_tape *tape = tn_tape_begin(t->context);
	assert_ok(tn_tape_watch(tape, x));
	if (w)
		assert_ok(tn_tape_watch(tape, w));
	tn_array *y = activation_of(t, x, w);
	trial_expect(t, "y", y);
	assert_ok(tn_tape_backward(tape, y, trial_array(t, "dy", t->dtype)));
	trial_expect(t, "dx", tn_tape_gradient(tape, x));
	if (w)
		trial_expect(t, "dw", tn_tape_gradient(tape, w));
	tn_tape_end(tape);
}

static void check(tn_context *context, const struct record *record, int number)
{
	(void)number;
	trial_run(context, record, run_case);
}

const struct parity parity = {
	.claim = "has_pytorchs_activations",
	.records = {{"activations.txt", 32}},
	.check = check,
};
