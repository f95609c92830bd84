/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.copy/1: fill and copy for every strided operand.
 *
 * Both iterate over the output row by row, a row being its last axis; rows are divided among
 * threads by number.  A copy with compact rows on both sides moves whole rows; one that transposes
 * (the input is compact along another axis) moves small squares, so that each touched cache line is
 * used completely.
 */
#include <string.h>

#include "gather.h"

/* Bytes that justify another thread. */
#define PIECE_BYTES 262144
#define SQUARE 16

struct walk {
	const struct cpu_instance *cpu;
	struct tn_operand input, output;
	size_t size;      /* of an element */
	uint64_t n_rows;  /* product of all axes but the last */
	uint64_t value;   /* fill: the element's bits */
	const char *wide; /* fill of 16-byte elements */
	uint32_t other;   /* copy by squares: the axis along which the input is compact */
};

static int64_t row_length(const struct tn_operand *operand)
{
	return operand->rank ? operand->shape[operand->rank - 1] : 1;
}

static int64_t row_stride(const struct tn_operand *operand)
{
	return operand->rank ? operand->strides[operand->rank - 1] : 1;
}

/* The address of row number `row`. */
static char *row_address(const struct tn_operand *operand, size_t size, uint64_t row)
{
	int64_t at = 0;
	for (uint32_t axis = operand->rank ? operand->rank - 1 : 0; axis-- > 0;) {
		uint64_t length = (uint64_t)operand->shape[axis];
		at += (int64_t)(row % length) * operand->strides[axis];
		row /= length;
	}
	return (char *)(uintptr_t)(operand->buffer + operand->offset +
				   (uint64_t)at * (uint64_t)size);
}

static tn_status check_operand(const struct tn_operand *operand, const struct tn_call *call,
			       const char *operation, size_t *size)
{
	*size = tn_dtype_size(operand->dtype);
	if (!*size)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "dtype %d is not supported", operand->dtype);
	if (operand->rank > TN_MAX_RANK)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "rank %u, expected at most %d", operand->rank, TN_MAX_RANK);
	return TN_OK;
}

static uint64_t rows_of(const struct tn_operand *operand)
{
	uint64_t n = 1;
	for (uint32_t axis = 0; axis + 1 < operand->rank; axis++)
		n *= (uint64_t)operand->shape[axis];
	return n;
}

/* Rows in a piece, by their length alone. */
static uint64_t grain_of(int64_t length, size_t size)
{
	uint64_t bytes = (uint64_t)length * size;
	return bytes >= PIECE_BYTES ? 1 : PIECE_BYTES / bytes;
}

/* One compact axis is one long row: cuts it into rows of a piece's size, so that threads share it.
 * Only if the length divides evenly, which keeps the strides valid. */
static void cut_row(struct tn_operand *operand, int64_t part)
{
	uint32_t rank = operand->rank;
	operand->shape[rank] = part;
	operand->strides[rank] = operand->strides[rank - 1];
	operand->shape[rank - 1] /= part;
	operand->strides[rank - 1] *= part;
	operand->rank++;
}

/* A part of the row that divides it, at most a piece; 0: there is none. */
static int64_t part_of(int64_t length, size_t size)
{
	int64_t most = (int64_t)(PIECE_BYTES / size);
	if (length <= most)
		return 0;
	for (int64_t parts = length / most; parts <= length / most + 64; parts++) {
		if (length % parts == 0)
			return length / parts;
	}
	return 0;
}

/* ---- fill ------------------------------------------------------------------------------------*/

static void fill_rows(void *argument, uint64_t begin, uint64_t end)
{
	const struct walk *w = argument;
	int64_t length = row_length(&w->output), stride = row_stride(&w->output);
	for (uint64_t row = begin; row < end; row++) {
		char *out = row_address(&w->output, w->size, row);
		if (stride == 1) {
			w->cpu->kernels->fill(out, w->wide, w->size, (size_t)length);
		} else {
			for (int64_t i = 0; i < length; i++)
				memcpy(out + (size_t)(i * stride) * w->size, w->wide, w->size);
		}
	}
}

