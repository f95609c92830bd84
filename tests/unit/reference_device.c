/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reference backend's device, its fills and copies, and every entry when memory runs out.
 */
#include "reference_fixture.h"

static void says_what_it_is(void **state)
{
	struct fixture *f = *state;
	struct tn_device_count count = {.struct_size = sizeof(count)};
	struct tn_device_description d = {.struct_size = sizeof(d)};
	assert_ok(f->devices->device_count(f->instance, &count));
	assert_int_equal(count.count, 1);
	assert_ok(f->devices->describe(f->instance, 0, &d));
	assert_int_equal(d.struct_size, sizeof(d));
	assert_int_equal(d.kind, TN_DEVICE_REFERENCE);
	assert_true(d.flags & TN_DEVICE_HOST_MEMORY);
	assert_true(d.memory_bytes > 0);
	assert_status(f->devices->describe(f->instance, 1, &d), TN_INVALID_ARGUMENT);
	assert_null(tn_reference_backend.query(f->instance, "tenon.no-such-table/1"));
}

static void allocates_aligned_and_refuses_what_it_has_not(void **state)
{
	struct fixture *f = *state;
	struct tn_alloc_args args = {
		.call = CALL(struct tn_alloc_args, f), .size = 10, .alignment = 4096};
	struct tn_free_args release = {.call = CALL(struct tn_free_args, f)};
	uint64_t none = 0;
	assert_ok(f->devices->alloc(f->device, &args, &release.buffer));
	assert_int_equal(release.buffer % 4096, 0);
	assert_ok(f->devices->free(f->device, &release));
	args.memory_kind = TN_MEMORY_PINNED;
	assert_status(f->devices->alloc(f->device, &args, &none), TN_UNSUPPORTED);
	args.memory_kind = TN_MEMORY_DEVICE;
	args.alignment = 48;
	assert_status(f->devices->alloc(f->device, &args, &none), TN_INVALID_ARGUMENT);
	args.alignment = 0;
	f->allocations_left = 0;
	assert_status(f->devices->alloc(f->device, &args, &none), TN_OUT_OF_MEMORY);
	assert_contains(f->error.text, "requested 10 bytes");
	f->allocations_left = INT_MAX;
	assert_int_equal(none, 0);
}

static void writes_no_further_than_a_short_error(void **state)
{
	struct fixture *f = *state;
	struct tn_error_info error;
	struct tn_free_args args = {.call = {.struct_size = sizeof(args), .error = &error}};
	memset(&error, 0x5a, sizeof(error));
	error.struct_size = offsetof(struct tn_error_info, text);
	assert_status(f->devices->free(f->device, &args), TN_INVALID_ARGUMENT);
	assert_string_equal(error.operation, "free");
	assert_int_equal(error.text[0], 0x5a);
	args.call.error = NULL;
	assert_status(f->devices->free(f->device, &args), TN_INVALID_ARGUMENT);
}

static void needs_no_workspace(void **state)
{
	struct fixture *f = *state;
	float x[4] = {0};
	struct tn_workspace workspace = {
		.struct_size = sizeof(workspace), .minimum = 9, .preferred = 9};
	struct tn_fill_args args = {.call = CALL(struct tn_fill_args, f),
				    .output = operand(TN_F32, x, SHAPE(4)),
				    .value = {.dtype = TN_F32, .bits = 0x3f800000}};
	args.call.flags = TN_DRY_RUN;
	args.call.workspace = &workspace;
	args.output.buffer = 0; /* which a dry run ignores */
	assert_ok(f->copies->fill(f->device, &args));
	assert_true(workspace.minimum == 0 && workspace.preferred == 0 && x[0] == 0);
	args.call.flags = 0;
	assert_status(f->copies->fill(f->device, &args), TN_INVALID_ARGUMENT);
}

static void gathers_and_scatters_rows(void **state)
{
	struct fixture *f = *state;
	const int16_t x[6] = {1, 2, 3, 4, 5, 6};
	const int64_t indices[4] = {2, -3, 3, 2};
	int16_t picked[8], sums[6] = {100, 100, 100, 100, 100, 100};
	struct tn_gather_args args = {.call = CALL(struct tn_gather_args, f),
				      .input = operand(TN_I16, x, SHAPE(3, 2)),
				      .indices = operand(TN_I64, indices, SHAPE(4)),
				      .output = operand(TN_I16, picked, SHAPE(4, 2))};
	const int16_t rows[8] = {5, 6, 1, 2, 0, 0, 5, 6}, added[6] = {101, 102, 100, 100, 110, 112};
	assert_ok(f->copies->gather(f->device, &args));
	assert_memory_equal(picked, rows, sizeof(rows));
	args.input = operand(TN_I16, picked, SHAPE(4, 2));
	args.output = operand(TN_I16, sums, SHAPE(3, 2));
	assert_ok(f->copies->scatter_add(f->device, &args));
	assert_memory_equal(sums, added, sizeof(added));
}

/* ---- Memory that runs out --------------------------------------------------------------------*/

