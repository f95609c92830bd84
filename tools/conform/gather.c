/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * gather, scatter_add and scatter: along each axis, with indices from both ends, out of range and
 * repeated.
 */
#include "program/cast.h"
#include "slots.h"

static const struct shape tables[] = {
	{1, {9}}, {2, {12, 5}}, {2, {3, 300}}, {3, {2, 7, 4}}, {4, {2, 3, 5, 2}},
};
enum { N_TABLES = sizeof(tables) / sizeof(tables[0]), N_INDICES = 23 };

/* Indices in range, negative, and out of range by one and by far. */
static void set_indices(struct array *indices, int64_t length)
{
	for (uint64_t j = 0; j < indices->count; j++) {
		int64_t index =
			(int64_t)(kit_random(indices->kit) % (uint64_t)(2 * length)) - length;
		if (j % 7 == 3)
			index = length;
		if (j % 11 == 5)
			index = -length - 1;
		if (j == 0)
			index = INT32_MIN;
		array_set_bits(indices, j, (uint64_t)index);
	}
}

/* The number of the element selected by indices[j] in an operand with an axis of that length; -1:
 * none. */
static int64_t chosen(const struct array *indices, const struct array *listed,
		      const struct array *table, uint32_t axis, uint64_t i)
{
	int64_t index[TN_MAX_RANK], at = 0, length = table->operand.shape[axis];
	shape_index(listed->operand.rank, listed->operand.shape, i, index);
	index[axis] = (int64_t)tn_cast_bits(indices->operand.dtype, TN_I64,
					    array_bits(indices, (uint64_t)index[axis]));
	if (index[axis] < 0)
		index[axis] += length;
	if (index[axis] < 0 || index[axis] >= length)
		return -1;
	for (uint32_t k = 0; k < table->operand.rank; k++)
		at = at * table->operand.shape[k] + index[k];
	return at;
}

static void check_gathered(const struct array *in, const struct array *indices,
			   const struct array *out, uint32_t axis)
{
	static const unsigned char zero[16];
	for (uint64_t i = 0; i < out->count; i++) {
		int64_t at = chosen(indices, out, in, axis, i);
		const unsigned char *expected = at < 0 ? zero : array_at(in, (uint64_t)at);
		if (memcmp(array_at(out, i), expected, tn_dtype_size(in->operand.dtype)) != 0)
			kit_fail(in->kit, "element %llu: is not element %lld of the input",
				 (unsigned long long)i, (long long)at);
	}
}

/* Each element is within (n + 1) epsilon of its n + 1 added magnitudes; integers wrap. */
static void check_scattered(const struct array *in, const struct array *indices,
			    const struct array *out, const double *before, uint32_t axis)
{
	double *expected = numbers(out->count), *tolerance = numbers(out->count);
	double *magnitude = numbers(out->count);
	for (uint64_t i = 0; i < out->count; i++) {
		expected[i] = before[i];
		magnitude[i] = fabs(before[i]);
	}
	for (uint64_t i = 0; i < in->count; i++) {
		int64_t at = chosen(indices, in, out, axis, i);
		if (at < 0)
			continue;
		expected[at] += array_number(in, i);
		magnitude[at] += fabs(array_number(in, i));
	}
	for (uint64_t i = 0; i < out->count; i++)
		tolerance[i] =
			tn_is_floating(out->operand.dtype)
				? (N_INDICES + 1) * kit_epsilon(out->operand.dtype) * magnitude[i]
				: 0;
	array_compare(out, expected, tolerance);
	free(expected);
	free(tolerance);
	free(magnitude);
}

struct choice {
	tn_dtype dtype, index_dtype;
	tn_dtype table_dtype; /* of scatter_add's output: the other one, or f32 */
	const struct shape *table;
	uint32_t axis;
	enum layout table_layout, listed_layout;
};

