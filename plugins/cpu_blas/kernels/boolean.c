/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * TN_BOOL: bytes that are 0 or 1.
 */
#include "variant.h"

#define FROM uint8_t
#define TO uint8_t
#define NAME and_bool
#define VALUE(x, y) ((uint8_t)((x) & (y)))
#include "loop2.h"
#define FROM uint8_t
#define TO uint8_t
#define NAME or_bool
#define VALUE(x, y) ((uint8_t)((x) | (y)))
#include "loop2.h"
#define FROM uint8_t
#define TO uint8_t
#define NAME xor_bool
#define VALUE(x, y) ((uint8_t)((x) ^ (y)))
#include "loop2.h"
#define FROM uint8_t
#define TO uint8_t
#define NAME not_bool
#define VALUE(x) ((uint8_t)((x) ^ 1))
#include "loop1.h"
#define T uint8_t
#define NAME select_bool
#include "loop_select.h"
#undef T

const struct cpu_row VARIANT(cpu_rows_boolean)[] = {
	{TN_OP_AND, TN_COLUMN_BOOL, and_bool},       {TN_OP_OR, TN_COLUMN_BOOL, or_bool},
	{TN_OP_XOR, TN_COLUMN_BOOL, xor_bool},       {TN_OP_NOT, TN_COLUMN_BOOL, not_bool},
	{TN_OP_SELECT, TN_COLUMN_BOOL, select_bool}, {0},
};
