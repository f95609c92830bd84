/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Feeds a fuzz target the files named on the command line, or else every file of
 * $TENON_SOURCE/tests/fuzz/corpus/NAME, where NAME is the program's own without `fuzz_` before it.
 * An empty corpus is a failure: nothing would have been tested.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LARGEST (1 << 24)

/* 1 if the file was read and passed to the target. */
static int replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return 0;
	uint8_t *data = malloc(LARGEST);
	size_t size = data ? fread(data, 1, LARGEST, file) : 0;
	fclose(file);
	/* An exact block, so that a sanitizer sees a read past the end. */
	uint8_t *exact = malloc(size ? size : 1);
	int fed = data && exact;
	if (fed) {
		memcpy(exact, data, size);
		LLVMFuzzerTestOneInput(exact, size);
	}
	free(data);
	free(exact);
	return fed;
}

static int replay_folder(const char *folder)
{
	int count = 0;
	DIR *entries = opendir(folder);
	if (!entries)
		return 0;
	for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
		char path[8192];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!replay(path)) {
			fprintf(stderr, "%s: cannot be read\n", path);
			closedir(entries);
			return 0;
		}
		count++;
	}
	closedir(entries);
	return count;
}

/* The program's name: libtool runs an uninstalled program as .libs/lt-NAME. */
static const char *target_name(const char *program)
{
	const char *name = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	if (!strncmp(name, "lt-", 3))
		name += 3;
	return strncmp(name, "fuzz_", 5) ? name : name + 5;
}

int main(int argc, char **argv)
{
	const char *source = getenv("TENON_SOURCE");
	char folder[4096];
	int count = 0;
	for (int i = 1; i < argc; i++)
		count += replay(argv[i]);
	if (argc == 1) {
		snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", source ? source : ".",
			 target_name(argv[0]));
		count = replay_folder(folder);
	}
	printf("%d inputs replayed\n", count);
	return count ? 0 : 1;
}
