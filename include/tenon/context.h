/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A context owns everything that a program makes with Tenon: the loaded backends and the report on
 * them, open devices, arrays and their scopes, the random state, the ledger of where operations
 * ran, and the first error.  One thread at a time may use a context; a program may have any number
 * of contexts, which share data through host memory, or as constant arrays (tenon/share.h).
 * Contexts that are opened alike share the backends' instances and open devices unseen (tenon(7),
 * SEVERAL CONTEXTS).
 *
 *     tn_context *ctx;
 *     struct tn_error_info error;
 *     if (tn_context_open(NULL, &ctx, &error))
 *             fprintf(stderr, "%s: %s\n", error.operation, error.text);
 *
 * Functions that make arrays return NULL on failure and if an argument is NULL.  The context keeps
 * the first error, of a NULL argument too, until tn_error_clear.  While an error is kept, functions
 * that make arrays return NULL, and functions that change arrays, files or devices return
 * TN_PENDING_ERROR and do nothing; destructors, query functions and error functions still work.
 */
#ifndef TENON_CONTEXT_H
#define TENON_CONTEXT_H

#include <string.h>

#include <tenon/types.h>
#include <tenon/export.h>
#include <tenon/log.h>
#include <tenon/report.h>
#include <tenon/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_context tn_context;
typedef struct tn_device tn_device;
typedef struct tn_array tn_array;

/* The routes that operations may take: the values of TENON_FALLBACK. */
enum {
	TN_FALLBACK_DEFAULT = 0, /* the value of TENON_FALLBACK, else allow */
	TN_FALLBACK_ALLOW = 1,   /* every route */
	TN_FALLBACK_WARN = 2,    /* every route; one warning per operation run on the host */
	TN_FALLBACK_ERROR = 3,   /* no route through the host: TN_UNSUPPORTED */
	TN_FALLBACK_NATIVE = 4,  /* only native and lent */
};

/* `seed` that leaves the choice to TENON_SEED. */
#define TN_SEED_FROM_ENVIRONMENT UINT64_MAX

/* A device that its backend opens on a context or device of others. */
struct tn_native_device {
	const char *device; /* "cuda:0" */
	uint64_t native;    /* the vendor's handle; borrowed until the context is closed */
};

/* How to open a context. */
struct tn_context_options {
	uint32_t struct_size;
	const char *backend; /* a selection as in TENON_BACKEND; NULL: that variable, else auto */
	const char *const *plugin_paths; /* absolute folders or files, searched first */
	size_t n_plugin_paths;
	tn_log_callback log; /* NULL: notices and warnings go to stderr, one line each */
	void *log_user;
	uint32_t n_threads;    /* 0: TENON_THREADS, else one per processor */
	uint32_t fallback;     /* TN_FALLBACK_... */
	uint64_t memory_limit; /* bytes per device; 0: TENON_MEMORY_LIMIT, else none */
	uint64_t seed;         /* default TN_SEED_FROM_ENVIRONMENT: TENON_SEED, else 0 */
	int deterministic;     /* 1: as TENON_DETERMINISTIC=1 */
	int ledger_time;       /* 1: the ledger times every operation */
	/* Receives the load report if opening fails (owned: tn_load_report_destroy; NULL if there
	 * is none), so that a program can show the reason.  May be NULL. */
	tn_load_report **report_on_failure;
	/* Options of backends, as {"cuda.cudnn", "auto"} is one.  The last one of a name counts,
	 * before the option's variable.  Those of a backend that is not installed are ignored,
	 * which is logged as information. */
	size_t n_backend_options;
	const struct tn_pair *backend_options;
	/* What is not here is opened in contexts of the backends' own.  A backend may refuse a
	 * handle, as a device that does not open. */
	const struct tn_native_device *native_devices;
	size_t n_native_devices;
};
static inline struct tn_context_options tn_context_defaults(void)
{
	struct tn_context_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.seed = TN_SEED_FROM_ENVIRONMENT;
	return options;
}

/* The most backends that a program can register. */
#define TN_MOST_REGISTERED 16
struct tn_backend_descriptor; /* <tenon/backend.h> */

