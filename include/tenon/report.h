/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The load report: which backends were found, how far each came, and why those that are absent are.
 * tn_context_open gives it; tn_probe makes one for a single file, in a process of its own.
 *
 * All that is reached through a report is borrowed and valid until tn_load_report_destroy.
 */
#ifndef TENON_REPORT_H
#define TENON_REPORT_H

#include <tenon/backend.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_load_report tn_load_report;

/* How a backend was found. */
enum {
	TN_FOUND_NOWHERE = 0,   /* known by a data file or asked for by name; there is no file */
	TN_FOUND_BUILT_IN = 1,  /* part of the library */
	TN_FOUND_API = 2,       /* a path given to the API */
	TN_FOUND_VARIABLE = 3,  /* TENON_PLUGIN_PATH */
	TN_FOUND_INSTALLED = 4, /* the folder of installed plugins */
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

/* One backend.  A later version may append fields: look at struct_size before you read one that is
 * newer than your oldest library.  Strings are never NULL unless it says so. */
struct tn_load_row {
	uint32_t struct_size;
	tn_status status; /* TN_OK, or the name of the absence */
	const char *name;
	const char *path;     /* NULL: built in, or no file */
	const char *text;     /* why, in the words of who said it; "" when TN_OK */
	const char *version;  /* "": not known */
	const char *hardware; /* what it drives, by its data file ("NVIDIA GPU"); "" */
	const char *packages; /* what brings it, by its data file; "" */
	uint32_t found;       /* TN_FOUND_... */
	uint32_t stage;       /* TN_STAGE_... */
	uint32_t abi_major;   /* by the file's note; 0.0: not known */
	uint32_t abi_minor;
	uint32_t abi_effective; /* the minor that was agreed on */
	uint32_t hardware_seen; /* 1: the data file's hardware signs are there */
	uint32_t selected;      /* 1: the first choice is one of its devices */
	uint32_t selected_device;
	int64_t native_code; /* the vendor library's code, 0 if none */
	uint64_t microseconds;
	const struct tn_device_description *devices; /* n_devices; NULL when 0 */
	uint32_t n_devices;
	uint32_t reserved;
};

/* The number of rows, and row i (NULL past the end): built-in backends, then files in search order,
 * then what is known and has no file.  NULL as report: 0, NULL.
 * [thread: one per report | since 0.1] */
TN_API size_t tn_load_report_count(const tn_load_report *report);
TN_API const struct tn_load_row *tn_load_report_row(const tn_load_report *report, size_t i);

/* The row of the backend that is used, else of the one of that name that came furthest; NULL: none.
 * [thread: one per report | since 0.1] */
TN_API const struct tn_load_row *tn_load_report_find(const tn_load_report *report,
						     const char *name);

/* 1: the first choice is not what the selection names first, or nothing but the built-in backend was
 * there.  [thread: one per report | since 0.1] */
TN_API int tn_load_report_fell_back(const tn_load_report *report);

/* The selection as it was read ("cuda:1!"; "auto" when there was none).
 * [thread: one per report | since 0.1] */
TN_API const char *tn_load_report_selection(const tn_load_report *report);

/* The notices that were logged, one line each: how many, and number i (NULL past the end).
 * [thread: one per report | since 0.1] */
TN_API size_t tn_load_report_notice_count(const tn_load_report *report);
TN_API const char *tn_load_report_notice(const tn_load_report *report, size_t i);

/* The report as a table in plain text, or as JSON (one object: selection, fell_back, notices,
 * backends).  Made on the first call.  NULL: out of memory.
 * [thread: one per report | since 0.1] */
TN_API const char *tn_load_report_text(const tn_load_report *report);
TN_API const char *tn_load_report_json(const tn_load_report *report);

/* 1: the two descriptions are of one physical device, as two backends see it: they have an identity,
 * and it is the same.  Devices without an identity are never the same.  Either may be NULL: 0.  Both
 * stay in the report and can be used; what shows them says that they are one.
 * [thread: any | since 0.1] */
TN_API int tn_device_same(const struct tn_device_description *a,
			  const struct tn_device_description *b);

/* Takes NULL.  [thread: one per report | since 0.1] */
TN_API void tn_load_report_destroy(tn_load_report *report);

/* Words for TN_FOUND_... ("installed") and TN_STAGE_... ("create"); "unknown" for other numbers.
 * Valid for ever.  [thread: any | since 0.1] */
TN_API const char *tn_found_name(uint32_t found);
TN_API const char *tn_stage_name(uint32_t stage);

/* Loads the plugin file `path` in a process of its own, up to its devices' descriptions, and gives a
 * report with one row (owned: tn_load_report_destroy).  A file that crashes, or is not done after
 * timeout_ms (0: 10 seconds), has the status TN_PROBE_FAILED; the text says which, and where.
 *   TN_INVALID_ARGUMENT: no path.  TN_NOT_FOUND: the helper program is not installed.
 *   TN_IO: it could not be started.  TN_OUT_OF_MEMORY.
 * error may be NULL.  [thread: any | since 0.1] */
TN_API tn_status tn_probe(const char *path, uint32_t timeout_ms, tn_load_report **report,
			  struct tn_error_info *error);

/* The same for every file that a context would look at: `paths` (n_paths, may be 0; absolute), then
 * TENON_PLUGIN_PATH, then the installed ones, each in a process of its own and given timeout_ms.  The
 * report (owned) has a row a file, in the order of the search, then what is known and has no file;
 * nothing is selected in it.  Errors as above.  error may be NULL.  [thread: any | since 0.1] */
TN_API tn_status tn_probe_all(const char *const *paths, size_t n_paths, uint32_t timeout_ms,
			      tn_load_report **report, struct tn_error_info *error);

#ifdef __cplusplus
}
#endif
#endif
