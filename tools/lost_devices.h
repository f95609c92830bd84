/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The devices that a training has lost.  Their names are in the environment
 * (TENON_LOST_DEVICES=cuda:1,cuda:3, the last one at the end), so that the processes that continue
 * it know them; a rank tells its launcher by a pipe (TENON_RESTART_PIPE).
 */
#ifndef TENON_TOOLS_LOST_DEVICES_H
#define TENON_TOOLS_LOST_DEVICES_H

#include <stddef.h>

/* Is the device in the list?  `name` may have more after its end. */
int lost_devices_have(const char *list, const char *name);
/* The list in the environment; "": none. */
const char *lost_devices(void);
/* Makes a device the last one of the list. */
void lost_devices_add(const char *name);

/* Does a launcher start the ranks anew when it is told of a loss? */
int lost_devices_are_awaited(void);
/* Tells it. */
void lost_devices_tell(const char *name);
/* Adds what ranks have written to the pipe, and writes the names into `text`: "cuda:1, cuda:3".
 * Returns how many there are. */
int lost_devices_receive(int pipe, char *text, size_t size);

#endif
