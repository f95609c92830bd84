/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the checksum in a file's header, and compares it with that of the file.
 */
#include "io/safetensors_checksum.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/quarantine.h"
#include "io/crc32.h"

#define OPERATION TN_SAFETENSORS_OPERATION
#define PIECE ((size_t)1 << 20)

char *tn_safetensors_checksum_digits(char *header, size_t length)
{
	/* Quotes within a string are escaped, so that this is the key itself. */
	static const char start[] = "\"" TN_SAFETENSORS_CHECKSUM "\":\"";
	const size_t taken = strlen(start);
	char *at = memmem(header, length, start, taken);
	size_t left = at ? length - (size_t)(at - header) : 0;
	return left > taken + TN_CHECKSUM_DIGITS && at[taken + TN_CHECKSUM_DIGITS] == '"'
		       ? at + taken
		       : NULL;
}

/* Continues the checksum of [offset, the end). */
static tn_status add_rest(const struct tn_file *file, uint64_t offset, unsigned char *piece,
			  uint32_t *crc, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	while (offset < file->size && !status) {
		uint64_t left = file->size - offset;
		size_t size = left < PIECE ? (size_t)left : PIECE;
		status = tn_file_read(file, offset, piece, size, error);
		if (!status)
			*crc = tn_crc32(*crc, piece, size);
		offset += size;
	}
	return status;
}

tn_status tn_safetensors_check(const tn_safetensors *file, struct tn_error_info *error)
{
	if (!file)
		return tn_fail(error, TN_INVALID_ARGUMENT, OPERATION, "file is NULL");
	if (tn_quarantine_check(file, OPERATION, error))
		return TN_STATE;
	const char *expected = tn_safetensors_metadata(file, TN_SAFETENSORS_CHECKSUM);
	const size_t head = (size_t)file->data_start;
	char found[TN_CHECKSUM_DIGITS + 1] = "";
	uint32_t crc = 0;
	if (!expected)
		return TN_OK;
	char *header = tn_mem_alloc(head);
	unsigned char *piece = tn_mem_alloc(PIECE);
	tn_status status = header && piece ? tn_file_read(&file->file, 0, header, head, error)
					   : tn_no_memory(error, OPERATION,
							  tn_file_label(file->file.path), NULL);
	char *digits = status ? NULL : tn_safetensors_checksum_digits(header, head);
	if (digits) {
		memset(digits, '0', TN_CHECKSUM_DIGITS);
		crc = tn_crc32(0, header, head);
		status = add_rest(&file->file, head, piece, &crc, error);
		snprintf(found, sizeof(found), "%08x", crc);
	}
	tn_mem_free(header);
	tn_mem_free(piece);
	if (status || !strcmp(expected, found))
		return status;
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: expected the checksum %.8s, found %s: it is damaged, or was changed by "
		       "a program that kept the metadata " TN_SAFETENSORS_CHECKSUM,
		       tn_file_label(file->file.path), expected, *found ? found : "another layout");
}
