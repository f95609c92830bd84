/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The list of everything that a checkpoint contains, made from the caller's objects, for saving and
 * for loading: tensors, and the texts that name optimizer, schedule, average and data set.
 */
#ifndef TN_TRAIN_CHECKPOINT_ITEMS_H
#define TN_TRAIN_CHECKPOINT_ITEMS_H

#include <tenon/checkpoint.h>
#include <tenon/io.h>

#include "array/runtime.h"
#include "nn/tensors.h"

/* The version of the format, in the metadata TN_CHECKPOINT_KEY; a file of a newer one is
 * refused. */
#define TN_CHECKPOINT_VERSION 1

/* What the library adds to a checkpoint, for trainers and folders.  Names of arrays and options
 * begin with a dot. */
struct tn_checkpoint_own {
	size_t n_arrays;
	const struct tn_checkpoint_array *arrays; /* written by loading */
	size_t n_options;
	const struct tn_checkpoint_array *options; /* of u64 and f64: compared by loading */
	const char *text;                          /* metadata TN_CHECKPOINT_TEXT; NULL: none */
	const char *part;                          /* "trainer"; NULL: the file may have others */
	const char *prefix;                        /* of all names of that part: ".trainer." */
	/* Loading.  prepare: sets `arrays` for this text (NULL: none) of a file of `size` bytes.
	 * take: all else has been checked, the arrays are written, and nothing is changed yet; on
	 * failure it has changed nothing.  Both keep errors; NULL: nothing is to be done. */
	tn_status (*prepare)(void *user, const char *text, uint64_t size,
			     struct tn_checkpoint_own *own);
	tn_status (*take)(void *user);
	void *user;
};
#define TN_CHECKPOINT_TEXT "tenon.trainer"

/* In the order in which differences are reported. */
enum tn_item_kind {
	TN_ITEM_NETWORK, /* a parameter or a buffer */
	TN_ITEM_OPTION,  /* what an object was made with: loading compares it */
	TN_ITEM_STATE,   /* an array of the optimizer or of the average */
	TN_ITEM_NUMBER,  /* of struct tn_checkpoint_numbers */
	TN_ITEM_EXTRA,   /* the caller's host memory */
	TN_ITEM_OWN,     /* likewise of struct tn_checkpoint_own: written before the rest */
};

/* What a number of a file may be. */
enum tn_item_range {
	TN_RANGE_ANY,
	TN_RANGE_COUNT,  /* u64: below 2^62, so that counting on never overflows */
	TN_RANGE_NUMBER, /* f64: not NaN */
	TN_RANGE_RATE,   /* f64: finite, 0 or more */
	TN_RANGE_SCALE,  /* f64: a normal f32 above 0 */
};

/* One tensor, of `array` or, if that is NULL, of host memory. */
struct tn_checkpoint_item {
	char *name; /* owned */
	enum tn_item_kind kind;
	enum tn_item_range range;
	int must_be_finite;
	int is_by_parameter; /* one element for each parameter, in the order of their names */
	int is_hash;         /* an option that says only whether two are the same */
	tn_dtype dtype;
	int rank;
	int64_t shape[TN_MAX_RANK];
	size_t size_bytes;
	tn_array *array;
	void *host;      /* NULL: `own` */
	uint64_t own[2]; /* the bits of up to two options */
};

/* The numbers that change during a training. */
struct tn_checkpoint_numbers {
	struct tn_random_state random;
	double lr;
	uint64_t *steps; /* of each parameter, in the order of names */
	uint64_t lookahead_steps;
	struct tn_schedule_state schedule;
	uint64_t updates; /* of the average */
	struct tn_grad_scaler_state scaler;
	struct tn_data_position position;
};

/* A part of the checkpoint: its key in the metadata, and what it is. */
struct tn_checkpoint_text {
	const char *key;    /* "tenon.optimizer" */
	const char *part;   /* "optimizer" */
	const char *prefix; /* of the names of its tensors: ".optimizer." */
	char value[256];    /* "adamw" */
};
enum { TN_CHECKPOINT_MAX_TEXTS = 5 };

struct tn_checkpoint_items {
	struct tn_checkpoint all; /* the caller's */
	struct tn_runtime *runtime;
	const char *operation;
	struct tn_checkpoint_item *items;
	size_t n, room;
	struct tn_checkpoint_item spare; /* takes what no memory was left for */
	int failed;                      /* no memory */
	struct tn_checkpoint_numbers numbers;
	double *lr_factors; /* of each parameter, in the order of names */
	double *weight_decays;
	uint64_t *trainable; /* 0: frozen */
	size_t n_parameters;
	const struct tn_checkpoint_parameter {
		const char *name;
		size_t index; /* in the optimizer's order */
	} * parameters;       /* in the order of names */
	struct tn_checkpoint_text texts[TN_CHECKPOINT_MAX_TEXTS];
	size_t n_texts;
};

/* Makes the list, with the present values of all numbers.  `own` may be NULL.  Release it on
 * failure too.  The errors of tn_checkpoint_save before writing. */
tn_status tn_checkpoint_items_make(struct tn_checkpoint_items *items,
				   const struct tn_checkpoint *checkpoint,
				   const struct tn_checkpoint_own *own, const char *operation,
				   struct tn_error_info *error);
/* The same without arrays, which need not be there: what the optimizer, the schedule and the scaler
 * were made with, and their numbers.  Keeps the error. */
tn_status tn_checkpoint_items_of_options(struct tn_checkpoint_items *items,
					 const struct tn_checkpoint *checkpoint,
					 const char *operation);
void tn_checkpoint_items_release(struct tn_checkpoint_items *items);

/* Keeps the error in the context of the module, unless the struct is too short to have one, and
 * returns the status. */
tn_status tn_checkpoint_keep(const struct tn_checkpoint *checkpoint, tn_status status,
			     const struct tn_error_info *error);

/* The host memory of an item that has no array. */
void *tn_checkpoint_item_host(struct tn_checkpoint_item *item);
/* Are all elements of a floating dtype finite? */
int tn_checkpoint_is_finite(tn_dtype dtype, const void *data, size_t size_bytes);

#endif
