/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The internals of a data set, and the input from which readers make one.
 */
#ifndef TN_DATA_DATASET_H
#define TN_DATA_DATASET_H

#include "data/listing.h"
#include "data/samples.h"

struct tn_dataset {
	char *name;
	char *path;
	const char *origin;
	uint32_t n_classes;             /* 0: not of classes */
	const char *const *class_names; /* NULL: numbers, stored in number_names */
	char (*number_names)[12];
	char **own_class_names; /* a copy of the caller's names */
	int is_of_images;       /* labelled images, fed by `format` */
	int is_normalised_as;   /* as another format, not as the training part */
	struct tn_input_format format;
	struct tn_samples *samples;
	struct tn_field fields[TN_MAX_FIELDS]; /* as in batches; names of `samples` */
	uint32_t *index[TN_N_PARTS];           /* numbers of the part's samples */
	uint64_t count[TN_N_PARTS];
};

/* What a reader read: labelled images in memory, or samples. */
struct tn_dataset_raw {
	struct tn_input_format format; /* of images: all members but mean and deviation; else 0 */
	uint64_t n;
	uint8_t *images;            /* as fed to a network, owned; NULL: in `samples` */
	int32_t *labels;            /* owned; NULL: in `samples` */
	struct tn_samples *samples; /* owned; field 0 of images is u8, their labels are in memory */
	uint64_t n_test;            /* length of the test part, at the end */
	uint8_t *parts;             /* TN_PART_... of each sample, owned; NULL: by n_test */
	uint32_t stratify;          /* 1 + a field; 0: none.  Of images: the label */
	uint32_t n_classes;
	uint32_t n_classes_wanted;                  /* at least n_classes; 0: as many */
	const char *origin;                         /* static; NULL: "" */
	const char *const *class_names;             /* NULL: numbers */
	int own_class_names;                        /* class_names are not static: copy them */
	struct tn_listing class_list;               /* where class_names may be; owned */
	void *class_memory;                         /* or here */
	double test_fraction;                       /* of what these leave to the training part */
	double validation_fraction;                 /* of the rest */
	const struct tn_input_format *normalise_as; /* borrowed; NULL: from the training part */
};

/* Frees the content. */
void tn_dataset_raw_release(struct tn_dataset_raw *raw);

/* raw->parts := a copy of n parts. */
tn_status tn_dataset_copy_parts(struct tn_dataset_raw *raw, const uint8_t *parts, uint64_t n,
				struct tn_error_info *error);

/* Makes the data set; takes over images, labels and samples, also on failure.  Checks labels. */
tn_status tn_dataset_build(struct tn_dataset_raw *raw, const char *name, const char *path,
			   tn_dataset **out, struct tn_error_info *error);

#endif
