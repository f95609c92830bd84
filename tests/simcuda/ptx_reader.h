/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Declarations shared by the parser and the decoder while a module is read.  Functions return 0
 * after ptx_refuse.
 */
#ifndef SIMCUDA_PTX_READER_H
#define SIMCUDA_PTX_READER_H

#include "ptx_lex.h"
#include "ptx_module.h"
#include "ptx_small.h"

/* kind: 'u', 's' whole numbers, 'b' bits, 'f' floats, 'h' f16, 't' bf16, 'p' predicate,
 * 'x' others */
struct ptx_type {
	const char *name;
	char kind;
	uint8_t size;
	uint8_t pair; /* f16x2 and its like: two elements in 32 bits */
};

enum ptx_operand_kind {
	PTX_OPERAND_NONE,
	PTX_OPERAND_REGISTER,
	PTX_OPERAND_NUMBER,
	PTX_OPERAND_SYMBOL, /* a variable's address, or a function's */
	PTX_OPERAND_NAME,   /* not known (yet): a label, a function, a prototype */
	PTX_OPERAND_ADDRESS,
	PTX_OPERAND_VECTOR,
	PTX_OPERAND_LIST,
	PTX_OPERAND_PAIR,
	PTX_OPERAND_SINK,
};

struct ptx_operand {
	enum ptx_operand_kind kind;
	int32_t place; /* of a register, or of an address's base (0: none) */
	uint8_t size;  /* bytes of its lane */
	uint8_t predicate;
	uint8_t negated;
	uint8_t single, floating; /* of a number */
	uint64_t number;
	int64_t offset;
	const struct ptx_symbol *symbol;
	const struct ptx_function *function;
	const char *text;
	size_t length;
	unsigned first, count; /* elements */
};

#define PTX_OPERANDS 96
#define PTX_PARTS 16
#define PTX_TOP 12

/* One instruction as written. */
struct ptx_instruction {
	char text[128];  /* the opcode with all its parts */
	char split[128]; /* the same, cut at the dots */
	const char *part[PTX_PARTS];
	size_t parts;
	const struct ptx_type *types[4];
	size_t type_count;
	int32_t guard;
	int guard_not;
	uint32_t line;
	unsigned operand[PTX_TOP];
	unsigned operands;
};

struct ptx_register {
	const char *name;
	size_t length;
	uint32_t count; /* NAME0 .. NAMEcount-1; 0: NAME itself */
	int32_t place;
	uint8_t size, predicate;
	uint32_t scope;
};

struct ptx_targets;

struct ptx_label {
	const char *name;
	size_t length;
	uint32_t scope, step;
	const struct ptx_targets *targets; /* of a .branchtargets */
};

/* A step's target whose label comes later, or an entry of a table of targets. */
struct ptx_fixup {
	const char *name;
	size_t length;
	uint32_t scope, line;
	uint32_t *target;
};

/* A register wider than the instruction's type: extended after the instruction. */
struct ptx_pending {
	int32_t from, to;
	uint8_t from_size, to_size, sign;
};

struct ptx_reader {
	struct ptx_module *module;
	struct ptx_lexer lexer;
	char *message;
	size_t capacity;
	int refused;
	struct ptx_function *function;
	int32_t next_place, frame_base;
	size_t next_local, next_shared;
	uint32_t *scope_parent;
	size_t scopes, scope_capacity;
	uint32_t scope;
	unsigned depth;
	struct ptx_register *registers;
	size_t register_count, register_capacity;
	struct ptx_symbol *symbols; /* of the function */
	size_t symbol_count, symbol_capacity;
	struct ptx_label *labels;
	size_t label_count, label_capacity;
	struct ptx_fixup *fixups;
	size_t fixup_count, fixup_capacity;
	struct ptx_operand operands[PTX_OPERANDS];
	unsigned operand_count;
	struct ptx_instruction now;
	int32_t scratch[48]; /* places for intermediate values of an instruction */
	unsigned scratch_used, scratch_made;
	struct ptx_pending pending[PTX_VECTOR];
	unsigned pending_count;
	uint32_t constant_of[1024];
};

int ptx_refuse(struct ptx_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ptx_declare.c */
size_t ptx_align(size_t offset, size_t alignment);
int ptx_expect(struct ptx_reader *reader, char sign);
int ptx_accept(struct ptx_reader *reader, char sign);
int ptx_read_registers(struct ptx_reader *reader);
int ptx_read_variable(struct ptx_reader *reader, enum ptx_space space, int is_extern);
int ptx_read_parameter(struct ptx_reader *reader, struct ptx_parameter *parameter, size_t *bytes);
int ptx_read_local_parameter(struct ptx_reader *reader);
int ptx_add_symbol(struct ptx_reader *reader, const struct ptx_symbol *symbol);

/* ptx_body.c */
int ptx_read_body(struct ptx_reader *reader, struct ptx_function *function);
int32_t ptx_new_place(struct ptx_reader *reader, size_t size);
int ptx_in_scope(const struct ptx_reader *reader, uint32_t scope, uint32_t from);

/* ptx_operand.c */
int ptx_read_operands(struct ptx_reader *reader);
int ptx_find_register(struct ptx_reader *reader, const char *name, size_t length,
		      struct ptx_operand *operand);
const struct ptx_symbol *ptx_find_symbol(const struct ptx_reader *reader, const char *name,
					 size_t length);

/* ptx_decode.c */
int ptx_decode(struct ptx_reader *reader);

#endif
