#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Layers.
# shellcheck source=cuda_lib.sh
. "$(dirname "$0")/cuda_lib.sh"
level 3
