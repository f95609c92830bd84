/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Convolution through cuDNN's legacy C interface, which plans a shape in a handful of calls.  Bias,
 * residual and activation are a kernel after it, the same for all activations; a bias of f16 or
 * bf16 is stored before it, so that the sum is rounded once.
 *
 * Off by default: cuDNN and the plugin's own kernels have not been timed against each other on a
 * GPU yet, and opening cuDNN costs a tenth of a second and hundreds of megabytes of address space.
 * `auto` times both, once for each shape, on the first repeatable call: one that does not
 * accumulate and is not captured.  With TN_DETERMINISTIC the own kernels compute, because the
 * faster choice, or the free workspace, may change from run to run.
 */
#include "dnn_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "operand.h"
#include "status.h"
#include "stream.h"

enum {
	C = 1,
	BLOCK = 256,
	ROUNDS = 4, /* the first is a warm-up: it loads kernels */
	PAUSE = 64  /* calls */
};

static const char *const noted[] = {
	"conv2d_forward (cuDNN)",
	"conv2d_input_gradient (cuDNN)",
	"conv2d_weight_gradient (cuDNN)",
};

enum cuda_dnn_mode cuda_dnn_mode(const struct tn_host *host)
{
	if (tn_plugin_option_is(host, "cudnn", "on"))
		return CUDA_DNN_ON;
	return tn_plugin_option_is(host, "cudnn", "auto") ? CUDA_DNN_AUTO : CUDA_DNN_OFF;
}

void cuda_dnn_say(const struct cuda_device *device, char *text, size_t size)
{
	static const libraryPropertyType parts[] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
	const struct cuda_dnn_state *dnn = device->dnn;
	int version[3] = {0, 0, 0};
	if (device->dnn_mode == CUDA_DNN_OFF) {
		snprintf(text, size, "not used: cuda.cudnn is off");
	} else if (dnn && dnn->reason[0]) {
		snprintf(text, size, "not used: %s", dnn->reason);
	} else if (!dnn || !dnn->handle) {
		snprintf(text, size, "not open yet");
	} else {
		for (int i = 0; i < 3; i++)
			(void)dnn->api.cudnnGetProperty(parts[i], &version[i]);
		snprintf(text, size, "%d.%d.%d, %s, %llu calls", version[0], version[1], version[2],
			 device->dnn_mode == CUDA_DNN_ON ? "on" : "auto",
			 (unsigned long long)dnn->n_calls);
	}
}

/* ---- Errors ----------------------------------------------------------------------------------*/

static int is_short_of_memory(cudnnStatus_t code)
{
	return code == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
	       code == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
}

static void print_failure(const struct cuda_dnn *api, struct dnn_failure failure, char *text,
			  size_t size)
{
	char more[256] = "";
	api->cudnnGetLastErrorString(more, sizeof(more));
	more[sizeof(more) - 1] = 0;
	snprintf(text, size, "%s: %s (%d)%s%s", failure.function,
		 api->cudnnGetErrorString(failure.code), (int)failure.code, more[0] ? ": " : "",
		 more);
}

/* Did the device fail?  cuDNN has its own codes for device errors. */
static tn_status check_loss(struct cuda_job *job, const char *function)
{
	struct cuda_device *device = job->device;
	cudaError_t state = device->rt->cudaStreamQuery(cuda_stream_handle(job->stream));
	if (cuda_status_of(state) == TN_DEVICE_LOST)
		return cuda_stream_fail(device, job->stream, job->call->error, state,
					job->operation, function);
	(void)device->rt->cudaGetLastError();
	return TN_OK;
}

/* In a capture no work ran that could have failed, and the stream must not be queried: the work can
 * be done uncaptured, or captured without cuDNN. */
static tn_status fail_dnn(struct cuda_job *job, struct dnn_plan *plan, struct dnn_failure failure)
{
	char text[448];
	struct tn_error_info *error = job->call->error;
	const int is_captured = cuda_stream_is_captured(job->stream);
	tn_status status = is_captured ? TN_OK : check_loss(job, failure.function);
	if (status)
		return status;
	plan->is_left_out |= is_captured;
	print_failure(&job->device->dnn->api, failure, text, sizeof(text));
	status = is_captured                        ? TN_NOT_CAPTURABLE
		 : is_short_of_memory(failure.code) ? TN_OUT_OF_MEMORY
						    : TN_BACKEND_FAILURE;
	tn_plugin_fail(error, status, job->operation, "%s", text);
	if (error)
		error->native_code = (int32_t)failure.code;
	return status;
}

