/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gather and scatter-add of table tenon.copy/1.
 *
 * Both iterate over the rows of the listed operand (the one with an element for each index), a row
 * being its last axis.  A gather divides the rows among threads by number.  In a scatter-add each
 * thread has columns of the rows, or the parts before the axis: no two threads add to the same
 * element of the output, and each element gets its terms in the order of the indices, so that sums
 * do not depend on the number of threads.  Terms of f16 and bf16 are added to totals of f32.
 */
#include <string.h>

#include "gather.h"

/* Bytes that justify another thread, and elements of a scatter-add's row that do. */
#define PIECE_BYTES 65536
#define PIECE_COLUMNS 16
/* Elements that are converted at once. */
#define CONVERTED 256

struct walk {
	const struct cpu_instance *cpu;
	struct tn_operand listed, chosen, indices;
	uint32_t axis, last;
	size_t size;       /* of an element of the listed operand */
	size_t total_size; /* of the chosen one */
	int64_t length;    /* of the axis, in the chosen operand */
	uint64_t parts;    /* scatter-add: parts of a row */
};

/* Element offsets of a row in both operands, and its index along the axis: -1 is out of range. */
struct place {
	int64_t listed, chosen, index;
};

static int64_t index_at(const struct walk *w, int64_t j)
{
	const char *at = (const char *)(uintptr_t)(w->indices.buffer + w->indices.offset);
	int64_t index;
	int32_t narrow;
	if (w->indices.dtype == TN_I64) {
		memcpy(&index, at + j * w->indices.strides[0] * 8, sizeof(index));
	} else {
		memcpy(&narrow, at + j * w->indices.strides[0] * 4, sizeof(narrow));
		index = narrow;
	}
	index += index < 0 ? w->length : 0;
	return index >= 0 && index < w->length ? index : -1;
}

/* The offset of row number `row`; `skip` is an axis that the number omits, rank: none. */
static struct place place_of(const struct walk *w, uint64_t row, uint32_t skip)
{
	struct place place = {.index = -1};
	for (uint32_t axis = w->last; axis-- > 0;) {
		if (axis == skip)
			continue;
		int64_t at = (int64_t)(row % (uint64_t)w->listed.shape[axis]);
		row /= (uint64_t)w->listed.shape[axis];
		place.listed += at * w->listed.strides[axis];
		if (axis != w->axis) {
			place.chosen += at * w->chosen.strides[axis];
			continue;
		}
		place.index = index_at(w, at);
		place.chosen += place.index * w->chosen.strides[axis];
	}
	return place;
}

static char *address(const struct tn_operand *operand, int64_t element)
{
	return (char *)(uintptr_t)(operand->buffer + operand->offset) +
	       element * (int64_t)tn_dtype_size(operand->dtype);
}

static uint64_t rows_but(const struct walk *w, uint32_t skip)
{
	uint64_t n = 1;
	for (uint32_t axis = 0; axis < w->last; axis++)
		n *= axis == skip ? 1 : (uint64_t)w->listed.shape[axis];
	return n;
}

/* ---- Gather ----------------------------------------------------------------------------------*/

static void zero_row(const struct walk *w, char *out)
{
	int64_t stride = w->listed.strides[w->last] * (int64_t)w->size;
	for (int64_t k = 0; k < w->listed.shape[w->last]; k++)
		memset(out + k * stride, 0, w->size);
}

static void gather_row(const struct walk *w, char *out, const char *in)
{
	int64_t to = w->listed.strides[w->last], from = w->chosen.strides[w->last];
	size_t n = (size_t)w->listed.shape[w->last];
	if (to == 1 && from == 1)
		w->cpu->kernels->copy_rows(out, 0, in, 0, n * w->size, 1);
	else
		w->cpu->kernels->copy_strided(out, to, in, from, w->size, n);
}

/* The axis is the last one: elements of a row are selected one by one. */
static void gather_elements(const struct walk *w, char *out, const char *in)
{
	int64_t to = w->listed.strides[w->last] * (int64_t)w->size;
	int64_t from = w->chosen.strides[w->last] * (int64_t)w->size;
	for (int64_t j = 0; j < w->listed.shape[w->last]; j++) {
		int64_t index = index_at(w, j);
		if (index < 0)
			memset(out + j * to, 0, w->size);
		else
			memcpy(out + j * to, in + index * from, w->size);
	}
}

static void gather_rows(void *argument, uint64_t begin, uint64_t end)
{
	const struct walk *w = argument;
	for (uint64_t row = begin; row < end; row++) {
		struct place place = place_of(w, row, TN_MAX_RANK);
		char *out = address(&w->listed, place.listed);
		if (w->axis == w->last)
			gather_elements(w, out, address(&w->chosen, place.chosen));
		else if (place.index < 0)
			zero_row(w, out);
		else
			gather_row(w, out, address(&w->chosen, place.chosen));
	}
}

