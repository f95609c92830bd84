/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products, convolutions and norms with a bias, a residual or an activation: one call if the
 * backend supports all of it, otherwise several steps with the same values; group norm; packed
 * weights.
 */
#include "array_fixture.h"
#include "layers/conv2d.h"
#include "layers/linear.h"
#include "layers/norm.h"
#include "layers/prepack.h"
#include "layers/window.h"
#include "ops/matmul.h"

/* ---- Devices ---------------------------------------------------------------------------------*/

static const struct tn_nn_table *reference_nn(void)
{
	return tn_reference_backend.query(NULL, TN_TABLE_NN);
}

static tn_status plain_matmul(void *device, const struct tn_matmul_args *args)
{
	const struct tn_compute_table *table = tn_reference_backend.query(NULL, TN_TABLE_COMPUTE);
	return args->has_bias || args->activation ? TN_UNSUPPORTED : table->matmul(device, args);
}

static tn_status plain_conv2d(void *device, const struct tn_conv2d_args *args)
{
	return args->has_residual || args->activation
		       ? TN_UNSUPPORTED
		       : reference_nn()->conv2d_forward(device, args);
}

static tn_status plain_norm(void *device, const struct tn_norm_args *args)
{
	return args->has_residual || args->activation
		       ? TN_UNSUPPORTED
		       : reference_nn()->group_norm_forward(device, args);
}

static tn_status plain_norm_backward(void *device, const struct tn_norm_args *args)
{
	return args->activation || args->wants > 3
		       ? TN_UNSUPPORTED
		       : reference_nn()->group_norm_backward(device, args);
}

enum { WHOLE, STEPS, COMPOSED, FAR_AWAY, DEVICES };

/* The reference; one without fused operations; one with three slots; one with memory only. */
static void open_devices(struct fixture *f, struct tn_device *devices[DEVICES])
{
	struct tn_backend *steps;
	devices[WHOLE] = f->context.runtime.reference;
	devices[STEPS] = add_device(f, "steps", ALL_SLOTS, 0);
	steps = &f->backends[f->n_backends - 1];
	steps->compute.matmul = plain_matmul;
	steps->nn.conv2d_forward = plain_conv2d;
	steps->nn.group_norm_forward = plain_norm;
	steps->nn.group_norm_backward = plain_norm_backward;
	devices[COMPOSED] = add_device(f, "composed", MANDATORY, 0);
	devices[FAR_AWAY] = add_device(f, "far", MEMORY_ALONE, 1);
}

static const struct tn_device_case {
	uint64_t native, composed, host, epilogues;
} expected_route[DEVICES] = {
	[WHOLE] = {1, 0, 0, 0},
	[STEPS] = {1, 0, 0, 1},
	[COMPOSED] = {0, 1, 0, 1},
	[FAR_AWAY] = {0, 0, 1, 1},
};

/* `operation` took the route of that device, with that number of extra steps. */
static void check_steps(struct fixture *f, const char *operation, int device)
{
	struct tn_ledger_row row = ledger_row(f, operation), step = ledger_row(f, "epilogue");
	assert_null(tn_error(context_of(f)));
	assert_int_equal(row.native, expected_route[device].native);
	assert_int_equal(row.composed, expected_route[device].composed);
	assert_int_equal(row.host, expected_route[device].host);
	assert_int_equal(step.native + step.host, expected_route[device].epilogues);
}

static tn_array *home(struct fixture *f, const tn_array *a)
{
	return tn_to(a, f->context.runtime.reference);
}

/* ---- Products --------------------------------------------------------------------------------*/

static void products_take_a_bias_and_an_activation(void **state)
{
	struct fixture *f = *state;
	struct tn_device *devices[DEVICES];
	tn_array *a = noise(f, 1, SHAPE(5, 7)), *b = noise(f, 2, SHAPE(3, 7));
	tn_array *bias = noise(f, 3, SHAPE(3)), *expected[TN_ACTIVATION_GELU + 1];
	open_devices(f, devices);
	for (int k = 0; k < DEVICES; k++) {
		for (uint32_t act = 0; act <= TN_ACTIVATION_GELU; act++) {
			tn_array *c = tn_to(noise(f, 4, SHAPE(5, 3)), devices[k]);
			const tn_array *there[] = {tn_to(a, devices[k]), tn_to(b, devices[k]),
						   tn_to(bias, devices[k])};
			tn_ledger_reset(context_of(f));
			assert_ok(tn_matmul_epilogue(c, there[0], 0, there[1], 1, there[2], act));
			if (k != COMPOSED) /* its product is native */
				check_steps(f, "matmul", k);
			if (k == WHOLE)
				expected[act] = c;
			/* 7 products below 1, a sum and a function. */
			assert_arrays_close(home(f, c), expected[act], 20 * 6e-8);
		}
	}
	/* By the formula: silu(a b^T + bias). */
	tn_array *sum = tn_add(tn_matmul(a, tn_transpose(b, NULL)), bias);
	assert_arrays_close(expected[TN_ACTIVATION_SILU], tn_multiply(sum, tn_sigmoid(sum)),
			    20 * 6e-8);
}

