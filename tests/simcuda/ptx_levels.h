/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The families of lane functions, each compiled once for every level of the processor (PTX_LEVEL).
 */
#ifndef SIMCUDA_PTX_LEVELS_H
#define SIMCUDA_PTX_LEVELS_H

#include "ptx_lanes.h"

extern const struct ptx_lane_family ptx_integer_v2, ptx_bits_v2, ptx_compare_v2, ptx_float_v2,
	ptx_approximate_v2, ptx_half_v2, ptx_convert_v2;
extern const struct ptx_lane_family ptx_integer_v3, ptx_bits_v3, ptx_compare_v3, ptx_float_v3,
	ptx_approximate_v3, ptx_half_v3, ptx_convert_v3;

#endif
