/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One file name, one list of functions, all or nothing.  The loader behind libOpenCL.so.1 finds the
 * drivers (ICDs) by itself.
 */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libOpenCL.so.1"

struct name {
	const char *text;
	size_t offset;
};

#define NAME(function)                                                                             \
	{                                                                                          \
#function, offsetof(struct opencl_library, function)                               \
	}

static const struct name names[] = {
	NAME(clGetPlatformIDs),
	NAME(clGetPlatformInfo),
	NAME(clGetDeviceIDs),
	NAME(clGetDeviceInfo),
	NAME(clCreateContext),
	NAME(clRetainContext),
	NAME(clReleaseContext),
	NAME(clGetContextInfo),
	NAME(clCreateCommandQueue),
	NAME(clReleaseCommandQueue),
	NAME(clGetCommandQueueInfo),
	NAME(clFlush),
	NAME(clFinish),
	NAME(clCreateBuffer),
	NAME(clReleaseMemObject),
	NAME(clGetMemObjectInfo),
	NAME(clEnqueueMigrateMemObjects),
	NAME(clEnqueueReadBuffer),
	NAME(clEnqueueWriteBuffer),
	NAME(clEnqueueNDRangeKernel),
	NAME(clEnqueueMarkerWithWaitList),
	NAME(clEnqueueBarrierWithWaitList),
	NAME(clCreateProgramWithSource),
	NAME(clBuildProgram),
	NAME(clGetProgramBuildInfo),
	NAME(clReleaseProgram),
	NAME(clCreateKernel),
	NAME(clReleaseKernel),
	NAME(clSetKernelArg),
	NAME(clGetKernelWorkGroupInfo),
	NAME(clWaitForEvents),
	NAME(clGetEventInfo),
	NAME(clGetEventProfilingInfo),
	NAME(clRetainEvent),
	NAME(clReleaseEvent),
};

tn_status opencl_library_open(struct opencl_library *cl, char *text, size_t size)
{
	memset(cl, 0, sizeof(*cl));
	cl->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!cl->handle) {
		snprintf(text, size, "the OpenCL loader is missing: %s", dlerror());
		return TN_MISSING_LIBRARY;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *address = dlsym(cl->handle, names[i].text);
		if (!address) {
			snprintf(text, size, LIBRARY " has no %s: expected a loader of OpenCL 1.2",
				 names[i].text);
			opencl_library_close(cl);
			return TN_MISSING_LIBRARY;
		}
		memcpy((char *)cl + names[i].offset, &address, sizeof(address));
	}
	return TN_OK;
}

void opencl_library_close(struct opencl_library *cl)
{
	if (cl->handle)
		dlclose(cl->handle);
	cl->handle = NULL;
}

const char *opencl_error_name(cl_int error)
{
	static const struct {
		cl_int code;
		const char *name;
	} known[] = {
		{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
		{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
		{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
		{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
		{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
		{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
		{CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
		{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
		{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
		 "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
		{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
		{CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
		{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
		{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
		{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
		{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
		{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
		{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
		{CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
		{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
		{CL_PLATFORM_NOT_FOUND_KHR, "CL_PLATFORM_NOT_FOUND_KHR"},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].code == error)
			return known[i].name;
	return "an unknown error";
}

tn_status opencl_error_status(cl_int error)
{
	switch (error) {
	case CL_SUCCESS:
		return TN_OK;
	case CL_MEM_OBJECT_ALLOCATION_FAILURE:
	case CL_OUT_OF_HOST_MEMORY:
	case CL_INVALID_BUFFER_SIZE:
		return TN_OUT_OF_MEMORY;
	case CL_DEVICE_NOT_AVAILABLE:
		return TN_DEVICE_LOST;
	default:
		return TN_BACKEND_FAILURE;
	}
}
