/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon-conform: runs the conformance checks on a backend; tenon-conform(1).
 */
#include <limits.h>

#include "modes.h"

static int test(const struct options *options)
{
	struct run run;
	int status;
	if (!run_init(&run, options)) {
		fputs("tenon-conform: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	if (!options->json)
		report_text_begin(&run);
	supervise(&run);
	status = run_exit_status(&run);
	if (!options->json)
		report_text_end(&run);
	else if (!report_json(&run))
		status = EXIT_FAILED;
	run_release(&run);
	return status;
}

/* Replaces a name by the path of its file. */
static int resolve(struct options *options)
{
	static char path[PATH_MAX];
	if (strchr(options->which, '/') || target_is_built_in(options->which))
		return 1;
	if (!target_find(options->which, path, sizeof(path))) {
		fprintf(stderr,
			"tenon-conform: %s: no backend_%s.so was found (TENON_PLUGIN_PATH, or a "
			"path with a '/')\n",
			options->which, options->which);
		return 0;
	}
	options->which = path;
	return 1;
}

int main(int argc, char **argv)
{
	struct options options;
	int status = options_read(&options, argc, argv);
	if (status < 0 && options.mode == MODE_LIST) {
		report_list();
		status = EXIT_PASSED;
	} else if (status < 0) {
		status = !resolve(&options)             ? EXIT_USAGE
			 : options.mode == MODE_PERF    ? mode_perf(&options)
			 : options.mode == MODE_SUPPORT ? mode_support(&options)
							: test(&options);
	}
	options_release(&options);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("tenon-conform: the report could not be written\n", stderr);
		return EXIT_FAILED;
	}
	return status;
}
