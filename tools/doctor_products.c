/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix products.  Products of whole numbers are exact in every order of summation; others are
 * checked within a rounding bound.
 */
#include <math.h>

#include "doctor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void both_ways(struct doctor_run *run, int rank_a, const int64_t *a, int rank_b,
		      const int64_t *b, const char *what)
{
	int64_t k = a[rank_a - 1];
	doctor_give(run,
		    tn_matmul(doctor_whole(run, TN_F32, -4, 4, rank_a, a),
			      doctor_whole(run, TN_F32, -4, 4, rank_b, b)),
		    DOCTOR_EXACT, 0, "%s, whole, k = %lld", what, (long long)k);
	doctor_give(
		run,
		tn_matmul(doctor_reals(run, -1, 1, rank_a, a), doctor_reals(run, -1, 1, rank_b, b)),
		DOCTOR_OF_MAGNITUDE, (double)k + 2, "%s, k = %lld", what, (long long)k);
}

void doctor_matrices(struct doctor_run *run)
{
	static const int64_t sizes[][3] = {{1, 1, 1},    {5, 7, 3},     {2, 1, 9},
					   {64, 64, 64}, {65, 33, 129}, {1, 300, 40},
					   {300, 1, 40}, {17, 128, 96}};
	for (size_t i = 0; i < COUNT(sizes); i++)
		both_ways(run, 2, (int64_t[]){sizes[i][0], sizes[i][2]}, 2,
			  (int64_t[]){sizes[i][2], sizes[i][1]}, "product");
	both_ways(run, 1, (int64_t[]){50}, 2, (int64_t[]){50, 20}, "row by matrix");
	both_ways(run, 2, (int64_t[]){20, 50}, 1, (int64_t[]){50}, "matrix by column");
	if (!(run->matmul_dtypes >> TN_F64 & 1))
		return;
	tn_array *a = tn_astype(doctor_reals(run, -1, 1, 2, (int64_t[]){31, 70}), TN_F64);
	tn_array *b = tn_astype(doctor_reals(run, -1, 1, 2, (int64_t[]){70, 29}), TN_F64);
	doctor_give(run, tn_matmul(a, b), DOCTOR_OF_MAGNITUDE, 72, "product of f64");
}

void doctor_transposes(struct doctor_run *run)
{
	const int64_t m = 21, n = 34, k = 55;
	for (int flags = 0; flags < 4; flags++) {
		int ta = flags & 1, tb = flags >> 1;
		tn_array *a =
			doctor_whole(run, TN_F32, -4, 4, 2, (int64_t[]){ta ? k : m, ta ? m : k});
		tn_array *b =
			doctor_whole(run, TN_F32, -4, 4, 2, (int64_t[]){tb ? n : k, tb ? k : n});
		tn_array *c = tn_zeros(run->context, TN_F32, 2, (int64_t[]){m, n});
		tn_array *va = ta ? tn_transpose(a, NULL) : a, *vb = tb ? tn_transpose(b, NULL) : b;
		(void)tn_matmul_into(c, a, ta, b, tb, 1, 0);
		doctor_give(run, c, DOCTOR_EXACT, 0, "product, transposed by flags %d", flags);
		doctor_give(run, tn_matmul(va, vb), DOCTOR_EXACT, 0,
			    "product, transposed by views %d", flags);
	}
}

void doctor_batches(struct doctor_run *run)
{
	both_ways(run, 3, (int64_t[]){3, 5, 7}, 3, (int64_t[]){3, 7, 9}, "batch of 3");
	both_ways(run, 4, (int64_t[]){2, 3, 5, 7}, 2, (int64_t[]){7, 9}, "one right factor");
	both_ways(run, 2, (int64_t[]){5, 7}, 4, (int64_t[]){2, 3, 7, 9}, "one left factor");
	both_ways(run, 4, (int64_t[]){4, 1, 16, 24}, 4, (int64_t[]){1, 5, 24, 8}, "broadcast");
	both_ways(run, 6, (int64_t[]){2, 1, 2, 2, 3, 4}, 6, (int64_t[]){2, 2, 1, 2, 4, 5},
		  "four batch axes");
}

static tn_array *filled(struct doctor_run *run, tn_dtype dtype, int64_t rows, int64_t columns,
			double value)
{
	return tn_full(run->context, dtype, 2, (int64_t[]){rows, columns}, value);
}

void doctor_into(struct doctor_run *run)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64};
	for (size_t d = 0; d < COUNT(dtypes); d++) {
		const char *name = tn_dtype_name(dtypes[d]);
		tn_array *a = doctor_whole(run, dtypes[d], -4, 4, 2, (int64_t[]){13, 22});
		tn_array *b = doctor_whole(run, dtypes[d], -4, 4, 2, (int64_t[]){22, 17});
		tn_array *c = filled(run, dtypes[d], 13, 17, 3);
		(void)tn_matmul_into(c, a, 0, b, 0, 2, -1);
		doctor_give(run, c, DOCTOR_EXACT, 0, "2 a b - c of %s", name);
		c = filled(run, dtypes[d], 13, 17, NAN);
		(void)tn_matmul_into(c, a, 0, b, 0, 1, 0);
		doctor_give(run, c, DOCTOR_EXACT, 0, "a b over NaN of %s", name);
		/* A part of a larger matrix: the rest keeps its 5s. */
		tn_array *whole = filled(run, dtypes[d], 20, 30, 5);
		tn_array *part = tn_slice(tn_slice(whole, 0, 3, 16, 1), 1, 4, 21, 1);
		(void)tn_matmul_into(part, a, 0, b, 0, 1, 0);
		doctor_give(run, whole, DOCTOR_EXACT, 0, "a b into a part of %s", name);
		whole = filled(run, dtypes[d], 20, 17, 5);
		(void)tn_matmul_into(tn_slice(whole, 0, 3, 16, 1), a, 0, b, 0, 1, 0);
		doctor_give(run, whole, DOCTOR_EXACT, 0, "a b into rows of %s", name);
	}
}

void doctor_linear(struct doctor_run *run)
{
	tn_array *in[3] = {doctor_reals(run, -1, 1, 2, (int64_t[]){9, 40}),
			   doctor_reals(run, -1, 1, 2, (int64_t[]){30, 40}),
			   doctor_reals(run, -1, 1, 1, (int64_t[]){30})};
	tn_tape *tape = doctor_record(run, 3, in);
	tn_array *y = tn_linear(in[0], in[1], in[2]);
	doctor_give(run, y, DOCTOR_OF_MAGNITUDE, 44, "linear");
	doctor_give_gradients(run, tape, y, 3, in, DOCTOR_OF_MAGNITUDE, 44, "linear");
}
