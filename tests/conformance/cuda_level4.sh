#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Gradients, and networks that learn.
# shellcheck source=cuda_lib.sh
. "$(dirname "$0")/cuda_lib.sh"
not_when_brief
level 4
