/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * communicator_mock.so: another communicator, with faults on request.
 *
 *	faults.c    reads TENON_MOCK_COMMUNICATOR_FAULT
 *	inner.c     finds and opens the other communicator's file
 *	clock.c     when an operation may be done
 *	plugin.c    the entries
 */
#ifndef MOCK_COMMUNICATOR_H
#define MOCK_COMMUNICATOR_H

#include <tenon/communicator.h>
#include <tenon/plugin.h>

/* ---- Faults ----------------------------------------------------------------------------------*/

enum mock_fault_kind {
	MOCK_DELAY,    /* value: milliseconds that every operation takes */
	MOCK_NETWORK,  /* value: microseconds of a step; value2: Gbit/s */
	MOCK_DROP,     /* value: the operation from which on none is begun */
	MOCK_DIE,      /* value: the operation before which the process kills itself */
	MOCK_DIE_IN,   /* value: the operation in which it does, once begun */
	MOCK_DISAGREE, /* value: the operation that is begun with other arguments */
	MOCK_LATE,     /* value: the operation before which the process sleeps; value2: ms */
	MOCK_N_FAULTS,
};

struct mock_fault {
	int is_set;
	uint32_t rank; /* that has the fault; TN_RANK_UNKNOWN: all */
	uint64_t value, value2;
};

struct mock_faults {
	struct mock_fault of[MOCK_N_FAULTS];
};

/* Reads the option's text; NULL is no fault.  TN_FORMAT: the error names the column. */
tn_status mock_faults_parse(const char *text, struct mock_faults *faults,
			    struct tn_error_info *error);

/* ---- The other communicator ------------------------------------------------------------------*/

struct mock_inner {
	const struct tn_backend_descriptor *descriptor;
	const struct tn_communicator_table *table;
	void *instance;
};

/* Opens communicator_NAME.so, or the file of that path, and creates an instance; the file stays
 * mapped. */
tn_status mock_inner_open(struct mock_inner *inner, const struct tn_host *host, const char *name,
			  struct tn_error_info *error);
void mock_inner_close(struct mock_inner *inner);

/* ---- Instance, communicator and request ------------------------------------------------------*/

struct mock_instance {
	const struct tn_host *host;
	struct mock_faults faults;
	struct mock_inner inner;
};

struct mock_request {
	struct mock_request *previous, *next;
	void *inner;                  /* NULL: done there, or never begun */
	int is_lost;                  /* never begun */
	int dies;                     /* at the first test */
	double ready;                 /* not done before */
	struct tn_error_info failure; /* of the other communicator; status 0: none */
};

struct mock_communicator {
	const struct mock_instance *instance;
	void *inner;
	uint32_t rank, size;
	uint64_t n_started; /* operations */
	double link_free;   /* when the network has sent what was started */
	struct mock_request *first, *last;
};

/* The fault, if this rank has it. */
const struct mock_fault *mock_fault_of(const struct mock_communicator *communicator,
				       enum mock_fault_kind kind);

double mock_now(void);
void mock_sleep(uint64_t milliseconds);
/* When an operation that starts now may be done; keeps the network busy until then. */
double mock_ready(struct mock_communicator *communicator, const struct tn_collective_args *args);

#endif
