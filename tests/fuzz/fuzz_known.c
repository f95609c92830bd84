/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the input as a data file of a backend and of a communicator, below a small tree of signs.
 */
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "loader/known_plugins.h"
#include "loader/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/tenon-fuzz-XXXXXX";
static int n_messages;

static void count_message(void *user, int level, const char *subsystem, const char *text,
			  size_t length)
{
	(void)user, (void)level, (void)subsystem, (void)text;
	fuzz_require(length > 0);
	n_messages++;
}

/* Folders and files of the tree, in the order in which they are made. */
static const struct {
	const char *path, *text; /* NULL: a folder */
} tree[] = {
	{"/dev", NULL},
	{"/dev/npu0", ""},
	{"/dev/npu1", ""},
	{"/sys", NULL},
	{"/sys/bus", NULL},
	{"/sys/bus/pci", NULL},
	{"/sys/bus/pci/devices", NULL},
	{"/sys/bus/pci/devices/a", NULL},
	{"/sys/bus/pci/devices/a/vendor", "0x10de\n"},
	{"/sys/bus/pci/devices/a/class", "0x030000\n"},
};
enum { N_TREE = sizeof(tree) / sizeof(*tree) };

static const char *place(const char *path)
{
	static char text[256];
	snprintf(text, sizeof(text), "%s%s", folder, path);
	return text;
}

static void remove_tree(void)
{
	(void)unlink(place("/x.backend"));
	(void)unlink(place("/x.communicator"));
	for (int i = N_TREE; i-- > 0;)
		(void)remove(place(tree[i].path));
	(void)rmdir(folder);
}

static void make_tree(const char *input)
{
	fuzz_require(mkdtemp(folder) && !atexit(remove_tree));
	for (int i = 0; i < N_TREE; i++) {
		FILE *file = NULL;
		if (!tree[i].text)
			fuzz_require(!mkdir(place(tree[i].path), 0700));
		else
			fuzz_require((file = fopen(place(tree[i].path), "w")) &&
				     fputs(tree[i].text, file) >= 0 && !fclose(file));
	}
	fuzz_require(!symlink(input, place("/x.backend")));
	fuzz_require(!symlink(input, place("/x.communicator")));
	fuzz_require(!setenv("SIZE", "4", 1) && !setenv("RANK", "3", 1));
	fuzz_require(!setenv("WORDS", "four", 1));
}

static void check(const struct tn_known *entry)
{
	fuzz_require(tn_search_is_name(entry->name, strlen(entry->name)));
	fuzz_require(entry->kind <= TN_DEVICE_CPU && entry->n_launches <= TN_KNOWN_MOST_LAUNCHES);
	fuzz_require(strlen(entry->hardware) < sizeof(entry->hardware));
	fuzz_require(strlen(entry->packages) < sizeof(entry->packages));
	fuzz_require(strlen(entry->source) < sizeof(entry->source));
	for (int i = 0; i < entry->n_launches; i++) {
		const struct tn_launch *launch = &entry->launches[i];
		fuzz_require(launch->size_variable[0] && launch->rank_variable[0]);
		fuzz_require(!launch->size || (entry->seen && launch->rank < launch->size));
	}
}

static void read_as(const struct tn_plugin_kind *kind)
{
	struct tn_logger logger;
	struct tn_parameters parameters;
	struct tn_known_list known;
	tn_logger_init(&logger);
	logger.callback = count_message;
	tn_parameters_init(&parameters);
	const struct tn_known_source source = {.kind = kind,
					       .folder = folder,
					       .root = folder,
					       .parameters = &parameters,
					       .logger = &logger};
	n_messages = 0;
	fuzz_require(tn_known_read(&source, &known) == TN_OK && known.n <= 1);
	if (known.n)
		check(known.list);
	else
		fuzz_require(n_messages > 0);
	tn_known_release(&known);
	tn_parameters_release(&parameters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int is_made;
	const char *input = fuzz_file(data, size);
	if (!is_made)
		make_tree(input);
	is_made = 1;
	read_as(&tn_backend_kind);
	read_as(&tn_communicator_kind);
	return 0;
}
