/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Queries of the simulated CUDA for tests, besides CUDA's own functions.  These names exist in the
 * simulated libraries only; a test that also runs elsewhere finds them by dlsym.
 */
#ifndef TN_TESTS_SIMCUDA_H
#define TN_TESTS_SIMCUDA_H

#include <stddef.h>
#include <stdint.h>

/* ---- libcudart.so.13 -------------------------------------------------------------------------*/

/* The nth call of `name` from now on (1 is the next) returns `code`.  A name that ends in * matches
 * all with that prefix.  A sticky fault loses the current device.  n = 0 forgets all faults. */
void simcudaInject(const char *name, unsigned n, int code, int sticky);
/* The nth call of `name` from now on and those after it return `code`, `times` in all; 0: every
 * one.  In the place of what was asked for that name before. */
void simcudaInjectTimes(const char *name, unsigned n, unsigned times, int code);
/* A stream's device is lost when that gets to its nth piece of work from now on; 0: never. */
void simcudaLose(void *stream, uint64_t n);
/* A device has room for that many more bytes; SIZE_MAX: for as many as its memory has. */
void simcudaRoom(int device, size_t bytes);
/* Ends what the last two have set; a device that is lost stays lost. */
void simcudaSpare(int device);
/* A device that was lost works again, as in a new process; work that waited is dropped. */
void simcudaRevive(int device);
/* How often `name`, or a name with that prefix, was called since the start or the last reset. */
unsigned long simcudaCalls(const char *name);
void simcudaForgetCalls(void);
/* The last call that a fault made fail; "": none. */
const char *simcudaStruck(void);
/* The number of live objects: blocks of memory, streams, events, libraries, graphs.  They are
 * listed in `report` as far as they fit; NULL is allowed. */
size_t simcudaLive(char *report, size_t capacity);
/* The text of the last error found; "": none.  It stays until a reset. */
const char *simcudaMessage(void);
void simcudaForgetMessage(void);
/* Resets everything, like a new process, and reads the environment again. */
void simcudaRestart(void);
/* Instructions of warps and sectors of memory (32 bytes) since the start, how many of the sectors
 * were written, and kernels launched. */
struct simcuda_counts {
	uint64_t instructions, sectors, written, launches;
};
struct simcuda_counts simcudaCounts(void);

/* ---- What libcublas.so.13 stands on ----------------------------------------------------------*/

/* Counts a call and returns the code injected for it, or 0. */
int simcudaFault(const char *name);
/* Puts work onto a stream (a cudaStream_t), with a copy of its data; `run` is called when the
 * stream gets there, and returns a cudaError_t. */
int simcudaEnqueue(void *stream, const char *name, int (*run)(void *data), const void *data,
		   size_t size);
/* May the running work read or write these bytes?  0, or the error to return. */
int simcudaRange(const void *address, size_t size, int write);
/* The location of the bytes at an address that work may access; the address itself is never
 * accessible. */
void *simcudaMemory(const void *address);
/* The stream's state: 0, or the cudaError_t that makes it unusable. */
int simcudaStream(void *stream);

/* ---- libcudnn.so.9 ---------------------------------------------------------------------------*/

/* The number of handles and descriptors that were not freed. */
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
