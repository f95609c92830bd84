/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Branches, calls, barriers of the block.
 */
#include <string.h>

#include "ptx_control.h"
#include "ptx_decode.h"

static int add_fixup(struct ptx_reader *reader, const char *name, size_t length, uint32_t *target)
{
	struct ptx_fixup *list = ptx_grow(reader->fixups, &reader->fixup_capacity,
					  reader->fixup_count + 1, sizeof *list);
	if (!list)
		return ptx_refuse(reader, "out of memory");
	reader->fixups = list;
	struct ptx_fixup fixup = {name, length, reader->scope, reader->lexer.line, target};
	list[reader->fixup_count++] = fixup;
	return 1;
}

static int bra(struct ptx_reader *reader)
{
	uint32_t *target = ptx_keep(reader->module, sizeof *target);
	if (!target)
		return ptx_refuse(reader, "out of memory");
	if (!ptx_modifiers(reader, "uni") || !ptx_wants(reader, 1, 1))
		return 0;
	const struct ptx_operand *label = ptx_top(reader, 0);
	if (label->kind != PTX_OPERAND_NAME)
		return ptx_refuse(reader, "bra: a label is expected");
	return add_fixup(reader, label->text, label->length, target) &&
	       ptx_action_step(reader, ptx_branch, target) != NULL;
}

#define MOST_TARGETS 4096

/* NAME: .branchtargets a, b, c;  The list belongs to the label before it. */
int ptx_read_targets(struct ptx_reader *reader, struct ptx_label *label)
{
	struct ptx_targets *targets = ptx_keep(reader->module, sizeof *targets);
	uint32_t *list = ptx_keep(reader->module, MOST_TARGETS * sizeof *list);
	if (!targets || !list)
		return ptx_refuse(reader, "out of memory");
	if (!reader->label_count)
		return ptx_refuse(reader, ".branchtargets without a label");
	ptx_next_token(&reader->lexer);
	do {
		if (reader->lexer.token != PTX_WORD || targets->count == MOST_TARGETS)
			return ptx_refuse(reader, ".branchtargets: a label is expected");
		if (!add_fixup(reader, reader->lexer.text, reader->lexer.length,
			       &list[targets->count++]))
			return 0;
		ptx_next_token(&reader->lexer);
	} while (ptx_accept(reader, ','));
	targets->target = list;
	label->targets = targets;
	return ptx_expect(reader, ';');
}

/* The list of targets may come before or after; NVRTC writes it before. */
static int brx(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "idx uni") || !ptx_wants(reader, 2, 2))
		return 0;
	const struct ptx_operand *name = ptx_top(reader, 1);
	const struct ptx_targets *found = NULL;
	for (size_t i = 0; i < reader->label_count; i++)
		if (name->kind == PTX_OPERAND_NAME && reader->labels[i].targets &&
		    reader->labels[i].length == name->length &&
		    memcmp(reader->labels[i].name, name->text, name->length) == 0)
			found = reader->labels[i].targets;
	if (!found)
		return ptx_refuse(reader, "brx.idx: unknown list of targets");
	struct ptx_targets *targets = ptx_keep(reader->module, sizeof *targets);
	if (!targets)
		return ptx_refuse(reader, "out of memory");
	*targets = *found;
	targets->index = ptx_fetch(reader, 0, 4, NULL);
	return ptx_action_step(reader, ptx_branch_indexed, targets) != NULL;
}

/* The offsets of the .param variables of a list. */
static int offsets(struct ptx_reader *reader, const struct ptx_operand *list, uint32_t *offset,
		   unsigned most, unsigned *count)
{
	if (list->count > most)
		return ptx_refuse(reader, "call: more than %u parameters", most);
	for (unsigned i = 0; i < list->count; i++) {
		const struct ptx_operand *element = &reader->operands[list->first + i];
		if (element->kind != PTX_OPERAND_SYMBOL || element->symbol->space != PTX_LOCAL)
			return ptx_refuse(reader, "call: a .param variable is expected");
		offset[i] = (uint32_t)element->symbol->offset;
	}
	*count = list->count;
	return 1;
}

static int callee(struct ptx_reader *reader, struct ptx_operand *operand, struct ptx_call *call)
{
	if (operand->kind == PTX_OPERAND_REGISTER) {
		call->address = ptx_fetch_operand(reader, operand, 8, NULL);
		return !reader->refused;
	}
	call->function = operand->function;
	if (!call->function)
		return ptx_refuse(reader, "call: unknown function '%.*s'", (int)operand->length,
				  operand->text ? operand->text : "");
	if (!call->function->body)
		return ptx_refuse(reader, "call: %s has no body", call->function->name);
	if (call->function->parameter_count != call->arguments ||
	    call->function->result_count != call->results)
		return ptx_refuse(reader, "call: %s takes %zu parameters and gives %zu results",
				  call->function->name, call->function->parameter_count,
				  call->function->result_count);
	return 1;
}

