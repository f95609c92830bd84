/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What `tenon train` writes: the network, with metadata that eval and predict read, and how a
 * training that has ended early can go on.
 */
#ifndef TENON_TRAIN_SAVE_H
#define TENON_TRAIN_SAVE_H

#include <tenon/checkpoint.h>

#include "test_part.h"

/* The metadata of a network or a checkpoint. */
struct train_description {
	char *format, *classes;
	char seed[32];
	struct tn_pair pairs[8]; /* three more can be added */
	size_t n;
};

/* 0: no memory.  In either case train_describe_end frees what there is. */
int train_describe(struct train_description *d, const char *model, const char *data, uint64_t seed,
		   const tn_dataset *dataset);
void train_describe_end(struct train_description *d);

/* Are all parameters and buffers of the network finite? */
int train_is_finite(tn_context *context, const tn_module *module);
/* Writes the network to a file; test NULL: it was not tested.  0: the context keeps the error. */
int train_save(const tn_module *module, const char *path, const struct train_description *d,
	       const struct test_result *test);

/* A training that ended before its last epoch. */
struct train_rest {
	const char *how; /* "interrupted", "ended" */
	int is_unsaved;  /* its last checkpoint could not be written */
	uint64_t epoch, n_epochs;
	const tn_checkpoint_folder *folder; /* NULL: none */
	const char *saved;                  /* the file of the network; NULL: none */
};

/* Prints where the work is, and how it goes on. */
void train_rest_print(const struct train_rest *rest);

#endif
