/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes and releases what a context's runtime owns: root scope, ledger, program cache and
 * attachment.
 */
#include "context/runtime.h"

#include "array/array.h"
#include "array/host_buffer.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "dispatch/ledger.h"
#include "dispatch/programs.h"

tn_status tn_runtime_init(tn_context *context)
{
	struct tn_runtime *runtime = &context->runtime;
	runtime->context = context;
	runtime->generator.runtime = runtime;
	runtime->generator.state = &runtime->random;
	tn_error_reset(&runtime->error);
	tn_error_reset(&runtime->report);
	runtime->scope = tn_mem_zeroed(1, sizeof(*runtime->scope));
	runtime->ledger = tn_ledger_create();
	runtime->programs = tn_programs_create();
	if (runtime->scope && runtime->ledger && runtime->programs)
		return TN_OK;
	tn_runtime_release(context);
	return TN_OUT_OF_MEMORY;
}

void tn_runtime_release(tn_context *context)
{
	struct tn_runtime *runtime = &context->runtime;
	tn_capture_abandon(runtime);
	if (runtime->release_replicas)
		runtime->release_replicas(runtime);
	if (runtime->release_attachment)
		runtime->release_attachment(runtime->attachment);
	runtime->attachment = NULL;
	runtime->release_attachment = NULL;
	runtime->forget = NULL;
	tn_runtime_free_arrays(runtime);
	tn_runtime_free_host_buffers(runtime);
	tn_programs_destroy(runtime->programs);
	tn_ledger_destroy(runtime->ledger);
	runtime->programs = NULL;
	runtime->ledger = NULL;
}
