/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * --mode=support: which operations run in which dtypes, and on which route.  Each is run once on a
 * small shape through a context, because a backend has no list of its operations.
 */
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>

#include "base/dtype.h"
#include "layers/conv2d.h"
#include "layers/cross_entropy.h"
#include "layers/norm.h"
#include "layers/pool2d.h"
#include "layers/softmax.h"
#include "layers/window.h"
#include "modes.h"

static const int64_t plane[4] = {2, 4, 6, 6}, kernels[4] = {4, 4, 3, 3}, matrix[2] = {6, 6};

struct operands {
	tn_array *a, *b, *labels; /* i32, of one axis */
	tn_dtype dtype;
};

static void run_add(const struct operands *o)
{
	tn_add(o->a, o->b);
}

static void run_exp(const struct operands *o)
{
	tn_exp(o->a);
}

static void run_less(const struct operands *o)
{
	tn_less(o->a, o->b);
}

static void run_astype(const struct operands *o)
{
	tn_astype(o->a, o->dtype == TN_F32 ? TN_I32 : TN_F32);
}

static void run_copy(const struct operands *o)
{
	tn_copy(o->a);
}

static void run_take(const struct operands *o)
{
	tn_take(o->a, o->labels, 0, TN_RAISE);
}

static void run_sum(const struct operands *o)
{
	const int axis = 0;
	tn_sum(o->a, 1, &axis, 0);
}

static void run_max(const struct operands *o)
{
	const int axis = 1;
	tn_max(o->a, 1, &axis, 0);
}

static void run_argmax(const struct operands *o)
{
	tn_argmax(o->a, 1, 0);
}

static void run_matmul(const struct operands *o)
{
	tn_matmul(o->a, o->b);
}

static void run_conv2d(const struct operands *o)
{
	const struct tn_window window = {.padding = {1, 1, 1, 1}};
	tn_conv2d_forward(o->a, o->b, NULL, &window);
}

static void run_conv2d_dx(const struct operands *o)
{
	const struct tn_window window = {.padding = {1, 1, 1, 1}};
	tn_conv2d_input_gradient(o->a, o->b, plane, &window);
}

static void run_conv2d_dw(const struct operands *o)
{
	const struct tn_window window = {.padding = {1, 1, 1, 1}};
	tn_conv2d_weight_gradient(o->b, o->a, o->a, &window, 0);
}

static void run_max_pool(const struct operands *o)
{
	const struct tn_window window = {.kernel = {2, 2}, .kind = TN_POOL_MAX};
	tn_pool2d_forward(o->a, &window, NULL);
}

static void run_average_pool(const struct operands *o)
{
	const struct tn_window window = {.kernel = {2, 2}, .kind = TN_POOL_AVERAGE};
	tn_pool2d_forward(o->a, &window, NULL);
}

static void run_batch_norm(const struct operands *o)
{
	tn_array *mean = NULL, *rstd = NULL;
	tn_norm_forward(0, o->a, NULL, NULL, 1e-5, 0, &mean, &rstd);
}

static void run_layer_norm(const struct operands *o)
{
	tn_array *mean = NULL, *rstd = NULL;
	tn_norm_forward(1, o->a, NULL, NULL, 1e-5, 0, &mean, &rstd);
}

static void run_softmax(const struct operands *o)
{
	tn_softmax_forward(o->a, 1, 0);
}

static void run_cross_entropy(const struct operands *o)
{
	tn_array *loss, *maximum, *log_sum;
	(void)!tn_cross_entropy_forward(o->a, o->labels, -1, &loss, &maximum, &log_sum);
}

