/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Enumerates the words of a kernel's geometry, printing or filling them.
 */
#include "geometry.h"

#include <string.h>

#include "program.h"

/* ---- Words -----------------------------------------------------------------------------------*/

void cuda_word(struct cuda_words *words, const char *name, uint32_t number, uint32_t axis,
	       uint64_t value)
{
	uint32_t n = words->n++;
	if (!words->text) {
		words->word[n] = value;
		return;
	}
	if (axis == CUDA_NO_AXIS)
		tn_plugin_text_format(words->text, "\tcu_u64 %s%u;\n", name, number);
	else
		tn_plugin_text_format(words->text, "\tcu_u64 %s%u_%u;\n", name, number, axis);
}

void cuda_words_views(struct cuda_words *words, const struct tn_plugin_nest *nest)
{
	for (uint32_t k = 0; k < nest->n_views; k++) {
		const struct tn_plugin_view *view = &nest->views[k];
		uint32_t axes = view->kept_only ? nest->n_kept : nest->rank;
		cuda_word(words, "p", k, CUDA_NO_AXIS, cuda_view_address(view));
		for (uint32_t d = 0; d < axes; d++)
			cuda_word(words, "t", k, d, (uint64_t)view->strides[d]);
	}
}

/* n / d = n m >> s for n below 2^31, with s = 31 + l, 2^(l-1) < d <= 2^l and m = 2^s / d rounded
 * up, which is below 2^32 (Granlund and Montgomery 1994, theorem 4.2): m in the lower half, s in
 * the upper. */
static uint64_t magic_of(int64_t divisor)
{
	uint64_t d = (uint64_t)divisor, shift = 31;
	if (d > INT32_MAX) /* the kernel is wide, and divides */
		return 0;
	while ((UINT64_C(1) << (shift - 31)) < d)
		shift++;
	return shift << 32 | ((UINT64_C(1) << shift) + d - 1) / d;
}

void cuda_words_lengths(struct cuda_words *words, const struct tn_plugin_nest *nest)
{
	for (uint32_t d = 0; d < nest->rank; d++) {
		cuda_word(words, "l", d, CUDA_NO_AXIS, (uint64_t)nest->lengths[d]);
		cuda_word(words, "m", d, CUDA_NO_AXIS, magic_of(nest->lengths[d]));
	}
}

void cuda_words_scalars(struct cuda_words *words, const struct tn_scalar *scalars, uint32_t n,
			uint32_t first)
{
	for (uint32_t s = 0; s < n; s++)
		cuda_word(words, "x", first + s, CUDA_NO_AXIS,
			  scalars[s].on_device ? scalars[s].buffer + scalars[s].offset
					       : scalars[s].bits);
}

/* ---- Spilled words ---------------------------------------------------------------------------*/

enum { PART = CUDA_PARAMETER_WORDS - 2 };

tn_status cuda_words_kernel(struct cuda_job *job, struct cuda_kernel **kernel)
{
	const struct cuda_define defines[] = {{"COUNT", PART}};
	return cuda_kernel_get(job, "words", "words_store", defines, 1, kernel);
}

tn_status cuda_words_store(struct cuda_job *job, const struct cuda_kernel *kernel,
			   const struct cuda_words *words, uint64_t address)
{
	const struct cuda_grid grid = {1, 1, 1, PART, 1, 1, 0};
	tn_status status = TN_OK;
	for (uint32_t first = 0; first < words->n && !status; first += PART) {
		struct {
			uint64_t to, n, word[PART];
		} part = {.to = address + first * UINT64_C(8)};
		part.n = words->n - first < PART ? words->n - first : PART;
		memcpy(part.word, words->word + first, part.n * sizeof(*part.word));
		void *arguments[] = {&part};
		status = cuda_kernel_launch(job, kernel, grid, arguments);
	}
	return status;
}

/* ---- Printing --------------------------------------------------------------------------------*/

void cuda_print_number_types(struct tn_plugin_text *text, int is_wide)
{
	tn_plugin_text_format(text, "typedef %s number;\ntypedef %s place;\n",
			      is_wide ? "cu_u64" : "cu_u32", is_wide ? "cu_i64" : "cu_i32");
}

void cuda_print_division(struct tn_plugin_text *text, const char *rest, uint32_t axis, int is_wide)
{
	if (is_wide)
		tn_plugin_text_format(text, "\tconst number q%u = %s / g.l%u;\n", axis, rest, axis);
	else
		tn_plugin_text_format(text,
				      "\tconst number q%u = (number)((cu_u64)%s * (cu_u32)g.m%u >> "
				      "(cu_u32)(g.m%u >> 32));\n",
				      axis, rest, axis, axis);
	tn_plugin_text_format(text, "\tconst number c%u = %s - q%u * (number)g.l%u;\n\t%s = q%u;\n",
			      axis, rest, axis, axis, rest, axis);
}

void cuda_print_scalars(struct tn_plugin_text *text, const struct tn_program *program,
			const struct tn_scalar *scalars, const char *prefix, uint32_t first)
{
	for (uint32_t s = 0; s < program->n_scalars; s++) {
		tn_dtype dtype = tn_plugin_source_dtype(program, TN_OP_SCALAR, s);
		const char *memory = cuda_memory_type(scalars[s].dtype);
		if (!dtype)
			continue;
		tn_plugin_text_format(text, "\tconst %s %ss%u = cu_convert<%s>(",
				      cuda_value_type(dtype), prefix, s, cuda_value_type(dtype));
		if (scalars[s].on_device)
			tn_plugin_text_format(text, "*(const %s *)g.x%u", memory, first + s);
		else
			tn_plugin_text_format(text, "cu_of_bits<%s>(g.x%u)", memory, first + s);
		tn_plugin_text_add(text, ");\n");
	}
}

/* ---- Keys ------------------------------------------------------------------------------------*/

void cuda_key_nest(struct tn_plugin_text *key, const struct tn_plugin_nest *nest)
{
	cuda_key_number(key,
			nest->rank | (uint64_t)nest->n_kept << 8 | (uint64_t)nest->n_views << 16);
	for (uint32_t k = 0; k < nest->n_views; k++)
		cuda_key_number(key, (uint64_t)nest->views[k].dtype |
					     (uint64_t)nest->views[k].kept_only << 32);
}

void cuda_key_scalars(struct tn_plugin_text *key, const struct tn_scalar *scalars, uint32_t n)
{
	for (uint32_t s = 0; s < n; s++)
		cuda_key_number(key,
				(uint64_t)scalars[s].dtype | (uint64_t)scalars[s].on_device << 32);
}