/* Disables cuDNN: the own kernels compute from now on. */
static void give_up(const struct cuda_device *device, const char *why)
{
	struct cuda_dnn_state *dnn = device->dnn;
	snprintf(dnn->reason, sizeof(dnn->reason), "%.150s", why);
	tn_plugin_log(device->host, "cuda",
		      device->dnn_mode == CUDA_DNN_ON ? TN_LOG_WARNING : TN_LOG_INFO,
		      "cuDNN is not used: %s", why);
}

/* A failure before anything was computed is not an error: the own kernels take over.  Memory may be
 * free some calls later; to retry each time would cost as much as opening. */
static tn_status do_without(struct cuda_job *job, struct dnn_failure failure)
{
	char text[448];
	tn_status status = check_loss(job, failure.function);
	if (!status && is_short_of_memory(failure.code))
		job->device->dnn->n_left = PAUSE;
	if (status || is_short_of_memory(failure.code))
		return status;
	print_failure(&job->device->dnn->api, failure, text, sizeof(text));
	give_up(job->device, text);
	return TN_OK;
}

/* ---- Life ------------------------------------------------------------------------------------*/

static tn_status open_dnn(struct cuda_job *job)
{
	struct cuda_device *device = job->device;
	char text[256];
	if (!device->dnn)
		device->dnn = tn_plugin_alloc(device->host, sizeof(*device->dnn));
	struct cuda_dnn_state *dnn = device->dnn;
	if (!dnn || dnn->handle || dnn->reason[0])
		return TN_OK;
	if (!dnn->api.handle && cuda_dnn_open(&dnn->api, device->host, device->rt,
					      device->places->major, text, sizeof(text))) {
		give_up(device, text);
		return TN_OK;
	}
	struct dnn_failure failure = {dnn->api.cudnnCreate(&dnn->handle), "cudnnCreate"};
	if (!failure.code)
		return TN_OK;
	dnn->handle = NULL;
	return do_without(job, failure);
}

void cuda_dnn_close(struct cuda_device *device)
{
	struct cuda_dnn_state *dnn = device->dnn;
	const int is_lost = device->loss.status != TN_OK;
	if (!dnn)
		return;
	dnn_plans_drop(device, is_lost);
	if (dnn->handle && !is_lost)
		(void)dnn->api.cudnnDestroy(dnn->handle);
	if (dnn->first && !is_lost)
		(void)device->rt->cudaEventDestroy(dnn->first);
	if (dnn->last && !is_lost)
		(void)device->rt->cudaEventDestroy(dnn->last);
	cuda_library_close(&dnn->api.handle);
	tn_plugin_free(device->host, dnn);
	device->dnn = NULL;
}

void cuda_dnn_leave(struct cuda_device *device, cudaStream_t stream)
{
	struct cuda_dnn_state *dnn = device->dnn;
	if (!dnn || !dnn->handle || dnn->stream != stream)
		return;
	dnn->stream = NULL;
	if (!device->loss.status)
		(void)dnn->api.cudnnSetStream(dnn->handle, NULL);
}

static tn_status set_stream(struct cuda_job *job, struct dnn_plan *plan)
{
	struct cuda_dnn_state *dnn = job->device->dnn;
	cudaStream_t stream = cuda_stream_handle(job->stream);
	if (dnn->stream == stream)
		return TN_OK;
	struct dnn_failure failure = {dnn->api.cudnnSetStream(dnn->handle, stream),
				      "cudnnSetStream"};
	if (failure.code)
		return fail_dnn(job, plan, failure);
	dnn->stream = stream;
	return TN_OK;
}

/* ---- Bias, residual, activation --------------------------------------------------------------*/

/* Same layout as in kernels/dnn.cu. */
struct picture {
	uint64_t y, bias, residual;
	int64_t ys[4], rs[4], bs[4];
	uint32_t length[4];
	uint32_t n;
};