static const struct operation {
	const char *name;
	void (*run)(const struct operands *operands);
	int is_of_planes; /* a is a batch of planes, b the kernels of a convolution */
} operations[] = {
	{"add", run_add, 0},
	{"exp", run_exp, 0},
	{"less", run_less, 0},
	{"astype", run_astype, 0},
	{"copy", run_copy, 0},
	{"take", run_take, 0},
	{"sum", run_sum, 0},
	{"max", run_max, 0},
	{"argmax", run_argmax, 0},
	{"matmul", run_matmul, 0},
	{"conv2d", run_conv2d, 1},
	{"conv2d_input_gradient", run_conv2d_dx, 1},
	{"conv2d_weight_gradient", run_conv2d_dw, 1},
	{"max_pool2d", run_max_pool, 1},
	{"avg_pool2d", run_average_pool, 1},
	{"batch_norm", run_batch_norm, 1},
	{"layer_norm", run_layer_norm, 0},
	{"softmax", run_softmax, 0},
	{"cross_entropy", run_cross_entropy, 0},
};
enum { N_OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

/* The result: a route's name, or "no"; empty: not tested. */
typedef char answers[N_OPERATIONS][TN_DTYPES][12];

/* ---- In the child ----------------------------------------------------------------------------*/

/* Zeros, uploaded rather than computed. */
static tn_array *zeros(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape)
{
	static const double bytes[512];
	return tn_from_host(context, dtype, rank, shape, bytes);
}

static const char *ask_one(struct kit *kit, tn_context *context, const struct operation *operation,
			   tn_dtype dtype)
{
	const char *answer = "no";
	int planes = operation->is_of_planes;
	if (tn_scope_begin(context))
		kit_give_up(kit, "%s", tn_error_text(context));
	const struct operands operands = {
		.a = zeros(context, dtype, planes ? 4 : 2, planes ? plane : matrix),
		.b = zeros(context, dtype, planes ? 4 : 2, planes ? kernels : matrix),
		.labels = zeros(context, TN_I32, 1, matrix),
		.dtype = dtype};
	tn_ledger_reset(context);
	if (operands.a && operands.b && operands.labels)
		operation->run(&operands);
	tn_synchronize(context);
	if (!tn_error(context))
		answer = route_names[mode_route(context)];
	tn_error_clear(context);
	tn_scope_end(context, NULL);
	return answer;
}

static const char *filter; /* inherited by the child */

static void ask(struct kit *kit)
{
	tn_context *context = kit_lending_context(kit);
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		if (filter && fnmatch(filter, operations[i].name, 0))
			continue;
		for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
			if (!tn_compute_dtype(dtype))
				continue;
			kit_case(kit, KIT_CONTEXT, "%s of %s", operations[i].name,
				 tn_dtype_name(dtype));
			kit_remark(kit, "%zu %d %s", i, (int)dtype,
				   ask_one(kit, context, &operations[i], dtype));
			kit_pass(kit);
		}
	}
	kit_contexts_close();
}

/* ---- In the parent ---------------------------------------------------------------------------*/

static size_t take(const struct run *run, answers all)
{
	const struct result *result = &run->results[0];
	size_t n = 0;
	for (size_t r = 0; r < result->n_remarks; r++) {
		size_t i, j;
		char answer[12];
		if (sscanf(result->remarks[r], "%zu %zu %11s", &i, &j, answer) == 3 &&
		    i < N_OPERATIONS && j < TN_DTYPES) {
			memcpy(all[i][j], answer, sizeof(answer));
			n++;
		}
	}
	return n;
}

static void print_table(answers all)
{
	printf("%-24s", "operation");
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (tn_compute_dtype(dtype))
			printf(" %-8s", tn_dtype_name(dtype));
	}
	printf("\n");
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		if (!all[i][TN_BOOL][0])
			continue;
		printf("%-24s", operations[i].name);
		for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
			if (tn_compute_dtype(dtype))
				printf(" %-8s", all[i][dtype]);
		}
		printf("\n");
	}
}

static void print_json(const struct options *options, answers all)
{
	json_t *rows = json_object(), *whole;
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		json_t *row = json_object();
		for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
			if (all[i][dtype][0])
				json_object_set_new(row, tn_dtype_name(dtype),
						    json_string(all[i][dtype]));
		}
		if (all[i][TN_BOOL][0])
			json_object_set(rows, operations[i].name, row);
		json_decref(row);
	}
	whole = json_pack("{s:s, s:s, s:I, s:o}", "mode", "support", "backend", options->which,
			  "device", (json_int_t)options->device, "operations", rows);
	json_dumpf(whole, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(whole);
}

int mode_support(const struct options *options)
{
	static const struct check what = {"mode.support", 0, "operations are asked for", ask};
	static answers all;
	struct run run;
	filter = options->filter;
	int status = mode_run(&run, options, &what);
	size_t n = take(&run, all);
	mode_end(&run);
	if (options->json)
		print_json(options, all);
	else if (n)
		print_table(all);
	return status == EXIT_PASSED && !n ? EXIT_FAILED : status;
}
