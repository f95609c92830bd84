/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The compile matrix: compiles the sources stored by SIMCUDA_RECORD with the real NVRTC to machine
 * code of every architecture.
 *
 *     matrix [--all] [--jobs=N] FOLDER ARCHITECTURE...       matrix records 75 80 90
 *
 * Many recorded sources differ in numbers only, so without --all a source is used only if it has
 * something new: a statement, ignoring numbers, or a pair of options of its file.  Prints a line
 * for each kernel (`kernel NAME N`: it was compiled N times) and one for all.  A source with errors
 * or warnings is shown with NVRTC's messages.
 */
#include <nvrtc.h>

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_OPTIONS = 40, MAX_ARCHITECTURES = 32, MAX_JOBS = 64 };

struct record {
	char *name;     /* of its file */
	char *options;  /* the first line, without "//" */
	char *text;     /* the whole text: the first line is a comment */
	const char *at; /* the text behind it */
};

static struct {
	__typeof__(nvrtcCompileProgram) *compile;
	__typeof__(nvrtcCreateProgram) *create;
	__typeof__(nvrtcDestroyProgram) *destroy;
	__typeof__(nvrtcGetCUBIN) *cubin;
	__typeof__(nvrtcGetCUBINSize) *cubin_size;
	__typeof__(nvrtcGetErrorString) *words;
	__typeof__(nvrtcGetProgramLog) *log;
	__typeof__(nvrtcGetProgramLogSize) *log_size;
} nvrtc;

static const struct {
	const char *name;
	void **to;
} names[] = {
	{"nvrtcCompileProgram", (void **)&nvrtc.compile},
	{"nvrtcCreateProgram", (void **)&nvrtc.create},
	{"nvrtcDestroyProgram", (void **)&nvrtc.destroy},
	{"nvrtcGetCUBIN", (void **)&nvrtc.cubin},
	{"nvrtcGetCUBINSize", (void **)&nvrtc.cubin_size},
	{"nvrtcGetErrorString", (void **)&nvrtc.words},
	{"nvrtcGetProgramLog", (void **)&nvrtc.log},
	{"nvrtcGetProgramLogSize", (void **)&nvrtc.log_size},
};

static int open_nvrtc(void)
{
	void *handle = dlopen(SIMCUDA_REAL "/libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; handle && i < sizeof(names) / sizeof(names[0]); i++)
		if (!(*names[i].to = dlsym(handle, names[i].name)))
			handle = NULL;
	return handle != NULL;
}

static void *need(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "no memory\n");
	exit(1);
}

/* ---- What was recorded -----------------------------------------------------------------------*/

static struct record *records;
static size_t n_records;

static int read_record(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "re");
	if (!file || fseek(file, 0, SEEK_END))
		return 0;
	long size = ftell(file);
	char *text = need(calloc(1, (size_t)size + 1));
	rewind(file);
	int whole = fread(text, 1, (size_t)size, file) == (size_t)size;
	(void)fclose(file);
	const char *end = whole ? strchr(text, '\n') : NULL;
	if (!end)
		return 0;
	records = need(realloc(records, (n_records + 1) * sizeof(*records)));
	records[n_records++] = (struct record){
		.name = need(strdup(name)),
		.options = need(strndup(text + 2, (size_t)(end - text - 2))),
		.text = text,
		.at = end + 1,
	};
	return 1;
}

static int read_folder(const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort), good = n > 0;
	for (int i = 0; i < n; i++) {
		const char *end = strrchr(entries[i]->d_name, '.');
		if (end && strcmp(end, ".cu") == 0)
			good = read_record(folder, entries[i]->d_name) && good;
		free(entries[i]);
	}
	free(n > 0 ? entries : NULL);
	return good;
}

/* ---- What is new about one -------------------------------------------------------------------*/

static uint64_t *seen; /* open addressing; 0 is empty */
static size_t n_seen, seen_capacity;

static int see(uint64_t hash);

static void grow(void)
{
	uint64_t *old = seen;
	size_t old_capacity = seen_capacity;
	seen_capacity = old_capacity ? 2 * old_capacity : 4096;
	seen = need(calloc(seen_capacity, sizeof(*seen)));
	n_seen = 0;
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i])
			see(old[i]);
	free(old);
}