static void an_empty_sum_has_its_bias(void **state)
{
	struct fixture *f = *state;
	tn_array *c = counted(f, 9, SHAPE(2, 3)), *bias = counted(f, -1, SHAPE(3));
	assert_ok(tn_matmul_epilogue(c, counted(f, 0, SHAPE(2, 0)), 0, counted(f, 0, SHAPE(0, 3)),
				     0, bias, TN_ACTIVATION_RELU));
	assert_elements(c, 0, 0, 1, 0, 0, 1);
	assert_status(tn_matmul_epilogue(c, counted(f, 0, SHAPE(2, 2)), 0,
					 counted(f, 0, SHAPE(2, 3)), 0, counted(f, 0, SHAPE(2)), 0),
		      TN_SHAPE);
	assert_kept(f, TN_SHAPE, "bias: expected 3 elements of f32, found shape (2,)");
	assert_status(tn_matmul_epilogue(c, counted(f, 0, SHAPE(2, 2)), 0,
					 counted(f, 0, SHAPE(2, 3)), 0, NULL, 7),
		      TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "expected 0 to 6, found 7");
}

/* ---- Convolutions ----------------------------------------------------------------------------*/

static void convolutions_take_a_residual_and_an_activation(void **state)
{
	struct fixture *f = *state;
	const struct tn_window window = {.padding = {1, 1, 1, 1}};
	struct tn_device *devices[DEVICES];
	tn_array *x = noise(f, 1, SHAPE(2, 3, 5, 6)), *w = noise(f, 2, SHAPE(4, 3, 3, 3));
	tn_array *bias = noise(f, 3, SHAPE(4)), *residual = noise(f, 4, SHAPE(2, 4, 5, 6));
	tn_array *sum = tn_add(tn_conv2d_forward(x, w, bias, &window), residual);
	tn_array *expected = tn_relu(sum);
	open_devices(f, devices);
	for (int k = 0; k < DEVICES; k++) {
		const struct tn_conv2d_finish finish = {.residual = tn_to(residual, devices[k]),
							.activation = TN_ACTIVATION_RELU};
		const tn_array *there[] = {tn_to(x, devices[k]), tn_to(w, devices[k]),
					   tn_to(bias, devices[k])};
		tn_ledger_reset(context_of(f));
		tn_array *y =
			tn_conv2d_forward_finished(there[0], there[1], there[2], &window, &finish);
		check_steps(f, "conv2d", k);
		assert_arrays_close(home(f, y), expected, 40 * 6e-8);
	}
	assert_null(tn_conv2d_forward_finished(x, w, bias, &window,
					       &(struct tn_conv2d_finish){.residual = x}));
	assert_kept(f, TN_SHAPE, "residual: expected shape (2, 4, 5, 6), found (2, 3, 5, 6)");
}

/* A backend whose packed weights are twice the weights, which shows whether they are read. */
static tn_status double_prepack(void *device, const struct tn_conv2d_args *args, uint64_t *size)
{
	const float *w = (const float *)(uintptr_t)(args->w.buffer + args->w.offset);
	float *packed = (float *)(uintptr_t)(args->packed.buffer + args->packed.offset);
	size_t n =
		(size_t)(args->w.shape[0] * args->w.shape[1] * args->w.shape[2] * args->w.shape[3]);
	(void)device;
	if (args->call.flags & TN_DRY_RUN) {
		*size = n * sizeof(float);
		args->call.workspace->minimum = 64;
		return TN_OK;
	}
	if (args->packed.size < n * sizeof(float) || !args->call.workspace ||
	    args->call.workspace->size < 64)
		return TN_INTERNAL;
	for (size_t i = 0; i < n; i++)
		packed[i] = 2 * w[i];
	return TN_OK;
}

static tn_status packed_conv2d(void *device, const struct tn_conv2d_args *args)
{
	struct tn_conv2d_args own = *args;
	if (args->packed.size) {
		own.w.buffer = args->packed.buffer;
		own.w.offset = args->packed.offset;
	}
	return reference_nn()->conv2d_forward(device, &own);
}

