/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a device that computes in bf16 rounds sums once more, to 7 digits.
 * Conform: L2 map.opcodes
 * Conform: L2 map.layouts
 * Conform: L2 map.views
 */
#include <stdint.h>

#define NARROW_NAME "rounds_again"
#define NARROW_SPOIL spoil_values
static void spoil_values(uint16_t op, uint16_t *bits, uint64_t n);
#include "../plugins/narrow.c"

static void spoil_values(uint16_t op, uint16_t *bits, uint64_t n)
{
	for (uint64_t i = 0; i < n && (op == TN_OP_ADD || op == TN_OP_SUB); i++)
		bits[i] &= 0xfffe;
}
