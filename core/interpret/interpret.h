/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The host's block interpreter: map and reduce of element programs over host memory, exactly as
 * <tenon/backend.h> defines them (struct tn_map_args, struct tn_reduce_args); a buffer handle is an
 * address.  Any rank, any strides, and every storage dtype except complex.
 *
 * A program is cut into blocks of a few hundred elements, so that all its values stay in the first
 * cache; each instruction is one call of a block kernel.  `kernels` (may be NULL) are a plugin's
 * own; missing rows are replaced by the portable ones.  Partitions depend on shapes alone: the
 * result has the same bits for every number of threads, with TN_DETERMINISTIC or without.
 *
 * A product that is used by one sum alone may be contracted with it into a fused multiply-add,
 * where `kernels` or the processor have one; never in a program that draws random numbers, whose
 * bits are guaranteed.
 *
 * Sums in f32 and f64 are blocked.  With u the unit roundoff, n terms and S the sum of their
 * magnitudes, the error is at most (300 + n / 2^18) u S, and usually far less.
 *
 * TN_UNSUPPORTED: an unknown opcode, dtype, combiner or flag, or a complex operand.
 * TN_INVALID_ARGUMENT, TN_SHAPE: arguments that break the rules of backend.h, as far as this can be
 * detected.
 * TN_OUT_OF_MEMORY: a reduction that is split over threads could not keep its partial results.
 * All are reported before an output is touched.
 *
 * A call has these stages:
 *
 *   check    the arguments obey the rules of backend.h
 *   scan     every instruction is known, typed and has a kernel
 *   nest     operands and indices become views over one nest of loops; axes are dropped and merged
 *   analyse  which values are uniform (one value for the whole call), which are contracted
 *   tile     the nest is cut into tiles of at most a block; walks visit them
 *   emit     instructions become steps over registers, each a block
 *   run      steps are run for every tile
 *
 * All their data is on the caller's stack; nothing is kept after the call.
 */
#ifndef TN_INTERPRET_INTERPRET_H
#define TN_INTERPRET_INTERPRET_H

#include <tenon/backend.h>

struct tn_threads;

/* threads NULL: serial.  [thread: any, one call of a pool at a time] */
tn_status tn_interpret_map(struct tn_threads *threads, const struct tn_map_args *args,
			   const struct tn_block_kernels *kernels);
tn_status tn_interpret_reduce(struct tn_threads *threads, const struct tn_reduce_args *args,
			      const struct tn_block_kernels *kernels);

#endif
