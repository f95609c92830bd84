/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checksum of a safetensors file, which the format itself lacks: the metadata
 * TN_SAFETENSORS_CHECKSUM has the CRC-32 of the whole file with eight zeros in place of these eight
 * hexadecimal digits.
 */
#ifndef TN_IO_SAFETENSORS_CHECKSUM_H
#define TN_IO_SAFETENSORS_CHECKSUM_H

#include "io/safetensors.h"

#define TN_SAFETENSORS_CHECKSUM "tenon.checksum"
#define TN_CHECKSUM_DIGITS 8
#define TN_CHECKSUM_NONE "00000000"

/* The digits in the text of a header; NULL: there are none. */
char *tn_safetensors_checksum_digits(char *header, size_t length);

#endif
