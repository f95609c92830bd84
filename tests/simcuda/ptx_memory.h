/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loads, stores, atomics and copies.
 */
#ifndef SIMCUDA_PTX_MEMORY_H
#define SIMCUDA_PTX_MEMORY_H

#include "ptx_decode.h"

enum ptx_atomic_operation {
	PTX_ATOMIC_ADD,
	PTX_ATOMIC_MIN,
	PTX_ATOMIC_MAX,
	PTX_ATOMIC_AND,
	PTX_ATOMIC_OR,
	PTX_ATOMIC_XOR,
	PTX_ATOMIC_INC,
	PTX_ATOMIC_DEC,
	PTX_ATOMIC_EXCH,
	PTX_ATOMIC_CAS,
};

struct ptx_atomic {
	struct ptx_access access;
	enum ptx_atomic_operation operation;
	char kind;    /* of the type */
	uint8_t pair; /* f16x2 */
	int32_t d, b, c;
};

/* cp.async: two accesses, the bytes that are read (0: as many as written),
 * and a predicate to skip. */
struct ptx_copy {
	struct ptx_access to, from;
	int32_t bytes;
	int32_t ignore;
};

/* The operand [address] of an access, whose space, size and count are set.  0 after a refusal. */
int ptx_read_access(struct ptx_reader *reader, unsigned operand, struct ptx_access *access);

enum ptx_next ptx_load(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_run_atomic(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_copy_async(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);

#endif
