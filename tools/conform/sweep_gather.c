/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * gather, scatter_add and scatter: tables of all numbers of rows, lists of all lengths, rows of all
 * widths, in every dtype.  Every element is compared; numbers are small and whole, so that sums are
 * exact.
 */
#include "program/cast.h"
#include "sweep.h"

/* A table (outer, rows, width) and a list (outer, indices, width). */
enum { OUTER, ROWS, WIDTH, INDICES, AXES };

static uint64_t bytes_of(tn_dtype dtype, const int64_t *n)
{
	int64_t most = n[ROWS] > n[INDICES] ? n[ROWS] : n[INDICES];
	uint64_t bytes = (uint64_t)(n[OUTER] * most * n[WIDTH]) * tn_dtype_size(dtype);
	uint64_t indices = (uint64_t)n[INDICES] * 8;
	return bytes > indices ? bytes : indices;
}

static double work_of(const int64_t *n)
{
	return SWEEP_VISIT * ((double)(n[ROWS] + n[INDICES]) * (double)(n[OUTER] * n[WIDTH]) +
			      (double)n[INDICES]);
}

/* One call; the axes before and after the indexed one become one each, or none. */
struct choice {
	struct kit *kit;
	const int64_t *n;
	int64_t outer, width;
	uint32_t rank, axis;
	tn_dtype dtype, table_dtype;
	uint32_t mode; /* of scatter */
	struct array table, list, indices, *all[3];
	int64_t *row; /* that each index chooses; -1: none */
};

/* Rows at both ends and on both sides of each power of two, from the end too, and out of range. */
static size_t special_rows(int64_t rows, int64_t *special)
{
	size_t n = 0;
	special[n++] = 0;
	special[n++] = rows - 1;
	special[n++] = -1;
	special[n++] = -rows;
	special[n++] = rows;
	special[n++] = -rows - 1;
	for (int k = 1; k < 40; k++)
		for (int64_t i = -1; i < 2; i++)
			if ((INT64_C(1) << k) + i < rows)
				special[n++] = (INT64_C(1) << k) + i;
	return n;
}

static void set_indices(struct choice *c)
{
	int64_t special[6 + 3 * 40], rows = c->n[ROWS];
	const uint64_t n = c->indices.count;
	size_t n_special = special_rows(rows, special);
	c->row = malloc(n * sizeof(*c->row));
	if (!c->row)
		kit_give_up(c->kit, "the kit is out of memory");
	for (uint64_t j = 0; j < n; j++) {
		uint64_t random = kit_random(c->kit);
		int is_special = n_special * 2 > n ? random >> 60 < 8 : j % (n / n_special) == 0;
		c->row[j] = is_special
				    ? special[(n_special * 2 > n ? random : j / (n / n_special)) %
					      n_special]
				    : (int64_t)(random % (uint64_t)(2 * rows)) - rows;
		array_set_bits(&c->indices, j, (uint64_t)c->row[j]);
		if (c->row[j] < 0)
			c->row[j] += rows;
		if (c->row[j] < 0 || c->row[j] >= rows)
			c->row[j] = -1;
	}
}

static void make_array(struct choice *c, struct array *array, enum role role, tn_dtype dtype,
		       int64_t length)
{
	static const enum layout layouts[] = {COMPACT, SHIFTED, REVERSED, COMPACT};
	int64_t shape[3], *at = shape;
	if (c->axis)
		*at++ = c->outer;
	*at++ = length;
	if (c->rank > c->axis + 1)
		*at++ = c->width;
	array_make(c->kit, array, role, dtype, c->rank, shape, layouts[kit_random(c->kit) % 4]);
}

static void make(struct choice *c, struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		 const int64_t *n, tn_dtype table_dtype, const char *what)
{
	const int is_gather = sweep->slot == TN_SLOT_GATHER;
	const int is_first = sweep->axes[OUTER].most == 1;
	const unsigned form = is_first ? 1 : sweep_draw(kit, sweep, dtype, n, 0, 4);
	const tn_dtype of_index =
		sweep_draw(kit, sweep, dtype, n, 1, 2) || n[ROWS] > INT32_MAX ? TN_I64 : TN_I32;
	c->kit = kit;
	c->n = n;
	c->outer = form == 1 ? 1 : form == 2 ? n[OUTER] * n[WIDTH] : n[OUTER];
	c->width = form == 1 ? n[OUTER] * n[WIDTH] : form == 2 ? 1 : n[WIDTH];
	c->rank = form == 1 || form == 2 ? 2 : 3;
	c->axis = form != 1;
	c->dtype = dtype;
	c->table_dtype = table_dtype;
	sweep_case(kit, sweep, dtype, n, "by %s, axis %u of rank %u%s", tn_dtype_name(of_index),
		   c->axis, c->rank, what);
	make_array(c, &c->table, is_gather ? INPUT : OUTPUT, table_dtype, n[ROWS]);
	make_array(c, &c->list, is_gather ? OUTPUT : INPUT, dtype, n[INDICES]);
	array_make(kit, &c->indices, INPUT, of_index, 1, &n[INDICES], COMPACT);
	c->all[0] = &c->table;
	c->all[1] = &c->list;
	c->all[2] = &c->indices;
	set_indices(c);
}

