#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A network that one backend trained and saved has the same accuracy and loss on every other.
simulated=${TENON_BUILD:?}/tests/with-simcuda
if [ -z "${TENON_TEST_SIMULATED:-}" ] && [ -f "$TENON_BUILD/.libs/backend_cuda.so" ] &&
	"$simulated" true >/dev/null 2>&1; then
	TENON_TEST_SIMULATED=1 exec "$simulated" sh "$0"
fi
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
TENON_PLUGIN_PATH=$TENON_BUILD/plugins/mock/.libs:${TENON_PLUGIN_PATH-}
export TENON_PLUGIN_PATH
backends=
for backend in reference cpu mock cuda; do
	[ $backend != cuda ] || [ -n "${TENON_TEST_SIMULATED:-}" ] || continue
	[ $backend != cpu ] || [ -f "$TENON_BUILD/.libs/backend_cpu.so" ] || continue
	backends="$backends $backend"
done

# Of two classes that overlap, so that the accuracy is neither all nor nothing.
mkdir -p "$dir/set/train/a" "$dir/set/train/b" "$dir/set/test/a" "$dir/set/test/b"
awk -v folder="$dir/set" 'BEGIN {
	for (i = 0; i < 48; i++) {
		file = folder (i < 32 ? "/train/" : "/test/") (i % 2 ? "b/" : "a/") i ".ppm"
		printf "P3 8 8 255" >file
		for (p = 0; p < 192; p++)
			printf " %d", 60 + i % 2 * 8 + (i * 37 + p * (13 + i % 5)) % 90 >file
		close(file)
	}
}'
value() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" "$dir/out"; }

# With batch norms, whose running statistics are saved too.  A simulation takes a second for eight
# pictures.
for saver in $backends; do
	training='--validation 0'
	[ "$saver" != cuda ] || training='--validation 0.75'
	# shellcheck disable=SC2086
	run 0 train baseline --data "$dir/set" $training --epochs 1 --batch 8 --quiet \
		--backend "$saver!" --save "$dir/$saver.net"
	first=
	for backend in $backends; do
		run 0 eval "$dir/$saver.net" --json --backend "$backend!"
		found="$(value test_accuracy) $(value test_loss)"
		[ "$(value images)" = 16 ] || fail "$saver on $backend: expected 16 images"
		[ -n "$first" ] || first=$found
		# shellcheck disable=SC2086
		set -- $first $found
		differ=
		[ "$1" = "$3" ] || differ=1
		awk -v a="$2" -v b="$4" 'BEGIN {
			exit !(a > 0 && (a > b ? a - b : b - a) <= 1e-4 * a)
		}' || differ=1
		[ -z "$differ" ] || fail "saved on $saver, on $backend: accuracy and loss \
$found, on ${backends%% *} $first"
	done
done
