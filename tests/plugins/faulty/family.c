/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the sentence of a fault (family.h), and stands in the place of its slot.
 */
#include "family.h"

#include <stdlib.h>

/* ---- The slots -------------------------------------------------------------------------------*/

#define OPERAND(type, member)                                                                      \
	{                                                                                          \
#member, offsetof(struct type, member)                                             \
	}

/* Theirs are in arrays. */
static const struct slot_operand of_program[] = {{NULL, 0}};
static const struct slot_operand of_matmul[] = {OPERAND(tn_matmul_args, a),
						OPERAND(tn_matmul_args, b),
						OPERAND(tn_matmul_args, c),
						{NULL, 0}};
static const struct slot_operand of_fill[] = {OPERAND(tn_fill_args, output), {NULL, 0}};
static const struct slot_operand of_copy[] = {
	OPERAND(tn_copy_args, input), OPERAND(tn_copy_args, output), {NULL, 0}};
static const struct slot_operand of_gather[] = {OPERAND(tn_gather_args, input),
						OPERAND(tn_gather_args, indices),
						OPERAND(tn_gather_args, output),
						{NULL, 0}};
static const struct slot_operand of_sort[] = {OPERAND(tn_sort_args, input),
					      OPERAND(tn_sort_args, values),
					      OPERAND(tn_sort_args, indices),
					      {NULL, 0}};
static const struct slot_operand of_scan[] = {
	OPERAND(tn_scan_args, input), OPERAND(tn_scan_args, output), {NULL, 0}};
static const struct slot_operand of_linalg[] = {OPERAND(tn_linalg_args, a),
						OPERAND(tn_linalg_args, b),
						OPERAND(tn_linalg_args, u),
						OPERAND(tn_linalg_args, v),
						OPERAND(tn_linalg_args, values),
						OPERAND(tn_linalg_args, pivots),
						OPERAND(tn_linalg_args, permutation),
						OPERAND(tn_linalg_args, info),
						{NULL, 0}};
static const struct slot_operand of_conv2d[] = {
	OPERAND(tn_conv2d_args, x),        OPERAND(tn_conv2d_args, w),
	OPERAND(tn_conv2d_args, y),        OPERAND(tn_conv2d_args, bias),
	OPERAND(tn_conv2d_args, residual), {NULL, 0}};
static const struct slot_operand of_pool2d[] = {OPERAND(tn_pool2d_args, x),
						OPERAND(tn_pool2d_args, y),
						OPERAND(tn_pool2d_args, index),
						{NULL, 0}};
static const struct slot_operand of_norm[] = {OPERAND(tn_norm_args, x),
					      OPERAND(tn_norm_args, y),
					      OPERAND(tn_norm_args, w),
					      OPERAND(tn_norm_args, b),
					      OPERAND(tn_norm_args, mean),
					      OPERAND(tn_norm_args, rstd),
					      OPERAND(tn_norm_args, dx),
					      OPERAND(tn_norm_args, dw),
					      OPERAND(tn_norm_args, db),
					      OPERAND(tn_norm_args, residual),
					      {NULL, 0}};
static const struct slot_operand of_softmax[] = {OPERAND(tn_softmax_args, x),
						 OPERAND(tn_softmax_args, y),
						 OPERAND(tn_softmax_args, dy),
						 OPERAND(tn_softmax_args, dx),
						 {NULL, 0}};
static const struct slot_operand of_cross_entropy[] = {OPERAND(tn_cross_entropy_args, x),
						       OPERAND(tn_cross_entropy_args, labels),
						       OPERAND(tn_cross_entropy_args, maximum),
						       OPERAND(tn_cross_entropy_args, log_sum),
						       OPERAND(tn_cross_entropy_args, loss),
						       OPERAND(tn_cross_entropy_args, dx),
						       {NULL, 0}};
static const struct slot_operand of_attention[] = {
	OPERAND(tn_attention_args, q),       OPERAND(tn_attention_args, k),
	OPERAND(tn_attention_args, v),       OPERAND(tn_attention_args, mask),
	OPERAND(tn_attention_args, y),       OPERAND(tn_attention_args, maximum),
	OPERAND(tn_attention_args, log_sum), OPERAND(tn_attention_args, dy),
	OPERAND(tn_attention_args, dq),      OPERAND(tn_attention_args, dk),
	OPERAND(tn_attention_args, dv),      {NULL, 0}};

#define SLOT(table, entry, type, operands)                                                         \
	{                                                                                          \
#entry, offsetof(struct tables, table.entry), sizeof(struct type), operands        \
	}

