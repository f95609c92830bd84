/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The internals of a data set, and the input from which readers make one.
 */
#ifndef TN_DATA_DATASET_H
#define TN_DATA_DATASET_H

#include <tenon/data.h>

struct tn_dataset {
	char *name;
	char *path;
	const char *origin;
	const char *const *class_names; /* NULL: numbers, stored in number_names */
	char (*number_names)[12];
	char **own_class_names; /* a copy of the caller's names */
	struct tn_input_format format;
	uint64_t n;        /* number of images */
	size_t image_size; /* bytes of one image, as fed to a network */
	uint8_t *images;
	int32_t *labels;
	uint32_t *index[TN_N_PARTS]; /* indices of the part's images */
	uint64_t count[TN_N_PARTS];
};

/* Images and labels as a reader read them. */
struct tn_dataset_raw {
	struct tn_input_format format; /* all members but mean and deviation */
	uint64_t n;
	uint64_t n_test;                /* length of the test part, at the end; 0: test_fraction */
	uint8_t *images;                /* as fed to a network, owned */
	int32_t *labels;                /* owned */
	const char *origin;             /* static; NULL: "" */
	const char *const *class_names; /* static, or NULL */
	double test_fraction;
	double validation_fraction;
	const struct tn_input_format *normalise_as; /* borrowed; NULL: from the training part */
};

/* Frees the content. */
void tn_dataset_raw_release(struct tn_dataset_raw *raw);

/* Makes the data set; takes over images and labels on success.  Checks labels and fractions. */
tn_status tn_dataset_build(struct tn_dataset_raw *raw, const char *name, const char *path,
			   tn_dataset **out, struct tn_error_info *error);

#endif
