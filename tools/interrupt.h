/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * SIGINT, taken once: a long piece of work ends in order.  The second one ends the process.
 */
#ifndef TENON_TOOLS_INTERRUPT_H
#define TENON_TOOLS_INTERRUPT_H

/* From here on the first SIGINT is remembered; one that is ignored stays ignored. */
void interrupt_catch(void);
/* Has it come? */
int interrupt_seen(void);
/* From here on SIGINT ends the process, as it did before. */
void interrupt_release(void);
/* Ends the process as SIGINT would have. */
void interrupt_obey(void);

#endif