/* Adds a value; 1: it is new. */
static int see(uint64_t hash)
{
	if (2 * n_seen >= seen_capacity)
		grow();
	hash = hash ? hash : 1;
	size_t at = hash % seen_capacity;
	while (seen[at] && seen[at] != hash)
		at = (at + 1) % seen_capacity;
	if (seen[at])
		return 0;
	seen[at] = hash;
	n_seen++;
	return 1;
}

/* FNV-1a; if `numbers` is 0, digits are ignored, except those of a type (cu_f32). */
static uint64_t hash_of(uint64_t hash, const char *text, size_t length, int numbers)
{
	size_t word = 0; /* where it began */
	for (size_t i = 0; i < length; i++) {
		int is_digit = isdigit((unsigned char)text[i]);
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			word = i + 1;
		if (is_digit && !numbers && strncmp(text + word, "cu_", 3) != 0)
			continue;
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* Lines, where #define counts with its numbers: how many elements a thread takes at a time. */
static int has_new_line(const struct record *record)
{
	int any = 0;
	for (const char *line = record->at; *line;) {
		size_t length = strcspn(line, "\n");
		any |= see(hash_of(1, line, length, strncmp(line, "#define", 7) == 0));
		line += length + (line[length] == '\n');
	}
	return any;
}

static int has_new_pair(const struct record *record)
{
	const char *word[MAX_OPTIONS];
	size_t length[MAX_OPTIONS];
	int n = 0, any = 0;
	uint64_t file = hash_of(2, record->at, strlen(record->at), 1);
	for (const char *at = record->options; *at && n < MAX_OPTIONS; n++) {
		at += strspn(at, " ");
		word[n] = at;
		length[n] = strcspn(at, " ");
		at += length[n];
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
			any |= see(hash_of(hash_of(file, word[i], length[i], 1), word[j], length[j],
					   1));
	return any;
}

/* A printed source has no options of its own, and is a separate file. */
static int is_printed(const struct record *record)
{
	return strstr(record->options, "-D") == NULL;
}

static size_t choose(void)
{
	size_t kept = 0;
	for (size_t i = 0; i < n_records; i++) {
		int fresh = has_new_line(&records[i]);
		if (!is_printed(&records[i]))
			fresh |= has_new_pair(&records[i]);
		if (fresh)
			records[kept++] = records[i];
	}
	return kept;
}

/* ---- Compiling -------------------------------------------------------------------------------*/

/* The names of kernels, from the sections of their code, one line each to the parent. */
static void tell_kernels(const char *architecture, const char *cubin, size_t size, int to)
{
	static const char section[] = ".text.";
	char line[256];
	for (size_t i = 0; i + sizeof(section) < size; i++) {
		if (cubin[i] != '.' || (i > 0 && cubin[i - 1] != 0) ||
		    memcmp(cubin + i, section, sizeof(section) - 1) != 0)
			continue;
		int n = snprintf(line, sizeof(line), "%s %.200s\n", architecture,
				 cubin + i + sizeof(section) - 1);
		if (write(to, line, (size_t)n) != n)
			_exit(1);
	}
}

static int fail(const struct record *record, const char *architecture, const char *what,
		const char *log)
{
	fprintf(stderr, "sm_%s, %s, options%s: %s\n%s\n", architecture, record->name,
		record->options, what, log);
	return 0;
}

static int fetch(nvrtcProgram program, const struct record *record, const char *architecture,
		 int to)
{
	size_t size = 0;
	nvrtcResult code = nvrtc.cubin_size(program, &size);
	char *cubin = need(malloc(size + 1));
	if (code == NVRTC_SUCCESS && size > 0)
		code = nvrtc.cubin(program, cubin);
	int good = code == NVRTC_SUCCESS && size > 0;
	if (good)
		tell_kernels(architecture, cubin, size, to);
	free(cubin);
	return good ? 1 : fail(record, architecture, "there is no machine code", nvrtc.words(code));
}

static int compile(const struct record *record, const char *architecture, int to)
{
	char target[64], *own = need(strdup(record->options)), *rest = NULL;
	/* A printed source declares everything its program may use, whether used or not. */
	const char *options[MAX_OPTIONS] = {target, "--diag-suppress=177"};
	nvrtcProgram program = NULL;
	size_t size = 0;
	int n = 2;
	snprintf(target, sizeof(target), "--gpu-architecture=sm_%s", architecture);
	for (char *word = strtok_r(own, " ", &rest); word && n < MAX_OPTIONS;
	     word = strtok_r(NULL, " ", &rest))
		options[n++] = word;
	nvrtcResult code = nvrtc.create(&program, record->text, record->name, 0, NULL, NULL);
	if (code == NVRTC_SUCCESS)
		code = nvrtc.compile(program, n, options);
	if (program)
		(void)nvrtc.log_size(program, &size);
	char *log = need(calloc(1, size + 1));
	if (size)
		(void)nvrtc.log(program, log);
	int good = code != NVRTC_SUCCESS ? fail(record, architecture, nvrtc.words(code), log)
					 : fetch(program, record, architecture, to);
	if (good && log[0])
		good = fail(record, architecture, "a warning", log);
	if (program)
		(void)nvrtc.destroy(&program);
	free(log);
	free(own);
	return good;
}

/* ---- Many at once ----------------------------------------------------------------------------*/

struct job {
	size_t first, step, n;
	int n_architectures;
	char **architectures;
};

/* Runs in its own process; exits with 1 on failure. */
static void work(const struct job *job, int to)
{
	int failed = 0;
	for (size_t i = job->first; i < job->n * (size_t)job->n_architectures; i += job->step)
		failed |= !compile(&records[i % job->n], job->architectures[i / job->n], to);
	_exit(failed);
}

struct kernel {
	char name[200];
	unsigned long variants;
};

static struct kernel *kernels;
static size_t n_kernels;

static void count_kernel(const char *name)
{
	size_t k = 0;
	while (k < n_kernels && strcmp(kernels[k].name, name) != 0)
		k++;
	if (k == n_kernels) {
		kernels = need(realloc(kernels, ++n_kernels * sizeof(*kernels)));
		snprintf(kernels[k].name, sizeof(kernels[k].name), "%s", name);
		kernels[k].variants = 0;
	}
	kernels[k].variants++;
}

static void collect(FILE *from)
{
	char architecture[16], name[200];
	while (fscanf(from, "%15s %199s", architecture, name) == 2)
		count_kernel(name);
	for (size_t k = 0; k < n_kernels; k++)
		printf("kernel %s %lu\n", kernels[k].name, kernels[k].variants);
}

static int run(size_t n, int n_architectures, char **architectures, int n_jobs)
{
	int ends[2], failed = 0, status;
	struct job job = {.step = (size_t)n_jobs,
			  .n = n,
			  .n_architectures = n_architectures,
			  .architectures = architectures};
	if (pipe(ends))
		return 1;
	for (int j = 0; j < n_jobs; j++) {
		job.first = (size_t)j;
		pid_t pid = fork();
		if (pid == 0)
			work(&job, ends[1]);
		failed |= pid < 0;
	}
	(void)close(ends[1]);
	FILE *from = fdopen(ends[0], "r");
	if (from)
		collect(from);
	while (wait(&status) > 0)
		failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	if (from)
		(void)fclose(from);
	return failed || !from;
}

int main(int argc, char **argv)
{
	int takes_all = 0, n_jobs = (int)sysconf(_SC_NPROCESSORS_ONLN), first = 1;
	for (; first < argc && argv[first][0] == '-'; first++) {
		takes_all |= strcmp(argv[first], "--all") == 0;
		if (strncmp(argv[first], "--jobs=", 7) == 0)
			n_jobs = atoi(argv[first] + 7);
	}
	if (argc - first < 2 || argc - first > MAX_ARCHITECTURES || n_jobs < 1) {
		fprintf(stderr, "usage: matrix [--all] [--jobs=N] FOLDER ARCHITECTURE...\n");
		return 2;
	}
	if (!open_nvrtc()) {
		printf("there is no NVRTC in " SIMCUDA_REAL "\n");
		return 77;
	}
	if (!read_folder(argv[first])) {
		fprintf(stderr, "%s: nothing was recorded, or it cannot be read\n", argv[first]);
		return 1;
	}
	size_t n = takes_all ? n_records : choose();
	int n_architectures = argc - first - 1;
	struct timespec start, end;
	clock_gettime(CLOCK_MONOTONIC, &start);
	int failed =
		run(n, n_architectures, argv + first + 1, n_jobs < MAX_JOBS ? n_jobs : MAX_JOBS);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%zu of %zu sources, %d architectures, %ld s: %s\n", n, n_records, n_architectures,
	       (long)(end.tv_sec - start.tv_sec), failed ? "FAILED" : "all compiled");
	return failed;
}
