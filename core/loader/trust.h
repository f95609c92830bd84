/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * May a privileged process load this file?
 */
#ifndef TN_LOADER_TRUST_H
#define TN_LOADER_TRUST_H

#include <tenon/backend.h>

/* TN_OK: nobody but root (or a separate account that the process runs as) can change the file or
 * any folder on the way to it.  TN_REFUSED: somebody can; the text names the file or folder and
 * says who.  `path` is a real path: absolute, without links, '.' and '..'. */
tn_status tn_trust_check(const char *path, struct tn_error_info *error);

#endif
