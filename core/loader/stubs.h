/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What stands in empty optional slots: functions that answer TN_UNSUPPORTED and do nothing.
 */
#ifndef TN_LOADER_STUBS_H
#define TN_LOADER_STUBS_H

#include <tenon/backend.h>

extern const struct tn_copy_table tn_copy_stubs;
extern const struct tn_memory_table tn_memory_stubs;
extern const struct tn_report_table tn_report_stubs;
extern const struct tn_nn_table tn_nn_stubs;
extern const struct tn_stream_table tn_stream_stubs;
extern const struct tn_compile_table tn_compile_stubs;
extern const struct tn_capture_table tn_capture_stubs;
extern const struct tn_peer_table tn_peer_stubs;
extern const struct tn_sort_table tn_sort_stubs;
extern const struct tn_scan_table tn_scan_stubs;

#endif
