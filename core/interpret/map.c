/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * map: one walk over the tiles of the outputs' shape.
 */
#include "interpret/interpret.h"

#include <stdatomic.h>

#include "base/error.h"
#include "base/threads.h"
#include "interpret/check.h"
#include "interpret/code.h"
#include "interpret/nest.h"
#include "interpret/run.h"
#include "interpret/thread_memory.h"
#include "interpret/small.h"

/* Work is measured in additions of one element.  A thread's piece has at least PIECE of it; the
 * caller does work of less than two pieces itself. */
#define PIECE 65536
/* The most pieces, so that the setup of a piece is rare. */
#define MOST_PIECES 256
/* Operands of at least this many bytes are larger than the caches, or than those of one core. */
#define STREAM_BYTES (UINT64_C(48) << 20)
#define PREFETCH_BYTES (UINT64_C(1) << 20)
/* In shorter programs the processor's own prefetching does as well. */
#define PREFETCH_STEPS 5

/* Blocks of operands larger than the caches, in programs of few steps and of many. */
#define LARGE_BLOCK 512
#define SHORT_BLOCK 128
#define FEW_STEPS 16

/* For tiles that read columns: few columns, since each is on a page of its own. */
#define TRANSPOSED_WIDTH 8

struct plan {
	struct tn_nest nest;
	struct tn_tile tile;
	struct tn_walk walk;
	struct tn_code *code;
	int transposed;            /* an input is contiguous along the tile's y axis */
	unsigned level_x, level_y; /* of the walk: the tile's position along its axes */
	int large;                 /* operands are larger than the caches */
	unsigned n_prefetched;     /* views along whose rows tiles follow one another */
	uint8_t prefetched[TN_MAX_VIEWS];
	atomic_int is_short; /* of memory: a thread had none for its registers */
};

static const char operation[] = "map";

static tn_status check_arguments(const struct tn_map_args *args)
{
	const struct tn_call *call = &args->call;
	const struct tn_program *program = args->program;
	tn_status status = tn_check_program(program, call, operation);
	if (status)
		return status;
	if (!args->outputs || (program->n_inputs && !args->inputs))
		return tn_fail(call->error, TN_INVALID_ARGUMENT, operation, "no operands");
	for (uint32_t k = 0; k < program->n_inputs + program->n_outputs; k++) {
		int is_output = k >= program->n_inputs;
		uint32_t number = is_output ? k - program->n_inputs : k;
		const char *role = is_output ? "output" : "input";
		const struct tn_operand *operand =
			is_output ? &args->outputs[number] : &args->inputs[number];
		status = tn_check_operand(operand, role, number, is_output, call, operation);
		if (status)
			return status;
		if (operand->rank != args->outputs[0].rank)
			return tn_fail(call->error, TN_SHAPE, operation,
				       "%s %u has rank %u, output 0 has rank %u", role, number,
				       operand->rank, args->outputs[0].rank);
		status = tn_check_shape(operand, args->outputs, operand->rank, role, number, call,
					operation);
		if (status)
			return status;
	}
	return tn_check_scalars(args->scalars, program->n_scalars, call, operation);
}

