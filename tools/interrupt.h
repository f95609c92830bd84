/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The signals that end a program (SIGINT, SIGTERM, SIGHUP and SIGUSR1), caught once each, so that
 * long work stops in order.  A second one of the same kind ends the process.
 */
#ifndef TENON_TOOLS_INTERRUPT_H
#define TENON_TOOLS_INTERRUPT_H

/* Starts recording; a signal that is ignored stays ignored (nohup), and one that has a handler
 * keeps it. */
void interrupt_catch(void);
/* The number of the first signal that has arrived; 0: none. */
int interrupt_seen(void);
/* Restores the defaults: a signal ends the process. */
void interrupt_release(void);
/* Ends the process as the signal that was seen would have. */
void interrupt_obey(void);

#endif
