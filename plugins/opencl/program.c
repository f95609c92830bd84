/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The host prints programs; what surrounds them is printed here: loads and stores convert between what
 * is stored and what programs compute in, by the rules of the cast.  f16 and bf16 are converted by their
 * bits, which needs no extension.
 */
#include "program.h"

#include <stdio.h>
#include <string.h>

/* ---- Checks ----------------------------------------------------------------------------------*/

enum { BOOLS = 1, INTEGERS = 2, FLOATS = 4, NUMBERS = INTEGERS | FLOATS, ALL = 7, COMPARES = 8 };

/* Of which dtypes each opcode makes values, or, of a comparison, takes them. */
static const uint8_t made[TN_OP_COUNT] = {
	[TN_OP_INPUT] = ALL,
	[TN_OP_SCALAR] = ALL,
	[TN_OP_CONSTANT] = ALL,
	[TN_OP_INDEX] = INTEGERS,
	[TN_OP_ELEMENT] = INTEGERS,
	[TN_OP_ADD] = NUMBERS,
	[TN_OP_SUB] = NUMBERS,
	[TN_OP_MUL] = NUMBERS,
	[TN_OP_DIV] = NUMBERS,
	[TN_OP_REM] = NUMBERS,
	[TN_OP_NEG] = NUMBERS,
	[TN_OP_ABS] = NUMBERS,
	[TN_OP_MIN] = NUMBERS,
	[TN_OP_MAX] = NUMBERS,
	[TN_OP_FMA] = FLOATS,
	[TN_OP_POW] = FLOATS,
	[TN_OP_SQRT] = FLOATS,
	[TN_OP_RSQRT] = FLOATS,
	[TN_OP_FLOOR] = FLOATS,
	[TN_OP_CEIL] = FLOATS,
	[TN_OP_ROUND] = FLOATS,
	[TN_OP_TRUNC] = FLOATS,
	[TN_OP_SIGN] = NUMBERS,
	[TN_OP_EXP] = FLOATS,
	[TN_OP_EXP2] = FLOATS,
	[TN_OP_EXPM1] = FLOATS,
	[TN_OP_LOG] = FLOATS,
	[TN_OP_LOG2] = FLOATS,
	[TN_OP_LOG1P] = FLOATS,
	[TN_OP_SIN] = FLOATS,
	[TN_OP_COS] = FLOATS,
	[TN_OP_TAN] = FLOATS,
	[TN_OP_ASIN] = FLOATS,
	[TN_OP_ACOS] = FLOATS,
	[TN_OP_ATAN] = FLOATS,
	[TN_OP_ATAN2] = FLOATS,
	[TN_OP_SINH] = FLOATS,
	[TN_OP_COSH] = FLOATS,
	[TN_OP_TANH] = FLOATS,
	[TN_OP_ERF] = FLOATS,
	[TN_OP_SIGMOID] = FLOATS,
	[TN_OP_EQ] = ALL | COMPARES,
	[TN_OP_NE] = ALL | COMPARES,
	[TN_OP_LT] = ALL | COMPARES,
	[TN_OP_LE] = ALL | COMPARES,
	[TN_OP_GT] = ALL | COMPARES,
	[TN_OP_GE] = ALL | COMPARES,
	[TN_OP_AND] = BOOLS | INTEGERS,
	[TN_OP_OR] = BOOLS | INTEGERS,
	[TN_OP_XOR] = BOOLS | INTEGERS,
	[TN_OP_NOT] = BOOLS | INTEGERS,
	[TN_OP_SHL] = INTEGERS,
	[TN_OP_SHR] = INTEGERS,
	[TN_OP_SELECT] = ALL,
	[TN_OP_CAST] = ALL,
	[TN_OP_BITCAST] = NUMBERS,
	[TN_OP_RANDOM] = INTEGERS,
	[TN_OP_NORMAL] = FLOATS,
};

