#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Without any plugin training still works, on the built-in backend, with a notice.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits
mkdir "$dir/empty"
TENON_PLUGIN_PATH=$dir/empty run 0 train mlp --data digits --epochs 1 --metrics "$dir/metrics"
err_has 'reference:0'
at_least "$(metric test_accuracy "$dir/metrics")" 0.7
TENON_PLUGIN_PATH=$dir/empty run 0 info
out_has reference
