/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Milliseconds of LeNet's layers at batch 128, forward and backward, and by which route they ran:
 * what the core's compositions cost on a backend.
 *
 *     TENON_BUILD=$PWD bench/layers [BACKEND [PART OF A NAME]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layers/conv2d.h"
#include "layers/cross_entropy.h"
#include "layers/pool2d.h"
#include "layers/window.h"

enum { BATCH = 128, ROUNDS = 50 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static const char *wanted = "";

struct layer {
	tn_array *x, *w, *bias, *dw, *y, *dy, *index, *labels, *loss, *maximum, *log_sum;
	struct tn_window window;
};

static void conv(const struct layer *l)
{
	tn_conv2d_forward(l->x, l->w, l->bias, &l->window);
}

static void conv_dx(const struct layer *l)
{
	tn_conv2d_input_gradient(l->dy, l->w, tn_array_shape(l->x), &l->window);
}

static void conv_dw(const struct layer *l)
{
	if (tn_conv2d_weight_gradient(l->dw, l->x, l->dy, &l->window, 0))
		exit(1);
}

static void pool(const struct layer *l)
{
	tn_array *index;
	tn_pool2d_forward(l->x, &l->window, &index);
}

static void pool_dx(const struct layer *l)
{
	tn_pool2d_backward(l->dy, l->index, tn_array_shape(l->x), &l->window);
}

static void loss(const struct layer *l)
{
	tn_array *loss, *maximum, *log_sum;
	if (tn_cross_entropy_forward(l->x, l->labels, -1, &loss, &maximum, &log_sum))
		exit(1);
}

static void loss_dx(const struct layer *l)
{
	tn_cross_entropy_backward(l->x, l->labels, l->maximum, l->log_sum, l->loss, -1);
}

static void time_it(tn_context *context, const char *name, void (*step)(const struct layer *l),
		    const struct layer *l)
{
	double best = 1e30;
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	const char *route = "native";
	if (!strstr(name, wanted))
		return;
	tn_ledger_reset(context);
	for (int i = 0; i < ROUNDS; i++) {
		if (tn_scope_begin(context))
			return;
		double start = now();
		step(l);
		if (tn_synchronize(context) || tn_error(context)) {
			printf("%s: %s\n", name, tn_error_text(context));
			exit(1);
		}
		double each = now() - start;
		best = each < best ? each : best;
		tn_scope_end(context, NULL);
	}
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		if (tn_ledger_at(context, i, &row))
			break;
		if (row.composed | row.host | row.lent | row.widened)
			route = row.host      ? "host"
				: row.lent    ? "lent"
				: row.widened ? "widened"
					      : "composed";
	}
	printf("%-32s %8.3f ms  %s\n", name, best, route);
}

static tn_array *noise(tn_context *context, int rank, const int64_t *shape)
{
	return tn_random_normal(context, rank, shape, 0, 1);
}

static void run_conv(tn_context *context, const char *name, const int64_t x[4], const int64_t w[4],
		     int64_t padding)
{
	struct layer l = {.x = noise(context, 4, x),
			  .w = noise(context, 4, w),
			  .dw = noise(context, 4, w),
			  .bias = noise(context, 1, w)};
	char text[64];
	for (int i = 0; i < 4; i++)
		l.window.padding[i] = padding;
	l.y = tn_conv2d_forward(l.x, l.w, l.bias, &l.window);
	l.dy = noise(context, 4, tn_array_shape(l.y));
	snprintf(text, sizeof(text), "%s", name);
	time_it(context, text, conv, &l);
	snprintf(text, sizeof(text), "%s input gradient", name);
	time_it(context, text, conv_dx, &l);
	snprintf(text, sizeof(text), "%s weight gradient", name);
	time_it(context, text, conv_dw, &l);
}

static void run_pool(tn_context *context, const char *name, const int64_t x[4])
{
	struct layer l = {.x = noise(context, 4, x),
			  .window = {.kernel = {2, 2}, .kind = TN_POOL_MAX}};
	char text[64];
	l.y = tn_pool2d_forward(l.x, &l.window, &l.index);
	l.dy = noise(context, 4, tn_array_shape(l.y));
	time_it(context, name, pool, &l);
	snprintf(text, sizeof(text), "%s backward", name);
	time_it(context, text, pool_dx, &l);
}

static void run_loss(tn_context *context)
{
	const int64_t x[] = {BATCH, 10}, labels[] = {BATCH};
	struct layer l = {.x = noise(context, 2, x),
			  .labels = tn_full(context, TN_I32, 1, labels, 3)};
	if (tn_cross_entropy_forward(l.x, l.labels, -1, &l.loss, &l.maximum, &l.log_sum))
		exit(1);
	time_it(context, "cross entropy", loss, &l);
	time_it(context, "cross entropy backward", loss_dx, &l);
}

int main(int argc, char **argv)
{
	const char *build = getenv("TENON_BUILD");
	char path[4096];
	const char *paths[] = {path};
	struct tn_context_options options = tn_context_defaults();
	options.backend = argc > 1 ? argv[1] : "cpu";
	options.plugin_paths = paths;
	options.n_plugin_paths = 1;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context;
	if (argc > 2)
		wanted = argv[2];
	snprintf(path, sizeof(path), "%s/.libs/backend_cpu.so", build ? build : ".");
	if (tn_context_open(&options, &context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	printf("%s\n", tn_device_name(tn_device_current(context)));
	run_conv(context, "conv 1->6 5x5 pad 2 28x28", (const int64_t[]){BATCH, 1, 28, 28},
		 (const int64_t[]){6, 1, 5, 5}, 2);
	run_conv(context, "conv 6->16 5x5 14x14", (const int64_t[]){BATCH, 6, 14, 14},
		 (const int64_t[]){16, 6, 5, 5}, 0);
	run_conv(context, "conv 64->64 3x3 pad 1 28x28", (const int64_t[]){16, 64, 28, 28},
		 (const int64_t[]){64, 64, 3, 3}, 1);
	run_conv(context, "conv 64->64 1x1 28x28", (const int64_t[]){16, 64, 28, 28},
		 (const int64_t[]){64, 64, 1, 1}, 0);
	run_pool(context, "pool 2x2 6x28x28", (const int64_t[]){BATCH, 6, 28, 28});
	run_pool(context, "pool 2x2 16x10x10", (const int64_t[]){BATCH, 16, 10, 10});
	run_loss(context);
	tn_context_close(context);
	return 0;
}
