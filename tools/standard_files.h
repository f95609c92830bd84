/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#ifndef TENON_TOOLS_STANDARD_FILES_H
#define TENON_TOOLS_STANDARD_FILES_H

/* First of all in main: descriptors 0, 1 and 2 are taken, so that no file that is opened later
 * becomes standard output or error.  One that was closed still cannot be used: reading or writing
 * it fails. */
void take_standard_files(void);

#endif
