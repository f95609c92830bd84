/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which pictures lie in folders by class, and in which part.
 */
#ifndef TN_DATA_CLASS_SEARCH_H
#define TN_DATA_CLASS_SEARCH_H

#include <stdint.h>

#include <sys/types.h>

#include "base/text.h"
#include "data/listing.h"

/* Files that are no pictures, by their ending, or pictures that lie beside the classes. */
struct tn_left_out {
	char name[16]; /* ".bmp", "of no class" */
	uint64_t n;
};

#define TN_LEFT_OUT_KINDS 8

/* A folder, whatever path leads there. */
struct tn_folder_identity {
	dev_t device;
	ino_t inode;
};

struct tn_class_search {
	const char *root;
	int has_parts; /* there are folders of parts */
	struct tn_listing classes;
	struct tn_text names; /* each picture's path from root on, with a NUL */
	uint64_t *at;         /* where sample i's begins */
	int32_t *labels;
	uint8_t *parts;
	uint64_t n;
	uint64_t n_deeper; /* of these, pictures in folders inside a class */
	uint64_t capacity;
	struct tn_folder_identity *linked; /* of a class, those that links have led to */
	size_t n_linked;
	struct tn_left_out left_out[TN_LEFT_OUT_KINDS]; /* the last is of all further ones */
};

/* `folder` is borrowed.  Logs how many files were left out.  tn_class_search_release is called
 * after a failure too. */
tn_status tn_class_search_run(struct tn_class_search *search, const char *folder,
			      struct tn_error_info *error);
void tn_class_search_release(struct tn_class_search *search);

#endif
