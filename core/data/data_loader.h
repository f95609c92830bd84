/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What determines the batches of a loader, for checkpoints.
 */
#ifndef TN_DATA_DATA_LOADER_H
#define TN_DATA_DATA_LOADER_H

#include <tenon/data.h>

struct tn_loader_facts {
	const char *dataset; /* its name; borrowed */
	int part;
	uint64_t count; /* samples of the part: the highest index of a position */
	uint64_t whole; /* samples of an epoch for any number of ranks */
	uint64_t limit; /* those that are read with this number */
	uint64_t seed;
	uint32_t batch_size; /* of all ranks */
	uint32_t rank;
	uint32_t n_ranks; /* at least 1 */
	uint32_t uneven;
	uint32_t shuffle;
	uint64_t augmentation; /* differs if its options do; 0: none */
	uint64_t weights;      /* differs if they do; 0: none */
	uint64_t data;         /* differs, most likely, if the samples do */
};
struct tn_loader_facts tn_data_loader_facts(const tn_data_loader *loader);

#endif
