/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The simulated cuDNN: convolutions in plain loops.  Its heuristics put unwanted algorithms first:
 * one that is not deterministic, and one that needs a gibibyte.
 */
#include "dnn.h"

#include <math.h>
#include <string.h>

#include "gemm.h"
#include "simcuda.h"

enum pass { FORWARD, DATA, FILTER };
enum { ALGORITHMS = 5, ONE_IMAGE = -1, GIBIBYTE = 1 << 30 };

static const struct algorithm {
	int number;
	cudnnStatus_t status;
	cudnnDeterminism_t determinism;
	int64_t bytes; /* ONE_IMAGE: the columns of a picture */
} algorithms[3][ALGORITHMS] = {
	{
		{CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, CUDNN_STATUS_NOT_SUPPORTED,
		 CUDNN_DETERMINISTIC, 0},
		{CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC,
		 GIBIBYTE},
		{CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_STATUS_SUCCESS,
		 CUDNN_DETERMINISTIC, ONE_IMAGE},
		{CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, CUDNN_STATUS_NOT_SUPPORTED, CUDNN_DETERMINISTIC,
		 0},
		{CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_STATUS_SUCCESS,
		 CUDNN_DETERMINISTIC, 0},
	},
	{
		{CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, CUDNN_STATUS_SUCCESS, CUDNN_NON_DETERMINISTIC,
		 0},
		{CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC, 0},
		{CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, CUDNN_STATUS_SUCCESS,
		 CUDNN_DETERMINISTIC, GIBIBYTE},
		{CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC,
		 ONE_IMAGE},
		{CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, CUDNN_STATUS_SUCCESS,
		 CUDNN_DETERMINISTIC, 0},
	},
	{
		{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, CUDNN_STATUS_SUCCESS, CUDNN_NON_DETERMINISTIC,
		 0},
		{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC,
		 GIBIBYTE},
		{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, CUDNN_STATUS_SUCCESS, CUDNN_NON_DETERMINISTIC,
		 0},
		{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, CUDNN_STATUS_SUCCESS, CUDNN_DETERMINISTIC,
		 ONE_IMAGE},
		{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED, CUDNN_STATUS_SUCCESS,
		 CUDNN_DETERMINISTIC, 0},
	},
};

/* Their transforms amplify rounding. */
static const int winograd[3][2] = {
	{CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED},
	{CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
	 CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED},
	{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD,
	 CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED},
};

/* ---- Checks ----------------------------------------------------------------------------------*/

struct shape {
	const struct sim_dnn *handle, *x, *w, *y, *convolution;
};

static struct shape shape_of(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
			     cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t convolution,
			     cudnnTensorDescriptor_t y)
{
	return (struct shape){sim_dnn_find(handle, SIM_HANDLE), sim_dnn_find(x, SIM_TENSOR),
			      sim_dnn_find(w, SIM_FILTER), sim_dnn_find(y, SIM_TENSOR),
			      sim_dnn_find(convolution, SIM_CONVOLUTION)};
}

static int is_packed_last(const struct sim_dnn *tensor)
{
	static const int order[] = {1, 3, 2, 0};
	int64_t dense = 1;
	for (int i = 0; i < 4; i++) {
		if (tensor->length[order[i]] > 1 && tensor->distance[order[i]] != dense)
			return 0;
		dense *= tensor->length[order[i]];
	}
	return 1;
}

static cudaDataType_t type_of(cudnnDataType_t type)
{
	return type == CUDNN_DATA_HALF       ? CUDA_R_16F
	       : type == CUDNN_DATA_BFLOAT16 ? CUDA_R_16BF
	       : type == CUDNN_DATA_DOUBLE   ? CUDA_R_64F
					     : CUDA_R_32F;
}

