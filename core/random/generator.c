/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Generators as objects.
 */
#include <tenon/random.h>

#include "array/generator.h"
#include "array/handle.h"
#include "array/make.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "capture/stepped.h"
#include "program/random.h"

static tn_generator *make_generator(struct tn_runtime *runtime, uint64_t seed)
{
	tn_generator *generator = tn_mem_zeroed(1, sizeof(*generator));
	if (!generator) {
		tn_runtime_no_memory(runtime, "generator", "a generator");
		return NULL;
	}
	generator->runtime = runtime;
	generator->state = &generator->own;
	generator->own.seed = seed;
	generator->references = 1;
	return generator;
}

tn_generator *tn_generator_create(tn_context *context, uint64_t seed)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (!runtime || tn_runtime_ready(runtime))
		return NULL;
	return make_generator(runtime, seed);
}

void tn_generator_destroy(tn_generator *generator)
{
	static const char operation[] = "generator_destroy";
	if (!generator || tn_handle_has_ended(generator->runtime, generator, operation) ||
	    tn_handle_refuse(generator->runtime, generator->has_ended, operation,
			     "the generator has been destroyed"))
		return;
	generator->has_ended = generator->references > 0; /* a default one stays */
	tn_generator_release(generator);
}

tn_generator *tn_default_generator(tn_context *context)
{
	return context && !tn_handle_check(&context->runtime, "default_generator")
		       ? &tn_runtime_of(context)->generator
		       : NULL;
}

tn_generator *tn_generator_split(tn_generator *generator)
{
	struct tn_scalar scalars[2];
	uint32_t words[2];
	if (!generator || tn_runtime_ready(generator->runtime))
		return NULL;
	struct tn_runtime *runtime = generator->runtime;
	const struct tn_random_state before = *generator->state;
	if (tn_capture_refuse(runtime, "generator_split", "the new generator"))
		return NULL;
	tn_status status = tn_stepped_draw(generator, runtime->device, scalars);
	if (tn_stepped_end_draw(generator, before, status)) {
		tn_end_into(runtime, status);
		return NULL;
	}
	tn_observe_unrepeatable(runtime);
	tn_random_block(scalars[0].bits, scalars[1].bits, 0, words, 2);
	tn_generator *half = make_generator(runtime, (uint64_t)words[0] << 32 | words[1]);
	(void)tn_stepped_end_draw(generator, before, half ? TN_OK : TN_OUT_OF_MEMORY);
	return half;
}

struct tn_random_state tn_generator_get_state(const tn_generator *generator)
{
	return generator && !tn_handle_check(generator->runtime, "generator_get_state")
		       ? *generator->state
		       : (struct tn_random_state){0, 0};
}

tn_status tn_generator_set_state(tn_generator *generator, struct tn_random_state state)
{
	if (!generator)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(generator->runtime);
	if (!status)
		status = tn_capture_refuse(generator->runtime, "generator_set_state", "the state");
	if (!status)
		*generator->state = state;
	return status;
}

/* Bytes are those of the words, the lowest first, on every machine. */
tn_status tn_generator_bytes(tn_generator *generator, void *data, size_t size)
{
	unsigned char *bytes = data;
	struct tn_scalar scalars[2];
	uint32_t words[64];
	if (!generator)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *runtime = generator->runtime;
	const struct tn_random_state before = *generator->state;
	tn_status status = tn_runtime_ready(runtime);
	if (!status)
		status = tn_capture_refuse(runtime, "bytes", "numbers that the host draws");
	if (status)
		return status;
	if (!data && size)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "bytes", "data is NULL");
	status = tn_stepped_draw(generator, runtime->device, scalars);
	if (tn_stepped_end_draw(generator, before, status))
		return tn_end_into(runtime, status);
	tn_observe_unrepeatable(runtime);
	for (size_t i = 0; i < size; i++) {
		if (i % sizeof(words) == 0)
			tn_random_block(scalars[0].bits, scalars[1].bits, i / 4, words, 64);
		bytes[i] = (unsigned char)(words[i % sizeof(words) / 4] >> 8 * (i % 4));
	}
	return TN_OK;
}
