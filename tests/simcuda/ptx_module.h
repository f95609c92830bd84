/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A module after parsing: functions, variables and one array of decoded steps.
 *
 * A register is an array of 32 lanes, and its place is a number of bytes in the register file of a
 * warp; negative places count into the module's constants.  Functions do not recurse, so each has
 * its registers, its local variables and the parameters of its calls at fixed places.
 */
#ifndef SIMCUDA_PTX_MODULE_H
#define SIMCUDA_PTX_MODULE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx.h"
#include "ptx_lanes.h"

/* Windows of generic addresses; a global or constant address is that of the host.  The offset is in
 * the low half. */
#define PTX_SHARED_WINDOW (1ull << 56)
#define PTX_LOCAL_WINDOW (2ull << 56)
#define PTX_PARAMETER_WINDOW (3ull << 56)
#define PTX_FUNCTION_WINDOW (4ull << 56)
#define PTX_WINDOW_MASK (0xffull << 56)

enum ptx_space {
	PTX_GENERIC,
	PTX_GLOBAL,
	PTX_SHARED,
	PTX_LOCAL,
	PTX_CONSTANT,
	PTX_PARAMETER, /* of the kernel; a device function's are local */
	PTX_REGISTER,
};

/* Special registers, in the first slots of every register file.  A slot is PTX_SLOT bytes. */
enum ptx_special {
	PTX_NOTHING, /* what unused operands point to */
	PTX_CARRY,
	PTX_TID_X,
	PTX_TID_Y,
	PTX_TID_Z,
	PTX_NTID_X,
	PTX_NTID_Y,
	PTX_NTID_Z,
	PTX_CTAID_X,
	PTX_CTAID_Y,
	PTX_CTAID_Z,
	PTX_NCTAID_X,
	PTX_NCTAID_Y,
	PTX_NCTAID_Z,
	PTX_LANEID,
	PTX_WARPID,
	PTX_NWARPID,
	PTX_SMID,
	PTX_NSMID,
	PTX_GRIDID,
	PTX_CLOCK,
	PTX_CLOCK64,
	PTX_LANEMASK_EQ,
	PTX_LANEMASK_LE,
	PTX_LANEMASK_LT,
	PTX_LANEMASK_GE,
	PTX_LANEMASK_GT,
	PTX_DYNAMIC_SIZE,
	PTX_TOTAL_SIZE,
	PTX_DYNAMIC_PLACE, /* where the launch's shared memory starts */
	PTX_SPECIALS
};

#define PTX_SLOT (PTX_LANES * 8)
#define PTX_FIRST_PLACE (PTX_SPECIALS * PTX_SLOT)

struct ptx_warp;
struct ptx_step;

/* What the scheduler does after an action. */
enum ptx_next {
	PTX_ON,     /* to the next step */
	PTX_JUMPED, /* the action has set the next step of the lanes */
	PTX_FAILED, /* the fault is written */
};

typedef enum ptx_next (*ptx_action)(struct ptx_warp *warp, const struct ptx_step *step,
				    uint32_t mask);

/* Either a lane function or an action. */
struct ptx_step {
	ptx_lanes lanes;
	ptx_action action;
	int32_t d;
	int32_t s[4];
	int32_t guard; /* place of a predicate, 0: none */
	uint8_t guard_not;
	uint8_t size;      /* bytes of a lane of the result */
	uint8_t direction; /* of rounding, enum ptx_direction */
	uint8_t counted;   /* the last step of an instruction */
	uint32_t line;
	uint32_t index;    /* its own place in the array of steps */
	const void *extra; /* extra data of an action, in the module */
};

#define PTX_VECTOR 16

/* For all memory accesses. */
struct ptx_access {
	enum ptx_space space;
	uint8_t size;  /* bytes of an element */
	uint8_t count; /* elements of a vector */
	uint8_t sign;  /* loaded values are sign-extended */
	uint8_t write;
	uint8_t strong;    /* volatile, or ordered by itself */
	uint8_t address64; /* the register of the address has 64 bits */
	int32_t base;      /* its place; 0: there is none */
	int64_t offset;
	int32_t place[PTX_VECTOR]; /* of the registers; 0: none (`_`) */
	uint8_t width[PTX_VECTOR]; /* and the bytes of a lane of each */
	uint32_t span;             /* the launch's span that caches allowed addresses */
};

struct ptx_symbol {
	char *name;
	enum ptx_space space;
	uint64_t offset; /* in its space, or the address on the host */
	size_t size;
	int is_extern; /* dynamic shared memory */
	uint32_t scope;
};

/* A parameter of a function, or the place of its result. */
struct ptx_parameter {
	char *name;
	size_t offset, size;
};

struct ptx_function {
	char *name;
	struct ptx_module *module;
	struct ptx_parameter *parameters, *results;
	size_t parameter_count, result_count;
	size_t parameter_bytes;
	int is_entry;
	const char *body; /* the start of its text; NULL: declared only */
	uint32_t body_line;
	uint32_t entry, end; /* its steps */
	unsigned registers, instructions;
	uint32_t register_bytes; /* of the register file, all below included */
	size_t local_bytes, shared_bytes;
};

struct ptx_kernel {
	struct ptx_function *function;
	_Atomic(void *) spare; /* working memory of a launch that has ended */
	size_t spare_bytes;
};

struct ptx_variable {
	char *name;
	unsigned char *data;
	size_t size;
};

struct ptx_block_list {
	void **blocks;
	size_t count, capacity;
};

struct ptx_module {
	char *text;
	struct ptx_function **functions;
	size_t function_count;
	struct ptx_kernel *kernels;
	size_t kernel_count;
	struct ptx_step *steps;
	size_t step_count, step_capacity;
	unsigned char *constants; /* slots of broadcast numbers; place -n is at constants + n */
	size_t constant_bytes, constant_capacity;
	struct ptx_symbol *symbols; /* of the module */
	size_t symbol_count, symbol_capacity;
	struct ptx_variable *variables;
	size_t variable_count, variable_capacity;
	struct ptx_block_list memory; /* everything with the lifetime of the module */
	size_t shared_bytes; /* of variables outside kernels, then the most of any kernel */
	size_t span_count;
	size_t grain; /* bytes of the smallest access to shared memory, at most 4 */
};

/* Zeroed memory of the module; NULL: out of memory. */
void *ptx_keep(struct ptx_module *module, size_t size);
char *ptx_keep_text(struct ptx_module *module, const char *text, size_t length);
/* Grows an array: the new one, or NULL. */
void *ptx_grow(void *array, size_t *capacity, size_t needed, size_t size);
struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name,
				       size_t length);
/* The function that contains a step. */
const struct ptx_function *ptx_function_of(const struct ptx_module *module, uint32_t step);

#endif
