/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values that the host reads because a result's shape depends on them: they wait for the device,
 * and are counted in the ledger as work of the host under the operation's name.
 */
#ifndef TN_OPS_HOST_READ_H
#define TN_OPS_HOST_READ_H

#include "array/array.h"

/* The value of an array of one element.  `operation` is never freed.  Errors are kept.
 * TN_PENDING_ERROR: a is NULL. */
tn_status tn_host_read_number(const char *operation, const tn_array *a, tn_number *value);
tn_status tn_host_read_item(const char *operation, const tn_array *a, double *value);
/* Counts bytes that the host has read of an array in place, or in the course of another read. */
void tn_host_read_count(const char *operation, const tn_array *a, uint64_t bytes);
/* All elements, which have `size` bytes. */
tn_status tn_host_read(const char *operation, const tn_array *a, void *data, size_t size);

#endif
