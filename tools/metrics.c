/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The metrics of a training run, written as it proceeds.  Guarantees: the file belongs to one run,
 * and each line is written whole as soon as it is known.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

static int refuse(const char *path, const char *why)
{
	fprintf(stderr, "tenon train: --metrics %s: %s\n", path, why);
	return 0;
}

static int is_regular(int fd)
{
	struct stat found;
	return !fstat(fd, &found) && S_ISREG(found.st_mode);
}

/* The lock ends with the process.  On a file system without locks there is none. */
static int is_locked_by_another(int fd)
{
	return is_regular(fd) && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

int metrics_open(struct metrics *metrics, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return refuse(path, strerror(errno));
	if (is_locked_by_another(fd)) {
		close(fd);
		return refuse(path, "another run is writing this file");
	}
	*metrics = (struct metrics){.path = path, .file = fdopen(fd, "a")};
	if (metrics->file)
		return 1;
	close(fd);
	return refuse(path, strerror(errno));
}

void metrics_begin(struct metrics *metrics)
{
	if (!metrics->file || metrics->is_begun)
		return;
	int fd = fileno(metrics->file);
	metrics->is_begun = 1;
	if (is_regular(fd) && ftruncate(fd, 0))
		metrics->failed_as = errno;
}

void metrics_continue(struct metrics *metrics, uint64_t epochs)
{
	uint64_t epoch;
	off_t end = 0;
	char *line = NULL;
	size_t room = 0;
	if (!metrics->file)
		return;
	metrics->is_begun = 1;
	FILE *in = is_regular(fileno(metrics->file)) ? fopen(metrics->path, "r") : NULL;
	if (!in)
		return;
	for (ssize_t n = getline(&line, &room, in); n > 0; n = getline(&line, &room, in)) {
		if (line[n - 1] != '\n' || sscanf(line, "{\"epoch\": %" SCNu64 ",", &epoch) != 1 ||
		    epoch > epochs)
			break;
		end += n;
	}
	free(line);
	fclose(in);
	if (ftruncate(fileno(metrics->file), end))
		metrics->failed_as = errno;
}

static void write_number(FILE *out, const char *key, double value)
{
	if (isfinite(value))
		fprintf(out, "\"%s\": %.9g", key, value);
	else
		fprintf(out, "\"%s\": null", key);
}

/* Ends the line and writes it to the file at once. */
static void end_line(struct metrics *metrics)
{
	fputs("}\n", metrics->file);
	if (fflush(metrics->file) && !metrics->failed_as)
		metrics->failed_as = errno;
}

void metrics_epoch(struct metrics *metrics, const struct tn_epoch_metrics *m)
{
	FILE *out = metrics->file;
	if (!out)
		return;
	metrics_begin(metrics);
	fprintf(out, "{\"epoch\": %" PRIu64 ", ", m->epoch);
	write_number(out, "train_loss", m->train.loss);
	fputs(", ", out);
	write_number(out, "train_accuracy", m->train.accuracy);
	fputs(", ", out);
	write_number(out, "val_loss", m->validation.images ? m->validation.loss : NAN);
	fputs(", ", out);
	write_number(out, "val_accuracy", m->validation.images ? m->validation.accuracy : NAN);
	fputs(", ", out);
	write_number(out, "seconds", m->seconds);
	fputs(", ", out);
	write_number(out, "images_per_second", m->images_per_second);
	end_line(metrics);
}

void metrics_test(struct metrics *metrics, const struct tn_evaluation *test)
{
	FILE *out = metrics->file;
	if (!out)
		return;
	fputc('{', out);
	write_number(out, "test_loss", test->loss);
	fputs(", ", out);
	write_number(out, "test_accuracy", test->accuracy);
	end_line(metrics);
}

int metrics_close(struct metrics *metrics)
{
	int failed = metrics->failed_as;
	if (!metrics->file)
		return 1;
	if (fclose(metrics->file) && !failed)
		failed = errno;
	metrics->file = NULL;
	return failed ? refuse(metrics->path, strerror(failed)) : 1;
}
