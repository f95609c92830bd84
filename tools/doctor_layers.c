/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layers, forward and backward.
 */
#include "doctor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Convolution -----------------------------------------------------------------------------*/

struct convolution {
	const char *name;
	int64_t x[4], w[4];
	int64_t padding[2], stride, dilation, groups;
};

static const struct convolution convolutions[] = {
	{"conv2d 1x1", {2, 8, 9, 7}, {12, 8, 1, 1}, {0, 0}, 1, 1, 1},
	{"conv2d 3x3", {2, 3, 12, 11}, {6, 3, 3, 3}, {1, 1}, 1, 1, 1},
	{"conv2d 3x3 wide", {2, 24, 14, 14}, {32, 24, 3, 3}, {1, 1}, 1, 1, 1},
	{"conv2d 5x5", {3, 1, 16, 16}, {6, 1, 5, 5}, {2, 2}, 1, 1, 1},
	{"conv2d stride 2", {2, 5, 13, 10}, {7, 5, 3, 3}, {1, 0}, 2, 1, 1},
	{"conv2d dilation 2", {2, 4, 13, 12}, {4, 4, 3, 3}, {0, 0}, 1, 2, 1},
	{"conv2d groups 2", {2, 8, 9, 9}, {6, 4, 3, 3}, {1, 1}, 1, 1, 2},
	{"conv2d depthwise", {2, 12, 11, 11}, {12, 1, 7, 7}, {3, 3}, 1, 1, 12},
};

/* The largest number of terms in one element of y, dx or dw, some ten times over: transforms that
 * amplify rounding, such as Winograd's F(4x4, 3x3), are allowed. */
static double roundings_of(const struct convolution *c)
{
	double window = (double)(c->w[1] * c->w[2] * c->w[3]);
	double outputs = (double)(c->w[0] * c->w[2] * c->w[3]);
	double planes = (double)(c->x[0] * c->x[2] * c->x[3]);
	double terms = window > outputs ? window : outputs;
	return 10 * ((terms > planes ? terms : planes) + 4);
}

void doctor_conv2d(struct doctor_run *run)
{
	for (size_t i = 0; i < COUNT(convolutions); i++) {
		const struct convolution *c = &convolutions[i];
		tn_array *in[3] = {doctor_reals(run, -1, 1, 4, c->x),
				   doctor_reals(run, -1, 1, 4, c->w),
				   doctor_reals(run, -1, 1, 1, c->w)};
		const struct tn_conv2d_options options = {.struct_size = sizeof(options),
							  .stride = {c->stride, c->stride},
							  .padding = {c->padding[0], c->padding[1]},
							  .dilation = {c->dilation, c->dilation},
							  .groups = c->groups};
		tn_tape *tape = doctor_record(run, 3, in);
		tn_array *y = tn_conv2d(in[0], in[1], in[2], &options);
		doctor_give(run, y, DOCTOR_OF_MAGNITUDE, roundings_of(c), "%s", c->name);
		doctor_give_gradients(run, tape, y, 3, in, DOCTOR_OF_MAGNITUDE, roundings_of(c),
				      c->name);
	}
}

/* ---- Pooling ---------------------------------------------------------------------------------*/

