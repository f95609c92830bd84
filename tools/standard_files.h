/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Standard input, output and error, which must be open before any other file.
 */
#ifndef TENON_TOOLS_STANDARD_FILES_H
#define TENON_TOOLS_STANDARD_FILES_H

/* Called first in main: opens descriptors 0, 1 and 2 if they are closed, so that no file opened
 * later becomes standard output or error.  Reading or writing a descriptor opened here fails. */
void take_standard_files(void);

#endif
