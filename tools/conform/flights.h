/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A sample whose call is given to a stream together with the transfers before and after it, and
 * whose results are looked at when all of it is done.
 */
#ifndef TN_TOOLS_CONFORM_FLIGHTS_H
#define TN_TOOLS_CONFORM_FLIGHTS_H

#include "samples.h"
#include "stream_calls.h"

struct flight {
	struct sample sample;
	unsigned char *expected;             /* the results of an ordinary call */
	unsigned char *expected_was;         /* and of one with the other data */
	struct staging was[SAMPLE_ARRAYS];   /* other data, in the arrays before and afterwards */
	struct staging in[SAMPLE_ARRAYS];    /* the sample's */
	struct staging out[SAMPLE_ARRAYS];   /* downloads: inputs of the arrays before, outputs */
	struct staging final[SAMPLE_ARRAYS]; /* what the arrays contain in the end */
	struct tn_workspace workspace;
	void *graph; /* launched instead of the call; NULL: the call itself */
};

/* Begins a case of the slot; 0: the backend does not support the call. */
int flight_make(struct kit *kit, struct flight *flight, int slot, const char *what,
		unsigned variant, tn_dtype dtype, int64_t scale, int pinned);
/* The scale of a large sample of the slot: some hundred thousand elements, of layers fewer. */
int64_t flight_large(int slot);
void flight_free(struct flight *flight);

/* Makes the call in a stream, with arguments that are overwritten after the return. */
tn_status flight_enter(struct flight *flight, void *stream);

/* Puts other data into the arrays, and waits. */
void flight_reset(struct flight *flight);
/* Uploads the sample's data in one stream, makes the call in another, downloads the results in a
 * third, and uploads the other data in the first: all by TN_ASYNC, and in order by events. */
void flight_start(struct flight *flight, void *upload, void *call, void *download);
/* Compares the results; nothing of the flight is under way. */
void flight_land(struct flight *flight);
/* Compares the outputs in the arrays with the expected ones, or with the other data. */
void flight_expect_results(struct flight *flight, const unsigned char *expected);
void flight_expect_untouched(struct flight *flight);
/* Puts the sample's data into the arrays, random numbers into its outputs, and waits. */
void flight_set_inputs(struct flight *flight);

#endif
