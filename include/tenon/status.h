/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Names of status codes and element types.
 */
#ifndef TENON_STATUS_H
#define TENON_STATUS_H

#include <tenon/export.h>
#include <tenon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Statuses that only the library returns, never a backend; tenon/types.h has the others. */
enum {
	TN_NOT_FINITE = 64, /* a number that must be finite is not, such as the loss of a step */
	/* What must be equal is not: arrays that a test asserts to be (tenon/testing.h), or what
	 * the ranks of a training have (tenon/distributed.h). */
	TN_NOT_EQUAL = 65,
	/* A matrix is singular or not positive definite, or an iteration on it does not converge
	 * (tenon/linalg.h). */
	TN_SINGULAR = 66,
};

/* The name of a status without its prefix: "OK", "SHAPE", "NO_DRIVER"; "UNKNOWN" for other numbers.
 * Borrowed, always valid.  [thread: any | since 0.1] */
TN_API const char *tn_status_name(tn_status status);

/* One sentence on the meaning of a status.  Borrowed, always valid.  [thread: any | since 0.1] */
TN_API const char *tn_status_text(tn_status status);

/* The name of an element type: "f32", "i64", "bool"; "unknown" for other numbers.  Borrowed, always
 * valid.  [thread: any | since 0.1] */
TN_API const char *tn_dtype_name(tn_dtype dtype);

/* The version of the library at run time, as "0.1.0".  Borrowed.  [thread: any | since 0.1] */
TN_API const char *tn_version(void);

#ifdef __cplusplus
}
#endif
#endif
