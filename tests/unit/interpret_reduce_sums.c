/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sums that a plain loop in f32 would compute wrongly, and sums of many short rows.
 */
#include "interpret_reduce.h"

/* Three million ones plus small terms: a running f32 sum would stop at 2^24, and lose the small
 * terms long before.  Along both axes, with one thread and four, the same bits. */
static void large_sums_are_accurate_and_repeat(void **state)
{
	static const int64_t extents[][2] = {
		{1, 3000000}, {3000000, 1}, {3, 1000000}, {1000, 3000}, {1000000, 3}};
	(void)state;
	for (unsigned c = 0; c < 5; c++) {
		for (unsigned axis = 0; axis < 2; axis++) {
			struct text t;
			int64_t kept[2];
			unsigned n_kept;
			struct tensor x = tensor_make(TN_F32, 2, extents[c], CONTIGUOUS);
			float *v = (float *)(x.memory + MARGIN);
			for (int64_t i = 0; i < 3000000; i++)
				v[i] = 1.0f + (float)(i % 7) * 0.01f;
			struct tn_operand view =
				reduced_last(&x.operand, 1u << axis, kept, &n_kept);
			struct tensor y = tensor_make(TN_F32, n_kept, kept, CONTIGUOUS);
			struct tensor z = tensor_make(TN_F32, n_kept, kept, CONTIGUOUS);
			text_init(&t, 1, 0);
			text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
			struct job job = {.threads = one,
					  .prologue = &t.program,
					  .inputs = &view,
					  .outputs = &y.operand,
					  .n_reduced = 1,
					  .n_values = 1,
					  .combiners = {TN_REDUCE_SUM}};
			assert_ok(call(&job, TN_DETERMINISTIC, NULL));
			job.threads = four;
			job.outputs = &z.operand;
			assert_ok(call(&job, TN_DETERMINISTIC, NULL));
			assert_memory_equal(y.memory, z.memory, y.bytes);
			for (int64_t i = 0; i < kept[0] && i < 20; i++) {
				double sum = 0;
				for (int64_t r = 0; r < extents[c][axis]; r++)
					sum += v[axis == 0 ? r * kept[0] + i
							   : i * extents[c][1] + r];
				/* The bound that interpret.h states. */
				assert_close(((float *)(y.memory + MARGIN))[i], sum,
					     300 * 0x1p-24 * sum);
			}
			tensor_free(&x);
			tensor_free(&y);
			tensor_free(&z);
		}
	}
}

/* Many kept elements, each of 8000 terms that a running sum would lose a part of one by one: above
 * 4096 an ulp is 2^-11, and adding 1 + 2^-13 adds 1, which after 8000 terms is 1000 half ulps off.
 * Enough groups that none is split into chunks, so that all levels of the sum are used.  The kept
 * axis has stride 0 to save memory. */
static void sums_of_rows_have_three_levels(void **state)
{
	enum { KEPT = 40 * 1024, TERMS = 8000, APART = 16 };
	static float x[TERMS * APART], y[KEPT];
	struct text t;
	double sum = 0;
	(void)state;
	for (int i = 0; i < TERMS; i++) {
		x[i * APART] = 1 + 0x1p-13f;
		sum += 1 + 0x1p-13;
	}
	struct tn_operand in = {.buffer = (uint64_t)x,
				.dtype = TN_F32,
				.rank = 2,
				.shape = {KEPT, TERMS},
				.strides = {0, APART}};
	struct tn_operand out = {
		.buffer = (uint64_t)y, .dtype = TN_F32, .rank = 1, .shape = {KEPT}, .strides = {1}};
	text_init(&t, 1, 0);
	text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
	struct job job = {.threads = four,
			  .prologue = &t.program,
			  .inputs = &in,
			  .outputs = &out,
			  .n_reduced = 1,
			  .n_values = 1,
			  .combiners = {TN_REDUCE_SUM}};
	assert_ok(call(&job, 0, NULL));
	for (int i = 0; i < KEPT; i++)
		assert_close(y[i], sum, 300 * 0x1p-24 * sum);
}

/* Rows of three elements are processed many at a time: with numbers of rows near those at which the
 * last tile is low, and at which a run of additions starts with it.  All sums are exact. */
static void short_rows_are_added_in_piles(void **state)
{
	enum { GROUPS = 40, MOST = 43660, ROW = 3 };
	static const int64_t rows[] = {1,     5,     340,   341,   342,   689,
				       21823, 21824, 21829, 43647, 43648, 43653};
	static float x[MOST * ROW], y[GROUPS * ROW];
	struct text t;
	(void)state;
	for (int i = 0; i < MOST * ROW; i++)
		x[i] = (float)(i % ROW + 1) * (i % 2 ? 1 : 3);
	text_init(&t, 1, 0);
	text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		double sum[ROW] = {0};
		for (int64_t i = 0; i < rows[k] * ROW; i++)
			sum[i % ROW] += (double)x[i];
		struct tn_operand in = {.buffer = (uint64_t)x,
					.dtype = TN_F32,
					.rank = 3,
					.shape = {GROUPS, ROW, rows[k]},
					.strides = {0, 1, ROW}};
		struct tn_operand out = {.buffer = (uint64_t)y,
					 .dtype = TN_F32,
					 .rank = 2,
					 .shape = {GROUPS, ROW},
					 .strides = {ROW, 1}};
		struct job job = {.threads = four,
				  .prologue = &t.program,
				  .inputs = &in,
				  .outputs = &out,
				  .n_reduced = 1,
				  .n_values = 1,
				  .combiners = {TN_REDUCE_SUM}};
		assert_ok(call(&job, 0, NULL));
		for (int i = 0; i < GROUPS * ROW; i++)
			assert_close(y[i], sum[i % ROW], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_sums_are_accurate_and_repeat),
		cmocka_unit_test(sums_of_rows_have_three_levels),
		cmocka_unit_test(short_rows_are_added_in_piles),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
