/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * plugins/cuda/cache.c: reads return what was written, whatever else is in the folder.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "check.h"

static char top[] = "/tmp/tenon-cuda-cache-XXXXXX";
static char own_folder[256];
static const char *cache_dir;

static char logged[512]; /* the last message */

static int32_t is_logged(void *context, int32_t level, const char *subsystem)
{
	(void)context, (void)level, (void)subsystem;
	return 1;
}

static void keep_message(void *context, int32_t level, const char *subsystem, const char *text,
			 size_t length)
{
	(void)context, (void)level, (void)subsystem;
	snprintf(logged, sizeof(logged), "%.*s", (int)length, text);
}

static void *take(void *context, size_t size, size_t alignment)
{
	(void)context, (void)alignment;
	return malloc(size);
}

static void give(void *context, void *memory)
{
	(void)context;
	free(memory);
}

static const char *parameter(void *context, const char *name, const char *help)
{
	(void)context, (void)help;
	return strcmp(name, "TENON_CACHE_DIR") ? NULL : cache_dir;
}

static const struct tn_host host = {
	.struct_size = sizeof(host),
	.log_enabled = is_logged,
	.log = keep_message,
	.alloc = take,
	.free = give,
	.parameter = parameter,
};

/* A folder with one file: the binary of the key. */
struct fixture {
	int folder;
	struct tn_plugin_text key, binary, found;
	char file[512];
};

static void name_file(struct fixture *f)
{
	DIR *list = opendir(own_folder);
	const struct dirent *entry;
	int n = 0;
	assert_non_null(list);
	while ((entry = readdir(list))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(f->file, sizeof(f->file), "%s/%s", own_folder, entry->d_name);
		n++;
	}
	closedir(list);
	assert_int_equal(n, 1);
}

static int set_up(void **state)
{
	static struct fixture fixture;
	fixture = (struct fixture){.key.host = &host, .binary.host = &host, .found.host = &host};
	cache_dir = top;
	fixture.folder = cuda_cache_open(&host);
	assert_true(fixture.folder >= 0);
	tn_plugin_text_add(&fixture.key, "NVRTC 13.0\nsource");
	tn_plugin_text_append(&fixture.binary, "\177ELF\0binary", 11);
	cuda_cache_write(&host, fixture.folder, &fixture.key, &fixture.binary);
	name_file(&fixture);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	unlink(f->file);
	cuda_cache_close(f->folder);
	tn_plugin_text_free(&f->key);
	tn_plugin_text_free(&f->binary);
	tn_plugin_text_free(&f->found);
	return 0;
}

static void a_binary_is_read_as_it_was_written(void **state)
{
	struct fixture *f = *state;
	assert_true(cuda_cache_read(f->folder, &f->key, &f->found));
	assert_int_equal(f->found.length, f->binary.length);
	assert_memory_equal(f->found.data, f->binary.data, f->binary.length);
}

static void another_key_finds_nothing(void **state)
{
	struct fixture *f = *state;
	tn_plugin_text_add(&f->key, " ");
	assert_false(cuda_cache_read(f->folder, &f->key, &f->found));
}

static void no_changed_byte_goes_unseen(void **state)
{
	struct fixture *f = *state;
	int file = open(f->file, O_RDWR);
	struct stat about;
	assert_int_equal(fstat(file, &about), 0);
	for (off_t at = 0; at < about.st_size; at++) {
		unsigned char byte, changed;
		assert_int_equal(pread(file, &byte, 1, at), 1);
		changed = byte ^ 0x20;
		assert_int_equal(pwrite(file, &changed, 1, at), 1);
		if (cuda_cache_read(f->folder, &f->key, &f->found))
			fail_msg("byte %ld was changed, and the file was taken", (long)at);
		assert_int_equal(pwrite(file, &byte, 1, at), 1);
	}
	close(file);
	assert_true(cuda_cache_read(f->folder, &f->key, &f->found));
}

static void a_cut_file_is_not_taken(void **state)
{
	struct fixture *f = *state;
	struct stat about;
	assert_int_equal(stat(f->file, &about), 0);
	while (about.st_size-- > 0) {
		assert_int_equal(truncate(f->file, about.st_size), 0);
		assert_false(cuda_cache_read(f->folder, &f->key, &f->found));
	}
}

static void a_file_that_others_may_write_is_not_taken(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(chmod(f->file, 0666), 0);
	assert_false(cuda_cache_read(f->folder, &f->key, &f->found));
}

static void a_link_is_not_followed(void **state)
{
	struct fixture *f = *state;
	char other[600];
	snprintf(other, sizeof(other), "%s/other", top);
	assert_int_equal(rename(f->file, other), 0);
	assert_int_equal(symlink(other, f->file), 0);
	assert_false(cuda_cache_read(f->folder, &f->key, &f->found));
	unlink(other);
}

