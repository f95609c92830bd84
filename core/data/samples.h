/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The samples of a data set, shared by the data sets that are made from one (tn_dataset_fold).
 */
#ifndef TN_DATA_SAMPLES_H
#define TN_DATA_SAMPLES_H

#include <tenon/data.h>

struct tn_samples {
	_Atomic uint32_t references;
	uint64_t n;
	uint32_t n_fields;
	struct tn_field fields[TN_MAX_FIELDS]; /* as stored; names are owned */
	size_t size[TN_MAX_FIELDS];            /* bytes of one sample */
	void *data[TN_MAX_FIELDS];             /* n of them, owned; NULL: `read` */
	tn_status (*read)(void *user, uint64_t sample, void *const *fields,
			  struct tn_error_info *error);
	void *user;
	void (*release)(void *user); /* called at the end; NULL: not called */
};

/* n samples of copies of these fields, without data; one reference.  Checks dtypes, shapes and
 * sizes; a name of NULL becomes "x", "y", "z2", ... */
tn_status tn_samples_create(uint64_t n, uint32_t n_fields, const struct tn_field *fields,
			    struct tn_samples **out, struct tn_error_info *error);
struct tn_samples *tn_samples_hold(struct tn_samples *samples);
void tn_samples_release(struct tn_samples *samples); /* takes NULL */

/* Copies the fields of a sample to those buffers that are not NULL. */
tn_status tn_samples_read(const struct tn_samples *samples, uint64_t sample, void *const *to,
			  struct tn_error_info *error);

#endif