static const struct family_slot slots[] = {
	SLOT(compute, map, tn_map_args, of_program),
	SLOT(compute, reduce, tn_reduce_args, of_program),
	SLOT(compute, matmul, tn_matmul_args, of_matmul),
	SLOT(compute, matmul_prepack, tn_matmul_args, of_matmul),
	SLOT(copy, fill, tn_fill_args, of_fill),
	SLOT(copy, copy, tn_copy_args, of_copy),
	SLOT(copy, gather, tn_gather_args, of_gather),
	SLOT(copy, scatter_add, tn_gather_args, of_gather),
	SLOT(copy, scatter, tn_gather_args, of_gather),
	SLOT(sort, sort, tn_sort_args, of_sort),
	SLOT(scan, scan, tn_scan_args, of_scan),
	SLOT(linalg, cholesky, tn_linalg_args, of_linalg),
	SLOT(linalg, lu, tn_linalg_args, of_linalg),
	SLOT(linalg, solve, tn_linalg_args, of_linalg),
	SLOT(linalg, solve_triangular, tn_linalg_args, of_linalg),
	SLOT(linalg, qr, tn_linalg_args, of_linalg),
	SLOT(linalg, eigh, tn_linalg_args, of_linalg),
	SLOT(linalg, svd, tn_linalg_args, of_linalg),
	SLOT(linalg, eig, tn_linalg_args, of_linalg),
	SLOT(nn, conv2d_forward, tn_conv2d_args, of_conv2d),
	SLOT(nn, conv2d_input_gradient, tn_conv2d_args, of_conv2d),
	SLOT(nn, conv2d_weight_gradient, tn_conv2d_args, of_conv2d),
	SLOT(nn, conv2d_prepack, tn_conv2d_args, of_conv2d),
	SLOT(nn, pool2d_forward, tn_pool2d_args, of_pool2d),
	SLOT(nn, pool2d_backward, tn_pool2d_args, of_pool2d),
	SLOT(nn, batch_norm_forward, tn_norm_args, of_norm),
	SLOT(nn, batch_norm_backward, tn_norm_args, of_norm),
	SLOT(nn, layer_norm_forward, tn_norm_args, of_norm),
	SLOT(nn, layer_norm_backward, tn_norm_args, of_norm),
	SLOT(nn, group_norm_forward, tn_norm_args, of_norm),
	SLOT(nn, group_norm_backward, tn_norm_args, of_norm),
	SLOT(nn, softmax_forward, tn_softmax_args, of_softmax),
	SLOT(nn, softmax_backward, tn_softmax_args, of_softmax),
	SLOT(nn, cross_entropy_forward, tn_cross_entropy_args, of_cross_entropy),
	SLOT(nn, cross_entropy_backward, tn_cross_entropy_args, of_cross_entropy),
	SLOT(nn, attention_forward, tn_attention_args, of_attention),
	SLOT(nn, attention_backward, tn_attention_args, of_attention),
};

static const struct family_slot *slot_find(const char *name)
{
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		if (!strcmp(slots[i].name, name))
			return &slots[i];
	}
	return NULL;
}

size_t family_slot_place(const char *name)
{
	const struct family_slot *found = slot_find(name);
	return found ? found->place : 0;
}

/* ---- The operands of a call ------------------------------------------------------------------*/

static int is_program(const struct family_call *call)
{
	return call->slot->operands == of_program;
}

static const struct tn_operand *outputs_of(const struct family_call *call)
{
	return call->slot->place == offsetof(struct tables, compute.map)
		       ? call->args.map.outputs
		       : call->args.reduce.outputs;
}

/* "inputs", "inputs1", "outputs" */
static struct tn_operand *program_operand(struct family_call *call, const char *name)
{
	if (!strncmp(name, "inputs", 6))
		return &call->inputs[strtoul(name + 6, NULL, 10) % 16];
	/* Nothing changes the operand itself of an output. */
	return !strcmp(name, "outputs") ? (struct tn_operand *)(uintptr_t)outputs_of(call) : NULL;
}

/* What a call of a prepack entry has written, as numbers of f64: as the reference packs. */
static struct tn_operand *packed_operand(struct family_call *call)
{
	const struct tn_packed *packed = call->slot->operands == of_conv2d
						 ? &call->args.conv2d.packed
						 : &call->args.matmul.packed;
	call->packed = (struct tn_operand){.buffer = packed->buffer,
					   .offset = packed->offset,
					   .dtype = TN_F64,
					   .rank = 1,
					   .shape = {(int64_t)(packed->size / sizeof(double))},
					   .strides = {1}};
	return packed->size ? &call->packed : NULL;
}