static void chooses(struct kit *kit, enum tn_slot slot, const struct choice *c)
{
	static const int64_t n_indices[] = {N_INDICES};
	int is_gather = slot == TN_SLOT_GATHER;
	int64_t listed_shape[TN_MAX_RANK];
	struct array table, listed, indices, *all[3] = {&table, &listed, &indices};
	kit_case(kit, slot, "%s: %s by %s, %s %s, rank %u, axis %u, %s and %s",
		 is_gather ? "gather" : "scatter_add", tn_dtype_name(c->dtype),
		 tn_dtype_name(c->index_dtype), is_gather ? "from" : "to",
		 tn_dtype_name(c->table_dtype), c->table->rank, c->axis,
		 layout_names[c->table_layout], layout_names[c->listed_layout]);
	memcpy(listed_shape, c->table->lengths, sizeof(listed_shape));
	listed_shape[c->axis] = N_INDICES;
	array_make(kit, &table, is_gather ? INPUT : OUTPUT, c->table_dtype, c->table->rank,
		   c->table->lengths, c->table_layout);
	array_make(kit, &listed, is_gather ? OUTPUT : INPUT, c->dtype, c->table->rank, listed_shape,
		   c->listed_layout);
	array_make(kit, &indices, INPUT, c->index_dtype, 1, n_indices, SPACED);
	array_randomise(&table, -2, 2);
	array_randomise(&listed, -2, 2);
	set_indices(&indices, c->table->lengths[c->axis]);
	if (!is_gather && !tn_is_floating(c->dtype)) {
		for (uint64_t i = 0; i < table.count; i++)
			array_set_bits(&table, i, i);
		for (uint64_t i = 0; i < listed.count; i++)
			array_set_bits(&listed, i, (uint64_t)(50 - (int64_t)i % 100));
	}
	double *before = is_gather ? NULL : array_numbers(&table);
	struct tn_gather_args args = {.call = CALL(struct tn_gather_args),
				      .input = is_gather ? table.operand : listed.operand,
				      .output = is_gather ? listed.operand : table.operand,
				      .indices = indices.operand,
				      .axis = c->axis};
	if (!kit_run(kit, &args, all, 3)) {
		if (is_gather)
			check_gathered(&table, &indices, &listed, c->axis);
		else
			check_scattered(&listed, &indices, &table, before, c->axis);
	}
	free(before);
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
}

static void chooses_along_every_axis(struct kit *kit, enum tn_slot slot, tn_dtype dtype,
				     tn_dtype table_dtype)
{
	unsigned turn = (unsigned)dtype;
	if (!kit_claims_storage(kit, dtype))
		return;
	for (int t = 0; t < N_TABLES; t++) {
		for (uint32_t axis = 0; axis < tables[t].rank; axis++, turn++) {
			struct choice c = {dtype,
					   turn % 2 ? TN_I32 : TN_I64,
					   table_dtype,
					   &tables[t],
					   axis,
					   (enum layout)(turn % OUTPUT_LAYOUTS),
					   (enum layout)((turn + 1) % OUTPUT_LAYOUTS)};
			chooses(kit, slot, &c);
		}
	}
}

void check_copy_gather(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_GATHER))
		return kit_skip(kit, "the slot is empty");
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		chooses_along_every_axis(kit, TN_SLOT_GATHER, dtype, dtype);
}

void check_copy_scatter_add(struct kit *kit)
{
	static const struct {
		tn_dtype dtype, total;
	} sums[] = {{TN_F32, TN_F32}, {TN_F64, TN_F64}, {TN_I32, TN_I32},
		    {TN_I64, TN_I64}, {TN_F16, TN_F32}, {TN_BF16, TN_F32}};
	if (!tn_backend_has(kit->backend, TN_SLOT_SCATTER_ADD))
		return kit_skip(kit, "the slot is empty");
	for (int i = 0; i < 6; i++)
		chooses_along_every_axis(kit, TN_SLOT_SCATTER_ADD, sums[i].dtype, sums[i].total);
}

/* ---- Scatter with a mode ---------------------------------------------------------------------*/

static const char *const mode_names[] = {"", "set", "add", "multiply", "max", "min"};

static double combined(uint32_t mode, double a, double b)
{
	switch (mode) {
	case TN_SCATTER_ADD:
		return a + b;
	case TN_SCATTER_MULTIPLY:
		return a * b;
	case TN_SCATTER_MAX:
		return fmax(a, b);
	default:
		return fmin(a, b);
	}
}

/* Each rounding of a sum is of the magnitudes so far, that of a product of the product. */
static void check_combined(const struct array *in, const struct array *indices,
			   const struct array *out, const double *before, uint32_t axis,
			   uint32_t mode)
{
	const double epsilon = kit_epsilon(out->operand.dtype);
	const int is_rounded = tn_is_floating(out->operand.dtype) && mode < TN_SCATTER_MAX;
	double *expected = numbers(out->count), *tolerance = numbers(out->count);
	for (uint64_t i = 0; i < out->count; i++)
		expected[i] = before[i];
	for (uint64_t i = 0; i < in->count; i++) {
		int64_t at = chosen(indices, in, out, axis, i);
		if (at < 0)
			continue;
		expected[at] = combined(mode, expected[at], array_number(in, i));
		if (is_rounded)
			tolerance[at] += N_INDICES * epsilon * (fabs(expected[at]) + 2);
	}
	array_compare(out, expected, tolerance);
	free(expected);
	free(tolerance);
}

