/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies, conversions and fills.  A copy within one dtype calls the backend's copy slot and is
 * otherwise composed as the program `z = x`; a conversion is always that program.  Complex arrays,
 * which programs cannot read, are converted and filled by their parts.
 */
#include "ops/copy.h"

#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "dispatch/element_programs.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "dispatch/programs.h"
#include "dispatch/route.h"
#include "ops/complex_parts.h"
#include "ops/layout.h"
#include "ops/map_call.h"
#include "program/cast.h"

/* ---- Copies ----------------------------------------------------------------------------------*/

struct copy {
	struct tn_runtime *runtime;
	uint32_t operation;
	tn_array *out;
	const tn_array *a;
};

/* The program z = x; the caller counts it. */
static tn_status map_copy(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
			  const tn_array *a)
{
	struct tn_map_run run = {.operation = operation, .inputs = &a, .outputs = &out};
	struct tn_element_program copy;
	/* A u64 is read as what it becomes: programs hold it as an i64, which has a sign. */
	int is_read_as_stored = a->dtype == TN_U64 && tn_is_floating(out->dtype);
	tn_status status = tn_element_program_find(
		runtime, TN_DO_COPY, 1, is_read_as_stored ? &out->dtype : &a->dtype, &copy);
	run.program = copy.program;
	return status ? status : tn_map_call(runtime, &run, NULL);
}

static tn_status compose_copy(void *argument)
{
	const struct copy *copy = argument;
	return map_copy(copy->runtime, copy->operation, copy->out, copy->a);
}

static tn_status route_copy(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
			    const tn_array *a)
{
	struct tn_copy_args args = {.call = {.struct_size = sizeof(args)}};
	struct tn_operand *all[] = {&args.output, &args.input};
	struct copy copy = {runtime, operation, out, a};
	struct tn_route route = {.runtime = runtime,
				 .device = tn_array_home(out),
				 .operation = operation,
				 .slot = TN_SLOT_COPY,
				 .call = &args.call};
	tn_operand_of(&args.output, out);
	tn_operand_broadcast(&args.input, a, out->rank, out->shape);
	tn_operands_sort(all, 2, 0, 0, args.output.rank);
	tn_operands_merge(all, 2, 0, args.output.rank);
	if (!tn_is_complex(out->dtype)) {
		route.compose = compose_copy;
		route.argument = &copy;
		route.needs = TN_NEEDS_MAP;
		route.dtype = out->dtype;
	}
	return tn_route_run(&route);
}

static tn_status check_copy(struct tn_runtime *runtime, uint32_t operation, const tn_array *out,
			    const tn_array *a)
{
	const char *name = tn_ledger_row_of(runtime->ledger, operation)->operation;
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	int64_t shape[TN_MAX_RANK];
	int rank = out->rank;
	tn_status status = tn_array_writable(runtime, name, out);
	if (status)
		return status;
	memcpy(shape, out->shape, sizeof(shape));
	if (!tn_shape_broadcast(&rank, shape, a->rank, a->shape) ||
	    !tn_shape_equal(rank, shape, out->rank, out->shape))
		return tn_fail(&runtime->report, TN_SHAPE, name,
			       "shape %s does not broadcast to %s", tn_array_text(a, found),
			       tn_array_text(out, expected));
	return TN_OK;
}

/* A bool: is one of the two parts not 0? */
static tn_status map_nonzero(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
			     const struct tn_complex_parts *from)
{
	static const struct tn_formula is_nonzero = {.text = "z = real != 0 || imag != 0",
						     .inputs = "real imag"};
	const tn_dtype dtypes[] = {from->arrays[0]->dtype, from->arrays[1]->dtype};
	struct tn_map_run run = {.operation = operation, .inputs = from->arrays, .outputs = &out};
	const char *name = tn_ledger_row_of(runtime->ledger, operation)->operation;
	tn_status status = tn_formula_program(runtime, name, &is_nonzero, dtypes, &run.program);
	return status ? status : tn_map_call(runtime, &run, NULL);
}

/* Where one of the two is complex: a real output takes the real part, a bool whether one of both is
 * not 0. */
static tn_status copy_by_parts(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
			       const tn_array *a)
{
	struct tn_complex_parts from = {0}, to = {0};
	tn_status status = tn_complex_parts_add(&from, a);
	if (!status && out->dtype == TN_BOOL) {
		status = map_nonzero(runtime, operation, out, &from);
		tn_complex_parts_release(&from);
		return status;
	}
	if (!status)
		status = tn_complex_parts_add(&to, out);
	for (uint32_t k = 0; k < to.n && !status; k++) {
		tn_array *part = to.views[k] ? to.views[k] : out;
		if (k < from.n)
			status = tn_copy_run(runtime, operation, part, from.arrays[k]);
		else
			status = tn_fill_run(runtime, operation, part, 0);
	}
	tn_complex_parts_release(&from);
	tn_complex_parts_release(&to);
	return status;
}