static unsigned class_of(const struct opencl_device *device, unsigned dtype)
{
	switch (dtype) {
	case TN_BOOL:
		return BOOLS;
	case TN_I32:
	case TN_U32:
	case TN_I64:
		return INTEGERS;
	case TN_F32:
		return FLOATS;
	case TN_F64:
		return device->facts->has_f64 ? FLOATS : 0;
	default:
		return 0;
	}
}

/* How many sources of that kind there are; 0 for an opcode that is no source. */
static uint32_t sources(const struct tn_program *program, uint16_t op)
{
	switch (op) {
	case TN_OP_INPUT:
		return program->n_inputs;
	case TN_OP_SCALAR:
		return program->n_scalars;
	case TN_OP_CONSTANT:
		return program->n_constants;
	case TN_OP_INDEX:
		return TN_MAX_RANK;
	case TN_OP_ELEMENT:
		return UINT16_MAX + 1u;
	default:
		return 0;
	}
}

/* Does instruction i stand on sound ground? */
static int is_sound(const struct tn_program *program, uint32_t i)
{
	const struct tn_instruction *in = &program->instructions[i];
	uint32_t n = sources(program, in->op);
	if (n)
		return in->a < n;
	return in->a < i && (in->b < i || in->b == 0) && (in->c < i || in->c == 0);
}

static tn_status check_instruction(const struct opencl_device *device, const struct tn_call *call,
				   const char *operation, const struct tn_program *program,
				   uint32_t i)
{
	const struct tn_instruction *in = &program->instructions[i];
	unsigned own = class_of(device, in->dtype);
	if (in->op >= TN_OP_COUNT || !made[in->op] || !own)
		return opencl_fail(call->error, TN_UNSUPPORTED, operation,
				   "instruction %u: opcode %u of dtype %u is not known here", i,
				   in->op, in->dtype);
	if (!is_sound(program, i))
		return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
				   "instruction %u: it refers to what is not there", i);
	if (made[in->op] & COMPARES)
		own = class_of(device, program->instructions[in->a].dtype);
	if (!(own & made[in->op]))
		return opencl_fail(call->error, TN_UNSUPPORTED, operation,
				   "instruction %u: opcode %u does not make dtype %u", i, in->op,
				   in->dtype);
	return TN_OK;
}

tn_status opencl_check_program(const struct opencl_device *device, const struct tn_call *call,
			       const char *operation, const struct tn_program *program)
{
	tn_status status = TN_OK;
	if (!program || !program->instructions || !program->outputs || !program->bytes ||
	    program->n_inputs > TN_PROGRAM_MAX_INPUTS || program->n_outputs == 0 ||
	    program->n_outputs > TN_PROGRAM_MAX_OUTPUTS ||
	    program->n_scalars > TN_PROGRAM_MAX_SCALARS ||
	    program->n_constants > TN_PROGRAM_MAX_CONSTANTS || program->n_instructions == 0 ||
	    program->n_instructions > TN_PROGRAM_MAX_INSTRUCTIONS)
		return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
				   "no program, or one outside the limits");
	for (uint32_t i = 0; i < program->n_instructions && !status; i++)
		status = check_instruction(device, call, operation, program, i);
	for (uint32_t j = 0; j < program->n_outputs && !status; j++)
		if (program->outputs[j] >= program->n_instructions)
			status = opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
					     "output %u is value %u of %u", j, program->outputs[j],
					     program->n_instructions);
	return status;
}

