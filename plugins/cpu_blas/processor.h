/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The system's information about the processor and its memory.
 */
#ifndef CPU_PROCESSOR_H
#define CPU_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

/* The processor's own name, or "CPU". */
void cpu_processor_name(char *name, size_t size);

/* Bytes of memory that this process may use, and the free ones: the machine's, reduced to the limit
 * of the control group if there is one. */
void cpu_memory_size(uint64_t *total, uint64_t *available);

#endif
