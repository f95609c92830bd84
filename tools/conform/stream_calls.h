/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls that take a stream or an event, and work that keeps a stream busy.  A call that must
 * succeed and fails, fails the case.
 */
#ifndef TN_TOOLS_CONFORM_STREAM_CALLS_H
#define TN_TOOLS_CONFORM_STREAM_CALLS_H

#include "conform.h"

/* Does the backend have tenon.stream/1? */
int kit_has_streams(const struct kit *kit);
/* The same; 0 skips the check. */
int kit_needs_streams(struct kit *kit);

void *kit_stream(struct kit *kit, int32_t priority);
tn_status kit_stream_destroy(struct kit *kit, void *stream);
void kit_stream_end(struct kit *kit, void *stream);

void *kit_event(struct kit *kit);
void kit_event_end(struct kit *kit, void *event);
void kit_record(struct kit *kit, void *stream, void *event);
void kit_await(struct kit *kit, void *stream, void *event);
void kit_event_sync(struct kit *kit, void *event);
uint32_t kit_is_reached(struct kit *kit, void *event);
/* Queries until the event is reached; 0: it was not within a minute. */
int kit_is_reached_in_time(struct kit *kit, void *event);
tn_status kit_elapsed(struct kit *kit, void *start, void *end, double *seconds);

tn_status kit_sync(struct kit *kit, void *stream);

/* Bytes of a buffer and of the host. */
struct span {
	uint64_t buffer, offset, size;
	void *host;
};
enum transfer { UPLOAD, DOWNLOAD };
/* flags: 0 or TN_ASYNC. */
tn_status kit_move(struct kit *kit, void *stream, enum transfer way, uint32_t flags,
		   const struct span *span);
void kit_transfer(struct kit *kit, void *stream, enum transfer way, uint32_t flags,
		  const struct span *span);

/* y := x, or x := x + 1 in place. */
tn_status kit_try_map(struct kit *kit, void *stream, const struct tn_program *program,
		      const struct tn_operand *from, const struct tn_operand *to);
void kit_map(struct kit *kit, void *stream, const struct tn_program *program,
	     const struct tn_operand *from, const struct tn_operand *to);

/* Memory of the device, and of the host for transfers: pinned if `pinned` and there is such memory.
 * Ends the program if there is none. */
uint64_t kit_alloc(struct kit *kit, uint64_t size, uint32_t memory_kind);
void kit_free(struct kit *kit, uint64_t buffer);
struct staging {
	unsigned char *bytes;
	uint64_t pinned; /* its handle; 0: malloc's */
};
void staging_make(struct kit *kit, struct staging *memory, size_t size, int pinned);
void staging_end(struct kit *kit, struct staging *memory);

/* ---- Graphs ----------------------------------------------------------------------------------*/

/* Does the backend have tenon.capture/1? */
int kit_can_capture(const struct kit *kit);
void kit_capture_begin(struct kit *kit, void *stream);
tn_status kit_capture_end(struct kit *kit, void *stream, void **graph);
void kit_launch(struct kit *kit, void *stream, void *graph);
void kit_graph_release(struct kit *kit, void *graph);

double kit_seconds(void);

/* ---- Work that lasts -------------------------------------------------------------------------*/

/* A row of maps, or of uploads where the device has no programs, that lasts longer than giving it
 * to a stream.  What is given to the stream after it runs early if it is put anywhere else, or late
 * if nobody waits for that.  One stream at a time has rows of a struct. */
struct busy {
	struct kit *kit;
	struct tn_program *add_one; /* NULL: uploads */
	struct array x;
	unsigned steps;
};
/* Finds out how long x must be, so that a row lasts a few milliseconds. */
void busy_begin(struct kit *kit, struct busy *busy);
/* Another one of the same length. */
void busy_like(struct busy *busy, const struct busy *like);
void busy_row(struct busy *busy, void *stream);
void busy_end(struct busy *busy);

#endif