/* ---- Scatter-add -----------------------------------------------------------------------------*/

/* The column of kernels that add; -1: there is none. */
static int column_of(tn_dtype dtype)
{
	switch (dtype) {
	case TN_I32:
	case TN_U32:
		return TN_COLUMN_I32;
	case TN_I64:
	case TN_U64:
		return TN_COLUMN_I64;
	case TN_F32:
		return TN_COLUMN_F32;
	case TN_F64:
		return TN_COLUMN_F64;
	default:
		return -1;
	}
}

/* Sums of integers wrap: signed or not, their bits are the same. */
static void add_one(const struct walk *w, void *out, const void *in)
{
	if (w->listed.dtype == TN_F16)
		*(float *)out += tn_plugin_f32_of_f16(*(const uint16_t *)in);
	else if (w->listed.dtype == TN_BF16)
		*(float *)out += tn_plugin_f32_of_bf16(*(const uint16_t *)in);
	else if (w->listed.dtype == TN_F32)
		*(float *)out += *(const float *)in;
	else if (w->listed.dtype == TN_F64)
		*(double *)out += *(const double *)in;
	else if (w->size == 8)
		*(uint64_t *)out += *(const uint64_t *)in;
	else if (w->size == 4)
		*(uint32_t *)out += *(const uint32_t *)in;
	else if (w->size == 2)
		*(uint16_t *)out = (uint16_t)(*(uint16_t *)out + *(const uint16_t *)in);
	else
		*(uint8_t *)out = (uint8_t)(*(uint8_t *)out + *(const uint8_t *)in);
}

/* out[k] += f32(in[k]), both contiguous. */
static void add_converted(const struct walk *w, float *out, const char *in, size_t n)
{
	tn_block_fn convert = w->cpu->blocks.casts[w->listed.dtype][TN_F32];
	tn_block_fn add = w->cpu->blocks.operations[TN_OP_ADD][TN_COLUMN_F32];
	float terms[CONVERTED];
	for (size_t i = 0; i < n; i += CONVERTED) {
		size_t some = n - i < CONVERTED ? n - i : CONVERTED;
		convert(terms, in + i * w->size, NULL, NULL, some);
		add(out + i, out + i, terms, NULL, some);
	}
}

/* out[k] += in[k] for n elements of a row. */
static void add_row(const struct walk *w, char *out, const char *in, int64_t n)
{
	int64_t to = w->chosen.strides[w->last], from = w->listed.strides[w->last];
	const int column = column_of(w->chosen.dtype);
	const int converts = w->listed.dtype != w->chosen.dtype;
	const struct cpu_block_table *blocks = &w->cpu->blocks;
	tn_block_fn add = column < 0 ? NULL : blocks->operations[TN_OP_ADD][column];
	if (to == 1 && from == 1 && add && !converts) {
		add(out, out, in, NULL, (size_t)n);
		return;
	}
	if (to == 1 && from == 1 && add && blocks->casts[w->listed.dtype][w->chosen.dtype]) {
		add_converted(w, (float *)(void *)out, in, (size_t)n);
		return;
	}
	for (int64_t k = 0; k < n; k++)
		add_one(w, out + k * to * (int64_t)w->total_size, in + k * from * (int64_t)w->size);
}

/* One part of the columns of the rows that differ only in the index. */
static void add_part(const struct walk *w, uint64_t outer, uint64_t part)
{
	int64_t columns = w->listed.shape[w->last];
	int64_t first = columns * (int64_t)part / (int64_t)w->parts;
	int64_t n = columns * (int64_t)(part + 1) / (int64_t)w->parts - first;
	struct place place = place_of(w, outer, w->axis);
	place.listed += first * w->listed.strides[w->last];
	place.chosen += first * w->chosen.strides[w->last];
	for (int64_t j = 0; j < w->listed.shape[w->axis]; j++) {
		int64_t index = index_at(w, j);
		if (index < 0)
			continue;
		add_row(w, address(&w->chosen, place.chosen + index * w->chosen.strides[w->axis]),
			address(&w->listed, place.listed + j * w->listed.strides[w->axis]), n);
	}
}

static void add_parts(void *argument, uint64_t begin, uint64_t end)
{
	const struct walk *w = argument;
	for (uint64_t i = begin; i < end; i++) {
		if (w->axis != w->last) {
			add_part(w, i / w->parts, i % w->parts);
			continue;
		}
		struct place place = place_of(w, i, TN_MAX_RANK);
		/* The axis is the last one: terms of a row are added to elements one by one. */
		char *out = address(&w->chosen, place.chosen);
		const char *in = address(&w->listed, place.listed);
		int64_t to = w->chosen.strides[w->last] * (int64_t)w->total_size;
		int64_t from = w->listed.strides[w->last] * (int64_t)w->size;
		for (int64_t j = 0; j < w->listed.shape[w->last]; j++) {
			int64_t index = index_at(w, j);
			if (index >= 0)
				add_one(w, out + index * to, in + j * from);
		}
	}
}

