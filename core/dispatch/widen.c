/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes f32 copies of a call's f16 and bf16 operands, and converts them back.  The copies are
 * arrays, so that they are released, captured and recorded for replays as other temporary arrays
 * are; the conversions are maps with a route of their own.
 */
#include "dispatch/widen.h"

#include <string.h>

#include "base/memory.h"
#include "dispatch/operand.h"
#include "dispatch/element_programs.h"

static int is_narrow(tn_dtype dtype)
{
	return dtype == TN_F16 || dtype == TN_BF16;
}

int tn_can_widen(enum tn_slot slot, const struct tn_call *call)
{
	const struct tn_slot_operand *row = tn_slots[slot].operands;
	/* Copies and fills move bits, or are composed of a map. */
	if (slot == TN_SLOT_COPY || slot == TN_SLOT_FILL)
		return 0;
	for (; row && row->role; row++) {
		const struct tn_operand *operand = tn_slot_operand_of(row, call);
		if (operand && is_narrow(operand->dtype))
			return 1;
	}
	return 0;
}

/* ---- The copies ------------------------------------------------------------------------------*/

static int is_same(const struct tn_operand *a, const struct tn_operand *b)
{
	size_t size = a->rank * sizeof(int64_t);
	return a->buffer == b->buffer && a->offset == b->offset && a->dtype == b->dtype &&
	       a->rank == b->rank && !memcmp(a->shape, b->shape, size) &&
	       !memcmp(a->strides, b->strides, size);
}

