/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 2: map, reduce, matmul and copies.
 */
#include "conform.h"

const struct check level2_checks[] = {
	{"map.layouts", 2, "map runs a program over views of every shape, layout and dtype",
	 check_map},
	{"map.opcodes", 2, "every opcode keeps tenon-program(7), edge cases included",
	 check_opcodes},
	{"map.random", 2, "random numbers have the same bits on every backend", check_random},
	{"reduce.shapes", 2, "reduce folds any axes with every combiner, and runs its epilogue",
	 check_reduce},
	{"matmul.shapes", 2, "matmul multiplies every shape, transposed, batched and scaled",
	 check_matmul},
	{"copy.layouts", 2, "fill and copy keep the bits of every dtype in every layout",
	 check_copy},
	{"copy.gather", 2, "gather and scatter_add choose along every axis", check_gather},
	{NULL, 0, NULL, NULL},
};
