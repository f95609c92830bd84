/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * SIMCUDA_RECORD=FOLDER: each compiled source is stored there as a file, with its options in the
 * first line, once per pair of source and options.  tests/simcuda/matrix compiles them for other
 * devices.
 */
#ifndef TN_TESTS_SIMCUDA_RECORD_H
#define TN_TESTS_SIMCUDA_RECORD_H

#include <nvrtc.h>

void record_create(nvrtcProgram program, const char *source);
void record_compile(nvrtcProgram program, int n, const char *const *options);
void record_destroy(nvrtcProgram program);

#endif
