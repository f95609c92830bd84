/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The child process: loads the backend, runs checks one after another, and sends records to its
 * parent.  Its standard output and error are a file that the parent reads; the kit's own messages
 * are records.
 *
 *	opened NAME VERSION DEVICE      the device was opened
 *	absent STATUS STAGE TEXT        it could not be opened
 *	begin INDEX                     result number INDEX begins
 *	fail CHECK CASE TEXT, remark TEXT, untried NUMBER, skip TEXT
 *	tally SLOT DONE REFUSED UNSUPPORTED FAILED
 *	cover OPERATION NATIVE LENT COMPOSED HOST
 *	end [FROM TO]                   it ended; its output is in [FROM, TO)
 *	quit                            it gives up and exits
 *	closing                         the checks are finished, the device will be closed
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame.h"
#include "process_state.h"

enum { MOST_MESSAGES = 100 }; /* of one check */

static int records_fd = -1;
static int output_fd = -1;
static const struct check *running;
static unsigned n_messages; /* of this check */

static uint64_t printed_bytes(void)
{
	fflush(stdout);
	off_t size = lseek(STDOUT_FILENO, 0, SEEK_END);
	return size > 0 ? (uint64_t)size : 0;
}

/* ---- What checks say (conform.h) -------------------------------------------------------------*/

void kit_fail(struct kit *kit, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	if (kit->case_failed)
		return;
	kit->case_failed = 1;
	/* Any check may report a broken promise of level 5: kit_fail_as. */
	kit->tallies[kit->slot].failed += kit->check == running;
	if (n_messages++ >= MOST_MESSAGES)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	record_send(records_fd, "fail\t%s\t%s\t%s", kit->check->id, kit->case_name, text);
}

void kit_skip(struct kit *kit, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	(void)kit;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	record_send(records_fd, "skip\t%s", text);
}

void kit_remark(struct kit *kit, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	(void)kit;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	record_send(records_fd, "remark\t%s", text);
}

void kit_not_tried(struct kit *kit, unsigned n, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	kit_remark(kit, "not tried: %s", text);
	record_send(records_fd, "untried\t%u", n);
}

static void send_counts(const struct kit *kit)
{
	for (int slot = 0; slot < KIT_TALLIES; slot++) {
		const struct tally *t = &kit->tallies[slot];
		if (t->done || t->refused || t->unsupported || t->failed)
			record_send(records_fd, "tally\t%d\t%u\t%u\t%u\t%u", slot, t->done,
				    t->refused, t->unsupported, t->failed);
	}
	for (size_t i = 0; i < kit->n_coverage; i++) {
		const struct coverage *c = &kit->coverage[i];
		record_send(records_fd, "cover\t%s\t%u\t%u\t%u\t%u", c->operation, c->by[NATIVE],
			    c->by[LENT], c->by[COMPOSED], c->by[HOST]);
	}
}

void kit_give_up(struct kit *kit, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	kit->tallies[kit->slot].failed++;
	record_send(records_fd, "fail\t%s\t%s\t%s", kit->check->id, kit->case_name, text);
	send_counts(kit);
	record_send(records_fd, "end");
	record_send(records_fd, "quit");
	_exit(EXIT_FAILED);
}

/* ---- Running ---------------------------------------------------------------------------------*/

/* A plugin that replaces the standard files would hide its output. */
static void look_after_files(void)
{
	static const int standard[] = {STDOUT_FILENO, STDERR_FILENO};
	struct stat own, found;
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		if (fstat(output_fd, &own) ||
		    (!fstat(standard[i], &found) && found.st_ino == own.st_ino &&
		     found.st_dev == own.st_dev))
			continue;
		record_send(records_fd,
			    "fail\tprocess.silence\t%s\tit put another file in the "
			    "place of standard %s",
			    running->id, i ? "error" : "output");
		dup2(output_fd, standard[i]);
	}
}

/* A library may open files and start threads when a call first needs them, but not in one check
 * after the other. */
