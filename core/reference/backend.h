/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The built-in backend: plain loops over host memory.  It is always available, so a program runs
 * without any plugin; learners read it first; and other backends are tested against it.  It is
 * written for clarity, not for speed.
 *
 * Its guarantees beyond the interface:
 *   - it fills every optional slot, for f32 and f64 and all strides;
 *   - sums and products of f32 are formed in f64 and rounded once, at the end;
 *   - the order of computation is fixed: results never change from run to run.
 *
 * The loader gets its descriptor like any plugin's.  It uses only what a plugin may use and, from
 * the core, the evaluation of one scalar operation (program/evaluate.h).
 */
#ifndef TN_REFERENCE_BACKEND_H
#define TN_REFERENCE_BACKEND_H

#include <tenon/backend.h>

extern const struct tn_backend_descriptor tn_reference_backend;

#endif
