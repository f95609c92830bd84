/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scaled dot-product attention and its gradients, a row of scores at a time.
 */
#include <math.h>

#include "reference/view.h"

enum { LOWEST_RANK = 2, HIGHEST_RANK = 6, OPERANDS = 11 };

/* ---- Checks ----------------------------------------------------------------------------------*/

/* An operand of the call: all after the batch axes is (rows, columns), or one axis without them. */
struct part {
	const char *name;
	const struct tn_operand *operand;
	int access;
	int is_used;
	int64_t rows, columns; /* columns 0: rows alone */
};

static tn_status check_part(const struct tn_attention_args *args, const char *operation,
			    const struct part *part)
{
	const struct tn_call *call = &args->call;
	uint32_t batch = args->q.rank - 2;
	int64_t shape[HIGHEST_RANK];
	if (!part->is_used)
		return TN_OK;
	memcpy(shape, args->q.shape, batch * sizeof(*shape));
	shape[batch] = part->rows;
	shape[batch + 1] = part->columns;
	tn_status status = tn_reference_check_real(call, operation, part->name, part->operand,
						   args->q.dtype, part->access);
	return status ? status
		      : tn_reference_check_shape(call, operation, part->name, part->operand,
						 part->columns ? batch + 2 : batch + 1, shape);
}

static tn_status check_arguments(const struct tn_attention_args *args, const char *operation,
				 int is_backward)
{
	const struct tn_call *call = &args->call;
	const uint32_t rank = args->q.rank, wants = args->wants;
	if (rank < LOWEST_RANK || rank > HIGHEST_RANK || args->k.rank != rank ||
	    args->v.rank != rank)
		return tn_reference_fail(call, TN_SHAPE, operation,
					 "ranks %u, %u and %u: expected equal ranks of 2 to 6",
					 rank, args->k.rank, args->v.rank);
	if (args->has_mask > 1 || args->causal > 1 || (is_backward && wants > 7))
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "has_mask %u, causal %u, wants %u: expected 0 or 1, and "
					 "at most 7",
					 args->has_mask, args->causal, wants);
	const int64_t L = args->q.shape[rank - 2], E = args->q.shape[rank - 1];
	const int64_t S = args->k.shape[rank - 2], F = args->v.shape[rank - 1];
	const int saved = is_backward ? READ : WRITE;
	const struct part parts[OPERANDS] = {
		{"q", &args->q, READ, 1, L, E},
		{"k", &args->k, READ, 1, S, E},
		{"v", &args->v, READ, 1, S, F},
		{"mask", &args->mask, READ, (int)args->has_mask, L, S},
		{"y", &args->y, saved, 1, L, F},
		{"maximum", &args->maximum, saved, 1, L, 0},
		{"log_sum", &args->log_sum, saved, 1, L, 0},
		{"dy", &args->dy, READ, is_backward, L, F},
		{"dq", &args->dq, WRITE, is_backward && wants & 1, L, E},
		{"dk", &args->dk, WRITE, is_backward && wants & 2, S, E},
		{"dv", &args->dv, WRITE, is_backward && wants & 4, S, F},
	};
	tn_status status = TN_OK;
	for (int i = 0; i < OPERANDS && !status; i++)
		status = check_part(args, operation, &parts[i]);
	return status;
}

/* ---- The formulas ----------------------------------------------------------------------------*/

/* Compact copies of the operands, NULL where there is none, and a row of scores. */
struct attention {
	const struct tn_attention_args *args;
	int64_t n, L, S, E, F;
	double *q, *k, *v, *mask, *y, *maximum, *log_sum, *dy, *dq, *dk, *dv, *row;
};

static double dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* y[i] += factor x[i] */
static void add(double *y, double factor, const double *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] += factor * x[i];
}

/* row[j] := s[i,j] of one matrix of the batch */
static void scores(const struct attention *t, int64_t batch, int64_t i)
{
	const double *q = t->q + (batch * t->L + i) * t->E, *k = t->k + batch * t->S * t->E;
	const double *mask = t->mask ? t->mask + (batch * t->L + i) * t->S : NULL;
	for (int64_t j = 0; j < t->S; j++) {
		t->row[j] = t->args->scale * dot(q, k + j * t->E, t->E);
		if (mask)
			t->row[j] += mask[j];
		if (t->args->causal && j > i)
			t->row[j] = -INFINITY;
	}
}

/* row[j] := p[i,j] from s[i,j] and the statistics of the row */
static void probabilities(const struct attention *t, int64_t at)
{
	for (int64_t j = 0; j < t->S; j++)
		t->row[j] = exp((t->row[j] - t->maximum[at]) - t->log_sum[at]);
}

static void forward_row(const struct attention *t, int64_t batch, int64_t i)
{
	const int64_t at = batch * t->L + i;
	double largest = -INFINITY;
	scores(t, batch, i);
	for (int64_t j = 0; j < t->S; j++)
		if (t->row[j] > largest)
			largest = t->row[j];
	double sum = exp(t->row[0] - largest);
	for (int64_t j = 1; j < t->S; j++)
		sum += exp(t->row[j] - largest);
	t->maximum[at] = largest;
	t->log_sum[at] = log(sum);
	probabilities(t, at);
	for (int64_t j = 0; j < t->S; j++)
		add(t->y + at * t->F, t->row[j], t->v + (batch * t->S + j) * t->F, t->F);
}

