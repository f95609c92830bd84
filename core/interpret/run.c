/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs steps over the tile at the current position of a machine's views.
 */
#include "interpret/run.h"

#include <string.h>

#include "interpret/code.h"
#include "interpret/move.h"

/* Registers are an odd number of cache lines apart, so that they do not map to the same sets. */
size_t tn_machine_slot(const struct tn_code *code, size_t n)
{
	return ((n * code->width + 63) / 64 | 1) * 64;
}

unsigned char *tn_machine_init(struct tn_machine *machine, const struct tn_code *code,
			       unsigned char *arena, size_t n)
{
	size_t slot = tn_machine_slot(code, n);
	machine->code = code;
	for (uint32_t r = 0; r < code->n_registers; r++)
		machine->place[r] = arena + r * slot;
	machine->place[TN_NO_PLACE] = NULL;
	for (uint32_t f = 0; f < code->n_fills; f++) {
		const struct tn_fill *fill = &code->fill[f];
		tn_move_fill(machine->place[fill->place], &code->uniform[fill->value],
			     code->value[fill->value].size, n);
	}
	return arena + code->n_registers * slot;
}

static void load(const struct tn_machine *machine, const struct tn_step *step, size_t nx, size_t ny)
{
	const struct tn_code *code = machine->code;
	int64_t sx = code->stride_x[step->view], sy = code->stride_y[step->view];
	char *dst = machine->place[step->dst];
	const char *src = machine->place[TN_VIEW_PLACE + step->view];
	if (!step->fn) {
		tn_move_gather(dst, src, step->from_size, sx, sy, nx, ny);
	} else if (sx != (int64_t)step->from_size) {
		void *scratch = machine->place[code->scratch];
		tn_move_gather(scratch, src, step->from_size, sx, sy, nx, ny);
		step->fn(dst, scratch, NULL, NULL, nx * ny);
	} else if (ny == 1 || sy == (int64_t)nx * sx) {
		step->fn(dst, src, NULL, NULL, nx * ny);
	} else {
		for (size_t y = 0; y < ny; y++, src += sy, dst += nx * step->to_size)
			step->fn(dst, src, NULL, NULL, nx);
	}
}

static void store(const struct tn_machine *machine, const struct tn_step *step, size_t nx,
		  size_t ny)
{
	const struct tn_code *code = machine->code;
	int64_t sx = code->stride_x[step->view], sy = code->stride_y[step->view];
	char *dst = machine->place[TN_VIEW_PLACE + step->view];
	const char *src = machine->place[step->a];
	if (!step->fn) {
		if (dst != src)
			tn_move_scatter(dst, sx, sy, src, step->to_size, nx, ny);
	} else if (sx != (int64_t)step->to_size) {
		void *scratch = machine->place[code->scratch];
		step->fn(scratch, src, NULL, NULL, nx * ny);
		tn_move_scatter(dst, sx, sy, scratch, step->to_size, nx, ny);
	} else if (ny == 1 || sy == (int64_t)nx * sx) {
		step->fn(dst, src, NULL, NULL, nx * ny);
	} else {
		for (size_t y = 0; y < ny; y++, dst += sy, src += nx * step->from_size)
			step->fn(dst, src, NULL, NULL, nx);
	}
}

/* The address of an index's view is its value for the tile's first element. */
static void write_index(const struct tn_machine *machine, const struct tn_step *step, size_t nx,
			size_t ny)
{
	const struct tn_code *code = machine->code;
	uint64_t sx = (uint64_t)code->stride_x[step->view];
	uint64_t row = (uint64_t)machine->place[TN_VIEW_PLACE + step->view];
	uint64_t *dst = machine->place[step->dst];
	for (size_t y = 0; y < ny; y++, dst += nx) {
		for (size_t x = 0; x < nx; x++)
			dst[x] = row + x * sx;
		row += (uint64_t)code->stride_y[step->view];
	}
}

static void run_steps(const struct tn_machine *machine, const struct tn_step *step,
		      uint32_t n_steps, size_t nx, size_t ny)
{
	void *const *place = machine->place;
	size_t n = nx * ny;
	for (const struct tn_step *end = step + n_steps; step < end; step++) {
		switch (step->kind) {
		case TN_STEP_CALL:
			step->fn(place[step->dst], place[step->a], place[step->b], place[step->c],
				 n);
			break;
		case TN_STEP_LOAD:
			load(machine, step, nx, ny);
			break;
		case TN_STEP_INDEX:
			write_index(machine, step, nx, ny);
			break;
		case TN_STEP_STORE:
			store(machine, step, nx, ny);
			break;
		default:
			machine->code->kernels->stream_copy(place[TN_VIEW_PLACE + step->view],
							    place[step->a], n * step->to_size);
		}
	}
}

void tn_machine_prepare(struct tn_machine *machine, size_t nx, size_t ny)
{
	run_steps(machine, machine->code->prelude, machine->code->n_prelude, nx, ny);
}

void tn_machine_run(struct tn_machine *machine, size_t nx, size_t ny)
{
	run_steps(machine, machine->code->step, machine->code->n_steps, nx, ny);
}
