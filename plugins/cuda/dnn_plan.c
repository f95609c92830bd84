/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The description of a convolution for cuDNN.  Its heuristics list algorithms, the best first; the
 * first is chosen that gives the same bits each time, computes in the stated type and needs no more
 * workspace than the limit.
 */
#include "dnn_plan.h"

#include <string.h>

#include "image.h"
#include "memory.h"

enum { H = 2, MOST_ALGORITHMS = 10, ALIGNMENT = 16 };

static const int channels_first[] = {0, 1, 2, 3}, channels_last[] = {0, 2, 3, 1};

/* ---- Is it supported? ------------------------------------------------------------------------*/

/* Do the axes have that order in memory?  `is_packed`: without gaps. */
static int lies(const struct tn_operand *operand, const int order[4], int is_packed)
{
	int64_t dense = 1;
	for (int i = 3; i >= 0; i--) {
		int64_t length = operand->shape[order[i]], stride = operand->strides[order[i]];
		if (length == 1)
			continue;
		if (stride < dense || (stride > dense && (is_packed || dense == 1)))
			return 0;
		if (stride > INT32_MAX || length > INT32_MAX / stride)
			return 0;
		dense = stride * length;
	}
	return 1;
}

static int all_lie(const struct tn_conv2d_args *args, const int order[4], int is_packed)
{
	return lies(&args->x, order, is_packed) && lies(&args->w, order, 1) &&
	       lies(&args->y, order, is_packed);
}

/* cuDNN pads both sides by the same amount; unequal padding is the same if the number of windows
 * is. */
static int is_even(const struct tn_conv2d_args *args)
{
	for (int i = 0; i < 2; i++) {
		const int64_t padding[] = {args->padding[i], args->padding[i]};
		int64_t reach = args->dilation[i] * (args->w.shape[H + i] - 1) + 1;
		if (cuda_windows(args->x.shape[H + i], padding, reach, args->stride[i]) !=
		    args->y.shape[H + i])
			return 0;
	}
	return 1;
}

/* Its kernels read 16 bytes at a time, and write while they read. */
static int is_apart(const struct tn_conv2d_args *args, enum cuda_dnn_pass pass)
{
	const uint64_t x = cuda_address(&args->x), w = cuda_address(&args->w),
		       y = cuda_address(&args->y);
	const uint64_t output = pass == CUDA_DNN_FORWARD          ? y
				: pass == CUDA_DNN_INPUT_GRADIENT ? x
								  : w;
	return (x | w | y) % ALIGNMENT == 0 && (output == x) + (output == w) + (output == y) == 1;
}

const int *dnn_order(const struct cuda_device *device, const struct tn_conv2d_args *args,
		     enum cuda_dnn_pass pass)
{
	if ((args->x.dtype == TN_BF16 && device->architecture < 80) || args->groups > INT32_MAX ||
	    !is_even(args) || !is_apart(args, pass))
		return NULL;
	return all_lie(args, channels_first, 0)  ? channels_first
	       : all_lie(args, channels_last, 1) ? channels_last
						 : NULL;
}

/* ---- Plans by shape --------------------------------------------------------------------------*/

void dnn_key(struct dnn_key *key, const struct tn_conv2d_args *args, enum cuda_dnn_pass pass)
{
	const struct tn_operand *const operands[] = {&args->x, &args->w, &args->y};
	const int goes_on = pass == CUDA_DNN_FORWARD;
	int64_t *word = key->word;
	*word++ = pass;
	*word++ = args->x.dtype;
	*word++ = args->groups;
	*word++ = goes_on ? (int64_t)(args->has_bias | args->has_residual << 1 |
				      args->activation << 2)
			  : 0;
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 4; i++) {
			*word++ = operands[k]->shape[i];
			*word++ = operands[k]->strides[i];
		}
	for (int i = 0; i < 2; i++) {
		*word++ = args->stride[i];
		*word++ = args->dilation[i];
		*word++ = args->padding[i];
		*word++ = args->padding[i + 2];
	}
}

