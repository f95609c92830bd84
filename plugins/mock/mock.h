/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the files of this plugin.
 *
 *	faults.c    reads TENON_MOCK
 *	provoke.c   counts faults down; table org.tenon.faults/1
 *	plugin.c    the instance
 *	device.c    table tenon.device/1 except memory and transfers
 *	memory.c    handles, hidden and pinned memory; tenon.memory/1, tenon.import/1
 *	work.c      turns a call into a piece of work: copies arguments, resolves operands
 *	report.c    tenon.report/1
 *	queue.c     streams of work, marks in them, and running them
 *	stream.c    table tenon.stream/1
 *	native.c    table tenon.native/1, and the vendor's own (vendor.h)
 *	transfer.c  upload and download
 *	compute.c   map and reduce
 *	matmul.c    matmul
 *	copy.c      fill and copy
 *	capture.c   table tenon.capture/1
 *	peer.c      table tenon.peer/1
 */
#ifndef MOCK_H
#define MOCK_H

#include <tenon/faults.h>
#include <tenon/plugin.h>

/* ---- Faults ----------------------------------------------------------------------------------*/

enum { MOCK_MOST_DEVICES = 16 };

/* What fails: of the things that are counted from 1 those from `first` to `last`; first 0: none. */
struct mock_fault {
	const char *name; /* of the variable and item, or of the table, for texts */
	uint64_t first, last, count;
};

/* Counts one more; its number if it fails, else 0. */
uint64_t mock_fault_due(struct mock_fault *fault);

/* The faults that TENON_MOCK sets.  Allocations and pieces of work are counted from 1 over all
 * devices of an instance; 0 means none. */
struct mock_faults {
	tn_status absence; /* TN_OK: the backend is available */
	uint32_t devices;
	struct mock_fault oom;         /* the allocation that fails */
	uint64_t oom_after;            /* bytes that a device has; 0: as many as the host */
	struct mock_fault lost;        /* the piece of work at which its device is lost */
	struct mock_fault async_error; /* the piece of work that fails */
	uint64_t slow_ms;              /* minimum duration of each piece of work */
	int no_peers;                  /* the devices cannot reach each other */
	/* Of device 0: its UUID, its PCI address, its part. */
	uint32_t identity_type, identity2_type, slice;
	uint8_t identity[16], identity2[16];
};

/* Reads the variable's text; NULL is no fault.  TN_FORMAT: the error names the column. */
tn_status mock_faults_parse(const char *text, struct mock_faults *faults,
			    struct tn_error_info *error);

/* ---- Instance and device ---------------------------------------------------------------------*/

struct mock_instance {
	const struct tn_host *host;
	struct mock_faults faults;
	/* Shared by the devices, which may be used by different threads. */
	uint64_t n_buffers, n_pieces;
	uint64_t used[MOCK_MOST_DEVICES]; /* bytes of each device, by all that opened it */
};

struct mock_buffer {
	struct mock_buffer *next;
	uint64_t handle;
	unsigned char *memory;
	uint64_t size;
	uint64_t n_users; /* pieces of work that wait to use it */
	int is_pinned;    /* the handle is the address */
	int is_imported;  /* the memory belongs to others */
};

/* A position in a stream's order. */
struct mock_mark {
	uint64_t references;
	struct mock_stream *stream; /* counted */
	int reached;
	double seconds; /* when it was reached */
};

struct mock_work;

struct mock_stream {
	struct mock_stream
		*next; /* of the device's; marks may keep it longer than the device does */
	struct mock_device *device; /* closed if only marks keep the stream */
	uint64_t references;
	int is_native; /* made by the vendor's own table: a stream of others until it is imported */
	struct mock_work *first, *last;
	uint64_t n_waiting;
	struct tn_error_info error; /* the first asynchronous one; status TN_OK: none */
	struct mock_graph *graph;   /* set while it is captured: its work goes there; else NULL */
	struct mock_fault failing, losing, failing_transfers;
};

/* A handle to a stream of others. */
struct mock_import {
	struct mock_import *next;
	struct mock_stream *stream; /* counted */
};

