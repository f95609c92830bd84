/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Declarations shared by the files of the simulated libcudart.  One lock is held in every call;
 * data under it needs no other.
 */
#ifndef TN_TESTS_SIMCUDA_CUDART_H
#define TN_TESTS_SIMCUDA_CUDART_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "ptx.h"
#include "settings.h"

extern struct sim_settings sim_settings;

/* ---- Calls (cudart_call.c) -------------------------------------------------------------------*/

/* Begins a call: takes the lock, unless it returns an error, which the caller passes on.  _bare is
 * for what works without a driver, _light for what works on a lost device. */
cudaError_t sim_enter(const char *name);
cudaError_t sim_enter_bare(const char *name);
cudaError_t sim_enter_light(const char *name);
/* Ends it: releases the lock and keeps the error as the thread's last. */
cudaError_t sim_leave(cudaError_t error);
/* Records what is wrong, for simcudaMessage; returns `error`. */
cudaError_t sim_say(cudaError_t error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Set while work or a host function runs, in which some calls are refused. */
void sim_in_work(int inside);

/* ---- Devices (cudart_device.c) ---------------------------------------------------------------*/

struct sim_device {
	int physical; /* its place on the bus */
	int is_slice; /* of that device */
	struct sim_model model;
	cudaError_t sticky; /* what lost it */
	size_t withheld;    /* bytes of its memory that nobody gets */
	unsigned peers;     /* bits of the devices that it may access */
	unsigned flags;
	size_t limits[16];
};

int sim_device_count(void);
int sim_device_current(void);
struct sim_device *sim_device(int index);
/* What the current device is like. */
const struct sim_model *sim_model_current(void);
void sim_devices_restart(void);
/* The device's properties (cudart_properties.c). */
void sim_properties(struct cudaDeviceProp *properties, int device);
/* Is there a device, and is the driver new enough? */
cudaError_t sim_driver_state(void);

/* ---- The arena (cudart_arena.c) --------------------------------------------------------------*/

enum { SIM_ALIGNMENT = 512 };

/* Reserves the addresses of a device's memory; 0: the host has none. */
uint64_t sim_arena_base(int device);
uint64_t sim_arena_end(int device);
/* The device an address belongs to, or -1. */
int sim_arena_device(uint64_t address);
/* The location of the bytes at an address used by work: accessing a device's address directly is a
 * SIGSEGV.  The host's own addresses are unchanged. */
void *sim_memory(const void *address);
/* The same for the interpreter. */
struct ptx_window sim_arena_window(void);
/* A block begins or ends there: its pages are counted, and released with the last block. */
void sim_arena_take(uint64_t address, size_t size);
void sim_arena_give(uint64_t address, size_t size);
void sim_arena_restart(void);

/* ---- Memory (cudart_block.c) -----------------------------------------------------------------*/

enum sim_state { SIM_PENDING, SIM_LIVE, SIM_FREEING, SIM_FREED };

struct sim_pool;
struct sim_block {
	uint64_t address, number;
	size_t size;
	int device;
	enum sim_state state;
	int kept;              /* a graph may bring it back */
	struct sim_pool *pool; /* NULL for cudaMalloc */
};

/* A new block, LIVE or PENDING; NULL if the device has no room. */
struct sim_block *sim_block_make(int device, size_t size, enum sim_state state);
/* The last block, including freed ones, that begins at or before the address; NULL if none does. */
struct sim_block *sim_block_find(uint64_t address);
void sim_block_live(struct sim_block *block);
void sim_block_free(struct sim_block *block);
size_t sim_block_used(int device);
/* There is room for that many more bytes, at most. */
void sim_block_limit(int device, size_t bytes);
size_t sim_blocks_live(char *report, size_t capacity);
void sim_blocks_drop(int device); /* -1: of all */
/* Why work on `device` may not access the bytes; NULL if it may.  The text lasts until the next
 * call. */
const char *sim_touch(int device, uint64_t address, size_t size, int write);

/* ---- The host's memory (cudart_host.c) -------------------------------------------------------*/

struct sim_pinned {
	struct sim_pinned *next;
	uint64_t address;
	size_t size;
	int device, registered;
	unsigned flags;
};

struct sim_pinned *sim_pinned_find(uint64_t address);
size_t sim_pinned_live(char *report, size_t capacity);
void sim_pinned_drop(void);

/* ---- Pools (cudart_pool.c) -------------------------------------------------------------------*/

/* May the device access allocations of the pool? */
int sim_pool_reaches(const struct sim_pool *pool, int device);
/* Updates the bytes allocated from a pool. */
void sim_pool_count(struct sim_pool *pool, size_t more, size_t less);
void sim_pools_drop(int device);
size_t sim_pools_live(char *report, size_t capacity);

/* ---- Streams (cudart_queue.c) ----------------------------------------------------------------*/

/* Work in a stream, which may run more than once (graphs).  `data` belongs to it. */
struct sim_work {
	unsigned references;
	const char *name;
	cudaError_t (*run)(void *data);
	void (*drop)(void *data); /* NULL: nothing to release */
	_Alignas(16) unsigned char data[];
};

struct sim_capture;
struct sim_item;
struct sim_stream {
	struct sim_stream *next;
	uint64_t id, queued, done;
	uint64_t losing; /* its device is lost by that piece of work from here on; 0: none */
	int device, priority, destroyed;
	unsigned flags;
	int is_null;
	struct sim_item *first, *last;
	struct sim_capture *capture;
	unsigned member; /* its number in the capture, and what precedes it there */
	uint32_t *seen;
};

/* A position in a stream that can be waited for. */
struct sim_place {
	uint64_t stream, until;
};

/* With a copy of `data`; NULL: out of memory. */
struct sim_work *sim_work_make(const char *name, cudaError_t (*run)(void *data), const void *data,
			       size_t size);
struct sim_work *sim_work_keep(struct sim_work *work);
void sim_work_drop(struct sim_work *work);

/* Puts work at the end of a stream, or into the graph that it captures; takes the reference, even
 * on failure. */
cudaError_t sim_enqueue(struct sim_stream *stream, struct sim_work *work);
/* The same after a place elsewhere; never captured. */
cudaError_t sim_enqueue_after(struct sim_stream *stream, struct sim_work *work,
			      struct sim_place place);
/* Called after a launch, which with CUDA_LAUNCH_BLOCKING waits for its work and returns its
 * error. */
cudaError_t sim_launched(cudaStream_t handle);
struct sim_place sim_place_now(const struct sim_stream *stream);
int sim_is_reached(struct sim_place place);
/* Runs until the place is reached. */
void sim_run_until(struct sim_place place);
void sim_run_stream(struct sim_stream *stream);
void sim_run_device(int device); /* -1: all */
/* Runs some waiting work, if there is any. */
void sim_run_some(void);
/* The device of the running work. */
int sim_running_device(void);

/* The stream of a handle; NULL, with the reason in `error`, if it is invalid. */
struct sim_stream *sim_stream_find(cudaStream_t handle, cudaError_t *error);
struct sim_stream *sim_stream_null(int device);
struct sim_stream *sim_stream_make(int device, unsigned flags, int priority);
void sim_stream_destroy(struct sim_stream *stream);
struct sim_stream *sim_streams(void);
size_t sim_streams_live(char *report, size_t capacity);
void sim_streams_drop(int device);

/* ---- Events (cudart_event.c) -----------------------------------------------------------------*/

size_t sim_events_live(char *report, size_t capacity);
void sim_events_drop(int device);

/* ---- Capture and graphs (cudart_capture.c, cudart_graph.c) -----------------------------------*/

enum { SIM_MEMBERS = 32 }; /* streams in one capture */

struct sim_graph {
	struct sim_graph *next;
	struct sim_work **works;
	size_t n, capacity;
};

struct sim_graph *sim_graph_make(void);
void sim_graph_destroy(struct sim_graph *graph);
cudaError_t sim_graph_add(struct sim_graph *graph, struct sim_work *work);
size_t sim_graphs_live(char *report, size_t capacity);
void sim_graphs_drop(void);

/* Adds work to the capture of a stream; takes the reference. */
cudaError_t sim_capture_add(struct sim_stream *stream, struct sim_work *work);
/* The state of a captured event, and of a stream that waits for it. */
struct sim_mark {
	uint64_t capture; /* its number, 0 for none */
	uint32_t seen[SIM_MEMBERS];
};
void sim_capture_mark(struct sim_stream *stream, struct sim_mark *mark);
cudaError_t sim_capture_join(struct sim_stream *stream, const struct sim_mark *mark);
/* A call not allowed in any capture: 0, or the error after invalidating the capture. */
cudaError_t sim_capture_unsafe(void);
/* A call not allowed on this stream while it captures. */
cudaError_t sim_capture_refuse(struct sim_stream *stream);
/* Work on the legacy stream while a blocking stream of the device captures. */
cudaError_t sim_capture_implicit(int device);
int sim_capture_is_invalid(const struct sim_stream *stream);
void sim_captures_drop(void);

/* ---- Kernels (cudart_library.c) --------------------------------------------------------------*/

/* Is it entirely within a library's variable that was requested? */
int sim_is_variable(uint64_t address, size_t size);
size_t sim_libraries_live(char *report, size_t capacity);
void sim_libraries_drop(void);
void sim_counts_restart(void);

#endif
