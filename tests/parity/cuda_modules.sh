#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The modules on the simulated CUDA against recorded PyTorch numbers, and networks of all dtypes.
simulated=${TENON_BUILD:?}/tests/with-simcuda
[ -f "$TENON_BUILD/.libs/backend_cuda.so" ] && "$simulated" true || exit 77
"$simulated" "$TENON_BUILD/tests/parity/modules" 'cuda!' || exit 1
exec "$simulated" "$TENON_BUILD/tests/unit/nn_dtypes" 'cuda!'
