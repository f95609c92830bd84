/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls that reduce refuses without writing anything.
 */
#include "interpret_reduce.h"

enum fault {
	NO_FAULT,
	NO_PROLOGUE,
	NO_VALUES,
	FIVE_VALUES,
	VALUES_DIFFER,
	UNKNOWN_COMBINER,
	ZERO_COMBINER,
	MANY_REDUCED,
	NO_INPUTS,
	NO_OUTPUT_ARRAY,
	OUTPUT_RANK,
	OUTPUT_SHAPE,
	STILL_OUTPUT,
	COMPLEX_INPUT,
	SHORT_EPILOGUE,
	BAD_EPILOGUE,
	EPILOGUE_WITHOUT_INPUTS,
	EPILOGUE_AXIS,
	FAULTS,
};

static const tn_status answers[FAULTS] = {
	[NO_FAULT] = TN_OK,
	[NO_PROLOGUE] = TN_INVALID_ARGUMENT,
	[NO_VALUES] = TN_INVALID_ARGUMENT,
	[FIVE_VALUES] = TN_UNSUPPORTED,
	[VALUES_DIFFER] = TN_INVALID_ARGUMENT,
	[UNKNOWN_COMBINER] = TN_UNSUPPORTED,
	[ZERO_COMBINER] = TN_UNSUPPORTED,
	[MANY_REDUCED] = TN_INVALID_ARGUMENT,
	[NO_INPUTS] = TN_INVALID_ARGUMENT,
	[NO_OUTPUT_ARRAY] = TN_INVALID_ARGUMENT,
	[OUTPUT_RANK] = TN_SHAPE,
	[OUTPUT_SHAPE] = TN_SHAPE,
	[STILL_OUTPUT] = TN_INVALID_ARGUMENT,
	[COMPLEX_INPUT] = TN_UNSUPPORTED,
	[SHORT_EPILOGUE] = TN_INVALID_ARGUMENT,
	[BAD_EPILOGUE] = TN_UNSUPPORTED,
	[EPILOGUE_WITHOUT_INPUTS] = TN_INVALID_ARGUMENT,
	[EPILOGUE_AXIS] = TN_INVALID_ARGUMENT,
};

struct spoiled {
	struct text prologue, epilogue;
	struct tn_operand input, output;
	struct tn_reduce_args args;
};

static void spoil(struct spoiled *s, enum fault fault)
{
	switch (fault) {
	case NO_PROLOGUE:
		s->args.prologue = NULL;
		break;
	case NO_VALUES:
		s->args.n_values = 0;
		break;
	case FIVE_VALUES:
		s->args.n_values = 5;
		break;
	case VALUES_DIFFER:
		s->args.n_values = 2;
		break;
	case UNKNOWN_COMBINER:
		s->args.combiners[0] = 7;
		break;
	case ZERO_COMBINER:
		s->args.combiners[0] = 0;
		break;
	case MANY_REDUCED:
		s->args.n_reduced = 3;
		break;
	case NO_INPUTS:
		s->prologue.program.n_inputs = 0;
		break;
	case NO_OUTPUT_ARRAY:
		s->args.outputs = NULL;
		break;
	case OUTPUT_RANK:
		s->output.rank = 0;
		break;
	case OUTPUT_SHAPE:
		s->output.shape[0] = 4;
		break;
	case STILL_OUTPUT:
		s->output.strides[0] = 0;
		break;
	case COMPLEX_INPUT:
		s->input.dtype = TN_C64;
		break;
	case SHORT_EPILOGUE:
		s->args.epilogue = &s->epilogue.program;
		s->epilogue.program.n_inputs = 0;
		break;
	case BAD_EPILOGUE:
		s->args.epilogue = &s->epilogue.program;
		s->epilogue.code[0].op = 999;
		break;
	case EPILOGUE_WITHOUT_INPUTS:
		s->args.epilogue = &s->epilogue.program;
		s->epilogue.program.n_inputs = 2;
		break;
	case EPILOGUE_AXIS: /* only kept axes have an index there */
		s->args.epilogue = &s->epilogue.program;
		text_op(&s->epilogue, TN_OP_INDEX, TN_I64, 1, 0, 0);
		break;
	default:
		break;
	}
}

static void bad_calls_are_refused_and_touch_nothing(void **state)
{
	(void)state;
	for (enum fault fault = 0; fault < FAULTS; fault++) {
		struct spoiled s;
		struct tn_error_info error = {0};
		float x[12] = {0}, y[3] = {42, 42, 42};
		text_init(&s.prologue, 1, 0);
		text_output(&s.prologue, text_op(&s.prologue, TN_OP_INPUT, TN_F32, 0, 0, 0));
		text_init(&s.epilogue, 1, 0);
		text_output(&s.epilogue, text_op(&s.epilogue, TN_OP_INPUT, TN_F32, 0, 0, 0));
		s.input = (struct tn_operand){.buffer = (uint64_t)x,
					      .dtype = TN_F32,
					      .rank = 2,
					      .shape = {3, 4},
					      .strides = {4, 1}};
		s.output = (struct tn_operand){.buffer = (uint64_t)y,
					       .dtype = TN_F32,
					       .rank = 1,
					       .shape = {3},
					       .strides = {1}};
		s.args = (struct tn_reduce_args){.call = plain_call(sizeof(s.args), &error),
						 .prologue = &s.prologue.program,
						 .inputs = &s.input,
						 .outputs = &s.output,
						 .n_reduced = 1,
						 .n_values = 1,
						 .combiners = {TN_REDUCE_SUM}};
		spoil(&s, fault);
		tn_status status = tn_interpret_reduce(one, &s.args, NULL);
		if (status != answers[fault])
			fail_msg("fault %d: %s, expected %s", (int)fault, tn_status_name(status),
				 tn_status_name(answers[fault]));
		assert_true(y[0] == (status ? 42 : 0));
		if (status)
			assert_string_equal(error.operation, "reduce");
	}
}

/* Memory for the partial results of a chunked reduction may run out. */
static int out_of_memory;
void *__real_tn_mem_aligned(size_t size, size_t alignment);
void *__wrap_tn_mem_aligned(size_t size, size_t alignment);

void *__wrap_tn_mem_aligned(size_t size, size_t alignment)
{
	return out_of_memory ? NULL : __real_tn_mem_aligned(size, alignment);
}

static void memory_may_run_out(void **state)
{
	const int64_t shape[] = {1000000};
	struct text t;
	float y = 42;
	(void)state;
	struct tensor x = tensor_make(TN_F32, 1, shape, CONTIGUOUS);
	memset(x.memory, 0, x.bytes);
	struct tn_operand out = {.buffer = (uint64_t)&y, .dtype = TN_F32};
	struct tn_error_info error;
	text_init(&t, 1, 0);
	text_output(&t, text_op(&t, TN_OP_INPUT, TN_F32, 0, 0, 0));
	struct job job = {.threads = four,
			  .prologue = &t.program,
			  .inputs = &x.operand,
			  .outputs = &out,
			  .n_reduced = 1,
			  .n_values = 1,
			  .combiners = {TN_REDUCE_SUM}};
	out_of_memory = 1;
	assert_status(call(&job, 0, &error), TN_OUT_OF_MEMORY);
	out_of_memory = 0;
	assert_true(y == 42);
	assert_ok(call(&job, 0, &error));
	assert_true(y == 0);
	tensor_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_calls_are_refused_and_touch_nothing),
		cmocka_unit_test(memory_may_run_out),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
