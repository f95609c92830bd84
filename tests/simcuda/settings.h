/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The environment variables of the simulated CUDA.
 */
#ifndef TN_TESTS_SIMCUDA_SETTINGS_H
#define TN_TESTS_SIMCUDA_SETTINGS_H

#include <stddef.h>

enum { SIM_MAX_DEVICES = 16 };

struct sim_settings {
	int devices;         /* SIMCUDA_DEVICES, 1 */
	int arch;            /* SIMCUDA_ARCH, 90 */
	int driver;          /* SIMCUDA_DRIVER, 13000; 0 is none */
	int multiprocessors; /* SIMCUDA_MULTIPROCESSORS, 8 */
	int defer;           /* SIMCUDA_DEFER, 0 */
	int peer;            /* SIMCUDA_PEER, 1: devices can access each other */
	int pools;           /* SIMCUDA_POOLS, 1: devices have memory pools */
	int verbose;         /* SIMCUDA_VERBOSE, 0: errors found are printed to stderr */
	int pageable;        /* SIMCUDA_PAGEABLE, 0: devices read pageable host memory */
	int blocking;        /* CUDA_LAUNCH_BLOCKING, 0 */
	unsigned seed;       /* SIMCUDA_SEED, 1 */
	unsigned order;      /* SIMCUDA_ORDER, 0 */
	size_t memory;       /* SIMCUDA_MEMORY, 1 GiB for each device */
};

void sim_settings_read(struct sim_settings *settings);

/* One device's marks, the same in all the libraries. */
void sim_device_name(const struct sim_settings *settings, char *text, size_t size);
void sim_device_uuid(int device, unsigned char uuid[16]);
void sim_device_bus(int device, char *text, size_t size);

#endif
