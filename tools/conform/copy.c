/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * fill and copy: every dtype, between all layouts, bit for bit.
 */
#include "slots.h"

/* A NaN with a payload, and other bits that arithmetic would not preserve. */
static const uint64_t pattern = 0x7ff8a5c37fa5c301;

static void compare(const struct array *out, uint64_t i, const void *expected)
{
	if (memcmp(array_at(out, i), expected, tn_dtype_size(out->operand.dtype)) != 0)
		kit_fail(out->kit, "element %llu has different bits", (unsigned long long)i);
}

static void fills(struct kit *kit, tn_dtype dtype, const struct shape *shape, enum layout layout,
		  int on_device)
{
	uint64_t bits = dtype == TN_BOOL ? 1 : pattern;
	struct array value, out, *all[2] = {&out, &value};
	kit_case(kit, TN_SLOT_FILL, "fill: %s, rank %u, %s, %s", tn_dtype_name(dtype), shape->rank,
		 layout_names[layout], on_device ? "on the device" : "by value");
	array_make(kit, &out, OUTPUT, dtype, shape->rank, shape->lengths, layout);
	array_make(kit, &value, INPUT, dtype, 0, NULL, SHIFTED);
	memcpy(array_at(&value, 0), &bits, tn_dtype_size(dtype) < 8 ? tn_dtype_size(dtype) : 8);
	struct tn_fill_args args = {.call = CALL(struct tn_fill_args),
				    .output = out.operand,
				    .value = {.dtype = dtype,
					      .on_device = (uint32_t)on_device,
					      .bits = on_device ? 0 : bits,
					      .buffer = on_device ? value.operand.buffer : 0,
					      .offset = on_device ? value.operand.offset : 0}};
	if (!kit_run(kit, &args, all, 2))
		for (uint64_t i = 0; i < out.count; i++)
			compare(&out, i, array_at(&value, 0));
	array_free(&out);
	array_free(&value);
}

static void copies(struct kit *kit, tn_dtype dtype, const struct shape *shape, enum layout from,
		   enum layout to, uint64_t n)
{
	struct array in, out, *all[2] = {&in, &out};
	kit_case(kit, TN_SLOT_COPY, "copy: %s, rank %u, %llu elements, %s to %s, number %llu",
		 tn_dtype_name(dtype), shape->rank,
		 (unsigned long long)shape_count(shape->rank, shape->lengths), layout_names[from],
		 layout_names[to], (unsigned long long)n);
	kit_vary(kit, n);
	array_make(kit, &in, INPUT, dtype, shape->rank, shape->lengths, from);
	array_make(kit, &out, OUTPUT, dtype, shape->rank, shape->lengths, to);
	for (uint64_t i = 0; i < in.count; i++)
		for (size_t byte = 0; byte < tn_dtype_size(dtype); byte++)
			array_at(&in, i)[byte] =
				(unsigned char)(kit_random(kit) & (dtype == TN_BOOL ? 1 : 255));
	struct tn_copy_args args = {
		.call = CALL(struct tn_copy_args), .input = in.operand, .output = out.operand};
	if (!kit_run(kit, &args, all, 2))
		for (uint64_t i = 0; i < out.count; i++)
			compare(&out, i, array_at(&in, i));
	array_free(&in);
	array_free(&out);
}

/* Large shapes are slow, and tested with one dtype only. */
static int is_due(const struct kit *kit, tn_dtype dtype, const struct shape *shape)
{
	return kit_claims_storage(kit, dtype) &&
	       (dtype == TN_F32 || shape_count(shape->rank, shape->lengths) < 20000);
}

void check_copy_fill(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_FILL))
		return kit_skip(kit, "the slot is empty");
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		for (size_t s = 0; s < n_shapes; s++)
			for (int on_device = 0; on_device < 2 && is_due(kit, dtype, &shapes[s]);
			     on_device++)
				fills(kit, dtype, &shapes[s],
				      (enum layout)((s + (size_t)dtype) % OUTPUT_LAYOUTS),
				      on_device);
}

void check_copy_layouts(struct kit *kit)
{
	enum { ANYHOW = 24 };
	if (!tn_backend_has(kit->backend, TN_SLOT_COPY))
		return kit_skip(kit, "the slot is empty");
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		for (size_t s = 0; s < n_shapes; s++)
			for (int from = 0; from < LAYOUTS && is_due(kit, dtype, &shapes[s]); from++)
				copies(kit, dtype, &shapes[s], (enum layout)from,
				       (enum layout)((s + (size_t)from) % OUTPUT_LAYOUTS), 0);
	for (uint64_t n = 1; n <= ANYHOW; n++) {
		struct shape shape;
		kit_case(kit, TN_SLOT_COPY, "copy: a random shape");
		kit_vary(kit, n);
		shape_random(kit, &shape, TN_MAX_RANK, 5000);
		copies(kit, n % 2 ? TN_F32 : TN_U8, &shape, RANDOM, RANDOM, n);
	}
}