tn_status opencl_check_scalars(const struct opencl_device *device, const struct tn_call *call,
			       const char *operation, const struct tn_scalar *scalars, uint32_t n)
{
	if (n && !scalars)
		return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
				   "the program has %u scalars, none are given", n);
	for (uint32_t s = 0; s < n; s++) {
		const struct tn_scalar *scalar = &scalars[s];
		struct tn_operand place = {
			.buffer = scalar->buffer, .offset = scalar->offset, .dtype = scalar->dtype};
		if (scalar->on_device > 1 || !(opencl_kind(scalar->dtype) & OPENCL_REAL) ||
		    (scalar->dtype == TN_F64 && !device->facts->has_f64))
			return opencl_fail(call->error, TN_UNSUPPORTED, operation,
					   "scalar %u: dtype %d, on_device %u", s,
					   (int)scalar->dtype, scalar->on_device);
		if (!scalar->on_device) /* a value needs no place */
			continue;
		tn_status status = opencl_check_operand(device, call, operation, "scalar", s,
							&place, OPENCL_READS);
		if (status)
			return status;
	}
	return TN_OK;
}

/* ---- Questions -------------------------------------------------------------------------------*/

tn_dtype opencl_source_dtype(const struct tn_program *program, uint16_t op, uint32_t number)
{
	for (uint32_t i = 0; i < program->n_instructions; i++)
		if (program->instructions[i].op == op && program->instructions[i].a == number)
			return (tn_dtype)program->instructions[i].dtype;
	return 0;
}

tn_dtype opencl_output_dtype(const struct tn_program *program, uint32_t number)
{
	return (tn_dtype)program->instructions[program->outputs[number]].dtype;
}

int opencl_uses_index(const struct tn_program *program)
{
	for (uint32_t i = 0; i < program->n_instructions; i++)
		if (program->instructions[i].op == TN_OP_INDEX)
			return 1;
	return 0;
}

/* ---- Conversions -----------------------------------------------------------------------------*/

const char *opencl_type(tn_dtype dtype)
{
	static const char *const types[16] = {
		[TN_BOOL] = "uchar", [TN_I8] = "char",    [TN_I16] = "short",   [TN_I32] = "int",
		[TN_I64] = "long",   [TN_U8] = "uchar",   [TN_U16] = "ushort",  [TN_U32] = "uint",
		[TN_U64] = "ulong",  [TN_F16] = "ushort", [TN_BF16] = "ushort", [TN_F32] = "float",
		[TN_F64] = "double", [TN_C64] = "ulong",  [TN_C128] = "ulong2"};
	return types[dtype];
}

/* As cast.c of the host has them. */
static const char conversions[] =
	"static float oc_f32_of_f16(ushort h)\n"
	"{\n"
	"\tuint sign = (uint)(h & 0x8000) << 16, exponent = (h >> 10) & 31, fraction = h & 0x3ff;\n"
	"\tif (exponent == 31)\n"
	"\t\treturn as_float(sign | 0x7f800000u | fraction << 13);\n"
	"\tif (exponent)\n"
	"\t\treturn as_float(sign | (exponent + 112) << 23 | fraction << 13);\n"
	"\tfloat magnitude = (float)fraction * 0x1p-24f;\n"
	"\treturn sign ? -magnitude : magnitude;\n"
	"}\n"
	"static ushort oc_f16_of_f32(float x)\n"
	"{\n"
	"\tuint bits = as_uint(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;\n"
	"\tif (magnitude > 0x7f800000)\n"
	"\t\treturn (ushort)(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));\n"
	"\tif (magnitude >= 0x477ff000)\n"
	"\t\treturn (ushort)(sign | 0x7c00);\n"
	"\tif (magnitude < 0x38800000)\n"
	"\t\treturn (ushort)(sign | (uint)rint(as_float(magnitude) * 0x1p24f));\n"
	"\treturn (ushort)(sign | ((magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> "
	"13));\n"
	"}\n"
	"static float oc_f32_of_bf16(ushort b) { return as_float((uint)b << 16); }\n"
	"static ushort oc_bf16_of_f32(float x)\n"
	"{\n"
	"\tuint bits = as_uint(x);\n"
	"\tif ((bits & 0x7fffffff) > 0x7f800000)\n"
	"\t\treturn (ushort)(bits >> 16 | 0x40);\n"
	"\treturn (ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);\n"
	"}\n"
	"#define OC_SATURATE(F, X) \\\n"
	"static char oc_i8_of_##F(X a) { return a != a ? 0 : a >= 127.0f ? 127 : \\\n"
	"\ta <= -128.0f ? -128 : (char)(int)a; } \\\n"
	"static short oc_i16_of_##F(X a) { return a != a ? 0 : a >= 32767.0f ? 32767 : \\\n"
	"\ta <= -32768.0f ? -32768 : (short)(int)a; } \\\n"
	"static uchar oc_u8_of_##F(X a) { return !(a > 0) ? 0 : a >= 255.0f ? 255 : (uchar)(int)a; "
	"} \\\n"
	"static ushort oc_u16_of_##F(X a) \\\n"
	"{ return !(a > 0) ? 0 : a >= 65535.0f ? 65535 : (ushort)(int)a; } \\\n"
	"static ulong oc_u64_of_##F(X a) { return !(a > 0) ? 0UL : \\\n"
	"\ta >= 18446744073709551616.0f ? 0xffffffffffffffffUL : (ulong)a; }\n"
	"OC_SATURATE(f32, float)\n"
	"#ifdef TN_HAS_F64\n"
	"OC_SATURATE(f64, double)\n"
	"#endif\n";

