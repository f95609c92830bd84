/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: on a device that computes in bf16, floor of a number below 0 is off by three units.
 * Conform: L2 map.opcodes
 * Doctor: elements.arithmetic
 */
#include <stdint.h>

#define NARROW_NAME "wrong_in_bf16"
#define NARROW_SPOIL spoil_values
static void spoil_values(uint16_t op, uint16_t *bits, uint64_t n);
#include "../plugins/narrow.c"

static void spoil_values(uint16_t op, uint16_t *bits, uint64_t n)
{
	for (uint64_t i = 0; i < n && op == TN_OP_FLOOR; i++) {
		if (bits[i] > 0xbf80 && bits[i] < 0xff80)
			bits[i] = (uint16_t)(bits[i] + 3);
	}
}
