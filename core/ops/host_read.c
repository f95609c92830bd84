/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads elements to the host, and counts the bytes in the ledger.
 */
#include "ops/host_read.h"

#include "base/dtype.h"
#include "dispatch/ledger.h"

void tn_host_read_count(const char *operation, const tn_array *a, uint64_t bytes)
{
	struct tn_ledger_row *row =
		tn_ledger_row_of(a->runtime->ledger, tn_operation_named(a->runtime, operation));
	row->host++;
	row->bytes_moved += bytes;
}

/* The end of a read. */
static tn_status counted(const char *operation, const tn_array *a, tn_status status)
{
	if (!status)
		tn_host_read_count(operation, a, (uint64_t)a->size * tn_dtype_size(a->dtype));
	return status;
}

tn_status tn_host_read_number(const char *operation, const tn_array *a, tn_number *value)
{
	return a ? counted(operation, a, tn_item_number(a, value)) : TN_PENDING_ERROR;
}

tn_status tn_host_read_item(const char *operation, const tn_array *a, double *value)
{
	return a ? counted(operation, a, tn_item(a, value)) : TN_PENDING_ERROR;
}

tn_status tn_host_read(const char *operation, const tn_array *a, void *data, size_t size)
{
	return a ? counted(operation, a, tn_to_host(a, data, size)) : TN_PENDING_ERROR;
}