struct turn {
	struct cuda_job *job;
	const struct tn_conv2d_args *args;
	struct dnn_plan *plan;
	const struct cuda_dnn_rival *own;
	int has_bias, has_residual; /* after it */
	uint32_t activation;
	int fills;    /* y is set to the bias before it */
	int adds;     /* the previous contents are part of the result */
	double beta;  /* the factor of y's contents before cuDNN computes */
	int is_spare; /* less workspace is available than the plan asked for */
};

static void read_turn(struct turn *turn)
{
	const struct tn_conv2d_args *args = turn->args;
	const int is_narrow = tn_dtype_size(args->x.dtype) < 4;
	turn->adds = (args->call.flags & TN_ACCUMULATE) != 0;
	if (turn->plan->pass == CUDA_DNN_FORWARD) {
		/* A residual is either y itself or disjoint from it. */
		turn->adds = args->has_residual &&
			     cuda_address(&args->residual) == cuda_address(&args->y);
		turn->has_residual = args->has_residual && !turn->adds;
		turn->fills = args->has_bias && is_narrow && !turn->adds;
		turn->has_bias = args->has_bias && !turn->fills;
		turn->activation = args->activation;
	}
	turn->beta = turn->adds || turn->fills;
}

/* Each combination may have kernels of its own: either algorithm, accumulating or not. */
static unsigned way(const struct turn *turn)
{
	return 1u << (2 * turn->is_spare + (turn->beta != 0));
}

static tn_status get_epilogue(const struct turn *turn, int fills, struct cuda_kernel **kernel)
{
	const struct cuda_define defines[] = {{"DTYPE", turn->args->x.dtype},
					      {"FILLS", fills},
					      {"ACTIVATION", fills ? 0 : turn->activation},
					      {"HAS_BIAS", fills || turn->has_bias},
					      {"HAS_RESIDUAL", !fills && turn->has_residual}};
	return cuda_kernel_get(turn->job, "dnn", "dnn_epilogue", defines, 5, kernel);
}

static tn_status run_epilogue(const struct turn *turn, const struct cuda_kernel *kernel)
{
	const struct tn_conv2d_args *args = turn->args;
	const struct cuda_device *device = turn->job->device;
	const int *order = dnn_order(device, args, CUDA_DNN_FORWARD);
	struct picture g = {.y = cuda_address(&args->y),
			    .n = (uint32_t)tn_plugin_count(4, args->y.shape)};
	void *arguments[] = {&g};
	if (turn->has_bias || turn->fills)
		g.bias = cuda_address(&args->bias);
	if (turn->has_residual)
		g.residual = cuda_address(&args->residual);
	for (int i = 0; i < 4; i++) {
		const int axis = order[i];
		g.length[i] = (uint32_t)args->y.shape[axis];
		g.ys[i] = args->y.strides[axis];
		if (g.bias && axis == C)
			g.bs[i] = args->bias.strides[0];
		if (turn->has_residual)
			g.rs[i] = args->residual.strides[axis];
	}
	const struct cuda_grid grid = {cuda_blocks(device, g.n, BLOCK), 1, 1, BLOCK, 1, 1, 0};
	return cuda_kernel_launch(turn->job, kernel, grid, arguments);
}

/* ---- One call --------------------------------------------------------------------------------*/

/* If memory ran short, the own kernels compute, which take none, unless the previous contents are
 * part of the result: they may be overwritten already. */
static tn_status fail_turn(const struct turn *turn, struct dnn_failure failure)
{
	char text[448];
	struct cuda_job *job = turn->job;
	const struct cuda_device *device = job->device;
	if (turn->adds || cuda_stream_is_captured(job->stream) || !is_short_of_memory(failure.code))
		return fail_dnn(job, turn->plan, failure);
	print_failure(&device->dnn->api, failure, text, sizeof(text));
	tn_plugin_log(device->host, "cuda", TN_LOG_INFO, "%s: the own kernels compute: %s",
		      job->operation, text);
	return check_loss(job, failure.function);
}

/* *goes_on stays 1 if cuDNN refuses after all, or has no memory.  Everything that can fail to be
 * created is created before anything is written. */
