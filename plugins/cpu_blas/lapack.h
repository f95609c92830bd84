/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * LAPACK by its Fortran names, which OpenBLAS exports: all arguments are pointers, integers have 32
 * bits, matrices are column-major, and the length of each text is appended to the arguments.  Texts
 * are of one character.
 */
#ifndef CPU_LAPACK_H
#define CPU_LAPACK_H

#include <stddef.h>
#include <stdint.h>

/* The four types of elements: s, d, c, z in the names. */
enum { LAPACK_TYPES = 4 };

typedef void (*lapack_potrf_fn)(const char *uplo, const int32_t *n, void *a, const int32_t *lda,
				int32_t *info, size_t length);
typedef void (*lapack_getrf_fn)(const int32_t *m, const int32_t *n, void *a, const int32_t *lda,
				int32_t *pivots, int32_t *info);
typedef void (*lapack_getrs_fn)(const char *trans, const int32_t *n, const int32_t *n_right,
				const void *a, const int32_t *lda, const int32_t *pivots, void *b,
				const int32_t *ldb, int32_t *info, size_t length);
typedef void (*lapack_trtrs_fn)(const char *uplo, const char *trans, const char *diag,
				const int32_t *n, const int32_t *n_right, const void *a,
				const int32_t *lda, void *b, const int32_t *ldb, int32_t *info,
				size_t length, size_t length2, size_t length3);
typedef void (*lapack_geqrf_fn)(const int32_t *m, const int32_t *n, void *a, const int32_t *lda,
				void *tau, void *work, const int32_t *lwork, int32_t *info);
typedef void (*lapack_orgqr_fn)(const int32_t *m, const int32_t *n, const int32_t *k, void *a,
				const int32_t *lda, const void *tau, void *work,
				const int32_t *lwork, int32_t *info);
typedef void (*lapack_syevd_fn)(const char *job, const char *uplo, const int32_t *n, void *a,
				const int32_t *lda, void *w, void *work, const int32_t *lwork,
				int32_t *iwork, const int32_t *liwork, int32_t *info, size_t length,
				size_t length2);
typedef void (*lapack_heevd_fn)(const char *job, const char *uplo, const int32_t *n, void *a,
				const int32_t *lda, void *w, void *work, const int32_t *lwork,
				void *rwork, const int32_t *lrwork, int32_t *iwork,
				const int32_t *liwork, int32_t *info, size_t length,
				size_t length2);
typedef void (*lapack_gesdd_fn)(const char *job, const int32_t *m, const int32_t *n, void *a,
				const int32_t *lda, void *s, void *u, const int32_t *ldu, void *vt,
				const int32_t *ldvt, void *work, const int32_t *lwork,
				int32_t *iwork, int32_t *info, size_t length);
typedef void (*lapack_gesdd_complex_fn)(const char *job, const int32_t *m, const int32_t *n,
					void *a, const int32_t *lda, void *s, void *u,
					const int32_t *ldu, void *vt, const int32_t *ldvt,
					void *work, const int32_t *lwork, void *rwork,
					int32_t *iwork, int32_t *info, size_t length);
typedef void (*lapack_geev_fn)(const char *left, const char *right, const int32_t *n, void *a,
			       const int32_t *lda, void *wr, void *wi, void *vl,
			       const int32_t *ldvl, void *vr, const int32_t *ldvr, void *work,
			       const int32_t *lwork, int32_t *info, size_t length, size_t length2);
typedef void (*lapack_geev_complex_fn)(const char *left, const char *right, const int32_t *n,
				       void *a, const int32_t *lda, void *w, void *vl,
				       const int32_t *ldvl, void *vr, const int32_t *ldvr,
				       void *work, const int32_t *lwork, void *rwork, int32_t *info,
				       size_t length, size_t length2);

/* Real types have the first two entries of a list, complex ones the last two. */
struct cpu_lapack {
	const char *missing; /* the first name that the library has not; NULL: all are there */
	lapack_potrf_fn potrf[LAPACK_TYPES];
	lapack_getrf_fn getrf[LAPACK_TYPES];
	lapack_getrs_fn getrs[LAPACK_TYPES];
	lapack_trtrs_fn trtrs[LAPACK_TYPES];
	lapack_geqrf_fn geqrf[LAPACK_TYPES];
	lapack_orgqr_fn orgqr[LAPACK_TYPES]; /* of complex types ungqr */
	lapack_syevd_fn syevd[2];
	lapack_heevd_fn heevd[2];
	lapack_gesdd_fn gesdd[2];
	lapack_gesdd_complex_fn gesdd_complex[2];
	lapack_geev_fn geev[2];
	lapack_geev_complex_fn geev_complex[2];
};

/* Looks up all names in an open library. */
void cpu_lapack_find(struct cpu_lapack *lapack, void *handle);

#endif