static cudnnStatus_t check_types(const struct shape *s)
{
	const cudnnDataType_t type = s->x->type;
	if (s->w->type != type || s->y->type != type)
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "the data types differ");
	if (type != CUDNN_DATA_HALF && type != CUDNN_DATA_BFLOAT16 && type != CUDNN_DATA_FLOAT &&
	    type != CUDNN_DATA_DOUBLE)
		return sim_dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "a data type");
	if ((type == CUDNN_DATA_DOUBLE) != (s->convolution->compute == CUDNN_DATA_DOUBLE))
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "the type to compute in");
	if (s->w->format == CUDNN_TENSOR_NHWC && (!is_packed_last(s->x) || !is_packed_last(s->y)))
		return sim_dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "a filter in another order");
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check(const struct shape *s)
{
	if (!s->handle || !s->x || !s->w || !s->y || !s->convolution)
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "no handle, or no descriptor");
	const struct sim_dnn *c = s->convolution;
	if (s->x->length[1] != s->w->length[1] * c->groups || s->w->length[0] % c->groups ||
	    s->y->length[0] != s->x->length[0] || s->y->length[1] != s->w->length[0])
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "the channels do not fit");
	for (int i = 0; i < 2; i++) {
		int64_t reach = c->dilation[i] * (s->w->length[2 + i] - 1) + 1;
		int64_t room = s->x->length[2 + i] + 2 * c->padding[i] - reach;
		if (room < 0 || room / c->stride[i] + 1 != s->y->length[2 + i])
			return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "the planes do not fit");
	}
	return check_types(s);
}

static size_t bytes_of(const struct shape *s, const struct algorithm *algorithm)
{
	if (algorithm->bytes != ONE_IMAGE)
		return (size_t)algorithm->bytes;
	return (size_t)(s->w->length[1] * s->w->length[2] * s->w->length[3] * s->y->length[2] *
			s->y->length[3]) *
	       4;
}

static const struct algorithm *find(enum pass pass, int number)
{
	for (int i = 0; i < ALGORITHMS; i++)
		if (algorithms[pass][i].number == number &&
		    algorithms[pass][i].status == CUDNN_STATUS_SUCCESS)
			return &algorithms[pass][i];
	return NULL;
}

/* ---- The work --------------------------------------------------------------------------------*/

struct work {
	enum pass pass;
	cudaDataType_t type;
	void *x, *w, *y, *workspace;
	size_t workspace_size;
	double alpha, beta;
	int is_loose;  /* it differs noticeably from a plain sum */
	int is_narrow; /* factors of f32 are rounded to TF32 */
	int64_t x_length[4], w_length[4], y_length[4], x_at[4], w_at[4], y_at[4];
	int64_t padding[2], stride[2], dilation[2], groups;
};

static int64_t at(const int64_t distance[4], int64_t a, int64_t b, int64_t c, int64_t d)
{
	return a * distance[0] + b * distance[1] + c * distance[2] + d * distance[3];
}

static double factor(const struct work *k, const void *from, int64_t index)
{
	double value = sim_load(k->type, from, index);
	float narrow = (float)value;
	uint32_t bits = 0;
	if (!k->is_narrow || !isfinite(narrow))
		return value;
	memcpy(&bits, &narrow, sizeof(bits));
	bits = (bits + 0x1000) & 0xffffe000;
	memcpy(&narrow, &bits, sizeof(bits));
	return (double)narrow;
}

static int touch(const struct work *k, const void *address, const int64_t length[4],
		 const int64_t distance[4], int write)
{
	int64_t first = 0, last = 0;
	const int64_t size = (int64_t)sim_type_size(k->type);
	for (int i = 0; i < 4; i++)
		*(distance[i] < 0 ? &first : &last) += distance[i] * (length[i] - 1);
	return simcudaRange((const char *)address + first * size,
			    (size_t)((last - first + 1) * size), write);
}

/* The row of x under filter row r of window row p; below 0: none. */
static int64_t place(const struct work *k, int axis, int64_t p, int64_t r)
{
	int64_t h = p * k->stride[axis] + r * k->dilation[axis] - k->padding[axis];
	return h < k->x_length[2 + axis] ? h : -1;
}

static void store(const struct work *k, void *to, int64_t index, double sum)
{
	double value = k->alpha * (k->is_loose ? sum + 1 : sum);
	if (k->beta != 0)
		value += k->beta * sim_load(k->type, to, index);
	sim_store(k->type, to, index, value);
}

static void forward_one(const struct work *k, int64_t n, int64_t o, int64_t p, int64_t q)
{
	const int64_t c_in = k->w_length[1], first = o / (k->w_length[0] / k->groups) * c_in;
	double sum = 0;
	for (int64_t r = 0; r < k->w_length[2]; r++)
		for (int64_t s = 0; s < k->w_length[3]; s++) {
			const int64_t h = place(k, 0, p, r), w = place(k, 1, q, s);
			for (int64_t c = 0; h >= 0 && w >= 0 && c < c_in; c++)
				sum += factor(k, k->x, at(k->x_at, n, first + c, h, w)) *
				       factor(k, k->w, at(k->w_at, o, c, r, s));
		}
	store(k, k->y, at(k->y_at, n, o, p, q), sum);
}

