/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The command line.  Whatever is wrong with it ends the program with status 2, and what was expected.
 */
#include <errno.h>
#include <getopt.h>
#include <unistd.h>

#include "frame.h"

#ifndef PACKAGE_VERSION
#include "config.h"
#endif

static const char usage[] =
	"usage: tenon-conform [OPTION]... BACKEND|FILE.so\n"
	"\n"
	"Runs the conformance checks of tenon-backend(7) on a backend: one found by name, or a\n"
	"plugin file (an argument with a '/', or that ends in .so).\n"
	"\n"
	"      --mode=MODE        test (the default), perf or support\n"
	"      --require=LN       fail when level N is not reached\n"
	"      --level=N[-M]      run levels N to M alone\n"
	"      --filter=PATTERN   run the checks whose id matches alone ('map.*')\n"
	"      --seed=N           the seed of random shapes and data (0)\n"
	"      --device=N         which of the backend's devices (0)\n"
	"      --timeout=SECONDS  how long a check may take (300)\n"
	"      --exclude=FILE     leave out the checks that FILE names, with date and reason\n"
	"      --json             write one JSON object\n"
	"      --list             list the checks, and the rules that cite them\n"
	"      --help, --version\n";

enum {
	OPTION_MODE = 256,
	OPTION_REQUIRE,
	OPTION_LEVEL,
	OPTION_FILTER,
	OPTION_SEED,
	OPTION_DEVICE,
	OPTION_TIMEOUT,
	OPTION_EXCLUDE,
	OPTION_JSON,
	OPTION_LIST,
	OPTION_HELP,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"mode", required_argument, NULL, OPTION_MODE},
	{"require", required_argument, NULL, OPTION_REQUIRE},
	{"level", required_argument, NULL, OPTION_LEVEL},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"seed", required_argument, NULL, OPTION_SEED},
	{"device", required_argument, NULL, OPTION_DEVICE},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"exclude", required_argument, NULL, OPTION_EXCLUDE},
	{"json", no_argument, NULL, OPTION_JSON},
	{"list", no_argument, NULL, OPTION_LIST},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static int wrong(const char *option, const char *expected, const char *found)
{
	fprintf(stderr, "tenon-conform: %s: expected %s, found '%s'\n", option, expected, found);
	return EXIT_USAGE;
}

/* A decimal number up to `most`; 0 when it is none. */
static int read_number(const char *text, uint64_t most, uint64_t *number)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (!*text || strspn(text, "0123456789") != strlen(text) || errno || value > most)
		return 0;
	*number = value;
	return 1;
}

static int read_mode(struct options *options, const char *text)
{
	static const char *const names[] = {"test", "perf", "support"};
	for (int i = 0; i < 3; i++) {
		if (!strcmp(text, names[i])) {
			options->mode = (enum mode)i;
			return -1;
		}
	}
	return wrong("--mode", "test, perf or support", text);
}

static int is_level(char digit)
{
	return digit >= '0' && digit < '0' + LEVELS;
}

static int read_require(struct options *options, const char *text)
{
	if (text[0] != 'L' || !is_level(text[1]) || text[2])
		return wrong("--require", "L0 to L5", text);
	options->require = text[1] - '0';
	return -1;
}

static int read_levels(struct options *options, const char *text)
{
	size_t length = strlen(text);
	int is_range = length == 3 && text[1] == '-' && is_level(text[2]);
	if (!is_level(text[0]) || !(length == 1 || is_range))
		return wrong("--level", "N or N-M, 0 to 5", text);
	options->first_level = text[0] - '0';
	options->last_level = text[length - 1] - '0';
	if (options->first_level > options->last_level)
		return wrong("--level", "the lower level first", text);
	return -1;
}

static int take(struct options *options, int option, const char *text)
{
	uint64_t number;
	switch (option) {
	case OPTION_MODE:
		return read_mode(options, text);
	case OPTION_REQUIRE:
		return read_require(options, text);
	case OPTION_LEVEL:
		return read_levels(options, text);
	case OPTION_FILTER:
		options->filter = text;
		return -1;
	case OPTION_SEED:
		return read_number(text, INT64_MAX, &options->seed)
			       ? -1
			       : wrong("--seed", "a number below 2^63", text);
	case OPTION_DEVICE:
		if (!read_number(text, 1023, &number))
			return wrong("--device", "a number below 1024", text);
		options->device = (uint32_t)number;
		return -1;
	case OPTION_TIMEOUT:
		if (!read_number(text, 86400, &number) || !number)
			return wrong("--timeout", "seconds, 1 to 86400", text);
		options->timeout_s = (unsigned)number;
		return -1;
	case OPTION_EXCLUDE:
		return exclusions_read(options, text) ? -1 : EXIT_USAGE;
	case OPTION_JSON:
		options->json = 1;
		return -1;
	case OPTION_LIST:
		options->mode = MODE_LIST;
		return -1;
	case OPTION_HELP:
		fputs(usage, stdout);
		return EXIT_PASSED;
	case OPTION_VERSION:
		printf("tenon-conform %s, backend interface %u.%u\n", PACKAGE_VERSION, TN_ABI_MAJOR,
		       TN_ABI_MINOR);
		return EXIT_PASSED;
	default:
		fputs("Try 'tenon-conform --help'.\n", stderr);
		return EXIT_USAGE;
	}
}

/* A plugin's file is given by a path; "backend_x.so" means the one here, as for a shell's commands it
 * would not. */
static int take_target(struct options *options, const char *text)
{
	static char here[4096];
	size_t length = strlen(text);
	options->which = text;
	if (!strchr(text, '/') && length > 3 && !strcmp(text + length - 3, ".so")) {
		snprintf(here, sizeof(here), "./%s", text);
		options->which = here;
	}
	if (strchr(options->which, '/') && access(options->which, R_OK)) {
		fprintf(stderr, "tenon-conform: %s: %s\n", text, strerror(errno));
		return EXIT_USAGE;
	}
	return -1;
}

static int check_together(const struct options *options)
{
	if (options->require == NO_LEVEL)
		return -1;
	if (options->filter || options->first_level > 0 || options->last_level < options->require) {
		fprintf(stderr, "tenon-conform: --require=L%d: levels 0 to %d must run whole\n",
			options->require, options->require);
		return EXIT_USAGE;
	}
	return -1;
}

int options_read(struct options *options, int argc, char **argv)
{
	int option, status = -1;
	*options =
		(struct options){.require = NO_LEVEL, .last_level = LEVELS - 1, .timeout_s = 300};
	while (status < 0 && (option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		status = take(options, option, optarg);
	if (status >= 0)
		return status;
	if (options->mode == MODE_LIST && optind == argc)
		return -1;
	if (argc - optind != 1) {
		fprintf(stderr, "tenon-conform: expected one BACKEND or FILE.so, found %d\n",
			argc - optind);
		return EXIT_USAGE;
	}
	status = take_target(options, argv[optind]);
	return status < 0 ? check_together(options) : status;
}

void options_release(struct options *options)
{
	free(options->exclusions);
}