/* ---- Entries ---------------------------------------------------------------------------------*/

static int is_total_of(tn_dtype total, tn_dtype term)
{
	return total == TN_F32 && (term == TN_F16 || term == TN_BF16);
}

/* Takes the arguments; `listed_is_input` distinguishes scatter-add from gather. */
static tn_status take_arguments(struct walk *w, struct tn_gather_args *own,
				const struct tn_gather_args *args, int listed_is_input,
				const char *operation)
{
	tn_status status =
		tn_plugin_take(own, sizeof(*own), args, TN_DRY_RUN | TN_DETERMINISTIC, operation);
	if (status)
		return status;
	w->listed = listed_is_input ? own->input : own->output;
	w->chosen = listed_is_input ? own->output : own->input;
	w->indices = own->indices;
	w->axis = own->axis;
	w->size = tn_dtype_size(w->listed.dtype);
	w->total_size = tn_dtype_size(w->chosen.dtype);
	struct tn_error_info *error = own->call.error;
	if (!w->size)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation, "dtype %d is not supported",
				      own->input.dtype);
	if (own->indices.dtype != TN_I32 && own->indices.dtype != TN_I64)
		return tn_plugin_fail(error, TN_DTYPE, operation,
				      "indices: expected i32 or i64, found dtype %d",
				      own->indices.dtype);
	if (own->input.dtype != own->output.dtype &&
	    (!listed_is_input || !is_total_of(own->output.dtype, own->input.dtype)))
		return tn_plugin_fail(
			error, TN_DTYPE, operation,
			"input of dtype %d, output of dtype %d: expected equal dtypes",
			own->input.dtype, own->output.dtype);
	if (w->chosen.rank > TN_MAX_RANK)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation,
				      "rank %u, expected at most %d", w->chosen.rank, TN_MAX_RANK);
	if (w->listed.rank != w->chosen.rank || own->indices.rank != 1 ||
	    own->axis >= w->chosen.rank)
		return tn_plugin_fail(error, TN_SHAPE, operation,
				      "axis %u of ranks %u and %u, indices of rank %u (expected 1)",
				      own->axis, own->input.rank, own->output.rank,
				      own->indices.rank);
	for (uint32_t axis = 0; axis < w->listed.rank; axis++) {
		int64_t expected =
			axis == own->axis ? own->indices.shape[0] : w->chosen.shape[axis];
		if (w->listed.shape[axis] != expected)
			return tn_plugin_fail(error, TN_SHAPE, operation,
					      "axis %u: expected length %lld, found %lld", axis,
					      (long long)expected,
					      (long long)w->listed.shape[axis]);
	}
	w->last = w->listed.rank - 1;
	w->length = w->chosen.shape[w->axis];
	return TN_OK;
}

tn_status cpu_gather(void *device, const struct tn_gather_args *args)
{
	struct cpu_device *cpu = device;
	struct walk w = {.cpu = cpu->instance};
	struct tn_gather_args own;
	tn_status status = take_arguments(&w, &own, args, 0, "gather");
	if (status)
		return status;
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	uint64_t row_bytes = (uint64_t)w.listed.shape[w.last] * w.size;
	cpu_parallel(cpu, rows_but(&w, TN_MAX_RANK), PIECE_BYTES / row_bytes + 1, gather_rows, &w);
	return TN_OK;
}

tn_status cpu_scatter_add(void *device, const struct tn_gather_args *args)
{
	struct cpu_device *cpu = device;
	struct walk w = {.cpu = cpu->instance, .parts = 1};
	struct tn_gather_args own;
	tn_status status = take_arguments(&w, &own, args, 1, "scatter_add");
	if (status)
		return status;
	if (!(tn_plugin_dtype_kind(own.output.dtype) & TN_PLUGIN_KIND_INTEGER) &&
	    column_of(own.output.dtype) < 0)
		return tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "scatter_add",
				      "dtype %d: sums are not supported", own.input.dtype);
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	uint64_t columns = (uint64_t)w.listed.shape[w.last];
	if (w.axis != w.last && columns >= 2 * PIECE_COLUMNS)
		w.parts = columns / PIECE_COLUMNS < 4 ? columns / PIECE_COLUMNS : 4;
	uint64_t outer = rows_but(&w, w.axis);
	uint64_t all = rows_but(&w, TN_MAX_RANK) * columns * w.size;
	uint64_t piece = all / (outer * w.parts) + 1;
	cpu_parallel(cpu, outer * w.parts, PIECE_BYTES / piece + 1, add_parts, &w);
	return TN_OK;
}
