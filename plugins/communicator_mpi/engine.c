/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Opened RTLD_NOW | RTLD_LOCAL, as Tenon opens every plugin, both MPIs work (seen with Debian 12's
 * Open MPI 4.1.4 and MPICH 4.0.2).  MPICH is one library.  Open MPI opens components, some of which
 * (mca_pml_ob1.so) use symbols of libmpi without naming it as a library that they need: they find
 * them only since a component opened earlier does name it and is opened RTLD_GLOBAL, which makes
 * libmpi global too.  Which one that is depends on the machine (mca_op_avx.so, mca_bml_r2.so), so
 * make_global does it before all of them; the plugin's own symbols stay local.
 *
 * Both change handlers of signals; the program's are put back.  MPI's changes of the environment
 * stay: its later parts, and the processes that it starts, read it.
 */
#include "call.h"
#include "engine.h"

#include <ctype.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_flag is_taken = ATOMIC_FLAG_INIT;
/* Written by the instance that has the engine, only. */
static int has_begun;
static int thread_level; /* what MPI gave when it began */
static int is_abandoned;

/* ---- Signals ---------------------------------------------------------------------------------*/

struct signals {
	struct sigaction before[NSIG];
};

/* MPICH's launcher tells by this one that a rank has died: without MPICH's handler, which calls an
 * earlier one, it would kill this one too. */
static int belongs_to_engine(int number)
{
#ifdef OPEN_MPI
	(void)number;
	return 0;
#else
	return number == SIGUSR1;
#endif
}

/* Some signals (SIGKILL, the C library's own) have no handler to save or restore: the calls fail,
 * and nothing has changed. */
static void save_signals(struct signals *signals)
{
	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, NULL, &signals->before[number]);
}

static void restore_signals(const struct signals *signals)
{
	for (int number = 1; number < NSIG; number++) {
		struct sigaction now;
		if (!belongs_to_engine(number) && !sigaction(number, NULL, &now) &&
		    now.sa_handler != signals->before[number].sa_handler)
			(void)sigaction(number, &signals->before[number], NULL);
	}
}

/* ---- The library -----------------------------------------------------------------------------*/

/* The library that has MPI_Init, opened once more with that flag; NULL: there is none. */
static void *open_library(int flag)
{
	Dl_info info;
	int (*const init)(int *, char ***) = MPI_Init;
	void *address = NULL;
	memcpy(&address, &init, sizeof(address));
	if (!dladdr(address, &info) || !info.dli_fname)
		return NULL;
	return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | flag);
}

#ifdef OPEN_MPI
/* See above.  Never closed: the components stay. */
static void make_global(void)
{
	(void)open_library(RTLD_GLOBAL);
}

static void restore_ucx_signals(void)
{
}
#else
static void make_global(void)
{
}

static void *base_of(const void *address)
{
	Dl_info info;
	return dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* MPICH's UCX installs handlers for SIGSEGV and others in its constructor, that is, before any code
 * of this plugin; it has a function to put a previous one back.  Not where the program itself is
 * linked to MPI: they were there before. */
static void restore_ucx_signals(void)
{
	void *program = dlopen(NULL, RTLD_NOW);
	void *library = program && dlsym(program, "MPI_Init") ? NULL : open_library(RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "ucs_debug_disable_signal") : NULL;
	void (*disable)(int number) = NULL;
	memcpy(&disable, &symbol, sizeof(disable));
	for (int number = 1; number < NSIG && disable; number++) {
		struct sigaction now;
		void *handler = NULL;
		if (!sigaction(number, NULL, &now))
			memcpy(&handler, &now.sa_handler, sizeof(handler));
		if (base_of(handler) == base_of(symbol))
			disable(number);
	}
	if (library)
		(void)dlclose(library);
	if (program)
		(void)dlclose(program);
}
#endif

/* MPI's symbols are looked for in the program first: one that is linked to another MPI gets it.
 * Other MPIs with MPICH's binary interface (Intel's, MVAPICH) are welcome. */
static tn_status check_library(struct tn_error_info *error)
{
	/* The longest text of any MPI, not of this one. */
	static char text[8192];
	int length = 0;
	int is_open_mpi;
	(void)MPI_Get_library_version(text, &length);
	is_open_mpi = !strncmp(text, "Open MPI", 8);
	if (is_open_mpi == !strcmp(MPI_ENGINE_NAME, "Open MPI"))
		return TN_OK;
	return tn_plugin_fail(error, TN_REFUSED, "create",
			      "this process uses %s: expected %s, for which the plugin is built",
			      is_open_mpi ? "Open MPI" : "an MPI like MPICH", MPI_ENGINE_NAME);
}

/* ---- Life ------------------------------------------------------------------------------------*/

tn_status mpi_engine_take(struct tn_error_info *error)
{
	int has_ended = 0;
	tn_status status;
	if (atomic_flag_test_and_set(&is_taken))
		return tn_plugin_fail(error, TN_STATE, "create",
				      "%s is in use by another instance of this plugin: a process "
				      "has one",
				      MPI_ENGINE_NAME);
	restore_ucx_signals();
	status = check_library(error);
	if (!status) {
		(void)MPI_Finalized(&has_ended);
		if (has_ended)
			status = tn_plugin_fail(error, TN_REFUSED, "create",
						"%s has ended in this process, and cannot begin "
						"again",
						MPI_ENGINE_NAME);
	}
	if (status)
		mpi_engine_give_back();
	return status;
}

void mpi_engine_give_back(void)
{
	atomic_flag_clear(&is_taken);
}

/* An MPI that the program has begun: may this thread call it? */
static tn_status check_thread(struct tn_error_info *error)
{
	int level = MPI_THREAD_SINGLE, is_main = 0;
	(void)MPI_Query_thread(&level);
	(void)MPI_Is_thread_main(&is_main);
	if (is_main || level >= MPI_THREAD_SERIALIZED)
		return TN_OK;
	return tn_plugin_fail(error, TN_REFUSED, "open",
			      "the program has begun %s for one thread, and this is another: "
			      "expected MPI_THREAD_SERIALIZED, or the thread that began it",
			      MPI_ENGINE_NAME);
}

/* Of an MPI that this plugin has begun, on a thread of its own. */
static tn_status check_level(struct tn_error_info *error)
{
	if (thread_level >= MPI_THREAD_SERIALIZED)
		return TN_OK;
	return tn_plugin_fail(error, TN_REFUSED, "open",
			      "%s was built without threads: expected one that gives "
			      "MPI_THREAD_SERIALIZED",
			      MPI_ENGINE_NAME);
}

static int begin(void *unused)
{
	(void)unused;
	return MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &thread_level);
}

