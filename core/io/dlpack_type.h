/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * DLPack's names of dtypes and devices.
 */
#ifndef TN_IO_DLPACK_TYPE_H
#define TN_IO_DLPACK_TYPE_H

#include <tenon/dlpack.h>

#include "device/device.h"

/* Every dtype of the library has one. */
struct tn_dlpack_dtype tn_dlpack_of_dtype(tn_dtype dtype);
/* 0: the library lacks it. */
tn_dtype tn_dlpack_to_dtype(struct tn_dlpack_dtype type);

/* 0: DLPack has no type for the device's memory. */
int tn_dlpack_of_device(const struct tn_device *device, struct tn_dlpack_device *found);
/* "CUDA"; of a number that DLPack does not have, "unknown". */
const char *tn_dlpack_type_name(int32_t type);

#endif
