/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * `sync` fails as STUMBLE selects (crash, exit, hang, print, handler), and works without it.
 * Nothing computes.
 */
#include <signal.h>
#include <stdlib.h>
#include <tenon/backend.h>
#include <unistd.h>

static tn_status stumbles(void *device, const struct tn_sync_args *args);
#define MINIMAL_SYNC stumbles
#include "minimal.h"

static tn_status stumbles(void *device, const struct tn_sync_args *args)
{
	const struct tn_host *host = ((struct minimal *)device)->host;
	const char *how = host->parameter(host->context, "STUMBLE", "how sync goes wrong");
	(void)args;
	if (!how)
		return TN_OK;
	if (!strcmp(how, "crash"))
		raise(SIGSEGV);
	else if (!strcmp(how, "exit"))
		exit(3);
	else if (!strcmp(how, "print"))
		puts("a word that nobody asked for");
	else if (!strcmp(how, "handler"))
		signal(SIGUSR1, SIG_IGN);
	while (!strcmp(how, "hang"))
		sleep(1);
	return TN_OK;
}

#define UUID                                                                                       \
	0x6e, 0x1d, 0x52, 0x0b, 0x4c, 0x83, 0x4a, 0x9e, 0xb7, 0x15, 0x28, 0xc0, 0x3f, 0x96, 0xd4,  \
		0x7a
TN_BACKEND_PLUGIN(UUID, "stumbles", "1.0", "Apache-2.0", minimal_create, minimal_destroy,
		  minimal_query);
