/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Modules of all dtypes against recorded PyTorch numbers: outputs, gradients and buffers, with the
 * state dict's names and shapes; outside of training also when they are frozen.  A copy of each in
 * a context of the reference gives the same.
 *
 * Inputs and parameters are exact, and every result is a sum of at most a few hundred products of
 * numbers about 1, rounded in f32: 400 roundings of the largest are allowed.  In f64 the recorded
 * digits of an array are fewer, but its two weighted sums have all: 1e-12 of what they add up is
 * allowed.  In f16 and bf16 parameters and inputs are rounded too, and so is the result of each
 * layer of a module: 48 roundings of the largest are allowed.
 */
#include "record.h"

#include <float.h>
#include <tenon/tenon.h>

#include "functions.h"
#include "modules.h"
#include "parity/parity.h"

/* The recorded decimals stand for f32 numbers. */
static tn_array *array_of(tn_context *context, const struct record_array *recorded, tn_dtype dtype)
{
	double *values = malloc(recorded->count * sizeof(*values));
	for (size_t i = 0; i < recorded->count; i++)
		values[i] = (double)(float)recorded->values[i];
	tn_array *wide =
		tn_from_host(context, TN_F64, (int)recorded->rank, recorded->shape, values);
	free(values);
	tn_array *array = tn_astype(wide, dtype);
	tn_array_destroy(wide);
	assert_non_null(array);
	return array;
}

static const struct record_array *recorded(const struct record *record, const char *prefix,
					   const char *name)
{
	char whole[RECORD_NAME];
	snprintf(whole, sizeof(whole), "%s%s", prefix, name);
	const struct record_array *array = record_array(record, whole);
	if (!array)
		fail_msg("case %s has no array %s", record->layer, whole);
	return array;
}

static double tolerance_of(tn_dtype dtype)
{
	switch (dtype) {
	case TN_F64:
		return 1e-6;
	case TN_F16:
		return 48 * 0x1p-11;
	case TN_BF16:
		return 48 * 0x1p-8;
	default:
		return 400 * (double)FLT_EPSILON / 2;
	}
}

/* In f64: the two weighted sums of record_modules.py. */
static void expect_sums(const struct record *record, const char *prefix, const char *name,
			const double *values, size_t n)
{
	static const size_t weights[2][4] = {{37, 11, 101, 50}, {53, 29, 97, 48}};
	char whole[RECORD_NAME];
	snprintf(whole, sizeof(whole), "s:%s%s", prefix, name);
	const struct record_array *sums = recorded(record, "", whole);
	for (int k = 0; k < 2; k++) {
		const size_t *w = weights[k];
		double sum = 0, all = 1;
		for (size_t i = 0; i < n; i++) {
			double weight = (double)((w[0] * i + w[1]) % w[2]) - (double)w[3];
			sum += weight * values[i];
			all += fabs(weight * values[i]);
		}
		if (!(fabs(sum - sums->values[k]) <= 1e-12 * all))
			fail_msg("%s: the sum of %s%s: PyTorch has %.17g, found %.17g",
				 record->layer, prefix, name, sums->values[k], sum);
	}
}

static void expect(const struct record *record, tn_dtype dtype, const char *prefix,
		   const char *name, const tn_array *found)
{
	const struct record_array *array = recorded(record, prefix, name);
	if (!found)
		fail_msg("%s: %s%s: %s", record->layer, prefix, name, "there is no array");
	assert_int_equal(tn_array_rank(found), array->rank);
	for (uint32_t i = 0; i < array->rank; i++)
		assert_int_equal(tn_array_shape(found)[i], array->shape[i]);
	double *values = malloc(array->count * sizeof(*values)), largest = 1;
	tn_array *wide = tn_astype(found, TN_F64);
	assert_non_null(wide);
	assert_ok(tn_to_host(wide, values, array->count * sizeof(*values)));
	for (size_t i = 0; i < array->count; i++)
		largest = fmax(largest, fabs(array->values[i]));
	for (size_t i = 0; i < array->count; i++) {
		if (fabs(values[i] - array->values[i]) <= tolerance_of(dtype) * largest)
			continue;
		fail_msg("%s (%s): %s%s[%zu]: PyTorch has %.9g, found %.9g", record->layer,
			 tn_dtype_name(dtype), prefix, name, i, array->values[i], values[i]);
	}
	if (dtype == TN_F64)
		expect_sums(record, prefix, name, values, array->count);
	free(values);
}

/* Sets parameters and buffers; the record has all of them and no others. */
static void set_state(const struct record *record, tn_module *module)
{
	size_t n_parameters = 0, n_buffers = 0;
	for (int i = 0; i < record->n_arrays; i++) {
		n_parameters += !strncmp(record->arrays[i].name, "p:", 2);
		n_buffers += !strncmp(record->arrays[i].name, "b:", 2);
	}
	assert_int_equal(tn_module_parameter_count(module), n_parameters);
	assert_int_equal(tn_module_buffer_count(module), n_buffers);
	tn_context *context = NULL;
	for (size_t k = 0; k < n_parameters + n_buffers; k++) {
		struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
		struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
		int is_buffer = k >= n_parameters;
		if (is_buffer)
			assert_ok(tn_module_buffer_at(module, k - n_parameters, &buffer));
		else
			assert_ok(tn_module_parameter_at(module, k, &parameter));
		const struct record_array *value = recorded(
			record, is_buffer ? "b:" : "p:", is_buffer ? buffer.name : parameter.name);
		tn_array *own = is_buffer ? buffer.value : parameter.value;
		context = tn_array_context(own);
		assert_int_equal(tn_array_rank(own), value->rank);
		for (uint32_t i = 0; i < value->rank; i++)
			assert_int_equal(tn_array_shape(own)[i], value->shape[i]);
		assert_ok(tn_assign(own, array_of(context, value, tn_array_dtype(own))));
	}
}

