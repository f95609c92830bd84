/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An interpreter of PTX, the assembly that NVRTC writes.  The simulated cudart parses a module once
 * and runs its kernels on memory of this process: a global address is a host address, except in a
 * launch's window.
 */
#ifndef SIMCUDA_PTX_H
#define SIMCUDA_PTX_H

#include <stddef.h>
#include <stdint.h>

struct ptx_module;
struct ptx_kernel;

struct ptx_attributes {
	size_t static_shared;  /* bytes of a block, without what a launch adds */
	size_t local;          /* bytes of a thread */
	unsigned registers;    /* virtual ones, as the text declares them */
	unsigned instructions; /* of the kernel and what it may call */
};

/* Translated addresses: the bytes of `first` are at `bytes`, and so on. */
struct ptx_window {
	uint64_t first, size, bytes;
};

struct ptx_launch {
	unsigned grid[3], block[3];
	size_t shared;                /* dynamic bytes */
	const void *const *arguments; /* one pointer per parameter, as for cudaLaunchKernel */
	/* May `size` bytes at `address` be read or written?  NULL, or the reason why not (valid
	 * until ptx_run returns).  Called once for a whole span, and again per lane only if that is
	 * refused; allowed spans are not checked again in the same launch. */
	const char *(*check)(void *arg, uint64_t address, size_t size, int write);
	void *arg;
	struct ptx_window window; /* global addresses outside it are host addresses */
	unsigned order_seed;      /* the order of blocks, and of the warps in one; 0: ascending */
	int no_races;             /* not 0: races in shared memory are not detected */
};

struct ptx_fault {
	int code;       /* a cudaError_t: 700, 702, 710, 715, 716, 717, 719 or 720 */
	char text[512]; /* kernel, line of the PTX text, block and thread, what */
};

struct ptx_counts {
	uint64_t instructions; /* of warps */
	uint64_t sectors;      /* 32 bytes each, of global memory, counted once an instruction */
	uint64_t written;      /* of the sectors: those of stores and atomics */
};

/* Parses `length` bytes of text.  NULL and a message (line, what) if something is unknown. */
struct ptx_module *ptx_parse(const char *text, size_t length, char *message, size_t capacity);
void ptx_free(struct ptx_module *module);

/* NULL if there is no such kernel; the second iterates over all, NULL past the end. */
const struct ptx_kernel *ptx_kernel(const struct ptx_module *module, const char *name);
const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t index);
const char *ptx_kernel_name(const struct ptx_kernel *kernel);
void ptx_kernel_attributes(const struct ptx_kernel *kernel, struct ptx_attributes *attributes);

/* The number of parameters, and the bytes of one. */
size_t ptx_parameters(const struct ptx_kernel *kernel);
size_t ptx_parameter_size(const struct ptx_kernel *kernel, size_t index);

/* A .global or .const variable of the module: its address, and its size; NULL if there is none. */
void *ptx_variable(const struct ptx_module *module, const char *name, size_t *size);

/* Runs all blocks.  0, or the code of the fault.  Launches of one module may run in several
 * threads; their accesses to the same memory, including atomics, are then not ordered. */
int ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
	    struct ptx_counts *counts, struct ptx_fault *fault);

#endif
