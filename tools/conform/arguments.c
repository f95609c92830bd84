/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every entry must refuse unknown numbers and flags, fields of a later version, and shapes that do
 * not match.  kit_run_refused checks that nothing was modified.
 */
#include "programs.h"
#include "slots.h"

/* A small valid call of each family, in which each case invalidates one argument. */
struct sample {
	struct kit *kit;
	struct array x, w, y;
	struct array *all[3];
};

static void begin(struct kit *kit, struct sample *s)
{
	static const int64_t plane[4] = {1, 2, 4, 4}, filter[4] = {2, 2, 3, 3};
	s->kit = kit;
	array_make(kit, &s->x, INPUT, TN_F32, 4, plane, COMPACT);
	array_make(kit, &s->w, INPUT, TN_F32, 4, filter, COMPACT);
	array_make(kit, &s->y, OUTPUT, TN_F32, 4, plane, COMPACT);
	array_randomise(&s->x, -1, 1);
	array_randomise(&s->w, -1, 1);
	s->all[0] = &s->x;
	s->all[1] = &s->w;
	s->all[2] = &s->y;
}

static void end(struct sample *s)
{
	for (int i = 0; i < 3; i++)
		array_free(s->all[i]);
}

/* ---- What holds of every entry: the call's header ---------------------------------------------*/

/* Arguments in a struct of a later version, with eight more bytes at its end. */
struct later {
	unsigned char bytes[2048];
};

static void refuses_the_unknown(struct sample *s, const void *args, size_t size)
{
	struct kit *kit = s->kit;
	union {
		struct later later;
		struct tn_call call;
	} u;
	int slot = kit->slot;
	char name[64];
	memcpy(name, kit->case_name, sizeof(name));
	name[sizeof(name) - 1] = 0;

	memset(&u, 0, sizeof(u));
	memcpy(&u, args, size);
	kit_case(kit, slot, "%s: an unknown flag", name);
	u.call.flags |= TN_CALL_FLAG_UNASSIGNED;
	kit_run_refused(kit, &u, s->all, 3, TN_UNSUPPORTED);

	memcpy(&u, args, size);
	kit_case(kit, slot, "%s: a later version's field that is set", name);
	u.call.struct_size = (uint32_t)size + 8;
	u.later.bytes[size + 7] = 1;
	kit_run_refused(kit, &u, s->all, 3, TN_UNSUPPORTED);

	kit_case(kit, slot, "%s: a later version's field that is zero", name);
	u.later.bytes[size + 7] = 0;
	kit_run_ok(kit, &u, s->all, 3);
}

/* ---- Map and reduce ---------------------------------------------------------------------------*/

/* A copy of a program with one instruction changed, so that no backend has it in a cache. */
struct forged {
	struct tn_program program;
	struct tn_instruction instructions[TN_PROGRAM_MAX_INSTRUCTIONS];
};

/* The same with room for one more of everything: instructions that follow repeat the last. */
struct large_program {
	struct tn_program program;
	struct tn_instruction instructions[TN_PROGRAM_MAX_INSTRUCTIONS + 1];
	uint64_t constants[TN_PROGRAM_MAX_CONSTANTS + 1];
	uint16_t outputs[TN_PROGRAM_MAX_OUTPUTS + 1];
};

static void make_large(struct large_program *large, const struct tn_program *from)
{
	memset(large, 0, sizeof(*large));
	large->program = *from;
	for (uint32_t i = 0; i <= TN_PROGRAM_MAX_INSTRUCTIONS; i++)
		large->instructions[i] =
			from->instructions[i < from->n_instructions ? i : from->n_instructions - 1];
	for (uint32_t j = 0; j <= TN_PROGRAM_MAX_OUTPUTS; j++)
		large->outputs[j] = from->outputs[0];
	large->program.instructions = large->instructions;
	large->program.constants = large->constants;
	large->program.outputs = large->outputs;
	large->program.bytes = large;
	large->program.n_bytes = sizeof(*large);
}

static void forge(struct forged *forged, const struct tn_program *from, uint32_t number,
		  uint16_t op, uint16_t dtype)
{
	forged->program = *from;
	memcpy(forged->instructions, from->instructions,
	       from->n_instructions * sizeof(*from->instructions));
	forged->instructions[number].op = op;
	forged->instructions[number].dtype = dtype;
	forged->program.instructions = forged->instructions;
	forged->program.bytes = forged->instructions;
	forged->program.n_bytes = from->n_instructions * sizeof(*from->instructions);
	forged->program.hash[0] ^= UINT64_C(0x5851f42d4c957f2d) * (op + 3u * dtype);
}

