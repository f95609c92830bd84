#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Elements, sums, products, copies, orders: in three parts, what is long apart from what is not.
# shellcheck source=cuda_lib.sh
. "$(dirname "$0")/cuda_lib.sh"
not_when_brief
# Under a sanitizer the interpreter takes minutes for these kernels, which the networks of the
# higher levels run too, as they do the host code that starts them.
! is_sanitized || exit 77
for part in '*.lo*' '*.l[!o]*' '*.[!l]*'; do
	level 2 --filter="$part"
done
