/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Launches for tests of the interpreter: text in, memory of this process as the device's.
 */
#ifndef SIMCUDA_PTX_FIXTURE_H
#define SIMCUDA_PTX_FIXTURE_H

#include "check.h"
#include "ptx.h"

/* The memory that a launch may access: up to four buffers. */
struct buffers {
	void *start[4];
	size_t bytes[4];
	unsigned asked;
};

static inline const char *check_buffers(void *arg, uint64_t address, size_t size, int write)
{
	struct buffers *buffers = arg;
	(void)write;
	buffers->asked++;
	for (int i = 0; i < 4; i++) {
		uint64_t start = (uint64_t)(uintptr_t)buffers->start[i];
		if (address >= start && address + size <= start + buffers->bytes[i])
			return NULL;
	}
	return "not allocated";
}

static inline struct ptx_module *parse_text(const char *text)
{
	char message[512] = "";
	struct ptx_module *module = ptx_parse(text, strlen(text), message, sizeof message);
	if (!module)
		print_error("%s\n", message);
	assert_non_null(module);
	return module;
}

/* One kernel over `grid` blocks of `block` threads, whose parameters are the buffers and then
 * `n`. */
struct call {
	struct ptx_launch launch;
	struct buffers buffers;
	struct ptx_fault fault;
	struct ptx_counts counts;
	const void *arguments[8];
	int n;
};

static inline void prepare(struct call *call, unsigned grid, unsigned block)
{
	memset(call, 0, sizeof *call);
	for (int i = 0; i < 3; i++) {
		call->launch.grid[i] = i ? 1 : grid;
		call->launch.block[i] = i ? 1 : block;
	}
	call->launch.arguments = call->arguments;
	call->launch.check = check_buffers;
	call->launch.arg = &call->buffers;
}

static inline void lend(struct call *call, int index, void *start, size_t bytes)
{
	call->buffers.start[index] = start;
	call->buffers.bytes[index] = bytes;
	call->arguments[index] = &call->buffers.start[index];
}

static inline int run_kernel(struct call *call, const struct ptx_module *module, const char *name)
{
	const struct ptx_kernel *kernel = ptx_kernel(module, name);
	assert_non_null(kernel);
	int code = ptx_run(kernel, &call->launch, &call->counts, &call->fault);
	assert_int_equal(code, call->fault.code);
	return code;
}

static inline void run_well(struct call *call, const struct ptx_module *module, const char *name)
{
	if (run_kernel(call, module, name)) {
		print_error("%s\n", call->fault.text);
		fail();
	}
}

#endif
