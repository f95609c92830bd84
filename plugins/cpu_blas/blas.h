/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * OpenBLAS, opened inside the plugin and called through addresses from its own handle.
 *
 * The plugin uses the host's threads; OpenBLAS must compute on the calling thread.  Its thread
 * count belongs to the process (pthread build) or to each thread (OpenMP build), so it is set to 1
 * during a product and restored afterwards.  A factorisation of one large matrix may use its
 * threads: one at a time, and nobody else enters meanwhile.
 */
#ifndef CPU_BLAS_H
#define CPU_BLAS_H

#include <stdint.h>
#include <tenon/backend.h>

#include "lapack.h"

/* The constants of CBLAS, the same in every implementation. */
enum { BLAS_ROW_MAJOR = 101, BLAS_NO_TRANS = 111, BLAS_TRANS = 112 };

typedef void (*blas_sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
			      const float *a, int lda, const float *b, int ldb, float beta,
			      float *c, int ldc);
typedef void (*blas_dgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k,
			      double alpha, const double *a, int lda, const double *b, int ldb,
			      double beta, double *c, int ldc);
typedef void (*blas_sgemv_fn)(int order, int trans, int m, int n, float alpha, const float *a,
			      int lda, const float *x, int incx, float beta, float *y, int incy);
typedef void (*blas_dgemv_fn)(int order, int trans, int m, int n, double alpha, const double *a,
			      int lda, const double *x, int incx, double beta, double *y, int incy);

typedef float (*blas_sdot_fn)(int n, const float *x, int incx, const float *y, int incy);
typedef double (*blas_ddot_fn)(int n, const double *x, int incx, const double *y, int incy);

struct cpu_blas {
	void *handle; /* NULL: no usable library, `note` has the reason */
	int openmp;   /* the count of threads belongs to each thread */
	int lags;     /* its kernels have far shorter vectors than the plugin's own */
	blas_sgemm_fn sgemm;
	blas_dgemm_fn dgemm;
	blas_sgemv_fn sgemv;
	blas_dgemv_fn dgemv;
	blas_sdot_fn sdot;
	blas_ddot_fn ddot;
	void (*set_num_threads)(int);
	int (*get_num_threads)(void);
	int (*get_parallel)(void);
	char *(*get_config)(void);
	char *(*get_corename)(void);
	void (*omp_set_num_threads)(int); /* OpenMP build only */
	int (*omp_get_max_threads)(void);
	struct cpu_lapack lapack;
	unsigned callers; /* the host's threads, each of which may compute in it */
	char note[256];   /* what was found, or what is missing */
};

/* Looks for the library; `blas->handle` stays NULL if there is none, which is logged.
 * `vector_bytes` is the length of the vectors of the plugin's own kernels. */
void cpu_blas_open(struct cpu_blas *blas, const struct tn_host *host, int vector_bytes);
void cpu_blas_close(struct cpu_blas *blas);

/* Around every use in a call of the plugin: between enter and leave OpenBLAS starts no threads. */
void cpu_blas_enter(const struct cpu_blas *blas);
void cpu_blas_leave(const struct cpu_blas *blas);

/* Around one call that OpenBLAS may divide among `threads` of its own, while nobody else is in it;
 * if somebody is, it computes on the calling thread alone.  Returns the value for leave_alone. */
int cpu_blas_enter_alone(const struct cpu_blas *blas, int threads);
void cpu_blas_leave_alone(const struct cpu_blas *blas, int count);

/* Around every use on a pool thread: returns the value that thread_leave restores. */
int cpu_blas_thread_enter(const struct cpu_blas *blas);
void cpu_blas_thread_leave(const struct cpu_blas *blas, int count);

#endif
