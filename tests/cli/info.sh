#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# tenon info: its output, and the result of each way of choosing a backend.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 info
out_has reference
err_lines 0

# A requested backend that is absent: one line with the reason, and the program continues.
TENON_SIMULATE=cuda:no-driver TENON_BACKEND=cuda run 0 info
err_lines 1
err_has cuda
TENON_SIMULATE=cuda:no-driver TENON_BACKEND='cuda!' run 3 info --json
err_has cuda
out_has '"backends"'
TENON_SIMULATE=cpu:missing-library TENON_BACKEND='cpu!' run 3 info
err_has MISSING_LIBRARY
TENON_SIMULATE=cpu:no-device TENON_BACKEND=cpu run 0 info
err_lines 1
err_has NO_DEVICE

# For a misspelt name the closest one is suggested.
TENON_BACKEND=cppu run 0 info
err_has "did you mean 'cpu'"
TENON_BACKEND='cpu:0x' run 1 info
err_has 'column'

# The whole report as JSON.
TENON_SIMULATE=cuda:no-driver TENON_BACKEND=cuda run 0 info --json
python=$(command -v python3 || true)
if [ -n "$python" ]; then
	"$python" - "$dir/out" <<'END' || fail "JSON"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["fell_back"]
assert any(b["name"] == "reference" for b in report["backends"])
assert any(b["name"] == "cuda" and b["status"] != "OK" for b in report["backends"])
END
fi
out_has '"selection"'
out_has '"fell_back"'

run 3 info --why opencl
out_has "no file backend_opencl.so .* built from the project plugins/opencl of Tenon's source tree"
out_has '^  packages: ocl-icd-libopencl1$'
out_has 'what to do: install or build it as described above'
# The packages named in data files are Debian's, of every release or of the one that is named.  To
# ask for one costs as much as to ask for all.
release=$(sed -n 's/^VERSION_ID="\(.*\)"/(Debian \1)/p' /etc/os-release)
sed -n 's/^packages = //p' "${TENON_SOURCE:?}"/plugins/*/*.backend \
	"$TENON_SOURCE"/plugins/*/*.communicator | tr , '\n' |
	awk -v release="$release" '{ package = $1; $1 = "" }
		NF == 1 || $0 == " " release { print package }' >"$dir/packages"
[ -s "$dir/packages" ] || fail "no data file names packages"
xargs apt-cache show libc6 <"$dir/packages" 2>/dev/null | sed -n 's/^Package: //p' >"$dir/known"
while read -r package; do
	! grep -qx libc6 "$dir/known" || grep -qx "$package" "$dir/known" ||
		fail "Debian has no package '$package'"
done <"$dir/packages"
run 1 info --why nothing-like-this
run 3 info --why opencl --json
out_has '"what_to_do": "install or build it'
run 0 info --why reference --json
out_has '"selected_device"'
TENON_SEED=3 run 0 info --env
out_has '^TENON_BACKEND  *(not set)$'
out_has '^TENON_SEED  *3 (environment)$'
! grep -q 'from not set' "$dir/out" || fail "'from not set'"
out_has TENON_FALLBACK
# Lines fit the terminal; script(1) makes one of unknown width: 80 columns.
awk 'length > 100 { exit 1 }' "$dir/out" && fail "lines of a file are broken"
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	script -qec "'$tenon' info --env 2>/dev/null" /dev/null </dev/null | tr -d '\r' >"$dir/out"
	out_has '^TENON_BACKEND  *(not set)$'
	awk 'length > 80 && NF > 1 { exit 1 }' "$dir/out" ||
		fail "a line is longer than the terminal"
fi
run 0 info --config
out_has '^Tenon [0-9.]*, backend interface '
out_has '^configure options: '
out_has '^selection: '
out_has '^[a-z]*:0: current$'
run 2 info --config --json
err_has 'has no JSON'
TENON_LOG="$(printf 'off\351')" run 1 info --env
TENON_CPU_OPENBLAS="$(printf '/no\351ne')" TENON_LOG=off run 0 info --env --json
out_has '"name": "TENON_BACKEND"'
out_has '"value": "/no?ne"'
out_has '"value": null'

