/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Activations of a row in place, by the kernels of the element programs, so that a fused activation
 * gives the same bits as the program.
 */
#include "conv2d.h"

#define PIECE 256

static void operate(const struct cpu_instance *cpu, int operation, float *out, const float *a,
		    const float *b, int64_t n)
{
	cpu->blocks.operations[operation][TN_COLUMN_F32](out, a, b, NULL, (size_t)n);
}

static void rectify(float *x, int64_t n, float most)
{
	for (int64_t i = 0; i < n; i++) {
		float y = x[i] < 0 ? 0 : x[i];
		x[i] = y > most ? most : y;
	}
}

static void piece(const struct cpu_instance *cpu, uint32_t activation, float *x, int64_t n)
{
	float work[PIECE];
	switch (activation) {
	case TN_ACTIVATION_RELU:
		rectify(x, n, __builtin_inff());
		break;
	case TN_ACTIVATION_RELU6:
		rectify(x, n, 6);
		break;
	case TN_ACTIVATION_SIGMOID:
		operate(cpu, TN_OP_SIGMOID, x, x, NULL, n);
		break;
	case TN_ACTIVATION_TANH:
		operate(cpu, TN_OP_TANH, x, x, NULL, n);
		break;
	case TN_ACTIVATION_SILU:
		operate(cpu, TN_OP_SIGMOID, work, x, NULL, n);
		operate(cpu, TN_OP_MUL, x, x, work, n);
		break;
	case TN_ACTIVATION_GELU:
		cpu->kernels->gelu(x, (size_t)n);
		break;
	}
}

void cpu_activate(const struct cpu_instance *cpu, uint32_t activation, float *x, int64_t n)
{
	if (activation == TN_ACTIVATION_NONE)
		return;
	for (int64_t i = 0; i < n; i += PIECE)
		piece(cpu, activation, x + i, n - i < PIECE ? n - i : PIECE);
}
