#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# A saved network is tested with the normalisation of its training, and probabilities that are not
# finite are rejected.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# images FILE COUNT INVERTED: pictures of 4 x 4, the left half bright for label 0, the right for 1.
images() {
	# shellcheck disable=SC2059
	printf "$(awk -v n="$2" -v inverted="$3" 'BEGIN {
		printf "\\000\\000\\010\\003\\000\\000\\000\\%03o", n
		printf "\\000\\000\\000\\004\\000\\000\\000\\004"
		for (i = 0; i < n; i++) for (p = 0; p < 16; p++) {
			v = (int(p % 4 / 2) == i % 2 ? 200 : 40) + (i * 7 + p * 13) % 50
			printf "\\%03o", inverted ? 255 - v : v
		}
	}')" >"$1"
}
# labels FILE COUNT
labels() {
	# shellcheck disable=SC2059
	printf "$(awk -v n="$2" 'BEGIN {
		printf "\\000\\000\\010\\001\\000\\000\\000\\%03o", n
		for (i = 0; i < n; i++) printf "\\%03o", i % 2
	}')" >"$1"
}
for set in as_is inverted; do
	mkdir "$dir/$set"
	inverted=0
	[ $set = inverted ] && inverted=1
	images "$dir/$set/train-images-idx3-ubyte" 60 $inverted
	labels "$dir/$set/train-labels-idx1-ubyte" 60
	images "$dir/$set/t10k-images-idx3-ubyte" 20 0
	labels "$dir/$set/t10k-labels-idx1-ubyte" 20
done
json() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" "$dir/out"; }

# With the same test images the loss is the same, whatever the folder's training part.
run 0 train mlp --data "$dir/as_is" --epochs 2 --save "$dir/net" --metrics "$dir/metrics"
err_has '4x4, 2 classes, 54 train, 6 validation, 20 test images'
run 0 predict "$dir/net" --data "$dir/as_is" --count 20
cp "$dir/out" "$dir/expected"
for set in as_is inverted; do
	run 0 eval "$dir/net" --data "$dir/$set" --json
	[ "$(json test_loss)" = "$(metric test_loss "$dir/metrics")" ] ||
		fail "$set: loss $(json test_loss), trained to $(metric test_loss "$dir/metrics")"
	run 0 predict "$dir/net" --data "$dir/$set" --count 20
	cmp "$dir/expected" "$dir/out" || fail "$set: another prediction"
done

# The other pictures are classified when one is bad.
printf 'P2 4 4 255 255 255 0 0 255 255 0 0 255 255 0 0 255 255 0 0' >"$dir/good.pgm"
printf 'P2 4 4' >"$dir/bad.pgm"
run 1 predict "$dir/net" "$dir/bad.pgm" "$dir/good.pgm" "$dir/absent.pgm" "$dir/good.pgm"
[ "$(grep -c 'good.pgm: 0 ' "$dir/out")" -eq 2 ] || fail "expected two predictions"
err_has 'bad.pgm'
err_has 'absent.pgm'

# Names of files and of classes do not command a terminal.
LC_ALL=C sed 's/tenon.checksum/checksums/; s/"classes":"0\\n1"/"classes":"\\u001b\\n1"/' \
	"$dir/net" >"$dir/escape"
escape=$(printf '\033')
cp "$dir/good.pgm" "$dir/${escape}c.pgm"
run 0 predict "$dir/escape" "$dir/${escape}c.pgm"
out_has '/?c.pgm: ? [0-9.]*%, 1 [0-9.]*%$'

# The last weights become NaN, in a file that states no checksum.
LC_ALL=C sed 's/tenon.checksum/tenon.checksux/' "$dir/net" >"$dir/unchecked"
mv "$dir/unchecked" "$dir/net"
size=$(wc -c <"$dir/net")
printf '\377\377\377\377' | dd of="$dir/net" bs=1 seek=$((size - 4)) conv=notrunc 2>/dev/null
run 1 predict "$dir/net" "$dir/good.pgm"
err_has 'good.pgm: the network gives a probability of nan'
[ -s "$dir/out" ] && fail "a prediction from weights that are not finite"
run 1 eval "$dir/net" --confusion
err_has 'not a finite number'
[ -s "$dir/out" ] && fail "a result from weights that are not finite"

# Tables are as wide as their contents: at most 80 columns.
needs_digits
run 0 train mlp --data digits --epochs 1 --save "$dir/net" --ledger --quiet
awk 'length($0) > 79 { print; bad = 1 } END { exit bad }' "$dir/out" || fail "a wide ledger"
run 0 eval "$dir/net" --confusion
awk 'length($0) > 79 { print; bad = 1 } END { exit bad }' "$dir/out" ||
	fail "a wide confusion matrix"