static void end(struct choice *c)
{
	for (int i = 0; i < 3; i++)
		array_free(c->all[i]);
	free(c->row);
}

/* Any axis, and the first one alone, as of embeddings: backends have a path for it. */
static void sweep_and_first(struct kit *kit, const struct sweep *sweep, const char *name)
{
	struct sweep first = *sweep;
	first.name = name;
	first.axes[OUTER].most = 1;
	sweep_axes(kit, sweep);
	sweep_axes(kit, &first);
}

static struct tn_gather_args arguments(const struct choice *c, int is_gather)
{
	return (struct tn_gather_args){.call = CALL(struct tn_gather_args),
				       .input = is_gather ? c->table.operand : c->list.operand,
				       .output = is_gather ? c->list.operand : c->table.operand,
				       .indices = c->indices.operand,
				       .axis = c->axis,
				       .mode = c->mode};
}

/* The number, row-major, of the first element of a row of the table or of the list. */
static uint64_t row_of(const struct choice *c, int64_t outer, int64_t length, int64_t row)
{
	return (uint64_t)((outer * length + row) * c->width);
}

/* to[o, j] := from[o, row of j], rows of `size` bytes; out of range: 0. */
static void choose(const struct choice *c, unsigned char *to, const unsigned char *from)
{
	const size_t size = tn_dtype_size(c->dtype), bytes = (size_t)c->width * size;
	for (int64_t o = 0; o < c->outer; o++)
		for (int64_t j = 0; j < c->n[INDICES]; j++) {
			unsigned char *at = to + row_of(c, o, c->n[INDICES], j) * size;
			if (c->row[j] < 0)
				memset(at, 0, bytes);
			else
				memcpy(at, from + row_of(c, o, c->n[ROWS], c->row[j]) * size,
				       bytes);
		}
}

static int claims_all(const struct kit *kit, tn_dtype dtype)
{
	(void)kit;
	return dtype != 0;
}

static void gathers(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths)
{
	struct choice c = {.mode = 0};
	make(&c, kit, sweep, dtype, lengths, dtype, "");
	sweep_set_bits(&c.table);
	struct tn_gather_args args = arguments(&c, 1);
	if (!kit_run(kit, &args, c.all, 3)) {
		unsigned char *from = sweep_elements(&c.table), *to = sweep_elements(&c.list);
		choose(&c, to, from);
		sweep_compare_bits(&c.list, to);
		free(from);
		free(to);
	}
	end(&c);
}

const struct sweep sweep_of_gather = {
	TN_SLOT_GATHER, "gather",
	AXES,           {{"outer", 1, 0}, {"rows", 37, 0}, {"width", 2, 0}, {"indices", 150, 0}},
	claims_all,     bytes_of,
	work_of,        gathers};

void check_sizes_gather(struct kit *kit)
{
	sweep_and_first(kit, &sweep_of_gather, "gather, first axis");
}

/* ---- Scatter ---------------------------------------------------------------------------------*/

static double combined(uint32_t mode, double a, double b)
{
	switch (mode) {
	case TN_SCATTER_MULTIPLY:
		return a * b;
	case TN_SCATTER_MAX:
		return fmax(a, b);
	case TN_SCATTER_MIN:
		return fmin(a, b);
	default:
		return a + b;
	}
}

/* The result in doubles, exact before it wraps. */
static void combine(const struct choice *c, double *table, const double *list)
{
	for (int64_t o = 0; o < c->outer; o++)
		for (int64_t j = 0; j < c->n[INDICES]; j++) {
			double *to = table + row_of(c, o, c->n[ROWS], c->row[j]);
			const double *from = list + row_of(c, o, c->n[INDICES], j);
			for (int64_t w = 0; c->row[j] >= 0 && w < c->width; w++)
				to[w] = combined(c->mode, to[w], from[w]);
		}
}

/* Whole numbers modulo the dtype's range. */
static void compare_wrapped(const struct choice *c, const double *expected)
{
	const tn_dtype dtype = c->table_dtype;
	double *found = numbers(c->table.count);
	sweep_load(&c->table, found);
	for (uint64_t i = 0; i < c->table.count; i++) {
		double value = expected[i];
		if (found[i] == value)
			continue;
		if (!tn_is_floating(dtype))
			value = tn_f64_of_bits(tn_cast_bits(
				dtype, TN_F64,
				tn_cast_bits(TN_I64, dtype, (uint64_t)(int64_t)expected[i])));
		if (found[i] == value)
			continue;
		kit_fail(c->kit, "element %llu of %llu: expected %.17g, found %.17g",
			 (unsigned long long)i, (unsigned long long)c->table.count, value,
			 found[i]);
		break;
	}
	free(found);
}

