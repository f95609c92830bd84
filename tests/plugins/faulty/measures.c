/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the conditions of families of faults measure (family.h).
 */
#include <math.h>
#include <stdlib.h>

#include "family.h"

/* ---- Elements --------------------------------------------------------------------------------*/

double family_number(tn_dtype dtype, const void *element)
{
	uint16_t half;
	memcpy(&half, element, sizeof(half));
	switch (dtype) {
	case TN_F16:
		return tn_plugin_f32_of_f16(half);
	case TN_BF16:
		return tn_plugin_f32_of_bf16(half);
	case TN_F32:
		return *(const float *)element;
	case TN_F64:
		return *(const double *)element;
	default:
		return 0;
	}
}

static const struct {
	const char *name;
	tn_dtype dtype;
} dtype_names[] = {
	{"bool", TN_BOOL}, {"i8", TN_I8},   {"i16", TN_I16}, {"i32", TN_I32}, {"i64", TN_I64},
	{"u8", TN_U8},     {"u16", TN_U16}, {"u32", TN_U32}, {"u64", TN_U64}, {"f16", TN_F16},
	{"bf16", TN_BF16}, {"f32", TN_F32}, {"f64", TN_F64}, {"c64", TN_C64}, {"c128", TN_C128},
};

static int is_dtype(tn_dtype dtype, const char *name)
{
	for (size_t i = 0; i < sizeof(dtype_names) / sizeof(dtype_names[0]); i++) {
		if (!strcmp(dtype_names[i].name, name))
			return dtype == dtype_names[i].dtype;
	}
	return 0;
}

static double least_normal(tn_dtype dtype)
{
	return dtype == TN_F64 ? 0x1p-1022 : dtype == TN_F16 ? 0x1p-14 : 0x1p-126;
}

const char *family_kind(tn_dtype dtype, const void *element)
{
	if (!(tn_plugin_dtype_kind(dtype) & TN_PLUGIN_KIND_FLOATING))
		return "";
	const double x = family_number(dtype, element);
	if (isnan(x))
		return "nan";
	if (isinf(x))
		return x > 0 ? "inf" : "-inf";
	if (x == 0)
		return signbit(x) ? "-0" : "";
	return fabs(x) < least_normal(dtype) ? "subnormal" : "";
}

static int has_kind(const struct tn_operand *operand, const char *kind)
{
	for (int64_t i = 0, n = operand_count(operand); i < n; i++) {
		if (!strcmp(family_kind(operand->dtype, operand_at(operand, i)), kind))
			return 1;
	}
	return 0;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static int is_slot(const struct family_call *call, const char *name)
{
	return !strncmp(call->slot->name, name, strlen(name));
}

static int64_t terms_of(struct family_call *call)
{
	const union family_args *args = &call->args;
	if (is_slot(call, "matmul"))
		return args->matmul.a.shape[args->matmul.a.rank - 1];
	if (is_slot(call, "conv2d"))
		return args->conv2d.w.shape[1] * args->conv2d.w.shape[2] * args->conv2d.w.shape[3];
	if (is_slot(call, "reduce"))
		return args->reduce.epilogue ? 0
					     : operand_count(&call->inputs[0]) /
						       operand_count(&args->reduce.outputs[0]);
	return 0;
}

static int64_t axis_of(const struct family_call *call)
{
	if (is_slot(call, "softmax"))
		return call->args.softmax.axis;
	if (is_slot(call, "sort"))
		return call->args.sort.axis;
	if (is_slot(call, "scan"))
		return call->args.scan.axis;
	return is_slot(call, "gather") || is_slot(call, "scatter") ? call->args.gather.axis : 0;
}

static int64_t matrices_of(const struct tn_operand *c)
{
	return (int64_t)tn_plugin_count(c->rank - 2, c->shape);
}

/* Fields of the arguments, all of them uint32_t. */
static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	{"groups", offsetof(struct tn_conv2d_args, groups)},
	{"descending", offsetof(struct tn_sort_args, descending)},
	{"reverse", offsetof(struct tn_scan_args, reverse)},
	{"exclusive", offsetof(struct tn_scan_args, exclusive)},
	{"upper", offsetof(struct tn_linalg_args, upper)},
	{"unit", offsetof(struct tn_linalg_args, unit)},
	{"transpose", offsetof(struct tn_linalg_args, transpose)},
	{"vectors", offsetof(struct tn_linalg_args, vectors)},
	{"logarithm", offsetof(struct tn_softmax_args, logarithm)},
	{"mode", offsetof(struct tn_gather_args, mode)},
	{"causal", offsetof(struct tn_attention_args, causal)},
	{"masked", offsetof(struct tn_attention_args, has_mask)},
	{"wants", offsetof(struct tn_attention_args, wants)},
};

