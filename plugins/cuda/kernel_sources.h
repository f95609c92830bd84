/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The device code of kernels/.
 */
#ifndef CUDA_KERNEL_SOURCES_H
#define CUDA_KERNEL_SOURCES_H

#include "plugin.h"

/* Adds the text of kernels/NAME.cu; 0: unknown name. */
int cuda_source_add(struct tn_plugin_text *text, const char *name);

#endif
