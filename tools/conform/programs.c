/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Builds small programs, an identity and a single operation, with the library's builder.
 */
#include "programs.h"

#include <stdio.h>
#include <stdlib.h>

static void give_up(const char *what)
{
	fprintf(stderr, "the kit could not build a program: %s\n", what);
	exit(1);
}

void begin_program(struct tn_builder *builder)
{
	if (tn_builder_init(builder, "tenon-conform", NULL))
		give_up("no memory");
}

struct tn_program *finish_program(struct tn_builder *builder, uint32_t n_inputs, uint32_t n_scalars,
				  uint32_t n_outputs, const tn_value *outputs)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_program *program = NULL;
	if (tn_builder_finish(builder, n_inputs, n_scalars, n_outputs, outputs, &program, &error))
		give_up(error.text);
	tn_builder_release(builder);
	return program;
}

struct tn_program *identity_program(tn_dtype dtype, uint32_t n_outputs)
{
	tn_value outputs[TN_PROGRAM_MAX_OUTPUTS];
	struct tn_builder b;
	begin_program(&b);
	outputs[0] = tn_build_source(&b, TN_OP_INPUT, dtype, 0);
	for (uint32_t j = 1; j < n_outputs; j++)
		outputs[j] = outputs[0];
	return finish_program(&b, 1, 0, n_outputs, outputs);
}

struct tn_program *operation_program(uint16_t op, uint32_t arity, tn_dtype dtype, tn_dtype result)
{
	tn_value in[3] = {0, 0, 0}, out;
	struct tn_builder b;
	begin_program(&b);
	for (uint32_t i = 0; i < arity; i++)
		in[i] = tn_build_source(&b, TN_OP_INPUT,
					op == TN_OP_SELECT && i == 0 ? TN_BOOL : dtype, i);
	out = tn_build_op(&b, op, result, in[0], in[1], in[2]);
	return finish_program(&b, arity, 0, 1, &out);
}
