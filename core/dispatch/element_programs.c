/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which text an element operation has for inputs of given dtypes, and the dtype in which it
 * computes.
 */
#include "dispatch/element_programs.h"

#include <stdio.h>
#include <string.h>

#include "array/result_type.h"
#include "array/runtime.h"
#include "base/dtype.h"
#include "dispatch/power.h"

/* A comparison of a u64 with a signed integer, which have no common integer dtype: exact. */
static const char *compare_signs(enum tn_operation operation, const tn_dtype *dtypes, char *text,
				 size_t size)
{
	static const char *const symbols[TN_ELEMENT_OPERATIONS] = {
		[TN_DO_EQUAL] = "==",      [TN_DO_NOT_EQUAL] = "!=", [TN_DO_LESS] = "<",
		[TN_DO_LESS_EQUAL] = "<=", [TN_DO_GREATER] = ">",    [TN_DO_GREATER_EQUAL] = ">=",
	};
	const char *symbol = symbols[operation];
	int u64_first = dtypes[0] == TN_U64;
	tn_dtype other = dtypes[u64_first];
	if (!symbol || (dtypes[0] != TN_U64 && dtypes[1] != TN_U64) || !tn_is_integer(other) ||
	    tn_is_unsigned(other))
		return NULL;
	/* A negative number compares with every u64 as it does with 0. */
	snprintf(text, size,
		 u64_first ? "z = y < 0 ? 0 %s -1 : x %s u64(y)"
			   : "z = x < 0 ? -1 %s 0 : u64(x) %s y",
		 symbol, symbol);
	return text;
}

static tn_status find_element(struct tn_runtime *runtime, enum tn_operation operation,
			      uint32_t n_inputs, const tn_dtype *dtypes,
			      struct tn_element_program *found)
{
	const struct tn_element_operation *element = &tn_operations[operation];
	struct tn_formula formula = {
		.text = element->text, .inputs = element->inputs, .scalars = element->scalars};
	char text[TN_POWER_TEXT];
	tn_dtype read[3] = {0};
	uint32_t set = 0;
	for (uint32_t i = element->typed_from; i < n_inputs; i++)
		set |= 1u << dtypes[i];
	const tn_dtype loop = tn_loop_type(element->loop, set);
	if (!loop || tn_is_complex(loop))
		return tn_fail(&runtime->report, TN_DTYPE, element->name, "not defined for %s%s%s",
			       tn_dtype_name(dtypes[element->typed_from]),
			       n_inputs > 1 ? " and " : "",
			       n_inputs > 1 ? tn_dtype_name(dtypes[n_inputs - 1]) : "");
	for (uint32_t i = 0; i < n_inputs; i++)
		read[i] = i < element->typed_from ? dtypes[i] : loop;
	if (loop == TN_BOOL && element->on_bools)
		formula.text = element->on_bools;
	else if (tn_is_integer(loop) && element->on_integers)
		formula.text = element->on_integers;
	else if (operation == TN_DO_POWER && tn_is_integer(loop))
		formula.text = tn_power_text(loop, 0, text);
	else if (element->gives_bool && compare_signs(operation, dtypes, text, sizeof(text))) {
		formula.text = text;
		memcpy(read, dtypes, 2 * sizeof(*dtypes));
	}
	found->result = element->gives_bool ? TN_BOOL : loop;
	return tn_formula_program(runtime, element->name, &formula, read, &found->program);
}

tn_status tn_element_program_find(struct tn_runtime *runtime, enum tn_operation operation,
				  uint32_t n, const tn_dtype *dtypes,
				  struct tn_element_program *element)
{
	struct tn_element_program *same =
		&runtime->programs->same[operation][dtypes[0] & (TN_DTYPES - 1)];
	tn_status status;
	for (uint32_t i = 1; i < n; i++) {
		if (dtypes[i] != dtypes[0])
			return find_element(runtime, operation, n, dtypes, element);
	}
	if (!same->program) {
		status = find_element(runtime, operation, n, dtypes, element);
		if (status)
			return status;
		*same = *element;
	}
	*element = *same;
	return TN_OK;
}
