#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The modules on the simulated CUDA against recorded PyTorch numbers.
simulated=${TENON_BUILD:?}/tests/with-simcuda
[ -f "$TENON_BUILD/.libs/backend_cuda.so" ] && "$simulated" true || exit 77
exec "$simulated" "$TENON_BUILD/tests/parity/modules" 'cuda!'
