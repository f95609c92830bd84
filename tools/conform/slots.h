/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checks that call slots one at a time: memory, streams, map, reduce, matmul and copies (levels
 * 1 and 2), and checks of every call (level 5).
 */
#ifndef TN_TOOLS_CONFORM_SLOTS_H
#define TN_TOOLS_CONFORM_SLOTS_H

#include "conform.h"

/* ---- Level 1 ---------------------------------------------------------------------------------*/

/* device.c */
void check_describe(struct kit *kit);
void check_describe_opened(struct kit *kit);
void check_describe_absent(struct kit *kit);
void check_describe_older_caller(struct kit *kit);
void check_alloc_alignment(struct kit *kit);
void check_alloc_impossible(struct kit *kit);
void check_transfer_offsets(struct kit *kit);
void check_sync(struct kit *kit);
void check_memory_information(struct kit *kit);
void check_report_lines(struct kit *kit);

/* memory.c */
void check_memory_many(struct kit *kit);
void check_memory_kinds(struct kit *kit);
void check_memory_limit(struct kit *kit);
void check_memory_freed(struct kit *kit);
void check_transfer_unaligned(struct kit *kit);
void check_transfer_large(struct kit *kit);
void check_transfer_order(struct kit *kit);

/* streams.c */
void check_stream_table(struct kit *kit);
void check_stream_order(struct kit *kit);
void check_stream_life(struct kit *kit);
void check_stream_compute(struct kit *kit);
void check_event_state(struct kit *kit);
void check_event_query(struct kit *kit);
void check_event_order(struct kit *kit);
void check_event_elapsed(struct kit *kit);
void check_native_order(struct kit *kit);

/* asynchrony.c */
void check_transfer_async(struct kit *kit);
void check_stream_samples(struct kit *kit);
void check_stream_waits(struct kit *kit);
void check_capture_transfers(struct kit *kit);

/* random_streams.c */
void check_stream_random(struct kit *kit);

/* events.c */
void check_event_reached(struct kit *kit);
void check_event_time(struct kit *kit);

/* capture.c */
void check_capture_table(struct kit *kit);
void check_capture_replay(struct kit *kit);
void check_capture_refused(struct kit *kit);

/* capture_samples.c */
void check_capture_samples(struct kit *kit);
void check_capture_sequence(struct kit *kit);
void check_capture_apart(struct kit *kit);

/* peer.c */
void check_peer_copy(struct kit *kit);
void check_peer_order(struct kit *kit);
void check_peer_refused(struct kit *kit);

/* import.c */
void check_import_table(struct kit *kit);
void check_import_memory(struct kit *kit);
void check_import_refused(struct kit *kit);

/* native.c */
void check_native_table(struct kit *kit);
void check_native_open(struct kit *kit);
void check_native_refused(struct kit *kit);
tn_status native_export(struct kit *kit, void *stream, uint64_t *native);
tn_status native_import(struct kit *kit, uint64_t native, uint32_t flags, void **stream);
tn_status native_release(struct kit *kit, void *stream);

/* compile.c */
void check_compile_table(struct kit *kit);
void check_compile_kernel(struct kit *kit);
void check_compile_refused(struct kit *kit);

/* ---- Level 2 ---------------------------------------------------------------------------------*/

/* map.c */
void check_map_layouts(struct kit *kit);
void check_map_in_place(struct kit *kit);
void check_map_any_address(struct kit *kit);
void check_map_index(struct kit *kit);
void check_map_scalars(struct kit *kit);
void check_map_long(struct kit *kit);

/* largest.c */
void check_map_largest(struct kit *kit);
void check_reduce_largest(struct kit *kit);

/* opcodes.c, random.c */
void check_map_dtypes(struct kit *kit);
void check_map_opcodes(struct kit *kit);
void check_map_casts(struct kit *kit);
void check_map_random(struct kit *kit);

