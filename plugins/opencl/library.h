/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * libOpenCL, opened at run time.  The fields have the names of the functions, so that a call reads
 * as in any OpenCL program: cl->clCreateBuffer(...).
 */
#ifndef OPENCL_LIBRARY_H
#define OPENCL_LIBRARY_H

/* Queues are created with the function of OpenCL 1.2, which later versions deprecate. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <tenon/plugin.h>

struct opencl_library {
	void *handle;
	__typeof__(&clGetPlatformIDs) clGetPlatformIDs;
	__typeof__(&clGetPlatformInfo) clGetPlatformInfo;
	__typeof__(&clGetDeviceIDs) clGetDeviceIDs;
	__typeof__(&clGetDeviceInfo) clGetDeviceInfo;
	__typeof__(&clCreateContext) clCreateContext;
	__typeof__(&clRetainContext) clRetainContext;
	__typeof__(&clReleaseContext) clReleaseContext;
	__typeof__(&clGetContextInfo) clGetContextInfo;
	__typeof__(&clCreateCommandQueue) clCreateCommandQueue;
	__typeof__(&clReleaseCommandQueue) clReleaseCommandQueue;
	__typeof__(&clGetCommandQueueInfo) clGetCommandQueueInfo;
	__typeof__(&clFlush) clFlush;
	__typeof__(&clFinish) clFinish;
	__typeof__(&clCreateBuffer) clCreateBuffer;
	__typeof__(&clReleaseMemObject) clReleaseMemObject;
	__typeof__(&clGetMemObjectInfo) clGetMemObjectInfo;
	__typeof__(&clEnqueueMigrateMemObjects) clEnqueueMigrateMemObjects;
	__typeof__(&clEnqueueReadBuffer) clEnqueueReadBuffer;
	__typeof__(&clEnqueueWriteBuffer) clEnqueueWriteBuffer;
	__typeof__(&clEnqueueNDRangeKernel) clEnqueueNDRangeKernel;
	__typeof__(&clEnqueueMarkerWithWaitList) clEnqueueMarkerWithWaitList;
	__typeof__(&clEnqueueBarrierWithWaitList) clEnqueueBarrierWithWaitList;
	__typeof__(&clCreateProgramWithSource) clCreateProgramWithSource;
	__typeof__(&clBuildProgram) clBuildProgram;
	__typeof__(&clGetProgramBuildInfo) clGetProgramBuildInfo;
	__typeof__(&clReleaseProgram) clReleaseProgram;
	__typeof__(&clCreateKernel) clCreateKernel;
	__typeof__(&clReleaseKernel) clReleaseKernel;
	__typeof__(&clSetKernelArg) clSetKernelArg;
	__typeof__(&clGetKernelWorkGroupInfo) clGetKernelWorkGroupInfo;
	__typeof__(&clWaitForEvents) clWaitForEvents;
	__typeof__(&clGetEventInfo) clGetEventInfo;
	__typeof__(&clGetEventProfilingInfo) clGetEventProfilingInfo;
	__typeof__(&clRetainEvent) clRetainEvent;
	__typeof__(&clReleaseEvent) clReleaseEvent;
};

/* Opens the library and looks up every function.  TN_MISSING_LIBRARY: `text` names the missing
 * part. */
tn_status opencl_library_open(struct opencl_library *cl, char *text, size_t size);
/* The library stays mapped: its drivers have threads that outlive every instance. */
void opencl_library_close(struct opencl_library *cl);

/* The name of an error code ("CL_OUT_OF_RESOURCES"), or "an unknown error". */
const char *opencl_error_name(cl_int error);
/* The Tenon status of an error code. */
tn_status opencl_error_status(cl_int error);

#endif
