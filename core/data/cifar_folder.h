/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reader of the folders of CIFAR-10 and CIFAR-100, binary version.
 */
#ifndef TN_DATA_CIFAR_FOLDER_H
#define TN_DATA_CIFAR_FOLDER_H

#include "data/dataset.h"

/* *is_there := is there one of the files of tn_cifar_folder_read? */
tn_status tn_cifar_folder_look(const char *folder, int *is_there, struct tn_error_info *error);
/* Fills *raw only on success. */
tn_status tn_cifar_folder_read(const char *folder, struct tn_dataset_raw *raw,
			       struct tn_error_info *error);

#endif