static void make_nest(struct plan *plan, const struct tn_map_args *args)
{
	const struct tn_program *program = args->program;
	struct tn_nest *nest = &plan->nest;
	struct tn_code *code = plan->code;
	unsigned rank = args->outputs[0].rank;
	nest->rank = nest->n_kept = rank;
	nest->n_views = 0;
	for (unsigned d = 0; d < rank; d++)
		nest->length[d] = args->outputs[0].shape[d];
	for (unsigned j = 0; j < program->n_outputs; j++)
		code->output_view[j] = (uint8_t)tn_nest_add_operand(nest, &args->outputs[j]);
	for (unsigned k = 0; k < program->n_inputs; k++)
		code->input_view[k] = (uint8_t)tn_nest_add_operand(nest, &args->inputs[k]);
	tn_code_add_indices(code, nest, rank);
	/* The first output decides the order: writes cost more than reads. */
	tn_nest_simplify(nest, 0, 1, 1);
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* An axis other than x along which an input that is strided along x is contiguous; -1: none. */
static int transposed_axis(const struct tn_nest *nest, int x)
{
	for (unsigned v = 0; v < nest->n_views; v++) {
		const struct tn_view *view = &nest->view[v];
		if (!view->dtype || view->stride[x] == (int64_t)view->size || !view->stride[x])
			continue;
		for (int d = 0; d < x; d++) {
			if (view->stride[d] == (int64_t)view->size && nest->length[d] >= 4)
				return d;
		}
	}
	return -1;
}

/* The length of equal parts of a row: about a block, or a whole row where there is room for it. */
static int64_t part_of(int64_t length, int64_t block, int64_t room)
{
	if (length <= block || (length <= room && length < 3 * block))
		return length;
	int64_t parts = (length + block - 1) / block;
	return ((length + parts - 1) / parts + 15) & ~15;
}

/* Tiles are long rows, or several short rows; where an input is transposed, tiles are narrow and
 * high. */
static void choose_tile(struct plan *plan)
{
	const struct tn_nest *nest = &plan->nest;
	const struct tn_code *code = plan->code;
	struct tn_tile *tile = &plan->tile;
	/* The elements of a block for which all registers fit the first cache. */
	int64_t room = TN_ARENA_BYTES / (int64_t)(code->n_live * code->width) & ~15;
	room = room < 16 ? 16 : smaller(room, TN_MAX_BLOCK);
	/* A block is as long as there is room for, except that operands from memory need short
	 * blocks when there are many steps: the processor then computes one step while the next
	 * ones wait for memory, within its window of instructions. */
	int64_t most = code->cost < FEW_STEPS ? LARGE_BLOCK : SHORT_BLOCK;
	int64_t block = plan->large ? smaller(room, most) : room;
	*tile = (struct tn_tile){.x = (int)nest->rank - 1, .y = -1};
	tile->length_x = tile->length_y = tile->tx = tile->ty = 1;
	plan->transposed = 0;
	if (tile->x < 0)
		return;
	tile->length_x = nest->length[tile->x];
	tile->tx = part_of(tile->length_x, block, room);
	int across = nest->rank > 1 ? transposed_axis(nest, tile->x) : -1;
	if (across >= 0) {
		plan->transposed = 1;
		tile->y = across;
		tile->tx = smaller(tile->length_x, TRANSPOSED_WIDTH);
		block = room;
	} else if (nest->rank > 1 && tile->length_x <= block / 2) {
		tile->y = tile->x - 1;
	}
	if (tile->y >= 0) {
		tile->length_y = nest->length[tile->y];
		tile->ty = smaller(tile->length_y, block / tile->tx);
	}
}

/* Tiles that read columns advance along the columns first, so that they reuse the same pages. */
static void make_walk(struct plan *plan)
{
	const struct tn_nest *nest = &plan->nest;
	const struct tn_tile *tile = &plan->tile;
	struct tn_walk *walk = &plan->walk;
	uint64_t across = (uint64_t)((tile->length_x + tile->tx - 1) / tile->tx);
	uint64_t down = (uint64_t)((tile->length_y + tile->ty - 1) / tile->ty);
	walk->n_levels = 0;
	walk->n_views = nest->n_views;
	plan->level_x = plan->transposed;
	plan->level_y = !plan->transposed;
	if (plan->transposed)
		tn_walk_add(walk, nest, down, tile->y, tile->ty);
	tn_walk_add(walk, nest, across, tile->x, tile->tx);
	if (!plan->transposed)
		tn_walk_add(walk, nest, down, tile->y, tile->ty);
	for (int d = (int)nest->rank - 1; d >= 0; d--) {
		if (d != tile->x && d != tile->y)
			tn_walk_add(walk, nest, (uint64_t)nest->length[d], d, 1);
	}
}

static uint64_t count_bytes(const struct plan *plan)
{
	uint64_t bytes = 0, n = tn_nest_count(&plan->nest, 0, plan->nest.rank);
	for (unsigned v = 0; v < plan->nest.n_views; v++) {
		if (plan->nest.view[v].dtype)
			bytes += n * plan->nest.view[v].size;
	}
	return bytes;
}

/* Blocks of large operands are short instead, and their outputs bypass the caches. */
static void choose_prefetched(struct plan *plan, uint64_t bytes)
{
	const struct tn_nest *nest = &plan->nest;
	const struct tn_tile *tile = &plan->tile;
	plan->n_prefetched = 0;
	if (plan->large || bytes < PREFETCH_BYTES || plan->code->n_steps < PREFETCH_STEPS ||
	    tile->x < 0 || tile->ty > 1)
		return;
	for (unsigned v = 0; v < nest->n_views; v++) {
		if (nest->view[v].dtype &&
		    nest->view[v].stride[tile->x] == (int64_t)nest->view[v].size)
			plan->prefetched[plan->n_prefetched++] = (uint8_t)v;
	}
}

/* Requests the tile after the current one: while the steps of this one run, which find their
 * operands in the first cache, the memory works too. */
static void prefetch(const struct plan *plan, const uint64_t *address)
{
	for (unsigned i = 0; i < plan->n_prefetched; i++) {
		unsigned v = plan->prefetched[i];
		uint64_t bytes = (uint64_t)plan->tile.tx * plan->nest.view[v].size;
		uint64_t next = address[v] + bytes;
		for (uint64_t line = next; line < next + bytes; line += 64)
			__builtin_prefetch((const void *)(uintptr_t)line, 0, 2);
	}
}

/* Orders writes that bypass the caches before any signal to another thread that they are done. */
static void fence(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_sfence();
#endif
	atomic_thread_fence(memory_order_release);
}

static void run_tiles(void *argument, uint64_t begin, uint64_t end)
{
	struct plan *plan = argument;
	const struct tn_tile *tile = &plan->tile;
	struct tn_thread_memory *memory = tn_thread_memory();
	unsigned char *arena = tn_thread_memory_take(memory, TN_ARENA_LIMIT);
	uint64_t position[TN_MAX_RANK + 2];
	struct tn_machine machine;
	uint64_t *address = tn_machine_address(&machine);
	if (!arena) {
		atomic_store(&plan->is_short, 1);
		return;
	}
	for (unsigned v = 0; v < plan->nest.n_views; v++)
		address[v] = plan->nest.view[v].start;
	tn_walk_seek(&plan->walk, begin, position, address);
	tn_machine_init(&machine, plan->code, arena, (size_t)(tile->tx * tile->ty));
	tn_machine_prepare(&machine, (size_t)tile->tx, (size_t)tile->ty);
	for (uint64_t t = begin; t < end; t++) {
		if (t > begin)
			tn_walk_advance(&plan->walk, position, address);
		int64_t nx = smaller(tile->tx,
				     tile->length_x - (int64_t)position[plan->level_x] * tile->tx);
		int64_t ny = smaller(tile->ty,
				     tile->length_y - (int64_t)position[plan->level_y] * tile->ty);
		prefetch(plan, address);
		tn_machine_run(&machine, (size_t)nx, (size_t)ny);
	}
	if (plan->large)
		fence();
	tn_thread_memory_give(memory, TN_ARENA_LIMIT);
}

static tn_status no_memory(const struct tn_map_args *args)
{
	return tn_fail(args->call.error, TN_OUT_OF_MEMORY, operation,
		       "no host memory for the work of a thread");
}

static tn_status map_tiles(struct plan *plan, struct tn_threads *threads,
			   const struct tn_map_args *args)
{
	struct tn_code *code = plan->code;
	atomic_init(&plan->is_short, 0);
	make_nest(plan, args);
	tn_code_analyse(code, &plan->nest);
	uint64_t bytes = count_bytes(plan);
	plan->large = bytes >= STREAM_BYTES;
	choose_tile(plan);
	make_walk(plan);
	const struct tn_emit emit = {&plan->nest, &plan->tile, &plan->walk, plan->large};
	tn_status status = tn_code_emit(code, &emit, args->call.error, operation);
	if (status)
		return status;
	tn_code_evaluate(code, &plan->nest);
	choose_prefetched(plan, bytes);
	uint64_t tiles = tn_walk_total(&plan->walk);
	uint64_t work = (uint64_t)(plan->tile.tx * plan->tile.ty) * code->cost;
	uint64_t grain = (PIECE + work - 1) / work;
	if (grain < tiles / MOST_PIECES)
		grain = tiles / MOST_PIECES;
	if (tiles < 2 * grain)
		run_tiles(plan, 0, tiles);
	else
		tn_parallel_for(threads, tiles, grain, run_tiles, plan);
	return atomic_load(&plan->is_short) ? no_memory(args) : TN_OK;
}

tn_status tn_interpret_map(struct tn_threads *threads, const struct tn_map_args *theirs,
			   const struct tn_block_kernels *their_kernels)
{
	struct tn_map_args args;
	struct tn_block_kernels table;
	struct tn_code code;
	const struct tn_block_kernels *kernels = tn_check_kernels(their_kernels, &table);
	tn_status status = tn_check_call(theirs, &args, sizeof(args), operation);
	if (!status)
		status = check_arguments(&args);
	if (!status)
		status = tn_code_scan(&code, args.program, args.scalars, kernels,
				      args.outputs[0].rank, &args.call, operation);
	if (status || args.call.flags & TN_DRY_RUN)
		return status;
	if (tn_small_map(&code, &args))
		return TN_OK;
	struct tn_thread_memory *memory = tn_thread_memory();
	struct plan *plan = tn_thread_memory_take(memory, sizeof(*plan));
	if (!plan)
		return no_memory(&args);
	plan->code = &code;
	status = map_tiles(plan, threads, &args);
	tn_thread_memory_give(memory, sizeof(*plan));
	return status;
}
