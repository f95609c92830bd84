/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The decoders of cvt and isspacep.
 */
#ifndef SIMCUDA_PTX_DECODE_CONVERT_H
#define SIMCUDA_PTX_DECODE_CONVERT_H

#include "ptx_control.h"
#include "ptx_decode.h"

int ptx_decode_cvt(struct ptx_reader *reader);
int ptx_decode_isspacep(struct ptx_reader *reader);

#endif
