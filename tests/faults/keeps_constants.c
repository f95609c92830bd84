/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: work is deferred with a copy of its program, whose constants are still the caller's.
 * Conform: L5 call.borrowed
 */
#include "right.h"

struct later {
	struct right right;
	struct tn_map_args pending;
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS], outputs[TN_PROGRAM_MAX_OUTPUTS];
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	struct tn_program program;
	struct tn_instruction instructions[TN_PROGRAM_MAX_INSTRUCTIONS];
	uint16_t program_outputs[TN_PROGRAM_MAX_OUTPUTS];
	int is_pending;
};

static void flush(void *device)
{
	struct later *later = (struct later *)device;
	if (later->is_pending)
		right_map(device, &later->pending);
	later->is_pending = 0;
}

static void keep(struct later *later, const struct tn_map_args *args)
{
	const struct tn_program *program = args->program;
	later->pending = *args;
	later->pending.call.error = NULL;
	later->pending.call.workspace = NULL;
	later->pending.program = &later->program;
	later->pending.inputs = later->inputs;
	later->pending.outputs = later->outputs;
	later->pending.scalars = later->scalars;
	memcpy(later->inputs, args->inputs, program->n_inputs * sizeof(*args->inputs));
	memcpy(later->outputs, args->outputs, program->n_outputs * sizeof(*args->outputs));
	if (program->n_scalars)
		memcpy(later->scalars, args->scalars, program->n_scalars * sizeof(*args->scalars));
	later->program = *program;
	memcpy(later->instructions, program->instructions,
	       program->n_instructions * sizeof(*program->instructions));
	memcpy(later->program_outputs, program->outputs,
	       program->n_outputs * sizeof(*program->outputs));
	later->program.instructions = later->instructions;
	later->program.outputs = later->program_outputs;
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct later *later = (struct later *)device;
	struct tn_map_args own;
	flush(device);
	if (args->call.flags & TN_DRY_RUN || tn_arguments_take(&own, sizeof(own), args))
		return right_map(device, args);
	own.call.flags |= TN_DRY_RUN;
	tn_status status = right_map(device, &own);
	own.call.flags &= ~(uint32_t)TN_DRY_RUN;
	later->is_pending = !status;
	if (!status)
		keep(later, &own);
	return status;
}

static tn_status reduce(void *device, const struct tn_reduce_args *args)
{
	flush(device);
	return right_reduce(device, args);
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	flush(device);
	return right_matmul(device, args);
}

static tn_status copy(void *device, const struct tn_copy_args *args)
{
	flush(device);
	return right_copy(device, args);
}

static tn_status upload(void *device, const struct tn_transfer_args *args)
{
	flush(device);
	return right_upload(device, args);
}

static tn_status download(void *device, const struct tn_transfer_args *args)
{
	flush(device);
	return right_download(device, args);
}

static tn_status sync_stream(void *device, const struct tn_sync_args *args)
{
	flush(device);
	return right_sync(device, args);
}

static void break_it(struct right *right)
{
	right->device_flags = TN_DEVICE_HOST_MEMORY;
	right->compute.map = map;
	right->compute.reduce = reduce;
	right->compute.matmul = matmul;
	right->copy.copy = copy;
	right->device.upload = upload;
	right->device.download = download;
	right->device.sync = sync_stream;
}

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	void *made;
	tn_status status = right_create(host, error, &made);
	if (status)
		return status;
	struct later *later = (struct later *)host->alloc(host->context, sizeof(*later), 0);
	if (later) {
		memset(later, 0, sizeof(*later));
		later->right = *(struct right *)made;
	}
	right_destroy(made);
	*instance = later;
	return later ? TN_OK : TN_OUT_OF_MEMORY;
}

RIGHT_PLUGIN_OF("keeps_constants", create);
