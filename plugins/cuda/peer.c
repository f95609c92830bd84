/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.peer/1: copies from one device to another, if CUDA reports that they can access each
 * other; otherwise the host stages the bytes as the driver would.  The copy is work of the
 * destination's stream, between two events that order it in the source's stream too.
 */
#include <string.h>

#include "memory.h"
#include "ranges.h"
#include "status.h"
#include "stream.h"

struct exchange {
	struct tn_peer_args args;
	struct cuda_device *taker, *giver;
	struct cuda_stream *takes, *gives;
};

/* ---- Access ---------------------------------------------------------------*/

/* The result of a runtime function. */
struct answer {
	cudaError_t code;
	const char *function;
};

/* Gives the destination, which is the current device, access to the source's memory. */
static struct answer open_memory(const struct exchange *x)
{
	const struct cuda_runtime *rt = x->taker->rt;
	if (x->giver->has_pools) {
		/* Access to a pool is enabled separately; the driver's peer slots, of which there
		 * are few, are left to others. */
		const struct cudaMemAccessDesc access = {
			.location = {.type = cudaMemLocationTypeDevice, .id = x->taker->ordinal},
			.flags = cudaMemAccessFlagsProtReadWrite};
		cudaMemPool_t pool = NULL;
		cudaError_t code = rt->cudaDeviceGetMemPool(&pool, x->giver->ordinal);
		if (code != cudaSuccess)
			return (struct answer){code, "cudaDeviceGetMemPool"};
		return (struct answer){rt->cudaMemPoolSetAccess(pool, &access, 1),
				       "cudaMemPoolSetAccess"};
	}
	cudaError_t code = rt->cudaDeviceEnablePeerAccess(x->giver->ordinal, 0);
	if (code == cudaErrorPeerAccessAlreadyEnabled) {
		(void)rt->cudaGetLastError();
		code = cudaSuccess;
	}
	return (struct answer){code, "cudaDeviceEnablePeerAccess"};
}

static int is_refusal(cudaError_t code)
{
	return code == cudaErrorPeerAccessUnsupported || code == cudaErrorTooManyPeers ||
	       code == cudaErrorNotSupported;
}

/* Queries access and, unless it is a dry run, enables it; a refusal means no access.  Final answers
 * are kept: no access, or access enabled. */
static tn_status ask_access(const struct exchange *x, int is_dry, int *can)
{
	const struct cuda_runtime *rt = x->taker->rt;
	const uint64_t bit = UINT64_C(1) << x->giver->ordinal;
	cudaError_t code = rt->cudaDeviceCanAccessPeer(can, x->taker->ordinal, x->giver->ordinal);
	struct answer answer = {code, "cudaDeviceCanAccessPeer"};
	if (code == cudaSuccess && *can && !is_dry)
		answer = open_memory(x);
	if (is_refusal(answer.code)) {
		(void)rt->cudaGetLastError();
		*can = 0;
	} else if (answer.code != cudaSuccess) {
		return cuda_stream_fail(x->taker, x->takes, x->args.call.error, answer.code,
					"peer_copy", answer.function);
	}
	if (*can && is_dry)
		return TN_OK;
	x->taker->peers_asked |= bit;
	if (*can)
		x->taker->peers_reached |= bit;
	else
		tn_plugin_log(x->taker->host, "cuda", TN_LOG_INFO,
			      "%s (%d) cannot access %s (%d): copies are staged through the host",
			      x->taker->facts.name, x->taker->ordinal, x->giver->facts.name,
			      x->giver->ordinal);
	return TN_OK;
}

static tn_status reach(const struct exchange *x, int is_dry)
{
	tn_status status = TN_OK;
	if (x->giver->ordinal >= CUDA_MAX_DEVICES)
		return tn_plugin_fail(x->args.call.error, TN_UNSUPPORTED, "peer_copy",
				      "device %d: expected less than %d", x->giver->ordinal,
				      CUDA_MAX_DEVICES);
	int can = (x->taker->peers_reached >> x->giver->ordinal & 1) != 0;
	if (!(x->taker->peers_asked >> x->giver->ordinal & 1))
		status = ask_access(x, is_dry, &can);
	if (status || can)
		return status;
	return tn_plugin_fail(x->args.call.error, TN_UNSUPPORTED, "peer_copy",
			      "device %d cannot access device %d", x->taker->ordinal,
			      x->giver->ordinal);
}

/* ---- The order of both -----------------------------------------------------------------------*/

/* An event of the current device, created by its first copy. */
static struct answer make_event(struct cuda_device *device)
{
	if (device->peer_event)
		return (struct answer){cudaSuccess, NULL};
	return (struct answer){
		device->rt->cudaEventCreateWithFlags(&device->peer_event, cudaEventDisableTiming),
		"cudaEventCreateWithFlags"};
}

void cuda_peer_close(struct cuda_device *device)
{
	if (device->peer_event && !device->loss.status)
		(void)device->rt->cudaEventDestroy(device->peer_event);
	device->peer_event = NULL;
}

/* The source records its event.  If that fails, nothing was done; a loss of the source is reported
 * by the host's own calls on it. */
static tn_status mark_giver(const struct exchange *x)
{
	const struct cuda_runtime *rt = x->taker->rt;
	struct answer answer = {rt->cudaSetDevice(x->giver->ordinal), "cudaSetDevice"};
	if (answer.code == cudaSuccess)
		answer = make_event(x->giver);
	if (answer.code == cudaSuccess)
		answer = (struct answer){
			rt->cudaEventRecord(x->giver->peer_event, cuda_stream_handle(x->gives)),
			"cudaEventRecord"};
	if (answer.code == cudaSuccess)
		return TN_OK;
	tn_status status = cuda_stream_fail(x->giver, x->gives, x->args.call.error, answer.code,
					    "peer_copy", answer.function);
	return status == TN_DEVICE_LOST ? TN_UNSUPPORTED : status;
}

