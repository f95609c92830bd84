/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The memory of captured work: pieces reserved for that work.
 */
#include "device/store.h"

#include "device/pool_parts.h"

#include "base/memory.h"

int tn_store_adopt(struct tn_store *store, struct tn_piece *piece)
{
	if (piece->store)
		return 1;
	if (store->n == store->room) {
		size_t room = store->room ? 2 * store->room : 64;
		struct tn_piece **more = tn_mem_realloc(store->pieces, room, sizeof(*more));
		if (!more)
			return 0;
		store->pieces = more;
		store->room = room;
	}
	store->pieces[store->n++] = piece;
	piece->store = store;
	return 1;
}

void tn_store_give(struct tn_piece *piece)
{
	piece->used = TN_PIECE_STORED;
	piece->next = piece->store->free;
	piece->store->free = piece;
}

struct tn_piece *tn_store_take(struct tn_store *store, uint64_t size)
{
	struct tn_piece **link = &store->free;
	if (size > TN_POOL_MAX_SIZE)
		return NULL;
	/* At most half is wasted. */
	uint64_t need = tn_class_size(tn_size_class(size));
	while (*link && ((*link)->size < size || (*link)->size / 2 > need))
		link = &(*link)->next;
	struct tn_piece *piece = *link;
	if (!piece)
		return NULL;
	*link = piece->next;
	piece->used = TN_PIECE_USED;
	return piece;
}
