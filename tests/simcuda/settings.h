/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The environment variables of the simulated CUDA.
 */
#ifndef TN_TESTS_SIMCUDA_SETTINGS_H
#define TN_TESTS_SIMCUDA_SETTINGS_H

#include <stddef.h>

enum { SIM_MAX_DEVICES = 16 };

/* What a device is like.  SIMCUDA_MODELS=t400,a100 names one for each device, in the order of the
 * bus (the table in settings.c has the names); a100/10 is an A100 in MIG mode, of whose slices the
 * process may use one of 10 GiB.  Devices beyond the list, or all without one, have the values of
 * SIMCUDA_ARCH (90), SIMCUDA_MULTIPROCESSORS (8) and SIMCUDA_MEMORY (1 GiB). */
struct sim_model {
	const char *word;
	const char *name; /* NULL: "Simulated CUDA device sm_90" */
	int arch, multiprocessors;
	int clock; /* MHz */
	size_t memory;
	int is_integrated; /* without memory of its own, of which NVML then tells nothing */
	size_t slice;      /* the memory of the slice; 0: not in MIG mode */
};

struct sim_settings {
	int devices;    /* SIMCUDA_DEVICES; as many as there are models, or 1 */
	int driver;     /* SIMCUDA_DRIVER, 13000; 0 is none */
	int defer;      /* SIMCUDA_DEFER, 0 */
	int peer;       /* SIMCUDA_PEER, 1: devices can access each other */
	int pools;      /* SIMCUDA_POOLS, 1: devices have memory pools */
	int verbose;    /* SIMCUDA_VERBOSE, 0: errors found are printed to stderr */
	int pageable;   /* SIMCUDA_PAGEABLE, 0: devices read pageable host memory */
	int blocking;   /* CUDA_LAUNCH_BLOCKING, 0 */
	unsigned seed;  /* SIMCUDA_SEED, 1 */
	unsigned order; /* SIMCUDA_ORDER, 0 */
	struct sim_model models[SIM_MAX_DEVICES];
};

void sim_settings_read(struct sim_settings *settings);

/* One device's marks, the same in all the libraries; its number is its place on the bus.  UUIDs
 * differ from their first digits on: "GPU-73696d75-..." is the first device's, "GPU-74..." the
 * second's. */
void sim_device_name(const struct sim_model *model, char *text, size_t size);
void sim_device_uuid(int device, int is_slice, unsigned char uuid[16]);
/* As NVML and CUDA_VISIBLE_DEVICES have it: "GPU-...", a slice's "MIG-...". */
void sim_device_uuid_text(int device, int is_slice, char text[64]);
void sim_device_bus(int device, char *text, size_t size);
/* The slice of a device in MIG mode, as CUDA sees it. */
struct sim_model sim_device_slice(const struct sim_model *model);

#endif
