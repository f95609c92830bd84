#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Elements, sums, products, copies, orders: in three parts, with the long checks separate.
# shellcheck source=cuda_lib.sh
. "$(dirname "$0")/cuda_lib.sh"
not_when_brief
# The networks of the higher levels cover these kernels and the host code that launches them.
not_when_sanitized "the interpreter takes minutes for these kernels"
for part in '*.lo*' '*.l[!o]*' '*.[!l]*'; do
	level 2 --filter="$part"
done
