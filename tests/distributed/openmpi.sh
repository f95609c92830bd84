#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The communicator of Open MPI, started by its launcher.
name=openmpi
launcher='mpirun.openmpi --allow-run-as-root --oversubscribe'
. "${TENON_SOURCE:?}/tests/distributed/mpi_lib.sh"
for ranks in 1 2 3 4; do
	succeeds $ranks operations
done
test_life
# Under this launcher, the communicator of the other MPI.
if [ -f "$TENON_BUILD/.libs/communicator_mpich.so" ]; then
	export TENON_COMMUNICATOR=mpich
	succeeds 2 stranger
fi
