/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds the devices.  The CUDA runtime and driver do not survive a fork after their first call, so
 * they are not asked: NVIDIA's management library is, or the files that the driver provides in
 * /proc.  Both list the devices in bus order, to which CUDA_VISIBLE_DEVICES is applied as the
 * runtime will do it.  The library has more facts, but starting it may wake sleeping devices: if
 * the files show that none of them will be used, it is not started.
 */
#include "facts.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A test has a folder of its own. */
#ifndef CUDA_PROC
#define CUDA_PROC "/proc/driver/nvidia"
#endif

/* The result of the search, before the variable selects from it. */
struct search {
	struct cuda_instance *instance;
	int is_uncertain; /* only the runtime knows what a number in the variable means */
	uint32_t n;
	struct cuda_facts found[CUDA_MAX_DEVICES];
};

/* With the driver's versions in front, if they are known. */
static void set_absence(struct cuda_instance *instance, tn_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set_absence(struct cuda_instance *instance, tn_status status, const char *format, ...)
{
	va_list arguments;
	int n = snprintf(instance->reason, sizeof(instance->reason), "%s%s", instance->driver,
			 instance->driver[0] ? ": " : "");
	instance->absence = status;
	va_start(arguments, format);
	(void)vsnprintf(instance->reason + n, sizeof(instance->reason) - (size_t)n, format,
			arguments);
	va_end(arguments);
}

/* ---- /proc -----------------------------------------------------------------------------------*/

/* "Model: \t NVIDIA H200" */
static void read_line(const char *line, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);
	if (strncmp(line, key, length) != 0 || line[length] != ':')
		return;
	line += length + 1;
	line += strspn(line, " \t");
	snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
}

/* A container may show all devices of its host in /proc but have the nodes of only some. */
static int has_node(const char *minor)
{
	char path[64];
	snprintf(path, sizeof(path), "/dev/nvidia%.8s", minor);
	return !minor[0] || access(path, F_OK) == 0;
}

static int read_gpu(const char *folder, struct cuda_facts *facts)
{
	char path[sizeof(CUDA_PROC) + 300], line[256], minor[16] = "";
	memset(facts, 0, sizeof(*facts));
	snprintf(path, sizeof(path), CUDA_PROC "/gpus/%s/information", folder);
	FILE *stream = fopen(path, "re");
	if (!stream)
		return 0;
	while (fgets(line, sizeof(line), stream)) {
		read_line(line, "Model", facts->name, sizeof(facts->name));
		read_line(line, "GPU UUID", facts->uuid, sizeof(facts->uuid));
		read_line(line, "Bus Location", facts->pci, sizeof(facts->pci));
		read_line(line, "Device Minor", minor, sizeof(minor));
	}
	(void)fclose(stream);
	cuda_facts_identify(facts);
	return has_node(minor);
}

static int is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 ..." */
static void read_driver(struct cuda_instance *instance)
{
	char line[256] = "", *rest = NULL;
	FILE *stream = fopen(CUDA_PROC "/version", "re");
	if (!stream)
		return;
	char *word = fgets(line, sizeof(line), stream) ? strtok_r(line, " ", &rest) : NULL;
	while (word && !(isdigit((unsigned char)word[0]) && strchr(word, '.')))
		word = strtok_r(NULL, " ", &rest);
	if (word)
		snprintf(instance->driver, sizeof(instance->driver), "driver %.40s", word);
	(void)fclose(stream);
}

static void search_files(struct search *search)
{
	struct dirent **list = NULL;
	int n = scandir(CUDA_PROC "/gpus", &list, is_entry, alphasort);
	for (int i = 0; i < n; i++) {
		struct cuda_facts *facts = &search->found[search->n];
		if (search->n < CUDA_MAX_DEVICES && read_gpu(list[i]->d_name, facts))
			facts->index = search->n++;
		free(list[i]);
	}
	free(list);
}

/* ---- CUDA_VISIBLE_DEVICES --------------------------------------------------------------------*/

static int is_by_uuid(const char *list)
{
	return list && (strstr(list, "GPU-") || strstr(list, "MIG-"));
}

/* CUDA numbers devices by speed, and how it measures that is its own: if devices differ and not all
 * are named, only the runtime knows which one a number means. */
static int has_certain_numbers(const struct search *search, const char *list)
{
	const struct tn_host *host = search->instance->host;
	const char *order = host->parameter(host->context, "CUDA_DEVICE_ORDER",
					    "PCI_BUS_ID: CUDA numbers GPUs by their PCI address");
	int is_alike = 1;
	uint32_t n_words = 1;
	for (uint32_t i = 1; i < search->n; i++)
		is_alike &= !strcmp(search->found[i].name, search->found[0].name);
	for (; *list; list++)
		n_words += *list == ',';
	return is_alike || n_words >= search->n || (order && !strcmp(order, "PCI_BUS_ID"));
}

static void leave_unresolved(struct cuda_facts *facts, long number)
{
	memset(facts, 0, sizeof(*facts));
	facts->is_unresolved = 1;
	snprintf(facts->name, sizeof(facts->name), "NVIDIA GPU (CUDA's number %ld)", number);
}

static int is_same(const struct cuda_facts *a, const struct cuda_facts *b)
{
	return !strcmp(a->pci, b->pci) && !strcmp(a->uuid, b->uuid) && !strcmp(a->name, b->name);
}