static tn_status fill(void *device, const struct tn_fill_args *args)
{
	struct cpu_device *cpu = device;
	struct tn_fill_args taken;
	struct walk w = {.cpu = cpu->instance};
	tn_status status =
		tn_plugin_take(&taken, sizeof(taken), args, TN_DRY_RUN | TN_DETERMINISTIC, "fill");
	if (!status)
		status = check_operand(&taken.output, &taken.call, "fill", &w.size);
	if (status)
		return status;
	if (taken.value.dtype != taken.output.dtype)
		return tn_plugin_fail(
			taken.call.error, TN_DTYPE, "fill",
			"value of dtype %d, output of dtype %d: expected equal dtypes",
			taken.value.dtype, taken.output.dtype);
	if (w.size > 8 && !taken.value.on_device)
		return tn_plugin_fail(taken.call.error, TN_UNSUPPORTED, "fill",
				      "a 16-byte value must be on the device");
	if (taken.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&taken.call, 0, 0);
	w.wide = taken.value.on_device
			 ? (const char *)(uintptr_t)(taken.value.buffer + taken.value.offset)
			 : (const char *)&taken.value.bits;
	w.output = taken.output;
	int64_t part = part_of(row_length(&w.output), w.size);
	if (part && w.output.rank && w.output.rank < TN_MAX_RANK)
		cut_row(&w.output, part);
	w.n_rows = rows_of(&w.output);
	cpu_parallel(cpu, w.n_rows, grain_of(row_length(&w.output), w.size), fill_rows, &w);
	return TN_OK;
}

/* ---- copy ------------------------------------------------------------------------------------*/

/* The two inner axes as a plane; an operand with one axis is a plane of one row. */
struct plane {
	uint64_t rows;
	int64_t out_down, in_down; /* in bytes */
};

static struct plane plane_of(const struct walk *w)
{
	uint32_t rank = w->output.rank;
	struct plane plane = {.rows = 1};
	if (rank < 2)
		return plane;
	plane.rows = (uint64_t)w->output.shape[rank - 2];
	plane.out_down = w->output.strides[rank - 2] * (int64_t)w->size;
	plane.in_down = w->input.strides[rank - 2] * (int64_t)w->size;
	return plane;
}

static void copy_strided_rows(const struct walk *w, const struct plane *plane, char *out,
			      const char *in, uint64_t n)
{
	int64_t length = row_length(&w->output), to = row_stride(&w->output),
		from = row_stride(&w->input);
	for (; n > 0; n--, out += plane->out_down, in += plane->in_down)
		w->cpu->kernels->copy_strided(out, to, in, from, w->size, (size_t)length);
}

/* A position in the iteration over planes. */
struct cursor {
	uint64_t position[TN_MAX_RANK]; /* along the axes above the plane's */
	int64_t out, in;                /* elements from the start */
};

static void seek(struct cursor *cursor, const struct walk *w, uint64_t plane)
{
	cursor->out = cursor->in = 0;
	for (uint32_t axis = w->output.rank - 2; axis-- > 0;) {
		uint64_t length = (uint64_t)w->output.shape[axis];
		int64_t at = (int64_t)(plane % length);
		cursor->position[axis] = (uint64_t)at;
		cursor->out += at * w->output.strides[axis];
		cursor->in += at * w->input.strides[axis];
		plane /= length;
	}
}

static void advance(struct cursor *cursor, const struct walk *w)
{
	for (uint32_t axis = w->output.rank - 2; axis-- > 0;) {
		int64_t length = w->output.shape[axis];
		cursor->out += w->output.strides[axis];
		cursor->in += w->input.strides[axis];
		if (++cursor->position[axis] < (uint64_t)length)
			return;
		cursor->position[axis] = 0;
		cursor->out -= length * w->output.strides[axis];
		cursor->in -= length * w->input.strides[axis];
	}
}

static char *start_of(const struct tn_operand *operand)
{
	return (char *)(uintptr_t)(operand->buffer + operand->offset);
}

static void copy_part(const struct walk *w, const struct plane *plane, char *out, const char *in,
		      uint64_t n)
{
	size_t bytes = (size_t)row_length(&w->output) * w->size;
	if (row_stride(&w->output) == 1 && row_stride(&w->input) == 1)
		w->cpu->kernels->copy_rows(out, plane->out_down, in, plane->in_down, bytes, n);
	else
		copy_strided_rows(w, plane, out, in, n);
}

/* Rows [begin, end), plane by plane. */
static void copy_rows(void *argument, uint64_t begin, uint64_t end)
{
	const struct walk *w = argument;
	struct plane plane = plane_of(w);
	struct cursor cursor = {.out = 0};
	char *out = start_of(&w->output);
	const char *in = start_of(&w->input);
	int64_t size = (int64_t)w->size;
	if (w->output.rank > 2)
		seek(&cursor, w, begin / plane.rows);
	for (uint64_t row = begin, n; row < end; row += n) {
		int64_t skip = (int64_t)(row % plane.rows);
		n = plane.rows - (uint64_t)skip;
		n = n < end - row ? n : end - row;
		copy_part(w, &plane, out + cursor.out * size + skip * plane.out_down,
			  in + cursor.in * size + skip * plane.in_down, n);
		if (w->output.rank > 2)
			advance(&cursor, w);
	}
}

