#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The communicator of MPICH, started by its launcher.
name=mpich
launcher='mpirun.mpich'
. "${TENON_SOURCE:?}/tests/distributed/mpi_lib.sh"
for ranks in 2 3; do
	succeeds $ranks operations
done
test_life
