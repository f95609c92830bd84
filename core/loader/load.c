/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The stages of one plugin, in order; each passes or gives a status and a text for the report's
 * row.  No code of a plugin runs before its note was read and negotiated.
 *
 * The file is opened once and inspected through that descriptor, but dlopen gets its real path:
 * glibc knows objects by name, and /proc/self/fd/N names another file as soon as N is used again,
 * so that every descriptor would have to stay open for ever, and $ORIGIN, debuggers and sanitizers
 * would see that name.  Instead the path must lead to the inspected file (device, inode, size,
 * times) before and after dlopen.  That finds an installation which goes on meanwhile.  It would
 * not stop a user who can write to the folder and swaps the file in between.  Where somebody has
 * named the folder, that is their choice; elsewhere, and in a privileged process, nobody else can
 * write to the file, its folder or one above (base/trust.h).
 */
#include "loader/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/place.h"
#include "base/regular.h"
#include "base/trust.h"
#include "loader/allowed.h"
#include "loader/elf.h"
#include "loader/instance.h"
#include "loader/names.h"
#include "loader/plugin_options.h"
#include "loader/registry.h"
#include "loader/report.h"
#include "loader/stage.h"
#include "loader/version.h"

static uint64_t microseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* ---- search ----------------------------------------------------------------------------------*/

static tn_status open_file(struct tn_candidate *candidate, struct tn_error_info *error)
{
	struct stat information;
	candidate->fd = tn_regular_open(candidate->path, &information);
	if (candidate->fd == TN_NOT_REGULAR)
		return tn_fail(error, TN_BAD_PLUGIN, "search", "not a regular file");
	if (candidate->fd < 0) {
		int problem = errno;
		tn_status status =
			problem == EACCES || problem == EPERM ? TN_REFUSED : TN_BAD_PLUGIN;
		/* Not even a dangling symlink: the path given to the API does not exist. */
		if (problem == ENOENT && lstat(candidate->path, &information))
			status = TN_NO_PLUGIN;
		return tn_fail(error, status, "search", "the file cannot be opened: %s",
			       strerror(problem));
	}
	candidate->device = information.st_dev;
	candidate->inode = information.st_ino;
	candidate->size = information.st_size;
	candidate->modified = information.st_mtim;
	candidate->changed = information.st_ctim;
	candidate->identified = 1;
	candidate->real_path = realpath(candidate->path, NULL);
	if (!candidate->real_path)
		return tn_fail(error, errno == ENOMEM ? TN_OUT_OF_MEMORY : TN_BAD_PLUGIN, "search",
			       "its real path cannot be resolved: %s", strerror(errno));
	return TN_OK;
}

static tn_status search(const struct tn_loading *loading, size_t i, struct tn_error_info *error)
{
	struct tn_candidate *candidate = &loading->candidates.list[i];
	tn_plugin_enter(loading, candidate, TN_STAGE_SEARCH);
	tn_status status = tn_plugin_allowed(loading, candidate->name, error);
	if (status)
		return status;
	tn_status fault = tn_simulation_of(&loading->simulation, candidate->name);
	if (fault)
		return tn_fail(error, fault, "search", "simulated by TENON_SIMULATE");
	if (candidate->built_in)
		return TN_OK;
	const char *slash = strrchr(candidate->path, '/');
	char expected[64];
	snprintf(expected, sizeof(expected), "%s_%s.so", loading->kind->name, candidate->name);
	if (!slash || strcmp(slash + 1, expected) ||
	    !tn_search_is_name(candidate->name, strlen(candidate->name)))
		return tn_fail(error, TN_BAD_PLUGIN, "search",
			       "expected a file name %s_NAME.so, with NAME of a-z, 0-9 and '_'",
			       loading->kind->name);
	status = open_file(candidate, error);
	if (status)
		return status;
	const struct tn_candidate *list = loading->candidates.list;
	for (size_t j = 0; j < i; j++) {
		/* The same file fails again under the same name; under another name it may load. */
		if (list[j].identified && list[j].device == candidate->device &&
		    list[j].inode == candidate->inode &&
		    (!list[j].row->status || !strcmp(list[j].name, candidate->name)))
			return tn_fail(error, TN_DUPLICATE, "search", "the same file as %s",
				       list[j].path);
	}
	return TN_OK;
}

/* ---- inspect, negotiate ----------------------------------------------------------------------*/

static tn_status inspect(const struct tn_loading *loading, struct tn_candidate *candidate,
			 struct tn_error_info *error)
{
	tn_plugin_enter(loading, candidate, TN_STAGE_INSPECT);
	const int is_privileged = loading->options->parameters->privileged > 0;
	if (is_privileged || candidate->is_guarded) {
		tn_status status = tn_trust_check(candidate->real_path, is_privileged, error);
		if (status)
			return status;
	}
	return tn_elf_read_note(candidate->fd, loading->kind, &candidate->note, error);
}