static void packed_weights_are_read_in_place_of_the_weights(void **state)
{
	struct fixture *f = *state;
	const struct tn_window window = {0};
	struct tn_conv2d_finish finish = {.activation = TN_ACTIVATION_RELU};
	struct tn_device *device = add_device(f, "packs", ALL_SLOTS, 0);
	struct tn_backend *backend = &f->backends[f->n_backends - 1];
	tn_array *x = noise(f, 1, SHAPE(1, 2, 3, 3)), *w = noise(f, 2, SHAPE(2, 2, 2, 2)), *packed;
	assert_ok(tn_conv2d_prepack(x, w, NULL, &window, &finish, &packed));
	assert_null(packed); /* the reference has no packed form */
	backend->native[TN_SLOT_CONV2D_PREPACK] = 1;
	backend->nn.conv2d_prepack = double_prepack;
	backend->nn.conv2d_forward = packed_conv2d;
	const tn_array *there[] = {tn_to(x, device), tn_to(w, device)};
	assert_ok(tn_conv2d_prepack(there[0], there[1], NULL, &window, &finish, &packed));
	assert_non_null(packed);
	assert_int_equal(ledger_row(f, "conv2d_prepack").native, 1);
	tn_array *once = tn_conv2d_forward_finished(there[0], there[1], NULL, &window, &finish);
	finish.packed = packed;
	tn_array *twice = tn_conv2d_forward_finished(there[0], there[1], NULL, &window, &finish);
	assert_arrays_close(home(f, twice), tn_affine(home(f, once), 2, 0), 1e-6);
}

/* The same for a factor of f32, as rows of the product's B. */
static tn_status double_matmul_prepack(void *device, const struct tn_matmul_args *args,
				       uint64_t *size)
{
	const struct tn_operand *b = &args->b;
	const float *from = (const float *)(uintptr_t)(b->buffer + b->offset);
	float *packed = (float *)(uintptr_t)(args->packed.buffer + args->packed.offset);
	const int64_t n = b->shape[1];
	(void)device;
	*size = (uint64_t)(b->shape[0] * n) * sizeof(float);
	if (args->call.flags & TN_DRY_RUN)
		return TN_OK;
	for (int64_t i = 0; i < b->shape[0] * n; i++)
		packed[i] = 2 * from[i / n * b->strides[0] + i % n * b->strides[1]];
	return TN_OK;
}

static uint64_t matmul_hints;

static tn_status packed_matmul(void *device, const struct tn_matmul_args *args)
{
	const struct tn_compute_table *table = tn_reference_backend.query(NULL, TN_TABLE_COMPUTE);
	struct tn_matmul_args own = *args;
	matmul_hints = args->call.hints;
	own.packed = (struct tn_packed){0};
	if (args->packed.size) {
		own.b.buffer = args->packed.buffer;
		own.b.offset = args->packed.offset;
		own.b.strides[0] = own.b.shape[1];
		own.b.strides[1] = 1;
	}
	return table->matmul(device, &own);
}

static tn_status plain_packed_matmul(void *device, const struct tn_matmul_args *args)
{
	return args->has_bias || args->activation ? TN_UNSUPPORTED : packed_matmul(device, args);
}

/* Weights are packed once, and read with a bias and an activation, whoever applies them. */
static void packed_weights_of_linear_layers_are_read(void **state)
{
	struct fixture *f = *state;
	struct tn_device *device = add_device(f, "packs", ALL_SLOTS, 0);
	struct tn_backend *backend = &f->backends[f->n_backends - 1];
	tn_array *x = noise(f, 1, SHAPE(2, 3, 5)), *w = noise(f, 2, SHAPE(4, 5));
	tn_array *bias = noise(f, 3, SHAPE(4)), *packed;
	const tn_array *there[] = {tn_to(x, device), tn_to(w, device), tn_to(bias, device)};
	backend->native[TN_SLOT_MATMUL_PREPACK] = 0;
	assert_ok(tn_linear_prepack(there[0], there[1], &packed));
	assert_null(packed);
	backend->native[TN_SLOT_MATMUL_PREPACK] = 1;
	backend->compute.matmul_prepack = double_matmul_prepack;
	assert_ok(tn_linear_prepack(there[0], there[1], &packed));
	assert_non_null(packed);
	assert_int_equal(ledger_row(f, "matmul_prepack").native, 1);
	for (int k = 0; k < 8; k++) {
		const uint32_t activation = k & 1 ? TN_ACTIVATION_SILU : TN_ACTIVATION_NONE;
		const int has_bias = (k & 2) != 0;
		backend->compute.matmul = k & 4 ? plain_packed_matmul : packed_matmul;
		f->context.runtime.device = device;
		tn_array *y = tn_linear_activated(there[0], there[1], has_bias ? there[2] : NULL,
						  activation, packed);
		f->context.runtime.device = f->context.runtime.reference;
		tn_array *sum = tn_linear(x, tn_affine(w, 2, 0), has_bias ? bias : NULL);
		/* 5 products below 2, a sum and a function. */
		assert_arrays_close(home(f, y), activation ? tn_silu(sum) : sum, 40 * 6e-8);
		assert_int_equal(matmul_hints, TN_HINT_CONSTANT(1) | TN_HINT_CONSTANT(3));
	}
	assert_arrays_close(home(f, tn_linear(there[0], there[1], NULL)), tn_linear(x, w, NULL),
			    40 * 6e-8);
	assert_int_equal(matmul_hints, 0);
}

