/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What opening a plugin's file does, by dlopen alone and through the loader.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "base/regular.h"
#include "file.h"
#include "frame.h"
#include "loader/elf_dynamic.h"
#include "loader/version.h"
#include "process_state.h"

static void *open_library(struct kit *kit)
{
	void *handle = dlopen(kit->which, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		kit_fail(kit, "%s", dlerror());
	return handle;
}

static void compare_note(struct kit *kit, const struct tn_backend_descriptor *d,
			 const struct tn_backend_note *note)
{
	kit_case(kit, KIT_FILE, "descriptor and note");
	if (d->magic != note->magic || d->abi_major != note->abi_major ||
	    d->abi_minor != note->abi_minor || d->oldest_host != note->oldest_host ||
	    d->flags != note->flags || memcmp(d->uuid, note->uuid, sizeof(d->uuid)) != 0)
		kit_fail(kit, "interface %u.%u from host minor %u, the note has %u.%u from %u",
			 d->abi_major, d->abi_minor, d->oldest_host, note->abi_major,
			 note->abi_minor, note->oldest_host);
	kit_pass(kit);
}

/* backend_NAME.so */
static void compare_name(struct kit *kit, const char *name)
{
	const char *slash = strrchr(kit->which, '/');
	char expected[64];
	kit_case(kit, KIT_FILE, "name of the file");
	snprintf(expected, sizeof(expected), "backend_%.31s.so", name ? name : "");
	if (!name || strcmp(slash ? slash + 1 : kit->which, expected) != 0)
		kit_fail(kit, "expected %s by the descriptor's name", expected);
	kit_pass(kit);
}

static void check_words(struct kit *kit, const struct tn_backend_descriptor *d)
{
	kit_case(kit, KIT_FILE, "version and licence");
	if (!d->version || !d->version[0])
		kit_fail(kit, "the descriptor has no version");
	if (!d->licence || !d->licence[0])
		kit_fail(kit, "the descriptor has no licence");
	if (!d->create || !d->destroy || !d->query)
		kit_fail(kit, "create, destroy or query is NULL");
	kit_pass(kit);
}

void check_file_descriptor(struct kit *kit)
{
	struct tn_backend_note note;
	void *handle;
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "the descriptor");
	if (!file_note(kit, &note) || !(handle = open_library(kit)))
		return;
	const struct tn_backend_descriptor *d = dlsym(handle, TN_BACKEND_SYMBOL);
	if (!d)
		return kit_fail(kit, "there is no '%s'", TN_BACKEND_SYMBOL);
	compare_note(kit, d, &note);
	compare_name(kit, d->name);
	check_words(kit, d);
}

static void refuse_ours(void *user, enum tn_elf_name kind, const char *name)
{
	struct kit *kit = user;
	if (kind != TN_ELF_UNDEFINED && kind != TN_ELF_WEAK)
		return;
	if (!strncmp(name, "tn_", 3) || !strncmp(name, "tenon_", 6))
		kit_fail(kit, "it needs '%s' of Tenon: a plugin must not link to Tenon", name);
}

void check_file_symbols(struct kit *kit)
{
	struct tn_elf_dynamic dynamic;
	struct stat information;
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "undefined symbols");
	int fd = tn_regular_open(kit->which, &information);
	if (fd < 0 || tn_elf_read_dynamic(fd, &dynamic, refuse_ours, kit, &kit->error))
		kit_fail(kit, "%s", fd < 0 ? "it cannot be read" : kit->error.text);
	if (fd >= 0)
		close(fd);
	/* The loader names the first undefined symbol. */
	if (open_library(kit))
		kit_pass(kit);
}

void check_file_quiet(struct kit *kit)
{
	struct process_state before, after;
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "dlopen");
	process_state_take(&before);
	void *handle = open_library(kit);
	process_state_take(&after);
	if (!handle)
		return;
	process_state_expect(kit, &before, &after, "opening it");
	if (after.threads > before.threads)
		kit_fail(kit, "opening it started %u threads", after.threads - before.threads);
	if (after.descriptors > before.descriptors)
		kit_fail(kit, "opening it left %u descriptors open",
			 after.descriptors - before.descriptors);
	kit_pass(kit);
}

static int is_mapped(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (handle)
		dlclose(handle);
	return handle != NULL;
}

static void take_nothing(void *user, enum tn_elf_name kind, const char *name)
{
	(void)user;
	(void)kind;
	(void)name;
}

void check_file_resident(struct kit *kit)
{
	struct target target;
	struct tn_elf_dynamic dynamic;
	struct stat information;
	if (file_is_built_in(kit))
		return;
	target_load(&target, kit, NULL);
	kit_case(kit, KIT_FILE, "mapped after the last destroy");
	if (!target.backend)
		kit_skip(kit, "it does not load here");
	else
		kit_pass(kit);
	int loaded = target.backend != NULL;
	target_unload(&target);
	if (loaded && !is_mapped(kit->which))
		kit_fail(kit, "it was unmapped, with the code of its threads");
	int fd = tn_regular_open(kit->which, &information);
	if (fd >= 0 && !tn_elf_read_dynamic(fd, &dynamic, take_nothing, NULL, &kit->error) &&
	    !dynamic.stays)
		kit_remark(kit, "link it with -Wl,-z,nodelete, so that it stays in every host");
	if (fd >= 0)
		close(fd);
}

/* Loads it as a host of that version: the outcome must follow from the note, and a refused file
 * must not be mapped. */
static void load_as(struct kit *kit, const struct tn_abi_version *host,
		    const struct tn_backend_note *note)
{
	struct tn_abi_version plugin = {note->abi_major, note->abi_minor, note->oldest_host};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct target target;
	uint32_t effective;
	tn_status expected = tn_abi_negotiate(host, &plugin, &effective, &error);
	int was_mapped = is_mapped(kit->which);
	target_load(&target, kit, host);
	kit_case(kit, KIT_FILE, "a host of interface %u.%u", host->major, host->minor);
	if (expected == TN_ABI_MISMATCH && target.status != TN_ABI_MISMATCH)
		kit_fail(kit, "%s, expected ABI_MISMATCH", tn_status_name(target.status));
	else if (expected == TN_ABI_MISMATCH && !was_mapped && is_mapped(kit->which))
		kit_fail(kit, "refused, but its code was mapped");
	else if (!expected && target.status == TN_ABI_MISMATCH)
		kit_fail(kit, "refused: %s", target.text);
	else if (target.backend && target.backend->plugin.abi_minor != effective)
		kit_fail(kit, "the effective minor is %u, expected %u",
			 target.backend->plugin.abi_minor, effective);
	kit_pass(kit);
	target_unload(&target);
}

void check_file_hosts(struct kit *kit)
{
	static const struct tn_abi_version hosts[] = {
		{TN_ABI_MAJOR + 1, 0, 0},
		{TN_ABI_MAJOR, TN_ABI_MINOR + 1, 0},
		{TN_ABI_MAJOR, TN_ABI_MINOR, 0},
		{TN_ABI_MAJOR, TN_ABI_MINOR - 1, 0}, /* if there is one */
	};
	const size_t n_hosts = sizeof(hosts) / sizeof(hosts[0]) - (TN_ABI_MINOR == 0);
	struct tn_backend_note note;
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "the note");
	if (!file_note(kit, &note))
		return;
	for (size_t i = 0; i < n_hosts; i++)
		load_as(kit, &hosts[i], &note);
}