static void expect_gradients(const struct record *record, const tn_module *module)
{
	tn_dtype dtype = tn_module_dtype(module);
	for (size_t k = 0; k < tn_module_parameter_count(module); k++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(module, k, &view));
		expect(record, dtype, "g:", view.name, view.gradient);
		assert_int_equal(tn_array_dtype(view.gradient), dtype == TN_F64 ? TN_F64 : TN_F32);
	}
	for (size_t k = 0; k < tn_module_buffer_count(module); k++) {
		struct tn_buffer_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_buffer_at(module, k, &view));
		expect(record, dtype, "c:", view.name, view.value);
	}
}

static void expect_frozen(const struct record *record, tn_module *module, const tn_array *x,
			  const struct modules_input *inputs)
{
	tn_dtype dtype = tn_module_dtype(module);
	expect(record, dtype, "", "y", modules_forward(module, record, x, inputs));
	assert_ok(tn_module_freeze(module));
	for (int i = 0; i < 3; i++)
		expect(record, dtype, "", "y", modules_forward(module, record, x, inputs));
	tn_module_unfreeze(module);
}

/* Makes the case's other inputs, and watches them, unless there is no tape. */
static void make_inputs(tn_context *context, tn_tape *tape, const struct record *record,
			tn_dtype dtype, struct modules_input *inputs)
{
	int n = 0;
	for (int i = 0; i < record->n_arrays; i++) {
		if (strncmp(record->arrays[i].name, "i:", 2))
			continue;
		assert_true(n < MODULES_INPUTS);
		inputs[n] = (struct modules_input){record->arrays[i].name,
						   array_of(context, &record->arrays[i], dtype)};
		if (tape)
			assert_ok(tn_tape_watch(tape, inputs[n].array));
		n++;
	}
}

static void expect_copy(const struct record *record, const tn_module *module)
{
	const int index = (int)record_ints(record, "index")[0];
	const tn_dtype dtype = tn_module_dtype(module);
	struct modules_input inputs[MODULES_INPUTS] = {{0}};
	tn_context *other = trial_open("reference!");
	tn_module *copy = tn_module_copy(other, module);
	if (!copy)
		fail_msg("%s: %s", record->layer, tn_error(other)->text);
	assert_int_equal(tn_module_dtype(copy), dtype);
	assert_int_equal(tn_module_is_training(copy), tn_module_is_training(module));
	make_inputs(other, NULL, record, dtype, inputs);
	const tn_array *x = array_of(other, recorded(record, "", "x"), index ? TN_I32 : dtype);
	expect(record, dtype, "", "y", modules_forward(copy, record, x, inputs));
	tn_module_destroy(copy);
	tn_context_close(other);
}

static void run_case(tn_context *context, const struct record *record, tn_dtype dtype)
{
	int training = (int)record_ints(record, "training")[0];
	int index = (int)record_ints(record, "index")[0];
	assert_ok(tn_scope_begin(context));
	tn_module *module = modules_make(context, record);
	if (!module)
		fail_msg("%s: %s", record->layer,
			 tn_error(context) ? tn_error(context)->text : "not known");
	assert_ok(tn_module_set_dtype(module, dtype));
	assert_ok(tn_module_build(module));
	set_state(record, module);
	tn_module_set_training(module, training);
	tn_array *x = array_of(context, recorded(record, "", "x"), index ? TN_I32 : dtype);
	tn_tape *tape = tn_tape_begin(context);
	if (!index)
		assert_ok(tn_tape_watch(tape, x));
	struct modules_input inputs[MODULES_INPUTS] = {{0}};
	make_inputs(context, tape, record, dtype, inputs);
	tn_array *y = modules_forward(module, record, x, inputs);
	if (!y)
		fail_msg("%s: %s", record->layer, tn_error(context)->text);
	expect(record, dtype, "", "y", y);
	assert_int_equal(tn_array_dtype(y), dtype);
	const tn_array *dy = array_of(context, recorded(record, "", "dy"), dtype);
	if (tn_tape_backward(tape, y, dy))
		fail_msg("%s (%s): %s", record->layer, tn_dtype_name(dtype),
			 tn_error(context)->text);
	if (!index)
		expect(record, dtype, "", "dx", tn_tape_gradient(tape, x));
	for (int i = 0; i < MODULES_INPUTS && inputs[i].name; i++)
		expect(record, dtype, "d:", inputs[i].name + 2,
		       tn_tape_gradient(tape, inputs[i].array));
	tn_tape_end(tape);
	expect_gradients(record, module);
	expect_copy(record, module);
	if (!training)
		expect_frozen(record, module, x, inputs);
	assert_null(tn_error(context));
	tn_module_destroy(module);
	tn_scope_end(context, NULL);
}

/* Some cases are of wide types alone. */
static void check(tn_context *context, const struct record *record, int number)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
	const size_t n = record_ints(record, "wide") ? 2 : sizeof(dtypes) / sizeof(dtypes[0]);
	(void)number;
	for (size_t i = 0; i < n; i++)
		run_case(context, record, dtypes[i]);
}

const struct parity parity = {
	.claim = "agrees_with_pytorch",
	.records = {{"modules.txt", 117}},
	.check = check,
};