/* ---- Norms -----------------------------------------------------------------------------------*/

struct gradients {
	tn_array *y, *dx, *dw, *db, *dresidual;
};

static struct gradients run_group_norm(struct fixture *f, struct tn_device *device, int is_last)
{
	tn_array *x = noise(f, 1, SHAPE(3, 6, 2, 5));
	struct gradients g;
	struct tn_norm_call call = {
		.kind = TN_NORM_GROUP,
		.groups = 3,
		.epsilon = 1e-3,
		.activation = TN_ACTIVATION_RELU6,
		.x = tn_to(is_last ? tn_channels_last(x) : x, device),
		.w = tn_to(tn_affine(noise(f, 2, SHAPE(6)), 4, 0), device),
		.b = tn_to(noise(f, 3, SHAPE(6)), device),
		.residual = tn_to(noise(f, 4, SHAPE(3, 6, 2, 5)), device),
		.dy = tn_to(noise(f, 5, SHAPE(3, 6, 2, 5)), device),
		.dw = tn_to(noise(f, 6, SHAPE(6)), device),
		.db = tn_to(noise(f, 7, SHAPE(6)), device),
		.accumulate = 1,
		.wants_dresidual = 1,
	};
	tn_ledger_reset(context_of(f));
	g.y = tn_norm_call_forward(&call);
	call.result = g.y;
	g.dx = tn_norm_call_backward(&call);
	g.dw = home(f, call.dw);
	g.db = home(f, call.db);
	g.dresidual = home(f, call.dresidual);
	return g;
}

static void group_norm_is_the_same_by_every_way(void **state)
{
	struct fixture *f = *state;
	struct tn_device *devices[DEVICES];
	struct gradients expected = run_group_norm(f, f->context.runtime.reference, 0);
	open_devices(f, devices);
	for (int k = 0; k < DEVICES; k++) {
		for (int is_last = 0; is_last < 2; is_last++) {
			struct gradients g = run_group_norm(f, devices[k], is_last);
			assert_int_equal(ledger_row(f, "group_norm").composed, k == COMPOSED);
			assert_int_equal(ledger_row(f, "group_norm_backward").composed,
					 k == COMPOSED);
			assert_int_equal(ledger_row(f, "epilogue").native,
					 k == STEPS || k == COMPOSED ? 2 : 0);
			/* Groups of 20 numbers, a deviation of about 0.6, weights up to 4. */
			assert_arrays_close(home(f, g.y), expected.y, 1e-5);
			assert_arrays_close(home(f, g.dx), expected.dx, 1e-4);
			assert_arrays_close(g.dw, expected.dw, 1e-4);
			assert_arrays_close(g.db, expected.db, 1e-5);
			assert_arrays_close(g.dresidual, expected.dresidual, 0);
		}
	}
}

static void norms_that_do_not_fit_say_so(void **state)
{
	struct fixture *f = *state;
	tn_array *x = noise(f, 1, SHAPE(2, 4, 3));
	struct tn_norm_call call = {.kind = TN_NORM_GROUP, .groups = 3, .x = x};
	assert_null(tn_norm_call_forward(&call));
	assert_kept(f, TN_SHAPE, "4 channels in 3 groups");
	call.groups = 2;
	call.residual = noise(f, 1, SHAPE(2, 4, 2));
	assert_null(tn_norm_call_forward(&call));
	assert_kept(f, TN_SHAPE, "residual: expected (2, 4, 3) of f32");
	call.residual = NULL;
	call.activation = TN_ACTIVATION_TANH;
	assert_null(tn_norm_call_forward(&call));
	assert_kept(f, TN_INVALID_ARGUMENT, "activation: expected 0 to 2, found 4");
	call.activation = TN_ACTIVATION_RELU;
	assert_non_null(tn_norm_call_forward(&call));
	call.dy = x;
	assert_null(tn_norm_call_backward(&call));
	assert_kept(f, TN_INVALID_ARGUMENT, "result: required for the gradient of an activation");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(products_take_a_bias_and_an_activation,
						open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(an_empty_sum_has_its_bias, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(convolutions_take_a_residual_and_an_activation,
						open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(packed_weights_are_read_in_place_of_the_weights,
						open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(packed_weights_of_linear_layers_are_read,
						open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(group_norm_is_the_same_by_every_way, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(norms_that_do_not_fit_say_so, open_fixture,
						close_fixture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
