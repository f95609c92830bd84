/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Prints a program as declarations of C, one for each value, in the plugin's dialect.
 */
#include "program/printer.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include <tenon/program.h>
#include <tenon/status.h>

#include "program/cast.h"
#include "program/opcode.h"
#include "program/program.h"
#include "program/sink.h"

struct printer {
	struct tn_sink sink;
	const struct tn_program *program;
	const char *prefix;
};

static tn_dtype dtype_of(const struct printer *printer, unsigned value)
{
	return (tn_dtype)printer->program->instructions[value].dtype;
}

/* Can a decimal literal represent the number exactly?  It can if normal, or zero. */
static int is_plain(tn_dtype dtype, double value)
{
	double least = dtype == TN_F32 ? 0x1p-126 : 0x1p-1022;
	return isfinite(value) && (value == 0 || fabs(value) >= least);
}

static void add_floating(struct printer *printer, tn_dtype dtype, uint64_t bits)
{
	double value = tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits));
	struct tn_sink *sink = &printer->sink;
	if (is_plain(dtype, value)) {
		tn_sink_add(sink, dtype == TN_F32 ? "TN_F32(" : "TN_F64(");
		tn_sink_number(sink, dtype, bits);
		tn_sink_add(sink, ")");
	} else if (dtype == TN_F32)
		tn_sink_format(sink, "tn_f32_of_bits(0x%08" PRIx64 "u)", bits);
	else
		tn_sink_format(sink, "tn_f64_of_bits(TN_U64(0x%016" PRIx64 "))", bits);
}

static void add_constant(struct printer *printer, const struct tn_instruction *value)
{
	uint64_t bits = printer->program->constants[value->a];
	tn_dtype dtype = (tn_dtype)value->dtype;
	if (dtype == TN_BOOL) {
		tn_sink_add(&printer->sink, bits ? "1" : "0");
		return;
	}
	if (tn_is_floating(dtype)) {
		add_floating(printer, dtype, bits);
		return;
	}
	int64_t integer = (int64_t)tn_cast_bits(dtype, TN_I64, bits);
	const char *form = dtype == TN_U32   ? "%" PRId64 "u"
			   : dtype == TN_I32 ? "%" PRId64
					     : "TN_I64(%" PRId64 ")";
	/* The lowest integer has no literal: its digits without the sign are too large. */
	int lowest = integer == (dtype == TN_I32 ? INT32_MIN : INT64_MIN);
	tn_sink_format(&printer->sink, form, lowest ? integer + 1 : integer);
	tn_sink_add(&printer->sink, lowest ? " - 1" : "");
}

/* An identifier: the prefix, its kind and its number. */
static void add_name(struct printer *printer, const char *kind, unsigned number)
{
	tn_sink_add(&printer->sink, printer->prefix);
	tn_sink_format(&printer->sink, "%s%u", kind, number);
}

static void add_operand(struct printer *printer, const char *before, unsigned value)
{
	tn_sink_add(&printer->sink, before);
	add_name(printer, "v", value);
}

static const char *sign_of(uint16_t comparison)
{
	switch (comparison) {
	case TN_OP_EQ:
		return " == ";
	case TN_OP_NE:
		return " != ";
	case TN_OP_LT:
		return " < ";
	case TN_OP_LE:
		return " <= ";
	case TN_OP_GT:
		return " > ";
	default:
		return " >= ";
	}
}

static void add_comparison(struct printer *printer, const struct tn_instruction *value)
{
	add_operand(printer, "(tn_bool)(", value->a);
	add_operand(printer, sign_of(value->op), value->b);
	tn_sink_add(&printer->sink, ")");
}

static void add_cast(struct printer *printer, const struct tn_instruction *value)
{
	struct tn_sink *sink = &printer->sink;
	tn_dtype from = dtype_of(printer, value->a), to = (tn_dtype)value->dtype;
	if (to == TN_BOOL)
		tn_sink_add(sink, "(tn_bool)(");
	else if (tn_is_floating(from) && tn_is_integer(to))
		tn_sink_format(sink, "tn_%s_of_%s(", tn_dtype_name(to), tn_dtype_name(from));
	else
		tn_sink_format(sink, "(tn_%s)(", tn_dtype_name(to));
	add_operand(printer, "", value->a);
	tn_sink_add(sink, to == TN_BOOL ? " != 0)" : ")");
}

