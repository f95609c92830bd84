/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element operations on complex arrays, by the texts of tn_operations over the parts of the inputs.
 * A real input has no second part: the text begins with the assignment of a literal 0.
 */
#include "ops/complex.h"

#include <stdio.h>
#include <string.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "dispatch/programs.h"
#include "ops/complex_parts.h"
#include "ops/copy.h"
#include "ops/layout.h"
#include "ops/map.h"

enum { MOST_INPUTS = 3, NAMES = 128, TEXT = 2048 };

/* ---- The program -----------------------------------------------------------------------------*/

struct lowered {
	const struct tn_program *program;
	tn_dtype result;
};

/* A formula over the parts that the inputs have. */
struct parts_formula {
	char inputs[NAMES];
	char text[TEXT];
	uint32_t n_inputs;
	tn_dtype dtypes[2 * MOST_INPUTS];
	size_t n_names, n_text; /* bytes */
};

/* The parts of an input, whose name is the first of `names`; `part` is the dtype of each. */
static void add_parts(struct parts_formula *parts, const char *names, tn_dtype dtype, tn_dtype part)
{
	const int length = (int)tn_word_length(names), is_complex = tn_is_complex(dtype);
	parts->dtypes[parts->n_inputs++] = part;
	parts->n_names += (size_t)snprintf(parts->inputs + parts->n_names, NAMES - parts->n_names,
					   "%s%.*s_real", parts->n_names ? " " : "", length, names);
	if (is_complex) {
		parts->dtypes[parts->n_inputs++] = part;
		parts->n_names +=
			(size_t)snprintf(parts->inputs + parts->n_names, NAMES - parts->n_names,
					 " %.*s_imag", length, names);
	} else
		parts->n_text += (size_t)snprintf(parts->text + parts->n_text, TEXT - parts->n_text,
						  "%.*s_imag = 0.0\n", length, names);
}

/* The dtype of an operation's complex loop. */
static tn_dtype loop_of(const struct tn_element_operation *element, uint32_t n,
			const tn_dtype *dtypes)
{
	uint32_t set = 1u << TN_C64;
	if (element->loop == TN_LOOP_DOUBLE)
		set |= 1u << TN_F64;
	for (uint32_t i = element->typed_from; i < n; i++)
		set |= 1u << dtypes[i];
	return tn_result_type_of(set);
}

/* The program over the parts that inputs of those dtypes have. */
static tn_status lower(struct tn_runtime *runtime, enum tn_operation operation,
		       const tn_dtype *dtypes, struct lowered *lowered)
{
	const struct tn_element_operation *element = &tn_operations[operation];
	const uint32_t n = tn_count_words(element->inputs);
	const int gives_complex = !element->gives_bool && !element->gives_real;
	struct parts_formula parts;
	if (!element->on_complex)
		return tn_fail(&runtime->report, TN_DTYPE, element->name,
			       "not defined for complex numbers");
	const tn_dtype loop = loop_of(element, n, dtypes), part = tn_real_dtype(loop);
	const char *name = element->inputs;
	parts.n_inputs = 0;
	parts.n_names = parts.n_text = 0;
	for (uint32_t i = 0; i < n; i++) {
		add_parts(&parts, name, dtypes[i],
			  i < element->typed_from ? tn_real_dtype(dtypes[i]) : part);
		name += tn_word_length(name) + 1;
	}
	snprintf(parts.text + parts.n_text, TEXT - parts.n_text, "%s", element->on_complex);
	const struct tn_formula formula = {.text = parts.text,
					   .inputs = parts.inputs,
					   .scalars = element->scalars,
					   .outputs = gives_complex ? "real imag" : NULL,
					   .scalar_dtype = part};
	lowered->result = gives_complex ? loop : element->gives_bool ? TN_BOOL : part;
	return tn_formula_program(runtime, element->name, &formula, parts.dtypes,
				  &lowered->program);
}

static tn_status run_lowered(struct tn_runtime *runtime, enum tn_operation operation,
			     const struct lowered *lowered, const tn_array *const *inputs,
			     const struct tn_scalar *scalars, tn_array *out)
{
	struct tn_complex_parts in = {0}, to = {0};
	tn_array *outputs[2];
	const uint32_t n = tn_count_words(tn_operations[operation].inputs);
	tn_status status = tn_complex_parts_add(&to, out);
	for (uint32_t i = 0; i < n && !status; i++)
		status = tn_complex_parts_add(&in, inputs[i]);
	for (uint32_t k = 0; k < to.n && !status; k++)
		outputs[k] = to.views[k] ? to.views[k] : out;
	if (!status)
		status = tn_map_run(runtime, &(struct tn_map_run){.operation = operation,
								  .program = lowered->program,
								  .inputs = in.arrays,
								  .outputs = outputs,
								  .scalars = scalars,
								  .are_apart = 1});
	tn_complex_parts_release(&in);
	tn_complex_parts_release(&to);
	return status;
}