/* Moves the axis `other` to the last but one, so that the two inner axes form the squares. */
static void bring_down(struct tn_operand *operand, uint32_t other)
{
	int64_t shape = operand->shape[other], stride = operand->strides[other];
	uint32_t target = operand->rank - 2;
	for (uint32_t axis = other; axis < target; axis++) {
		operand->shape[axis] = operand->shape[axis + 1];
		operand->strides[axis] = operand->strides[axis + 1];
	}
	operand->shape[target] = shape;
	operand->strides[target] = stride;
}

/* Planes of the two inner axes, in bands of SQUARE rows; piece = plane * bands + band. */
static void copy_bands(void *argument, uint64_t begin, uint64_t end)
{
	const struct walk *w = argument;
	uint32_t r = w->output.rank;
	uint64_t rows = (uint64_t)w->output.shape[r - 2],
		 columns = (uint64_t)w->output.shape[r - 1];
	uint64_t bands = (rows + SQUARE - 1) / SQUARE;
	for (uint64_t i = begin; i < end; i++) {
		uint64_t first = i / bands * rows + i % bands * SQUARE;
		uint64_t n = rows - i % bands * SQUARE;
		w->cpu->kernels->copy_band(row_address(&w->output, w->size, first),
					   w->output.strides[r - 2], w->output.strides[r - 1],
					   row_address(&w->input, w->size, first),
					   w->input.strides[r - 2], w->input.strides[r - 1],
					   w->size, n < SQUARE ? n : SQUARE, columns);
	}
}

/* Is the input compact along another axis than the output?  That axis, or the last. */
static uint32_t compact_axis(const struct tn_operand *input)
{
	uint32_t last = input->rank ? input->rank - 1 : 0;
	if (input->rank < 2 || (input->strides[last] <= 1 && input->strides[last] >= -1))
		return last;
	for (uint32_t axis = 0; axis < last; axis++) {
		if (input->strides[axis] == 1 && input->shape[axis] > 1)
			return axis;
	}
	return last;
}

static void run_copy(const struct cpu_device *cpu, struct walk *w)
{
	uint32_t last = w->output.rank ? w->output.rank - 1 : 0;
	uint32_t other = compact_axis(&w->input);
	if (other != last) {
		bring_down(&w->input, other);
		bring_down(&w->output, other);
		uint64_t rows = (uint64_t)w->output.shape[last - 1];
		uint64_t bands = (rows + SQUARE - 1) / SQUARE;
		cpu_parallel(cpu, rows_of(&w->output) / rows * bands,
			     grain_of(SQUARE * w->output.shape[last], w->size), copy_bands, w);
		return;
	}
	int64_t part = part_of(row_length(&w->output), w->size);
	if (part && w->output.rank && w->output.rank < TN_MAX_RANK) {
		cut_row(&w->output, part);
		cut_row(&w->input, part);
	}
	w->n_rows = rows_of(&w->output);
	cpu_parallel(cpu, w->n_rows, grain_of(row_length(&w->output), w->size), copy_rows, w);
}

static tn_status copy(void *device, const struct tn_copy_args *args)
{
	struct cpu_device *cpu = device;
	struct tn_copy_args taken;
	struct walk w = {.cpu = cpu->instance};
	tn_status status =
		tn_plugin_take(&taken, sizeof(taken), args, TN_DRY_RUN | TN_DETERMINISTIC, "copy");
	if (!status)
		status = check_operand(&taken.output, &taken.call, "copy", &w.size);
	if (status)
		return status;
	if (taken.input.dtype != taken.output.dtype)
		return tn_plugin_fail(
			taken.call.error, TN_DTYPE, "copy",
			"input of dtype %d, output of dtype %d: expected equal dtypes",
			taken.input.dtype, taken.output.dtype);
	if (taken.input.rank != taken.output.rank ||
	    memcmp(taken.input.shape, taken.output.shape, taken.output.rank * sizeof(int64_t)))
		return tn_plugin_fail(taken.call.error, TN_SHAPE, "copy",
				      "input and output have different shapes");
	if (taken.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&taken.call, 0, 0);
	w.input = taken.input;
	w.output = taken.output;
	run_copy(cpu, &w);
	return TN_OK;
}

const struct tn_copy_table cpu_copy_table = {
	.struct_size = sizeof(cpu_copy_table),
	.fill = fill,
	.copy = copy,
	.gather = cpu_gather,
	.scatter_add = cpu_scatter_add,
};