static void add_bitcast(struct printer *printer, const struct tn_instruction *value)
{
	struct tn_sink *sink = &printer->sink;
	int from_f32 = dtype_of(printer, value->a) == TN_F32;
	if (from_f32 && value->dtype == TN_F32)
		tn_sink_add(sink, "(");
	else if (value->dtype == TN_F32)
		tn_sink_add(sink, "tn_f32_of_bits((tn_u32)");
	else
		tn_sink_format(sink, "(tn_%s)%s(", tn_dtype_name(value->dtype),
			       from_f32 ? "tn_bits_of_f32" : "");
	add_operand(printer, "", value->a);
	tn_sink_add(sink, ")");
}

/* tn_OP_DTYPE(operands); the name omits the type of an opcode that has only one. */
static void add_call(struct printer *printer, const struct tn_instruction *value)
{
	const unsigned operands[] = {value->a, value->b, value->c};
	struct tn_sink *sink = &printer->sink;
	tn_sink_format(sink, "tn_%s", tn_op_name(value->op));
	if (!(tn_op_information(value->op)->flags & TN_HAS_ONE_TYPE))
		tn_sink_format(sink, "_%s", tn_dtype_name(value->dtype));
	for (int k = 0; k < tn_op_information(value->op)->arity; k++)
		add_operand(printer, k ? ", " : "(", operands[k]);
	tn_sink_add(sink, ")");
}

static void add_value(struct printer *printer, const struct tn_instruction *value)
{
	switch (value->op) {
	case TN_OP_INPUT:
		add_name(printer, "in", value->a);
		return;
	case TN_OP_SCALAR:
		add_name(printer, "s", value->a);
		return;
	case TN_OP_INDEX:
		add_name(printer, "i", value->a);
		return;
	case TN_OP_ELEMENT:
		tn_sink_add(&printer->sink, printer->prefix);
		tn_sink_add(&printer->sink, "element");
		return;
	case TN_OP_CONSTANT:
		add_constant(printer, value);
		return;
	case TN_OP_SELECT:
		add_operand(printer, "", value->a);
		add_operand(printer, " ? ", value->b);
		add_operand(printer, " : ", value->c);
		return;
	case TN_OP_CAST:
		add_cast(printer, value);
		return;
	case TN_OP_BITCAST:
		add_bitcast(printer, value);
		return;
	default:
		break;
	}
	if (tn_op_information(value->op)->flags & TN_GIVES_BOOL)
		add_comparison(printer, value);
	else
		add_call(printer, value);
}

static void declare_value(struct printer *printer, const char *kind, unsigned number,
			  tn_dtype dtype)
{
	tn_sink_format(&printer->sink, "const tn_%s ", tn_dtype_name(dtype));
	add_name(printer, kind, number);
	tn_sink_add(&printer->sink, " = ");
}

int tn_print_begin(const struct tn_print_args *args, struct tn_sink *sink)
{
	const struct tn_dialect *dialect =
		args && TN_HAS_FIELD(struct tn_print_args, args, user) ? args->dialect : NULL;
	if (!dialect || !TN_HAS_FIELD(struct tn_dialect, dialect, words) || !dialect->words ||
	    !args->write)
		return 0;
	*sink = (struct tn_sink){.write = args->write, .user = args->user};
	return 1;
}

tn_status tn_print_program(const struct tn_program *program, const struct tn_print_args *args)
{
	struct printer printer = {.program = program};
	if (!tn_print_begin(args, &printer.sink))
		return TN_INVALID_ARGUMENT;
	printer.prefix = args->prefix ? args->prefix : "";
	tn_status status = tn_program_check(program, args->dialect->n_operations,
					    args->dialect->dtypes, "print_program", NULL);
	if (status)
		return status;
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		declare_value(&printer, "v", i, (tn_dtype)program->instructions[i].dtype);
		add_value(&printer, &program->instructions[i]);
		tn_sink_add(&printer.sink, ";\n");
	}
	for (uint32_t j = 0; j < program->n_outputs; j++) {
		declare_value(&printer, "out", j, tn_program_output_dtype(program, j));
		add_operand(&printer, "", program->outputs[j]);
		tn_sink_add(&printer.sink, ";\n");
	}
	return TN_OK;
}
