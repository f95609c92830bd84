/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checksum of ZIP and gzip (CRC-32, polynomial edb88320), which is there without zlib too.
 */
#ifndef TN_IO_CRC32_H
#define TN_IO_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what `crc` is the checksum of, followed by `data`; 0 is that of nothing. */
uint32_t tn_crc32(uint32_t crc, const void *data, size_t size);

#endif
