/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * May a privileged process load this file?
 */
#ifndef TN_LOADER_TRUST_H
#define TN_LOADER_TRUST_H

#include <tenon/backend.h>

/* TN_OK: only root (or a separate account that the process runs as) can change the file or any
 * folder on its path.  TN_REFUSED: another user can; the text names the file or folder and that
 * user.  `path` is a real path: absolute, without links, '.' and '..'. */
tn_status tn_trust_check(const char *path, struct tn_error_info *error);

#endif