/* A built-in backend has no file, hence no note. */
static void note_of_descriptor(const struct tn_backend_descriptor *descriptor,
			       struct tn_backend_note *note)
{
	note->magic = descriptor->magic;
	note->abi_major = descriptor->abi_major;
	note->abi_minor = descriptor->abi_minor;
	note->oldest_host = descriptor->oldest_host;
	note->flags = descriptor->flags;
	memcpy(note->uuid, descriptor->uuid, sizeof(note->uuid));
}

static tn_status negotiate(const struct tn_loading *loading, size_t i, uint32_t *effective,
			   struct tn_error_info *error)
{
	static const uint8_t none[16];
	struct tn_candidate *candidate = &loading->candidates.list[i];
	const struct tn_backend_note *note = &candidate->note;
	struct tn_abi_version plugin = {note->abi_major, note->abi_minor, note->oldest_host};
	tn_plugin_enter(loading, candidate, TN_STAGE_NEGOTIATE);
	candidate->row->abi_major = note->abi_major;
	candidate->row->abi_minor = note->abi_minor;
	tn_status status = tn_abi_negotiate(&loading->host, &plugin, effective, error);
	if (status)
		return status;
	if (note->flags & ~loading->kind->flags)
		return tn_fail(error, TN_ABI_MISMATCH, "negotiate",
			       "flags %#" PRIx64 ": expected %s%#" PRIx64, note->flags,
			       loading->kind->flags ? "bits of " : "", loading->kind->flags);
	if (!memcmp(note->uuid, none, sizeof(none)))
		return tn_fail(error, TN_BAD_PLUGIN, "negotiate",
			       "its UUID is all zero: make one with uuidgen");
	const struct tn_candidate *list = loading->candidates.list;
	for (size_t j = 0; j < i; j++) {
		/* An unusable file does not exclude a later copy, which may be intact. */
		if (list[j].row->status)
			continue;
		if (!memcmp(list[j].note.uuid, note->uuid, sizeof(none)))
			return tn_fail(error, TN_DUPLICATE, "negotiate", "the same UUID as %s",
				       list[j].path ? list[j].path : list[j].name);
		if (!strcmp(list[j].name, candidate->name))
			return tn_fail(error, TN_DUPLICATE, "negotiate",
				       "%s of the same name was found first",
				       list[j].path ? list[j].path : "the built-in one");
	}
	candidate->row->abi_effective = *effective;
	return TN_OK;
}

/* ---- open, describe --------------------------------------------------------------------------*/

static int is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Does the path still lead to the file that was inspected, and is that as it was? */
static tn_status check_unchanged(const struct tn_candidate *candidate, struct tn_error_info *error)
{
	struct stat now;
	if (!stat(candidate->real_path, &now) && now.st_dev == candidate->device &&
	    now.st_ino == candidate->inode && now.st_size == candidate->size &&
	    is_same_time(&now.st_mtim, &candidate->modified) &&
	    is_same_time(&now.st_ctim, &candidate->changed))
		return TN_OK;
	return tn_fail(error, TN_BAD_PLUGIN, "open", "the file was replaced while it was loaded");
}

static tn_status open_library(const struct tn_loading *loading,
			      const struct tn_candidate *candidate,
			      const struct tn_backend_descriptor **descriptor,
			      struct tn_error_info *error)
{
	tn_plugin_enter(loading, candidate, TN_STAGE_OPEN);
	if (tn_place_is_static())
		return tn_fail(error, TN_UNSUPPORTED, "open",
			       "the program is fully static: it has no dynamic loader and can use "
			       "only backends that are linked into it");
	tn_status status = check_unchanged(candidate, error);
	if (status)
		return status;
	/* The handle is never closed: threads of vendor libraries outlive an instance. */
	errno = 0;
	void *handle = dlopen(candidate->real_path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle) {
		/* dlerror's text begins with the file at fault; a file other than the plugin is a
		 * library it needs.  It does not always say that memory was the reason. */
		const int reason = errno;
		const char *text = dlerror();
		if (!text)
			text = "dlopen failed";
		if (reason == ENOMEM)
			return tn_fail(error, TN_OUT_OF_MEMORY, "open", "no memory: %s", text);
		size_t length = strlen(candidate->real_path);
		int itself = !strncmp(text, candidate->real_path, length);
		return tn_fail(error, itself ? TN_BAD_PLUGIN : TN_MISSING_LIBRARY, "open", "%s",
			       text);
	}
	status = check_unchanged(candidate, error);
	if (status)
		return status;
	*descriptor = dlsym(handle, loading->kind->symbol);
	if (!*descriptor)
		return tn_fail(error, TN_BAD_PLUGIN, "open", "it does not export '%s'",
			       loading->kind->symbol);
	return TN_OK;
}