/* Repeats the call until the entry has enough memory: before that it must report OUT_OF_MEMORY,
 * leave the output unchanged and keep no memory. */
typedef tn_status (*entry)(struct fixture *f, void *args);

static void expect_recovery(struct fixture *f, entry run, void *args, const float *output, size_t n)
{
	int outstanding = f->outstanding, failures = 0;
	tn_status status = TN_OUT_OF_MEMORY;
	for (int allowed = 0; status == TN_OUT_OF_MEMORY; allowed++) {
		f->allocations_left = allowed;
		status = run(f, args);
		f->allocations_left = INT_MAX;
		assert_int_equal(f->outstanding, outstanding);
		if (status != TN_OUT_OF_MEMORY)
			break;
		failures++;
		for (size_t i = 0; i < n; i++)
			assert_true(output[i] == 7);
	}
	assert_ok(status);
	assert_true(failures > 0);
}

static tn_status run_map(struct fixture *f, void *args)
{
	return f->compute->map(f->device, args);
}

static tn_status run_reduce(struct fixture *f, void *args)
{
	return f->compute->reduce(f->device, args);
}

static tn_status run_matmul(struct fixture *f, void *args)
{
	return f->compute->matmul(f->device, args);
}

static tn_status run_conv2d(struct fixture *f, void *args)
{
	return f->nn->conv2d_forward(f->device, args);
}

static tn_status run_batch_norm(struct fixture *f, void *args)
{
	return f->nn->batch_norm_forward(f->device, args);
}

static tn_status run_cross_entropy(struct fixture *f, void *args)
{
	return f->nn->cross_entropy_forward(f->device, args);
}

static void leaves_outputs_alone_when_memory_runs_out(void **state)
{
	static const struct tn_instruction load[] = {{TN_OP_INPUT, TN_F32, 0, 0, 0, 0}};
	static const uint16_t first[] = {0};
	static const struct tn_program identity = PROGRAM(1, load, first);
	static const int32_t labels[2] = {0, 1};
	struct fixture *f = *state;
	const float x[4] = {1, 2, 3, 4};
	float y[4] = {7, 7, 7, 7}, maximum[2], log_sum[2], statistics[2];
	struct tn_operand in = operand(TN_F32, x, SHAPE(2, 2)),
			  out = operand(TN_F32, y, SHAPE(2, 2));
	struct tn_operand few = operand(TN_F32, y, SHAPE(2));
	struct tn_map_args map = {.call = CALL(struct tn_map_args, f),
				  .program = &identity,
				  .inputs = &in,
				  .outputs = &out};
	struct tn_reduce_args reduce = {.call = CALL(struct tn_reduce_args, f),
					.prologue = &identity,
					.epilogue = &identity,
					.inputs = &in,
					.outputs = &few,
					.n_reduced = 1,
					.n_values = 1,
					.combiners = {TN_REDUCE_SUM}};
	struct tn_matmul_args matmul = {
		.call = CALL(struct tn_matmul_args, f), .a = in, .b = in, .c = out, .alpha = 1};
	struct tn_conv2d_args conv2d = {.call = CALL(struct tn_conv2d_args, f),
					.x = operand(TN_F32, x, SHAPE(1, 1, 2, 2)),
					.w = operand(TN_F32, x, SHAPE(1, 1, 1, 1)),
					.y = operand(TN_F32, y, SHAPE(1, 1, 2, 2)),
					.bias = operand(TN_F32, x, SHAPE(1)),
					.has_bias = 1,
					.groups = 1,
					.stride = {1, 1},
					.dilation = {1, 1}};
	struct tn_norm_args norm = {.call = CALL(struct tn_norm_args, f),
				    .x = in,
				    .y = out,
				    .mean = operand(TN_F32, statistics, SHAPE(2)),
				    .rstd = operand(TN_F32, statistics, SHAPE(2)),
				    .epsilon = 1};
	struct tn_cross_entropy_args cross_entropy = {.call = CALL(struct tn_cross_entropy_args, f),
						      .x = in,
						      .labels = operand(TN_I32, labels, SHAPE(2)),
						      .maximum = operand(TN_F32, maximum, SHAPE(2)),
						      .log_sum = operand(TN_F32, log_sum, SHAPE(2)),
						      .loss = few};
	const struct {
		entry run;
		void *args;
	} entries[] = {{run_map, &map},         {run_reduce, &reduce},
		       {run_matmul, &matmul},   {run_conv2d, &conv2d},
		       {run_batch_norm, &norm}, {run_cross_entropy, &cross_entropy}};
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		for (int j = 0; j < 4; j++)
			y[j] = 7;
		expect_recovery(f, entries[i].run, entries[i].args, y, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_it_is),
		cmocka_unit_test(allocates_aligned_and_refuses_what_it_has_not),
		cmocka_unit_test(writes_no_further_than_a_short_error),
		cmocka_unit_test(needs_no_workspace),
		cmocka_unit_test(gathers_and_scatters_rows),
		cmocka_unit_test(leaves_outputs_alone_when_memory_runs_out),
	};
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