/* Every element is one of those that set it, or as it was. */
static void check_set(const struct array *in, const struct array *indices, const struct array *out,
		      const unsigned char *before, uint32_t axis)
{
	const size_t size = tn_dtype_size(out->operand.dtype);
	unsigned char *state =
		calloc(out->count, 1); /* 1: an index chose it, 2: its bits are there */
	for (uint64_t i = 0; state && i < in->count; i++) {
		int64_t at = chosen(indices, in, out, axis, i);
		if (at < 0)
			continue;
		state[at] |= 1;
		if (memcmp(array_at(in, i), array_at(out, (uint64_t)at), size) == 0)
			state[at] |= 2;
	}
	for (uint64_t i = 0; state && i < out->count; i++)
		if (state[i] == 1 ||
		    (!state[i] && memcmp(array_at(out, i), before + i * size, size) != 0))
			kit_fail(in->kit, "element %llu: is none of the elements that set it",
				 (unsigned long long)i);
	free(state);
}

static void scatters(struct kit *kit, uint32_t mode, tn_dtype dtype, const struct shape *shape,
		     uint32_t axis)
{
	static const int64_t n_indices[] = {N_INDICES};
	const size_t size = tn_dtype_size(dtype);
	int64_t listed_shape[TN_MAX_RANK];
	struct array table, listed, indices, *all[3] = {&table, &listed, &indices};
	kit_case(kit, TN_SLOT_SCATTER, "scatter: %s, %s, rank %u, axis %u", mode_names[mode],
		 tn_dtype_name(dtype), shape->rank, axis);
	memcpy(listed_shape, shape->lengths, sizeof(listed_shape));
	listed_shape[axis] = N_INDICES;
	array_make(kit, &table, OUTPUT, dtype, shape->rank, shape->lengths,
		   (enum layout)((axis + mode) % OUTPUT_LAYOUTS));
	array_make(kit, &listed, INPUT, dtype, shape->rank, listed_shape,
		   (enum layout)((axis + mode + 1) % OUTPUT_LAYOUTS));
	array_make(kit, &indices, INPUT, axis % 2 ? TN_I32 : TN_I64, 1, n_indices, SPACED);
	array_randomise(&table, -2, 2);
	array_randomise(&listed, -2, 2);
	set_indices(&indices, shape->lengths[axis]);
	for (uint64_t i = 0; tn_is_integer(dtype) && mode != TN_SCATTER_SET && i < listed.count;
	     i++)
		array_set_number(&listed, i, (double)(i % 3) - 1);
	for (uint64_t i = 0; tn_is_integer(dtype) && mode != TN_SCATTER_SET && i < table.count; i++)
		array_set_number(&table, i, (double)(i % 7) - 3);
	double *before = mode == TN_SCATTER_SET ? NULL : array_numbers(&table);
	unsigned char *bytes = malloc(table.count * size);
	for (uint64_t i = 0; bytes && i < table.count; i++)
		memcpy(bytes + i * size, array_at(&table, i), size);
	struct tn_gather_args args = {.call = CALL(struct tn_gather_args),
				      .input = listed.operand,
				      .output = table.operand,
				      .indices = indices.operand,
				      .axis = axis,
				      .mode = mode};
	if (!kit_run(kit, &args, all, 3)) {
		if (before)
			check_combined(&listed, &indices, &table, before, axis, mode);
		else if (bytes)
			check_set(&listed, &indices, &table, bytes, axis);
	}
	free(before);
	free(bytes);
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
}

void check_copy_scatter(struct kit *kit)
{
	static const tn_dtype added[] = {TN_F32, TN_F64, TN_I32, TN_I64};
	if (!tn_backend_has(kit->backend, TN_SLOT_SCATTER))
		return kit_skip(kit, "the slot is empty");
	for (int t = 0; t < N_TABLES; t++) {
		for (uint32_t axis = 0; axis < tables[t].rank; axis++) {
			for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
				if (kit_claims_storage(kit, dtype))
					scatters(kit, TN_SCATTER_SET, dtype, &tables[t], axis);
			for (int i = 0; i < 16; i++)
				if (kit_claims_storage(kit, added[i / 4]))
					scatters(kit, (uint32_t)(TN_SCATTER_ADD + i % 4),
						 added[i / 4], &tables[t], axis);
		}
	}
}
