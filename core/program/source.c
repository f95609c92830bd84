/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A program as a C function of one element.
 */
#include <tenon/plugin.h>
#include <tenon/program.h>
#include <tenon/status.h>

#include "base/quarantine.h"
#include "program/prelude.h"
#include "program/printer.h"
#include "program/sink.h"

static void write_piece(void *user, const char *text, size_t length)
{
	tn_sink_append(user, text, length);
}

/* A parameter, after those before it. */
static void add_parameter(struct tn_sink *sink, int *n, const char *type, const char *name)
{
	tn_sink_format(sink, "%stn_%s%s", (*n)++ ? ", " : "", type, name);
}

/* One of each input, scalar and index that the program reads, and a place for each output. */
static void add_parameters(struct tn_sink *sink, const tn_program *program)
{
	char name[24];
	int n = 0;
	for (uint32_t i = 0; i < program->n_inputs; i++) {
		snprintf(name, sizeof(name), " in%u", i);
		if (tn_program_input_dtype(program, i))
			add_parameter(sink, &n, tn_dtype_name(tn_program_input_dtype(program, i)),
				      name);
	}
	for (uint32_t i = 0; i < program->n_scalars; i++) {
		snprintf(name, sizeof(name), " s%u", i);
		if (tn_program_scalar_dtype(program, i))
			add_parameter(sink, &n, tn_dtype_name(tn_program_scalar_dtype(program, i)),
				      name);
	}
	for (int axis = 0; axis < TN_MAX_RANK; axis++) {
		snprintf(name, sizeof(name), " i%d", axis);
		for (uint32_t i = 0; i < program->n_instructions; i++) {
			const struct tn_instruction *value = &program->instructions[i];
			if (value->op != TN_OP_INDEX || value->a != axis)
				continue;
			add_parameter(sink, &n, "i64", name);
			break;
		}
	}
	if (tn_program_has(program, TN_OP_ELEMENT))
		add_parameter(sink, &n, "i64", " element");
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		snprintf(name, sizeof(name), " *z%u", j);
		add_parameter(sink, &n, tn_dtype_name(tn_program_output_dtype(program, j)), name);
	}
}

size_t tn_program_source(const tn_program *program, const char *name, char *buffer, size_t size)
{
	struct tn_sink sink;
	tn_sink_init(&sink, buffer, size);
	const struct tn_print_args args = {.struct_size = sizeof(args),
					   .dialect = tn_plugin_dialect_c(),
					   .write = write_piece,
					   .user = &sink};
	if (!program || !name || tn_quarantine_check(program, "program_source", NULL) ||
	    tn_print_prelude(&args))
		return 0;
	tn_sink_add(&sink, "\nvoid ");
	tn_sink_add(&sink, name);
	tn_sink_add(&sink, "(");
	add_parameters(&sink, program);
	tn_sink_add(&sink, ")\n{\n");
	if (tn_print_program(program, &args))
		return 0;
	for (uint32_t j = 0; j < program->n_outputs; j++)
		tn_sink_format(&sink, "*z%u = out%u;\n", j, j);
	tn_sink_add(&sink, "}\n");
	return sink.length;
}