tn_array *tn_complex_element(struct tn_runtime *runtime, enum tn_operation operation,
			     const tn_array *const *inputs, const double *values)
{
	uint32_t n = tn_count_words(tn_operations[operation].inputs);
	const char *name = tn_operations[operation].name;
	struct tn_scalar scalars[2];
	tn_dtype dtypes[MOST_INPUTS] = {0};
	struct lowered lowered;
	tn_array *out;
	tn_status status;
	for (uint32_t i = 0; i < n; i++)
		dtypes[i] = inputs[i]->dtype;
	status = lower(runtime, operation, dtypes, &lowered);
	if (status)
		return tn_end(runtime, status, NULL);
	out = tn_array_make_broadcast(runtime, name, lowered.result, n, inputs);
	if (!out)
		return tn_end(runtime, runtime->report.status, NULL);
	tn_scalars_of(lowered.program, values, scalars);
	status = run_lowered(runtime, operation, &lowered, inputs, scalars, out);
	if (!status && lowered.result != TN_BOOL) {
		struct tn_record record = {.kind = TN_RECORD_COMPLEX,
					   .operation = name,
					   .program = lowered.program,
					   .scalars = scalars};
		status = tn_record_made(runtime, &record, n, inputs, out);
	}
	return tn_end(runtime, status, out);
}

tn_status tn_complex_element_into(struct tn_runtime *runtime, enum tn_operation operation,
				  const tn_array *const *inputs, tn_array *out)
{
	tn_dtype dtypes[MOST_INPUTS] = {0};
	struct lowered lowered;
	const uint32_t n = tn_count_words(tn_operations[operation].inputs);
	for (uint32_t i = 0; i < n; i++)
		dtypes[i] = inputs[i]->dtype;
	tn_status status = lower(runtime, operation, dtypes, &lowered);
	if (!status && !tn_is_complex(out->dtype))
		status = tn_fail(&runtime->report, TN_DTYPE, tn_operations[operation].name,
				 "the result is %s, the output %s: a lower kind needs tn_astype",
				 tn_dtype_name(lowered.result), tn_dtype_name(out->dtype));
	return status ? status : run_lowered(runtime, operation, &lowered, inputs, NULL, out);
}

/* ---- Public functions ------------------------------------------------------------------------*/

tn_array *tn_complex(const tn_array *real, const tn_array *imaginary)
{
	const tn_array *inputs[] = {real, imaginary};
	struct tn_runtime *runtime = tn_begin(2, inputs, "complex");
	if (!runtime)
		return NULL;
	if (tn_is_complex(real->dtype) || tn_is_complex(imaginary->dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "complex",
				"expected real parts, found %s and %s", tn_dtype_name(real->dtype),
				tn_dtype_name(imaginary->dtype));
		return NULL;
	}
	return tn_complex_element(runtime, TN_DO_COMPLEX, inputs, NULL);
}

/* A view of a real array as a whole. */
static tn_array *whole(const char *operation, const tn_array *a)
{
	struct tn_record record = {.kind = TN_RECORD_RESHAPE, .operation = operation};
	tn_array *view = tn_array_view(a, a->rank, a->shape, a->strides, a->offset);
	tn_status status =
		view ? tn_record_made(a->runtime, &record, 1, &a, view) : a->runtime->report.status;
	return tn_end(a->runtime, status, view);
}

static tn_array *part(const char *operation, const tn_array *a, int which)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	struct tn_record record = {.kind = TN_RECORD_PART, .operation = operation, .axis = which};
	tn_array *view;
	tn_status status;
	if (!runtime)
		return NULL;
	if (!tn_is_complex(a->dtype) && !which)
		return whole(operation, a);
	if (!tn_is_complex(a->dtype)) {
		view = tn_array_make(runtime, tn_array_home(a), a->dtype, a->rank, a->shape);
		status = view ? tn_fill_run(runtime, TN_DO_FILL, view, 0) : runtime->report.status;
		return tn_end(runtime, status, view);
	}
	view = tn_complex_part_view(a, which);
	status = view ? tn_record_made(runtime, &record, 1, &a, view) : runtime->report.status;
	return tn_end(runtime, status, view);
}

tn_array *tn_real(const tn_array *a)
{
	return part("real", a, 0);
}

tn_array *tn_imag(const tn_array *a)
{
	return part("imag", a, 1);
}

tn_array *tn_conj(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "conj");
	if (!runtime)
		return NULL;
	if (!tn_is_complex(a->dtype))
		return whole("conj", a);
	return tn_complex_element(runtime, TN_DO_CONJ, &a, NULL);
}
