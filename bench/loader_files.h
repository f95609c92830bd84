/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Files of random pictures, in a temporary folder, for benchmarks of data loaders.
 */
#ifndef TN_BENCH_LOADER_FILES_H
#define TN_BENCH_LOADER_FILES_H

/* All functions print why they fail. */

/* A new folder in $TMPDIR, or /tmp; NULL: failed.  Free it with loader_folder_remove. */
char *loader_folder(void);
/* Removes it and all that is in it. */
void loader_folder_remove(char *folder);

/* CIFAR-10, binary version, in `folder`; 0: failed. */
int loader_write_cifar(const char *folder);
/* JPEG files of side x side pixels by class, in `folder`; 0: failed, or without libjpeg. */
int loader_write_jpegs(const char *folder, int side);

#endif
