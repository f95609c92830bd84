/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shuffles, votes, matches, reductions over a warp, and bar.warp.sync.
 */
#include "ptx_decode.h"
#include "ptx_exchange.h"

static struct ptx_exchange *make(struct ptx_reader *reader)
{
	struct ptx_exchange *exchange = ptx_keep(reader->module, sizeof *exchange);
	if (!exchange)
		ptx_refuse(reader, "out of memory");
	return exchange;
}

/* d, or d|p. */
static void results(struct ptx_reader *reader, struct ptx_exchange *exchange)
{
	struct ptx_operand *top = ptx_top(reader, 0), *first = top;
	if (top->kind == PTX_OPERAND_PAIR) {
		first = &reader->operands[top->first];
		exchange->p = ptx_target_operand(reader, &reader->operands[top->first + 1], 4, 0);
	}
	exchange->d = ptx_target_operand(reader, first, 4, 0);
}

static int finish(struct ptx_reader *reader, struct ptx_exchange *exchange)
{
	return ptx_action_step(reader, ptx_run_exchange, exchange) != NULL;
}

static int shfl(struct ptx_reader *reader)
{
	struct ptx_exchange *exchange = make(reader);
	if (!exchange || !ptx_modifiers(reader, "sync up down bfly idx") ||
	    !ptx_wants(reader, 4, 5))
		return 0;
	if (!ptx_has(reader, "sync") || reader->now.operands != 5)
		return ptx_refuse(reader, "%s: only .sync is known", reader->now.text);
	exchange->kind = ptx_has(reader, "up")     ? PTX_SHUFFLE_UP
			 : ptx_has(reader, "down") ? PTX_SHUFFLE_DOWN
			 : ptx_has(reader, "bfly") ? PTX_SHUFFLE_BFLY
						   : PTX_SHUFFLE_IDX;
	exchange->a = ptx_fetch(reader, 1, 4, NULL);
	exchange->b = ptx_fetch(reader, 2, 4, NULL);
	exchange->c = ptx_fetch(reader, 3, 4, NULL);
	exchange->members = ptx_fetch(reader, 4, 4, NULL);
	results(reader, exchange);
	return finish(reader, exchange);
}

static int vote(struct ptx_reader *reader)
{
	struct ptx_exchange *exchange = make(reader);
	if (!exchange || !ptx_modifiers(reader, "sync all any uni ballot") ||
	    !ptx_wants(reader, 3, 3))
		return 0;
	exchange->kind = ptx_has(reader, "all")   ? PTX_VOTE_ALL
			 : ptx_has(reader, "any") ? PTX_VOTE_ANY
			 : ptx_has(reader, "uni") ? PTX_VOTE_UNI
						  : PTX_VOTE_BALLOT;
	exchange->a = ptx_predicate(reader, ptx_top(reader, 1));
	exchange->members = ptx_fetch(reader, 2, 4, NULL);
	results(reader, exchange);
	return finish(reader, exchange);
}

static int activemask(struct ptx_reader *reader)
{
	struct ptx_exchange *exchange = make(reader);
	if (!exchange || !ptx_modifiers(reader, "") || !ptx_wants(reader, 1, 1))
		return 0;
	exchange->kind = PTX_VOTE_BALLOT;
	exchange->a = ptx_constant(reader, 1, 4);
	results(reader, exchange);
	return finish(reader, exchange);
}

static int match(struct ptx_reader *reader)
{
	struct ptx_exchange *exchange = make(reader);
	if (!exchange || !ptx_modifiers(reader, "any all sync") || !ptx_wants(reader, 3, 3))
		return 0;
	exchange->kind = ptx_has(reader, "all") ? PTX_MATCH_ALL : PTX_MATCH_ANY;
	exchange->size = ptx_type_at(reader, 0)->size;
	exchange->a = ptx_fetch(reader, 1, exchange->size, NULL);
	exchange->members = ptx_fetch(reader, 2, 4, NULL);
	results(reader, exchange);
	return finish(reader, exchange);
}

static int redux(struct ptx_reader *reader)
{
	struct ptx_exchange *exchange = make(reader);
	if (!exchange || !ptx_modifiers(reader, "sync add min max and or xor") ||
	    !ptx_wants(reader, 3, 3))
		return 0;
	if (ptx_type_at(reader, 0)->kind == 'f')
		return ptx_refuse(reader, "%s: unknown type", reader->now.text);
	exchange->kind = ptx_has(reader, "add")   ? PTX_REDUCE_ADD
			 : ptx_has(reader, "min") ? PTX_REDUCE_MIN
			 : ptx_has(reader, "max") ? PTX_REDUCE_MAX
			 : ptx_has(reader, "and") ? PTX_REDUCE_AND
			 : ptx_has(reader, "or")  ? PTX_REDUCE_OR
						  : PTX_REDUCE_XOR;
	exchange->is_signed = ptx_type_at(reader, 0)->kind == 's';
	exchange->a = ptx_fetch(reader, 1, 4, NULL);
	exchange->members = ptx_fetch(reader, 2, 4, NULL);
	results(reader, exchange);
	return finish(reader, exchange);
}

/* elect.sync d|p, members */
static int elect(struct ptx_reader *reader)
{
	struct ptx_exchange *exchange = make(reader);
	if (!exchange || !ptx_modifiers(reader, "sync") || !ptx_wants(reader, 2, 2))
		return 0;
	exchange->kind = PTX_ELECT;
	exchange->members = ptx_fetch(reader, 1, 4, NULL);
	results(reader, exchange);
	return finish(reader, exchange);
}

int ptx_decode_warp_barrier(struct ptx_reader *reader);

int ptx_decode_warp_barrier(struct ptx_reader *reader)
{
	struct ptx_exchange *exchange = make(reader);
	if (!exchange || !ptx_modifiers(reader, "warp sync") || !ptx_wants(reader, 1, 1))
		return 0;
	exchange->kind = PTX_WARP_SYNC;
	exchange->members = ptx_fetch(reader, 0, 4, NULL);
	return finish(reader, exchange);
}

static const struct ptx_opcode opcodes[] = {
	{"activemask", activemask}, {"elect", elect}, {"match", match},
	{"redux", redux},           {"shfl", shfl},   {"vote", vote},
};

const struct ptx_opcode_table ptx_warp_opcodes = {opcodes, sizeof opcodes / sizeof *opcodes};
