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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "output.h"
#include "print_error.h"

static int refuse(const char *path, const char *why)
{
	print_error("tenon train: --metrics %s: %s", path, why);
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
	*metrics = (struct metrics){.path = path, .is_open = 1, .fd = fd};
	return 1;
}

/* Said at once, as hours of training may follow; the exit status says it too. */
static void note_failure(struct metrics *metrics, int reason)
{
	if (!metrics->failed_as)
		print_error("tenon train: --metrics %s: %s: lines are missing", metrics->path,
			    strerror(reason));
	metrics->failed_as = reason;
}

void metrics_begin(struct metrics *metrics)
{
	if (!metrics->is_open || metrics->is_begun)
		return;
	metrics->is_begun = 1;
	if (is_regular(metrics->fd) && ftruncate(metrics->fd, 0))
		note_failure(metrics, errno);
}

void metrics_continue(struct metrics *metrics, uint64_t epochs)
{
	uint64_t epoch;
	off_t end = 0;
	char *line = NULL;
	size_t room = 0;
	if (!metrics->is_open)
		return;
	metrics->is_begun = 1;
	FILE *in = is_regular(metrics->fd) ? fopen(metrics->path, "re") : NULL;
	if (!in) {
		if (is_regular(metrics->fd))
			note_failure(metrics, errno);
		return;
	}
	ssize_t n;
	errno = 0;
	for (n = getline(&line, &room, in); n > 0; n = getline(&line, &room, in)) {
		if (line[n - 1] != '\n' || sscanf(line, "{\"epoch\": %" SCNu64 ",", &epoch) != 1 ||
		    epoch > epochs)
			break;
		end += n;
	}
	const int reason = n < 0 && !feof(in) ? errno : 0;
	free(line);
	fclose(in);
	if (reason)
		note_failure(metrics, reason);
	else if (ftruncate(metrics->fd, end))
		note_failure(metrics, errno);
}

/* As many digits as a float has. */
enum { DIGITS = 9 };

static void begin_line(struct tn_json_writer *line)
{
	tn_json_writer_init(line, TN_JSON_SPACED);
	tn_json_begin_object(line, NULL);
}

static void add_number(struct tn_json_writer *line, const char *key, double value)
{
	tn_json_add_number(line, key, value, DIGITS);
}

/* Writes the line at once: the whole of it, or nothing where a disk is full. */
static void end_line(struct metrics *metrics, struct tn_json_writer *line)
{
	struct stat before;
	tn_json_end(line);
	tn_text_add(&line->text, "\n");
	char *text = tn_json_writer_take(line);
	int reason = !text ? ENOMEM : fstat(metrics->fd, &before) ? errno : 0;
	const size_t length = text ? strlen(text) : 0;
	for (size_t done = 0; !reason && done < length;) {
		ssize_t n = write(metrics->fd, text + done, length - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			reason = errno;
	}
	tn_mem_free(text);
	if (!reason)
		return;
	note_failure(metrics, reason);
	if (is_regular(metrics->fd) && ftruncate(metrics->fd, before.st_size))
		note_failure(metrics, errno);
}

static void add_ranks(struct tn_json_writer *line, uint32_t n, const struct rank_times *times)
{
	tn_json_begin_array(line, "ranks");
	for (uint32_t i = 0; i < n; i++) {
		tn_json_begin_object(line, NULL);
		add_number(line, "seconds", times[i].seconds);
		add_number(line, "waited", times[i].waited);
		tn_json_end(line);
	}
	tn_json_end(line);
}

void metrics_epoch(struct metrics *metrics, const struct tn_trainer_epoch *m, uint32_t n_ranks,
		   const struct rank_times *times)
{
	const struct tn_trainer_values *train = m->train, *validation = m->validation;
	struct tn_json_writer line;
	if (!metrics->is_open)
		return;
	metrics_begin(metrics);
	begin_line(&line);
	tn_json_add_unsigned(&line, "epoch", m->epoch);
	add_number(&line, "train_loss", train->loss);
	add_number(&line, "train_accuracy", train->metrics[0]);
	add_number(&line, "val_loss", validation ? validation->loss : NAN);
	add_number(&line, "val_accuracy", validation ? validation->metrics[0] : NAN);
	add_number(&line, "seconds", train->seconds);
	add_number(&line, "images_per_second",
		   train->seconds > 0 ? (double)train->samples / train->seconds : 0.0);
	if (n_ranks)
		add_ranks(&line, n_ranks, times);
	end_line(metrics, &line);
}

void metrics_test(struct metrics *metrics, const struct test_result *test)
{
	struct tn_json_writer line;
	if (!metrics->is_open)
		return;
	metrics_begin(metrics);
	begin_line(&line);
	add_number(&line, "test_loss", test->loss);
	add_number(&line, "test_accuracy", test->accuracy);
	end_line(metrics, &line);
}

int metrics_close(struct metrics *metrics)
{
	if (!metrics->is_open)
		return 1;
	metrics->is_open = 0;
	if (close(metrics->fd) && !metrics->failed_as)
		return refuse(metrics->path, strerror(errno));
	return !metrics->failed_as;
}