/* Makes a backend that is linked into the program known to contexts that are opened later, in all
 * threads; those that are open keep what they have.  It is a plugin without a file: versions are
 * negotiated, its options and the selection hold, and the load report has its row
 * (TN_FOUND_REGISTERED).  It comes before files, so that one of the same name or UUID is
 * TN_DUPLICATE.  `descriptor` is borrowed for ever: a plugin that is compiled with
 * -DTN_BACKEND_DESCRIPTOR=tenon_backend_NAME exports it under that name, as libtenon_cpu.a does.
 *   TN_INVALID_ARGUMENT: it is NULL, or not a descriptor, or has no valid name.
 *   TN_UNSUPPORTED: TN_MOST_REGISTERED are registered.
 * One that is registered already is TN_OK.  [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_backend_register(const struct tn_backend_descriptor *descriptor);

/* Loads backends, selects one and opens its device.  `options` may be NULL.  Missing plugins are
 * not an error: the built-in backend is the last resort, unless the selection ends in `!`.
 * Errors: TN_FORMAT (a malformed selection, variable or key of an option), TN_OUT_OF_MEMORY,
 * TN_INVALID_ARGUMENT (no struct_size, an option out of range, of a backend too, a plugin path that
 * is not absolute), TN_NOT_FOUND (a backend that is installed has no such option, or a native
 * device is not among the context's), TN_UNSUPPORTED (options of a newer version), or the reason
 * why a required backend is absent; `error` may be NULL.  The context is owned (tn_context_close).
 * [thread: any | since 0.1] */
TN_API TN_CHECKED tn_status tn_context_open(const struct tn_context_options *options,
					    tn_context **context, struct tn_error_info *error);

/* Destroys every array of the context, closes its devices and backends.  While others hold memory
 * that tn_to_dlpack lent them, devices and backends stay open until the last deleter, quietly:
 * callbacks of the program are not called afterwards.  Takes NULL.
 * [thread: one per context | since 0.1] */
TN_API void tn_context_close(tn_context *context);

/* What was found, loaded and refused, and why.  Borrowed, valid until close.
 * [thread: one per context | since 0.1] */
TN_API tn_load_report *tn_context_report(const tn_context *context);

/* 1: the requested backend is not the one in use.  [thread: one per context] */
TN_API int tn_context_fell_back(const tn_context *context);

/* An environment variable that the context, its backends or their devices have read. */
struct tn_variable {
	uint32_t struct_size;
	uint32_t reserved;
	const char *name;   /* borrowed, like the rest, valid until close */
	const char *help;   /* one sentence */
	const char *value;  /* NULL: not set, or ignored */
	const char *origin; /* "environment", "not set", or "ignored: the process is privileged" */
};
/* Variable `index`, in the order in which they were read.  TN_INVALID_ARGUMENT: no such index.
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_variable_at(const tn_context *context, size_t index,
				struct tn_variable *variable);

/* ---- Devices ---------------------------------------------------------------------------------*/

/* The devices that the selection allows, the preferred one first; each is opened on first use.
 * Questions for more than the first may count devices, which takes a driver's time (tenon(7)).
 * Borrowed, valid until close.  NULL: no such index.  [thread: one per context | since 0.1] */
TN_API size_t tn_context_device_count(const tn_context *context);
TN_API tn_device *tn_context_device(tn_context *context, size_t index);

/* The device on which new arrays are made.  [thread: one per context | since 0.1] */
TN_API tn_device *tn_device_current(const tn_context *context);
/* TN_DEVICE: it belongs to another context.  Any failure to open it.  The error is kept. */
TN_API tn_status tn_device_set_current(tn_context *context, tn_device *device);

/* "cpu:0": the backend's name and the index within it.  Borrowed, valid until close.  NULL of
 * NULL, as the next one. */
TN_API const char *tn_device_name(const tn_device *device);
/* The backend's description of it.  Borrowed, valid until close. */
TN_API const struct tn_device_description *tn_device_describe(const tn_device *device);

/* Bytes of the device's pool that are in use, cached for reuse, and the maximum in use so far. */
struct tn_memory_use {
	uint32_t struct_size;
	uint64_t used;
	uint64_t cached;
	uint64_t peak;
};
/* All 0 if the device is NULL or not open.  TN_INVALID_ARGUMENT: no struct_size.  Not kept. */
TN_API tn_status tn_device_get_memory_use(const tn_device *device, struct tn_memory_use *use);

