/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The element types of matrices.
 */
#include "gemm.h"

#include <math.h>
#include <string.h>

size_t sim_type_size(cudaDataType_t type)
{
	switch (type) {
	case CUDA_R_16F:
	case CUDA_R_16BF:
		return 2;
	case CUDA_R_32F:
		return 4;
	case CUDA_R_64F:
		return 8;
	default:
		return 0;
	}
}

static float float_of(uint32_t bits)
{
	float value = 0;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static float half_to_float(uint16_t half)
{
	const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	const int exponent = half >> 10 & 31;
	const uint32_t fraction = half & 0x3ff;
	if (exponent == 31)
		return float_of(sign | 0x7f800000 | fraction << 13);
	if (exponent > 0)
		return float_of(sign | (uint32_t)(exponent + 112) << 23 | fraction << 13);
	float small = ldexpf((float)fraction, -24);
	return sign ? -small : small;
}

/* To the nearest, ties to even: scaled so that the last bit of the half is a one. */
static uint16_t float_to_half(float value)
{
	const uint16_t sign = signbit(value) ? 0x8000 : 0;
	const float magnitude = fabsf(value);
	int exponent = 0;
	if (isnan(value))
		return 0x7fff;
	if (magnitude >= 65520)
		return sign | 0x7c00;
	frexpf(magnitude, &exponent);
	if (exponent < -13)
		exponent = -13;
	int units = (int)rintf(ldexpf(magnitude, 11 - exponent));
	if (units < 1024)
		return sign | (uint16_t)units;
	return (uint16_t)(sign + ((exponent + 13) << 10) + units);
}

static uint16_t float_to_bfloat(float value)
{
	uint32_t bits = 0;
	if (isnan(value))
		return 0x7fff;
	memcpy(&bits, &value, sizeof(bits));
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double sim_load(cudaDataType_t type, const void *address, int64_t index)
{
	switch (type) {
	case CUDA_R_16F:
		return half_to_float(((const uint16_t *)address)[index]);
	case CUDA_R_16BF:
		return float_of((uint32_t)((const uint16_t *)address)[index] << 16);
	case CUDA_R_32F:
		return ((const float *)address)[index];
	default:
		return ((const double *)address)[index];
	}
}

void sim_store(cudaDataType_t type, void *address, int64_t index, double value)
{
	switch (type) {
	case CUDA_R_16F:
		((uint16_t *)address)[index] = float_to_half((float)value);
		break;
	case CUDA_R_16BF:
		((uint16_t *)address)[index] = float_to_bfloat((float)value);
		break;
	case CUDA_R_32F:
		((float *)address)[index] = (float)value;
		break;
	default:
		((double *)address)[index] = value;
	}
}

int sim_scale_type(cublasComputeType_t compute)
{
	switch (compute) {
	case CUBLAS_COMPUTE_16F:
	case CUBLAS_COMPUTE_16F_PEDANTIC:
		return CUDA_R_16F;
	case CUBLAS_COMPUTE_32F:
	case CUBLAS_COMPUTE_32F_PEDANTIC:
	case CUBLAS_COMPUTE_32F_FAST_16F:
	case CUBLAS_COMPUTE_32F_FAST_16BF:
	case CUBLAS_COMPUTE_32F_FAST_TF32:
		return CUDA_R_32F;
	case CUBLAS_COMPUTE_64F:
	case CUBLAS_COMPUTE_64F_PEDANTIC:
		return CUDA_R_64F;
	default:
		return -1;
	}
}
