#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# tenon info: what it shows, and what each way of choosing a backend answers.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 info
out_has reference
err_lines 0

# A backend that is asked for and absent: one line with the reason, and the program goes on.
TENON_BACKEND=cuda run 0 info
err_lines 1
err_has cuda
TENON_BACKEND='cuda!' run 3 info --json
err_has cuda
out_has '"backends"'
TENON_SIMULATE=cpu:missing-library TENON_BACKEND='cpu!' run 3 info
err_has MISSING_LIBRARY
TENON_SIMULATE=cpu:no-device TENON_BACKEND=cpu run 0 info
err_lines 1
err_has NO_DEVICE

# A near miss is named.
TENON_BACKEND=cppu run 0 info
err_has "did you mean 'cpu'"
TENON_BACKEND='cpu:0x' run 1 info
err_has 'column'

# The whole report as JSON.
TENON_BACKEND=cuda run 0 info --json
python=$(command -v python3 || true)
if [ -n "$python" ]; then
	"$python" -c 'import json, sys; r = json.load(open(sys.argv[1])); assert r["fell_back"]; assert any(b["name"] == "reference" for b in r["backends"]); assert any(b["name"] == "cuda" and b["status"] != "OK" for b in r["backends"])' "$dir/out" || fail "JSON"
fi
out_has '"selection"'
out_has '"fell_back"'

run 0 info --why cuda
out_has 'packages'
run 1 info --why nothing-like-this
run 0 info --env
out_has TENON_BACKEND
out_has TENON_FALLBACK

# Wrong usage.
run 2 info --nonsense
run 2 info extra
run 2
run 2 nonsense
run 0 --version
run 0 --help
for command in info train eval predict models bench; do
	run 0 "$command" --help
	out_has usage
done
run 0 models
out_has lenet
out_has 61706