struct mock_event {
	struct mock_event *next;
	struct mock_mark *mark; /* NULL: never recorded */
};

struct mock_device {
	struct mock_instance *instance;
	uint32_t index;
	struct mock_buffer *buffers;
	struct mock_stream *ordinary; /* the NULL stream */
	struct mock_stream *streams;
	struct mock_import *imports;
	uint64_t native;  /* the vendor's handle of the device */
	uint64_t n_waits; /* of the host */
	struct mock_event *events;
	struct mock_graph *graphs;
	struct mock_stream *captured; /* NULL: none */
	struct tn_error_info loss;    /* status TN_OK: the device is not lost */
	struct mock_fault failing_allocations;
	uint64_t limit; /* of bytes; 0: that of the instance */
};

extern const struct tn_capture_table mock_capture_table;
extern const struct tn_device_table mock_device_table;
extern const struct tn_compute_table mock_compute_table;
extern const struct tn_copy_table mock_copy_table;
extern const struct tn_faults_table mock_faults_table;
extern const struct tn_import_table mock_import_table;
extern const struct tn_memory_table mock_memory_table;
extern const struct tn_native_table mock_native_table;
extern const struct mock_vendor_table mock_vendor_table;
extern const struct tn_peer_table mock_peer_table;
extern const struct tn_report_table mock_report_table;
extern const struct tn_stream_table mock_stream_table;

/* Entries of the device table that have files of their own. */
tn_status mock_alloc(void *device, const struct tn_alloc_args *args, uint64_t *buffer);
tn_status mock_free(void *device, const struct tn_free_args *args);
tn_status mock_upload(void *device, const struct tn_transfer_args *args);
tn_status mock_download(void *device, const struct tn_transfer_args *args);
tn_status mock_matmul(void *device, const struct tn_matmul_args *args);

/* Begins an entry: copies its arguments into `own`, zero for fields unknown to the caller.
 * TN_UNSUPPORTED: an unknown argument is not 0, or a flag is outside `flags`.  TN_DEVICE_LOST.
 * TN_INVALID_ARGUMENT: the stream does not belong to this device (NULL: not yet open). */
tn_status mock_begin(struct mock_device *device, void *own, size_t own_size, const void *theirs,
		     uint32_t flags, const char *operation);

/* The next value of a counter shared by the devices. */
uint64_t mock_count(uint64_t *counter);

void *mock_host_alloc(const struct mock_device *device, size_t size);
void mock_host_free(const struct mock_device *device, void *memory);

/* ---- Memory ----------------------------------------------------------------------------------*/

/* The memory size of each device; that of an open one may have a limit of its own. */
uint64_t mock_memory_size(const struct mock_instance *instance);
/* The buffer of a handle, or NULL. */
struct mock_buffer *mock_buffer_find(const struct mock_device *device, uint64_t handle);
void mock_buffers_free(struct mock_device *device);

/* ---- Work ------------------------------------------------------------------------------------*/

typedef tn_status mock_run(struct mock_device *device, struct mock_work *work,
			   struct tn_error_info *error);

/* A piece of work followed by everything that it needs, in one block of host memory. */
struct mock_work {
	struct mock_work *next;
	const char *operation;
	mock_run *run;            /* NULL: a mark, which is recorded or waited for */
	const void *args;         /* the arguments of `run` */
	struct mock_mark *mark;   /* counted */
	struct mock_graph *graph; /* the graph that it replays; NULL: none */
	int is_wait, is_transfer;
	uint32_t n_buffers;
	struct mock_buffer **buffers;
};

/* Makes a piece of work out of a call's arguments: each mock_pack_... copies something after it. */
struct mock_packing {
	struct mock_device *device;
	struct mock_work *work;
	char *at;
	struct tn_error_info *error;
	const char *operation;
};

/* The size in a block of `size` bytes, and of a program with everything that it points to. */
size_t mock_room(size_t size);
size_t mock_program_room(const struct tn_program *program);

/* Allocates space for `n_buffers` operands and scalars, and `room` bytes more.
 * TN_OUT_OF_MEMORY. */