/* The device whose UUID begins so, if exactly one does; else -1. */
static int find_uuid(const struct search *search, const char *text, size_t length)
{
	int found = -1;
	for (uint32_t i = 0; i < search->n; i++) {
		if (strncmp(search->found[i].uuid, text, length) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

/* Takes one entry of the list; 0: it is invalid, and ends the list. */
static int add_entry(const struct search *search, const char *text, size_t length)
{
	struct cuda_instance *instance = search->instance;
	char word[80], *end;
	if (length == 0 || length >= sizeof(word) || instance->n_devices == CUDA_MAX_DEVICES)
		return 0;
	memcpy(word, text, length);
	word[length] = 0;
	if (!strncmp(word, "MIG-", 4)) {
		/* Only the runtime has the facts of a MIG slice; its own UUID is its name. */
		struct cuda_facts *facts = &instance->devices[instance->n_devices++];
		memset(facts, 0, sizeof(*facts));
		snprintf(facts->name, sizeof(facts->name), "NVIDIA MIG device");
		snprintf(facts->uuid, sizeof(facts->uuid), "%.63s", word);
		cuda_facts_identify(facts);
		facts->is_asked = 1;
		return 0; /* a process can use only one */
	}
	long index = isdigit((unsigned char)word[0]) ? strtol(word, &end, 10)
		     : strncmp(word, "GPU-", 4)      ? -1
						     : find_uuid(search, word, length);
	if (index < 0 || index >= (long)search->n)
		return 0;
	struct cuda_facts facts = search->found[index];
	if (search->is_uncertain && word[0] != 'G')
		leave_unresolved(&facts, index);
	for (uint32_t i = 0; i < instance->n_devices; i++) {
		if (is_same(&instance->devices[i], &facts)) {
			instance->n_devices = 0; /* named twice: the runtime then shows none */
			return 0;
		}
	}
	instance->devices[instance->n_devices++] = facts;
	return 1;
}

static void choose_visible(const struct search *search, const char *list)
{
	struct cuda_instance *instance = search->instance;
	if (!list) {
		memcpy(instance->devices, search->found, search->n * sizeof(search->found[0]));
		instance->n_devices = search->n;
		return;
	}
	for (;;) {
		list += strspn(list, " \t");
		size_t length = strcspn(list, ",");
		size_t word = length;
		while (word && isspace((unsigned char)list[word - 1]))
			word--;
		if (!add_entry(search, list, word) || !list[length])
			return;
		list += length + 1;
	}
}

/* ---- The management library ------------------------------------------------------------------*/

/* Only those that it has a handle of: the runtime does not show a device that fell off the bus. */
static void ask_all(struct search *search, unsigned int n)
{
	search->n = 0;
	for (unsigned int i = 0; i < n && search->n < CUDA_MAX_DEVICES; i++) {
		struct cuda_facts *facts = &search->found[search->n];
		*facts = (struct cuda_facts){.index = i};
		search->n += (uint32_t)cuda_facts_ask(search->instance, facts);
	}
}

/* If the files list as many, they have all that the choice needs, and no device is asked, unless
 * it is named by UUID, which the files may lack. */
static void search_management(struct search *search, const char *visible)
{
	const struct cuda_management *nvml = &search->instance->nvml;
	unsigned int n = 0;
	if (nvml->nvmlDeviceGetCount_v2(&n) || !n || (n == search->n && !is_by_uuid(visible)))
		return;
	ask_all(search, n);
}

/* ---- All of it -------------------------------------------------------------------------------*/

/* Devices without the libraries that are needed to use them, or whose driver runs none. */
static void check_libraries(struct cuda_instance *instance)
{
	char text[sizeof(instance->reason)];
	tn_status status =
		cuda_libraries_choose(instance->host, instance->driver_cuda, &instance->rt,
				      &instance->places, text, sizeof(text));
	if (!status)
		return;
	instance->n_devices = 0;
	set_absence(instance, status, "%s", text);
}

/* 0: none is left, and the instance has the reason. */
static int choose_devices(struct search *search, const char *visible)
{
	struct cuda_instance *instance = search->instance;
	search->is_uncertain = visible && !has_certain_numbers(search, visible);
	memcpy(instance->found, search->found, search->n * sizeof(search->found[0]));
	instance->n_found = search->n;
	instance->n_devices = 0;
	choose_visible(search, visible);
	if (instance->n_devices)
		return 1;
	set_absence(instance, TN_NO_DEVICE, "CUDA_VISIBLE_DEVICES=%.100s leaves none of %u GPU%s",
		    visible ? visible : "", search->n, search->n == 1 ? "" : "s");
	return 0;
}

/* Are there devices, none of which can be used? */
static int is_settled_by_files(struct search *search, const char *visible)
{
	if (!search->n || is_by_uuid(visible))
		return 0;
	if (!choose_devices(search, visible))
		return 1;
	check_libraries(search->instance);
	return !search->instance->n_devices;
}

static void find_devices(struct search *search)
{
	struct cuda_instance *instance = search->instance;
	const struct tn_host *host = instance->host;
	const char *visible =
		host->parameter(host->context, "CUDA_VISIBLE_DEVICES",
				"the GPUs that the cuda backend uses: numbers or UUIDs");
	read_driver(instance);
	search_files(search);
	if (is_settled_by_files(search, visible))
		return;
	if (cuda_facts_begin(instance))
		search_management(search, visible);
	else if (!search->n)
		return;
	if (search->n)
		(void)choose_devices(search, visible);
	else
		set_absence(instance, TN_NO_DEVICE, "it shows no GPU");
}

void cuda_count(struct cuda_instance *instance)
{
	struct search search = {.instance = instance};
	if (instance->is_counted)
		return;
	instance->is_counted = 1;
	find_devices(&search);
	if (instance->n_devices)
		check_libraries(instance);
	if (!instance->n_devices)
		cuda_facts_end(instance);
}
