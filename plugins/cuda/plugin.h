/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the files of this plugin: an instance with the devices found, an open device, and the
 * entries of its tables.
 *
 *   plugin.c     the instance: create, query, destroy
 *   library.c    NVIDIA's libraries, the tables of their functions, the choice of CUDA's version
 *   place.c      where those libraries lie
 *   count.c      finds the devices, without the runtime and the driver
 *   facts.c      what the management library knows of one
 *   device.c     open, close, describe
 *   memory.c     buffers, imported ones too   transfer.c  copies between host and device
 *   ranges.c     NVTX: operations by name, for profilers
 *   report.c     versions, clocks, temperature, power
 *   stream.c     streams, events, asynchronous errors; table tenon.native/1
 *   status.c     errors: the meaning of NVIDIA's codes, arguments, a lost device
 *   operand.c    operands as kernels see them
 *   geometry.c   the geometry of a printed kernel's operands
 *   program.c    element programs as CUDA C
 *   compile.c    NVRTC           cache.c, cache_trim.c: compiled kernels on disk
 *   kernel.c     kernels by key, and their launch; kernel_sources.c: the files of kernels/
 *   capture.c    table tenon.capture/1: graphs
 *   peer.c       table tenon.peer/1: copies between devices
 *   source.c     table tenon.compile/1: kernels that programs bring
 *   map.c  reduce.c, reduce_print.c  matmul.c  copy.c  gather.c   one family each
 *   sort.c       table tenon.sort/1   scan.c  table tenon.scan/1
 *   dnn.c        convolution through cuDNN; dnn_plan.c: one shape; dnn_none.c: without cuDNN
 *   nn.c         layers: conv2d.c, conv2d_phase.c, pool2d.c; image.c: shared by all three
 *                norm.c, norm_check.c  softmax.c  cross_entropy.c; layer.c: shared by all
 */
#ifndef CUDA_PLUGIN_H
#define CUDA_PLUGIN_H

#include <tenon/plugin.h>

#include "library.h"

#define CUDA_MAX_DEVICES 64
#define BIT(dtype) (UINT64_C(1) << (dtype))

/* A device as it was found, without the runtime. */
struct cuda_facts {
	char name[96];
	char pci[32];  /* "0000:17:00.0"; empty: unknown */
	char uuid[64]; /* "GPU-..."; empty: unknown */
	/* Of the PCI address and of the UUID; TN_IDENTITY_NONE: unknown. */
	uint32_t identity_type, identity2_type;
	uint8_t identity[16], identity2[16];
	uint64_t memory_bytes; /* 0: unknown */
	uint32_t architecture; /* 90 for compute capability 9.0; 0: unknown */
	uint32_t cores, clock; /* how many, and the highest in MHz; 0: unknown */
	int is_integrated;     /* it has the host's memory; known when it is open */
	int is_unresolved;     /* a number of CUDA's: which one it is, is known when it is open */
	int is_cut;            /* in MIG mode: it stands for one of its slices */
	int is_asked;          /* the management library was asked for what it knows */
	uint32_t index;        /* among all, in the order of the bus */
};

struct cuda_instance {
	const struct tn_host *host;
	struct cuda_runtime rt;
	struct cuda_places places;
	struct cuda_management nvml; /* open from the count until all devices were asked */
	int is_counted;
	uint32_t n_devices;
	tn_status absence; /* why there are none */
	char reason[256];
	char driver[80]; /* the driver's version and its CUDA version; may be empty */
	int driver_cuda; /* 12080: the driver supports CUDA 12.8; 0: unknown */
	struct cuda_facts devices[CUDA_MAX_DEVICES];
	uint32_t n_found; /* all, in the order of the bus */
	struct cuda_facts found[CUDA_MAX_DEVICES];
};

struct cuda_sensors;
struct cuda_dnn_state;
struct cuda_stream;
struct cuda_buffers;
struct cuda_kernels;
struct cuda_source;
struct cuda_graph;

/* Do convolutions use cuDNN: never, if timing showed it to be faster, or wherever it supports
 * them? */
enum cuda_dnn_mode { CUDA_DNN_OFF, CUDA_DNN_AUTO, CUDA_DNN_ON };

/* All entries of a device are called by one thread at a time, so state opened on demand is kept
 * here. */
struct cuda_device {
	const struct tn_host *host;
	const struct cuda_runtime *rt;
	struct cuda_facts facts;
	int ordinal;           /* the runtime's number of the device */
	int has_context;       /* it has been made a thread's current device */
	uint32_t architecture; /* 90 for compute capability 9.0 */
	uint32_t processors;   /* multiprocessors */
	uint64_t memory_bytes;
	int has_pools;
	int uses_tf32;
	int is_blocking;             /* CUDA_LAUNCH_BLOCKING */
	struct cuda_stream *streams; /* the first is the NULL stream */
	struct cuda_buffers *buffers;
	struct cuda_kernels *kernels;
	struct cuda_source *sources; /* kernels that programs brought */
	struct cuda_graph *graphs;
	uint32_t n_captured;              /* streams */
	const struct cuda_places *places; /* where the next two are opened from */
	struct cuda_blas blas;            /* opened by the first product */
	struct cuda_compiler compiler;    /* opened by the first kernel that is not cached */
	cublasHandle_t blas_handle;
	cudaStream_t blas_stream; /* the stream last set in the handle */
	enum cuda_dnn_mode dnn_mode;
	struct cuda_dnn_state *dnn;   /* opened by the first convolution that may use it */
	struct cuda_sensors *sensors; /* opened by the first report */
	struct tn_error_info loss;    /* status TN_OK: the device is not lost */
	int has_ranges;               /* operations are reported to a profiler */
	uint64_t peers_asked;         /* bit n: access to device n was queried */
	uint64_t peers_reached;
	cudaEvent_t peer_event; /* created by the first copy between peers */
};

/* Finds the devices, and stores them in the instance; done once. */
void cuda_count(struct cuda_instance *instance);

tn_status cuda_map(void *device, const struct tn_map_args *args);
tn_status cuda_reduce(void *device, const struct tn_reduce_args *args);
tn_status cuda_matmul(void *device, const struct tn_matmul_args *args);
/* Destroys cuBLAS's handle, which uses a stream: call before that is destroyed. */
void cuda_matmul_close(struct cuda_device *device);
/* The stream is about to be destroyed: sets another in the handle. */
void cuda_matmul_leave(struct cuda_device *device, cudaStream_t stream);
/* Releases graphs, and the kernels that programs brought. */
void cuda_graphs_close(struct cuda_device *device);
void cuda_sources_close(struct cuda_device *device);

void cuda_peer_close(struct cuda_device *device);

tn_status cuda_upload(void *device, const struct tn_transfer_args *args);
tn_status cuda_download(void *device, const struct tn_transfer_args *args);

extern const struct tn_device_table cuda_device_table;
extern const struct tn_capture_table cuda_capture_table;
extern const struct tn_compile_table cuda_compile_table;
extern const struct tn_import_table cuda_import_table;
extern const struct tn_memory_table cuda_memory_table;
extern const struct tn_native_table cuda_native_table;
extern const struct tn_peer_table cuda_peer_table;
extern const struct tn_scan_table cuda_scan_table;
extern const struct tn_sort_table cuda_sort_table;
extern const struct tn_stream_table cuda_stream_table;
extern const struct tn_copy_table cuda_copy_table;

#endif
