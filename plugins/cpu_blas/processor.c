/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the processor's name and the memory that this process may use from /proc and control
 * groups.
 */
#include "processor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Reads the start of a small system file as text; 0 if it does not exist. */
static size_t read_text(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	size_t length = 0;
	while (length + 1 < size) {
		ssize_t n = read(file, text + length, size - 1 - length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		length += (size_t)n;
	}
	close(file);
	text[length] = 0;
	return length;
}

/* The text after `key` and its colon, up to the end of the line; 0 if there is none. */
static int field(const char *text, const char *key, char *value, size_t size)
{
	const char *found = strstr(text, key);
	if (!found || !size)
		return 0;
	found += strlen(key);
	found += strspn(found, " \t:");
	size_t length = strcspn(found, "\n");
	if (length >= size)
		length = size - 1;
	memcpy(value, found, length);
	value[length] = 0;
	return length > 0;
}

void cpu_processor_name(char *name, size_t size)
{
	char text[4096];
	if (read_text("/proc/cpuinfo", text, sizeof(text)) &&
	    (field(text, "model name", name, size) || field(text, "Model", name, size)))
		return;
	snprintf(name, size, "CPU");
}

/* A number of bytes in a system file; `otherwise` if it contains none ("max"). */
static uint64_t number(const char *path, uint64_t otherwise)
{
	char text[64], *end;
	if (!read_text(path, text, sizeof(text)))
		return otherwise;
	unsigned long long value = strtoull(text, &end, 10);
	return end == text ? otherwise : value;
}

static uint64_t available_bytes(const struct sysinfo *information)
{
	char text[4096], value[64];
	if (read_text("/proc/meminfo", text, sizeof(text)) &&
	    field(text, "MemAvailable", value, sizeof(value)))
		return strtoull(value, NULL, 10) * 1024u;
	return (uint64_t)information->freeram * information->mem_unit;
}

void cpu_memory_size(uint64_t *total, uint64_t *available)
{
	struct sysinfo information;
	*total = *available = 0;
	if (sysinfo(&information))
		return;
	*total = (uint64_t)information.totalram * information.mem_unit;
	*available = available_bytes(&information);
	uint64_t limit = number("/sys/fs/cgroup/memory.max", UINT64_MAX);
	if (limit >= *total)
		return;
	uint64_t used = number("/sys/fs/cgroup/memory.current", 0);
	uint64_t left = used < limit ? limit - used : 0;
	*total = limit;
	if (left < *available)
		*available = left;
}