static tn_status run_dnn(const struct turn *turn, int *goes_on)
{
	struct cuda_job *job = turn->job;
	struct cuda_dnn_state *dnn = job->device->dnn;
	struct cuda_kernel *before = NULL, *behind = NULL;
	tn_status status = TN_OK;
	if (turn->fills)
		status = get_epilogue(turn, 1, &before);
	if (!status && (turn->has_bias || turn->has_residual || turn->activation))
		status = get_epilogue(turn, 0, &behind);
	if (!status)
		status = set_stream(job, turn->plan);
	if (!status && before)
		status = run_epilogue(turn, before);
	if (status)
		return status;
	cuda_stream_note(job->stream, noted[turn->plan->pass]);
	struct dnn_failure failure =
		dnn_plan_run(dnn, turn->plan, turn->args, turn->beta, turn->is_spare);
	if (failure.code && dnn_is_refusal(failure.code)) {
		/* Only a refusal is final. */
		if (turn->is_spare)
			turn->plan->spare = DNN_NONE;
		else if (turn->beta != 0)
			turn->plan->is_adding_refused = 1;
		else
			dnn_plan_refuse(dnn, turn->plan);
		return TN_OK;
	}
	if (failure.code)
		return fail_turn(turn, failure);
	*goes_on = 0;
	turn->plan->has_run |= way(turn);
	dnn->n_calls++;
	cuda_stream_launched(job->device, job->stream);
	return behind ? run_epilogue(turn, behind) : TN_OK;
}

/* ---- Timing of both
 * ----------------------------------------------------------------------------*/

static tn_status fail_clock(const struct turn *turn, cudaError_t code, const char *function)
{
	struct cuda_job *job = turn->job;
	return cuda_stream_fail(job->device, job->stream, job->call->error, code, job->operation,
				function);
}

static tn_status open_clock(const struct turn *turn)
{
	const struct cuda_runtime *rt = turn->job->device->rt;
	struct cuda_dnn_state *dnn = turn->job->device->dnn;
	cudaEvent_t *const events[] = {&dnn->first, &dnn->last};
	for (int i = 0; i < 2; i++) {
		if (*events[i])
			continue;
		cudaError_t code = rt->cudaEventCreateWithFlags(events[i], cudaEventDefault);
		if (code == cudaSuccess)
			continue;
		*events[i] = NULL;
		return fail_clock(turn, code, "cudaEventCreateWithFlags");
	}
	return TN_OK;
}

static tn_status mark(const struct turn *turn, cudaEvent_t event)
{
	const struct cuda_job *job = turn->job;
	cudaError_t code = job->device->rt->cudaEventRecord(event, cuda_stream_handle(job->stream));
	return code == cudaSuccess ? TN_OK : fail_clock(turn, code, "cudaEventRecord");
}

/* Waits for the work between the marks. */
static tn_status read_clock(const struct turn *turn, float *milliseconds)
{
	const struct cuda_runtime *rt = turn->job->device->rt;
	const struct cuda_dnn_state *dnn = turn->job->device->dnn;
	cudaError_t code = rt->cudaEventSynchronize(dnn->last);
	if (code != cudaSuccess)
		return fail_clock(turn, code, "cudaEventSynchronize");
	code = rt->cudaEventElapsedTime(milliseconds, dnn->first, dnn->last);
	return code == cudaSuccess ? TN_OK : fail_clock(turn, code, "cudaEventElapsedTime");
}

/* Runs one side, and sets *best to its time if that was less. */
static tn_status time_side(const struct turn *turn, int is_own, float *best, int *goes_on)
{
	const struct cuda_dnn_state *dnn = turn->job->device->dnn;
	float milliseconds = 0;
	tn_status status = mark(turn, dnn->first);
	if (!status)
		status = is_own ? turn->own->run(turn->job, turn->own->plan)
				: run_dnn(turn, goes_on);
	if (!status)
		status = mark(turn, dnn->last);
	if (!status)
		status = read_clock(turn, &milliseconds);
	if (!status && milliseconds < *best)
		*best = milliseconds;
	return status;
}

