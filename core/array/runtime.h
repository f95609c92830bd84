/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The part of a context that arrays and their users need.  The rest is private to the context layer
 * (struct tn_assembly).
 */
#ifndef TN_ARRAY_RUNTIME_H
#define TN_ARRAY_RUNTIME_H

#include <tenon/context.h>

#include "array/generator.h"
#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "device/device.h"

#undef tn_log /* here it is the logarithm */

struct tn_program;
struct tn_program_cache;
struct tn_ledger;
struct tn_scope;
struct tn_record;
struct tn_replay;
struct tn_graph;
struct tn_observer;
struct tn_watch;
struct tn_assembly;
struct tn_draws;
struct tn_ended;
struct tn_host_buffer;
struct tn_replica;

/* The recorder of operations that have a derivative (the tape, in core/autograd). */
struct tn_recorder {
	/* Called after an operation succeeded whose inputs are tracked; a failure is latched and
	 * the operation's outputs are destroyed. */
	tn_status (*record)(void *user, const struct tn_record *record,
			    struct tn_error_info *error);
	void *user;
};

struct tn_runtime {
	tn_context *context; /* that this is part of */
	const struct tn_logger *logger;
	struct tn_threads *threads;
	struct tn_device *device; /* the current one; open */
	struct tn_device
		*reference; /* the built-in backend's device; open; the route's last resort */
	struct tn_device **lenders; /* open host-memory devices, best first, the current one too */
	size_t n_lenders;
	uint32_t fallback;   /* TN_FALLBACK_..., never DEFAULT */
	uint32_t call_flags; /* TN_DETERMINISTIC or 0: set in every call */
	int ledger_time;
	struct tn_random_state random;
	/* The default one: its state is `random`. */
	struct tn_generator generator;
	struct tn_error_info error;  /* the first error; status TN_OK: none */
	int error_has_place;         /* its text names the module where it arose */
	char error_text[576];        /* of tn_error_text */
	struct tn_error_info report; /* where calls put an error before it is kept */
	struct tn_scope *scope;      /* the innermost open one */
	struct tn_array *loose;      /* arrays that no scope owns, linked like a scope's */
	uint32_t depth;              /* of compositions: steps inside one are not counted */
	struct tn_ledger *ledger;
	struct tn_program_cache *programs;
	const struct tn_recorder *recorder; /* NULL: none */
	const struct tn_recorder *paused; /* the recorder outside all scopes of tn_no_grad_begin */
	uint32_t no_grad;                 /* open scopes of tn_no_grad_begin */
	int anomaly;                      /* results and gradients are checked (tn_anomaly_mode) */
	uint64_t anomaly_step;            /* tapes begun in this mode; 0: errors name no step */
	const char *place;       /* while they are: the path of the module that runs, or NULL */
	struct tn_draws *draws;  /* capture/stepped.h; NULL: draws are not kept */
	void *tape;              /* begun and not ended; it may have stopped recording */
	struct tn_graph *graphs; /* all that exist, including the one being captured */
	const struct tn_observer *observer; /* array/observer.h; NULL: none */
	struct tn_watch *watch;             /* array/watch.h; NULL: none */
	struct tn_graph *capture;  /* work is being captured (capture/capture.h); NULL: no */
	struct tn_replay *writing; /* calls are being recorded (capture/replay.h); NULL: no */
	/* What a higher layer keeps for the life of the context (the tape's cache of derivatives);
	 * tn_runtime_release calls release(attachment) first when it is set. */
	void *attachment;
	void (*release_attachment)(void *attachment);
	/* NULL, or frees what the attachment knows of a program that is about to be freed. */
	void (*forget)(void *attachment, const struct tn_program *program);
	struct tn_host_buffer *host_buffers; /* that were not destroyed, linked */
	/* TENON_CHECK_HANDLES (array/handle.h). */
	int is_checked;
	struct tn_runtime *next_checked; /* of those that are open */
	struct tn_ended *ended;          /* the handle, or the context itself, has ended */
	const int *cancel; /* not 0 there: calls of backends are refused; NULL: they are not */
	/* Of networks that several contexts run (nn/replica.h); tn_runtime_release calls
	 * release_replicas first when it is set. */
	struct tn_replica *replicas;
	void (*release_replicas)(struct tn_runtime *runtime);
};

struct tn_context {
	struct tn_runtime runtime;
	struct tn_assembly *assembly; /* context/context.h */
	_Atomic uint32_t users;       /* of memory outside the library; context/context.h */
};

static inline struct tn_runtime *tn_runtime_of(tn_context *context)
{
	return context ? &context->runtime : NULL;
}

/* Keeps `error` as the first error if none is kept; returns its status. */
tn_status tn_runtime_keep(struct tn_runtime *runtime, const struct tn_error_info *error);
/* Adds to the kept error's text the place where it arose, unless it has one. */
void tn_runtime_place_error(struct tn_runtime *runtime, const char *place);
/* Makes and keeps an error; returns status. */
tn_status tn_runtime_fail(struct tn_runtime *runtime, tn_status status, const char *operation,
			  const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Keeps "NAME is NULL", TN_INVALID_ARGUMENT.  TN_PENDING_ERROR: an error is kept.  Without a
 * runtime it only returns. */
tn_status tn_runtime_null(struct tn_runtime *runtime, const char *operation, const char *name);
/* TN_OK if no object is NULL, else tn_runtime_null of the first that is. */
struct tn_given {
	const char *name;
	const void *object;
};
tn_status tn_runtime_given(struct tn_runtime *runtime, const char *operation, size_t n,
			   const struct tn_given *given);
/* The same of tn_no_memory without a subject. */
tn_status tn_runtime_no_memory(struct tn_runtime *runtime, const char *operation, const char *what);
/* tn_options_take, which keeps the error.  Also TN_INVALID_ARGUMENT for a NULL runtime. */
tn_status tn_runtime_take(struct tn_runtime *runtime, void *own, size_t own_size, const void *given,
			  const char *type, const char *operation);
/* tn_answer, which keeps the error.  Without a runtime it only returns. */
tn_status tn_runtime_answer(struct tn_runtime *runtime, void *out, const void *own, size_t own_size,
			    const char *type, const char *operation);
/* The status of the error that a call has reported, after it failed; TN_OUT_OF_MEMORY if it has
 * reported none. */
static inline tn_status tn_report_status(const struct tn_runtime *runtime)
{
	return runtime->report.status ? runtime->report.status : TN_OUT_OF_MEMORY;
}
/* tn_options_check, which keeps the error. */
struct tn_option;
tn_status tn_runtime_check(struct tn_runtime *runtime, const void *options,
			   const struct tn_option *members, const char *operation);
/* Has another thread set what tn_runtime.cancel points to? */
static inline int tn_runtime_is_cancelled(const struct tn_runtime *runtime)
{
	return runtime->cancel && __atomic_load_n(runtime->cancel, __ATOMIC_RELAXED);
}
/* An error is kept: TN_PENDING_ERROR; TN_STATE, reported, if it is that of a handle that has ended
 * (array/handle.h). */
tn_status tn_runtime_refuse(const struct tn_runtime *runtime, const char *operation);
/* TN_OK, or the status of tn_runtime_refuse. */
static inline tn_status tn_runtime_ready(const struct tn_runtime *runtime)
{
	return runtime->error.status ? tn_runtime_refuse(runtime, NULL) : TN_OK;
}

#endif