/* One more of each than this version allows: a later one may allow it. */
static void exceeds_limits(struct sample *s, const struct tn_program *program)
{
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS + 1], outputs[TN_PROGRAM_MAX_OUTPUTS + 1];
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS + 1];
	const struct {
		const char *what;
		uint32_t n_inputs, n_outputs, n_scalars, n_constants, n_instructions, rank;
	} cases[] = {
		{"inputs", TN_PROGRAM_MAX_INPUTS, 0, 0, 0, 0, 0},
		{"outputs", 0, TN_PROGRAM_MAX_OUTPUTS, 0, 0, 0, 0},
		{"scalars", 0, 0, TN_PROGRAM_MAX_SCALARS + 1, 0, 0, 0},
		{"constants", 0, 0, 0, TN_PROGRAM_MAX_CONSTANTS + 1, 0, 0},
		{"instructions", 0, 0, 0, 0, TN_PROGRAM_MAX_INSTRUCTIONS - 1, 0},
		{"axes", 0, 0, 0, 0, 0, TN_MAX_RANK + 1},
	};
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		inputs[i] = s->x.operand;
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		outputs[i] = s->y.operand;
	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
		scalars[i] = (struct tn_scalar){.dtype = TN_F32};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct large_program large;
		make_large(&large, program);
		large.program.n_inputs += cases[i].n_inputs;
		large.program.n_outputs += cases[i].n_outputs;
		large.program.n_scalars += cases[i].n_scalars;
		large.program.n_constants += cases[i].n_constants;
		large.program.n_instructions += cases[i].n_instructions;
		large.program.hash[0] ^= i + 1;
		inputs[0].rank = outputs[0].rank = cases[i].rank ? cases[i].rank : 4;
		struct tn_map_args args = {.call = CALL(struct tn_map_args),
					   .program = &large.program,
					   .inputs = inputs,
					   .outputs = outputs,
					   .scalars = scalars};
		kit_case(s->kit, TN_SLOT_MAP, "map: too many %s", cases[i].what);
		kit_run_refused(s->kit, &args, s->all, 3, TN_UNSUPPORTED);
	}
}

static void checks_map(struct sample *s)
{
	static const struct {
		uint16_t op, dtype;
	} unknown[] = {{TN_OP_UNASSIGNED, TN_F32}, {15, TN_F32},    {47, TN_F32},  {0, TN_F32},
		       {0x8001, TN_F32},           {TN_OP_NEG, 77}, {TN_OP_NEG, 0}};
	struct tn_program *program = operation_program(TN_OP_NEG, 1, TN_F32, TN_F32);
	struct tn_map_args args = {.call = CALL(struct tn_map_args),
				   .program = program,
				   .inputs = &s->x.operand,
				   .outputs = &s->y.operand};
	struct forged forged;
	kit_case(s->kit, TN_SLOT_MAP, "map");
	refuses_the_unknown(s, &args, sizeof(args));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		kit_case(s->kit, TN_SLOT_MAP, "map: opcode %u of dtype %u", unknown[i].op,
			 unknown[i].dtype);
		forge(&forged, program, 1, unknown[i].op, unknown[i].dtype);
		args.program = &forged.program;
		kit_run_refused(s->kit, &args, s->all, 3, TN_UNSUPPORTED);
	}
	args.program = program;
	exceeds_limits(s, program);
	kit_case(s->kit, TN_SLOT_MAP, "map: an operand of an unknown dtype");
	struct tn_operand strange = s->x.operand;
	strange.dtype = 99;
	args.inputs = &strange;
	kit_run_refused(s->kit, &args, s->all, 3, TN_UNSUPPORTED);
	tn_program_destroy(program);
}

static void checks_reduce(struct sample *s)
{
	struct tn_program *program = identity_program(TN_F32, 1);
	struct tn_operand out = s->y.operand;
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args),
				      .prologue = program,
				      .inputs = &s->x.operand,
				      .outputs = &out,
				      .n_reduced = 2,
				      .n_values = 1,
				      .combiners = {TN_REDUCE_SUM}};
	out.rank = 2;
	kit_case(s->kit, TN_SLOT_REDUCE, "reduce");
	refuses_the_unknown(s, &args, sizeof(args));
	for (uint32_t combiner = 0; combiner < 100; combiner += 7) {
		kit_case(s->kit, TN_SLOT_REDUCE, "reduce: combiner %u", combiner);
		args.combiners[0] = combiner;
		kit_run_refused(s->kit, &args, s->all, 3, TN_UNSUPPORTED);
	}
	tn_program_destroy(program);
}

/* ---- Matmul and copies ------------------------------------------------------------------------*/

