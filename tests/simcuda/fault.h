/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Faults on demand: counts calls by name and fails the nth of them.  Each simulated library has its
 * own count; SIMCUDA_FAIL=NAME:N=CODE[:sticky][,...] is read by all.  With SIMCUDA_SITES=FILE each
 * appends a line for each call to that file: the name, and from where it was called, FILE+OFFSET
 * for each frame, innermost first.  Functions that SIMCUDA_MISSING=NAME,... lists cannot be found,
 * as in an older library.
 */
#ifndef TN_TESTS_SIMCUDA_FAULT_H
#define TN_TESTS_SIMCUDA_FAULT_H

/* The version of CUDA that this library simulates: 13000, or that of major.c. */
extern const int sim_cuda_version;

/* Counts a call; returns its injected code, 0 for none. */
int sim_fault_next(const char *name, int *sticky);
/* n = 0 forgets all faults. */
void sim_fault_add(const char *name, unsigned n, int code, int sticky);
/* The nth call from now on fails and those after it, `times` in all (0: every one), in the place of
 * what was asked for that name before. */
void sim_fault_repeat(const char *name, unsigned n, unsigned times, int code);
unsigned long sim_fault_calls(const char *name);
/* The last call made to fail; "": none. */
const char *sim_fault_struck(void);
void sim_fault_forget_calls(void);
/* Resets everything and reads the environment again. */
void sim_fault_restart(void);
/* Is the name in the list of that environment variable? */
int sim_is_listed(const char *variable, const char *name);

#endif