static unsigned bucket_of(const struct dnn_key *key)
{
	uint64_t hash = 0;
	for (int i = 0; i < DNN_WORDS; i++)
		hash = (hash ^ (uint64_t)key->word[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)(hash >> 32) % DNN_BUCKETS;
}

struct dnn_plan *dnn_plan_find(const struct cuda_dnn_state *dnn, const struct dnn_key *key)
{
	struct dnn_plan *plan = dnn->plans[bucket_of(key)];
	while (plan && memcmp(&plan->key, key, sizeof(*key)) != 0)
		plan = plan->next;
	return plan;
}

static void release(const struct cuda_dnn *api, struct dnn_plan *plan)
{
	if (plan->x)
		(void)api->cudnnDestroyTensorDescriptor(plan->x);
	if (plan->y)
		(void)api->cudnnDestroyTensorDescriptor(plan->y);
	if (plan->w)
		(void)api->cudnnDestroyFilterDescriptor(plan->w);
	if (plan->convolution)
		(void)api->cudnnDestroyConvolutionDescriptor(plan->convolution);
	plan->x = plan->y = NULL;
	plan->w = NULL;
	plan->convolution = NULL;
}

void dnn_plan_refuse(const struct cuda_dnn_state *dnn, struct dnn_plan *plan)
{
	release(&dnn->api, plan);
	plan->is_refused = 1;
}

void dnn_plans_drop(const struct cuda_device *device, int is_lost)
{
	struct cuda_dnn_state *dnn = device->dnn;
	for (unsigned i = 0; i < DNN_BUCKETS; i++)
		while (dnn->plans[i]) {
			struct dnn_plan *plan = dnn->plans[i];
			dnn->plans[i] = plan->next;
			if (!is_lost)
				release(&dnn->api, plan);
			tn_plugin_free(device->host, plan);
		}
	dnn->n_plans = 0;
}

/* ---- Descriptors -----------------------------------------------------------------------------*/

static cudnnDataType_t data_type(tn_dtype dtype)
{
	return dtype == TN_F16    ? CUDNN_DATA_HALF
	       : dtype == TN_BF16 ? CUDNN_DATA_BFLOAT16
	       : dtype == TN_F32  ? CUDNN_DATA_FLOAT
				  : CUDNN_DATA_DOUBLE;
}

/* Multiplications by fused multiply-adds only. */
static int is_exact(const struct cuda_device *device, tn_dtype dtype)
{
	return dtype == TN_F32 && !device->uses_tf32;
}

static cudnnMathType_t math_type(const struct cuda_device *device, tn_dtype dtype)
{
	if (is_exact(device, dtype))
		return CUDNN_FMA_MATH;
	return dtype == TN_F16 || dtype == TN_BF16 ? CUDNN_TENSOR_OP_MATH : CUDNN_DEFAULT_MATH;
}

static struct dnn_failure set_tensor(const struct cuda_dnn *api, cudnnTensorDescriptor_t *tensor,
				     const struct tn_operand *operand, const int order[4])
{
	const int64_t *shape = operand->shape;
	int stride[4];
	int64_t dense = 1;
	for (int i = 3; i >= 0; i--) {
		const int axis = order[i];
		if (shape[axis] > 1)
			dense = operand->strides[axis];
		stride[axis] = (int)dense;
		dense *= shape[axis];
	}
	cudnnStatus_t code = api->cudnnCreateTensorDescriptor(tensor);
	if (code)
		return (struct dnn_failure){code, "cudnnCreateTensorDescriptor"};
	code = api->cudnnSetTensor4dDescriptorEx(*tensor, data_type(operand->dtype), (int)shape[0],
						 (int)shape[1], (int)shape[2], (int)shape[3],
						 stride[0], stride[1], stride[2], stride[3]);
	return (struct dnn_failure){code, "cudnnSetTensor4dDescriptorEx"};
}

static struct dnn_failure set_filter(const struct cuda_dnn *api, struct dnn_plan *plan,
				     const struct tn_operand *w, const int order[4])
{
	const cudnnTensorFormat_t format =
		order == channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
	cudnnStatus_t code = api->cudnnCreateFilterDescriptor(&plan->w);
	if (code)
		return (struct dnn_failure){code, "cudnnCreateFilterDescriptor"};
	code = api->cudnnSetFilter4dDescriptor(plan->w, data_type(w->dtype), format,
					       (int)w->shape[0], (int)w->shape[1], (int)w->shape[2],
					       (int)w->shape[3]);
	return (struct dnn_failure){code, "cudnnSetFilter4dDescriptor"};
}

static struct dnn_failure set_convolution(const struct cuda_device *device, struct dnn_plan *plan,
					  const struct tn_conv2d_args *args)
{
	const struct cuda_dnn *api = &device->dnn->api;
	const tn_dtype dtype = args->x.dtype;
	cudnnStatus_t code = api->cudnnCreateConvolutionDescriptor(&plan->convolution);
	if (code)
		return (struct dnn_failure){code, "cudnnCreateConvolutionDescriptor"};
	code = api->cudnnSetConvolution2dDescriptor(
		plan->convolution, (int)args->padding[0], (int)args->padding[1],
		(int)args->stride[0], (int)args->stride[1], (int)args->dilation[0],
		(int)args->dilation[1], CUDNN_CROSS_CORRELATION,
		dtype == TN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
	if (code)
		return (struct dnn_failure){code, "cudnnSetConvolution2dDescriptor"};
	code = api->cudnnSetConvolutionGroupCount(plan->convolution, (int)args->groups);
	if (code)
		return (struct dnn_failure){code, "cudnnSetConvolutionGroupCount"};
	code = api->cudnnSetConvolutionMathType(plan->convolution, math_type(device, dtype));
	return (struct dnn_failure){code, "cudnnSetConvolutionMathType"};
}

static struct dnn_failure describe_tensors(const struct cuda_device *device, struct dnn_plan *plan,
					   const struct tn_conv2d_args *args)
{
	const struct cuda_dnn *api = &device->dnn->api;
	const int *order = dnn_order(device, args, plan->pass);
	struct dnn_failure failure = set_tensor(api, &plan->x, &args->x, order);
	if (!failure.code)
		failure = set_filter(api, plan, &args->w, order);
	if (!failure.code)
		failure = set_tensor(api, &plan->y, &args->y, order);
	if (!failure.code)
		failure = set_convolution(device, plan, args);
	return failure;
}

/* ---- The algorithm ---------------------------------------------------------------------------*/

/* The results of the three passes for an algorithm have types of their own. */
struct candidate {
	int algorithm;
	cudnnStatus_t status;
	cudnnDeterminism_t determinism;
	cudnnMathType_t math;
};

static struct dnn_failure ask_algorithms(const struct cuda_dnn_state *dnn,
					 const struct dnn_plan *plan, struct candidate *list,
					 int *n)
{
	*n = 0;
	if (plan->pass == CUDA_DNN_FORWARD) {
		cudnnConvolutionFwdAlgoPerf_t found[MOST_ALGORITHMS];
		cudnnStatus_t code = dnn->api.cudnnGetConvolutionForwardAlgorithm_v7(
			dnn->handle, plan->x, plan->w, plan->convolution, plan->y, MOST_ALGORITHMS,
			n, found);
		for (int i = 0; !code && i < *n; i++)
			list[i] = (struct candidate){(int)found[i].algo, found[i].status,
						     found[i].determinism, found[i].mathType};
		return (struct dnn_failure){code, "cudnnGetConvolutionForwardAlgorithm_v7"};
	}
	if (plan->pass == CUDA_DNN_INPUT_GRADIENT) {
		cudnnConvolutionBwdDataAlgoPerf_t found[MOST_ALGORITHMS];
		cudnnStatus_t code = dnn->api.cudnnGetConvolutionBackwardDataAlgorithm_v7(
			dnn->handle, plan->w, plan->y, plan->convolution, plan->x, MOST_ALGORITHMS,
			n, found);
		for (int i = 0; !code && i < *n; i++)
			list[i] = (struct candidate){(int)found[i].algo, found[i].status,
						     found[i].determinism, found[i].mathType};
		return (struct dnn_failure){code, "cudnnGetConvolutionBackwardDataAlgorithm_v7"};
	}
	cudnnConvolutionBwdFilterAlgoPerf_t found[MOST_ALGORITHMS];
	cudnnStatus_t code = dnn->api.cudnnGetConvolutionBackwardFilterAlgorithm_v7(
		dnn->handle, plan->x, plan->y, plan->convolution, plan->w, MOST_ALGORITHMS, n,
		found);
	for (int i = 0; !code && i < *n; i++)
		list[i] = (struct candidate){(int)found[i].algo, found[i].status,
					     found[i].determinism, found[i].mathType};
	return (struct dnn_failure){code, "cudnnGetConvolutionBackwardFilterAlgorithm_v7"};
}

static struct dnn_failure ask_bytes(const struct cuda_dnn_state *dnn, const struct dnn_plan *plan,
				    int algorithm, size_t *bytes)
{
	const struct cuda_dnn *api = &dnn->api;
	*bytes = 0;
	if (plan->pass == CUDA_DNN_FORWARD)
		return (struct dnn_failure){api->cudnnGetConvolutionForwardWorkspaceSize(
						    dnn->handle, plan->x, plan->w,
						    plan->convolution, plan->y,
						    (cudnnConvolutionFwdAlgo_t)algorithm, bytes),
					    "cudnnGetConvolutionForwardWorkspaceSize"};
	if (plan->pass == CUDA_DNN_INPUT_GRADIENT)
		return (struct dnn_failure){
			api->cudnnGetConvolutionBackwardDataWorkspaceSize(
				dnn->handle, plan->w, plan->y, plan->convolution, plan->x,
				(cudnnConvolutionBwdDataAlgo_t)algorithm, bytes),
			"cudnnGetConvolutionBackwardDataWorkspaceSize"};
	return (struct dnn_failure){api->cudnnGetConvolutionBackwardFilterWorkspaceSize(
					    dnn->handle, plan->x, plan->y, plan->convolution,
					    plan->w, (cudnnConvolutionBwdFilterAlgo_t)algorithm,
					    bytes),
				    "cudnnGetConvolutionBackwardFilterWorkspaceSize"};
}

/* Through the Fourier transform one NaN reaches every pixel. */
static int is_spectral(enum cuda_dnn_pass pass, int algorithm)
{
	if (pass == CUDA_DNN_FORWARD)
		return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_FFT ||
		       algorithm == CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING;
	if (pass == CUDA_DNN_INPUT_GRADIENT)
		return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT ||
		       algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING;
	return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT ||
	       algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING;
}

/* Its transforms amplify rounding errors. */
static int is_winograd(enum cuda_dnn_pass pass, int algorithm)
{
	if (pass == CUDA_DNN_FORWARD)
		return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD ||
		       algorithm == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED;
	if (pass == CUDA_DNN_INPUT_GRADIENT)
		return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD ||
		       algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED;
	return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD ||
	       algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED;
}

static int is_acceptable(const struct candidate *candidate, int is_exact)
{
	const int multiplies_narrowly = candidate->math == CUDNN_TENSOR_OP_MATH ||
					candidate->math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;
	return candidate->status == CUDNN_STATUS_SUCCESS &&
	       candidate->determinism == CUDNN_DETERMINISTIC && !(is_exact && multiplies_narrowly);
}

/* The math type belongs to the descriptor: a second algorithm must have the same. */
static struct dnn_failure try_candidate(const struct cuda_device *device, struct dnn_plan *plan,
					const struct candidate *candidate, cudnnMathType_t *math)
{
	const struct cuda_dnn_state *dnn = device->dnn;
	const int is_first = plan->algorithm == DNN_NONE;
	struct dnn_failure failure = {CUDNN_STATUS_SUCCESS, "cudnnSetConvolutionMathType"};
	size_t bytes = 0;
	if (!is_first && candidate->math != *math)
		return failure;
	if (*math != candidate->math)
		failure.code =
			dnn->api.cudnnSetConvolutionMathType(plan->convolution, candidate->math);
	*math = candidate->math;
	if (!failure.code)
		failure = ask_bytes(dnn, plan, candidate->algorithm, &bytes);
	if (failure.code || bytes > DNN_MOST_WORKSPACE)
		return failure;
	if (is_first) {
		plan->algorithm = candidate->algorithm;
		plan->bytes = bytes;
	}
	if (!bytes)
		plan->spare = candidate->algorithm;
	return failure;
}

static struct dnn_failure choose_algorithm(const struct cuda_device *device, struct dnn_plan *plan,
					   const struct tn_conv2d_args *args)
{
	const tn_dtype dtype = args->x.dtype;
	const int exact = is_exact(device, dtype);
	/* Results rounded to f16, bf16 or TF32 tolerate no amplification, and larger windows
	 * amplify more. */
	const int may_enlarge = exact && args->w.shape[H] == 3 && args->w.shape[H + 1] == 3;
	cudnnMathType_t math = math_type(device, dtype);
	struct candidate list[MOST_ALGORITHMS];
	int n;
	struct dnn_failure failure = ask_algorithms(device->dnn, plan, list, &n);
	if (failure.code)
		return failure;
	plan->algorithm = plan->spare = DNN_NONE;
	for (int i = 0; i < n && i < MOST_ALGORITHMS && plan->spare == DNN_NONE; i++) {
		const int algorithm = list[i].algorithm;
		if (!is_acceptable(&list[i], exact) || is_spectral(plan->pass, algorithm) ||
		    (!may_enlarge && is_winograd(plan->pass, algorithm)))
			continue;
		if (exact) /* requested explicitly, whatever the list contains */
			list[i].math = math;
		failure = try_candidate(device, plan, &list[i], &math);
		if (failure.code && !dnn_is_refusal(failure.code))
			return failure;
	}
	if (plan->algorithm == DNN_NONE)
		return (struct dnn_failure){CUDNN_STATUS_NOT_SUPPORTED, "no algorithm"};
	return (struct dnn_failure){CUDNN_STATUS_SUCCESS, ""};
}

/* ---- Creating and running
 * ----------------------------------------------------------------------*/

int dnn_is_refusal(cudnnStatus_t code)
{
	const int category = CUDNN_STATUS_CATEGORY((int)code);
	return category == CUDNN_STATUS_BAD_PARAM || category == CUDNN_STATUS_NOT_SUPPORTED;
}

struct dnn_plan *dnn_plan_make(const struct cuda_device *device, const struct dnn_key *key,
			       const struct tn_conv2d_args *args, enum cuda_dnn_pass pass,
			       struct dnn_failure *failure)
{
	struct cuda_dnn_state *dnn = device->dnn;
	struct dnn_plan *plan = tn_plugin_alloc(device->host, sizeof(*plan));
	*failure =
		(struct dnn_failure){CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "alloc"};
	if (!plan)
		return NULL;
	if (dnn->n_plans == DNN_MOST_PLANS)
		dnn_plans_drop(device, 0);
	plan->key = *key;
	plan->pass = pass;
	*failure = describe_tensors(device, plan, args);
	if (!failure->code)
		*failure = choose_algorithm(device, plan, args);
	if (failure->code)
		dnn_plan_refuse(dnn, plan);
	if (failure->code && !dnn_is_refusal(failure->code)) {
		tn_plugin_free(device->host, plan);
		return NULL;
	}
	plan->next = dnn->plans[bucket_of(key)];
	dnn->plans[bucket_of(key)] = plan;
	dnn->n_plans++;
	return plan;
}

struct dnn_failure dnn_plan_run(struct cuda_dnn_state *dnn, const struct dnn_plan *plan,
				const struct tn_conv2d_args *args, double beta, int is_spare)
{
	const struct cuda_dnn *api = &dnn->api;
	const struct tn_workspace *workspace = args->call.workspace;
	const int algorithm = is_spare ? plan->spare : plan->algorithm;
	const size_t bytes = is_spare ? 0 : plan->bytes;
	void *x = cuda_pointer(cuda_address(&args->x)), *w = cuda_pointer(cuda_address(&args->w)),
	     *y = cuda_pointer(cuda_address(&args->y)),
	     *room = bytes ? cuda_pointer(workspace->buffer + workspace->offset) : NULL;
	const float narrow[2] = {1, (float)beta};
	const double wide[2] = {1, beta};
	const int is_wide = args->x.dtype == TN_F64;
	const void *one = is_wide ? (const void *)&wide[0] : (const void *)&narrow[0];
	const void *rest = is_wide ? (const void *)&wide[1] : (const void *)&narrow[1];
	if (plan->pass == CUDA_DNN_FORWARD)
		return (struct dnn_failure){
			api->cudnnConvolutionForward(dnn->handle, one, plan->x, x, plan->w, w,
						     plan->convolution,
						     (cudnnConvolutionFwdAlgo_t)algorithm, room,
						     bytes, rest, plan->y, y),
			"cudnnConvolutionForward"};
	if (plan->pass == CUDA_DNN_INPUT_GRADIENT)
		return (struct dnn_failure){
			api->cudnnConvolutionBackwardData(dnn->handle, one, plan->w, w, plan->y, y,
							  plan->convolution,
							  (cudnnConvolutionBwdDataAlgo_t)algorithm,
							  room, bytes, rest, plan->x, x),
			"cudnnConvolutionBackwardData"};
	return (struct dnn_failure){
		api->cudnnConvolutionBackwardFilter(
			dnn->handle, one, plan->x, x, plan->y, y, plan->convolution,
			(cudnnConvolutionBwdFilterAlgo_t)algorithm, room, bytes, rest, plan->w, w),
		"cudnnConvolutionBackwardFilter"};
}