/* The total and the free memory of the device, as reported by its backend; opens the device if
 * necessary.  TN_UNSUPPORTED: the backend cannot tell.  Any failure to open it.  Not kept.
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status
tn_device_get_memory_information(tn_device *device, struct tn_memory_information *information);

/* Line `index`, from 0, of the device's current report: a key ("driver", "temperature") and its
 * text; opens the device if necessary.  TN_NOT_FOUND: there are no more lines.  Any failure to open
 * it.  Not kept.  [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_device_report_at(tn_device *device, size_t index,
						struct tn_report_line *line);

/* Waits for the work of every open device and returns the first asynchronous error, which the
 * context keeps; an index out of range that the device found is one (tn_take).  A device whose loss
 * was reported earlier is skipped.  TN_PENDING_ERROR: the context already keeps an error, and the
 * call did not wait.  [thread: one per context | since 0.1] */
TN_API tn_status tn_synchronize(tn_context *context);

/* ---- Errors ----------------------------------------------------------------------------------*/

/* The first error since the last clear, or NULL.  Borrowed, valid until the next clear.
 *
 * A call with a NULL operand keeps one that names the operation and the operand, wherever another
 * operand tells the context.  Of look-ups by name, those whose result is passed on keep one that
 * names the nearest name (tn_module_child, tn_module_own_parameter); those that ask keep none:
 * tn_device_available, tn_backend_available, and tn_module_parameter, whose status tells.
 * [thread: one per context | since 0.1] */
TN_API const struct tn_error_info *tn_error(const tn_context *context);
/* "OPERATION: TEXT" of that error, to print; never NULL: "no error" where there is none.  Borrowed,
 * valid until the next call of it.  [thread: one per context | since 0.1] */
TN_API const char *tn_error_text(tn_context *context);
/* Discards it.  [thread: one per context | since 0.1] */
TN_API void tn_error_clear(tn_context *context);

/* ---- Scopes ----------------------------------------------------------------------------------
 *
 * Every new array belongs to the innermost open scope of its context and is freed with it.  There
 * is always a root scope, freed by tn_context_close.
 */

/* Opens a scope.  TN_OUT_OF_MEMORY (kept).  [thread: one per context | since 0.1] */
TN_API tn_status tn_scope_begin(tn_context *context);
/* Frees the arrays of the innermost scope, except `result` (may be NULL), which moves to the parent
 * scope and is returned.  Works while an error is kept.  Without an open scope it only returns
 * `result`.  [thread: one per context | since 0.1] */
TN_API tn_array *tn_scope_end(tn_context *context, tn_array *result);
/* Takes a reference: the array outlives its scopes until tn_array_destroy.  Returns `array`.
 * [thread: one per context | since 0.1] */
TN_API tn_array *tn_keep(tn_array *array);

/* ---- Random state ----------------------------------------------------------------------------*/

/* The seed of all random numbers of the context, and the number of the next random stream.
 * Restoring them repeats a sequence; while work is captured (tenon/capture.h), setting changes
 * nothing, and the context keeps TN_NOT_CAPTURABLE.  [thread: one per context | since 0.1] */
struct tn_random_state {
	uint64_t seed;
	uint64_t stream;
};
TN_API struct tn_random_state tn_random_get_state(const tn_context *context);
TN_API void tn_random_set_state(tn_context *context, struct tn_random_state state);

/* ---- The ledger ------------------------------------------------------------------------------*/

/* The routes of one operation: how often it ran in the backend's own slot, was lent to another
 * backend, was computed in f32 because neither takes its f16 or bf16 arrays, was composed by the
 * core, or ran on the host with copies. */
struct tn_ledger_row {
	uint32_t struct_size;
	const char *operation; /* borrowed, valid until close */
	uint64_t native;
	uint64_t lent;
	uint64_t widened;
	uint64_t composed;
	uint64_t host;
	uint64_t bytes_moved; /* between host and device, for host runs */
	double seconds;       /* of all runs but native ones; of all with ledger_time */
};
TN_API size_t tn_ledger_count(const tn_context *context);
/* TN_INVALID_ARGUMENT: no such row. */
TN_API tn_status tn_ledger_at(const tn_context *context, size_t index, struct tn_ledger_row *row);
TN_API void tn_ledger_reset(tn_context *context);

#ifdef __cplusplus
}
#endif
#endif
