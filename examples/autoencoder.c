/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An autoencoder: pictures of 16 x 16 through 12 numbers and back.  Convolutions of stride 2 halve
 * the pictures, transposed ones double them again.
 *
 * Exit 0: new pictures come back with less than a tenth of their variance lost.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

enum { SIDE = 16, BATCH = 32, CODE = 12, STEPS = 300 };

static tn_module *down(tn_context *context, int64_t in, int64_t out)
{
	struct tn_conv2d_options window = tn_conv2d_defaults();
	window.stride[0] = window.stride[1] = 2;
	window.padding[0] = window.padding[1] = 1;
	struct tn_module_conv2d_options options = tn_module_conv2d_defaults();
	options.window = &window;
	return tn_module_conv2d(context, in, out, 4, 4, &options);
}

static tn_module *up(tn_context *context, int64_t in, int64_t out)
{
	struct tn_conv_transpose2d_options window = tn_conv_transpose2d_defaults();
	window.stride[0] = window.stride[1] = 2;
	window.padding[0] = window.padding[1] = 1;
	struct tn_module_conv_transpose2d_options options = tn_module_conv_transpose2d_defaults();
	options.window = &window;
	return tn_module_conv_transpose2d(context, in, out, 4, 4, &options);
}

/* (N, 1, 16, 16) -> (N, 8, 8, 8) -> (N, 16, 4, 4) -> (N, 12, 1, 1), and the same backwards. */
static tn_module *make_autoencoder(tn_context *context)
{
	tn_module *net = tn_module_sequential(context);
	tn_module_sequential_add(net, "down1", down(context, 1, 8));
	tn_module_sequential_add(net, "act1", tn_module_silu(context));
	tn_module_sequential_add(net, "down2", down(context, 8, 16));
	tn_module_sequential_add(net, "act2", tn_module_silu(context));
	tn_module_sequential_add(net, "encode", tn_module_conv2d(context, 16, CODE, 4, 4, NULL));
	tn_module_sequential_add(net, "decode",
				 tn_module_conv_transpose2d(context, CODE, 16, 4, 4, NULL));
	tn_module_sequential_add(net, "act3", tn_module_silu(context));
	tn_module_sequential_add(net, "up1", up(context, 16, 8));
	tn_module_sequential_add(net, "act4", tn_module_silu(context));
	tn_module_sequential_add(net, "up2", up(context, 8, 1));
	return tn_module_build(net) ? NULL : net;
}

/* A bright spot at a random place, of a random width. */
static void make_pictures(float pictures[BATCH][SIDE * SIDE])
{
	for (int i = 0; i < BATCH; i++) {
		int x0 = 4 + rand() % 9, y0 = 4 + rand() % 9, width = 2 + rand() % 3;
		for (int k = 0; k < SIDE * SIDE; k++) {
			double dx = k % SIDE - x0, dy = k / SIDE - y0;
			pictures[i][k] = (float)exp(-(dx * dx + dy * dy) / (width * width));
		}
	}
}

static tn_array *mean_of(const tn_array *a)
{
	return tn_mean(a, TN_ALL_AXES, NULL, 0);
}

int main(void)
{
	static float pictures[BATCH][SIDE * SIDE];
	tn_context *context;
	if (tn_context_open(NULL, &context, NULL))
		return 1;
	tn_module *net = make_autoencoder(context);
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.lr = 0.005;
	tn_optimizer *optimizer = tn_adamw(net, &adamw);
	tn_array *x = tn_zeros(context, TN_F32, 4, (int64_t[]){BATCH, 1, SIDE, SIDE});
	double variance = 1, lost = 1;
	for (int step = 0; step <= STEPS && !tn_error(context); step++) {
		make_pictures(pictures);
		tn_assign_host(x, pictures, sizeof(pictures));
		tn_scope_begin(context);
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *loss = mean_of(tn_square(tn_subtract(tn_module_forward(net, x), x)));
		tn_tape_backward(tape, loss, NULL);
		tn_tape_end(tape);
		tn_optimizer_step(optimizer);
		/* Of pictures that were new to the network. */
		tn_array *spread = tn_subtract(x, mean_of(x));
		if (tn_item(loss, &lost) || tn_item(mean_of(tn_square(spread)), &variance))
			fprintf(stderr, "%s\n", tn_error_text(context));
		tn_scope_end(context, NULL);
		if (step % 100 == 0)
			printf("step %d: %.4f of the variance is lost\n", step, lost / variance);
	}
	int is_good = !tn_error(context) && lost < 0.1 * variance;
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_context_close(context);
	return is_good ? 0 : 1;
}
