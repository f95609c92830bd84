/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The modes of the floating-point unit are those of a thread, and a new thread inherits them: what
 * a plugin starts while its caller rounds upwards, or flushes subnormal numbers to zero, must not
 * go on so.
 */
#include <fenv.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "instance.h"
#include "process_state.h"
#include "programs.h"
#include "slots.h"
#include "stream_calls.h"

/* z := x / y: so small that the thread of a stream computes it, or so large that it is shared among
 * threads. */
enum { SMALL = 5, LARGE = 1 << 16 };
struct quotient {
	struct array x, y, z;
	struct array *all[3];
	struct tn_map_args args;
	struct tn_operand inputs[2];
};

static void quotient_make(struct kit *kit, struct quotient *q, const struct tn_program *divide,
			  int64_t length)
{
	static const double numbers[][2] = {{5, 3}, {5, 7}, {1, 10}, {1e-39, 1}, {-5, 3}};
	array_make(kit, &q->x, INPUT, TN_F32, 1, &length, COMPACT);
	array_make(kit, &q->y, INPUT, TN_F32, 1, &length, COMPACT);
	array_make(kit, &q->z, OUTPUT, TN_F32, 1, &length, COMPACT);
	for (uint64_t i = 0; i < (uint64_t)length; i++) {
		const double *pair = numbers[i % (sizeof(numbers) / sizeof(numbers[0]))];
		array_set_number(&q->x, i, pair[0]);
		array_set_number(&q->y, i, pair[1]);
	}
	q->all[0] = &q->x;
	q->all[1] = &q->y;
	q->all[2] = &q->z;
	q->inputs[0] = q->x.operand;
	q->inputs[1] = q->y.operand;
	q->args = (struct tn_map_args){.call = CALL(struct tn_map_args),
				       .program = divide,
				       .inputs = q->inputs,
				       .outputs = &q->z.operand};
}

static void quotient_free(struct quotient *q)
{
	for (int i = 0; i < 3; i++)
		array_free(q->all[i]);
}

static void set_modes(void)
{
	fesetround(FE_UPWARD);
#if defined(__SSE__)
	_mm_setcsr(_mm_getcsr() | 0x8040); /* flush to zero, denormals are zero */
#endif
}

static void compare(struct kit *kit, const struct quotient *found, const struct quotient *expected)
{
	for (uint64_t i = 0; i < found->z.count; i++) {
		uint64_t bits = array_bits(&found->z, i), right = array_bits(&expected->z, i);
		if (bits != right)
			return kit_fail(kit,
					"%g / %g is %#llx, and %#llx on a device that was opened "
					"in the default modes of the floating-point unit",
					array_number(&found->x, i), array_number(&found->y, i),
					(unsigned long long)bits, (unsigned long long)right);
	}
}

/* In the NULL stream and in one that was created in those modes. */
static void divide_in(struct kit *kit, void *stream, const struct tn_program *divide,
		      const struct quotient *expected)
{
	struct quotient own;
	kit_case(kit, TN_SLOT_MAP, "map in %s, opened rounding upwards and flushing to zero",
		 stream ? "a stream" : "the NULL stream");
	kit->options.stream = stream;
	for (int large = 0; large < 2; large++) {
		quotient_make(kit, &own, divide, large ? LARGE : SMALL);
		if (!kit_run(kit, &own.args, own.all, 3))
			compare(kit, &own, expected);
		quotient_free(&own);
	}
	kit->options.stream = NULL;
}

/* Opens an instance, makes a stream and begins to compute in other modes. */
static void *start(struct kit *kit, const struct kit *like, struct instance *instance,
		   const struct tn_program *divide)
{
	struct process_state before;
	struct quotient first;
	void *stream = NULL;
	process_state_take(&before);
	set_modes();
	if (instance_open(instance, like, like->index)) {
		process_state_restore(&before);
		kit_give_up(kit, "%s: %s", instance->stage, instance->kit.error.text);
	}
	if (kit_has_streams(&instance->kit))
		stream = kit_stream(&instance->kit, 0);
	process_state_restore(&before);
	quotient_make(&instance->kit, &first, divide, LARGE);
	set_modes();
	(void)kit_enter(&instance->kit, &first.args);
	(void)kit_sync(&instance->kit, NULL);
	process_state_restore(&before);
	quotient_free(&first);
	return stream;
}

void check_threads_modes(struct kit *kit)
{
	struct instance instance;
	struct quotient expected;
	if (!kit_claims_program(kit, TN_F32))
		return kit_skip(kit, "it has no programs");
	struct tn_program *divide = operation_program(TN_OP_DIV, 2, TN_F32, TN_F32);
	kit_case(kit, TN_SLOT_MAP, "map in default modes of the floating-point unit");
	quotient_make(kit, &expected, divide, LARGE);
	if (!kit_run(kit, &expected.args, expected.all, 3)) {
		void *stream = start(kit, kit, &instance, divide);
		divide_in(&instance.kit, NULL, divide, &expected);
		if (stream) {
			divide_in(&instance.kit, stream, divide, &expected);
			kit_stream_end(&instance.kit, stream);
		}
		instance_close(&instance);
		instance_report(&instance, kit);
	}
	quotient_free(&expected);
	tn_program_destroy(divide);
}
