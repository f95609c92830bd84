/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One rank of a test of the communicators of MPI, as their launchers start it.
 *
 *	mpi_rank NAME FOLDER TEST
 *
 * NAME is the communicator's, FOLDER an empty one for all ranks.  Ends with 0 if all is right.
 * MPI's own functions are found through the plugin: this program is linked to none.
 */
#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <tenon/context.h>
#include <tenon/distributed.h>

#include "check.h"
#include "distributed/operations.h"

static const char *name;
static const char *folder;
static const struct tn_collective_args barrier = {.operation = TN_COLLECTIVE_BARRIER};

#define RANK_CHECK(rank, condition)                                                                \
	do {                                                                                       \
		if (!(condition))                                                                  \
			rank_fail((rank), "line %d: %s", __LINE__, #condition);                    \
	} while (0)

static void join(struct rank *rank)
{
	if (rank_open(rank, name))
		rank_fail(rank, "open: %s", rank->error.text);
}

static void run(struct rank *rank, const struct tn_collective_args *args)
{
	if (rank_run(rank, args))
		rank_fail(rank, "%s: %s", rank->error.operation, rank->error.text);
}

static tn_status create_again(struct rank *rank)
{
	void *instance = NULL;
	memset(&rank->error, 0, sizeof(rank->error));
	rank->error.struct_size = sizeof(rank->error);
	return rank_plugin(name)->create(rank_host(), &rank->error, &instance);
}

/* ---- Between ranks, without the communicator -------------------------------------------------*/

static void name_file(char *path, size_t size, const char *what, uint32_t rank)
{
	(void)snprintf(path, size, "%s/%s.%u", folder, what, rank);
}

static void tell(const struct rank *rank, const char *what)
{
	char path[4096];
	name_file(path, sizeof(path), what, rank->rank);
	FILE *file = fopen(path, "w");
	RANK_CHECK(rank, file && !fclose(file));
}

/* Waits until all ranks below `n` have told that. */
static void await(const char *what, uint32_t n)
{
	for (uint32_t r = 0; r < n; r++) {
		char path[4096];
		name_file(path, sizeof(path), what, r);
		while (access(path, F_OK))
			(void)nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
}

/* ---- Operations ------------------------------------------------------------------------------*/

/* Letters hold up to 992 bytes: 124 elements of f64 and no more.  5003 elements are one chunk of
 * any type; the long ones are more chunks than are under way at once. */
static void test_operations(struct rank *rank)
{
	static const uint64_t lengths[] = {0, 1, 33, 125, 5003};
	static const struct tn_collective_args all[] = {
		{.operation = TN_COLLECTIVE_ALL_REDUCE,
		 .combiner = TN_REDUCE_SUM,
		 .dtype = TN_F32,
		 .n = 700001},
		{.operation = TN_COLLECTIVE_REDUCE_SCATTER,
		 .combiner = TN_REDUCE_SUM,
		 .dtype = TN_BF16,
		 .n = 700001},
		{.operation = TN_COLLECTIVE_ALL_GATHER, .dtype = TN_C128, .n = 100003},
		{.operation = TN_COLLECTIVE_BROADCAST, .dtype = TN_C128, .n = 200003},
	};
	join(rank);
	operations_run(rank, lengths, 5);
	for (int i = 0; i < 4; i++) {
		struct operation operation;
		operation_make(&operation, rank, &all[i], i == 0, (unsigned)i);
		run(rank, &operation.args);
		operation_check(&operation, rank);
	}
	operations_run_together(rank, 60, 10000);
	rank_close(rank);
}

static void check_refused(struct rank *rank, const struct tn_collective_args *args,
			  tn_status expected)
{
	tn_status status = rank_run(rank, args);
	if (status != expected)
		rank_fail(rank,
			  "operation %u, dtype %d, combiner %u: expected status %d, found %d: %s",
			  args->operation, (int)args->dtype, args->combiner, (int)expected,
			  (int)status, rank->error.text);
	RANK_CHECK(rank, rank->error.status == expected && rank->error.text[0]);
}

/* Refused before anything is sent: by one rank only, and the others notice nothing. */
static void test_refused(struct rank *rank)
{
	float x[64] = {0};
	const struct tn_collective_args good = {.operation = TN_COLLECTIVE_ALL_REDUCE,
						.combiner = TN_REDUCE_SUM,
						.dtype = TN_F32,
						.n = 8,
						.source = x,
						.target = x};
	struct tn_collective_args bad[7];
	join(rank);
	for (int i = 0; i < 7; i++)
		bad[i] = good;
	bad[0].operation = TN_COLLECTIVE_UNASSIGNED;
	bad[1].combiner = TN_REDUCE_PRODUCT;
	bad[2].dtype = TN_BOOL;
	bad[3].dtype = TN_DTYPE_VENDOR;
	bad[4].target = x + 1;
	bad[5].call.flags = TN_CALL_FLAG_UNASSIGNED;
	bad[6].operation = 0;
	for (int i = 0; i < 7 && rank->rank == rank->size - 1; i++)
		check_refused(rank, &bad[i], TN_UNSUPPORTED);
	bad[0] = good;
	bad[0].call.flags = TN_DETERMINISTIC;
	run(rank, &bad[0]);
	rank_close(rank);
}

/* A rank that is not there yet is named by those that wait. */
static void test_waits(struct rank *rank)
{
	join(rank);
	const uint32_t last = rank->size - 1;
	uint32_t waits_for = TN_RANK_UNKNOWN;
	run(rank, &barrier);
	if (rank->rank == last) {
		await("waited", last);
		run(rank, &barrier);
	} else {
		void *request = rank_start(rank, &barrier);
		while (waits_for != last)
			RANK_CHECK(rank, rank_wait(rank, request, 0, &waits_for) == TN_TIMED_OUT);
		tell(rank, "waited");
		RANK_CHECK(rank, !rank_wait(rank, request, RANKS_SECONDS, NULL));
	}
	rank_close(rank);
}

/* The last rank starts something else: every rank gets an error that names it and another one. */
static void test_disagree(struct rank *rank)
{
	static float x[100000];
	join(rank);
	const uint32_t last = rank->size - 1;
	const struct tn_collective_args args = {.operation = TN_COLLECTIVE_ALL_REDUCE,
						.combiner = TN_REDUCE_SUM,
						.dtype = TN_F32,
						.n = rank->rank == last ? 99999 : 100000,
						.source = x,
						.target = x};
	char text[32];
	const tn_status status = rank_run(rank, &args);
	RANK_CHECK(rank, status == TN_STATE && rank->error.status == status);
	(void)snprintf(text, sizeof(text), "rank %u", rank->rank);
	RANK_CHECK(rank, strstr(rank->error.text, text));
	(void)snprintf(text, sizeof(text), "rank %u", rank->rank == last ? 0 : last);
	RANK_CHECK(rank, strstr(rank->error.text, text));
	RANK_CHECK(rank, strstr(rank->error.text, "99999") && strstr(rank->error.text, "100000"));
	/* It stays broken. */
	RANK_CHECK(rank, rank_run(rank, &args) == status);
	/* A launcher ends the others as soon as one has ended. */
	tell(rank, "disagreed");
	await("disagreed", rank->size);
	rank_close(rank);
}

/* ---- Life ------------------------------------------------------------------------------------*/

static void *mpi_function(struct rank *rank, const char *function)
{
	char path[4096];
	(void)rank_plugin(name);
	(void)snprintf(path, sizeof(path), "%s", rank_host()->plugin_path(NULL));
	void *file = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	void *symbol = file ? dlsym(file, function) : NULL;
	if (!symbol)
		rank_fail(rank, "%s", dlerror());
	return symbol;
}

/* MPI_Initialized or MPI_Finalized. */
static int mpi_answer(struct rank *rank, const char *question)
{
	int (*function)(int *);
	int answer = -1;
	*(void **)&function = mpi_function(rank, question);
	RANK_CHECK(rank, !function(&answer));
	return answer;
}

static void mpi_begin(struct rank *rank)
{
	int (*function)(int *, char ***);
	*(void **)&function = mpi_function(rank, "MPI_Init");
	RANK_CHECK(rank, !function(NULL, NULL));
}

static void mpi_end(struct rank *rank)
{
	int (*function)(void);
	*(void **)&function = mpi_function(rank, "MPI_Finalize");
	RANK_CHECK(rank, !function());
}

static struct sigaction handlers[NSIG];

static void save_handlers(void)
{
	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, NULL, &handlers[number]);
}

/* MPICH keeps SIGUSR1, by which its launcher speaks to it. */
static void check_handlers(struct rank *rank)
{
	const int exception = strcmp(name, "mpich") ? 0 : SIGUSR1;
	for (int number = 1; number < NSIG; number++) {
		struct sigaction now;
		if (!sigaction(number, NULL, &now) && number != exception &&
		    now.sa_handler != handlers[number].sa_handler)
			rank_fail(rank, "signal %d has another handler", number);
	}
}

static void check_description(struct rank *rank)
{
	struct tn_communicator_description description = {.struct_size = sizeof(description)};
	RANK_CHECK(rank, !rank->table->describe(rank->communicator, &description));
	RANK_CHECK(rank, description.flags & TN_COMMUNICATOR_ORDERED);
	RANK_CHECK(rank, description.local_size == rank->size);
	RANK_CHECK(rank, description.local_rank == rank->rank);
	RANK_CHECK(rank, description.host[0] && strchr(description.engine, '.'));
}

/* Begun by the plugin: it ends it, and there is no second one. */
static void test_own(struct rank *rank)
{
	save_handlers();
	join(rank);
	RANK_CHECK(rank, rank->descriptor->flags & TN_COMMUNICATOR_PROCESS_WIDE);
	check_handlers(rank);
	check_description(rank);
	RANK_CHECK(rank, create_again(rank) == TN_STATE && rank->error.text[0]);
	run(rank, &barrier);
	rank_close(rank);
	check_handlers(rank);
	RANK_CHECK(rank, mpi_answer(rank, "MPI_Finalized"));
	RANK_CHECK(rank, create_again(rank) == TN_REFUSED && rank->error.text[0]);
}

/* ---- Through the library ---------------------------------------------------------------------*/

static tn_context *ctx;

static tn_status open_ranks(struct rank *rank, tn_communicator **ranks)
{
	rank->error.struct_size = sizeof(rank->error);
	RANK_CHECK(rank, !tn_context_open(NULL, &ctx, &rank->error));
	return tn_communicator_open(ctx, NULL, ranks, &rank->error);
}

/* The launcher's variables choose the communicator. */
static void test_program(struct rank *rank)
{
	tn_communicator *ranks = NULL;
	float x[4] = {1, 2, 3, 4};
	if (open_ranks(rank, &ranks))
		rank_fail(rank, "open: %s", rank->error.text);
	RANK_CHECK(rank, !strcmp(tn_communicator_name(ranks), name));
	const uint32_t size = tn_communicator_size(ranks);
	struct tn_collective_host sum = {.struct_size = sizeof(sum),
					 .operation = TN_COLLECTIVE_ALL_REDUCE,
					 .combiner = TN_REDUCE_SUM,
					 .dtype = TN_F32,
					 .n = 4,
					 .source = x,
					 .target = x};
	RANK_CHECK(rank, size > 1 && !tn_communicator_run(ranks, &sum));
	for (int i = 0; i < 4; i++)
		RANK_CHECK(rank, x[i] == (float)(size * (uint32_t)(i + 1)));
	tn_communicator_close(ranks);
	tn_context_close(ctx);
}

/* The communicator mpich under Open MPI's launcher finds only itself: refused, by both names. */
static void test_stranger(struct rank *rank)
{
	tn_communicator *ranks = NULL;
	RANK_CHECK(rank, open_ranks(rank, &ranks) == TN_REFUSED && !ranks);
	RANK_CHECK(rank, strstr(rank->error.text, "mpirun of Open MPI"));
	RANK_CHECK(rank, strstr(rank->error.text, "communicator mpich (MPICH "));
	tn_context_close(ctx);
}

/* Begun by the program: it stays, also for a second instance. */
static void test_begun(struct rank *rank)
{
	mpi_begin(rank);
	for (int i = 0; i < 2; i++) {
		join(rank);
		run(rank, &barrier);
		rank_close(rank);
		RANK_CHECK(rank, !mpi_answer(rank, "MPI_Finalized"));
	}
	mpi_end(rank);
	RANK_CHECK(rank, create_again(rank) == TN_REFUSED);
}

/* An instance that is not opened leaves MPI alone. */
static void test_unopened(struct rank *rank)
{
	save_handlers();
	RANK_CHECK(rank, !create_again(rank));
	RANK_CHECK(rank, create_again(rank) == TN_STATE);
	RANK_CHECK(rank, !mpi_answer(rank, "MPI_Initialized"));
	check_handlers(rank);
}

/* The last rank ends all with a code. */
static void test_abort(struct rank *rank)
{
	join(rank);
	run(rank, &barrier);
	if (rank->rank == rank->size - 1)
		rank->table->abort(rank->communicator, 7, "a reason");
	for (;;)
		run(rank, &barrier);
}

/* The last rank dies while the others are within an operation: they name it, unless the launcher
 * ends them first. */
static void test_kill(struct rank *rank)
{
	char who[16];
	join(rank);
	run(rank, &barrier);
	if (rank->rank == rank->size - 1)
		(void)kill(getpid(), SIGKILL);
	(void)snprintf(who, sizeof(who), "rank %u (", rank->size - 1);
	const tn_status status = rank_run(rank, &barrier);
	tell(rank, status == TN_PEER_LOST && strstr(rank->error.text, who) ? "named" : "unnamed");
	_exit(1);
}

/* The number that the launcher has given this process. */
static int launched_rank(void)
{
	const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
	return atoi(open_mpi ? open_mpi : mpich ? mpich : "0");
}

/* Rank 1 never begins MPI: the other one gives up, and can end. */
static void test_absent(struct rank *rank)
{
	if (launched_rank() == 1)
		(void)sleep(60);
	else if (rank_open(rank, name) == TN_TIMED_OUT && strstr(rank->error.text, "MPI_"))
		tell(rank, "absent");
	exit(1);
}

/* Rank 1 never ends MPI. */
static void test_stays(struct rank *rank)
{
	join(rank);
	run(rank, &barrier);
	if (rank->rank == 1)
		(void)sleep(60);
	rank_close(rank);
	tell(rank, "left");
	exit(1);
}

int main(int n_arguments, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(struct rank *rank);
	} tests[] = {
		{"operations", test_operations},
		{"refused", test_refused},
		{"waits", test_waits},
		{"disagree", test_disagree},
		{"program", test_program},
		{"stranger", test_stranger},
		{"own", test_own},
		{"begun", test_begun},
		{"unopened", test_unopened},
		{"abort", test_abort},
		{"kill", test_kill},
		{"absent", test_absent},
		{"stays", test_stays},
	};
	struct rank rank = {0};
	if (n_arguments != 4)
		return 2;
	name = arguments[1];
	folder = arguments[2];
	for (size_t t = 0; t < sizeof(tests) / sizeof(tests[0]); t++) {
		if (!strcmp(tests[t].name, arguments[3])) {
			tests[t].run(&rank);
			return 0;
		}
	}
	return 2;
}