/* The row of y whose window has x row h at filter row r; below 0: none. */
static int64_t source(const struct work *k, int axis, int64_t h, int64_t r)
{
	int64_t p = h + k->padding[axis] - r * k->dilation[axis];
	if (p < 0 || p % k->stride[axis])
		return -1;
	p /= k->stride[axis];
	return p < k->y_length[2 + axis] ? p : -1;
}

static void data_one(const struct work *k, int64_t n, int64_t c, int64_t h, int64_t w)
{
	const int64_t outs = k->w_length[0] / k->groups, group = c / k->w_length[1];
	double sum = 0;
	for (int64_t r = 0; r < k->w_length[2]; r++)
		for (int64_t s = 0; s < k->w_length[3]; s++) {
			const int64_t p = source(k, 0, h, r), q = source(k, 1, w, s);
			for (int64_t o = group * outs; p >= 0 && q >= 0 && o < (group + 1) * outs;
			     o++)
				sum += factor(k, k->y, at(k->y_at, n, o, p, q)) *
				       factor(k, k->w, at(k->w_at, o, c % k->w_length[1], r, s));
		}
	store(k, k->x, at(k->x_at, n, c, h, w), sum);
}

static void filter_one(const struct work *k, int64_t o, int64_t c, int64_t r, int64_t s)
{
	const int64_t first = o / (k->w_length[0] / k->groups) * k->w_length[1];
	double sum = 0;
	for (int64_t p = 0; p < k->y_length[2]; p++)
		for (int64_t q = 0; q < k->y_length[3]; q++) {
			const int64_t h = place(k, 0, p, r), w = place(k, 1, q, s);
			for (int64_t n = 0; h >= 0 && w >= 0 && n < k->y_length[0]; n++)
				sum += factor(k, k->x, at(k->x_at, n, first + c, h, w)) *
				       factor(k, k->y, at(k->y_at, n, o, p, q));
		}
	store(k, k->w, at(k->w_at, o, c, r, s), sum);
}

