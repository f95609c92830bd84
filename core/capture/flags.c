/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The list of flags that a graph changes, each once.
 */
#include "capture/flags.h"

#include "base/memory.h"

static struct tn_flag *find_flag(const struct tn_flags *flags, const int *flag)
{
	for (size_t i = 0; i < flags->n; i++) {
		if (flags->items[i].flag == flag)
			return &flags->items[i];
	}
	return NULL;
}

int tn_flags_note(struct tn_flags *flags, int *flag)
{
	if (find_flag(flags, flag))
		return 1;
	if (flags->n == flags->room) {
		size_t room = flags->room ? 2 * flags->room : 16;
		struct tn_flag *more = tn_mem_realloc(flags->items, room, sizeof(*more));
		if (!more)
			return 0;
		flags->items = more;
		flags->room = room;
	}
	flags->items[flags->n++] = (struct tn_flag){.flag = flag, .before = *flag};
	return 1;
}

void tn_flags_forget(struct tn_flags *flags, const int *flag)
{
	struct tn_flag *item = find_flag(flags, flag);
	if (item)
		item->flag = NULL;
}

void tn_flags_take_back(struct tn_flags *flags)
{
	for (size_t i = 0; i < flags->n; i++) {
		struct tn_flag *item = &flags->items[i];
		if (!item->flag)
			continue;
		item->after = *item->flag;
		*item->flag = item->before;
	}
}

void tn_flags_replay(const struct tn_flags *flags)
{
	for (size_t i = 0; i < flags->n; i++) {
		if (flags->items[i].flag)
			*flags->items[i].flag = flags->items[i].after;
	}
}

void tn_flags_release(struct tn_flags *flags)
{
	tn_mem_free(flags->items);
	*flags = (struct tn_flags){0};
}