static void expect_no_growth(struct kit *kit, unsigned n, unsigned *most, unsigned *times,
			     const char *what)
{
	enum { MOST_TIMES = 12 };
	if (n > *most && *most && ++*times > MOST_TIMES)
		kit_fail(kit, "%u %s, more than ever, after each of %d checks", n, what,
			 MOST_TIMES + 1);
	*most = n > *most ? n : *most;
}

/* Calls may change the process, like create or open. */
static void look_after_process(struct kit *kit, const struct process_state *before)
{
	static unsigned most_files, more_files, most_threads, more_threads;
	struct process_state after;
	const struct check *check = kit->check;
	process_state_take(&after);
	kit->check = check_find("process.state");
	kit_case(kit, KIT_PROCESS, "%s", check->id);
	process_state_expect(kit, before, &after, "its calls");
	process_files_expect(kit, "its calls");
	expect_no_growth(kit, after.descriptors, &most_files, &more_files, "files are open");
	expect_no_growth(kit, after.threads, &most_threads, &more_threads, "threads run");
	if (kit->case_failed)
		process_state_restore(before);
	kit->check = check;
}

static void run_check(struct run *run, size_t index)
{
	struct process_state before;
	struct kit *kit = run->kit;
	uint64_t from = printed_bytes();
	memset(kit->tallies, 0, sizeof(kit->tallies));
	kit->n_coverage = 0;
	kit->effort_due = 0;
	running = kit->check = run->results[index].check;
	kit->slot = KIT_PROCESS;
	kit->case_name[0] = '\0';
	n_messages = 0;
	record_send(records_fd, "begin\t%zu", index);
	process_state_take(&before);
	kit->check->run(kit);
	look_after_process(kit, &before);
	look_after_files();
	send_counts(kit);
	record_send(records_fd, "end\t%llu\t%llu", (unsigned long long)from,
		    (unsigned long long)printed_bytes());
}

static void __attribute__((noreturn))
say_absent(tn_status status, const char *stage, const char *text)
{
	record_send(records_fd, "absent\t%d\t%s\t%s", status, stage, text);
	_exit(EXIT_ABSENT);
}

static void open_device(struct run *run, struct target *target)
{
	struct kit *kit = run->kit;
	target_load(target, kit, NULL);
	if (!target->backend)
		say_absent(target->status, tn_stage_name(target->stage), target->text);
	kit_case(kit, KIT_FILE, "open");
	if (run->options->device >= target->backend->n_devices)
		say_absent(TN_NO_DEVICE, "open", "there is no such device");
	tn_status status = kit_open(kit, target->backend, run->options->device);
	if (status)
		say_absent(status, "open",
			   kit->error.text[0] ? kit->error.text : tn_status_name(status));
	record_send(records_fd, "opened\t%s\t%s\t%s", target->backend->plugin.name,
		    target->backend->plugin.version, kit->description.name);
}

/* Sets up the child: its own process group, so that its descendants are killed with it; no input,
 * core dump or library messages; and it does not outlive its parent. */
static void settle_in(pid_t parent, int output)
{
	struct rlimit none = {0, 0};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	setpgid(0, 0);
	setrlimit(RLIMIT_CORE, &none);
	setenv("TENON_LOG", "off", 1);
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	close(null);
	setvbuf(stdout, NULL, _IONBF, 0);
}

void child_main(struct run *run, size_t first, size_t last, int records, int output)
{
	static struct target target;
	records_fd = records;
	output_fd = output;
	settle_in(run->parent, output);
	process_count_exactly();
	process_keep_freed_memory();
	process_files_remember();
	int with_device = run->results[first].place == WITH_DEVICE;
	if (with_device)
		open_device(run, &target);
	for (size_t i = first; i < last; i++) {
		if (result_is_due(&run->results[i]))
			run_check(run, i);
	}
	record_send(records_fd, "closing");
	if (with_device) {
		kit_case(run->kit, KIT_PROCESS, "close");
		kit_close(run->kit);
		kit_case(run->kit, KIT_PROCESS, "destroy");
		target_unload(&target);
		kit_case(run->kit, KIT_PROCESS, "exit");
	}
	exit(EXIT_PASSED);
}
