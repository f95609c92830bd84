/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The frame of every call: the lock, faults on demand, devices that are lost, the last error of
 * each thread, and a process that was forked from one that used CUDA.
 */
#include "cudart.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "simcuda.h"

struct sim_settings sim_settings;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock;
static pid_t owner;
static char message[1024];
static _Thread_local cudaError_t last_error;
static _Thread_local int in_work;

static void start(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	owner = getpid();
	sim_settings_read(&sim_settings);
	sim_devices_restart();
}

static cudaError_t keep(cudaError_t error)
{
	if (error)
		last_error = error;
	return error;
}

/* The first part of every call; takes the lock, whatever it returns. */
static cudaError_t begin(const char *name)
{
	int sticky = 0;
	pthread_once(&once, start);
	pthread_mutex_lock(&lock);
	cudaError_t error = (cudaError_t)sim_fault_next(name, &sticky);
	if (error && sticky && sim_device_count() > 0)
		sim_device(sim_device_current())->sticky = error;
	if (!error && in_work)
		error = sim_say(cudaErrorNotPermitted, "%s was called by work that runs", name);
	return error;
}

/* The parent's lock may never be released: it is not taken. */
static int is_child(void)
{
	pthread_once(&once, start);
	return owner != getpid();
}

static cudaError_t end(cudaError_t error)
{
	if (error)
		pthread_mutex_unlock(&lock);
	return keep(error);
}

cudaError_t sim_enter_bare(const char *name)
{
	return end(begin(name));
}

cudaError_t sim_enter_light(const char *name)
{
	if (is_child())
		return keep(cudaErrorInitializationError);
	cudaError_t error = begin(name);
	return end(error ? error : sim_driver_state());
}

cudaError_t sim_enter(const char *name)
{
	if (is_child())
		return keep(cudaErrorInitializationError);
	cudaError_t error = begin(name);
	if (!error)
		error = sim_driver_state();
	if (!error)
		error = sim_device(sim_device_current())->sticky;
	return end(error);
}

cudaError_t sim_leave(cudaError_t error)
{
	pthread_mutex_unlock(&lock);
	return keep(error);
}

cudaError_t sim_say(cudaError_t error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (sim_settings.verbose)
		fprintf(stderr, "simcuda: %s\n", message);
	return error;
}

void sim_in_work(int inside)
{
	in_work += inside ? 1 : -1;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = cudaPeekAtLastError();
	last_error = cudaSuccess;
	return error;
}

/* The error of a lost device is never reset. */
cudaError_t cudaPeekAtLastError(void)
{
	pthread_once(&once, start);
	if (sim_device_count() > 0 && sim_device(sim_device_current())->sticky)
		return sim_device(sim_device_current())->sticky;
	return last_error;
}

/* ---- What tests ask --------------------------------------------------------------------------*/

void simcudaInject(const char *name, unsigned n, int code, int sticky)
{
	sim_fault_add(name, n, code, sticky);
}

void simcudaInjectTimes(const char *name, unsigned n, unsigned times, int code)
{
	sim_fault_repeat(name, n, times, code);
}

void simcudaLose(void *handle, uint64_t n)
{
	cudaError_t error = sim_enter("simcudaLose");
	if (error)
		return;
	struct sim_stream *stream = sim_stream_find(handle, &error);
	if (stream)
		stream->losing = n;
	sim_leave(error);
}

void simcudaRoom(int device, size_t bytes)
{
	cudaError_t error = sim_enter_light("simcudaRoom");
	if (error)
		return;
	sim_block_limit(device, bytes);
	sim_leave(cudaSuccess);
}

void simcudaSpare(int device)
{
	cudaError_t error = sim_enter_light("simcudaSpare");
	if (error)
		return;
	for (struct sim_stream *stream = sim_streams(); stream; stream = stream->next)
		if (stream->device == device)
			stream->losing = 0;
	sim_block_limit(device, SIZE_MAX);
	sim_leave(cudaSuccess);
}

void simcudaRevive(int device)
{
	cudaError_t error = sim_enter_light("simcudaRevive");
	if (error)
		return;
	if (sim_device(device)->sticky)
		sim_run_device(device);
	sim_device(device)->sticky = cudaSuccess;
	sim_leave(cudaSuccess);
}

unsigned long simcudaCalls(const char *name)
{
	return sim_fault_calls(name);
}

const char *simcudaStruck(void)
{
	return sim_fault_struck();
}

void simcudaForgetCalls(void)
{
	sim_fault_forget_calls();
}

int simcudaFault(const char *name)
{
	int sticky = 0;
	pthread_once(&once, start);
	return sim_fault_next(name, &sticky);
}

const char *simcudaMessage(void)
{
	return message;
}

void simcudaForgetMessage(void)
{
	message[0] = '\0';
}

size_t simcudaLive(char *report, size_t capacity)
{
	static size_t (*const parts[])(char *report, size_t capacity) = {
		sim_blocks_live, sim_pinned_live, sim_pools_live,     sim_streams_live,
		sim_events_live, sim_graphs_live, sim_libraries_live,
	};
	size_t live = 0;
	pthread_once(&once, start);
	if (report && capacity > 0)
		report[0] = '\0';
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = report ? strlen(report) : 0;
		live += parts[i](report ? report + length : NULL, report ? capacity - length : 0);
	}
	pthread_mutex_unlock(&lock);
	return live;
}

void simcudaRestart(void)
{
	pthread_once(&once, start);
	pthread_mutex_lock(&lock);
	sim_captures_drop();
	sim_streams_drop(-1);
	sim_graphs_drop();
	sim_events_drop(-1);
	sim_libraries_drop();
	sim_blocks_drop(-1);
	sim_pools_drop(-1);
	sim_pinned_drop();
	sim_arena_restart();
	sim_fault_restart();
	sim_counts_restart();
	sim_settings_read(&sim_settings);
	sim_devices_restart();
	message[0] = '\0';
	last_error = cudaSuccess;
	pthread_mutex_unlock(&lock);
}
