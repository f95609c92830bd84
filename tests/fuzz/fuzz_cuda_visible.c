/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which CUDA devices there are: the first three lines are CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER
 * and the driver's file of its version; the rest are the files of GPUs, with lines "-" between
 * them.  There is no management library.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "facts.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- What the backend has elsewhere ----------------------------------------------------------*/

tn_status cuda_management_open(struct cuda_management *nvml, char *text, size_t size)
{
	(void)nvml;
	snprintf(text, size, "there is none");
	return TN_MISSING_LIBRARY;
}

tn_status cuda_libraries_choose(const struct tn_host *host, int driver, struct cuda_runtime *rt,
				struct cuda_places *places, char *text, size_t size)
{
	(void)host, (void)driver, (void)rt, (void)places;
	snprintf(text, size, "the runtime");
	return TN_OK;
}

void cuda_library_close(void **handle)
{
	*handle = NULL;
}

/* ---- The driver's folder ---------------------------------------------------------------------*/

static char top[] = "/tmp/tenon-fuzz-XXXXXX";
static const char *const folders[] = {"nvidia", "nvidia/gpus", "nvidia/gpus/0000:01:00.0",
				      "nvidia/gpus/0000:02:00.0", "nvidia/gpus/0000:03:00.0"};
enum { N_FOLDERS = sizeof(folders) / sizeof(*folders) };

/* Links to files in memory. */
static const char *const files[] = {"nvidia/version", "nvidia/gpus/0000:01:00.0/information",
				    "nvidia/gpus/0000:02:00.0/information",
				    "nvidia/gpus/0000:03:00.0/information"};
enum { N_FILES = sizeof(files) / sizeof(*files), MOST_GPUS = N_FILES - 1 };
static int contents[N_FILES];

static void remove_folders(void)
{
	if (chdir(top))
		return;
	for (int i = 0; i < N_FILES; i++)
		(void)unlink(files[i]);
	for (int i = N_FOLDERS; i-- > 0;)
		(void)rmdir(folders[i]);
	(void)rmdir(top);
}

/* It is looked for in the working folder, which is another's between the inputs. */
static void make_folders(void)
{
	char target[32];
	fuzz_require(mkdtemp(top) && !chdir(top) && !atexit(remove_folders));
	for (int i = 0; i < N_FOLDERS; i++)
		fuzz_require(!mkdir(folders[i], 0700));
	for (int i = 0; i < N_FILES; i++) {
		contents[i] = memfd_create("input", MFD_CLOEXEC);
		snprintf(target, sizeof(target), "/proc/self/fd/%d", contents[i]);
		fuzz_require(contents[i] >= 0 && !symlink(target, files[i]));
	}
}

static void write_file(int i, const char *text)
{
	const size_t size = strlen(text);
	fuzz_require(!ftruncate(contents[i], 0) &&
		     pwrite(contents[i], text, size, 0) == (ssize_t)size);
}

/* ---- The target ------------------------------------------------------------------------------*/

static const char *variables[2];

static const char *parameter(void *context, const char *name, const char *help)
{
	(void)context, (void)help;
	return !strcmp(name, "CUDA_VISIBLE_DEVICES") ? variables[0]
	       : !strcmp(name, "CUDA_DEVICE_ORDER")  ? variables[1]
						     : NULL;
}

static const struct tn_host host = {.struct_size = sizeof(host), .parameter = parameter};

static void check(const struct cuda_instance *instance)
{
	/* A slice is none of those that were found. */
	fuzz_require(instance->n_devices <= instance->n_found + 1);
	fuzz_require(instance->n_found <= MOST_GPUS);
	fuzz_require(instance->n_devices || (instance->absence && instance->reason[0]));
	for (uint32_t i = 0; i < instance->n_devices; i++) {
		const struct cuda_facts *facts = &instance->devices[i];
		fuzz_require(strlen(facts->name) < sizeof(facts->name));
		fuzz_require(strlen(facts->uuid) < sizeof(facts->uuid));
		fuzz_require(strlen(facts->pci) < sizeof(facts->pci));
		fuzz_require(facts->identity2_type == TN_IDENTITY_NONE || facts->uuid[0]);
		fuzz_require(facts->identity_type == TN_IDENTITY_NONE || facts->pci[0]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int outside = -1;
	static struct cuda_instance instance;
	char *text = malloc(size + 1), *rest = text;
	if (outside < 0) {
		outside = open(".", O_RDONLY | O_DIRECTORY);
		make_folders();
	}
	fuzz_require(text && outside >= 0 && !chdir(top));
	memcpy(text, data, size);
	text[size] = '\0';
	variables[0] = strsep(&rest, "\n");
	variables[1] = strsep(&rest, "\n");
	const char *version = strsep(&rest, "\n");
	write_file(0, version ? version : "");
	for (int i = 1; i < N_FILES; i++) {
		char *end = rest ? strstr(rest, "\n-\n") : NULL;
		if (end)
			*end = '\0';
		/* A device without a node is not there. */
		write_file(i, rest ? rest : "Device Minor: none\n");
		rest = end ? end + 3 : NULL;
	}
	instance = (struct cuda_instance){.host = &host};
	cuda_count(&instance);
	fuzz_require(!fchdir(outside));
	check(&instance);
	free(text);
	return 0;
}
