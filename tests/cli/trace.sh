#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# tenon trace: a line of shape and statistics for each layer, forward, and backward in the reverse
# order.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits

run 0 trace lenet --data digits --index 2
out_has '^digits, test image 2: [0-9]$'
out_has '^x  (1, 1, 28, 28)$'
out_has '^Loss: [0-9.]*, the cross-entropy with label [0-9]$'
layers=$(sed -n 's/^\([a-z0-9]*\)  [A-Z][A-Za-z0-9]*  (.*/\1/p' "$dir/out")
forward='conv1 relu1 pool1 conv2 relu2 pool2 flatten fc1 relu3 fc2 relu4 fc3'
backward='fc3 relu4 fc2 relu3 fc1 flatten pool2 relu2 conv2 pool1 relu1 conv1'
[ "$(echo "$layers" | tr '\n' ' ')" = "$forward $backward " ] || fail "layers: $layers"
out_has '^conv2\.weight  (16, 6, 5, 5)$'
# A ReLU has nothing below 0, and about half of the values at 0.
[ "$(sed -n '/^relu1 /{n;s/ *min \([^ ]*\) .*/\1/p;q}' "$dir/out")" = 0 ] || fail "relu1 below 0"
# The derivative by the scores is softmax - 1 at the label, softmax elsewhere: its sum is 0.
sed -n '/^Backward/,/^relu4 /p' "$dir/out" | sed -n '/^fc3 /,/^relu4 /p' >"$dir/scores"
awk '/^    [^m]/ { for (i = 1; i <= NF; i++) { sum += $i; n++ } }
	END { exit !(n == 10 && sum < 0.001 && sum > -0.001) }' "$dir/scores" || fail "the scores"

run 0 trace lenet --data digits --values 0 --forward-only
grep -q 'Loss\|Backward' "$dir/out" && fail "--forward-only: there is a loss"
[ "$(grep -c '^    [^m]' "$dir/out")" -eq 0 ] || fail "--values 0: there are values"

run 0 train mlp --data digits --epochs 1 --quiet --save "$dir/net"
run 0 trace "$dir/net"
out_has '^fc3  Linear  (1, 10)$'
run 0 trace resnet20 --data digits --forward-only
out_has '^layer3.2.conv2  Conv2d  (1, 64, 7, 7)$'

# A picture of a class that the network does not have has no loss.
for class in a b c d e f g h i j k; do
	mkdir -p "$dir/eleven/$class"
	printf 'P2 8 8 255\n' >"$dir/eleven/$class/0.pgm"
	seq 64 >>"$dir/eleven/$class/0.pgm"
done
run 0 trace "$dir/net" --data "$dir/eleven" --index 9
run 1 trace "$dir/net" --data "$dir/eleven" --index 10
err_has "net: expected a label of the network's 10 classes, found 10"
grep -q Loss "$dir/out" && fail "a loss without a class"
run 0 trace "$dir/net" --data "$dir/eleven" --index 10 --forward-only

run 2 trace "$dir/none"
err_has 'a MODEL needs --data'
run 1 trace lenett --data digits
err_has "did you mean 'lenet'"
run 1 trace lenet --data digits --index 359
err_has 'expected less than the 359 pictures of the test part of digits, found 359'
run 2 trace lenet mlp --data digits
err_has 'found 2 words'
