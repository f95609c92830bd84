/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The best epoch, early stopping, and the weights of the best epoch.
 */
#ifndef TN_TRAIN_BEST_H
#define TN_TRAIN_BEST_H

#include "nn/module.h"

struct tn_best {
	/* Set by the trainer. */
	tn_module *module;
	int is_rising; /* a higher value is better */
	double delta;  /* better by no more than this is not better */
	uint32_t kept; /* TN_BEST_ON_DEVICE, ON_HOST or NOT_KEPT */
	/* State. */
	int is_found;
	double value;
	uint64_t epoch;  /* from 1 */
	uint64_t waited; /* epochs since */
	int has_weights;
	size_t n;          /* parameters and buffers */
	tn_array **arrays; /* of each, held; NULL: none, or on the host */
	void **host;
};

/* Takes the value of an epoch, and its weights when it is the best one. */
tn_status tn_best_take(struct tn_best *best, uint64_t epoch, double value);
/* Gives the network the best weights, if there are any. */
tn_status tn_best_restore(const struct tn_best *best);
void tn_best_release(struct tn_best *best); /* takes a zeroed struct */

/* The parameter or buffer of that number, and its name; NULL: past the end. */
tn_array *tn_best_array(const struct tn_best *best, size_t i, const char **name);
/* Makes room for weights, as they are kept, for all or none.  Keeps the error. */
tn_status tn_best_make(struct tn_best *best);
/* Reads or writes the kept weights of number i from or to the host. */
tn_status tn_best_get(const struct tn_best *best, size_t i, void *data, size_t size);
tn_status tn_best_set(struct tn_best *best, size_t i, const void *data, size_t size);

#endif