tn_status mock_pack_begin(struct mock_packing *packing, uint32_t n_buffers, size_t room);
void *mock_pack_bytes(struct mock_packing *packing, const void *from, size_t size);
const struct tn_program *mock_pack_program(struct mock_packing *packing,
					   const struct tn_program *program);
/* Copies operands (scalars) and turns their handles into addresses.  TN_INVALID_ARGUMENT: there is
 * no such buffer, or an element lies outside of it. */
tn_status mock_pack_operands(struct mock_packing *packing, const struct tn_operand *from,
			     uint32_t n, const char *role, const struct tn_operand **to);
tn_status mock_pack_scalars(struct mock_packing *packing, const struct tn_scalar *from, uint32_t n,
			    const struct tn_scalar **to);
/* If these bytes of the host are in a pinned buffer, the work uses that. */
void mock_pack_pinned(struct mock_packing *packing, const void *host, uint64_t size);
/* Turns {buffer, offset, size} into an address. */
tn_status mock_pack_bytes_at(struct mock_packing *packing, const char *what, uint64_t buffer,
			     uint64_t offset, uint64_t size, unsigned char **address);
/* Frees a piece of work that has run, or never will. */
void mock_work_free(struct mock_device *device, struct mock_work *work);
/* Appends the work to a stream. */
tn_status mock_pack_end(struct mock_packing *packing, void *stream, mock_run *run);

/* Checks an operand without its buffer: dtype, rank, lengths, and the alignment of its elements.
 * TN_UNSUPPORTED, TN_INVALID_ARGUMENT. */
tn_status mock_operand_check(const struct tn_operand *operand, const char *role,
			     struct tn_error_info *error, const char *operation);
/* The bytes [low, high) that it spans, from the buffer's start; 0 if they overflow. */
int mock_operand_span(const struct tn_operand *operand, uint64_t *low, uint64_t *high);

/* ---- Streams ---------------------------------------------------------------------------------*/

struct mock_stream *mock_stream_make(struct mock_device *device); /* NULL: no memory */
/* The stream of a call; NULL: it does not belong to this device. */
struct mock_stream *mock_stream_find(struct mock_device *device, void *stream);
void mock_stream_release(struct mock_device *device, struct mock_stream *stream);
void mock_imports_release(struct mock_device *device);
/* A position in the stream's order, which is its end until something is queued; NULL: no memory. */
struct mock_mark *mock_mark_make(struct mock_device *device, struct mock_stream *stream);
void mock_mark_release(struct mock_device *device, struct mock_mark *mark); /* NULL is allowed */
/* Work that reaches the mark, or waits for it; NULL after filling the error. */
struct mock_work *mock_mark_work(struct mock_device *device, struct mock_mark *mark, int is_wait,
				 struct tn_error_info *error, const char *operation);

void mock_queue(struct mock_device *device, struct mock_stream *stream, struct mock_work *work);
/* Runs the first piece of a stream, and the work that it waits for; 0: the stream is empty. */
int mock_run_one(struct mock_device *device, struct mock_stream *stream);
/* Runs a stream's work: all of it, or until the mark is reached. */
void mock_drain(struct mock_device *device, struct mock_stream *stream,
		const struct mock_mark *until);
/* Runs all work of the device. */
void mock_drain_all(struct mock_device *device);
/* Answers, and clears, a stream's first asynchronous error; TN_DEVICE_LOST stays. */
tn_status mock_fetch(struct mock_device *device, struct mock_stream *stream,
		     struct tn_error_info *error);

/* ---- Capture ---------------------------------------------------------------------------------*/

/* Adds the work to the graph; it runs with each replay. */
void mock_graph_add(struct mock_graph *graph, struct mock_work *work);
/* TN_NOT_CAPTURABLE: the call's stream is being captured. */
tn_status mock_capture_refuse(struct mock_device *device, const struct tn_call *call,
			      const char *operation);
void mock_graphs_free(struct mock_device *device);
/* A replay has run, or never will. */
void mock_replay_end(struct mock_graph *graph);

#endif
