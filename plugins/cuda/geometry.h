/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The geometry of a printed kernel's operands: one struct of 64-bit words, `g`.  One function per
 * family enumerates the words in order, both when the struct is printed and when a launch fills it,
 * so that the two always match.
 */
#ifndef CUDA_GEOMETRY_H
#define CUDA_GEOMETRY_H

#include "kernel.h"
#include "operand.h"

enum {
	/* A family's own numbers, at most. */
	CUDA_MAX_NUMBERS = 16,
	CUDA_MAX_WORDS = CUDA_MAX_NUMBERS + 2 * TN_PLUGIN_MAX_AXES +
			 TN_PLUGIN_MAX_VIEWS * (2 + TN_PLUGIN_MAX_AXES) +
			 2 * TN_PROGRAM_MAX_SCALARS,
	/* The parameters of a kernel have 4096 bytes on every device and driver. */
	CUDA_PARAMETER_WORDS = 512,
};

struct cuda_words {
	struct tn_plugin_text *text; /* NULL: the words are filled */
	uint32_t n;
	uint64_t word[CUDA_MAX_WORDS];
};

/* Bytes of device memory for words that do not fit a kernel's parameters; 0: they fit. */
static inline uint64_t cuda_words_spilled(const struct cuda_words *words)
{
	return words->n > CUDA_PARAMETER_WORDS ? (words->n * UINT64_C(8) + 255) / 256 * 256 : 0;
}

/* Spilled words reach their memory in the stream's order, as parameters of kernels, so that this
 * can be captured.  Gets the kernel for that; then writes the words to `address`. */
tn_status cuda_words_kernel(struct cuda_job *job, struct cuda_kernel **kernel);
tn_status cuda_words_store(struct cuda_job *job, const struct cuda_kernel *kernel,
			   const struct cuda_words *words, uint64_t address);

/* One word, called `name` and the number, followed by `_axis` unless axis is CUDA_NO_AXIS. */
#define CUDA_NO_AXIS UINT32_MAX
void cuda_word(struct cuda_words *words, const char *name, uint32_t number, uint32_t axis,
	       uint64_t value);
/* g.pK, the address of each view, and g.tK_D, its strides. */
void cuda_words_views(struct cuda_words *words, const struct tn_plugin_nest *nest);
/* g.lD, the lengths, and g.mD, their multipliers for division (cuda_print_division). */
void cuda_words_lengths(struct cuda_words *words, const struct tn_plugin_nest *nest);
/* g.xK: the value of a scalar, or the address of one on the device; the first is number `first`. */
void cuda_words_scalars(struct cuda_words *words, const struct tn_scalar *scalars, uint32_t n,
			uint32_t first);

/* The types `number`, of counts and indices, and `place`, of distances between elements. */
void cuda_print_number_types(struct tn_plugin_text *text, int is_wide);
/* Declares c<axis> as the remainder of `rest` divided by the axis's length, and sets `rest` to the
 * quotient. */
void cuda_print_division(struct tn_plugin_text *text, const char *rest, uint32_t axis, int is_wide);
/* "const cu_f32 PREFIXs0 = ...;" for each scalar that the program reads. */
void cuda_print_scalars(struct tn_plugin_text *text, const struct tn_program *program,
			const struct tn_scalar *scalars, const char *prefix, uint32_t first);

/* Adds to a key what the printed text depends on: the dtypes of views and scalars, the ranks. */
void cuda_key_nest(struct tn_plugin_text *key, const struct tn_plugin_nest *nest);
void cuda_key_scalars(struct tn_plugin_text *key, const struct tn_scalar *scalars, uint32_t n);

#endif