/* Copies the part of the descriptor that both versions have.  It repeats the note: a mismatch
 * reveals a plugin linked from parts of two others. */
static tn_status describe(const struct tn_loading *loading, const struct tn_candidate *candidate,
			  const struct tn_backend_descriptor *theirs, struct tn_plugin *plugin,
			  struct tn_error_info *error)
{
	struct tn_backend_descriptor *own = &plugin->descriptor;
	struct tn_backend_note again = {0};
	tn_plugin_enter(loading, candidate, TN_STAGE_DESCRIBE);
	size_t size = theirs->struct_size < sizeof(*own) ? theirs->struct_size : sizeof(*own);
	memcpy(own, theirs, size);
	note_of_descriptor(own, &again);
	if (again.magic != TN_BACKEND_MAGIC)
		return tn_fail(error, TN_BAD_PLUGIN, "describe",
			       "the descriptor's magic is %#x, expected %#x", again.magic,
			       TN_BACKEND_MAGIC);
	if (memcmp(&again, &candidate->note, sizeof(again)))
		return tn_fail(error, TN_BAD_PLUGIN, "describe",
			       "the descriptor (interface %u.%u) and the note (%u.%u) disagree in "
			       "version, UUID or flags",
			       again.abi_major, again.abi_minor, candidate->note.abi_major,
			       candidate->note.abi_minor);
	if (!own->name || strcmp(own->name, candidate->name))
		return tn_fail(error, TN_BAD_PLUGIN, "describe",
			       "the descriptor's name is '%.64s', the file's '%s'",
			       own->name ? own->name : "", candidate->name);
	if (!own->version || !own->licence)
		return tn_fail(error, TN_BAD_PLUGIN, "describe", "the descriptor has no %s",
			       own->version ? "licence" : "version");
	if (!own->create || !own->destroy || !own->query)
		return tn_fail(error, TN_BAD_PLUGIN, "describe", "the descriptor has no %s",
			       !own->create    ? "create"
			       : !own->destroy ? "destroy"
					       : "query");
	tn_status status = tn_plugin_options_check(own, error);
	if (status)
		return status;
	memcpy(plugin->name, candidate->name, sizeof(plugin->name));
	memcpy(plugin->uuid, own->uuid, sizeof(plugin->uuid));
	plugin->version = own->version;
	return tn_report_set(&candidate->row->version, own->version) ? TN_OK : TN_OUT_OF_MEMORY;
}

/* ---- create ----------------------------------------------------------------------------------*/

static int is_refusal(const struct tn_plugin_kind *kind, tn_status status)
{
	const tn_status *refusal = kind->refusals;
	while (*refusal && *refusal != status)
		refusal++;
	return *refusal != TN_OK;
}

/* A value that the program gave and that is wrong also fails the whole opening. */
static tn_status take_options(struct tn_loading *loading, const struct tn_candidate *candidate,
			      struct tn_plugin *plugin, struct tn_error_info *error)
{
	const struct tn_registry_options *options = loading->options;
	tn_status status =
		tn_plugin_options_take(plugin, &options->given, options->parameters, error);
	const int is_wrong = status == TN_NOT_FOUND || status == TN_INVALID_ARGUMENT;
	if (is_wrong && !loading->refusal.status)
		loading->refusal = *error;
	if (status)
		return status == TN_FORMAT ? TN_PROBE_FAILED : status;
	return tn_report_set_options(candidate->row, plugin->options, plugin->n_options)
		       ? TN_OK
		       : TN_OUT_OF_MEMORY;
}

static tn_status create_instance(struct tn_loading *loading, const struct tn_candidate *candidate,
				 const struct tn_backend_descriptor *origin,
				 struct tn_plugin *plugin, struct tn_error_info *error)
{
	tn_plugin_enter(loading, candidate, TN_STAGE_CREATE);
	tn_status status = take_options(loading, candidate, plugin, error);
	if (status)
		return status;
	status = tn_instance_take(loading->options, origin, candidate->real_path, plugin, error);
	if (!status || is_refusal(plugin->kind, status))
		return status;
	return tn_plugin_absence(status, "create", error);
}

/* What follows are [instance] entries. */
static tn_status take_instance(struct tn_loading *loading, struct tn_candidate *candidate,
			       struct tn_plugin *plugin, struct tn_error_info *error)
{
	tn_instance_lock(plugin->shared);
	tn_status status = loading->kind->take(loading, candidate, plugin, error);
	tn_instance_unlock(plugin->shared);
	return status;
}

