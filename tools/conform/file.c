/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The static properties of a plugin's file, which is read but not executed.
 */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/regular.h"
#include "frame.h"
#include "loader/elf.h"
#include "loader/elf_dynamic.h"

/* The names reported for one kind, as far as they fit. */
struct names {
	enum tn_elf_name kind;
	unsigned n;
	char list[64][96];
};

static void take_name(void *user, enum tn_elf_name kind, const char *name)
{
	struct names *names = user;
	if (kind == names->kind && names->n < sizeof(names->list) / sizeof(names->list[0]))
		snprintf(names->list[names->n++], sizeof(names->list[0]), "%s", name);
}

int file_is_built_in(struct kit *kit)
{
	if (!target_is_built_in(kit->which))
		return 0;
	kit_skip(kit, "it is built in: there is no file");
	return 1;
}

static int open_file(struct kit *kit)
{
	struct stat information;
	int fd = tn_regular_open(kit->which, &information);
	if (fd < 0)
		kit_fail(kit, "%s", fd == TN_NOT_REGULAR ? "not a regular file" : strerror(errno));
	return fd;
}

int file_note(struct kit *kit, struct tn_backend_note *note)
{
	int fd = open_file(kit);
	tn_status status =
		fd < 0 ? TN_IO : tn_elf_read_note(fd, &tn_backend_kind, note, &kit->error);
	if (fd >= 0)
		close(fd);
	if (status)
		kit_fail(kit, "%s", kit->error.text);
	return !status;
}

/* Reads the dynamic section and reports its names; 0 on failure (the case has failed). */
static int read_dynamic(struct kit *kit, struct tn_elf_dynamic *dynamic,
			void (*take)(void *user, enum tn_elf_name kind, const char *name),
			void *user)
{
	int fd = open_file(kit);
	tn_status status =
		fd < 0 ? TN_IO : tn_elf_read_dynamic(fd, dynamic, take, user, &kit->error);
	if (fd >= 0)
		close(fd);
	if (status)
		kit_fail(kit, "%s", kit->error.text);
	return !status;
}

static void check_versions(struct kit *kit, const struct tn_backend_note *note)
{
	static const uint8_t none[16];
	kit_case(kit, KIT_FILE, "versions and UUID of the note");
	if (note->abi_major != TN_ABI_MAJOR)
		kit_fail(kit, "interface %u.%u: expected major %u", note->abi_major,
			 note->abi_minor, TN_ABI_MAJOR);
	if (note->oldest_host > note->abi_minor)
		kit_fail(kit, "it was built for minor %u and supports no host below %u",
			 note->abi_minor, note->oldest_host);
	if (note->flags)
		kit_fail(kit, "flags %#llx: none is defined", (unsigned long long)note->flags);
	if (!memcmp(note->uuid, none, sizeof(none)))
		kit_fail(kit, "the UUID is all zero");
	kit_pass(kit);
}

void check_file_note(struct kit *kit)
{
	struct tn_backend_note note;
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "the note");
	if (!file_note(kit, &note))
		return;
	kit_pass(kit);
	check_versions(kit, &note);
}

/* Symbols that old linkers export. */
static int is_linkers(const char *name)
{
	static const char *const names[] = {"_init", "_fini",       "_edata", "edata",
					    "_end",  "__bss_start", "_etext"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return 1;
	}
	/* Symbols of sanitizers and coverage, in plugins built with them. */
	return !strncmp(name, "__", 2);
}

struct exports {
	int found;
	char other[96]; /* the first unexpected symbol */
};

static void take_export(void *user, enum tn_elf_name kind, const char *name)
{
	struct exports *exports = user;
	if (kind != TN_ELF_EXPORTED)
		return;
	if (!strcmp(name, TN_BACKEND_SYMBOL))
		exports->found = 1;
	else if (!is_linkers(name) && !exports->other[0])
		snprintf(exports->other, sizeof(exports->other), "%s", name);
}

void check_file_exports(struct kit *kit)
{
	struct exports exports = {.found = 0};
	struct tn_elf_dynamic dynamic;
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "exported symbols");
	if (!read_dynamic(kit, &dynamic, take_export, &exports))
		return;
	if (exports.other[0])
		kit_fail(kit,
			 "it exports '%s': hide it (-fvisibility=hidden; for templates of the C++ "
			 "library also -Wl,--version-script=FILE, with "
			 "{ global: " TN_BACKEND_SYMBOL "; local: *; }; in FILE)",
			 exports.other);
	if (!exports.found)
		kit_fail(kit, "it does not export '%s'", TN_BACKEND_SYMBOL);
	kit_pass(kit);
}

static int begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static void remark_library(struct kit *kit, const char *name)
{
	if (begins_with(name, "libgomp") || begins_with(name, "libomp") ||
	    begins_with(name, "libiomp"))
		kit_remark(kit,
			   "it needs %s: OpenMP starts threads in addition to the host's; use "
			   "parallel_for instead",
			   name);
	if (begins_with(name, "libstdc++") || begins_with(name, "libc++"))
		kit_remark(kit,
			   "it needs %s: the plugin does not load where the installed one is too "
			   "old",
			   name);
}

void check_file_libraries(struct kit *kit)
{
	static struct names names = {.kind = TN_ELF_NEEDED};
	struct tn_elf_dynamic dynamic;
	char list[400] = "";
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "libraries needed");
	if (!read_dynamic(kit, &dynamic, take_name, &names))
		return;
	for (unsigned i = 0; i < names.n; i++) {
		size_t length = strlen(list);
		if (begins_with(names.list[i], "libtenon"))
			kit_fail(kit, "it needs %s: the host's services are in struct tn_host",
				 names.list[i]);
		remark_library(kit, names.list[i]);
		snprintf(list + length, sizeof(list) - length, " %s", names.list[i]);
	}
	kit_remark(kit, "it needs%s", names.n ? list : " nothing");
	kit_pass(kit);
}

void check_file_segments(struct kit *kit)
{
	static struct names names = {.kind = TN_ELF_NEEDED};
	struct tn_elf_dynamic dynamic;
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "text relocations");
	if (!read_dynamic(kit, &dynamic, take_name, &names))
		return;
	if (dynamic.text_relocations)
		kit_fail(kit, "it has some (DT_TEXTREL): build it with -fPIC");
	kit_pass(kit);
	kit_case(kit, KIT_FILE, "the stack");
	if (dynamic.executable_stack)
		kit_fail(kit, "it requests an executable stack: link with -Wl,-z,noexecstack");
	kit_pass(kit);
	kit_case(kit, KIT_FILE, "segments");
	if (dynamic.writable_code)
		kit_fail(kit, "a segment is both writable and executable");
	kit_pass(kit);
	if (dynamic.n_constructors > 2 || dynamic.n_destructors > 2)
		kit_remark(
			kit,
			"it has %llu constructors and %llu destructors; compilers emit at most two "
			"each",
			(unsigned long long)dynamic.n_constructors,
			(unsigned long long)dynamic.n_destructors);
}

void check_file_tls(struct kit *kit)
{
	static struct names names = {.kind = TN_ELF_NEEDED};
	struct tn_elf_dynamic dynamic;
	if (file_is_built_in(kit))
		return;
	kit_case(kit, KIT_FILE, "thread-local variables");
	if (!read_dynamic(kit, &dynamic, take_name, &names))
		return;
	if (dynamic.static_tls)
		kit_fail(kit, "DF_STATIC_TLS: they need static TLS space, which a running program "
			      "may lack");
	kit_pass(kit);
}
