/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A data set, inside, and what its readers hand over to make one.
 */
#ifndef TN_DATA_DATASET_H
#define TN_DATA_DATASET_H

#include <tenon/data.h>

struct tn_dataset {
	char *name;
	char *path;
	const char *origin;
	const char *const *class_names; /* NULL: numbers, in number_names */
	char (*number_names)[12];
	char **own_class_names; /* a copy of the caller's */
	struct tn_input_format format;
	uint64_t n;        /* images in all */
	size_t image_size; /* bytes of one, as fed */
	uint8_t *images;
	int32_t *labels;
	uint32_t *index[TN_N_PARTS]; /* numbers of the part's images */
	uint64_t count[TN_N_PARTS];
};

/* Images and labels as a reader found them. */
struct tn_dataset_raw {
	struct tn_input_format format; /* all but mean and deviation */
	uint64_t n;
	uint64_t n_test;    /* the last so many are the test part; 0: test_fraction says */
	uint8_t *images;    /* as fed, owned */
	int32_t *labels;    /* owned */
	const char *origin; /* lives for ever; NULL: "" */
	const char *const *class_names; /* live for ever, or NULL */
	double test_fraction;
	double validation_fraction;
	const struct tn_input_format *normalise_as; /* borrowed; NULL: as the training part */
};

/* Frees what a reader made. */
void tn_dataset_raw_release(struct tn_dataset_raw *raw);

/* Makes the data set; takes over images and labels on success.  Checks labels and fractions. */
tn_status tn_dataset_build(struct tn_dataset_raw *raw, const char *name, const char *path,
			   tn_dataset **out, struct tn_error_info *error);

#endif
