/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The command line.  Any error in it ends the program with status 2 and a message.
 */
#include <errno.h>
#include <getopt.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/parameter.h"
#include "frame.h"
#include "loader/kind.h"
#include "loader/plugin_options.h"
#include "../option_table.h"

#ifndef PACKAGE_VERSION
#include "config.h"
#endif

static const char about[] =
	"  Runs the conformance checks of tenon-backend(7) on a backend: one found by\n"
	"  name, or a plugin file (an argument with a '/', or ending in .so).\n";

static int wrong(const char *problem)
{
	fprintf(stderr, "tenon-conform: %s\nTry: tenon-conform --help\n", problem);
	return EXIT_USAGE;
}

static int is_level(char digit)
{
	return digit >= '0' && digit < '0' + LEVELS;
}

static int take_require(void *values, const char *text)
{
	struct options *options = values;
	if (text[0] != 'L' || !is_level(text[1]) || text[2])
		return 0;
	options->require = text[1] - '0';
	return 1;
}

static int take_levels(void *values, const char *text)
{
	struct options *options = values;
	size_t length = strlen(text);
	int is_range = length == 3 && text[1] == '-' && is_level(text[2]);
	if (!is_level(text[0]) || !(length == 1 || is_range))
		return 0;
	options->first_level = text[0] - '0';
	options->last_level = text[length - 1] - '0';
	return options->first_level <= options->last_level;
}

static int take_seed(void *values, const char *text)
{
	struct options *options = values;
	return parse_count(text, 0, INT64_MAX, &options->seed);
}

/* Another one for each run. */
static uint64_t draw_seed(void)
{
	uint32_t seed;
	if (getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed))
		return seed;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec ^ (uint64_t)t.tv_nsec;
}

/* Without --seed: that of TENON_CONFORM_SEED, otherwise a drawn one.  0 after a message. */
static int default_seed(struct options *options)
{
	struct tn_parameters parameters;
	tn_parameters_init(&parameters);
	const char *text = tn_parameter_read(&parameters, "TENON_CONFORM_SEED",
					     "the seed of tenon-conform without --seed");
	options->seed = draw_seed();
	const int is_right = !text || !*text || take_seed(options, text);
	if (!is_right)
		fprintf(stderr,
			"tenon-conform: TENON_CONFORM_SEED: expected a whole number below 2^63, "
			"found '%s'\n",
			text);
	tn_parameters_release(&parameters);
	return is_right;
}

static int take_backend_option(void *values, const char *text)
{
	struct options *options = values;
	const size_t length = strcspn(text, "="), n = options->n_given;
	if (!text[length] || n == MOST_BACKEND_OPTIONS || length >= sizeof(options->keys[n]))
		return 0;
	memcpy(options->keys[n], text, length);
	options->given[n] = (struct tn_pair){options->keys[n], text + length + 1};
	options->n_given++;
	return 1;
}

/* Options that need conversion. */
struct given {
	uint64_t device, timeout, effort;
	double patience;
	uint32_t mode;
	const char *exclude;
	int list, version;
};

