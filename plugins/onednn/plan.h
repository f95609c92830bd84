/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The execution plan of one operation of one shape.  The operation is cut into equal pieces along
 * an axis (of convolutions: the images), by its shape alone; each piece is one primitive of oneDNN,
 * made once for all pieces and run by one of the host's threads.  So the bits do not depend on the
 * number of threads, and no thread waits for another inside oneDNN.  A large operation that cannot
 * be cut runs on oneDNN's own threads.
 *
 * An operand whose layout differs from the primitive's gets a reorder and a copy in the workspace.
 * There are copies for as many pieces as run at once (lanes); a sum over pieces (the gradient of
 * weights) has a copy for each piece, which are added in order.
 *
 *     begin     finds the plan in the cache or makes it; answers a dry run
 *     run       reorders inputs, computes, reorders outputs (adding to them with TN_ACCUMULATE)
 */
#ifndef ONEDNN_PLAN_H
#define ONEDNN_PLAN_H

#include "plugin.h"
#include "view.h"

enum { ONEDNN_MOST_PARTS = 10, ONEDNN_MOST_PIECES = 16 };

enum onednn_access { ONEDNN_READ, ONEDNN_WRITE, ONEDNN_ADD };

/* One operand of the primitive. */
struct onednn_part {
	int argument; /* DNNL_ARG_SRC, ... */
	enum onednn_access access;
	int is_theirs;            /* the caller's; else it is in the workspace */
	int is_shared;            /* all pieces read it, or accumulate into it */
	int is_moved;             /* it has a copy in the workspace */
	uint64_t step;            /* bytes of the caller's memory from piece to piece */
	uint64_t place;           /* offset in the workspace, of lane or piece 0 */
	uint64_t size;            /* from lane to lane, or from piece to piece */
	dnnl_primitive_t reorder; /* between theirs and own; NULL: none needed */
	dnnl_primitive_t adding;  /* the same, adding */
};

/* The memory objects of a piece, which get their addresses when it runs. */
struct onednn_lane {
	dnnl_memory_t own[ONEDNN_MOST_PARTS];
	dnnl_memory_t theirs[ONEDNN_MOST_PARTS];
	dnnl_memory_t pad[ONEDNN_MOST_PARTS];    /* scratch memory of reorder */
	dnnl_memory_t adding[ONEDNN_MOST_PARTS]; /* and of adding */
	dnnl_memory_t scratch;                   /* of the primitive */
};

struct onednn_plan {
	struct onednn_key key;
	int is_impossible; /* oneDNN does not support it */
	int n_pieces;
	int n_lanes;
	int n_threads; /* of oneDNN, within a piece */
	dnnl_primitive_t primitive;
	uint64_t scratch_place;
	uint64_t scratch_size; /* of a lane: the most that the primitive or a reorder needs */
	uint64_t workspace;    /* total size */
	int n_parts;
	struct onednn_part parts[ONEDNN_MOST_PARTS];
	struct onednn_lane lanes[ONEDNN_MOST_PIECES];
};

/* One call. */
struct onednn_work {
	struct onednn_device *device;
	const struct tn_call *call;
	const char *operation;
	int64_t length;  /* of the axis that may be cut; 1: it may not */
	double cost;     /* floating-point operations in total, roughly */
	int most_pieces; /* 0: no limit */
	int n_pieces;    /* onednn_cut */
	struct onednn_key key;
	struct onednn_plan *plan;
	dnnl_primitive_desc_t primitive; /* while the plan is being made */
};

/* Decides into how many pieces `length` is cut. */
void onednn_cut(struct onednn_work *work);

/* Describes the primitive of one piece (onednn_work_primitive) and its operands
 * (onednn_work_part). */
typedef dnnl_status_t (*onednn_make)(struct onednn_work *work, const void *argument);

/* Finds or makes work->plan. */
tn_status onednn_plan_find(struct onednn_work *work, onednn_make make, const void *argument);

/* After TN_OK, work->plan is ready to run; it is NULL after a dry run. */
tn_status onednn_begin(struct onednn_work *work, onednn_make make, const void *argument);

/* `addresses` are those of the caller's operands, in the order of the parts; 0 for absent ones. */
tn_status onednn_run(struct onednn_work *work, const uint64_t *addresses);

/* The address of a part in the workspace, with all pieces one after the other. */
float *onednn_part_place(const struct onednn_work *work, int part);

/* For `make`: the primitive of an operation descriptor; `hint` is NULL except for backwards. */
dnnl_status_t onednn_work_primitive(struct onednn_work *work, const_dnnl_op_desc_t description,
				    const_dnnl_primitive_desc_t hint);
/* For `make`: the next operand.  `view` is that of one piece, NULL if it is not the caller's; the
 * next piece begins `step` elements further, 0: it is shared. */
dnnl_status_t onednn_work_part(struct onednn_work *work, int argument, enum onednn_access access,
			       const struct onednn_view *view, int64_t step);

void onednn_plan_destroy(struct onednn_device *device, struct onednn_plan *plan);

#endif
