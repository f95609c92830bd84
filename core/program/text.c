/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A program as readable text: one instruction per line, in order.
 */
#include <tenon/program.h>
#include <tenon/status.h>

#include "base/quarantine.h"
#include "program/opcode.h"
#include "program/sink.h"

size_t tn_program_text(const tn_program *program, char *buffer, size_t size)
{
	struct tn_sink sink;
	tn_sink_init(&sink, buffer, size);
	if (tn_quarantine_check(program, "program_text", NULL))
		return 0;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		const struct tn_instruction *value = &program->instructions[i];
		const unsigned operands[] = {value->a, value->b, value->c};
		size_t start = sink.length;
		tn_sink_format(&sink, "v%u = %s", i, tn_op_name(value->op));
		switch (value->op) {
		case TN_OP_CONSTANT:
			tn_sink_add(&sink, " ");
			tn_sink_number(&sink, (tn_dtype)value->dtype, program->constants[value->a]);
			break;
		case TN_OP_INPUT:
		case TN_OP_SCALAR:
		case TN_OP_INDEX:
			tn_sink_format(&sink, " %u", operands[0]);
			break;
		default:
			for (int k = 0; k < tn_op_information(value->op)->arity; k++)
				tn_sink_format(&sink, " v%u", operands[k]);
		}
		while (sink.length < start + 26)
			tn_sink_add(&sink, " ");
		tn_sink_format(&sink, ": %s\n", tn_dtype_name((tn_dtype)value->dtype));
	}
	for (uint32_t j = 0; j < program->n_outputs; j++)
		tn_sink_format(&sink, "output %u = v%u\n", j, program->outputs[j]);
	return sink.length;
}