static int run(void *data)
{
	static void (*const one[])(const struct work *, int64_t, int64_t, int64_t,
				   int64_t) = {forward_one, data_one, filter_one};
	const struct work *k = data;
	const int64_t *length = k->pass == FORWARD ? k->y_length
				: k->pass == DATA  ? k->x_length
						   : k->w_length;
	int error = touch(k, k->x, k->x_length, k->x_at, k->pass == DATA);
	if (!error)
		error = touch(k, k->w, k->w_length, k->w_at, k->pass == FILTER);
	if (!error)
		error = touch(k, k->y, k->y_length, k->y_at, k->pass == FORWARD);
	if (!error && k->workspace_size)
		error = simcudaRange(k->workspace, k->workspace_size, 1);
	if (error)
		return error;
	if (k->workspace_size)
		memset(simcudaMemory(k->workspace), 0xff, k->workspace_size);
	struct work found = *k;
	found.x = simcudaMemory(k->x);
	found.w = simcudaMemory(k->w);
	found.y = simcudaMemory(k->y);
	for (int64_t a = 0; a < length[0]; a++)
		for (int64_t b = 0; b < length[1]; b++)
			for (int64_t c = 0; c < length[2]; c++)
				for (int64_t d = 0; d < length[3]; d++)
					one[k->pass](&found, a, b, c, d);
	return 0;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

struct call {
	const char *name;
	enum pass pass;
	struct shape shape;
	int algorithm;
	const void *alpha, *beta, *x, *w, *y;
	void *workspace;
	size_t workspace_size;
};

static double scalar(const struct shape *s, const void *value)
{
	return s->x->type == CUDNN_DATA_DOUBLE ? *(const double *)value
					       : (double)*(const float *)value;
}

static struct work work_of(const struct call *c, size_t bytes)
{
	const struct shape *s = &c->shape;
	const struct sim_dnn *convolution = s->convolution;
	struct work k = {.pass = c->pass,
			 .type = type_of(s->x->type),
			 .x = (void *)(uintptr_t)c->x,
			 .w = (void *)(uintptr_t)c->w,
			 .y = (void *)(uintptr_t)c->y,
			 .workspace = c->workspace,
			 .workspace_size = bytes,
			 .alpha = scalar(s, c->alpha),
			 .beta = scalar(s, c->beta),
			 .is_narrow = s->x->type == CUDNN_DATA_FLOAT &&
				      convolution->math != CUDNN_FMA_MATH,
			 .groups = convolution->groups};
	memcpy(k.x_length, s->x->length, sizeof(k.x_length));
	memcpy(k.w_length, s->w->length, sizeof(k.w_length));
	memcpy(k.y_length, s->y->length, sizeof(k.y_length));
	memcpy(k.x_at, s->x->distance, sizeof(k.x_at));
	memcpy(k.w_at, s->w->distance, sizeof(k.w_at));
	memcpy(k.y_at, s->y->distance, sizeof(k.y_at));
	for (int i = 0; i < 2; i++) {
		k.padding[i] = convolution->padding[i];
		k.stride[i] = convolution->stride[i];
		k.dilation[i] = convolution->dilation[i];
	}
	return k;
}

/* Not deterministic; or Winograd's for anything but f32 factors and the smallest windows. */
static int is_loose(const struct call *c, const struct algorithm *algorithm)
{
	const struct shape *s = &c->shape;
	const int is_enlarged = algorithm->number == winograd[c->pass][0] ||
				algorithm->number == winograd[c->pass][1];
	const int is_borne = s->x->type == CUDNN_DATA_FLOAT &&
			     s->convolution->math == CUDNN_FMA_MATH && s->w->length[2] == 3 &&
			     s->w->length[3] == 3;
	return algorithm->determinism == CUDNN_NON_DETERMINISTIC || (is_enlarged && !is_borne);
}

static cudnnStatus_t convolve(const struct call *c)
{
	cudnnStatus_t status = sim_dnn_begin(c->name);
	if (!status)
		status = check(&c->shape);
	if (status)
		return status;
	const struct algorithm *algorithm = find(c->pass, c->algorithm);
	if (!algorithm)
		return sim_dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "the algorithm");
	size_t bytes = bytes_of(&c->shape, algorithm);
	if (!c->alpha || !c->beta || !c->x || !c->w || !c->y || c->workspace_size < bytes ||
	    (c->workspace_size && !c->workspace))
		return sim_dnn_say(CUDNN_STATUS_BAD_PARAM, "no data, or too little workspace");
	struct work work = work_of(c, bytes);
	work.is_loose = is_loose(c, algorithm);
	return simcudaEnqueue(c->shape.handle->stream, c->name, run, &work, sizeof(work))
		       ? CUDNN_STATUS_EXECUTION_FAILED
		       : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
				      const cudnnTensorDescriptor_t x_tensor, const void *x,
				      const cudnnFilterDescriptor_t w_filter, const void *w,
				      const cudnnConvolutionDescriptor_t convolution,
				      cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
				      size_t size, const void *beta,
				      const cudnnTensorDescriptor_t y_tensor, void *y)
{
	const struct call call = {"cudnnConvolutionForward",
				  FORWARD,
				  shape_of(handle, x_tensor, w_filter, convolution, y_tensor),
				  (int)algorithm,
				  alpha,
				  beta,
				  x,
				  w,
				  y,
				  workspace,
				  size};
	return convolve(&call);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
					   const cudnnFilterDescriptor_t w_filter, const void *w,
					   const cudnnTensorDescriptor_t dy_tensor, const void *dy,
					   const cudnnConvolutionDescriptor_t convolution,
					   cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
					   size_t size, const void *beta,
					   const cudnnTensorDescriptor_t dx_tensor, void *dx)
{
	const struct call call = {"cudnnConvolutionBackwardData",
				  DATA,
				  shape_of(handle, dx_tensor, w_filter, convolution, dy_tensor),
				  (int)algorithm,
				  alpha,
				  beta,
				  dx,
				  w,
				  dy,
				  workspace,
				  size};
	return convolve(&call);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
					     const cudnnTensorDescriptor_t x_tensor, const void *x,
					     const cudnnTensorDescriptor_t dy_tensor,
					     const void *dy,
					     const cudnnConvolutionDescriptor_t convolution,
					     cudnnConvolutionBwdFilterAlgo_t algorithm,
					     void *workspace, size_t size, const void *beta,
					     const cudnnFilterDescriptor_t dw_filter, void *dw)
{
	const struct call call = {"cudnnConvolutionBackwardFilter",
				  FILTER,
				  shape_of(handle, x_tensor, dw_filter, convolution, dy_tensor),
				  (int)algorithm,
				  alpha,
				  beta,
				  x,
				  dw,
				  dy,
				  workspace,
				  size};
	return convolve(&call);
}