/* ---- all stages ------------------------------------------------------------------------------*/

static tn_status run_stages(struct tn_loading *loading, size_t i, uint32_t last,
			    struct tn_plugin *plugin, struct tn_error_info *error)
{
	struct tn_candidate *candidate = &loading->candidates.list[i];
	const struct tn_backend_descriptor *descriptor = candidate->built_in;
	tn_status status = search(loading, i, error);
	if (!status && descriptor)
		note_of_descriptor(descriptor, &candidate->note);
	else if (!status)
		status = inspect(loading, candidate, error);
	if (!status)
		status = negotiate(loading, i, &plugin->abi_minor, error);
	if (status || last == TN_STAGE_NEGOTIATE ||
	    (last == TN_STAGE_DESCRIBE && candidate->note.flags & loading->kind->once))
		return status;
	if (!descriptor)
		status = open_library(loading, candidate, &descriptor, error);
	if (!status)
		status = describe(loading, candidate, descriptor, plugin, error);
	if (last == TN_STAGE_DESCRIBE)
		return status ? status : take_options(loading, candidate, plugin, error);
	if (!status)
		status = create_instance(loading, candidate, descriptor, plugin, error);
	if (!status)
		status = take_instance(loading, candidate, plugin, error);
	if (!status)
		tn_plugin_enter(loading, candidate, TN_STAGE_READY);
	return status;
}

/* Runs the stages and fills the row, but for its text. */
static tn_status run_timed(struct tn_loading *loading, size_t i, uint32_t last,
			   struct tn_plugin *plugin, struct tn_error_info *error)
{
	struct tn_candidate *candidate = &loading->candidates.list[i];
	struct tn_load_row *row = candidate->row;
	uint64_t begin = microseconds();
	tn_error_reset(error);
	tn_status status = run_stages(loading, i, last, plugin, error);
	if (loading->patience)
		tn_patience_note(loading->patience, NULL, NULL, row->stage);
	if (candidate->fd >= 0)
		close(candidate->fd);
	candidate->fd = -1;
	error->text[sizeof(error->text) - 1] = '\0';
	row->status = status;
	row->microseconds = microseconds() - begin;
	tn_log_format(loading->options->logger, TN_LOG_DEBUG, "loader", "%s: %s at stage %s%s%s",
		      candidate->path ? candidate->path : row->name, tn_status_name(status),
		      tn_stage_name(row->stage), error->text[0] ? ": " : "",
		      status ? error->text : "");
	return status;
}

tn_status tn_plugin_load(struct tn_loading *loading, size_t i, struct tn_plugin **plugin)
{
	struct tn_load_row *row = loading->candidates.list[i].row;
	struct tn_error_info error;
	struct tn_plugin *made = tn_mem_zeroed(1, loading->kind->size);
	*plugin = NULL;
	if (!made)
		return TN_OUT_OF_MEMORY;
	made->kind = loading->kind;
	tn_status status = run_timed(loading, i, TN_STAGE_READY, made, &error);
	if (!status) {
		*plugin = made;
		return TN_OK;
	}
	tn_instance_list_variables(made->shared, loading->options->parameters);
	tn_plugin_destroy(made, 1);
	row->native_code = error.native_code;
	if (status == TN_OUT_OF_MEMORY || !tn_report_set(&row->text, error.text))
		return TN_OUT_OF_MEMORY;
	return TN_OK;
}

/* Up to a stage before `create`. */
static tn_status look_at(struct tn_loading *loading, size_t i, uint32_t last)
{
	struct tn_plugin unmade = {.kind = loading->kind};
	struct tn_error_info error;
	tn_status status = run_timed(loading, i, last, &unmade, &error);
	tn_plugin_options_release(&unmade);
	if (status == TN_OUT_OF_MEMORY ||
	    (status && !tn_report_set(&loading->candidates.list[i].row->text, error.text)))
		return TN_OUT_OF_MEMORY;
	return TN_OK;
}

tn_status tn_plugin_inspect(struct tn_loading *loading, size_t i)
{
	return look_at(loading, i, TN_STAGE_NEGOTIATE);
}

tn_status tn_plugin_list(struct tn_loading *loading, size_t i)
{
	return look_at(loading, i, TN_STAGE_DESCRIBE);
}

void tn_plugin_destroy(struct tn_plugin *plugin, int destroy_instance)
{
	if (!plugin)
		return;
	tn_instance_give(plugin, destroy_instance);
	tn_plugin_options_release(plugin);
	if (plugin->kind->release)
		plugin->kind->release(plugin);
	tn_mem_free(plugin);
}
