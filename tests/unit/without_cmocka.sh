#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Says what is missing where configure has not found cmocka: as a test, so that the list of results
# has it, and for `make check` and quickstart, which then fail.
echo "the tests need cmocka (cmocka.h and libcmocka, Debian: libcmocka-dev), which configure has" \
	"not found: no test in C was built.  Where none is wanted: configure --disable-tests"
exit 77
