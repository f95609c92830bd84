/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a test asks of the simulated CUDA beside CUDA's own functions.  These names exist in the
 * simulated libraries only; a test that also runs elsewhere finds them by dlsym.
 */
#ifndef TN_TESTS_SIMCUDA_H
#define TN_TESTS_SIMCUDA_H

#include <stddef.h>
#include <stdint.h>

/* ---- libcudart.so.13 -------------------------------------------------------------------------*/

/* The nth call of `name` from now on (1 is the next) returns `code`.  A name that ends in * stands
 * for all that begin so.  A sticky fault loses the current device.  n = 0 forgets all faults. */
void simcudaInject(const char *name, unsigned n, int code, int sticky);
/* How often `name`, or all that begin so, was called since the start or the last reset. */
unsigned long simcudaCalls(const char *name);
void simcudaForgetCalls(void);
/* The call that a fault made fail, the last of them; "" when none did. */
const char *simcudaStruck(void);
/* How many things are live: blocks of memory, streams, events, libraries, graphs.  They are listed
 * in `report` as far as it goes; NULL is allowed. */
size_t simcudaLive(char *report, size_t capacity);
/* What was last found wrong, in words; "" when nothing was.  It stays until it is forgotten. */
const char *simcudaMessage(void);
void simcudaForgetMessage(void);
/* Forgets everything, as a new process would, and reads the environment anew. */
void simcudaRestart(void);
/* Instructions of warps and sectors of memory (32 bytes) since the start, how many of the sectors
 * were written, and kernels launched. */
struct simcuda_counts {
	uint64_t instructions, sectors, written, launches;
};
struct simcuda_counts simcudaCounts(void);

/* ---- What libcublas.so.13 stands on ----------------------------------------------------------*/

/* Counts a call and answers the code that was injected for it, or 0. */
int simcudaFault(const char *name);
/* Puts work onto a stream (a cudaStream_t), with a copy of its data; `run` is called when the
 * stream gets there, and answers a cudaError_t. */
int simcudaEnqueue(void *stream, const char *name, int (*run)(void *data), const void *data,
		   size_t size);
/* May the work that runs now read or write these bytes?  0, or the error it has to answer. */
int simcudaRange(const void *address, size_t size, int write);
/* Where work finds the bytes of an address that it may touch;
 * the address itself is refused to everybody. */
void *simcudaMemory(const void *address);
/* The stream's state: 0, or the cudaError_t that makes it unusable. */
int simcudaStream(void *stream);

/* ---- libcudnn.so.9 ---------------------------------------------------------------------------*/

/* Handles and descriptors that were not given back. */
size_t simcudaDnnLive(void);

/* ---- libnvrtc.so.13, libnvidia-ml.so.1 -------------------------------------------------------*/

void simcudaNvrtcInject(const char *name, unsigned n, int code);
unsigned long simcudaNvrtcCalls(const char *name);
void simcudaNvmlInject(const char *name, unsigned n, int code);
unsigned long simcudaNvmlCalls(const char *name);

/* ---- libsimnvtx.so, which stands for a profiler ----------------------------------------------*/

/* "map;/;" for a range that has begun and ended. */
const char *simcudaRanges(void);
void simcudaForgetRanges(void);

#endif
