/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The used part of NVIDIA's management library (NVML), whose header not every toolkit has.  Names
 * and layouts are those of its interface, which is stable across releases.
 */
#ifndef CUDA_NVML_H
#define CUDA_NVML_H

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef int nvmlReturn_t; /* an enum in NVIDIA's header */

enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
};

enum { NVML_CLOCK_SM = 1 };

typedef struct {
	unsigned long long total;
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_t;

typedef struct {
	char busIdLegacy[16];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId;
	unsigned int pciSubSystemId;
	char busId[32];
} nvmlPciInfo_t;

#endif