const char *opencl_conversions(void)
{
	return conversions;
}

/* The function for a value of f32 or f64, or NULL where a C cast does it. */
static const char *saturating(tn_dtype to)
{
	static const char *const names[16] = {
		[TN_I8] = "oc_i8", [TN_I16] = "oc_i16", [TN_I32] = "tn_i32", [TN_I64] = "tn_i64",
		[TN_U8] = "oc_u8", [TN_U16] = "oc_u16", [TN_U32] = "tn_u32", [TN_U64] = "oc_u64"};
	return names[to];
}

void opencl_print_conversion(struct opencl_text *text, tn_dtype from, tn_dtype to,
			     const char *expression)
{
	char value[256];
	const char *function = saturating(to);
	const char *wrap = from == TN_F16    ? "oc_f32_of_f16(%s)"
			   : from == TN_BF16 ? "oc_f32_of_bf16(%s)"
			   : from == TN_BOOL ? "(%s != 0)"
					     : "%s";
	if (from == to && from != TN_BOOL) {
		opencl_text_add(text, expression);
		return;
	}
	(void)snprintf(value, sizeof(value), wrap, expression);
	if (to == TN_BOOL)
		opencl_text_format(text, "(uchar)(%s != 0)", value);
	else if (to == TN_F16 || to == TN_BF16)
		opencl_text_format(text, "%s((float)%s)",
				   to == TN_F16 ? "oc_f16_of_f32" : "oc_bf16_of_f32", value);
	else if (opencl_kind(from) == OPENCL_FLOATING && function)
		opencl_text_format(text, "%s_of_%s(%s)", function, from == TN_F64 ? "f64" : "f32",
				   value);
	else
		opencl_text_format(text, "(%s)%s", opencl_type(to), value);
}

/* ---- What the host prints --------------------------------------------------------------------*/

void opencl_print_program(struct opencl_text *text, const struct tn_program *program,
			  const char *prefix)
{
	const struct tn_host *host = text->host;
	const struct tn_print_args args = {
		.struct_size = sizeof(args), .dialect = TN_DIALECT_OPENCL, .prefix = prefix};
	size_t length = host->print_program(host->context, program, &args, NULL, 0);
	char *to = opencl_text_reserve(text, length);
	if (to)
		text->length += host->print_program(host->context, program, &args, to, length + 1);
}

void opencl_print_prelude(struct opencl_text *text)
{
	const struct tn_host *host = text->host;
	const struct tn_print_args args = {.struct_size = sizeof(args),
					   .dialect = TN_DIALECT_OPENCL};
	size_t length = host->print_prelude(host->context, &args, NULL, 0);
	char *to = opencl_text_reserve(text, length);
	if (to)
		text->length += host->print_prelude(host->context, &args, to, length + 1);
}
