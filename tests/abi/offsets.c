/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A second copy of the layout of every struct of the backend interface.  If a line fails, plugins
 * already built would misread the struct: at major 0, raise TN_ABI_MINOR in the same commit; from
 * 1.0 on, put the field at the end instead.
 *
 * Implicit padding is rejected by tests/abi/headers-alone (-Wpadded).
 */
#include <tenon/backend.h>
#include <tenon/faults.h>

#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "size of " #type)
#define OFFSET(type, field, bytes)                                                                 \
	_Static_assert(offsetof(struct type, field) == (bytes), "offset of " #type "." #field)

SIZE(tn_error_info, 576);
OFFSET(tn_error_info, struct_size, 0);
OFFSET(tn_error_info, status, 4);
OFFSET(tn_error_info, native_code, 8);
OFFSET(tn_error_info, operation, 16);
OFFSET(tn_error_info, text, 64);

SIZE(tn_workspace, 48);
OFFSET(tn_workspace, struct_size, 0);
OFFSET(tn_workspace, reserved, 4);
OFFSET(tn_workspace, buffer, 8);
OFFSET(tn_workspace, offset, 16);
OFFSET(tn_workspace, size, 24);
OFFSET(tn_workspace, minimum, 32);
OFFSET(tn_workspace, preferred, 40);

SIZE(tn_call, 40);
OFFSET(tn_call, struct_size, 0);
OFFSET(tn_call, flags, 4);
OFFSET(tn_call, stream, 8);
OFFSET(tn_call, error, 16);
OFFSET(tn_call, workspace, 24);
OFFSET(tn_call, hints, 32);

SIZE(tn_operand, 280);
OFFSET(tn_operand, buffer, 0);
OFFSET(tn_operand, offset, 8);
OFFSET(tn_operand, dtype, 16);
OFFSET(tn_operand, rank, 20);
OFFSET(tn_operand, shape, 24);
OFFSET(tn_operand, strides, 152);

SIZE(tn_scalar, 32);
OFFSET(tn_scalar, dtype, 0);
OFFSET(tn_scalar, on_device, 4);
OFFSET(tn_scalar, bits, 8);
OFFSET(tn_scalar, buffer, 16);
OFFSET(tn_scalar, offset, 24);

SIZE(tn_instruction, 12);
OFFSET(tn_instruction, op, 0);
OFFSET(tn_instruction, dtype, 2);
OFFSET(tn_instruction, a, 4);
OFFSET(tn_instruction, b, 6);
OFFSET(tn_instruction, c, 8);
OFFSET(tn_instruction, reserved, 10);

SIZE(tn_program, 80);
OFFSET(tn_program, struct_size, 0);
OFFSET(tn_program, n_inputs, 4);
OFFSET(tn_program, n_outputs, 8);
OFFSET(tn_program, n_scalars, 12);
OFFSET(tn_program, n_constants, 16);
OFFSET(tn_program, n_instructions, 20);
OFFSET(tn_program, hash, 24);
OFFSET(tn_program, instructions, 40);
OFFSET(tn_program, constants, 48);
OFFSET(tn_program, outputs, 56);
OFFSET(tn_program, bytes, 64);
OFFSET(tn_program, n_bytes, 72);

SIZE(tn_device_count, 272);
OFFSET(tn_device_count, struct_size, 0);
OFFSET(tn_device_count, count, 4);
OFFSET(tn_device_count, status, 8);
OFFSET(tn_device_count, reserved, 12);
OFFSET(tn_device_count, text, 16);

SIZE(tn_device_description, 544);
OFFSET(tn_device_description, struct_size, 0);
OFFSET(tn_device_description, kind, 4);
OFFSET(tn_device_description, name, 8);
OFFSET(tn_device_description, flags, 136);
OFFSET(tn_device_description, memory_kinds, 140);
OFFSET(tn_device_description, storage_dtypes, 144);
OFFSET(tn_device_description, program_dtypes, 152);
OFFSET(tn_device_description, matmul_dtypes, 160);
OFFSET(tn_device_description, memory_bytes, 168);
OFFSET(tn_device_description, max_alloc_bytes, 176);
OFFSET(tn_device_description, alignment, 184);
OFFSET(tn_device_description, preferred_layout, 188);
OFFSET(tn_device_description, score, 192);
OFFSET(tn_device_description, identity_type, 196);
OFFSET(tn_device_description, identity, 200);
OFFSET(tn_device_description, accuracy, 216);
OFFSET(tn_device_description, determinism, 232);
OFFSET(tn_device_description, note, 248);
OFFSET(tn_device_description, identity2_type, 504);
OFFSET(tn_device_description, slice, 508);
OFFSET(tn_device_description, identity2, 512);
OFFSET(tn_device_description, numerics, 528);
OFFSET(tn_device_description, function_ulps, 532);
OFFSET(tn_device_description, dlpack_type, 536);
OFFSET(tn_device_description, reserved, 540);

SIZE(tn_open_args, 56);
OFFSET(tn_open_args, call, 0);
OFFSET(tn_open_args, index, 40);
OFFSET(tn_open_args, reserved, 44);
OFFSET(tn_open_args, native, 48);

SIZE(tn_alloc_args, 64);
OFFSET(tn_alloc_args, call, 0);
OFFSET(tn_alloc_args, size, 40);
OFFSET(tn_alloc_args, alignment, 48);
OFFSET(tn_alloc_args, memory_kind, 56);
OFFSET(tn_alloc_args, reserved, 60);

SIZE(tn_free_args, 48);
OFFSET(tn_free_args, call, 0);
OFFSET(tn_free_args, buffer, 40);

SIZE(tn_transfer_args, 72);
OFFSET(tn_transfer_args, call, 0);
OFFSET(tn_transfer_args, buffer, 40);
OFFSET(tn_transfer_args, offset, 48);
OFFSET(tn_transfer_args, size, 56);
OFFSET(tn_transfer_args, host, 64);

SIZE(tn_sync_args, 40);
OFFSET(tn_sync_args, call, 0);

SIZE(tn_device_table, 88);
OFFSET(tn_device_table, struct_size, 0);
OFFSET(tn_device_table, reserved, 4);
OFFSET(tn_device_table, device_count, 8);
OFFSET(tn_device_table, describe, 16);
OFFSET(tn_device_table, open, 24);
OFFSET(tn_device_table, close, 32);
OFFSET(tn_device_table, alloc, 40);
OFFSET(tn_device_table, free, 48);
OFFSET(tn_device_table, upload, 56);
OFFSET(tn_device_table, download, 64);
OFFSET(tn_device_table, sync, 72);
OFFSET(tn_device_table, async_error, 80);

SIZE(tn_map_args, 72);
OFFSET(tn_map_args, call, 0);
OFFSET(tn_map_args, program, 40);
OFFSET(tn_map_args, inputs, 48);
OFFSET(tn_map_args, outputs, 56);
OFFSET(tn_map_args, scalars, 64);

SIZE(tn_reduce_args, 120);
OFFSET(tn_reduce_args, call, 0);
OFFSET(tn_reduce_args, prologue, 40);
OFFSET(tn_reduce_args, epilogue, 48);
OFFSET(tn_reduce_args, inputs, 56);
OFFSET(tn_reduce_args, epilogue_inputs, 64);
OFFSET(tn_reduce_args, outputs, 72);
OFFSET(tn_reduce_args, scalars, 80);
OFFSET(tn_reduce_args, epilogue_scalars, 88);
OFFSET(tn_reduce_args, n_reduced, 96);
OFFSET(tn_reduce_args, n_values, 100);
OFFSET(tn_reduce_args, combiners, 104);

SIZE(tn_matmul_args, 1224);
OFFSET(tn_matmul_args, call, 0);
OFFSET(tn_matmul_args, a, 40);
OFFSET(tn_matmul_args, b, 320);
OFFSET(tn_matmul_args, c, 600);
OFFSET(tn_matmul_args, alpha, 880);
OFFSET(tn_matmul_args, beta, 888);
OFFSET(tn_matmul_args, bias, 896);
OFFSET(tn_matmul_args, has_bias, 1176);
OFFSET(tn_matmul_args, activation, 1180);
OFFSET(tn_matmul_args, a_scale, 1184);
OFFSET(tn_matmul_args, b_scale, 1192);
OFFSET(tn_matmul_args, packed, 1200);

SIZE(tn_compute_table, 40);
OFFSET(tn_compute_table, struct_size, 0);
OFFSET(tn_compute_table, reserved, 4);
OFFSET(tn_compute_table, map, 8);
OFFSET(tn_compute_table, reduce, 16);
OFFSET(tn_compute_table, matmul, 24);
OFFSET(tn_compute_table, matmul_prepack, 32);

SIZE(tn_fill_args, 352);
OFFSET(tn_fill_args, call, 0);
OFFSET(tn_fill_args, output, 40);
OFFSET(tn_fill_args, value, 320);

SIZE(tn_copy_args, 600);
OFFSET(tn_copy_args, call, 0);
OFFSET(tn_copy_args, input, 40);
OFFSET(tn_copy_args, output, 320);

SIZE(tn_gather_args, 888);
OFFSET(tn_gather_args, call, 0);
OFFSET(tn_gather_args, input, 40);
OFFSET(tn_gather_args, indices, 320);
OFFSET(tn_gather_args, output, 600);
OFFSET(tn_gather_args, axis, 880);
OFFSET(tn_gather_args, mode, 884);

SIZE(tn_copy_table, 48);
OFFSET(tn_copy_table, struct_size, 0);
OFFSET(tn_copy_table, reserved, 4);
OFFSET(tn_copy_table, fill, 8);
OFFSET(tn_copy_table, copy, 16);
OFFSET(tn_copy_table, gather, 24);
OFFSET(tn_copy_table, scatter_add, 32);
OFFSET(tn_copy_table, scatter, 40);

SIZE(tn_memory_information, 24);
OFFSET(tn_memory_information, struct_size, 0);
OFFSET(tn_memory_information, reserved, 4);
OFFSET(tn_memory_information, total_bytes, 8);
OFFSET(tn_memory_information, free_bytes, 16);

SIZE(tn_memory_table, 16);
OFFSET(tn_memory_table, struct_size, 0);
OFFSET(tn_memory_table, reserved, 4);
OFFSET(tn_memory_table, information, 8);

SIZE(tn_report_line, 256);
OFFSET(tn_report_line, struct_size, 0);
OFFSET(tn_report_line, reserved, 4);
OFFSET(tn_report_line, key, 8);
OFFSET(tn_report_line, text, 40);

SIZE(tn_report_table, 16);
OFFSET(tn_report_table, struct_size, 0);
OFFSET(tn_report_table, reserved, 4);
OFFSET(tn_report_table, line, 8);

SIZE(tn_stream_args, 48);
OFFSET(tn_stream_args, call, 0);
OFFSET(tn_stream_args, priority, 40);
OFFSET(tn_stream_args, reserved, 44);

SIZE(tn_event_args, 48);
OFFSET(tn_event_args, call, 0);
OFFSET(tn_event_args, event, 40);

SIZE(tn_elapsed_args, 56);
OFFSET(tn_elapsed_args, call, 0);
OFFSET(tn_elapsed_args, start, 40);
OFFSET(tn_elapsed_args, end, 48);

SIZE(tn_fault_args, 72);
OFFSET(tn_fault_args, call, 0);
OFFSET(tn_fault_args, kind, 40);
OFFSET(tn_fault_args, reserved, 44);
OFFSET(tn_fault_args, after, 48);
OFFSET(tn_fault_args, times, 56);
OFFSET(tn_fault_args, bytes, 64);

SIZE(tn_faults_table, 24);
OFFSET(tn_faults_table, struct_size, 0);
OFFSET(tn_faults_table, reserved, 4);
OFFSET(tn_faults_table, provoke, 8);
OFFSET(tn_faults_table, reset, 16);

SIZE(tn_stream_table, 80);
OFFSET(tn_stream_table, struct_size, 0);
OFFSET(tn_stream_table, reserved, 4);
OFFSET(tn_stream_table, stream_create, 8);
OFFSET(tn_stream_table, stream_destroy, 16);
OFFSET(tn_stream_table, event_create, 24);
OFFSET(tn_stream_table, event_destroy, 32);
OFFSET(tn_stream_table, event_record, 40);
OFFSET(tn_stream_table, event_wait, 48);
OFFSET(tn_stream_table, event_sync, 56);
OFFSET(tn_stream_table, event_query, 64);
OFFSET(tn_stream_table, event_elapsed, 72);

SIZE(tn_compile_log, 32);
OFFSET(tn_compile_log, struct_size, 0);
OFFSET(tn_compile_log, reserved, 4);
OFFSET(tn_compile_log, text, 8);
OFFSET(tn_compile_log, size, 16);
OFFSET(tn_compile_log, length, 24);

SIZE(tn_compile_args, 88);
OFFSET(tn_compile_args, call, 0);
OFFSET(tn_compile_args, format, 40);
OFFSET(tn_compile_args, source, 48);
OFFSET(tn_compile_args, name, 56);
OFFSET(tn_compile_args, options, 64);
OFFSET(tn_compile_args, log, 72);
OFFSET(tn_compile_args, source_size, 80);

SIZE(tn_launch_argument, 32);
OFFSET(tn_launch_argument, is_buffer, 0);
OFFSET(tn_launch_argument, size, 4);
OFFSET(tn_launch_argument, buffer, 8);
OFFSET(tn_launch_argument, offset, 16);
OFFSET(tn_launch_argument, value, 24);

SIZE(tn_launch_args, 88);
OFFSET(tn_launch_args, call, 0);
OFFSET(tn_launch_args, kernel, 40);
OFFSET(tn_launch_args, grid, 48);
OFFSET(tn_launch_args, block, 60);
OFFSET(tn_launch_args, shared_bytes, 72);
OFFSET(tn_launch_args, n_arguments, 76);
OFFSET(tn_launch_args, arguments, 80);

SIZE(tn_kernel_args, 48);
OFFSET(tn_kernel_args, call, 0);
OFFSET(tn_kernel_args, kernel, 40);

SIZE(tn_compile_table, 32);
OFFSET(tn_compile_table, struct_size, 0);
OFFSET(tn_compile_table, reserved, 4);
OFFSET(tn_compile_table, compile, 8);
OFFSET(tn_compile_table, launch, 16);
OFFSET(tn_compile_table, kernel_release, 24);

SIZE(tn_graph_args, 48);
OFFSET(tn_graph_args, call, 0);
OFFSET(tn_graph_args, graph, 40);

SIZE(tn_capture_table, 40);
OFFSET(tn_capture_table, struct_size, 0);
OFFSET(tn_capture_table, reserved, 4);
OFFSET(tn_capture_table, capture_begin, 8);
OFFSET(tn_capture_table, capture_end, 16);
OFFSET(tn_capture_table, graph_launch, 24);
OFFSET(tn_capture_table, graph_release, 32);

SIZE(tn_peer_args, 96);
OFFSET(tn_peer_args, call, 0);
OFFSET(tn_peer_args, peer, 40);
OFFSET(tn_peer_args, peer_stream, 48);
OFFSET(tn_peer_args, buffer, 56);
OFFSET(tn_peer_args, offset, 64);
OFFSET(tn_peer_args, peer_buffer, 72);
OFFSET(tn_peer_args, peer_offset, 80);
OFFSET(tn_peer_args, size, 88);

SIZE(tn_peer_table, 16);
OFFSET(tn_peer_table, struct_size, 0);
OFFSET(tn_peer_table, reserved, 4);
OFFSET(tn_peer_table, peer_copy, 8);

SIZE(tn_import_args, 56);
OFFSET(tn_import_args, call, 0);
OFFSET(tn_import_args, pointer, 40);
OFFSET(tn_import_args, size, 48);

SIZE(tn_export_args, 48);
OFFSET(tn_export_args, call, 0);
OFFSET(tn_export_args, buffer, 40);

SIZE(tn_import_table, 32);
OFFSET(tn_import_table, struct_size, 0);
OFFSET(tn_import_table, reserved, 4);
OFFSET(tn_import_table, import_memory, 8);
OFFSET(tn_import_table, import_release, 16);
OFFSET(tn_import_table, export_memory, 24);

SIZE(tn_native_args, 48);
OFFSET(tn_native_args, call, 0);
OFFSET(tn_native_args, native, 40);

SIZE(tn_native_table, 40);
OFFSET(tn_native_table, struct_size, 0);
OFFSET(tn_native_table, reserved, 4);
OFFSET(tn_native_table, device_export, 8);
OFFSET(tn_native_table, stream_import, 16);
OFFSET(tn_native_table, stream_release, 24);
OFFSET(tn_native_table, stream_export, 32);

SIZE(tn_sort_args, 896);
OFFSET(tn_sort_args, call, 0);
OFFSET(tn_sort_args, input, 40);
OFFSET(tn_sort_args, values, 320);
OFFSET(tn_sort_args, indices, 600);
OFFSET(tn_sort_args, axis, 880);
OFFSET(tn_sort_args, descending, 884);
OFFSET(tn_sort_args, has_values, 888);
OFFSET(tn_sort_args, has_indices, 892);

SIZE(tn_sort_table, 16);
OFFSET(tn_sort_table, struct_size, 0);
OFFSET(tn_sort_table, reserved, 4);
OFFSET(tn_sort_table, sort, 8);

SIZE(tn_scan_args, 624);
OFFSET(tn_scan_args, call, 0);
OFFSET(tn_scan_args, input, 40);
OFFSET(tn_scan_args, output, 320);
OFFSET(tn_scan_args, axis, 600);
OFFSET(tn_scan_args, combiner, 604);
OFFSET(tn_scan_args, reverse, 608);
OFFSET(tn_scan_args, exclusive, 612);
OFFSET(tn_scan_args, accumulator, 616);
OFFSET(tn_scan_args, reserved, 620);

SIZE(tn_scan_table, 16);
OFFSET(tn_scan_table, struct_size, 0);
OFFSET(tn_scan_table, reserved, 4);
OFFSET(tn_scan_table, scan, 8);

SIZE(tn_linalg_args, 2296);
OFFSET(tn_linalg_args, call, 0);
OFFSET(tn_linalg_args, a, 40);
OFFSET(tn_linalg_args, b, 320);
OFFSET(tn_linalg_args, u, 600);
OFFSET(tn_linalg_args, v, 880);
OFFSET(tn_linalg_args, values, 1160);
OFFSET(tn_linalg_args, pivots, 1440);
OFFSET(tn_linalg_args, permutation, 1720);
OFFSET(tn_linalg_args, info, 2000);
OFFSET(tn_linalg_args, upper, 2280);
OFFSET(tn_linalg_args, unit, 2284);
OFFSET(tn_linalg_args, transpose, 2288);
OFFSET(tn_linalg_args, vectors, 2292);

SIZE(tn_linalg_table, 72);
OFFSET(tn_linalg_table, struct_size, 0);
OFFSET(tn_linalg_table, reserved, 4);
OFFSET(tn_linalg_table, cholesky, 8);
OFFSET(tn_linalg_table, lu, 16);
OFFSET(tn_linalg_table, solve, 24);
OFFSET(tn_linalg_table, solve_triangular, 32);
OFFSET(tn_linalg_table, qr, 40);
OFFSET(tn_linalg_table, eigh, 48);
OFFSET(tn_linalg_table, svd, 56);
OFFSET(tn_linalg_table, eig, 64);

SIZE(tn_packed, 24);
OFFSET(tn_packed, buffer, 0);
OFFSET(tn_packed, offset, 8);
OFFSET(tn_packed, size, 16);

SIZE(tn_conv2d_args, 1544);
OFFSET(tn_conv2d_args, call, 0);
OFFSET(tn_conv2d_args, x, 40);
OFFSET(tn_conv2d_args, w, 320);
OFFSET(tn_conv2d_args, y, 600);
OFFSET(tn_conv2d_args, bias, 880);
OFFSET(tn_conv2d_args, has_bias, 1160);
OFFSET(tn_conv2d_args, groups, 1164);
OFFSET(tn_conv2d_args, stride, 1168);
OFFSET(tn_conv2d_args, dilation, 1184);
OFFSET(tn_conv2d_args, padding, 1200);
OFFSET(tn_conv2d_args, residual, 1232);
OFFSET(tn_conv2d_args, packed, 1512);
OFFSET(tn_conv2d_args, has_residual, 1536);
OFFSET(tn_conv2d_args, activation, 1540);

SIZE(tn_pool2d_args, 960);
OFFSET(tn_pool2d_args, call, 0);
OFFSET(tn_pool2d_args, x, 40);
OFFSET(tn_pool2d_args, y, 320);
OFFSET(tn_pool2d_args, index, 600);
OFFSET(tn_pool2d_args, kind, 880);
OFFSET(tn_pool2d_args, has_index, 884);
OFFSET(tn_pool2d_args, count_padding, 888);
OFFSET(tn_pool2d_args, reserved, 892);
OFFSET(tn_pool2d_args, kernel, 896);
OFFSET(tn_pool2d_args, stride, 912);
OFFSET(tn_pool2d_args, padding, 928);

SIZE(tn_norm_args, 3432);
OFFSET(tn_norm_args, call, 0);
OFFSET(tn_norm_args, x, 40);
OFFSET(tn_norm_args, y, 320);
OFFSET(tn_norm_args, w, 600);
OFFSET(tn_norm_args, b, 880);
OFFSET(tn_norm_args, mean, 1160);
OFFSET(tn_norm_args, rstd, 1440);
OFFSET(tn_norm_args, dx, 1720);
OFFSET(tn_norm_args, dw, 2000);
OFFSET(tn_norm_args, db, 2280);
OFFSET(tn_norm_args, has_affine, 2560);
OFFSET(tn_norm_args, use_statistics, 2564);
OFFSET(tn_norm_args, wants, 2568);
OFFSET(tn_norm_args, epsilon, 2576);
OFFSET(tn_norm_args, groups, 2572);
OFFSET(tn_norm_args, residual, 2584);
OFFSET(tn_norm_args, result, 2864);
OFFSET(tn_norm_args, dresidual, 3144);
OFFSET(tn_norm_args, has_residual, 3424);
OFFSET(tn_norm_args, activation, 3428);

SIZE(tn_softmax_args, 1168);
OFFSET(tn_softmax_args, call, 0);
OFFSET(tn_softmax_args, x, 40);
OFFSET(tn_softmax_args, y, 320);
OFFSET(tn_softmax_args, dy, 600);
OFFSET(tn_softmax_args, dx, 880);
OFFSET(tn_softmax_args, axis, 1160);
OFFSET(tn_softmax_args, logarithm, 1164);

SIZE(tn_cross_entropy_args, 1728);
OFFSET(tn_cross_entropy_args, call, 0);
OFFSET(tn_cross_entropy_args, x, 40);
OFFSET(tn_cross_entropy_args, labels, 320);
OFFSET(tn_cross_entropy_args, maximum, 600);
OFFSET(tn_cross_entropy_args, log_sum, 880);
OFFSET(tn_cross_entropy_args, loss, 1160);
OFFSET(tn_cross_entropy_args, dx, 1440);
OFFSET(tn_cross_entropy_args, ignore_label, 1720);
OFFSET(tn_cross_entropy_args, reserved, 1724);

SIZE(tn_attention_args, 3144);
OFFSET(tn_attention_args, call, 0);
OFFSET(tn_attention_args, q, 40);
OFFSET(tn_attention_args, k, 320);
OFFSET(tn_attention_args, v, 600);
OFFSET(tn_attention_args, mask, 880);
OFFSET(tn_attention_args, y, 1160);
OFFSET(tn_attention_args, maximum, 1440);
OFFSET(tn_attention_args, log_sum, 1720);
OFFSET(tn_attention_args, dy, 2000);
OFFSET(tn_attention_args, dq, 2280);
OFFSET(tn_attention_args, dk, 2560);
OFFSET(tn_attention_args, dv, 2840);
OFFSET(tn_attention_args, scale, 3120);
OFFSET(tn_attention_args, has_mask, 3128);
OFFSET(tn_attention_args, causal, 3132);
OFFSET(tn_attention_args, wants, 3136);
OFFSET(tn_attention_args, reserved, 3140);

SIZE(tn_nn_table, 152);
OFFSET(tn_nn_table, struct_size, 0);
OFFSET(tn_nn_table, reserved, 4);
OFFSET(tn_nn_table, conv2d_forward, 8);
OFFSET(tn_nn_table, conv2d_input_gradient, 16);
OFFSET(tn_nn_table, conv2d_weight_gradient, 24);
OFFSET(tn_nn_table, pool2d_forward, 32);
OFFSET(tn_nn_table, pool2d_backward, 40);
OFFSET(tn_nn_table, batch_norm_forward, 48);
OFFSET(tn_nn_table, batch_norm_backward, 56);
OFFSET(tn_nn_table, layer_norm_forward, 64);
OFFSET(tn_nn_table, layer_norm_backward, 72);
OFFSET(tn_nn_table, softmax_forward, 80);
OFFSET(tn_nn_table, softmax_backward, 88);
OFFSET(tn_nn_table, cross_entropy_forward, 96);
OFFSET(tn_nn_table, cross_entropy_backward, 104);
OFFSET(tn_nn_table, group_norm_forward, 112);
OFFSET(tn_nn_table, group_norm_backward, 120);
OFFSET(tn_nn_table, conv2d_prepack, 128);
OFFSET(tn_nn_table, attention_forward, 136);
OFFSET(tn_nn_table, attention_backward, 144);

SIZE(tn_block_kernels, 56);
OFFSET(tn_block_kernels, struct_size, 0);
OFFSET(tn_block_kernels, n_operations, 4);
OFFSET(tn_block_kernels, n_columns, 8);
OFFSET(tn_block_kernels, n_dtypes, 12);
OFFSET(tn_block_kernels, n_combiners, 16);
OFFSET(tn_block_kernels, reserved, 20);
OFFSET(tn_block_kernels, operations, 24);
OFFSET(tn_block_kernels, casts, 32);
OFFSET(tn_block_kernels, folds, 40);
OFFSET(tn_block_kernels, stream_copy, 48);

SIZE(tn_dialect, 24);
OFFSET(tn_dialect, struct_size, 0);
OFFSET(tn_dialect, n_operations, 4);
OFFSET(tn_dialect, dtypes, 8);
OFFSET(tn_dialect, words, 16);

SIZE(tn_print_args, 40);
OFFSET(tn_print_args, struct_size, 0);
OFFSET(tn_print_args, dialect, 8);
OFFSET(tn_print_args, prefix, 16);
OFFSET(tn_print_args, write, 24);
OFFSET(tn_print_args, user, 32);

SIZE(tn_host, 136);
OFFSET(tn_host, struct_size, 0);
OFFSET(tn_host, abi_minor, 4);
OFFSET(tn_host, context, 8);
OFFSET(tn_host, log_enabled, 16);
OFFSET(tn_host, log, 24);
OFFSET(tn_host, alloc, 32);
OFFSET(tn_host, free, 40);
OFFSET(tn_host, thread_count, 48);
OFFSET(tn_host, parallel_for, 56);
OFFSET(tn_host, parameter, 64);
OFFSET(tn_host, plugin_path, 72);
OFFSET(tn_host, interpret_map, 80);
OFFSET(tn_host, interpret_reduce, 88);
OFFSET(tn_host, print_prelude, 96);
OFFSET(tn_host, print_program, 104);
OFFSET(tn_host, program_check, 112);
OFFSET(tn_host, normal_table, 120);
OFFSET(tn_host, option, 128);

SIZE(tn_option_row, 64);
OFFSET(tn_option_row, name, 0);
OFFSET(tn_option_row, variable, 8);
OFFSET(tn_option_row, type, 16);
OFFSET(tn_option_row, reserved, 20);
OFFSET(tn_option_row, standard, 24);
OFFSET(tn_option_row, choices, 32);
OFFSET(tn_option_row, least, 40);
OFFSET(tn_option_row, most, 48);
OFFSET(tn_option_row, help, 56);

SIZE(tn_backend_descriptor, 112);
OFFSET(tn_backend_descriptor, struct_size, 0);
OFFSET(tn_backend_descriptor, magic, 4);
OFFSET(tn_backend_descriptor, abi_major, 8);
OFFSET(tn_backend_descriptor, abi_minor, 12);
OFFSET(tn_backend_descriptor, oldest_host, 16);
OFFSET(tn_backend_descriptor, reserved, 20);
OFFSET(tn_backend_descriptor, flags, 24);
OFFSET(tn_backend_descriptor, uuid, 32);
OFFSET(tn_backend_descriptor, name, 48);
OFFSET(tn_backend_descriptor, version, 56);
OFFSET(tn_backend_descriptor, licence, 64);
OFFSET(tn_backend_descriptor, create, 72);
OFFSET(tn_backend_descriptor, destroy, 80);
OFFSET(tn_backend_descriptor, query, 88);
OFFSET(tn_backend_descriptor, n_options, 96);
OFFSET(tn_backend_descriptor, reserved2, 100);
OFFSET(tn_backend_descriptor, options, 104);

SIZE(tn_backend_note, 40);
OFFSET(tn_backend_note, magic, 0);
OFFSET(tn_backend_note, abi_major, 4);
OFFSET(tn_backend_note, abi_minor, 8);
OFFSET(tn_backend_note, oldest_host, 12);
OFFSET(tn_backend_note, uuid, 16);
OFFSET(tn_backend_note, flags, 32);

SIZE(tn_backend_note_section, 60);
OFFSET(tn_backend_note_section, name_size, 0);
OFFSET(tn_backend_note_section, description_size, 4);
OFFSET(tn_backend_note_section, type, 8);
OFFSET(tn_backend_note_section, owner, 12);
OFFSET(tn_backend_note_section, magic, 20);
OFFSET(tn_backend_note_section, abi_major, 24);
OFFSET(tn_backend_note_section, abi_minor, 28);
OFFSET(tn_backend_note_section, oldest_host, 32);
OFFSET(tn_backend_note_section, uuid, 36);
OFFSET(tn_backend_note_section, flags, 52);

/* Numbers stored in files and in plugins already built. */
_Static_assert(TN_OK == 0 && TN_UNSUPPORTED == 5 && TN_INTERNAL == 19, "status codes");
_Static_assert(TN_NO_PLUGIN == 32 && TN_EXCLUDED == 41 && TN_DUPLICATE == 42, "absences");
_Static_assert(TN_BOOL == 1 && TN_I32 == 4 && TN_F32 == 12 && TN_C128 == 15, "dtypes");
_Static_assert(TN_OP_INPUT == 1 && TN_OP_ADD == 16 && TN_OP_EXP == 48 && TN_OP_EQ == 80, "opcodes");
_Static_assert(TN_OP_AND == 96 && TN_OP_SELECT == 112 && TN_OP_RANDOM == 128, "opcodes");
_Static_assert(TN_OP_COUNT == 130 && TN_OP_VENDOR == 0x8000, "opcodes");
_Static_assert(TN_REDUCE_SUM == 1 && TN_REDUCE_ARGMIN == 6, "combiners");
_Static_assert(TN_MAX_RANK == 16, "operands");

int main(void)
{
	return 0;
}
