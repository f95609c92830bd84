/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Small networks.  Two of them are trained, and then frozen for inference; losses and outputs agree
 * with the built-in backend.
 */
#include "doctor.h"

enum { BATCH = 8, STEPS = 6, CLASSES = 5 };

static const int64_t images[] = {BATCH, 2, 12, 12};

/* A convolution without bias and its batch norm. */
static void add_convolution(tn_context *context, tn_module *chain, int64_t in, int64_t out,
			    int64_t groups)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	struct tn_module_conv2d_options options = tn_module_conv2d_defaults();
	window.padding[0] = window.padding[1] = 1;
	window.groups = groups;
	options.window = &window;
	options.no_bias = 1;
	(void)tn_module_sequential_add(chain, NULL,
				       tn_module_conv2d(context, in, out, 3, 3, &options));
	(void)tn_module_sequential_add(chain, NULL, tn_module_batch_norm2d(context, out, NULL));
}

/* conv - norm - ReLU - conv - norm plus the input; the second convolution is dense. */
static tn_module *make_block(tn_context *context, uint32_t activation)
{
	tn_module *block = tn_module_residual(context, activation);
	add_convolution(context, block, 8, 8, 8);
	(void)tn_module_sequential_add(block, NULL, tn_module_relu(context));
	add_convolution(context, block, 8, 8, 1);
	return block;
}

/* conv - norm - ReLU - two residual blocks - pool - linear - ReLU - linear */
static tn_module *make_convolutional(tn_context *context)
{
	struct tn_pool2d_options pool = tn_pool2d_defaults();
	pool.kernel[0] = pool.kernel[1] = 2;
	tn_module *net = tn_module_sequential(context);
	add_convolution(context, net, 2, 8, 1);
	(void)tn_module_sequential_add(net, NULL, tn_module_relu(context));
	(void)tn_module_sequential_add(net, NULL, make_block(context, TN_ACTIVATION_RELU));
	(void)tn_module_sequential_add(net, NULL, make_block(context, TN_ACTIVATION_NONE));
	(void)tn_module_sequential_add(net, NULL, tn_module_max_pool2d(context, &pool));
	(void)tn_module_sequential_add(net, NULL, tn_module_flatten(context));
	(void)tn_module_sequential_add(net, NULL, tn_module_linear(context, 288, 20, NULL));
	(void)tn_module_sequential_add(net, NULL, tn_module_relu(context));
	(void)tn_module_sequential_add(net, NULL, tn_module_linear(context, 20, CLASSES, NULL));
	return net;
}

static tn_module *make_perceptron(tn_context *context)
{
	tn_module *net = tn_module_sequential(context);
	(void)tn_module_sequential_add(net, NULL, tn_module_flatten(context));
	(void)tn_module_sequential_add(net, NULL, tn_module_linear(context, 288, 64, NULL));
	(void)tn_module_sequential_add(net, NULL, tn_module_tanh(context));
	(void)tn_module_sequential_add(net, NULL, tn_module_dropout(context, 0.25));
	(void)tn_module_sequential_add(net, NULL, tn_module_linear(context, 64, CLASSES, NULL));
	return net;
}

static tn_array *train_step(tn_context *context, tn_module *net, tn_optimizer *optimizer,
			    const tn_array *x, const tn_array *labels)
{
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(net, x), labels, NULL);
	(void)tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	(void)tn_optimizer_step(optimizer);
	return loss;
}

/* The losses differ by the accumulated rounding of all steps; dropout and initial weights are
 * identical. */
static void train(struct doctor_run *run, tn_module *net, tn_optimizer *optimizer, const char *name)
{
	tn_array *x = doctor_reals(run, -1, 1, 4, images);
	tn_array *labels = doctor_whole(run, TN_I32, 0, CLASSES - 1, 1, (int64_t[]){BATCH});
	for (int i = 0; i < STEPS; i++)
		doctor_give(run, train_step(run->context, net, optimizer, x, labels),
			    DOCTOR_OF_VALUE, 1000, "loss %d of %s", i, name);
}

void doctor_training(struct doctor_run *run)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.02;
	sgd.momentum = 0.9;
	sgd.weight_decay = 1e-3;
	for (int i = 0; i < 2; i++) {
		tn_module *net =
			i ? make_perceptron(run->context) : make_convolutional(run->context);
		(void)tn_module_build(net);
		tn_module_set_training(net, 1);
		tn_optimizer *optimizer = i ? tn_adamw(net, NULL) : tn_sgd(net, &sgd);
		train(run, net, optimizer,
		      i ? "a perceptron with AdamW" : "a convolutional network with SGD");
		tn_optimizer_destroy(optimizer);
		tn_module_destroy(net);
	}
}

static void answer(struct doctor_run *run, tn_module *net, const char *what)
{
	for (int i = 0; i < 2; i++) {
		tn_array *x = doctor_reals(run, -1, 1, 4, images);
		doctor_give(run, tn_module_forward(net, x), DOCTOR_OF_LARGEST, 2000,
			    "output %d of a%s network", i, what);
	}
}

/* The second network reuses the memory of the first, with different weights in it. */
void doctor_inference(struct doctor_run *run)
{
	for (int i = 0; i < 2; i++) {
		tn_module *net = make_convolutional(run->context);
		(void)tn_module_build(net);
		answer(run, net, "");
		(void)tn_module_freeze(net);
		answer(run, net, " frozen");
		tn_module_destroy(net);
	}
}
