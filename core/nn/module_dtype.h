/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The dtype of a network; see tn_module_set_dtype.
 */
#ifndef TN_NN_MODULE_DTYPE_H
#define TN_NN_MODULE_DTYPE_H

#include "nn/module.h"

/* TN_DTYPE, kept: a module of the listed tree was given another dtype than the outermost one,
 * before it became a member. */
tn_status tn_module_check_dtypes(const tn_module *module);

#endif
