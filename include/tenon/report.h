/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The load report: which backends were found, the stage each reached, and why the others are
 * absent.  tn_context_open makes one; tn_probe makes one for a single file, in a separate process.
 *
 * Everything that a report refers to is borrowed and valid until tn_load_report_destroy.
 */
#ifndef TENON_REPORT_H
#define TENON_REPORT_H

#include <tenon/types.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_load_report tn_load_report;

/* How a backend was found. */
enum {
	TN_FOUND_NOWHERE = 0,    /* described by a data file or requested by name, without a file */
	TN_FOUND_BUILT_IN = 1,   /* part of the library */
	TN_FOUND_API = 2,        /* a path given to the API */
	TN_FOUND_VARIABLE = 3,   /* TENON_PLUGIN_PATH */
	TN_FOUND_INSTALLED = 4,  /* a folder of installed plugins: tenon(7), FILES */
	TN_FOUND_REGISTERED = 5, /* linked into the program: tn_backend_register */
};

/* The stage that a backend reached: the one that failed, or TN_STAGE_READY. */
enum {
	TN_STAGE_SEARCH = 0,    /* name, duplicates, exclusion */
	TN_STAGE_INSPECT = 1,   /* ownership, ELF header and note, without opening it */
	TN_STAGE_NEGOTIATE = 2, /* versions of the interface */
	TN_STAGE_OPEN = 3,      /* dlopen */
	TN_STAGE_DESCRIBE = 4,  /* the descriptor */
	TN_STAGE_CREATE = 5,    /* the instance */
	TN_STAGE_QUERY = 6,     /* the tables */
	TN_STAGE_DEVICES = 7,   /* counting and describing devices */
	TN_STAGE_READY = 8,
};

/* An option of a backend: NAME is "backend.name" on the command line and for tn_context_open.  A
 * later version may append fields, as below.  A string is "" where there is none. */
struct tn_load_option {
	uint32_t struct_size;
	uint32_t type;        /* TN_OPTION_... */
	const char *name;     /* "cudnn" */
	const char *variable; /* that sets it too */
	const char *standard; /* its default */
	const char *value;
	const char *origin;  /* of the value: "program", "environment" or "default" */
	const char *choices; /* of TN_OPTION_CHOICE, with commas between */
	const char *help;    /* one phrase */
	double least, most;  /* of TN_OPTION_INTEGER and TN_OPTION_NUMBER; infinite: no bound */
};

/* One backend.  A later version may append fields: check struct_size before you read a field that
 * is newer than your oldest library.  Strings are never NULL unless stated. */
struct tn_load_row {
	uint32_t struct_size;
	tn_status status; /* TN_OK, or the reason for the absence */
	const char *name;
	const char *path;     /* NULL: built in, or no file */
	const char *text;     /* the reason as originally reported; "" if TN_OK */
	const char *version;  /* "": unknown */
	const char *hardware; /* the hardware it drives, from its data file ("NVIDIA GPU"); "" */
	const char *packages; /* the packages to install, from its data file; "" */
	uint32_t found;       /* TN_FOUND_... */
	uint32_t stage;       /* TN_STAGE_... */
	uint32_t abi_major;   /* from the file's note; 0.0: unknown */
	uint32_t abi_minor;
	uint32_t abi_effective; /* the effective minor */
	int hardware_seen;      /* 1: the data file's hardware signs are present */
	int selected;           /* 1: the selected device is one of its devices */
	uint32_t selected_device;
	int64_t native_code; /* the vendor library's code, 0 if none */
	uint64_t microseconds;
	const struct tn_device_description *const *devices; /* n_devices; NULL when 0 */
	const struct tn_load_option *const *options;        /* n_options; NULL when 0 */
	uint32_t n_devices;
	uint32_t n_options;
};

/* The number of rows, and row i (NULL past the end): built-in backends, then files in search order,
 * then backends that are known but have no file.  NULL as report: 0, NULL.
 * [thread: one per report | since 0.1] */
TN_API size_t tn_load_report_count(const tn_load_report *report);
TN_API const struct tn_load_row *tn_load_report_at(const tn_load_report *report, size_t i);

/* The row of the backend of that name that is in use, else of the one that reached the latest
 * stage; NULL: none.  [thread: one per report | since 0.1] */
TN_API const struct tn_load_row *tn_load_report_find(const tn_load_report *report,
						     const char *name);

/* 1: the selected device is not the first one of the selection, or only the built-in backend was
 * available.  [thread: one per report | since 0.1] */
TN_API int tn_load_report_fell_back(const tn_load_report *report);

/* The selection as it was read ("cuda:1!"; "auto" if there was none).
 * [thread: one per report | since 0.1] */
TN_API const char *tn_load_report_selection(const tn_load_report *report);

/* The number of logged notices, one line each, and notice i (NULL past the end).
 * [thread: one per report | since 0.1] */
TN_API size_t tn_load_report_notice_count(const tn_load_report *report);
TN_API const char *tn_load_report_notice(const tn_load_report *report, size_t i);

/* The report as a table in plain text, or as JSON (one object: selection, fell_back, notices,
 * backends).  Made on the first call.  NULL: out of memory.
 * [thread: one per report | since 0.1] */
TN_API const char *tn_load_report_text(const tn_load_report *report);
TN_API const char *tn_load_report_json(const tn_load_report *report);

/* 1: the two descriptions are of the same physical device, reported by two backends: they have an
 * identity in common, and it is not the PCI address of two different parts (`slice`).  Devices
 * without an identity are never the same.  Either may be NULL: 0.  Both remain in the report and
 * can be used.  [thread: any | since 0.1] */
TN_API int tn_device_same(const struct tn_device_description *a,
			  const struct tn_device_description *b);

/* Takes NULL.  [thread: one per report | since 0.1] */
TN_API void tn_load_report_destroy(tn_load_report *report);

/* Names of TN_FOUND_... ("installed"), TN_STAGE_... ("create") and TN_OPTION_... ("choice");
 * "unknown" for other numbers.  Always valid.  [thread: any | since 0.1] */
TN_API const char *tn_found_name(uint32_t found);
TN_API const char *tn_stage_name(uint32_t stage);
TN_API const char *tn_option_type_name(uint32_t type);

/* Milliseconds that a file that works does not need to be probed. */
#define TN_PROBE_TIMEOUT_MS 10000

/* Loads the plugin file `path` in a separate process, up to its devices' descriptions, and makes a
 * report with one row (owned: tn_load_report_destroy).  A file that crashes, or does not finish
 * within timeout_ms, has the status TN_PROBE_FAILED; the text says which, and where.
 *   TN_INVALID_ARGUMENT: no path, or a timeout of 0.  TN_NOT_FOUND: the helper program is not
 *   installed.  TN_IO: it could not be started.  TN_OUT_OF_MEMORY.
 * error may be NULL.  [thread: any | since 0.1] */
TN_API tn_status tn_probe(const char *path, uint32_t timeout_ms, tn_load_report **report,
			  struct tn_error_info *error);

/* The same for every file that a context would search: `paths` (n_paths, may be 0; absolute), then
 * TENON_PLUGIN_PATH, then the installed ones, each in a separate process with timeout_ms.  The
 * report (owned) has a row for each file, in search order, then for each backend that is known but
 * has no file; no row is selected.  Errors as above.  error may be NULL.  [thread: any | since
 * 0.1] */
TN_API tn_status tn_probe_all(const char *const *paths, size_t n_paths, uint32_t timeout_ms,
			      tn_load_report **report, struct tn_error_info *error);

#ifdef __cplusplus
}
#endif
#endif