static int64_t field_measure(const struct family_call *call, const char *name)
{
	uint32_t value = 0;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!strcmp(fields[i].name, name))
			memcpy(&value, (const char *)&call->args + fields[i].offset, sizeof(value));
	}
	return value;
}

/* Of scatters the axis that indices choose from is the output's. */
static int64_t line_of(struct family_call *call)
{
	const struct tn_operand *x =
		is_slot(call, "scatter") ? family_operand(call, "output") : NULL;
	x = x ? x : family_operand(call, "input");
	x = x ? x : family_operand(call, "x");
	x = x ? x : family_operand(call, "y");
	return x->shape[axis_of(call)];
}

static int64_t call_measure(struct family_call *call, const char *what)
{
	if (!strcmp(what, "terms"))
		return terms_of(call);
	if (!strcmp(what, "axis"))
		return axis_of(call);
	if (!strcmp(what, "line"))
		return line_of(call);
	if (!strcmp(what, "matrices"))
		return matrices_of(&call->args.matmul.c);
	if (!strcmp(what, "kernel"))
		return call->args.pool2d.kernel[0];
	if (!strcmp(what, "packed"))
		return family_operand(call, "packed") != NULL;
	if (!strcmp(what, "scaled"))
		return call->args.matmul.a_scale || call->args.matmul.b_scale;
	if (!strcmp(what, "accumulate"))
		return call->args.call.flags & TN_ACCUMULATE;
	return field_measure(call, what);
}

/* ---- Operands --------------------------------------------------------------------------------*/

static int is_channels_last(const struct tn_operand *o)
{
	return o->rank == 4 && o->strides[1] == 1 && o->shape[1] > 1 && o->shape[3] > 1 &&
	       o->strides[3] == o->shape[1];
}

/* An index from the front, or negative from behind; -1: there is no such axis. */
static int64_t axis_number(const struct tn_operand *operand, const char *text)
{
	int64_t axis = strtol(text, NULL, 10);
	axis += axis < 0 ? operand->rank : 0;
	return axis < 0 || axis >= operand->rank ? -1 : axis;
}

static int64_t operand_measure(const struct tn_operand *operand, const char *what)
{
	if (!strcmp(what, "count"))
		return operand_count(operand);
	if (!strcmp(what, "rank"))
		return operand->rank;
	if (!strcmp(what, "channels_last"))
		return is_channels_last(operand);
	const int is_stride = !strncmp(what, "stride.", 7);
	const int64_t axis = axis_number(operand, is_stride ? what + 7 : what);
	if (axis < 0)
		return 0;
	return is_stride ? operand->strides[axis] : operand->shape[axis];
}

int family_holds(struct family_call *call, const char *what, const char *relation, const char *text)
{
	const char *dot = strchr(what, '.');
	const int64_t wanted = strtoll(text, NULL, 10);
	int64_t found;
	if (dot) {
		char name[32] = "";
		strncpy(name, what,
			(size_t)(dot - what) < sizeof(name) ? (size_t)(dot - what) : 31);
		const struct tn_operand *operand = family_operand(call, name);
		if (!operand)
			return 0;
		if (!strcmp(dot, ".dtype"))
			return is_dtype(operand->dtype, text);
		if (!strcmp(dot, ".has"))
			return has_kind(operand, text);
		found = operand_measure(operand, dot + 1);
	} else {
		found = call_measure(call, what);
	}
	return *relation == '>'   ? found >= wanted
	       : *relation == '<' ? found <= wanted
				  : found == wanted;
}
