/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The folder is found when the library is loaded: a name that the dynamic loader was given may be
 * relative, and the program may go to another working directory later.
 */
#include "base/place.h"

#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/trust.h"
#include "paths.h"

static char folder[PATH_MAX];

static int contains(const struct dl_phdr_info *object, uintptr_t address)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		if (header->p_type == PT_LOAD &&
		    address - object->dlpi_addr - header->p_vaddr < header->p_memsz)
			return 1;
	}
	return 0;
}

/* The loader has no name for the program: the system keeps it. */
static int take_name(struct dl_phdr_info *object, size_t size, void *user)
{
	const char **name = user;
	(void)size;
	if (!contains(object, (uintptr_t)folder))
		return 0;
	*name = object->dlpi_name;
	if (!*name || !**name)
		*name = (const char *)getauxval(AT_EXECFN);
	return 1;
}

__attribute__((constructor)) static void find_folder(void)
{
	const char *name = NULL;
	struct stat information;
	dl_iterate_phdr(take_name, &name);
	if (!name || !realpath(name, folder) || stat(folder, &information))
		folder[0] = '\0';
	else
		tn_trust_owner(information.st_uid);
	char *slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
}

const char *tn_place_folder(const struct tn_parameters *parameters)
{
	return tn_parameters_privileged(parameters) ? "" : folder;
}

void tn_place_add(struct tn_text *text, int n_up, const char *below)
{
	size_t length = strcmp(folder, "/") != 0 ? strlen(folder) : 0;
	for (; n_up > 0 && length > 0; n_up -= folder[length] == '/')
		length--;
	tn_text_append(text, folder, length);
	tn_text_format(text, "/%s", below);
}

/* Debian's libraries are one level deeper, in lib/x86_64-linux-gnu. */
static int levels_to_prefix(void)
{
	static const char deeper[] = "/lib/" TN_MULTIARCH;
	size_t length = strlen(folder), n = sizeof(deeper) - 1;
	return length >= n && !strcmp(folder + length - n, deeper) ? 2 : 1;
}

/* The value of a variable, else what is there beside, else the path of the build. */
static void add_one(struct tn_text *text, struct tn_parameters *parameters, const char *value,
		    const char *below, const char *built)
{
	struct tn_error_info refusal;
	struct tn_text beside;
	char *real = NULL;
	tn_text_init(&beside);
	if (!value && *tn_place_folder(parameters))
		tn_place_add(&beside, levels_to_prefix(), below);
	if (beside.data && !beside.failed)
		beside.failed =
			tn_trust_resolve(beside.data, 0, &real, &refusal) == TN_OUT_OF_MEMORY;
	tn_text_add(text, value ? value : real ? real : built);
	text->failed |= beside.failed || parameters->failed; /* the variable may be set */
	tn_mem_free(real);
	tn_text_release(&beside);
}

void tn_place_add_data(struct tn_text *text, struct tn_parameters *parameters)
{
	const char *value = tn_parameter_read(
		parameters, "TENON_DATA_DIR",
		"folder of Tenon's data files, in place of the installed one; data sets are in "
		"data/NAME");
	add_one(text, parameters, value, "share/tenon", TN_DATA_DIR);
}

void tn_place_add_helper(struct tn_text *text, struct tn_parameters *parameters)
{
	const char *value = tn_parameter_read(parameters, "TENON_PROBE_HELPER",
					      "the helper program of the isolated probe");
	add_one(text, parameters, value, "libexec/tenon/tenon-probe", TN_PROBE_HELPER);
}

int tn_place_is_static(void)
{
	const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t n = header ? getauxval(AT_PHNUM) : 0;
	for (size_t i = 0; i < n; i++) {
		if (header[i].p_type == PT_INTERP)
			return 0;
	}
	return n > 0;
}