/* Factors of 1 and -1 (unsigned: 1): the product of all stays small. */
static void set_signs(struct array *array)
{
	const int positive = tn_is_unsigned(array->operand.dtype);
	double *all = numbers(array->count);
	for (uint64_t i = 0; i < array->count; i++)
		all[i] = positive || kit_random(array->kit) % 2 ? 1 : -1;
	sweep_store(array, all);
	free(all);
}

/* Adds, or combines by the mode. */
static void accumulates(struct choice *c)
{
	double *expected = numbers(c->table.count), *list = numbers(c->list.count);
	sweep_set_whole(&c->table, 7);
	if (c->mode == TN_SCATTER_MULTIPLY)
		set_signs(&c->list);
	else
		sweep_set_whole(&c->list, c->mode > TN_SCATTER_MULTIPLY ? 100 : 1);
	sweep_load(&c->table, expected);
	sweep_load(&c->list, list);
	struct tn_gather_args args = arguments(c, 0);
	if (!kit_run(c->kit, &args, c->all, 3)) {
		combine(c, expected, list);
		compare_wrapped(c, expected);
	}
	free(expected);
	free(list);
}

static int claims_added(const struct kit *kit, tn_dtype dtype)
{
	(void)kit;
	return tn_is_floating(dtype) || tn_is_integer(dtype);
}

/* Sums of f16 and bf16 in f32, unless they stay so small that they are exact. */
static void adds(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *lengths)
{
	const int is_wide = tn_is_narrow(dtype) && lengths[INDICES] > 200;
	const tn_dtype table_dtype = is_wide ? TN_F32 : dtype;
	struct choice c = {.mode = 0};
	make(&c, kit, sweep, dtype, lengths, table_dtype, is_wide ? ", to f32" : "");
	accumulates(&c);
	end(&c);
}

const struct sweep sweep_of_scatter_add = {
	TN_SLOT_SCATTER_ADD,
	"scatter_add",
	AXES,
	{{"outer", 1, 0}, {"rows", 37, 0}, {"width", 2, 0}, {"indices", 150, 0}},
	claims_added,
	bytes_of,
	work_of,
	adds};

void check_sizes_scatter_add(struct kit *kit)
{
	sweep_and_first(kit, &sweep_of_scatter_add, "scatter_add, first axis");
}

/* Equal indices set the same row: all rows come from one table. */
static void sets(struct choice *c)
{
	const size_t size = tn_dtype_size(c->dtype), row = (size_t)c->width * size;
	sweep_set_bits(&c->table);
	unsigned char *source = sweep_elements(&c->table), *list = sweep_elements(&c->list);
	choose(c, list, source);
	sweep_pack(&c->list, list);
	sweep_set_bits(&c->table);
	unsigned char *expected = sweep_elements(&c->table);
	struct tn_gather_args args = arguments(c, 0);
	if (!kit_run(c->kit, &args, c->all, 3)) {
		for (int64_t o = 0; o < c->outer; o++)
			for (int64_t j = 0; j < c->n[INDICES]; j++) {
				uint64_t at = row_of(c, o, c->n[ROWS], c->row[j]) * size;
				if (c->row[j] >= 0)
					memcpy(expected + at, source + at, row);
			}
		sweep_compare_bits(&c->table, expected);
	}
	free(source);
	free(list);
	free(expected);
}

static void scatters(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		     const int64_t *lengths)
{
	static const char *const names[] = {"", ", set", ", add", ", multiply", ", max", ", min"};
	struct choice c = {.mode = 1 + sweep_draw(kit, sweep, dtype, lengths, 2, 5)};
	if (!claims_added(kit, dtype) || (tn_is_narrow(dtype) && lengths[INDICES] > 200))
		c.mode = TN_SCATTER_SET;
	make(&c, kit, sweep, dtype, lengths, dtype, names[c.mode]);
	if (c.mode == TN_SCATTER_SET)
		sets(&c);
	else
		accumulates(&c);
	end(&c);
}

const struct sweep sweep_of_scatter = {
	TN_SLOT_SCATTER,
	"scatter",
	AXES,
	{{"outer", 1, 0}, {"rows", 37, 0}, {"width", 2, 0}, {"indices", 150, 0}},
	claims_all,
	bytes_of,
	work_of,
	scatters};

void check_sizes_scatter(struct kit *kit)
{
	sweep_and_first(kit, &sweep_of_scatter, "scatter, first axis");
}