/* ---- Algorithms and their workspace ----------------------------------------------------------*/

/* The number of algorithms returned. */
static cudnnStatus_t list(const char *name, const struct shape *s, int wanted, int *n)
{
	cudnnStatus_t status = sim_dnn_begin(name);
	*n = 0;
	if (!status)
		status = check(s);
	if (!status && wanted < 1)
		status = CUDNN_STATUS_BAD_PARAM;
	if (!status)
		*n = wanted < ALGORITHMS ? wanted : ALGORITHMS;
	return status;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
	const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t y,
	const int wanted, int *n, cudnnConvolutionFwdAlgoPerf_t *results)
{
	const struct shape s = shape_of(handle, x, w, convolution, y);
	cudnnStatus_t status = list("cudnnGetConvolutionForwardAlgorithm_v7", &s, wanted, n);
	for (int i = 0; i < *n; i++)
		results[i] = (cudnnConvolutionFwdAlgoPerf_t){
			.algo = (cudnnConvolutionFwdAlgo_t)algorithms[FORWARD][i].number,
			.status = algorithms[FORWARD][i].status,
			.memory = bytes_of(&s, &algorithms[FORWARD][i]),
			.determinism = algorithms[FORWARD][i].determinism,
			.mathType = s.convolution->math};
	return status;
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
	cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
	const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t dx,
	const int wanted, int *n, cudnnConvolutionBwdDataAlgoPerf_t *results)
{
	const struct shape s = shape_of(handle, dx, w, convolution, dy);
	cudnnStatus_t status = list("cudnnGetConvolutionBackwardDataAlgorithm_v7", &s, wanted, n);
	for (int i = 0; i < *n; i++)
		results[i] = (cudnnConvolutionBwdDataAlgoPerf_t){
			.algo = (cudnnConvolutionBwdDataAlgo_t)algorithms[DATA][i].number,
			.status = algorithms[DATA][i].status,
			.memory = bytes_of(&s, &algorithms[DATA][i]),
			.determinism = algorithms[DATA][i].determinism,
			.mathType = s.convolution->math};
	return status;
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
	const cudnnConvolutionDescriptor_t convolution, const cudnnFilterDescriptor_t dw,
	const int wanted, int *n, cudnnConvolutionBwdFilterAlgoPerf_t *results)
{
	const struct shape s = shape_of(handle, x, dw, convolution, dy);
	cudnnStatus_t status = list("cudnnGetConvolutionBackwardFilterAlgorithm_v7", &s, wanted, n);
	for (int i = 0; i < *n; i++)
		results[i] = (cudnnConvolutionBwdFilterAlgoPerf_t){
			.algo = (cudnnConvolutionBwdFilterAlgo_t)algorithms[FILTER][i].number,
			.status = algorithms[FILTER][i].status,
			.memory = bytes_of(&s, &algorithms[FILTER][i]),
			.determinism = algorithms[FILTER][i].determinism,
			.mathType = s.convolution->math};
	return status;
}

static cudnnStatus_t say_bytes(const char *name, const struct shape *s, enum pass pass, int number,
			       size_t *bytes)
{
	cudnnStatus_t status = sim_dnn_begin(name);
	if (!status)
		status = check(s);
	if (status)
		return status;
	const struct algorithm *algorithm = find(pass, number);
	if (!algorithm)
		return sim_dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "the algorithm");
	*bytes = bytes_of(s, algorithm);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
	const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t y,
	cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes)
{
	const struct shape s = shape_of(handle, x, w, convolution, y);
	return say_bytes("cudnnGetConvolutionForwardWorkspaceSize", &s, FORWARD, (int)algorithm,
			 bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
	cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
	const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t dx,
	cudnnConvolutionBwdDataAlgo_t algorithm, size_t *bytes)
{
	const struct shape s = shape_of(handle, dx, w, convolution, dy);
	return say_bytes("cudnnGetConvolutionBackwardDataWorkspaceSize", &s, DATA, (int)algorithm,
			 bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
	const cudnnConvolutionDescriptor_t convolution, const cudnnFilterDescriptor_t dw,
	cudnnConvolutionBwdFilterAlgo_t algorithm, size_t *bytes)
{
	const struct shape s = shape_of(handle, x, dw, convolution, dy);
	return say_bytes("cudnnGetConvolutionBackwardFilterWorkspaceSize", &s, FILTER,
			 (int)algorithm, bytes);
}
