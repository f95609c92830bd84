/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks of operands and scalars.
 */
#ifndef OPENCL_OPERAND_H
#define OPENCL_OPERAND_H

#include "plugin.h"

/* The dtypes that a device stores. */
static inline uint64_t opencl_storage(const struct opencl_device *device)
{
	const uint64_t wide = TN_PLUGIN_DTYPE(TN_F64) | TN_PLUGIN_DTYPE(TN_C128);
	return device->facts->has_f64 ? TN_PLUGIN_ALL_DTYPES : TN_PLUGIN_ALL_DTYPES & ~wide;
}

/* The dtypes that programs compute in; f64 if the device has it. */
#define OPENCL_COMPUTES                                                                            \
	(TN_PLUGIN_DTYPE(TN_BOOL) | TN_PLUGIN_DTYPE(TN_I32) | TN_PLUGIN_DTYPE(TN_U32) |            \
	 TN_PLUGIN_DTYPE(TN_I64) | TN_PLUGIN_DTYPE(TN_F32) | TN_PLUGIN_DTYPE(TN_F64))

static inline uint64_t opencl_computes(const struct opencl_device *device)
{
	return device->facts->has_f64 ? OPENCL_COMPUTES
				      : OPENCL_COMPUTES & ~TN_PLUGIN_DTYPE(TN_F64);
}

/* Checks one operand by itself, with its buffer unless the call is a dry run. */
tn_status opencl_check_operand(const struct opencl_device *device, const struct tn_call *call,
			       const char *operation, const char *name, unsigned number,
			       const struct tn_operand *operand, enum tn_plugin_role role);
/* Checks that checked operands, and scalars on the device, lie inside their buffers.  A dry run
 * checks none. */
tn_status opencl_check_places(const struct opencl_device *device, const struct tn_call *call,
			      const char *operation, const char *name,
			      const struct tn_operand *operands, uint32_t n);
tn_status opencl_check_scalar_places(const struct opencl_device *device, const struct tn_call *call,
				     const char *operation, const struct tn_scalar *scalars,
				     uint32_t n);

#endif
