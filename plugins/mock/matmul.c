/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * matmul, by the formula: C := alpha A B + beta C, each element a sum in f64.
 */
#include <string.h>

#include "mock.h"

enum { FLAGS = TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC };

struct product {
	struct tn_operand a, b, c;
	double alpha, beta;
};

/* ---- Running ---------------------------------------------------------------------------------*/

static double get_element(const struct tn_operand *x, int64_t element)
{
	const void *first = (const void *)(uintptr_t)(x->buffer + x->offset);
	return x->dtype == TN_F32 ? (double)((const float *)first)[element]
				  : ((const double *)first)[element];
}

static void put_element(const struct tn_operand *x, int64_t element, double value)
{
	void *first = (void *)(uintptr_t)(x->buffer + x->offset);
	if (x->dtype == TN_F32)
		((float *)first)[element] = (float)value;
	else
		((double *)first)[element] = value;
}

/* The first element of inner matrix number n, counted over the batch axes. */
static int64_t matrix(const struct tn_operand *x, uint64_t n)
{
	int64_t first = 0;
	for (uint32_t axis = x->rank - 2; axis-- > 0;) {
		first += (int64_t)(n % (uint64_t)x->shape[axis]) * x->strides[axis];
		n /= (uint64_t)x->shape[axis];
	}
	return first;
}

/* sum over k of a[k] b[k] */
static double dot(const struct product *p, int64_t a, int64_t b)
{
	uint32_t row = p->a.rank - 2, column = p->a.rank - 1;
	int64_t a_step = p->a.strides[column], b_step = p->b.strides[row];
	double sum = 0;
	for (int64_t k = 0; k < p->a.shape[column]; k++)
		sum += get_element(&p->a, a + k * a_step) * get_element(&p->b, b + k * b_step);
	return sum;
}

/* Rows [begin, end), counted over all matrices of C. */
static void rows(void *argument, uint64_t begin, uint64_t end)
{
	const struct product *p = argument;
	uint32_t row = p->c.rank - 2, column = p->c.rank - 1;
	uint64_t m = (uint64_t)p->c.shape[row];
	for (uint64_t r = begin; r < end; r++) {
		int64_t i = (int64_t)(r % m);
		int64_t a = matrix(&p->a, r / m) + i * p->a.strides[row];
		int64_t b = matrix(&p->b, r / m);
		int64_t c = matrix(&p->c, r / m) + i * p->c.strides[row];
		for (int64_t j = 0; j < p->c.shape[column]; j++) {
			int64_t out = c + j * p->c.strides[column];
			double sum = 0;
			if (p->alpha != 0)
				sum = p->alpha * dot(p, a, b + j * p->b.strides[column]);
			if (p->beta != 0)
				sum += p->beta * get_element(&p->c, out);
			put_element(&p->c, out, sum);
		}
	}
}

static tn_status run_matmul(struct mock_device *device, struct mock_work *work,
			    struct tn_error_info *error)
{
	const struct tn_host *host = device->instance->host;
	struct product product = *(const struct product *)work->args;
	uint64_t n_rows = 1;
	(void)error;
	for (uint32_t axis = 0; axis + 1 < product.c.rank; axis++)
		n_rows *= (uint64_t)product.c.shape[axis];
	host->parallel_for(host->context, n_rows, 16, rows, &product);
	return TN_OK;
}

/* ---- Checking --------------------------------------------------------------------------------*/

static tn_status check_shapes(const struct tn_matmul_args *own)
{
	const struct tn_operand *a = &own->a, *b = &own->b, *c = &own->c;
	struct tn_error_info *error = own->call.error;
	if (c->rank < 2 || c->rank > 6 || a->rank != c->rank || b->rank != c->rank)
		return tn_plugin_fail(error, TN_SHAPE, "matmul",
				      "ranks %u, %u and %u: expected equal ranks of 2 to 6",
				      a->rank, b->rank, c->rank);
	uint32_t row = c->rank - 2, column = c->rank - 1;
	int fits = a->shape[row] == c->shape[row] && a->shape[column] == b->shape[row] &&
		   b->shape[column] == c->shape[column];
	for (uint32_t axis = 0; axis < row; axis++)
		fits &= a->shape[axis] == c->shape[axis] && b->shape[axis] == c->shape[axis];
	if (fits)
		return TN_OK;
	return tn_plugin_fail(
		error, TN_SHAPE, "matmul",
		"(%lld, %lld) times (%lld, %lld) does not give (%lld, %lld), or the batch "
		"axes differ",
		(long long)a->shape[row], (long long)a->shape[column], (long long)b->shape[row],
		(long long)b->shape[column], (long long)c->shape[row], (long long)c->shape[column]);
}

static tn_status pack(struct mock_packing *packing, const struct tn_matmul_args *own)
{
	const struct tn_operand *a, *b, *c;
	tn_status status = mock_pack_operands(packing, &own->a, 1, "A", &a);
	if (!status)
		status = mock_pack_operands(packing, &own->b, 1, "B", &b);
	if (!status)
		status = mock_pack_operands(packing, &own->c, 1, "C", &c);
	if (status)
		return status;
	struct product product = {*a, *b, *c, own->alpha, own->beta};
	packing->work->args = mock_pack_bytes(packing, &product, sizeof(product));
	return TN_OK;
}

tn_status mock_matmul(void *device, const struct tn_matmul_args *args)
{
	struct mock_device *mock = device;
	struct tn_matmul_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, FLAGS, "matmul");
	if (status)
		return status;
	struct tn_error_info *error = own.call.error;
	if (own.has_bias || own.activation || own.a_scale || own.b_scale)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "matmul",
				      "bias, activation and scales are not supported");
	status = mock_operand_check(&own.a, "A", error, "matmul");
	if (!status)
		status = mock_operand_check(&own.b, "B", error, "matmul");
	if (!status)
		status = mock_operand_check(&own.c, "C", error, "matmul");
	if (status)
		return status;
	if ((own.c.dtype != TN_F32 && own.c.dtype != TN_F64) || own.a.dtype != own.c.dtype ||
	    own.b.dtype != own.c.dtype)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "matmul",
				      "dtypes %d, %d and %d: expected f32 or f64 for all three",
				      own.a.dtype, own.b.dtype, own.c.dtype);
	status = check_shapes(&own);
	if (status)
		return status;
	tn_plugin_dry_run(&own.call, 0, 0);
	if (own.call.flags & TN_DRY_RUN)
		return TN_OK;
	struct mock_packing packing = {
		.device = mock, .error = own.call.error, .operation = "matmul"};
	status = mock_pack_begin(&packing, 3,
				 3 * mock_room(sizeof(struct tn_operand)) +
					 mock_room(sizeof(struct product)));
	if (status)
		return status;
	status = pack(&packing, &own);
	if (!status)
		return mock_pack_end(&packing, own.call.stream, run_matmul);
	mock_work_free(mock, packing.work);
	return status;
}
