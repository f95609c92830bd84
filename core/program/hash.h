/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * MurmurHash3_x64_128 by Austin Appleby (public domain; smhasher, MurmurHash3.cpp), with seed 0:
 * 128 bits for tables and file names.  It does not resist chosen collisions: a lookup of a program
 * compares its bytes as well.
 */
#ifndef TN_PROGRAM_HASH_H
#define TN_PROGRAM_HASH_H

#include <stddef.h>
#include <stdint.h>

void tn_hash_bytes(const void *data, size_t size, uint64_t hash[2]);

#endif
