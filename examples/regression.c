/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A regression on a table: the last column of a CSV file with a header from the others, by a small
 * network.  It trains on the first four fifths of the rows, and prints R^2 on the others.
 *
 *     regression table.csv
 */
#include <stdio.h>
#include <tenon/tenon.h>

enum { STEPS = 300 };

/* Columns of mean 0 and deviation 1. */
static tn_array *standardise(const tn_array *table)
{
	const int rows[] = {0};
	tn_array *centred = tn_subtract(table, tn_mean(table, 1, rows, 1));
	return tn_divide(centred, tn_sqrt(tn_mean(tn_square(centred), 1, rows, 1)));
}

static tn_status train(tn_context *ctx, tn_module *net, const tn_array *x, const tn_array *y)
{
	struct tn_adam_options options = tn_adam_defaults();
	options.lr = 0.01;
	tn_optimizer *adam = tn_adam(net, &options);
	tn_status status = adam ? TN_OK : TN_PENDING_ERROR;
	tn_module_set_training(net, 1);
	for (int i = 0; i < STEPS && !status; i++) {
		status = tn_scope_begin(ctx);
		if (status)
			break;
		tn_tape *tape = tn_tape_begin(ctx);
		tn_module_zero_gradients(net);
		tn_array *loss = tn_mse_loss(tn_module_forward(net, x), y, TN_REDUCTION_MEAN);
		status = tn_tape_backward(tape, loss, NULL);
		tn_tape_end(tape);
		status = status ? status : tn_optimizer_step(adam);
		tn_scope_end(ctx, NULL);
	}
	tn_module_set_training(net, 0);
	tn_optimizer_destroy(adam);
	return status;
}

/* 1 - the mean squared error / the variance */
static tn_status r_squared(const tn_array *found, const tn_array *y, double *result)
{
	tn_array *deviation = tn_subtract(y, tn_mean(y, TN_ALL_AXES, NULL, 1));
	tn_array *error = tn_mse_loss(found, y, TN_REDUCTION_MEAN);
	tn_array *variance = tn_mean(tn_square(deviation), TN_ALL_AXES, NULL, 0);
	return tn_item(tn_affine(tn_divide(error, variance), -1, 1), result);
}

static tn_status run(tn_context *ctx, const struct tn_host_array *values, double *result)
{
	const int64_t n = values->shape[0], columns = values->shape[1], split = n * 4 / 5;
	tn_array *table = tn_from_host(ctx, TN_F32, 2, values->shape, values->data);
	tn_array *all = standardise(table);
	tn_array *x = tn_slice(all, 1, 0, columns - 1, 1);
	tn_array *y = tn_slice(all, 1, columns - 1, columns, 1);
	tn_module *net = tn_module_sequential(ctx);
	tn_module_sequential_add(net, "fc1", tn_module_linear(ctx, columns - 1, 32, NULL));
	tn_module_sequential_add(net, "silu", tn_module_silu(ctx));
	tn_module_sequential_add(net, "fc2", tn_module_linear(ctx, 32, 1, NULL));
	tn_status status = tn_module_build(net);
	if (!status)
		status = train(ctx, net, tn_slice(x, 0, 0, split, 1), tn_slice(y, 0, 0, split, 1));
	if (!status)
		status = r_squared(tn_module_forward(net, tn_slice(x, 0, split, n, 1)),
				   tn_slice(y, 0, split, n, 1), result);
	tn_module_destroy(net);
	return status;
}

int main(int argc, char **argv)
{
	struct tn_csv table = {.struct_size = sizeof(table)};
	struct tn_error_info error;
	tn_context *ctx = NULL;
	double result = 0;
	const char *path = argc > 1 ? argv[1] : "table.csv";
	struct tn_csv_options options = tn_csv_defaults();
	options.dtype = TN_F32;
	options.header = 1;
	tn_status status = tn_csv_read(path, &options, &table, &error);
	if (!status)
		status = tn_context_open(NULL, &ctx, &error);
	if (!status && run(ctx, &table.values, &result)) {
		error = *tn_error(ctx);
		status = error.status;
	}
	if (status)
		fprintf(stderr, "%s: %s\n", error.operation, error.text);
	else
		printf("R^2 %.3f\n", result);
	tn_csv_release(&table);
	tn_context_close(ctx);
	return status || result < 0.9;
}
