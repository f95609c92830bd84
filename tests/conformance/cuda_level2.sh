#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Elements, sums, products, copies, orders: in three parts, with the long checks separate.
# shellcheck source=cuda_lib.sh
. "$(dirname "$0")/cuda_lib.sh"
not_when_brief
# Under a sanitizer the interpreter takes minutes for these kernels; the networks of the higher
# levels cover them and the host code that launches them.
! is_sanitized || exit 77
for part in '*.lo*' '*.l[!o]*' '*.[!l]*'; do
	level 2 --filter="$part"
done
