/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The entries of table tenon.nn/1, one file per family.
 */
#ifndef CPU_NN_H
#define CPU_NN_H

#include <tenon/backend.h>

extern const struct tn_nn_table cpu_nn_table;

#endif