# The options of a backend, from the command line and from variables: their values, and wrong ones.
if "$tenon" info 2>/dev/null | grep -q ' cpu .*ready'; then
	TENON_CPU_VARIANT=v9 run 0 info
	err_has "TENON_CPU_VARIANT (cpu.variant): .*'v9'"
	TENON_CPU_VARIANT=v2 run 0 info --backend-option cpu.conv=few --backend-option=no_such.x=1
	out_has 'cpu.conv=few (choice, program; default auto)'
	out_has 'cpu.variant=v2 (choice, environment; default auto)'
	run 1 info --backend-option cpu.conf=few
	err_has "backend cpu has no option 'conf'; did you mean 'cpu.conv'?"
	run 1 info --backend-option cpu.conv=slow
	err_has "option cpu.conv: expected auto, .*, found 'slow'"
	run 1 info --backend-option cpu=slow
	err_has "column 4 of 'cpu': expected '.'"
	run 2 info --backend-option cpu.conv
	err_has "expected BACKEND.OPTION=VALUE"
	run 0 info --why cpu
	out_has 'option cpu.conv=auto (default): '
	run 0 info --json
	out_has '"variable": "TENON_CPU_CONV"'
fi

# The probe: one file, and all files, including a crashing one.
fixtures=$TENON_BUILD/tests/plugins/.libs
run 0 info --probe "$fixtures/backend_ok.so"
out_has 'ok .*ready'
run 0 info --probe="$fixtures/backend_ok.so" --json
out_has '"status": "OK"'
run 3 info --probe "$fixtures/backend_crashes.so"
out_has PROBE_FAILED
mkdir "$dir/plugins"
cp "$fixtures/backend_ok.so" "$fixtures/backend_exits.so" "$dir/plugins"
TENON_PLUGIN_PATH=$dir/plugins run 3 info --probe
out_has '  ok  .*ready'
out_has 'exits .*PROBE_FAILED'
out_has "it ended the process at stage 'create'"
TENON_PLUGIN_PATH=$dir/plugins run 3 info --probe --why exits
out_has 'what to do: load it in a separate process'
rm "$dir/plugins/backend_exits.so"
TENON_PLUGIN_PATH=$dir/plugins run 0 info --probe

# One device found by two backends is shown as one, and both keep it.
cp "$fixtures/backend_two_devices.so" "$fixtures/backend_paired.so" "$dir/plugins"
TENON_PLUGIN_PATH=$dir/plugins run 0 info
out_has 'paired:0 .*the same device as two_devices:1'
out_has 'two_devices:1 .*the same device as paired:0'
TENON_PLUGIN_PATH=$dir/plugins run 0 info --why paired
out_has '    the same device as two_devices:1'

# Only a copy of a backend under another name is requested.
cp "$fixtures/backend_twin.so" "$dir/plugins"
TENON_PLUGIN_PATH=$dir/plugins run 0 info --backend twin
err_has '^tenon: loader: twin not used: DUPLICATE: the same UUID as'
TENON_PLUGIN_PATH=$dir/plugins TENON_BACKEND=twin run 3 info --why twin
err_has '^tenon: loader: twin not used'
out_has 'needs its own UUID'

# What a selection with '!' does not name is not opened, whatever it would do.
mkdir "$dir/bad"
cp "$fixtures/backend_crashes.so" "$fixtures/backend_hangs.so" "$fixtures/backend_early.so" \
	"$dir/bad"
