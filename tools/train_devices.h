/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The devices that a training takes when it starts anew, in the environment, so that the processes
 * that continue it know them: TENON_TRAIN_DEVICES=cuda:1,cuda:2,-cuda:0.  Those with a dash were
 * lost, the last one at the end.  A rank tells its launcher of a loss by a pipe
 * (TENON_RESTART_PIPE).
 */
#ifndef TENON_TOOLS_TRAIN_DEVICES_H
#define TENON_TOOLS_TRAIN_DEVICES_H

#include <stddef.h>

/* The list; "": there is none. */
const char *train_devices(void);
/* Is the device in it, and not lost? */
int train_devices_have(const char *name);
/* The first one of it; "": there is no list. */
void train_devices_first(char *name, size_t size);
/* Makes a device a lost one, of those in the list or, where there is none, of `all`, without
 * dashes.  If no other is left, all others may be taken again; one alone may always be. */
void train_devices_lose(const char *name, const char *all);
/* A selection of backends that prefers the devices of the list to what `given` (may be NULL)
 * prefers, with all that it excludes and forbids; NULL if there is no list, or `given` prefers
 * other backends.  Owned (free).  0: no memory, or no list of devices, which is printed. */
int train_devices_selection(const char *given, char **selection);

/* Does a launcher start the ranks anew when it is told of a loss? */
int train_devices_are_awaited(void);
/* Tells it. */
void train_devices_tell(const char *name, const char *all);
/* Tells it, or the process that this one becomes, that the folder of checkpoints is that of this
 * training: a later start continues from it. */
void train_devices_begin(void);
int train_devices_have_begun(void);
/* Takes what ranks have told, and writes the names of lost devices into `text`: "cuda:1, cuda:3".
 * Returns how many there are. */
int train_devices_receive(int pipe, char *text, size_t size);

#endif
