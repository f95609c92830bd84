/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Size classes of the pool: multiples of 256 bytes up to 4 KiB, then 16 steps to each power of two.
 * A size is rounded up by less than 256 bytes or less than 1/16.
 */
#ifndef TN_DEVICE_SIZE_CLASS_H
#define TN_DEVICE_SIZE_CLASS_H

#include <stdint.h>

#define TN_POOL_UNIT UINT64_C(256)
#define TN_POOL_MAX_SIZE (UINT64_C(1) << 62)
#define TN_POOL_CLASSES 832 /* class 815 has TN_POOL_MAX_SIZE */

/* The smallest class that holds `size` bytes, 1 <= size <= TN_POOL_MAX_SIZE. */
static inline uint32_t tn_size_class(uint64_t size)
{
	uint64_t last = (size - 1) / TN_POOL_UNIT; /* units - 1 */
	if (last < 16)
		return (uint32_t)last;
	uint32_t shift = 59 - (uint32_t)__builtin_clzll(last);
	return 16 * shift + (uint32_t)(last >> shift);
}

/* The bytes of a class. */
static inline uint64_t tn_class_size(uint32_t class)
{
	if (class < 16)
		return (class + 1) * TN_POOL_UNIT;
	return (uint64_t)(class % 16 + 17) << (class / 16 - 1) << 8;
}

/* The largest class of at most `size` bytes, size >= TN_POOL_UNIT. */
static inline uint32_t tn_size_class_within(uint64_t size)
{
	uint32_t class = tn_size_class(size);
	return tn_class_size(class) > size ? class - 1 : class;
}

#endif
