/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * SIGINT, caught once, so that long work stops in order.  The second one ends the process.
 */
#ifndef TENON_TOOLS_INTERRUPT_H
#define TENON_TOOLS_INTERRUPT_H

/* Starts recording the first SIGINT; if SIGINT is ignored, it stays ignored. */
void interrupt_catch(void);
/* Has SIGINT arrived? */
int interrupt_seen(void);
/* Restores the default: SIGINT ends the process. */
void interrupt_release(void);
/* Ends the process as SIGINT would have. */
void interrupt_obey(void);

#endif
