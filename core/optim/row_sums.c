/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Builds the levels of groups once, as indices on the device, and adds up along them in each step.
 */
#include "optim/row_sums.h"

#include "array/make.h"
#include "base/memory.h"
#include "ops/reduce_run.h"
#include "ops/take.h"

enum { GROUP = 256 };

static int64_t groups_of(int64_t n)
{
	return (n + GROUP - 1) / GROUP;
}

static tn_array *hold(tn_array *array)
{
	return array ? tn_array_hold(array) : NULL;
}

static int64_t total(size_t n, const int64_t *counts)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += counts[i];
	return sum;
}

/* Adds a level above the last one, which has counts[i] sums of weight i. */
static tn_status add_level(struct tn_row_sums *sums, tn_context *context, size_t n, int64_t *counts)
{
	const int level = sums->n_levels;
	const int64_t n_before = sums->counts[level];
	int64_t n_groups = 0, before = 0, at = 0;
	for (size_t i = 0; i < n; i++)
		n_groups += groups_of(counts[i]);
	const int64_t size = n_groups * GROUP;
	int32_t *members = tn_mem_alloc((size_t)size * sizeof(*members));
	if (!members)
		return tn_runtime_fail(tn_runtime_of(context), TN_OUT_OF_MEMORY, "optimizer",
				       "no host memory for the groups of %lld rows",
				       (long long)n_before);
	for (size_t i = 0; i < n; i++) {
		const int64_t room = groups_of(counts[i]) * GROUP;
		for (int64_t k = 0; k < room; k++)
			members[at++] = (int32_t)(k < counts[i] ? before + k : n_before);
		before += counts[i];
		counts[i] = groups_of(counts[i]);
	}
	sums->members[level] = hold(tn_from_host(context, TN_I32, 1, &size, members));
	tn_mem_free(members);
	sums->counts[++sums->n_levels] = n_groups;
	return sums->members[level] ? TN_OK : tn_runtime_of(context)->error.status;
}

tn_status tn_row_sums_open(struct tn_row_sums *sums, tn_context *context, tn_dtype dtype, size_t n,
			   int64_t *n_rows)
{
	tn_status status = TN_OK;
	sums->counts[0] = total(n, n_rows);
	while (!status && sums->counts[sums->n_levels] > (int64_t)n)
		status = add_level(sums, context, n, n_rows);
	for (int i = 0; i <= sums->n_levels && !status; i++) {
		sums->sums[i] = hold(
			tn_zeros(context, dtype, 2, (const int64_t[]){2, sums->counts[i] + 1}));
		status = sums->sums[i] ? TN_OK : tn_runtime_of(context)->error.status;
	}
	return status;
}

void tn_row_sums_close(struct tn_row_sums *sums)
{
	for (int i = 0; i <= TN_ROW_SUMS_LEVELS; i++)
		tn_array_unhold(sums->sums[i]);
	for (int i = 0; i < TN_ROW_SUMS_LEVELS; i++)
		tn_array_unhold(sums->members[i]);
}

static tn_array *at_level(const struct tn_row_sums *sums, int level)
{
	return tn_slice(sums->sums[level], 1, 0, sums->counts[level], 1);
}

tn_array *tn_row_sums_input(const struct tn_row_sums *sums)
{
	return at_level(sums, 0);
}

tn_array *tn_row_sums_result(const struct tn_row_sums *sums)
{
	return at_level(sums, sums->n_levels);
}

static tn_status run_level(const struct tn_row_sums *sums, int level, uint32_t operation)
{
	static const struct tn_formula same = {.text = "sum = row", .inputs = "row"};
	const tn_array *members = sums->members[level];
	struct tn_runtime *rt = members->runtime;
	const int64_t n = sums->counts[level + 1], shape[] = {2, n, GROUP};
	tn_array *taken =
		tn_empty(rt->context, sums->sums[level]->dtype, 2, (const int64_t[]){2, n * GROUP});
	tn_array *output = at_level(sums, level + 1);
	const tn_array *groups = tn_reshape(taken, 3, shape);
	const struct tn_formula_reduction reduction = {.prologue = &same,
						       .inputs = &groups,
						       .outputs = &output,
						       .axes = 1u << 2,
						       .combiners = {TN_REDUCE_SUM}};
	if (!groups || !output)
		return rt->error.status;
	tn_status status =
		tn_gather_run(rt, TN_DO_TAKE, TN_SLOT_GATHER, sums->sums[level], members, taken, 1);
	if (!status)
		status = tn_formula_reduce(rt, operation, &reduction);
	return tn_end_into(rt, status);
}

tn_status tn_row_sums_run(const struct tn_row_sums *sums, uint32_t operation)
{
	tn_status status = TN_OK;
	for (int level = 0; level < sums->n_levels && !status; level++)
		status = run_level(sums, level, operation);
	return status;
}
