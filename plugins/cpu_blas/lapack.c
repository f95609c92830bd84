/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The names of LAPACK's routines.
 */
#include "lapack.h"

#include <dlfcn.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
} names[] = {
	{"spotrf_", offsetof(struct cpu_lapack, potrf[0])},
	{"dpotrf_", offsetof(struct cpu_lapack, potrf[1])},
	{"cpotrf_", offsetof(struct cpu_lapack, potrf[2])},
	{"zpotrf_", offsetof(struct cpu_lapack, potrf[3])},
	{"sgetrf_", offsetof(struct cpu_lapack, getrf[0])},
	{"dgetrf_", offsetof(struct cpu_lapack, getrf[1])},
	{"cgetrf_", offsetof(struct cpu_lapack, getrf[2])},
	{"zgetrf_", offsetof(struct cpu_lapack, getrf[3])},
	{"sgetrs_", offsetof(struct cpu_lapack, getrs[0])},
	{"dgetrs_", offsetof(struct cpu_lapack, getrs[1])},
	{"cgetrs_", offsetof(struct cpu_lapack, getrs[2])},
	{"zgetrs_", offsetof(struct cpu_lapack, getrs[3])},
	{"strtrs_", offsetof(struct cpu_lapack, trtrs[0])},
	{"dtrtrs_", offsetof(struct cpu_lapack, trtrs[1])},
	{"ctrtrs_", offsetof(struct cpu_lapack, trtrs[2])},
	{"ztrtrs_", offsetof(struct cpu_lapack, trtrs[3])},
	{"sgeqrf_", offsetof(struct cpu_lapack, geqrf[0])},
	{"dgeqrf_", offsetof(struct cpu_lapack, geqrf[1])},
	{"cgeqrf_", offsetof(struct cpu_lapack, geqrf[2])},
	{"zgeqrf_", offsetof(struct cpu_lapack, geqrf[3])},
	{"sorgqr_", offsetof(struct cpu_lapack, orgqr[0])},
	{"dorgqr_", offsetof(struct cpu_lapack, orgqr[1])},
	{"cungqr_", offsetof(struct cpu_lapack, orgqr[2])},
	{"zungqr_", offsetof(struct cpu_lapack, orgqr[3])},
	{"ssyevd_", offsetof(struct cpu_lapack, syevd[0])},
	{"dsyevd_", offsetof(struct cpu_lapack, syevd[1])},
	{"cheevd_", offsetof(struct cpu_lapack, heevd[0])},
	{"zheevd_", offsetof(struct cpu_lapack, heevd[1])},
	{"sgesdd_", offsetof(struct cpu_lapack, gesdd[0])},
	{"dgesdd_", offsetof(struct cpu_lapack, gesdd[1])},
	{"cgesdd_", offsetof(struct cpu_lapack, gesdd_complex[0])},
	{"zgesdd_", offsetof(struct cpu_lapack, gesdd_complex[1])},
	{"sgeev_", offsetof(struct cpu_lapack, geev[0])},
	{"dgeev_", offsetof(struct cpu_lapack, geev[1])},
	{"cgeev_", offsetof(struct cpu_lapack, geev_complex[0])},
	{"zgeev_", offsetof(struct cpu_lapack, geev_complex[1])},
};

void cpu_lapack_find(struct cpu_lapack *lapack, void *handle)
{
	memset(lapack, 0, sizeof(*lapack));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *address = dlsym(handle, names[i].name);
		if (!address) {
			lapack->missing = names[i].name;
			return;
		}
		memcpy((char *)lapack + names[i].offset, &address, sizeof(address));
	}
}