/* The destination waits for it, and copies. */
static struct answer take_bytes(const struct exchange *x)
{
	const struct cuda_runtime *rt = x->taker->rt;
	const struct tn_peer_args *args = &x->args;
	cudaStream_t stream = cuda_stream_handle(x->takes);
	struct answer answer = make_event(x->taker);
	if (answer.code != cudaSuccess)
		return answer;
	cudaError_t code = rt->cudaStreamWaitEvent(stream, x->giver->peer_event, 0);
	if (code != cudaSuccess)
		return (struct answer){code, "cudaStreamWaitEvent"};
	code = rt->cudaMemcpyPeerAsync(cuda_pointer(args->buffer + args->offset), x->taker->ordinal,
				       cuda_pointer(args->peer_buffer + args->peer_offset),
				       x->giver->ordinal, args->size, stream);
	return (struct answer){code, "cudaMemcpyPeerAsync"};
}

/* The source continues when that is done; if it cannot be made to wait, the host waits. */
static struct answer release_giver(const struct exchange *x)
{
	const struct cuda_runtime *rt = x->taker->rt;
	cudaStream_t stream = cuda_stream_handle(x->takes);
	struct answer answer = {rt->cudaEventRecord(x->taker->peer_event, stream),
				"cudaEventRecord"};
	if (answer.code == cudaSuccess)
		answer = (struct answer){rt->cudaStreamWaitEvent(cuda_stream_handle(x->gives),
								 x->taker->peer_event, 0),
					 "cudaStreamWaitEvent"};
	if (answer.code != cudaSuccess)
		(void)rt->cudaStreamSynchronize(stream);
	return answer;
}

/* ---- The entry -------------------------------------------------------------------------------*/

static tn_status check_peer(const struct exchange *x)
{
	struct tn_error_info *error = x->args.call.error;
	if (!x->giver || x->giver == x->taker || x->giver->rt != x->taker->rt ||
	    x->giver->ordinal == x->taker->ordinal)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, "peer_copy",
				      "the peer is not another device of this instance");
	if (x->giver->loss.status)
		return tn_plugin_fail(error, TN_UNSUPPORTED, "peer_copy",
				      "the peer is lost: %.400s", x->giver->loss.text);
	return TN_OK;
}

static tn_status check_buffers(const struct exchange *x)
{
	const struct tn_peer_args *args = &x->args;
	uint32_t kind = TN_MEMORY_DEVICE, peer_kind = TN_MEMORY_DEVICE;
	if (!args->size || !cuda_memory_find(x->taker, args->buffer, &kind) ||
	    !cuda_memory_find(x->giver, args->peer_buffer, &peer_kind))
		return tn_plugin_fail(
			args->call.error, TN_INVALID_ARGUMENT, "peer_copy",
			"size is 0, or a buffer does not belong to the device or its peer");
	if (kind == TN_MEMORY_DEVICE && peer_kind == TN_MEMORY_DEVICE)
		return TN_OK;
	return tn_plugin_fail(args->call.error, TN_UNSUPPORTED, "peer_copy",
			      "pinned memory is not supported");
}

static tn_status take_arguments(struct cuda_device *device, const struct tn_peer_args *args,
				struct exchange *x, int *goes_on)
{
	struct tn_peer_args *own = &x->args;
	tn_status status = cuda_take(device, own, sizeof(*own), args, TN_DRY_RUN | TN_DETERMINISTIC,
				     "peer_copy");
	if (!status)
		status = cuda_stream_of(device, &own->call, "peer_copy", &x->takes);
	if (status)
		return status;
	const struct tn_call peers = {.stream = own->peer_stream, .error = own->call.error};
	x->taker = device;
	x->giver = own->peer;
	status = check_peer(x);
	if (!status)
		status = cuda_stream_of(x->giver, &peers, "peer_copy", &x->gives);
	if (!status)
		status = reach(x, (own->call.flags & TN_DRY_RUN) != 0);
	return status ? status : tn_plugin_workspace(&own->call, "peer_copy", 0, goes_on);
}

static tn_status peer_copy(void *device, const struct tn_peer_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "peer_copy");
	struct exchange x = {.taker = NULL};
	int goes_on = 0;
	tn_status status = take_arguments(device, args, &x, &goes_on);
	if (status || !goes_on)
		return status;
	status = check_buffers(&x);
	if (!status)
		status = cuda_stream_refuse(x.takes, x.args.call.error, "peer_copy");
	if (!status)
		status = cuda_stream_refuse(x.gives, x.args.call.error, "peer_copy");
	if (status)
		return status;
	struct cuda_device *taker = x.taker;
	status = mark_giver(&x);
	struct answer answer = {taker->rt->cudaSetDevice(taker->ordinal), "cudaSetDevice"};
	if (status)
		return status;
	cuda_stream_note(x.takes, "peer_copy");
	if (answer.code == cudaSuccess)
		answer = take_bytes(&x);
	if (answer.code == cudaSuccess) {
		cuda_stream_take_from(x.takes, x.giver->ordinal);
		answer = release_giver(&x);
	}
	if (answer.code == cudaSuccess)
		return TN_OK;
	return cuda_stream_fail(taker, x.takes, x.args.call.error, answer.code, "peer_copy",
				answer.function);
}

const struct tn_peer_table cuda_peer_table = {
	.struct_size = sizeof(cuda_peer_table),
	.peer_copy = peer_copy,
};