/* call (results), function, (arguments), prototype; each list may be absent. */
static int call(struct ptx_reader *reader)
{
	struct ptx_call *call = ptx_keep(reader->module, sizeof *call);
	unsigned at = 0, n = reader->now.operands;
	if (!call)
		return ptx_refuse(reader, "out of memory");
	if (!ptx_modifiers(reader, "uni") || !ptx_wants(reader, 1, 4))
		return 0;
	if (ptx_top(reader, at)->kind == PTX_OPERAND_LIST &&
	    !offsets(reader, ptx_top(reader, at++), call->result, PTX_VECTOR, &call->results))
		return 0;
	if (at == n)
		return ptx_refuse(reader, "call: a function is expected");
	unsigned name = at++;
	if (at < n && ptx_top(reader, at)->kind == PTX_OPERAND_LIST &&
	    !offsets(reader, ptx_top(reader, at), call->argument, PTX_VECTOR * 2, &call->arguments))
		return 0;
	if (!callee(reader, ptx_top(reader, name), call) ||
	    !ptx_action_step(reader, ptx_run_call, call))
		return 0;
	return !call->results || ptx_action_step(reader, ptx_take_results, call) != NULL;
}

static int ret(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "uni") && ptx_wants(reader, 0, 0) &&
	       ptx_action_step(reader, ptx_return, NULL) != NULL;
}

static int leave(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "") && ptx_wants(reader, 0, 0) &&
	       ptx_action_step(reader, ptx_leave, NULL) != NULL;
}

static int trap(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "") && ptx_action_step(reader, ptx_trap, NULL) != NULL;
}

/* Sleeping and scheduling hints. */
static int nothing(struct ptx_reader *reader)
{
	return ptx_modifiers(reader, "u32 wait launch_dependents") &&
	       ptx_lane_step(reader, "mov_b32", 4, ptx_scratch(reader), 0, 0, 0);
}

/* bar.red.popc.u32 d, id, {count,} p; */
static int reduction(struct ptx_reader *reader, struct ptx_sync *sync)
{
	unsigned n = reader->now.operands;
	if (!ptx_wants(reader, 3, 4))
		return 0;
	sync->reduction = ptx_has(reader, "popc")  ? PTX_POPC
			  : ptx_has(reader, "and") ? PTX_AND
						   : PTX_OR;
	sync->id = ptx_fetch(reader, 1, 4, NULL);
	sync->count = n == 4 ? ptx_fetch(reader, 2, 4, NULL) : 0;
	sync->predicate = ptx_predicate(reader, ptx_top(reader, n - 1));
	sync->d = ptx_target(reader, 0, 4, 0);
	return !reader->refused;
}

int ptx_decode_warp_barrier(struct ptx_reader *reader);

/* bar.sync is aligned (all lanes together); barrier.sync is not, unless it says so. */
static int bar(struct ptx_reader *reader)
{
	struct ptx_sync *sync = ptx_keep(reader->module, sizeof *sync);
	if (!sync)
		return ptx_refuse(reader, "out of memory");
	if (ptx_has(reader, "warp"))
		return ptx_decode_warp_barrier(reader);
	if (!ptx_modifiers(reader, "cta sync arrive red popc and or aligned"))
		return 0;
	sync->aligned = strcmp(reader->now.part[0], "bar") == 0 || ptx_has(reader, "aligned");
	sync->arrives = (uint8_t)ptx_has(reader, "arrive");
	if (ptx_has(reader, "red")) {
		if (!reduction(reader, sync))
			return 0;
	} else {
		if (!ptx_wants(reader, 1, 2))
			return 0;
		sync->id = ptx_fetch(reader, 0, 4, NULL);
		sync->count = reader->now.operands == 2 ? ptx_fetch(reader, 1, 4, NULL) : 0;
	}
	return ptx_action_step(reader, ptx_synchronize, sync) != NULL;
}

static const struct ptx_opcode opcodes[] = {
	{"bar", bar},           {"barrier", bar},     {"bra", bra},    {"brkpt", trap},
	{"brx", brx},           {"call", call},       {"exit", leave}, {"griddepcontrol", nothing},
	{"nanosleep", nothing}, {"pmevent", nothing}, {"ret", ret},    {"trap", trap},
};

const struct ptx_opcode_table ptx_control_opcodes = {opcodes, sizeof opcodes / sizeof *opcodes};
