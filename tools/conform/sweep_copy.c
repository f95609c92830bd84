/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * fill and copy of all sizes, in every dtype; every element is compared.
 */
#include "sweep.h"

static int claims_all(const struct kit *kit, tn_dtype dtype)
{
	(void)kit;
	return dtype != 0;
}

static uint64_t bytes_of_line(tn_dtype dtype, const int64_t *lengths)
{
	return (uint64_t)lengths[0] * tn_dtype_size(dtype);
}

static double work_of_line(const int64_t *lengths)
{
	return SWEEP_VISIT * (double)lengths[0];
}

static uint64_t bytes_of_block(tn_dtype dtype, const int64_t *lengths)
{
	return shape_count(3, lengths) * tn_dtype_size(dtype);
}

static double work_of_block(const int64_t *lengths)
{
	return SWEEP_VISIT * (double)shape_count(3, lengths);
}

/* A layout of those; not one with gaps for an array that is large without them. */
static enum layout layout_of(const struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			     const int64_t *lengths, unsigned which, const enum layout *layouts,
			     unsigned n)
{
	enum layout layout = layouts[sweep_turn(kit, sweep, dtype, lengths, which, n)];
	if (layout == SPACED && sweep->bytes(dtype, lengths) > 1 << 20)
		return SHIFTED;
	return layout;
}

static const enum layout inputs[] = {COMPACT,  REVERSED,  SPACED,        SHIFTED,
				     BACKWARD, BROADCAST, CHANNELS_LAST, COMPACT},
			 outputs[] = {COMPACT, REVERSED, SPACED, SHIFTED, CHANNELS_LAST};

static void copies(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		   const int64_t *lengths)
{
	const enum layout from = layout_of(kit, sweep, dtype, lengths, 0, inputs, 8);
	const enum layout to = layout_of(kit, sweep, dtype, lengths, 1, outputs, 5);
	struct array in, out, *all[2] = {&in, &out};
	sweep_case(kit, sweep, dtype, lengths, "%s to %s", layout_names[from], layout_names[to]);
	array_make(kit, &in, INPUT, dtype, sweep->n_axes, lengths, from);
	array_make(kit, &out, OUTPUT, dtype, sweep->n_axes, lengths, to);
	sweep_set_bits(&in);
	struct tn_copy_args args = {
		.call = CALL(struct tn_copy_args), .input = in.operand, .output = out.operand};
	if (!kit_run(kit, &args, all, 2)) {
		void *expected = sweep_elements(&in);
		sweep_compare_bits(&out, expected);
		free(expected);
	}
	array_free(&in);
	array_free(&out);
}

const struct sweep sweep_of_copy = {TN_SLOT_COPY,  "copy",       1,     {{"n", 7, 0}}, claims_all,
				    bytes_of_line, work_of_line, copies};

void check_sizes_copy(struct kit *kit)
{
	static const struct sweep block = {TN_SLOT_COPY,
					   "copy",
					   3,
					   {{"outer", 2, 0}, {"middle", 3, 0}, {"inner", 3, 0}},
					   claims_all,
					   bytes_of_block,
					   work_of_block,
					   copies};
	sweep_axes(kit, &sweep_of_copy);
	sweep_axes(kit, &block);
}

static void fills(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *lengths)
{
	const enum layout layout = layout_of(kit, sweep, dtype, lengths, 0, outputs, 5);
	const size_t size = tn_dtype_size(dtype);
	struct array value, out, *all[2] = {&out, &value};
	uint64_t bits = 0;
	sweep_case(kit, sweep, dtype, lengths, "%s", layout_names[layout]);
	const int on_device = size > 8 || kit_random(kit) % 2;
	array_make(kit, &out, OUTPUT, dtype, sweep->n_axes, lengths, layout);
	array_make(kit, &value, INPUT, dtype, 0, NULL, SHIFTED);
	sweep_set_bits(&value);
	if (size <= 8)
		bits = array_bits(&value, 0);
	struct tn_fill_args args = {.call = CALL(struct tn_fill_args),
				    .output = out.operand,
				    .value = {.dtype = dtype,
					      .on_device = (uint32_t)on_device,
					      .bits = on_device ? 0 : bits,
					      .buffer = on_device ? value.operand.buffer : 0,
					      .offset = on_device ? value.operand.offset : 0}};
	if (!kit_run(kit, &args, all, 2)) {
		unsigned char *expected = sweep_elements(&out);
		for (uint64_t i = 0; i < out.count; i++)
			memcpy(expected + i * size, array_at(&value, 0), size);
		sweep_compare_bits(&out, expected);
		free(expected);
	}
	array_free(&out);
	array_free(&value);
}

void check_sizes_fill(struct kit *kit)
{
	static const struct sweep line = {TN_SLOT_FILL,  "fill",     1,
					  {{"n", 7, 0}}, claims_all, bytes_of_line,
					  work_of_line,  fills};
	static const struct sweep block = {TN_SLOT_FILL,
					   "fill",
					   3,
					   {{"outer", 2, 0}, {"middle", 3, 0}, {"inner", 3, 0}},
					   claims_all,
					   bytes_of_block,
					   work_of_block,
					   fills};
	sweep_axes(kit, &line);
	sweep_axes(kit, &block);
}