tn_status tn_copy_run(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
		      const tn_array *a)
{
	tn_array *apart = NULL;
	tn_status status = check_copy(runtime, operation, out, a);
	if (status || !out->size)
		return status;
	enum tn_overlap overlap = tn_array_overlap(out, a);
	if (overlap == TN_OVERLAP_SAME && out->dtype == a->dtype)
		return TN_OK;
	if (overlap == TN_OVERLAP_PARTIAL) {
		apart = tn_array_compact(runtime, a);
		if (!apart)
			return runtime->report.status;
		a = apart;
	}
	if (a->dtype != out->dtype && (tn_is_complex(a->dtype) || tn_is_complex(out->dtype))) {
		status = copy_by_parts(runtime, operation, out, a);
	} else if (tn_is_complex(a->dtype)) {
		/* The slot copies bits; a backend without this type copies the parts. */
		status = route_copy(runtime, operation, out, a);
		if (status == TN_UNSUPPORTED)
			status = copy_by_parts(runtime, operation, out, a);
		else
			tn_array_touch(out);
	} else if (a->dtype == out->dtype) {
		status = route_copy(runtime, operation, out, a);
		tn_array_touch(out);
	} else {
		status = map_copy(runtime, operation, out, a);
	}
	tn_array_discard(apart);
	return status;
}

tn_array *tn_array_compact(struct tn_runtime *runtime, const tn_array *a)
{
	tn_array *copy = tn_array_make(runtime, tn_array_home(a), a->dtype, a->rank, a->shape);
	if (copy && tn_copy_run(runtime, TN_DO_COPY, copy, a)) {
		tn_array_discard(copy);
		return NULL;
	}
	return copy;
}

/* ---- Fills -----------------------------------------------------------------------------------*/

struct fill {
	struct tn_runtime *runtime;
	uint32_t operation;
	tn_array *out;
	struct tn_scalar value;
};

/* The scalar has the output's own compute type, since an i64 holds what an f32 cannot. */
static tn_status compose_fill(void *argument)
{
	const struct fill *fill = argument;
	tn_dtype dtype = tn_compute_dtype(fill->out->dtype);
	const struct tn_scalar value = {
		.dtype = dtype, .bits = tn_cast_bits(fill->value.dtype, dtype, fill->value.bits)};
	const struct tn_formula formula = {
		.text = "z = value", .scalars = "value", .scalar_dtype = value.dtype};
	struct tn_map_run run = {
		.operation = fill->operation, .outputs = &fill->out, .scalars = &value};
	tn_status status = tn_formula_program(fill->runtime, "fill", &formula, NULL, &run.program);
	return status ? status : tn_map_call(fill->runtime, &run, NULL);
}

static tn_status fill_parts(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
			    const struct tn_value_bits *bits)
{
	struct tn_complex_parts parts = {0};
	tn_status status = tn_complex_parts_add(&parts, out);
	for (uint32_t k = 0; k < parts.n && !status; k++)
		status = tn_fill_bits(runtime, operation, parts.views[k],
				      &(struct tn_value_bits){{bits->part[k], 0}});
	tn_complex_parts_release(&parts);
	return status;
}

tn_status tn_fill_bits(struct tn_runtime *runtime, uint32_t operation, tn_array *out,
		       const struct tn_value_bits *bits)
{
	const char *name = tn_ledger_row_of(runtime->ledger, operation)->operation;
	struct fill fill = {runtime, operation, out, {.dtype = out->dtype, .bits = bits->part[0]}};
	struct tn_fill_args args = {.call = {.struct_size = sizeof(args)}};
	struct tn_operand *all[] = {&args.output};
	struct tn_route route = {.runtime = runtime,
				 .device = tn_array_home(out),
				 .operation = operation,
				 .slot = TN_SLOT_FILL,
				 .call = &args.call,
				 .compose = compose_fill,
				 .argument = &fill,
				 .needs = TN_NEEDS_MAP,
				 .dtype = out->dtype};
	tn_status status = tn_array_writable(runtime, name, out);
	if (status || !out->size)
		return status;
	if (tn_is_complex(out->dtype))
		return fill_parts(runtime, operation, out, bits);
	args.value = fill.value;
	tn_operand_of(&args.output, out);
	tn_operands_sort(all, 1, 0, 0, args.output.rank);
	tn_operands_merge(all, 1, 0, args.output.rank);
	status = tn_route_run(&route);
	if (!status)
		tn_array_touch(out);
	return status;
}

