/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The five facts on which the bits of a training depend, besides its checkpoint.
 */
#ifndef TN_TRAIN_CHECKPOINT_FACTS_H
#define TN_TRAIN_CHECKPOINT_FACTS_H

#include <tenon/io.h>

#include "array/runtime.h"

enum { TN_N_FACTS = 5 };

/* In metadata: version, backend, device, processor, deterministic. */
struct tn_checkpoint_facts {
	struct tn_checkpoint_fact {
		const char *key;
		char value[288];
	} facts[TN_N_FACTS];
};

/* Those of work on a device now. */
void tn_checkpoint_facts_get(const struct tn_runtime *runtime, const struct tn_device *device,
			     struct tn_checkpoint_facts *facts);
/* Warns, in one line, if those of a file differ. */
void tn_checkpoint_facts_compare(const struct tn_checkpoint_facts *facts,
				 const tn_safetensors *file, const char *path,
				 const struct tn_logger *logger);

#endif
