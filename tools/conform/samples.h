/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A small valid call of every computing slot, which the checks of level 5 run, and modify in one
 * respect.
 */
#ifndef TN_TOOLS_CONFORM_SAMPLES_H
#define TN_TOOLS_CONFORM_SAMPLES_H

#include "conform.h"

union call_args {
	struct tn_call call;
	struct tn_map_args map;
	struct tn_reduce_args reduce;
	struct tn_matmul_args matmul;
	struct tn_fill_args fill;
	struct tn_copy_args copy;
	struct tn_gather_args gather;
	struct tn_sort_args sort;
	struct tn_scan_args scan;
	struct tn_conv2d_args conv2d;
	struct tn_pool2d_args pool2d;
	struct tn_norm_args norm;
	struct tn_softmax_args softmax;
	struct tn_cross_entropy_args cross_entropy;
	struct tn_attention_args attention;
	unsigned char room[4096]; /* for the fields of a later version */
};

enum { SAMPLE_ARRAYS = 10 };

struct sample {
	struct kit *kit;
	int slot;
	union call_args args;
	size_t args_size;
	struct array array[SAMPLE_ARRAYS];
	struct array *all[SAMPLE_ARRAYS];
	size_t n;
	unsigned char *before[SAMPLE_ARRAYS]; /* the images as filled */
	struct tn_operand inputs[2], outputs[2];
	struct tn_scalar scalar;
	struct tn_program *program, *epilogue; /* NULL: none */
	tn_dtype dtype;
	int64_t scale; /* of the first axes, but those of weights */
};

/* Iterates over the slots with samples: the next one after `slot` that this backend fills and
 * claims a dtype for, or -1.  Start with -1. */
int sample_next(const struct kit *kit, int slot);
/* The family of a slot, for accuracy and determinism. */
int sample_family(int slot);
/* Does the slot take TN_ACCUMULATE? */
int sample_is_gradient(int slot);

/* Begins a case of the slot and makes the call; `what` is in the case's name. */
void sample_make(struct kit *kit, struct sample *sample, int slot, const char *what);
/* The same with other data (variant 0 is that of sample_make), in TN_F32, TN_F64 or TN_I32, and
 * with `scale` times as many rows, planes or matrices. */
void sample_make_variant(struct kit *kit, struct sample *sample, int slot, const char *what,
			 unsigned variant, tn_dtype dtype, int64_t scale);
/* Is there a sample of that dtype, and may it be required? */
int sample_has(const struct kit *kit, int slot, tn_dtype dtype);
/* A product of 80 x 80 matrices: for large ones libraries use memory of their own. */
void sample_make_large_product(struct kit *kit, struct sample *sample, const char *what);
/* A map or a reduction, whose programs have constants, a scalar, and several outputs. */
void sample_make_with_programs(struct kit *kit, struct sample *sample, int slot, const char *what);
void sample_free(struct sample *sample);

/* Restores the arrays' original elements. */
void sample_restore(struct sample *sample);

/* Runs it on the original elements. */
tn_status sample_run(struct sample *sample);

/* The elements of all outputs, row-major, one after the other; owned (free). */
unsigned char *sample_result(const struct sample *sample, size_t *size);
/* Are the outputs unchanged, in bits or within a thousandth?  Otherwise fails the case under the
 * id. */
void sample_expect_bits(const struct sample *sample, const unsigned char *result, const char *id);
void sample_expect_close(const struct sample *sample, const unsigned char *result, const char *id);
/* In bits where the device promises them, which elsewhere is close enough. */
void sample_expect_same(const struct sample *sample, const unsigned char *result, const char *id);

#endif