tn_status tn_fill_run(struct tn_runtime *runtime, uint32_t operation, tn_array *out, double value)
{
	const struct tn_value_bits bits = tn_bits_of_double(out->dtype, value);
	return tn_fill_bits(runtime, operation, out, &bits);
}

/* ---- Public functions ------------------------------------------------------------------------*/

tn_array *tn_array_filled(const tn_array *a, tn_dtype dtype, int rank, const int64_t *shape,
			  double value)
{
	struct tn_runtime *runtime = a->runtime;
	tn_array *out = tn_array_make(runtime, tn_array_home(a), dtype, rank, shape);
	tn_status status =
		out ? tn_fill_run(runtime, TN_DO_FILL, out, value) : runtime->report.status;
	return tn_end(runtime, status, out);
}

tn_array *tn_array_filled_number(const tn_array *a, const char *operation, const char *argument,
				 tn_dtype dtype, int rank, const int64_t *shape, tn_number number)
{
	struct tn_runtime *runtime = a->runtime;
	struct tn_value_bits bits;
	tn_array *out = NULL;
	tn_status status = tn_number_bits(runtime, operation, argument, number, dtype, &bits);
	if (!status) {
		out = tn_array_make(runtime, tn_array_home(a), dtype, rank, shape);
		status = out ? tn_fill_bits(runtime, TN_DO_FILL, out, &bits)
			     : runtime->report.status;
	}
	return tn_end(runtime, status, out);
}

tn_array *tn_array_copied(const tn_array *a, tn_array *out, const char *operation)
{
	struct tn_runtime *runtime = a->runtime;
	struct tn_record record = {.kind = TN_RECORD_COPY, .operation = operation};
	tn_status status = out ? tn_copy_run(runtime, TN_DO_COPY, out, a) : runtime->report.status;
	if (!status && tn_is_inexact(out->dtype))
		status = tn_record_made(runtime, &record, 1, &a, out);
	return tn_end(runtime, status, out);
}

tn_array *tn_astype(const tn_array *a, tn_dtype dtype)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "astype");
	if (!runtime)
		return NULL;
	if (!tn_dtype_size(dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, "astype", "dtype: %d is not an element type",
				dtype);
		return NULL;
	}
	return tn_array_copied(a, tn_array_make_like(a, dtype), "astype");
}

tn_array *tn_copy(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "copy");
	if (!runtime)
		return NULL;
	return tn_array_copied(
		a, tn_array_make(runtime, tn_array_home(a), a->dtype, a->rank, a->shape), "copy");
}

tn_array *tn_contiguous(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "contiguous");
	if (!runtime)
		return NULL;
	if (a->contiguous)
		return tn_keep(tn_array_const_cast(a));
	return tn_array_copied(
		a, tn_array_make(runtime, tn_array_home(a), a->dtype, a->rank, a->shape),
		"contiguous");
}

tn_array *tn_channels_last(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "channels_last");
	char text[TN_SHAPE_TEXT];
	if (!runtime)
		return NULL;
	if (a->rank != 4) {
		tn_runtime_fail(runtime, TN_SHAPE, "channels_last",
				"expected shape (N, C, H, W), found %s", tn_array_text(a, text));
		return NULL;
	}
	if (tn_layout_has_channels_last(a))
		return tn_keep(tn_array_const_cast(a));
	return tn_array_copied(
		a, tn_array_make_images(runtime, tn_array_home(a), a->dtype, a->shape, 1),
		"channels_last");
}

tn_status tn_assign(tn_array *out, const tn_array *a)
{
	const tn_array *both[] = {out, a};
	tn_status status = tn_begin_into(2, both, "assign");
	if (status)
		return status;
	status = tn_refuse_tracked(out->runtime, "assign", 1, &a);
	if (!status)
		status = tn_copy_run(out->runtime, TN_DO_COPY, out, a);
	return tn_end_into(out->runtime, status);
}

tn_status tn_fill(tn_array *out, double value)
{
	const tn_array *array = out;
	tn_status status = tn_begin_into(1, &array, "fill");
	if (status)
		return status;
	return tn_end_into(out->runtime, tn_fill_run(out->runtime, TN_DO_FILL, out, value));
}

tn_status tn_fill_number(tn_array *out, tn_number value)
{
	const tn_array *array = out;
	struct tn_value_bits bits;
	tn_status status = tn_begin_into(1, &array, "fill");
	if (status)
		return status;
	status = tn_number_bits(out->runtime, "fill", "value", value, out->dtype, &bits);
	if (!status)
		status = tn_fill_bits(out->runtime, TN_DO_FILL, out, &bits);
	return tn_end_into(out->runtime, status);
}
