/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CUDA backend in a program that has opened the runtime from a folder where dlopen does not
 * search, as programs that bring their own CUDA do: cuBLAS and NVRTC are taken from there too.
 */
#include <link.h>
#include <unistd.h>

#include "plugin_fixture.h"

static const char *const files[] = {"libcudart.so.13", "libnvidia-ml.so.1", "libcublas.so.13",
				    "libcublasLt.so.13", "libnvrtc.so.13"};
enum { N_FILES = 5, N_OPENED = 2 };

static char folder[] = "/tmp/tenon-cuda-place-XXXXXX";

static void path_of(char path[4096], size_t file)
{
	snprintf(path, 4096, "%s/%s", folder, files[file]);
}

static int set_up(void **state)
{
	char path[4096], target[4096];
	const char *build = getenv("TENON_BUILD");
	(void)state;
	unsetenv("CUDA_VISIBLE_DEVICES"); /* it selects among the machine's own devices */
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 0; i < N_FILES; i++) {
		path_of(path, i);
		snprintf(target, sizeof(target), "%s/tests/simcuda/.libs/%s", build ? build : ".",
			 files[i]);
		if (symlink(target, path))
			return -1;
	}
	for (size_t i = 0; i < N_OPENED; i++) {
		path_of(path, i);
		if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
			print_error("%s\n", dlerror());
	}
	return 0;
}

static int tear_down(void **state)
{
	char path[4096];
	(void)state;
	for (size_t i = 0; i < N_FILES; i++) {
		path_of(path, i);
		unlink(path);
	}
	return rmdir(folder);
}

/* The path of the library loaded under that name. */
static const char *opened_at(const char *file)
{
	struct link_map *map = NULL;
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		fail_msg("%s is not open", file);
	dlclose(handle);
	return map->l_name;
}

static void libraries_beside_the_runtime_are_opened_from_there(void **state)
{
	enum { ROOM = 64 << 10 };
	struct plugin p = {.device = NULL};
	float found = 0;
	(void)state;
	plugin_load(&p);
	if (plugin_open_device(&p, 0))
		fail_msg("open: %s", p.error.text);
	uint64_t a = plugin_take(&p, TN_MEMORY_DEVICE, sizeof(found));
	uint64_t c = plugin_take(&p, TN_MEMORY_DEVICE, sizeof(found));
	uint64_t room = plugin_take(&p, TN_MEMORY_DEVICE, ROOM);
	struct tn_workspace workspace = {
		.struct_size = sizeof(workspace), .buffer = room, .size = ROOM};
	if (plugin_fill(&p, NULL, a, 1, 3))
		fail_msg("fill: %s", p.error.text);
	struct tn_matmul_args args = {.call = plugin_call(&p, sizeof(args), NULL),
				      .a = plugin_matrix(a, 1, 1),
				      .b = plugin_matrix(a, 1, 1),
				      .c = plugin_matrix(c, 1, 1),
				      .alpha = 1};
	args.call.workspace = &workspace;
	if (p.compute->matmul(p.device, &args))
		fail_msg("matmul: %s", p.error.text);
	assert_ok(plugin_download(&p, c, &found, sizeof(found)));
	assert_close(found, 9, 0);
	for (size_t i = 0; i < N_FILES; i++)
		assert_contains(opened_at(files[i]), folder);
	p.devices->close(p.device);
	p.descriptor->destroy(p.instance);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_beside_the_runtime_are_opened_from_there),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