/* From d p[i,j] / d s[i,l] = p[i,j] ((j == l) - p[i,l]), with sum_j p[i,j] v[j] = y[i]. */
static void backward_row(const struct attention *t, int64_t batch, int64_t i)
{
	const int64_t at = batch * t->L + i;
	const double *dy = t->dy + at * t->F, scale = t->args->scale;
	const double from_y = dot(dy, t->y + at * t->F, t->F);
	scores(t, batch, i);
	probabilities(t, at);
	for (int64_t j = 0; j < t->S; j++) {
		const int64_t other = batch * t->S + j;
		double p = t->row[j], ds = p * (dot(dy, t->v + other * t->F, t->F) - from_y);
		add(t->dq + at * t->E, scale * ds, t->k + other * t->E, t->E);
		add(t->dk + other * t->E, scale * ds, t->q + at * t->E, t->E);
		add(t->dv + other * t->F, p, dy, t->F);
	}
}

/* ---- The entries -----------------------------------------------------------------------------*/

static double *zeros(void *device, int64_t n)
{
	double *numbers = tn_reference_numbers(device, (uint64_t)n);
	for (int64_t i = 0; numbers && i < n; i++)
		numbers[i] = 0;
	return numbers;
}

/* 0: out of memory. */
static int begin(void *device, struct attention *t, const struct tn_attention_args *args,
		 int is_backward)
{
	const uint32_t rank = args->q.rank;
	t->args = args;
	t->n = 1;
	for (uint32_t axis = 0; axis + 2 < rank; axis++)
		t->n *= args->q.shape[axis];
	t->L = args->q.shape[rank - 2];
	t->E = args->q.shape[rank - 1];
	t->S = args->k.shape[rank - 2];
	t->F = args->v.shape[rank - 1];
	t->q = tn_reference_unpack(device, &args->q);
	t->k = tn_reference_unpack(device, &args->k);
	t->v = tn_reference_unpack(device, &args->v);
	if (args->has_mask)
		t->mask = tn_reference_unpack(device, &args->mask);
	t->row = zeros(device, t->S);
	if (is_backward) {
		t->y = tn_reference_unpack(device, &args->y);
		t->maximum = tn_reference_unpack(device, &args->maximum);
		t->log_sum = tn_reference_unpack(device, &args->log_sum);
		t->dy = tn_reference_unpack(device, &args->dy);
		t->dq = zeros(device, t->n * t->L * t->E);
		t->dk = zeros(device, t->n * t->S * t->E);
		t->dv = zeros(device, t->n * t->S * t->F);
	} else {
		t->y = zeros(device, t->n * t->L * t->F);
		t->maximum = zeros(device, t->n * t->L);
		t->log_sum = zeros(device, t->n * t->L);
	}
	return t->q && t->k && t->v && (t->mask || !args->has_mask) && t->row && t->y &&
	       t->maximum && t->log_sum && (!is_backward || (t->dy && t->dq && t->dk && t->dv));
}

static void end(void *device, const struct attention *t)
{
	double *const all[] = {t->q,       t->k,  t->v,  t->mask, t->y,  t->maximum,
			       t->log_sum, t->dy, t->dq, t->dk,   t->dv, t->row};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		tn_reference_release(device, all[i]);
}

tn_status tn_reference_attention_forward(void *device, const struct tn_attention_args *theirs)
{
	static const char operation[] = "attention_forward";
	struct tn_attention_args args;
	struct attention t = {0};
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, operation);
	if (!status)
		status = check_arguments(&args, operation, 0);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	if (begin(device, &t, &args, 0)) {
		for (int64_t i = 0; i < t.n * t.L; i++)
			forward_row(&t, i / t.L, i % t.L);
		tn_reference_write(&args.y, t.y, 0);
		tn_reference_write(&args.maximum, t.maximum, 0);
		tn_reference_write(&args.log_sum, t.log_sum, 0);
	} else {
		status = tn_reference_no_memory(&args.call, operation);
	}
	end(device, &t);
	return status;
}

tn_status tn_reference_attention_backward(void *device, const struct tn_attention_args *theirs)
{
	static const char operation[] = "attention_backward";
	struct tn_attention_args args;
	struct attention t = {0};
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, TN_ACCUMULATE, operation);
	if (!status)
		status = check_arguments(&args, operation, 1);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	const int adds = (args.call.flags & TN_ACCUMULATE) != 0;
	if (begin(device, &t, &args, 1)) {
		for (int64_t i = 0; i < t.n * t.L; i++)
			backward_row(&t, i / t.L, i % t.L);
		if (args.wants & 1)
			tn_reference_write(&args.dq, t.dq, adds);
		if (args.wants & 2)
			tn_reference_write(&args.dk, t.dk, adds);
		if (args.wants & 4)
			tn_reference_write(&args.dv, t.dv, adds);
	} else {
		status = tn_reference_no_memory(&args.call, operation);
	}
	end(device, &t);
	return status;
}
