/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The exponential of a matrix by Pade's approximation of degree 13, scaling and squaring (Higham,
 * The scaling and squaring method for the matrix exponential revisited, 2005):
 *
 *     exp(a) = (r(a / 2^e))^(2^e),   r = (v - u)^-1 (v + u),
 *     u = a sum of c[2 i + 1] a^(2 i),   v = the sum of c[2 i] a^(2 i)
 */
#include <tenon/linalg.h>

#include <tenon/manipulate.h>
#include <tenon/map.h>

#include "array/make.h"
#include "base/dtype.h"
#include "linalg/factor.h"
#include "ops/host_read.h"

static const double c[] = {64764752532480000,
			   32382376266240000,
			   7771770303897600,
			   1187353796428800,
			   129060195264000,
			   10559470521600,
			   670442572800,
			   33522128640,
			   1323241920,
			   40840800,
			   960960,
			   16380,
			   182,
			   1};

/* a^0 to a^6, the even ones. */
struct powers {
	const tn_array *at[4];
};

/* The sum of c[first + 2 i] a^(2 i) over i = from, ..., 3. */
static tn_array *sum_of(const struct powers *p, int first, int from)
{
	tn_array *sum = NULL;
	for (int i = from; i < 4; i++)
		sum = tn_sum_of(sum, tn_affine(p->at[i], c[first + 2 * i], 0));
	return sum;
}

/* The same over i = 0, ..., 6, where the powers above a^6 have it as a factor. */
static tn_array *half_of(const struct powers *p, int first)
{
	tn_array *high = sum_of(p, first + 6, 1);
	return tn_add(tn_matmul(p->at[3], high), sum_of(p, first, 0));
}

static tn_array *approximate(const tn_array *a)
{
	struct powers p = {{0}};
	if (!a)
		return NULL;
	p.at[0] = tn_identity_like(a);
	p.at[1] = tn_matmul(a, a);
	p.at[2] = tn_matmul(p.at[1], p.at[1]);
	p.at[3] = tn_matmul(p.at[2], p.at[1]);
	tn_array *u = tn_matmul(a, half_of(&p, 1)), *v = half_of(&p, 0);
	return tn_solve(tn_subtract(v, u), tn_add(v, u));
}

/* For each matrix, (..., 1, 1): the power of two that makes its norm small enough; -1 if the norm
 * is not finite. */
static tn_array *exponents_of(const tn_array *a)
{
	const char *const names[] = {"norm"};
	const int rows = -2, columns = -1;
	const tn_array *norm =
		tn_max(tn_sum(tn_abs(tn_array_untracked("expm", a)), 1, &rows, 1), 1, &columns, 1);
	return norm ? tn_map("e = norm <= 5.371920351148152 ? 0 : "
			     "norm < inf ? ceil(log2(norm / 5.371920351148152)) : -1",
			     1, names, &norm, 0, NULL, NULL)
		    : NULL;
}

static tn_array *scale(const tn_array *a, const tn_array *e)
{
	const char *const names[] = {"e"};
	tn_array *factor = tn_map("f = e < 0 ? nan : exp2(-e)", 1, names, &e, 0, NULL, NULL);
	return tn_multiply(a, factor);
}

static tn_array *compute(const tn_array *a)
{
	tn_array *e = exponents_of(a);
	double most = 0;
	if (!e || tn_host_read_item("expm", tn_max(e, TN_ALL_AXES, NULL, 0), &most))
		return NULL;
	tn_array *x = approximate(scale(a, e));
	for (int i = 0; i < most && x; i++)
		x = tn_where(tn_greater(e, tn_full_like(e, i, e->dtype)), tn_matmul(x, x), x);
	return x;
}

tn_array *tn_expm(const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, "expm");
	if (!runtime || tn_matrix_check("expm", "a", a, 1) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *own = tn_matrix_of(a, tn_matrix_dtype(a, NULL));
	return tn_scope_end(runtime->context, !own || !own->size ? tn_copy(own) : compute(own));
}