static const struct tn_pool2d_options pools[] = {
	{.struct_size = sizeof(*pools), .kernel = {2, 2}},
	{.struct_size = sizeof(*pools), .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
	{.struct_size = sizeof(*pools), .kernel = {3, 2}, .stride = {1, 2}},
	{.struct_size = sizeof(*pools), .kernel = {3, 3}, .padding = {1, 1}, .exclude_padding = 1},
};
static const int64_t plane[] = {2, 5, 12, 11};

/* Few different values, so that ties occur; the gradient of one element has at most nine terms. */
void doctor_max_pools(struct doctor_run *run)
{
	for (size_t i = 0; i < COUNT(pools); i++) {
		tn_array *x = doctor_whole(run, TN_F32, -2, 2, 4, plane);
		tn_tape *tape = doctor_record(run, 1, &x);
		tn_array *y = tn_max_pool2d(x, &pools[i]);
		doctor_give(run, y, DOCTOR_EXACT, 0, "max pool, setting %zu", i);
		doctor_give_gradients(run, tape, y, 1, &x, DOCTOR_OF_LARGEST, 32, "max pool");
	}
}

static void give_pool(struct doctor_run *run, tn_tape *tape, tn_array *x, tn_array *y,
		      const char *name)
{
	doctor_give(run, y, DOCTOR_OF_MAGNITUDE, 140, "%s", name);
	doctor_give_gradients(run, tape, y, 1, &x, DOCTOR_OF_MAGNITUDE, 140, name);
}

void doctor_average_pools(struct doctor_run *run)
{
	tn_array *x = doctor_reals(run, -1, 1, 4, plane);
	for (size_t i = 0; i < COUNT(pools); i++) {
		tn_tape *tape = doctor_record(run, 1, &x);
		give_pool(run, tape, x, tn_avg_pool2d(x, &pools[i]), "average pool");
	}
	tn_tape *tape = doctor_record(run, 1, &x);
	give_pool(run, tape, x, tn_adaptive_avg_pool2d(x, 5, 4), "adaptive average pool");
	tape = doctor_record(run, 1, &x);
	give_pool(run, tape, x, tn_global_avg_pool(x), "global average pool");
}

/* ---- Softmax, attention and cross-entropy ----------------------------------------------------*/

void doctor_softmaxes(struct doctor_run *run)
{
	for (int i = 0; i < 6; i++) {
		tn_array *x = doctor_reals(run, -9, 9, 3, (int64_t[]){5, 17, 10});
		tn_tape *tape = doctor_record(run, 1, &x);
		tn_array *y = i & 1 ? tn_log_softmax(x, i / 2) : tn_softmax(x, i / 2);
		const char *name = i & 1 ? "log softmax" : "softmax";
		doctor_give(run, y, DOCTOR_OF_LARGEST, 48, "%s, axis %d", name, i / 2);
		doctor_give_gradients(run, tape, y, 1, &x, DOCTOR_OF_LARGEST, 96, name);
	}
}

void doctor_attentions(struct doctor_run *run)
{
	static const char *const names[] = {"attention", "attention, causal",
					    "attention with a mask"};
	for (int i = 0; i < 3; i++) {
		struct tn_attention_options options = tn_attention_defaults();
		tn_array *in[] = {doctor_reals(run, -2, 2, 4, (int64_t[]){2, 3, 9, 8}),
				  doctor_reals(run, -2, 2, 4, (int64_t[]){2, 3, 33, 8}),
				  doctor_reals(run, -2, 2, 4, (int64_t[]){2, 3, 33, 5})};
		options.causal = i == 1;
		if (i == 2)
			options.mask = doctor_reals(run, -2, 2, 2, (int64_t[]){9, 33});
		tn_tape *tape = doctor_record(run, 3, in);
		tn_array *y = tn_scaled_dot_product_attention(in[0], in[1], in[2], &options);
		doctor_give(run, y, DOCTOR_OF_LARGEST, 96, "%s", names[i]);
		doctor_give_gradients(run, tape, y, 3, in, DOCTOR_OF_LARGEST, 192, names[i]);
	}
}

void doctor_cross_entropies(struct doctor_run *run)
{
	static const int64_t sizes[][2] = {{1, 2}, {33, 10}, {7, 1000}};
	struct tn_cross_entropy_options options = tn_cross_entropy_defaults();
	options.ignore_label = 1;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		tn_array *x = doctor_reals(run, -9, 9, 2, sizes[i]);
		tn_array *labels = doctor_whole(run, TN_I32, 0, sizes[i][1] - 1, 1, sizes[i]);
		for (int ignored = 0; ignored < 2; ignored++) {
			tn_tape *tape = doctor_record(run, 1, &x);
			options.has_ignore_label = ignored;
			tn_array *loss = tn_cross_entropy(x, labels, &options);
			/* If all rows are ignored, the loss is NaN on both sides. */
			doctor_give(run, loss, DOCTOR_OF_VALUE, 64, "cross-entropy of %lld classes",
				    (long long)sizes[i][1]);
			doctor_give_gradients(run, tape, loss, 1, &x, DOCTOR_OF_LARGEST, 64,
					      "cross-entropy");
		}
	}
}