static void a_fifo_is_not_waited_for(void **state)
{
	struct fixture *f = *state;
	unlink(f->file);
	assert_int_equal(mkfifo(f->file, 0600), 0);
	assert_false(cuda_cache_read(f->folder, &f->key, &f->found));
}

static void what_is_damaged_is_written_anew(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(truncate(f->file, 10), 0);
	cuda_cache_write(&host, f->folder, &f->key, &f->binary);
	assert_true(cuda_cache_read(f->folder, &f->key, &f->found));
}

static void a_folder_that_others_may_write_is_not_used(void **state)
{
	(void)state;
	assert_int_equal(chmod(own_folder, 0777), 0);
	assert_int_equal(cuda_cache_open(&host), -1);
	assert_int_equal(chmod(own_folder, 0700), 0);
}

static void an_empty_name_keeps_nothing(void **state)
{
	(void)state;
	cache_dir = "";
	assert_int_equal(cuda_cache_open(&host), -1);
	assert_false(cuda_cache_read(-1, &(struct tn_plugin_text){.host = &host},
				     &(struct tn_plugin_text){.host = &host}));
}

static void a_name_that_does_not_begin_at_the_root_is_said_to_be_none(void **state)
{
	(void)state;
	cache_dir = "kernels";
	logged[0] = 0;
	assert_int_equal(cuda_cache_open(&host), -1);
	assert_contains(logged, "TENON_CACHE_DIR is 'kernels'");
}

static void make_file(const char *name, off_t size, time_t age)
{
	char path[512];
	const struct timespec then = {.tv_sec = time(NULL) - age};
	const struct timespec times[2] = {then, then};
	snprintf(path, sizeof(path), "%s/%s", own_folder, name);
	int file = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, size), 0);
	assert_int_equal(futimens(file, times), 0);
	close(file);
}

/* Does it exist?  Removes it. */
static int take_file(const char *name)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", own_folder, name);
	return !unlink(path);
}

#define NAME(digit) "0123456789abcdef0123456789abcde" digit ".bin"

static void what_was_not_used_for_longest_goes(void **state)
{
	struct fixture *f = *state;
	const off_t size = (off_t)100 << 20;
	make_file(NAME("1"), size, 1000);
	make_file(NAME("2"), size, 3000);
	make_file(NAME("3"), size, 2000);
	make_file("somebody's.bin", size, 9000);
	make_file("." NAME("4") ".99.0", 1, 9000);
	make_file("." NAME("5") ".99.0", 1, 90000);
	cuda_cache_close(cuda_cache_open(&host));
	assert_true(take_file(NAME("1")));
	assert_false(take_file(NAME("2")));
	assert_false(take_file(NAME("3")));
	assert_true(take_file("somebody's.bin"));
	assert_true(take_file("." NAME("4") ".99.0"));
	assert_false(take_file("." NAME("5") ".99.0"));
	assert_true(cuda_cache_read(f->folder, &f->key, &f->found));
}

static void what_is_read_is_used(void **state)
{
	struct fixture *f = *state;
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct stat about;
	assert_int_equal(utimensat(AT_FDCWD, f->file, times, 0), 0);
	assert_true(cuda_cache_read(f->folder, &f->key, &f->found));
	assert_int_equal(stat(f->file, &about), 0);
	assert_true(about.st_mtim.tv_sec > 1);
}

static void a_folder_that_cannot_be_made_is_none(void **state)
{
	(void)state;
	cache_dir = "/dev/null/cache";
	assert_int_equal(cuda_cache_open(&host), -1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_binary_is_read_as_it_was_written),
		CASE(another_key_finds_nothing),
		CASE(no_changed_byte_goes_unseen),
		CASE(a_cut_file_is_not_taken),
		CASE(a_file_that_others_may_write_is_not_taken),
		CASE(a_link_is_not_followed),
		CASE(a_fifo_is_not_waited_for),
		CASE(what_is_damaged_is_written_anew),
		CASE(a_folder_that_others_may_write_is_not_used),
		CASE(an_empty_name_keeps_nothing),
		CASE(a_folder_that_cannot_be_made_is_none),
		CASE(a_name_that_does_not_begin_at_the_root_is_said_to_be_none),
		CASE(what_was_not_used_for_longest_goes),
		CASE(what_is_read_is_used),
	};
	if (!mkdtemp(top))
		return 1;
	snprintf(own_folder, sizeof(own_folder), "%s/cuda", top);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(own_folder);
	rmdir(top);
	return failed;
}
