/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Translates dtypes and devices to and from DLPack's numbers.  The layout of the structs is that
 * of the published interface.
 */
#include "io/dlpack_type.h"

#include <string.h>

_Static_assert(sizeof(struct tn_dlpack_tensor) == 48, "DLTensor");
_Static_assert(offsetof(struct tn_dlpack_tensor, device) == 8, "DLTensor.device");
_Static_assert(offsetof(struct tn_dlpack_tensor, ndim) == 16, "DLTensor.ndim");
_Static_assert(offsetof(struct tn_dlpack_tensor, dtype) == 20, "DLTensor.dtype");
_Static_assert(offsetof(struct tn_dlpack_tensor, shape) == 24, "DLTensor.shape");
_Static_assert(offsetof(struct tn_dlpack_tensor, strides) == 32, "DLTensor.strides");
_Static_assert(offsetof(struct tn_dlpack_tensor, byte_offset) == 40, "DLTensor.byte_offset");
_Static_assert(sizeof(struct tn_dlpack_dtype) == 4, "DLDataType");
_Static_assert(offsetof(struct tn_dlpack_dtype, lanes) == 2, "DLDataType.lanes");
_Static_assert(sizeof(struct tn_dlpack_managed) == 80, "DLManagedTensorVersioned");
_Static_assert(offsetof(struct tn_dlpack_managed, manager_ctx) == 8, "manager_ctx");
_Static_assert(offsetof(struct tn_dlpack_managed, deleter) == 16, "deleter");
_Static_assert(offsetof(struct tn_dlpack_managed, flags) == 24, "flags");
_Static_assert(offsetof(struct tn_dlpack_managed, tensor) == 32, "dl_tensor");
_Static_assert(sizeof(struct tn_dlpack_managed_unversioned) == 64, "DLManagedTensor");
_Static_assert(offsetof(struct tn_dlpack_managed_unversioned, manager_ctx) == 48, "manager_ctx");
_Static_assert(offsetof(struct tn_dlpack_managed_unversioned, deleter) == 56, "deleter");

static const struct tn_dlpack_dtype dtypes[TN_DTYPES] = {
	[TN_BOOL] = {TN_DLPACK_BOOL, 8, 1},      [TN_I8] = {TN_DLPACK_INT, 8, 1},
	[TN_I16] = {TN_DLPACK_INT, 16, 1},       [TN_I32] = {TN_DLPACK_INT, 32, 1},
	[TN_I64] = {TN_DLPACK_INT, 64, 1},       [TN_U8] = {TN_DLPACK_UINT, 8, 1},
	[TN_U16] = {TN_DLPACK_UINT, 16, 1},      [TN_U32] = {TN_DLPACK_UINT, 32, 1},
	[TN_U64] = {TN_DLPACK_UINT, 64, 1},      [TN_F16] = {TN_DLPACK_FLOAT, 16, 1},
	[TN_BF16] = {TN_DLPACK_BFLOAT, 16, 1},   [TN_F32] = {TN_DLPACK_FLOAT, 32, 1},
	[TN_F64] = {TN_DLPACK_FLOAT, 64, 1},     [TN_C64] = {TN_DLPACK_COMPLEX, 64, 1},
	[TN_C128] = {TN_DLPACK_COMPLEX, 128, 1},
};

struct tn_dlpack_dtype tn_dlpack_of_dtype(tn_dtype dtype)
{
	return dtypes[dtype];
}

tn_dtype tn_dlpack_to_dtype(struct tn_dlpack_dtype type)
{
	for (tn_dtype dtype = TN_BOOL; dtype < TN_DTYPES; dtype++) {
		if (!memcmp(&dtypes[dtype], &type, sizeof(type)))
			return dtype;
	}
	return 0;
}

int tn_dlpack_of_device(const struct tn_device *device, struct tn_dlpack_device *found)
{
	const int32_t stated = (int32_t)device->description.dlpack_type;
	if (stated)
		*found = (struct tn_dlpack_device){stated, (int32_t)device->index};
	else if (device->host_memory)
		*found = (struct tn_dlpack_device){TN_DLPACK_CPU, 0};
	else
		return 0;
	return 1;
}

const char *tn_dlpack_type_name(int32_t type)
{
	static const char *const names[] = {
		[TN_DLPACK_CPU] = "CPU",
		[TN_DLPACK_CUDA] = "CUDA",
		[TN_DLPACK_CUDA_HOST] = "CUDA's pinned memory",
		[4] = "OpenCL",
		[7] = "Vulkan",
		[8] = "Metal",
		[9] = "VPI",
		[10] = "ROCm",
		[11] = "ROCm's pinned memory",
		[12] = "an extension",
		[TN_DLPACK_CUDA_MANAGED] = "CUDA's managed memory",
		[14] = "oneAPI",
		[15] = "WebGPU",
		[16] = "Hexagon",
		[17] = "MAIA",
	};
	int is_known = type > 0 && (size_t)type < sizeof(names) / sizeof(names[0]) && names[type];
	return is_known ? names[type] : "unknown";
}
