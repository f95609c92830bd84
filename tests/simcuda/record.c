/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Keeps the source of each NVRTC program, and writes it with its options to a file.
 */
#include "record.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct source {
	struct source *next;
	nvrtcProgram program;
	char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct source *sources;

static const char *folder(void)
{
	const char *name = getenv("SIMCUDA_RECORD");
	return name && *name ? name : NULL;
}

void record_create(nvrtcProgram program, const char *source)
{
	struct source *made = folder() ? malloc(sizeof(*made) + strlen(source) + 1) : NULL;
	if (!made)
		return;
	made->program = program;
	strcpy(made->text, source);
	pthread_mutex_lock(&lock);
	made->next = sources;
	sources = made;
	pthread_mutex_unlock(&lock);
}

void record_destroy(nvrtcProgram program)
{
	struct source *gone = NULL;
	pthread_mutex_lock(&lock);
	for (struct source **at = &sources; *at && !gone; at = &(*at)->next)
		if ((*at)->program == program) {
			gone = *at;
			*at = gone->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(gone);
}

/* FNV-1a, 64 bits. */
static uint64_t add_to_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* The matrix chooses the architecture. */
static int is_kept(const char *option)
{
	return strncmp(option, "--gpu-architecture", 18) != 0 && strncmp(option, "-arch", 5) != 0;
}

static void write_file(const char *path, const struct source *source, int n,
		       const char *const *options)
{
	char temporary[4200];
	snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
	FILE *file = fopen(temporary, "we");
	if (!file)
		return;
	fputs("//", file);
	for (int i = 0; i < n; i++)
		if (is_kept(options[i]))
			fprintf(file, " %s", options[i]);
	fprintf(file, "\n%s", source->text);
	if (fclose(file) == 0)
		(void)rename(temporary, path);
}

void record_compile(nvrtcProgram program, int n, const char *const *options)
{
	char path[4096];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	if (!folder())
		return;
	pthread_mutex_lock(&lock);
	const struct source *source = sources;
	while (source && source->program != program)
		source = source->next;
	if (source) {
		for (int i = 0; i < n; i++)
			if (is_kept(options[i]))
				hash = add_to_hash(hash, options[i]);
		hash = add_to_hash(hash, source->text);
		snprintf(path, sizeof(path), "%s/%016llx.cu", folder(), (unsigned long long)hash);
		if (access(path, F_OK))
			write_file(path, source, n, options);
	}
	pthread_mutex_unlock(&lock);
}
