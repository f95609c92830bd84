/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Clipping of gradients, NaN and infinities among them, against recorded PyTorch numbers.
 */
#include "parity/functions.h"
#include "parity/parity.h"

static const char *const names[] = {"g0", "g1"};

/* The sum of parameter times recorded gradient. */
static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const struct trial *t = state;
	tn_array *y = tn_astype(x, t->dtype);
	for (int i = 0; i < 2; i++) {
		tn_array *w = tn_module_own_parameter(module, names[i]);
		tn_array *g = trial_array(t, names[i], t->dtype);
		y = tn_add(y, tn_sum(tn_multiply(w, g), TN_ALL_AXES, NULL, 0));
	}
	return y;
}

static tn_module *module_with_gradients(const struct trial *t)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Given", .forward = forward};
	tn_module *module = tn_module_custom(t->context, &class_, (void *)(uintptr_t)t);
	for (int i = 0; i < 2; i++) {
		const struct record_array *g = record_array(t->record, names[i]);
		assert_ok(tn_module_add_parameter(module, names[i], (int)g->rank, g->shape, 0, 1));
	}
	assert_ok(tn_module_set_dtype(module, t->dtype));
	assert_ok(tn_module_build(module));
	tn_tape *tape = tn_tape_begin(t->context);
	tn_array *y = tn_module_forward(module, tn_zeros(t->context, TN_F32, 0, NULL));
	assert_ok(tn_tape_backward(tape, y, NULL));
	tn_tape_end(tape);
	return module;
}

static void run_case(const struct trial *t)
{
	static const char *const results[] = {"y0", "y1"};
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	const struct record_array *recorded = record_array(t->record, "norm");
	tn_module *module = module_with_gradients(t);
	if (recorded) {
		double norm = 0;
		assert_ok(tn_clip_grad_norm(module, trial_number(t), &norm));
		tn_array *found = tn_from_host(t->context, TN_F64, 0, NULL, &norm);
		trial_expect(t, "norm", tn_astype(found, t->dtype));
	} else {
		assert_ok(tn_clip_grad_value(module, trial_number(t)));
	}
	for (int i = 0; i < 2; i++) {
		assert_ok(tn_module_parameter(module, names[i], &view));
		trial_expect(t, results[i], view.gradient);
	}
	tn_module_destroy(module);
}

static void check(tn_context *context, const struct record *record, int number)
{
	(void)number;
	trial_run(context, record, run_case);
}

const struct parity parity = {
	.claim = "clips_as_pytorch",
	.records = {{"clipping.txt", 40}},
	.check = check,
};
