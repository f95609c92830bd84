/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Files and folders that somebody else could change, at each level above them.  Other owners need
 * root; the rest holds for every user.
 */
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "check.h"

#define STRANGER 65534
#define OWN ((uid_t)-1)

static char top[256];

static const char *below(const char *name)
{
	static char path[4][512];
	static int next;
	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[0]), "%s%s%s", top, *name ? "/" : "", name);
	return path[next];
}

/* top/lib/tenon/0/file, with a link to lib beside it. */
static int make_tree(void **state)
{
	static const char *const folders[] = {"lib", "lib/tenon", "lib/tenon/0", "all"};
	(void)state;
	if (make_program_folder(top, sizeof(top)))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (mkdir(below(folders[i]), 0755))
			return -1;
	}
	int fd = open(below("lib/tenon/0/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return fd < 0 || close(fd) || symlink("lib", below("link")) ||
	       symlink("../lib", below("all/link"));
}

static int remove_entry(const char *path, const struct stat *information, int kind,
			struct FTW *where)
{
	(void)information;
	(void)kind;
	(void)where;
	return remove(path);
}

static int remove_tree(void **state)
{
	(void)state;
	return nftw(top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* What is changed of the tree; `path` is checked. */
static const struct {
	const char *changed;
	mode_t mode; /* 0: as it is */
	uid_t owner;
	gid_t group;
	const char *path, *reason; /* NULL: it is trusted */
	int privileged;            /* so it is in a privileged process: else refused */
} rows[] = {
	{"lib", 0, OWN, OWN, "lib/tenon/0", NULL, 1},
	{"lib", 0, OWN, OWN, "lib/tenon/0/file", NULL, 1},
	{"lib", 0, OWN, OWN, "link/tenon/0", NULL, 1},
	{"lib", 0, OWN, OWN, "lib//tenon/../tenon/0/", NULL, 1},
	/* Writable. */
	{"lib/tenon/0/file", 0666, OWN, OWN, "lib/tenon/0/file", "writable by others", 0},
	{"lib/tenon/0", 0777, OWN, OWN, "lib/tenon/0", "writable by others", 0},
	{"lib/tenon", 0777, OWN, OWN, "lib/tenon/0", "writable by others", 0},
	{"lib", 0757, OWN, OWN, "lib/tenon/0", "writable by others", 0},
	{"lib", 0757, OWN, OWN, "link/tenon/0", "writable by others", 0},
	{"", 0777, OWN, OWN, "lib/tenon/0/file", "writable by others", 0},
	{"all", 0777, OWN, OWN, "all/link/tenon/0", "writable by others", 0},
	/* With the sticky bit: not that which holds the file or folder. */
	{"lib/tenon/0", 01777, OWN, OWN, "lib/tenon/0", "writable by others (mode 1777)", 0},
	{"lib/tenon/0", 01777, OWN, OWN, "lib/tenon/0/file", "writable by others (mode 1777)", 0},
	{"lib/tenon", 01777, OWN, OWN, "lib/tenon/0/file", NULL, 1},
	{"lib", 01777, OWN, OWN, "lib/tenon/0", NULL, 1},
	/* A group: the owner's own is no stranger. */
	{"lib", 0775, 0, STRANGER, "lib/tenon/0", "writable by its group", 0},
	{"lib/tenon/0", 0775, 0, STRANGER, "lib/tenon/0", "writable by its group", 0},
	{"lib/tenon/0/file", 0664, 0, STRANGER, "lib/tenon/0/file", "writable by its group", 0},
	{"lib", 0775, 0, 0, "lib/tenon/0", NULL, 0},
	{"lib", 01775, 0, STRANGER, "lib/tenon/0", NULL, 1},
	/* Another owner, of the thing, of a folder above it, or of a link to it. */
	{"lib/tenon/0/file", 0, STRANGER, OWN, "lib/tenon/0/file", "belongs to user 65534", 0},
	{"lib/tenon/0", 0, STRANGER, OWN, "lib/tenon/0", "belongs to user 65534", 0},
	{"lib/tenon/0", 01777, STRANGER, OWN, "lib/tenon/0", "belongs to user 65534", 0},
	{"lib/tenon", 0, STRANGER, OWN, "lib/tenon/0", "belongs to user 65534", 0},
	{"lib", 0, STRANGER, OWN, "lib/tenon/0", "belongs to user 65534", 0},
	{"lib", 0, STRANGER, OWN, "link/tenon/0", "belongs to user 65534", 0},
	{"", 0, STRANGER, OWN, "lib/tenon/0", "belongs to user 65534", 0},
	{"link", 0, STRANGER, OWN, "link/tenon/0", "link belongs to user 65534", 0},
	{"all", 0, STRANGER, OWN, "all/link/tenon/0", "all belongs to user 65534", 0},
	{"link", 0, STRANGER, OWN, "lib/tenon/0", NULL, 1},
};

static tn_status resolve(const char *path, int is_privileged, char text[512])
{
	struct tn_error_info error = {0};
	char *real = NULL;
	tn_status status = tn_trust_resolve(path, is_privileged, &real, &error);
	assert_int_equal(real != NULL, !status);
	if (real)
		assert_null(strstr(real, "link"));
	tn_mem_free(real);
	snprintf(text, 512, "%s", error.text);
	return status;
}

/* Wherever TMPDIR is. */
static int is_here_trusted(void)
{
	char text[512];
	tn_status status = resolve(below("lib"), 0, text);
	if (status)
		print_message("skipped: %s\n", text);
	return !status;
}

static void a_path_is_trusted_if_no_stranger_can_change_it(void **state)
{
	const int is_root = geteuid() == 0;
	if (!is_root)
		print_message("other owners are skipped: only root can give files away\n");
	assert_int_equal(make_tree(state), 0);
	const int is_trusted = is_here_trusted();
	assert_int_equal(remove_tree(state), 0);
	if (!is_trusted)
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];
		if (!is_root && (rows[i].owner != OWN || rows[i].group != OWN))
			continue;
		assert_int_equal(make_tree(state), 0);
		if (rows[i].owner != OWN || rows[i].group != OWN)
			assert_int_equal(
				lchown(below(rows[i].changed), rows[i].owner, rows[i].group), 0);
		if (rows[i].mode)
			assert_int_equal(chmod(below(rows[i].changed), rows[i].mode), 0);
		tn_status status = resolve(below(rows[i].path), 0, text);
		if (status != (rows[i].reason ? TN_REFUSED : TN_OK))
			print_error("row %zu: %s\n", i, text);
		assert_status(status, rows[i].reason ? TN_REFUSED : TN_OK);
		if (rows[i].reason)
			assert_contains(text, rows[i].reason);
		/* An ordinary user's files are no privileged process's. */
		status = resolve(below(rows[i].path), 1, text);
		assert_status(status, rows[i].privileged && is_root ? TN_OK : TN_REFUSED);
		if (status)
			assert_contains(text, "and this process is privileged");
		assert_int_equal(remove_tree(state), 0);
	}
}

static void a_path_that_leads_nowhere_says_why(void **state)
{
	static const struct {
		const char *path;
		int problem;
	} nowhere[] = {{"none", ENOENT},
		       {"lib/tenon/0/file/0", ENOTDIR},
		       {"loop", ELOOP},
		       {"gone", ENOENT}};
	char text[512];
	assert_int_equal(make_tree(state), 0);
	assert_int_equal(symlink("loop", below("loop")), 0);
	assert_int_equal(symlink("none", below("gone")), 0);
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		assert_status(resolve(below(nowhere[i].path), 0, text), TN_IO);
		assert_int_equal(errno, nowhere[i].problem);
	}
	assert_int_equal(remove_tree(state), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_trusted_if_no_stranger_can_change_it),
		cmocka_unit_test(a_path_that_leads_nowhere_says_why),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