static tn_status race(const struct turn *turn, int *goes_on)
{
	struct dnn_plan *plan = turn->plan;
	float own = INFINITY, dnn = INFINITY;
	tn_status status = open_clock(turn);
	for (int round = 0; !status && round < ROUNDS; round++) {
		if (round == 1)
			own = dnn = INFINITY;
		*goes_on = 1;
		status = time_side(turn, 1, &own, goes_on);
		if (!status)
			status = time_side(turn, 0, &dnn, goes_on);
		if (!status && *goes_on)
			return TN_OK;
	}
	if (status)
		return status;
	plan->verdict = dnn < own ? DNN_FASTER : DNN_SLOWER;
	tn_plugin_log(
		turn->job->device->host, "cuda", TN_LOG_INFO,
		"%s of x (%lld, %lld, %lld, %lld), w (%lld, ..., %lld, %lld): own %.4f ms, cuDNN "
		"%.4f ms",
		turn->job->operation, (long long)turn->args->x.shape[0],
		(long long)turn->args->x.shape[1], (long long)turn->args->x.shape[2],
		(long long)turn->args->x.shape[3], (long long)turn->args->w.shape[0],
		(long long)turn->args->w.shape[2], (long long)turn->args->w.shape[3], (double)own,
		(double)dnn);
	return TN_OK;
}

/* ---- The entry -------------------------------------------------------------------------------*/

/* May something be created?  Not during a capture, because it allocates memory; and not for a while
 * after memory ran short. */
static int may_make(const struct cuda_job *job)
{
	struct cuda_dnn_state *dnn = job->device->dnn;
	if (cuda_stream_is_captured(job->stream))
		return 0;
	if (!dnn || !dnn->n_left)
		return 1;
	dnn->n_left--;
	return 0;
}

/* *found stays NULL if the own kernels should compute. */
static tn_status find_plan(struct cuda_job *job, const struct tn_conv2d_args *args,
			   enum cuda_dnn_pass pass, struct dnn_plan **found)
{
	struct cuda_device *device = job->device;
	struct dnn_failure failure;
	struct dnn_key key = {{0}};
	const int makes = may_make(job);
	tn_status status = makes ? open_dnn(job) : TN_OK;
	struct cuda_dnn_state *dnn = device->dnn;
	if (status || !dnn || !dnn->handle || dnn->reason[0])
		return status;
	dnn_key(&key, args, pass);
	struct dnn_plan *plan = dnn_plan_find(dnn, &key);
	if (!plan && makes) {
		plan = dnn_plan_make(device, &key, args, pass, &failure);
		if (!plan)
			return do_without(job, failure);
	}
	if (!plan || plan->is_refused || plan->verdict == DNN_SLOWER ||
	    (cuda_stream_is_captured(job->stream) && (!plan->has_run || plan->is_left_out)))
		return TN_OK;
	*found = plan;
	return TN_OK;
}

tn_status cuda_dnn_convolve(struct cuda_job *job, const struct tn_conv2d_args *args,
			    enum cuda_dnn_pass pass, const struct cuda_dnn_rival *own, int *goes_on)
{
	const struct cuda_device *device = job->device;
	const int is_captured = cuda_stream_is_captured(job->stream);
	struct tn_workspace *workspace = args->call.workspace;
	struct turn turn = {.job = job, .args = args, .own = own};
	if (device->dnn_mode == CUDA_DNN_OFF || args->call.flags & TN_DETERMINISTIC ||
	    !dnn_order(device, args, pass))
		return TN_OK;
	tn_status status = find_plan(job, args, pass, &turn.plan);
	if (status || !turn.plan)
		return status;
	if (!*goes_on) {
		/* Never more than `preferred`: without it, an algorithm without workspace computes,
		 * or the own kernels. */
		if (workspace && workspace->preferred < turn.plan->bytes)
			workspace->preferred = turn.plan->bytes;
		return TN_OK;
	}
	turn.is_spare = turn.plan->bytes && (!workspace || workspace->size < turn.plan->bytes);
	if (turn.is_spare && (turn.plan->spare == DNN_NONE || device->dnn_mode == CUDA_DNN_AUTO))
		return TN_OK;
	read_turn(&turn);
	if ((turn.beta != 0 && turn.plan->is_adding_refused) ||
	    (is_captured && !(turn.plan->has_run & way(&turn))))
		return TN_OK;
	if (device->dnn_mode == CUDA_DNN_ON || turn.plan->verdict == DNN_FASTER)
		return run_dnn(&turn, goes_on);
	return turn.adds || is_captured ? TN_OK : race(&turn, goes_on);
}
