/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The folder of a program's files.
 */
#ifndef TN_TESTS_TEST_FOLDER_H
#define TN_TESTS_TEST_FOLDER_H

#include "io_files.h"

static const char *folder;

static inline int make_folder(void **state)
{
	(void)state;
	folder = files_folder();
	return 0;
}

static inline int remove_folder(void **state)
{
	(void)state;
	files_remove(folder);
	return 0;
}

#endif
