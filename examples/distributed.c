/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A plane through points, found by ranks of which each has its part: mpirun -n 2 distributed
 */
#include <stdio.h>
#include <tenon/distributed.h>
#include <tenon/tenon.h>

enum { POINTS = 64, STEPS = 200 };

/* One step; the mean loss over the points of all ranks.  The context keeps errors. */
static double step(tn_communicator *ranks, tn_data_parallel *parallel, tn_module *net,
		   tn_optimizer *optimizer, tn_context *ctx)
{
	const uint32_t n = tn_communicator_size(ranks), rank = tn_communicator_rank(ranks);
	const int64_t begin = POINTS * rank / n, end = POINTS * (rank + 1) / n;
	double loss, share = (double)(end - begin) / POINTS;
	tn_array *all = tn_random_normal(ctx, 2, (int64_t[]){POINTS, 3}, 0, 1); /* of one seed */
	tn_array *x = tn_slice(all, 0, begin, end, 1);
	tn_array *y = tn_affine(tn_sum(x, 1, (int[]){1}, 1), 2, 5);
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(ctx);
	tn_array *own = tn_mse_loss(tn_module_forward(net, x), y, TN_REDUCTION_MEAN);
	if (tn_data_parallel_set_share(parallel, share) ||
	    tn_tape_backward(tape, own, NULL) || /* the gradients are summed meanwhile */
	    tn_data_parallel_finish(parallel) || tn_optimizer_step(optimizer) ||
	    tn_all_reduce(ranks, own = tn_affine(own, share, 0), TN_REDUCE_SUM) ||
	    tn_item(own, &loss))
		loss = -1;
	tn_tape_end(tape);
	return loss;
}

int main(void)
{
	struct tn_error_info error;
	tn_context *ctx;
	tn_communicator *ranks;
	double loss = -1;
	if (tn_context_open(NULL, &ctx, &error) || tn_communicator_open(ctx, NULL, &ranks, &error))
		return fprintf(stderr, "distributed: %s\n", error.text), 1;
	tn_module *net = tn_module_linear(ctx, 3, 1, NULL); /* of one seed, too */
	tn_module_build(net);
	tn_data_parallel *parallel = tn_data_parallel_create(net, ranks, NULL);
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.1;
	tn_optimizer *sgd = tn_sgd(net, &options);
	for (int i = 0; i < STEPS && !tn_scope_begin(ctx); i++, tn_scope_end(ctx, NULL))
		loss = step(ranks, parallel, net, sgd, ctx);
	if (tn_error(ctx))
		fprintf(stderr, "distributed: %s\n", tn_error_text(ctx));
	else if (tn_communicator_rank(ranks) == 0)
		printf("%u ranks: loss %.1e\n", tn_communicator_size(ranks), loss);
	tn_optimizer_destroy(sgd);
	tn_data_parallel_destroy(parallel);
	tn_module_destroy(net);
	tn_communicator_close(ranks);
	tn_context_close(ctx);
	return !(loss >= 0 && loss < 1e-9);
}