static int end(void *unused)
{
	(void)unused;
	return MPI_Finalize();
}

tn_status mpi_engine_begin(const struct tn_host *host, struct tn_error_info *error)
{
	struct signals signals;
	int is_there = 0, code;
	(void)MPI_Initialized(&is_there);
	if (is_there)
		return has_begun ? check_level(error) : check_thread(error);
	make_global();
	save_signals(&signals);
	tn_status status = mpi_call(host, "MPI_Init_thread", begin, NULL, &code, error);
	restore_signals(&signals);
	if (status)
		return status;
	if (code)
		return mpi_engine_fail(error, code, "open", "MPI_Init_thread");
	has_begun = 1;
	return check_level(error);
}

tn_status mpi_engine_call(const struct tn_host *host, const char *what,
			  int (*function)(void *argument), void *argument, int *code,
			  struct tn_error_info *error)
{
	if (has_begun)
		return mpi_call(host, what, function, argument, code, error);
	*code = function(argument);
	return TN_OK;
}

void mpi_engine_abandon(void)
{
	is_abandoned = 1;
}

static void log_error(const struct tn_host *host, const struct tn_error_info *error)
{
	host->log(host->context, TN_LOG_ERROR, "communicator", error->text, strlen(error->text));
}

void mpi_engine_end(const struct tn_host *host)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct signals signals;
	int code;
	if (has_begun && !is_abandoned) {
		save_signals(&signals);
		if (mpi_call(host, "MPI_Finalize", end, NULL, &code, &error))
			log_error(host, &error);
		restore_signals(&signals);
		has_begun = 0;
	}
	mpi_call_end();
}

/* ---- Texts -----------------------------------------------------------------------------------*/

/* The name and the first number in MPI's text: "Open MPI v4.1.4, package: ...",
 * "MPICH Version:\t4.0.2\n...". */
void mpi_engine_describe(char *text, size_t size)
{
	static char library[8192];
	int length = 0, n = 0;
	const char *number = library;
	(void)MPI_Get_library_version(library, &length);
	while (*number && !isdigit((unsigned char)*number))
		number++;
	while (isalnum((unsigned char)number[n]) || number[n] == '.')
		n++;
	(void)snprintf(text, size, "%s %.*s", MPI_ENGINE_NAME, n, number);
}

tn_status mpi_engine_fail(struct tn_error_info *error, int code, const char *operation,
			  const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length = 0, error_class = code;
	tn_status status = TN_BACKEND_FAILURE;
	(void)MPI_Error_string(code, text, &length);
	(void)MPI_Error_class(code, &error_class);
#ifdef MPIX_ERR_PROC_FAILED
	if (error_class == MPIX_ERR_PROC_FAILED)
		status = TN_PEER_LOST;
#endif
	return tn_plugin_fail_native(error, status, error_class, operation, "%s: %s", what, text);
}