struct tn_operand *family_operand(struct family_call *call, const char *name)
{
	if (is_program(call))
		return program_operand(call, name);
	if (!strcmp(name, "packed"))
		return packed_operand(call);
	for (const struct slot_operand *row = call->slot->operands; row->name; row++) {
		struct tn_operand *operand =
			(struct tn_operand *)((char *)&call->args + row->offset);
		if (!strcmp(row->name, name))
			return operand->dtype ? operand : NULL;
	}
	return NULL;
}

/* An effect may change the inputs of this call, which are in an array of the caller's. */
static void take_inputs(struct family_call *call)
{
	const int is_map = call->slot->place == offsetof(struct tables, compute.map);
	const struct tn_program *program =
		is_map ? call->args.map.program : call->args.reduce.prologue;
	const struct tn_operand **inputs =
		is_map ? &call->args.map.inputs : &call->args.reduce.inputs;
	memset(call->inputs, 0, sizeof(call->inputs));
	memcpy(call->inputs, *inputs, program->n_inputs * sizeof(**inputs));
	*inputs = call->inputs;
}

/* ---- The sentence ----------------------------------------------------------------------------*/

enum { MOST_WORDS = 32 };

static char *words[MOST_WORDS];
static size_t n_words;
static const struct family_slot *slot;
static const struct family_effect *effect;
static const char *operand_name, *value;
static size_t first_condition; /* the word after "if"; n_words: there is none */

static int conditions_hold(struct family_call *call)
{
	for (size_t i = first_condition; i + 2 < n_words; i += 4) {
		if (!family_holds(call, words[i], words[i + 1], words[i + 2]))
			return 0;
	}
	return 1;
}

/* `size` is of a prepack entry, and NULL for others. */
static tn_status call_right(void *device, const void *args, uint64_t *size)
{
	tn_status (*entry)(void *, const void *);
	tn_status (*prepack)(void *, const void *, uint64_t *);
	memcpy(&entry, (const char *)&right + slot->place, sizeof(entry));
	memcpy(&prepack, &entry, sizeof(prepack));
	return size ? prepack(device, args, size) : entry(device, args);
}

static tn_status hooked_prepack(void *device, const void *args, uint64_t *size)
{
	struct family_call call = {.slot = slot};
	if (tn_arguments_take(&call.args, slot->size, args) || call.args.call.flags & TN_DRY_RUN)
		return call_right(device, args, size);
	if (is_program(&call))
		take_inputs(&call);
	struct tn_operand *operand = family_operand(&call, operand_name);
	if ((!operand && effect->after) || !conditions_hold(&call))
		return call_right(device, args, size);
	if (effect->before)
		effect->before(&call, operand, value);
	tn_status status = call_right(device, &call.args, size);
	if (!status && effect->after)
		effect->after(&call, operand, value);
	if (status && effect->refused)
		effect->refused(value);
	free(call.memory);
	return status;
}

static tn_status hooked(void *device, const void *args)
{
	return hooked_prepack(device, args, NULL);
}

static const struct family_effect *effect_find(const char *name)
{
	for (const struct family_effect *row = family_effects; row->name; row++) {
		if (!strcmp(row->name, name))
			return row;
	}
	return NULL;
}

static void split(const char *sentence)
{
	static char text[256];
	char *rest = text;
	strncpy(text, sentence, sizeof(text) - 1);
	while (n_words < MOST_WORDS && (words[n_words] = strsep(&rest, " ")))
		n_words++;
}

int family_plant(const char *sentence)
{
	tn_status (*entry)(void *, const void *) = hooked;
	tn_status (*const prepack)(void *, const void *, uint64_t *) = hooked_prepack;
	split(sentence);
	slot = slot_find(words[0]);
	effect = n_words > 1 ? effect_find(words[1]) : NULL;
	if (!slot || !effect)
		return family_plant_device(words, n_words);
	first_condition = 2;
	while (first_condition < n_words && strcmp(words[first_condition++], "if") != 0)
		;
	operand_name = n_words > 2 ? words[2] : "";
	value = n_words > 3 ? words[3] : "0";
	if (strstr(slot->name, "_prepack"))
		memcpy(&entry, &prepack, sizeof(entry));
	memcpy((char *)&faulty + slot->place, &entry, sizeof(entry));
	return 1;
}
