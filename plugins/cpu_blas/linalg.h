/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Entries of tenon.linalg/1: one call, its matrices, and how they are divided among threads.
 */
#ifndef CPU_LINALG_H
#define CPU_LINALG_H

#include <stdatomic.h>

#include "plugin.h"

/* Parts of the workspace of one matrix, in bytes; a part that is not needed has 0. */
enum {
	LINALG_PIVOTS,
	LINALG_TAU,
	LINALG_WORK,
	LINALG_REAL_WORK,
	LINALG_INTEGERS,
	/* Copies of the matrices, of complex dtypes: OpenBLAS's kernels read beyond their ends. */
	LINALG_A,
	LINALG_B,
	LINALG_U,
	LINALG_V,
	LINALG_PARTS
};

/* The info of a matrix with an element that is not finite, where that is looked for. */
#define LINALG_NOT_FINITE INT32_MIN

struct factoring {
	struct cpu_device *cpu;
	const char *operation;
	const struct linalg_entry *entry;
	struct tn_linalg_args args;
	int type;        /* index of LAPACK's types */
	size_t size;     /* of an element */
	int32_t m, n, k; /* of a */
	int32_t n_right; /* columns of b */
	int32_t lda, ldb, ldu, ldv;
	int32_t lwork, lrwork, liwork;
	uint64_t parts[LINALG_PARTS];
	uint64_t bytes;     /* of all parts */
	uint64_t lanes;     /* matrices that are factored at once */
	atomic_int refused; /* an info below 0 that LAPACK returned; 0: none */
};

/* One matrix: where its operands are. */
struct matrix {
	void *a;
	void *b;
	void *u;
	void *v;
	void *values;
	int32_t *pivots;      /* NULL: not wanted */
	int32_t *permutation; /* NULL: not wanted */
	char *parts[LINALG_PARTS];
};

/* What differs between the entries. */
struct linalg_entry {
	int is_square;
	int keeps_a; /* which is read only */
	int has_b;
	int has_pivots;
	int has_values;
	int has_u, has_v;
	int is_eig; /* v and values are complex */
	/* Asks the library for workspace: fills lwork and parts.  1: it needs more than its
	 * integers count. */
	int (*plan)(struct factoring *f);
	/* Returns LAPACK's info, or LINALG_NOT_FINITE. */
	int32_t (*factor)(const struct factoring *f, const struct matrix *x);
};

tn_status cpu_linalg_run(void *device, const struct tn_linalg_args *args, const char *operation,
			 const struct linalg_entry *entry);

static inline int linalg_is_complex(const struct factoring *f)
{
	return f->type >= 2;
}
static inline size_t linalg_real_size(const struct factoring *f)
{
	return linalg_is_complex(f) ? f->size / 2 : f->size;
}
static inline const struct cpu_lapack *linalg_lapack(const struct factoring *f)
{
	return &f->cpu->instance->blas.lapack;
}
/* Is a length so small that the answer to a query, a few blocks of it, is below 2^31?  LAPACK
 * computes it in 32 bits. */
int linalg_has_query(int64_t length);
/* The answer of a query: the first, real number of the workspace.  1: too much. */
int linalg_take_size(const struct factoring *f, const void *answer, int32_t *length);

/* linalg_solve.c */
tn_status cpu_lu(void *device, const struct tn_linalg_args *args);
tn_status cpu_solve(void *device, const struct tn_linalg_args *args);
tn_status cpu_solve_triangular(void *device, const struct tn_linalg_args *args);

/* linalg_spectral.c */
tn_status cpu_eigh(void *device, const struct tn_linalg_args *args);
tn_status cpu_svd(void *device, const struct tn_linalg_args *args);
tn_status cpu_eig(void *device, const struct tn_linalg_args *args);

#endif
