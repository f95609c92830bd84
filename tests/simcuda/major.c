/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Linked to the same objects, it makes them libraries of CUDA 12.8.
 */
#include "fault.h"

const int sim_cuda_version = 12080;