static uint64_t distance(int64_t stride)
{
	return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* Gives the copy the narrow operand's order of axes without its gaps; axes along which elements
 * repeat keep stride 0.  Returns the number of its elements. */
static int64_t lay_out(const struct tn_operand *narrow, struct tn_operand *wide)
{
	uint32_t order[TN_MAX_RANK] = {0};
	int64_t n = 1;
	*wide = *narrow;
	wide->dtype = TN_F32;
	for (uint32_t i = 0; i < narrow->rank; i++) {
		uint32_t at = i;
		for (; at > 0 &&
		       distance(narrow->strides[order[at - 1]]) < distance(narrow->strides[i]);
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (uint32_t i = narrow->rank; i-- > 0;) {
		uint32_t axis = order[i];
		if (!narrow->strides[axis])
			continue;
		wide->strides[axis] = n;
		n *= wide->shape[axis];
	}
	return n;
}

/* The copy of that operand, which a second operand that is the same view shares.  NULL: out of
 * memory. */
static struct tn_wide_operand *copy_of(struct tn_widened *widened, const struct tn_operand *narrow)
{
	struct tn_wide_operand *copy = widened->operands;
	struct tn_route *route = &widened->route;
	for (uint32_t i = 0; i < widened->n_operands; i++, copy++) {
		if (is_same(&copy->narrow, narrow))
			return copy;
	}
	copy->narrow = *narrow;
	copy->access = 0;
	int64_t n = lay_out(narrow, &copy->wide);
	copy->block = tn_array_make(route->runtime, route->device, TN_F32, 1, &n);
	if (!copy->block)
		return NULL;
	copy->wide.buffer = copy->block->storage->block.buffer;
	copy->wide.offset = tn_array_byte_offset(copy->block);
	widened->n_operands++;
	return copy;
}

/* Puts views of the copies in the place of the composition's narrow arrays. */
static tn_status replace_arrays(struct tn_widened *widened)
{
	struct tn_route *route = &widened->route;
	/* Each replaced array is an operand: there are no more of them. */
	for (const uint32_t *offset = route->arrays; *offset; offset++) {
		tn_array **place = (void *)((char *)route->argument + *offset);
		tn_array *array = *place;
		struct tn_operand operand;
		if (!array || !is_narrow(array->dtype))
			continue;
		tn_operand_of(&operand, array);
		for (uint32_t i = 0; i < widened->n_operands; i++) {
			const struct tn_wide_operand *copy = &widened->operands[i];
			if (!is_same(&copy->narrow, &operand))
				continue;
			tn_array *view = tn_array_view(copy->block, array->rank, copy->wide.shape,
						       copy->wide.strides, copy->block->offset);
			if (!view)
				return route->runtime->report.status;
			widened->places[widened->n_arrays] = place;
			widened->replaced[widened->n_arrays++] = array;
			*place = view;
			break;
		}
	}
	return TN_OK;
}

/* Copies are made for one call: nothing reads those later that it does not write. */
static void hint_last_uses(struct tn_widened *widened, const struct tn_slot_contents *contents)
{
	for (uint32_t i = 0; i < contents->n_operands; i++) {
		const struct tn_wide_operand *copy = widened->operands;
		for (uint32_t k = 0; k < widened->n_operands; k++, copy++) {
			if (copy->access == TN_READS &&
			    is_same(&copy->wide, contents->operands[i].operand))
				widened->route.call->hints |=
					TN_HINT_LAST_USE(contents->operands[i].number);
		}
	}
}

tn_status tn_widened_make(struct tn_widened *widened, const struct tn_route *route,
			  tn_status (*run)(struct tn_route *route))
{
	struct tn_runtime *runtime = route->runtime;
	struct tn_slot_contents contents;
	widened->n_operands = widened->n_arrays = 0;
	widened->route = *route;
	widened->run = run;
	widened->route.call = NULL;
	struct tn_call *call = tn_slot_copy(route->slot, route->call, NULL);
	if (!call)
		return tn_no_memory(&runtime->report, tn_slots[route->slot].name, NULL,
				    "a copy of the call");
	widened->route.call = call;
	widened->route.dtype = TN_F32;
	if (!route->arrays)
		widened->route.compose = NULL;
	/* Packed weights have the narrow type, and hints are about the narrow operands. */
	call->hints = 0;
	if (route->slot == TN_SLOT_CONV2D_FORWARD)
		((struct tn_conv2d_args *)(void *)call)->packed = (struct tn_packed){0};
	else if (route->slot == TN_SLOT_MATMUL)
		((struct tn_matmul_args *)(void *)call)->packed = (struct tn_packed){0};
	tn_slot_list(route->slot, call, &contents);
	for (uint32_t i = 0; i < contents.n_operands; i++) {
		struct tn_operand *operand = contents.operands[i].operand;
		if (!is_narrow(operand->dtype))
			continue;
		struct tn_wide_operand *copy = copy_of(widened, operand);
		if (!copy)
			return runtime->report.status;
		copy->access |= contents.operands[i].access;
		*operand = copy->wide;
	}
	hint_last_uses(widened, &contents);
	return widened->route.compose ? replace_arrays(widened) : TN_OK;
}

void tn_widened_end(struct tn_widened *widened)
{
	for (uint32_t i = 0; i < widened->n_arrays; i++)
		*widened->places[i] = widened->replaced[i];
	tn_mem_free(widened->route.call);
}

/* ---- Conversions -----------------------------------------------------------------------------*/

static tn_status convert(const struct tn_widened *widened, struct tn_operand from,
			 struct tn_operand to, uint64_t hints)
{
	const struct tn_route *route = &widened->route;
	struct tn_runtime *runtime = route->runtime;
	struct tn_operand *all[] = {&to, &from};
	struct tn_element_program copy;
	/* Each element of a repeated axis is written once. */
	for (uint32_t i = 0; i < to.rank; i++) {
		if (!to.strides[i] || !from.strides[i])
			to.shape[i] = from.shape[i] = 1;
	}
	tn_operands_sort(all, 2, 0, 0, to.rank);
	tn_operands_merge(all, 2, 0, to.rank);
	struct tn_map_args args = {.call = {.struct_size = sizeof(args), .hints = hints},
				   .inputs = &from,
				   .outputs = &to};
	struct tn_route map = {.runtime = runtime,
			       .device = route->device,
			       .operation = route->operation,
			       .slot = TN_SLOT_MAP,
			       .call = &args.call};
	tn_status status = tn_element_program_find(runtime, TN_DO_COPY, 1, &from.dtype, &copy);
	if (status)
		return status;
	args.program = copy.program;
	runtime->depth++;
	status = widened->run(&map);
	runtime->depth--;
	return status;
}

tn_status tn_widened_read(struct tn_widened *widened)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < widened->n_operands && !status; i++) {
		const struct tn_wide_operand *copy = &widened->operands[i];
		if (copy->access & TN_READS)
			status = convert(widened, copy->narrow, copy->wide, 0);
	}
	return status;
}

tn_status tn_widened_write(struct tn_widened *widened)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < widened->n_operands && !status; i++) {
		const struct tn_wide_operand *copy = &widened->operands[i];
		if (copy->access & TN_WRITES)
			status = convert(widened, copy->wide, copy->narrow, TN_HINT_LAST_USE(0));
	}
	return status;
}
