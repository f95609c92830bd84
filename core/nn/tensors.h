/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tensors of a network's file: its parameters, then its buffers.
 */
#ifndef TN_NN_TENSORS_H
#define TN_NN_TENSORS_H

#include "nn/module.h"

/* Metadata of a checkpoint (tenon/checkpoint.h), in which the tensors that are not the network's
 * have names that begin with a dot: no name in a module does. */
#define TN_CHECKPOINT_KEY "tenon.checkpoint"

struct tn_network_tensor {
	const char *name;
	tn_dtype dtype;
	int rank;
	const int64_t *shape;
	tn_array *value;
	size_t size_bytes;
	int is_optional; /* a file may lack it */
};

/* Lists them.  TN_STATE: the module has not been built. */
tn_status tn_network_tensors_list(const tn_module *module, const char *operation, size_t *n);
struct tn_network_tensor tn_network_tensor_at(const tn_module *module, size_t i);

#endif
