/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * nnott's options of training by its names; the table of tenon-nnott(7).
 */
#ifndef TENON_TOOLS_NNOTT_OPTIONS_H
#define TENON_TOOLS_NNOTT_OPTIONS_H

#include "option_table.h"

/* Those that have another name here. */
extern const struct option_alias nnott_options[];
extern const size_t n_nnott_options;

#endif
