/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Promises about every call, checked on a sample of every slot.  kit_run checks most of them in all
 * other cases too, and reports failures under the ids of these checks.
 */
#include "samples.h"
#include "slots.h"
#include "stream_calls.h"

enum { UNKNOWN_FLAG = TN_CALL_FLAG_UNASSIGNED };

/* Runs every sample; skips the check if there is none. */
static void on_every_sample(struct kit *kit, const char *what, void (*run)(struct sample *sample))
{
	int n = 0;
	for (int slot = sample_next(kit, -1); slot >= 0; slot = sample_next(kit, slot), n++) {
		struct sample sample;
		sample_make(kit, &sample, slot, what);
		run(&sample);
		sample_free(&sample);
	}
	if (!n)
		kit_skip(kit, "it has no compute slot");
}

static void runs(struct sample *sample)
{
	(void)sample_run(sample);
}

void check_call_bounds(struct kit *kit)
{
	on_every_sample(kit, "writes only its outputs", runs);
	kit->options.fence = FENCE_BEHIND;
	on_every_sample(kit, "before inaccessible memory", runs);
	kit->options.fence = FENCE_BEFORE;
	on_every_sample(kit, "behind inaccessible memory", runs);
	kit->options.fence = NO_FENCE;
}

/* Gradients may accumulate, and every call may be requested to be deterministic. */
static void agrees(struct sample *sample)
{
	(void)sample_run(sample);
	sample->args.call.flags = TN_DETERMINISTIC;
	(void)sample_run(sample);
	sample->args.call.flags = TN_ACCUMULATE;
	if (sample_is_gradient(sample->slot))
		(void)sample_run(sample);
}

void check_call_dry_run(struct kit *kit)
{
	on_every_sample(kit, "a dry run and the call", agrees);
}

static void is_refused(struct sample *sample)
{
	sample->args.call.flags = UNKNOWN_FLAG;
	kit_run_refused(sample->kit, &sample->args, sample->all, sample->n, TN_UNSUPPORTED);
}

void check_call_untouched(struct kit *kit)
{
	on_every_sample(kit, "refused for an unknown flag", is_refused);
}

/* The host may call without a dry run: given no workspace, or too little, the entry must refuse. */
static void lacks_workspace(struct sample *sample)
{
	struct kit *kit = sample->kit;
	struct tn_workspace asked = {.struct_size = sizeof(asked)};
	struct tn_call *call = &sample->args.call;
	call->error = &kit->error;
	call->workspace = &asked;
	call->flags |= TN_DRY_RUN;
	tn_status status = kit_enter(kit, call);
	call->flags &= ~(uint32_t)TN_DRY_RUN;
	call->workspace = NULL;
	if (status || !asked.minimum)
		return;
	for (int given = 0; given < 2; given++) {
		asked.size = asked.minimum - 1;
		call->workspace = given ? &asked : NULL;
		status = kit_enter(kit, call);
		if (status != TN_UNSUPPORTED)
			kit_fail(kit,
				 "it needs %llu bytes of workspace, and with %s returns %s, "
				 "expected %s",
				 (unsigned long long)asked.minimum,
				 given ? "one byte less" : "none", tn_status_name(status),
				 tn_status_name(TN_UNSUPPORTED));
	}
	call->workspace = NULL;
	tn_error_reset(&kit->error);
}

/* Results must not depend on the workspace's contents, and hardly on its size. */
static void keeps_to_its_workspace(struct sample *sample)
{
	size_t size;
	unsigned char *result;
	if (sample_run(sample))
		return;
	lacks_workspace(sample);
	result = sample_result(sample, &size);
	sample->kit->options.prefers = 1;
	if (!sample_run(sample))
		sample_expect_close(sample, result, "call.workspace");
	sample->kit->options.prefers = 0;
	free(result);
}

void check_call_workspace(struct kit *kit)
{
	on_every_sample(kit, "its workspace", keeps_to_its_workspace);
}

static void keeps_no_argument(struct sample *sample)
{
	size_t size;
	unsigned char *result;
	if (sample_run(sample))
		return;
	result = sample_result(sample, &size);
	sample->kit->options.spoils = 1;
	if (!sample_run(sample))
		sample_expect_close(sample, result, "call.borrowed");
	sample->kit->options.spoils = 0;
	free(result);
}

/* An asynchronous device is busy, so that it does the work after the return. */
void check_call_borrowed(struct kit *kit)
{
	const int is_async = !(kit->description.flags & TN_DEVICE_SYNCHRONOUS);
	struct busy busy;
	if (is_async) {
		kit_case(kit, TN_SLOT_UPLOAD, "work that lasts");
		busy_begin(kit, &busy);
		kit->options.busy = &busy;
	}
	on_every_sample(kit, "arguments inaccessible after the return", keeps_no_argument);
	for (int slot = TN_SLOT_MAP; slot <= TN_SLOT_REDUCE; slot++) {
		struct sample sample;
		if (!kit_claims_program(kit, TN_F32))
			break;
		sample_make_with_programs(kit, &sample, slot,
					  "programs inaccessible after the return");
		keeps_no_argument(&sample);
		sample_free(&sample);
	}
	kit->options.busy = NULL;
	if (is_async)
		busy_end(&busy);
}

/* Callers of an older version have a shorter error; others have none. */
static void fills_errors(struct sample *sample)
{
	struct kit *kit = sample->kit;
	unsigned char *end = (unsigned char *)(&kit->error + 1);
	const size_t old_size = offsetof(struct tn_error_info, text);
	is_refused(sample);
	sample->args.call.workspace = NULL;
	sample->args.call.error = NULL;
	if (kit_enter(kit, &sample->args) != TN_UNSUPPORTED)
		kit_fail(kit, "without an error struct it is not refused");
	memset(&kit->error, 0x5a, sizeof(kit->error));
	kit->error.struct_size = (uint32_t)old_size;
	sample->args.call.error = &kit->error;
	(void)kit_enter(kit, &sample->args);
	for (unsigned char *at = (unsigned char *)&kit->error + old_size; at < end; at++)
		if (*at != 0x5a)
			kit_fail(kit, "it wrote past the end of an error of %zu bytes", old_size);
	tn_error_reset(&kit->error);
}

void check_call_error(struct kit *kit)
{
	on_every_sample(kit, "the error of a refused call", fills_errors);
}

static void repeats(struct sample *sample)
{
	const struct kit *kit = sample->kit;
	int promise = kit->description.determinism[sample_family(sample->slot)];
	size_t size;
	unsigned char *result;
	sample->args.call.flags = promise == TN_DETERMINISM_ALWAYS ? 0 : TN_DETERMINISTIC;
	if (promise == TN_DETERMINISM_NEVER || sample_run(sample))
		return;
	result = sample_result(sample, &size);
	for (int again = 0; again < 3; again++)
		if (!sample_run(sample))
			sample_expect_bits(sample, result, "call.deterministic");
	free(result);
}

void check_call_deterministic(struct kit *kit)
{
	on_every_sample(kit, "run again", repeats);
}
