/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Instructions that exchange data between the lanes of a warp.
 */
#ifndef SIMCUDA_PTX_EXCHANGE_H
#define SIMCUDA_PTX_EXCHANGE_H

#include "ptx_module.h"

enum ptx_exchange_kind {
	PTX_SHUFFLE_UP,
	PTX_SHUFFLE_DOWN,
	PTX_SHUFFLE_BFLY,
	PTX_SHUFFLE_IDX,
	PTX_VOTE_ALL,
	PTX_VOTE_ANY,
	PTX_VOTE_UNI,
	PTX_VOTE_BALLOT,
	PTX_MATCH_ANY,
	PTX_MATCH_ALL,
	PTX_REDUCE_ADD,
	PTX_REDUCE_MIN,
	PTX_REDUCE_MAX,
	PTX_REDUCE_AND,
	PTX_REDUCE_OR,
	PTX_REDUCE_XOR,
	PTX_ELECT,
	PTX_WARP_SYNC,
};

struct ptx_exchange {
	enum ptx_exchange_kind kind;
	uint8_t size;      /* bytes of what match compares */
	uint8_t is_signed; /* of redux */
	int32_t d, p;      /* the result and its predicate, 0: none */
	int32_t a, b, c;
	int32_t members; /* the mask of lanes that must be present, 0: those present */
};

enum ptx_next ptx_run_exchange(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
/* Releases lanes that wait for each other at different bar.warp.sync; 0: none can proceed. */
int ptx_release_warp_sync(struct ptx_warp *warp);

#endif