export TENON_TEST_EARLY=abort
TENON_PLUGIN_PATH=$dir/bad TENON_BACKEND='reference!' run 0 info
out_has '^  crashes .*EXCLUDED'
out_has '^ *excluded by TENON_BACKEND=reference!$'
err_lines 0
TENON_PLUGIN_PATH=$dir/bad run 3 info --backend 'reference!' --why early
out_has '^early: EXCLUDED$'
out_has '^  excluded by backend=reference!$'
out_has 'what to do: name it in the selection'
TENON_PLUGIN_PATH=$dir/bad run 3 info --backend 'absent!' --json
err_has 'absent not used: NO_PLUGIN'
out_has '"text": "excluded by backend=absent!"'
TENON_PLUGIN_PATH=$dir/bad run 0 doctor --backend 'reference!' --only random.bits
out_has '^hangs is not checked: EXCLUDED: excluded by backend=reference!$'
unset TENON_TEST_EARLY
TENON_BACKEND=^references run 0 info
err_has "TENON_BACKEND: '^references' excludes nothing; did you mean '^reference'?"

# By kind, and by the identities that it prints.
TENON_PLUGIN_PATH=$dir/plugins run 0 info --backend 'pci:0000:01:00.0!'
out_has '^\* two_devices .*ready'
out_has 'two_devices:1 .*, CPU, pci:0000:01:00.0, the same device as'
TENON_PLUGIN_PATH=$dir/plugins run 0 info --backend 'uuid:09000000-0000-0000-0000-000000000000!'
out_has '^\* paired .*ready'
TENON_SIMULATE=cuda:no-driver run 3 info --backend 'gpu!'
err_has 'not used: NO_D'

# Two copies of one backend that both fail are both reported.
mkdir "$dir/more"
cp "$fixtures/backend_null_slot.so" "$dir/plugins"
cp "$fixtures/backend_null_slot.so" "$dir/more"
TENON_PLUGIN_PATH=$dir/plugins:$dir/more run 3 info --why null_slot
out_has "file: $dir/plugins/backend_null_slot.so"
out_has "also found: $dir/more/backend_null_slot.so: BAD_PLUGIN: table"

# An OpenBLAS that runs an old processor's kernels does not multiply, unless the backend's own have
# no longer vectors.
export OPENBLAS_CORETYPE=Prescott
run 0 info
if grep -q 'kernels for x86-64-v[34]; OpenBLAS .*core Prescott' "$dir/out"; then
	out_has 'core Prescott, .*; not used: slower'
	TENON_CPU_VARIANT=v2 run 0 info
	grep -q 'not used: slower' "$dir/out" && fail "OpenBLAS is not used beside kernels of v2"
	OPENBLAS_CORETYPE=Haswell run 0 info
	grep -q 'core Haswell, .*not used' "$dir/out" && fail "OpenBLAS for Haswell is not used"
fi
unset OPENBLAS_CORETYPE

# The value of a variable is printed as printable text.
TENON_BACKEND="$(printf 'c\033[31mpu')" run 1 info
err_has "of 'c?\\[31mpu'"

TENON_CPU_OPENBLAS="$(printf '/none\033[31m')" TENON_LOG=off run 0 info --env
out_has '^TENON_CPU_OPENBLAS  *'"/none?\\[31m"

# Wrong usage.
run 2 info --nonsense
run 2 info extra
run 2
run 2 nonsense
run 0 --version
run 0 --help
for command in info doctor train eval predict models bench; do
	run 0 "$command" --help
	out_has usage
done
run 0 models
out_has lenet
out_has 61706
run 0 models lenet
out_has '^conv1 *Conv2d *(1, 6, 28, 28) *156 *117600$'
out_has '416520  multiply-adds'
[ "$(wc -L <"$dir/out")" -le 80 ] || fail "models lenet: a line of more than 80 columns"
run 1 models lenett
err_has "no model 'lenett'; did you mean 'lenet'?"
run 1 models resnet18:large
err_has "resnet18 has no form 'large'; its forms are published, small, nnott"
run 1 models vit_tiny --shape 3x30x30
err_has 'multiples of 4, found 30 x 30'
run 0 models lenet:nnott --shape 3x32x32 --classes 7
out_has '^fc2 *Linear *(1, 7) *595 *588$'
run 0 models --help
out_has '--shape CxHxW'
run 2 models --shape 3x32x32
err_has 'for one MODEL'
run 2 models lenet --shape 3x32
err_has "as 3x224x224, found '3x32'"
run 2 models lenet mlp
