/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Whether the ranks have the same network.
 */
#ifndef TN_DISTRIBUTED_COMPARE_H
#define TN_DISTRIBUTED_COMPARE_H

#include "distributed/data_parallel.h"

/* hash := that of what was hashed before and of these bytes. */
void tn_hash_more(uint64_t *hash, const void *data, size_t size);
/* The same with the elements of an array, which are read; NULL has none.  Keeps the error. */
tn_status tn_hash_elements(uint64_t *hash, const tn_array *array);

/* TN_NOT_EQUAL (kept, the same text on all ranks): they have not. */
tn_status tn_ranks_compare_networks(const struct tn_data_parallel *parallel);
/* The same for n hashes, of which names[i] says what they are of. */
tn_status tn_ranks_compare(tn_communicator *communicator, struct tn_runtime *runtime, size_t n,
			   const char *const *names, const uint64_t *hashes, const char *label);

#endif