static int read_table(struct options *options, struct given *given, int argc, char **argv)
{
	static const char *const modes[] = {[MODE_TEST] = "test",
					    [MODE_LARGE] = "large",
					    [MODE_PERF] = "perf",
					    [MODE_SUPPORT] = "support",
					    NULL};
	const struct option_row rows[] = {
		{"mode", "MODE", "test (the default), large, perf or support",
		 .choice = &given->mode, .choices = modes},
		{"require", "LN", "fail unless level N is reached", .take = take_require,
		 .values = options, .expected = "L0 to L5"},
		{"level", "N[-M]", "run only levels N to M", .take = take_levels, .values = options,
		 .expected = "N or N-M, 0 to 5, the lower level first"},
		{"filter", "PATTERN", "run only the checks whose id matches ('map.*')",
		 .text = &options->filter},
		{"seed", "N", "the seed of random shapes and data (drawn)", .take = take_seed,
		 .values = options, .expected = "a whole number below 2^63"},
		{"device", "N", "the index of the device (0)", .count = &given->device,
		 .highest = 1023},
		{"timeout", "SECONDS", "time limit of a check (300; large: 3600)",
		 .count = &given->timeout, .lowest = 1, .highest = 86400},
		{"patience", "SECONDS", "of a sweep, before it leaves cases out (20; large: 120)",
		 .real = &given->patience, .lowest = 0, .highest = 86400},
		{"effort", "PERCENT", "of sweeps and drawn cases (100)", .count = &given->effort,
		 .lowest = 1, .highest = 1000},
		{"exclude", "FILE", "skip the checks that FILE lists, with date and reason",
		 .text = &given->exclude},
		{"backend-option", "N=V", "as cuda.cudnn=auto; may be given again",
		 .take = take_backend_option, .values = options,
		 .expected = "BACKEND.OPTION=VALUE, at most 32 times"},
		{"table", "NAME", "check the vendor's table com.example.table/1 too",
		 .text = &options->table},
		{"strict", NULL, "fail if cases were not tried", .flag = &options->strict},
		{"json", NULL, "write one JSON object", .flag = &options->json},
		{"list", NULL, "list the checks, and the rules that cite them",
		 .flag = &given->list},
		{"version", NULL, "the versions of this program and of the interface",
		 .flag = &given->version},
	};
	const struct option_table table = {
		"tenon-conform", "BACKEND|FILE.so", about, rows, N_ROWS(rows), NULL, 0};
	return option_table_read(&table, argc, argv);
}

/* Recognises the path of a plugin file; "backend_x.so" means the file in the current folder. */
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
	const struct tn_given_options given = {options->given, options->n_given};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	if (tn_given_options_check(&given, &tn_backend_kind, "tenon-conform", &error)) {
		fprintf(stderr, "tenon-conform: --backend-option: %s\n", error.text);
		return EXIT_USAGE;
	}
	if (options->require == NO_LEVEL)
		return OPTIONS_READ;
	if (options->mode != MODE_TEST || options->filter || options->first_level > 0 ||
	    options->last_level < options->require) {
		fprintf(stderr,
			"tenon-conform: --require=L%d: levels 0 to %d must run completely\n",
			options->require, options->require);
		return EXIT_USAGE;
	}
	return OPTIONS_READ;
}

static int print_version(void)
{
	printf("tenon-conform %s, backend interface %u.%u\n", PACKAGE_VERSION, TN_ABI_MAJOR,
	       TN_ABI_MINOR);
	return EXIT_PASSED;
}

int options_read(struct options *options, int argc, char **argv)
{
	struct given given = {.patience = -1, .effort = 100};
	*options = (struct options){.require = NO_LEVEL, .last_level = LEVELS - 1};
	if (!default_seed(options))
		return EXIT_USAGE;
	int status = read_table(options, &given, argc, argv);
	if (status != OPTIONS_READ)
		return status;
	options->mode = given.list ? MODE_LIST : (enum mode)given.mode;
	options->device = (uint32_t)given.device;
	options->effort = (unsigned)given.effort;
	options->timeout_s = given.timeout                 ? (unsigned)given.timeout
			     : options->mode == MODE_LARGE ? 3600
							   : 300;
	options->patience_s = given.patience >= 0           ? given.patience
			      : options->mode == MODE_LARGE ? 120
							    : 20;
	if (given.version)
		return print_version();
	if (given.exclude && !exclusions_read(options, given.exclude))
		return EXIT_USAGE;
	if (options->mode == MODE_LIST && optind == argc)
		return OPTIONS_READ;
	if (argc - optind != 1)
		return wrong(optind < argc ? "expected one BACKEND or FILE.so, found several"
					   : "expected one BACKEND or FILE.so, found none");
	status = take_target(options, argv[optind]);
	return status == OPTIONS_READ ? check_together(options) : status;
}

void options_release(struct options *options)
{
	free(options->exclusions);
}