static void checks_matmul(struct sample *s)
{
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args),
				      .a = s->x.operand,
				      .b = s->x.operand,
				      .c = s->y.operand,
				      .alpha = 1};
	kit_case(s->kit, TN_SLOT_MATMUL, "matmul");
	refuses_the_unknown(s, &args, sizeof(args));
	kit_case(s->kit, TN_SLOT_MATMUL, "matmul: an unknown dtype");
	args.a.dtype = args.b.dtype = args.c.dtype = 99;
	kit_run_refused(s->kit, &args, s->all, 3, TN_UNSUPPORTED);
	args.a.dtype = args.b.dtype = args.c.dtype = TN_F32;
	kit_case(s->kit, TN_SLOT_MATMUL, "matmul: lengths that do not match");
	args.b.shape[2] = 3;
	kit_run_refused(s->kit, &args, s->all, 3, TN_SHAPE);
}

static void checks_copy(struct sample *s)
{
	struct tn_copy_args copy = {
		.call = CALL(struct tn_copy_args), .input = s->x.operand, .output = s->y.operand};
	struct tn_fill_args fill = {.call = CALL(struct tn_fill_args),
				    .output = s->y.operand,
				    .value = {.dtype = TN_F32, .bits = 0x3f800000}};
	kit_case(s->kit, TN_SLOT_COPY, "copy");
	if (tn_backend_has(s->kit->backend, TN_SLOT_COPY))
		refuses_the_unknown(s, &copy, sizeof(copy));
	kit_case(s->kit, TN_SLOT_FILL, "fill");
	if (!tn_backend_has(s->kit->backend, TN_SLOT_FILL))
		return;
	refuses_the_unknown(s, &fill, sizeof(fill));
	kit_case(s->kit, TN_SLOT_FILL, "fill: an unknown dtype");
	fill.output.dtype = fill.value.dtype = 99;
	kit_run_refused(s->kit, &fill, s->all, 3, TN_UNSUPPORTED);
}

/* ---- Layers -----------------------------------------------------------------------------------*/

static void checks_conv2d(struct sample *s)
{
	struct tn_conv2d_args right = {.call = CALL(struct tn_conv2d_args),
				       .x = s->x.operand,
				       .w = s->w.operand,
				       .y = s->y.operand,
				       .groups = 1,
				       .stride = {1, 1},
				       .dilation = {1, 1},
				       .padding = {1, 1, 1, 1}};
	struct tn_conv2d_args args = right;
	if (!tn_backend_has(s->kit->backend, TN_SLOT_CONV2D_FORWARD))
		return;
	kit_case(s->kit, TN_SLOT_CONV2D_FORWARD, "conv2d");
	refuses_the_unknown(s, &args, sizeof(args));
	kit_case(s->kit, TN_SLOT_CONV2D_FORWARD, "conv2d: y too large for the padding");
	args.padding[0] = 0;
	kit_run_refused(s->kit, &args, s->all, 3, TN_SHAPE);
	kit_case(s->kit, TN_SLOT_CONV2D_FORWARD, "conv2d: channels that groups do not divide");
	args = right;
	args.groups = 3;
	kit_run_refused(s->kit, &args, s->all, 3, TN_SHAPE);
	kit_case(s->kit, TN_SLOT_CONV2D_FORWARD, "conv2d: a filter larger than the padded plane");
	args = right;
	args.dilation[0] = 4;
	kit_run_refused(s->kit, &args, s->all, 3, TN_SHAPE);
	kit_case(s->kit, TN_SLOT_CONV2D_FORWARD, "conv2d: stride 0");
	args = right;
	args.stride[1] = 0;
	kit_run_refused(s->kit, &args, s->all, 3, TN_OK);
}

static void checks_pool2d(struct sample *s)
{
	struct tn_pool2d_args args = {.call = CALL(struct tn_pool2d_args),
				      .x = s->x.operand,
				      .y = s->y.operand,
				      .kind = TN_POOL_AVERAGE,
				      .kernel = {3, 3},
				      .stride = {1, 1},
				      .padding = {1, 1, 1, 1}};
	if (!tn_backend_has(s->kit->backend, TN_SLOT_POOL2D_FORWARD))
		return;
	kit_case(s->kit, TN_SLOT_POOL2D_FORWARD, "pool2d");
	refuses_the_unknown(s, &args, sizeof(args));
	kit_case(s->kit, TN_SLOT_POOL2D_FORWARD, "pool2d: an unknown kind");
	args.kind = 9;
	kit_run_refused(s->kit, &args, s->all, 3, TN_UNSUPPORTED);
	args.kind = TN_POOL_AVERAGE;
	kit_case(s->kit, TN_SLOT_POOL2D_FORWARD, "pool2d: a padding above half the kernel");
	args.padding[2] = 2;
	kit_run_refused(s->kit, &args, s->all, 3, TN_OK);
}

void check_arguments(struct kit *kit)
{
	struct sample s;
	begin(kit, &s);
	if (kit->description.program_dtypes) {
		checks_map(&s);
		checks_reduce(&s);
	}
	if (kit->description.matmul_dtypes)
		checks_matmul(&s);
	checks_copy(&s);
	checks_conv2d(&s);
	checks_pool2d(&s);
	end(&s);
	check_arguments_device(kit);
}