/* opcodes.c: is that the result of an opcode for operands v, within the tolerance that the device
 * states? */
int opcode_is_right(const struct kit *kit, uint16_t op, tn_dtype result, tn_dtype operand,
		    const uint64_t *v, uint64_t found);

/* random_programs.c */
void check_map_programs(struct kit *kit);
void check_reduce_programs(struct kit *kit);

/* reduce.c, reduce_epilogue.c, reduce_error.c */
void check_reduce_shapes(struct kit *kit);
void check_reduce_combiners(struct kit *kit);
void check_reduce_nan(struct kit *kit);
void check_reduce_arg(struct kit *kit);
void check_reduce_dtypes(struct kit *kit);
void check_reduce_long(struct kit *kit);
void check_reduce_epilogue(struct kit *kit);
void check_reduce_error(struct kit *kit);

/* matmul.c */
void check_matmul_shapes(struct kit *kit);
void check_matmul_strides(struct kit *kit);
void check_matmul_batch(struct kit *kit);
void check_matmul_scale(struct kit *kit);
void check_matmul_narrow(struct kit *kit);

/* matmul_mixed.c */
void check_matmul_mixed(struct kit *kit);

/* epilogue.c */
void check_matmul_epilogue(struct kit *kit);
void check_matmul_prepack(struct kit *kit);

/* copy.c, gather.c */
void check_copy_fill(struct kit *kit);
void check_copy_layouts(struct kit *kit);
void check_copy_gather(struct kit *kit);
void check_copy_scatter_add(struct kit *kit);
void check_copy_scatter(struct kit *kit);

/* sort.c */
void check_sort_order(struct kit *kit);
void check_sort_first(struct kit *kit);
void check_sort_stable(struct kit *kit);
void check_sort_long(struct kit *kit);
void check_sort_refused(struct kit *kit);

/* linalg.c */
void check_linalg_factors(struct kit *kit);
void check_linalg_sizes(struct kit *kit);
void check_linalg_kinds(struct kit *kit);
void check_linalg_failures(struct kit *kit);
void check_linalg_refused(struct kit *kit);

/* scan.c */
void check_scan_sums(struct kit *kit);
void check_scan_extremes(struct kit *kit);
void check_scan_long(struct kit *kit);
void check_scan_error(struct kit *kit);
void check_scan_refused(struct kit *kit);

/* ---- Level 5 ---------------------------------------------------------------------------------*/

/* arguments.c */
void check_arguments(struct kit *kit);

/* arguments_device.c: what check_arguments does with the calls of tenon.device/1. */
void check_arguments_device(struct kit *kit);

/* any_call.c */
void check_call_dry_run(struct kit *kit);
void check_call_untouched(struct kit *kit);
void check_call_bounds(struct kit *kit);
void check_call_workspace(struct kit *kit);
void check_call_borrowed(struct kit *kit);
void check_call_error(struct kit *kit);
void check_call_deterministic(struct kit *kit);

/* others.c */
void check_device_others(struct kit *kit);

/* leaks.c */
void check_call_leaks(struct kit *kit);
void check_memory_leaks(struct kit *kit);

/* exhaustion.c */
void check_memory_host_balance(struct kit *kit);
void check_memory_exhausted_open(struct kit *kit);
void check_memory_exhausted_calls(struct kit *kit);

/* faults.c */
void check_faults_work(struct kit *kit);
void check_faults_transfer(struct kit *kit);
void check_faults_lost(struct kit *kit);
void check_faults_memory(struct kit *kit);

/* oldest_host.c */
void check_oldest_host(struct kit *kit);

/* float_modes.c */
void check_threads_modes(struct kit *kit);
/* threads.c */
void check_threads_instances(struct kit *kit);
void check_threads_devices(struct kit *kit);
void check_threads_sizes(struct kit *kit);
void check_threads_streams(struct kit *kit);

/* shared.c */
void check_threads_shared(struct kit *kit);

#endif
