/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The built-in backend: plain loops over host memory.  It is always there, so a program runs with
 * no plugin at all; it is the first tier that a learner reads; and it is the oracle that other
 * backends are tested against.  It is written for that and not for speed.
 *
 * What it promises beyond the interface:
 *   - it has every optional slot, in f32 and f64, for strides of any kind;
 *   - sums and products of f32 are formed in f64 and rounded once, at the end;
 *   - everything is computed in one fixed order: results never change from run to run.
 *
 * It is handed to the loader as any plugin's descriptor is, and it uses what a plugin may use and,
 * of the core, the meaning of one scalar operation (program/evaluate.h).
 */
#ifndef TN_REFERENCE_BACKEND_H
#define TN_REFERENCE_BACKEND_H

#include <tenon/backend.h>

extern const struct tn_backend_descriptor tn_reference_backend;

#endif
