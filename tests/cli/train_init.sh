#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# tenon train --init begins with the weights of a file, where their shapes fit, and --freeze leaves
# some of them as they are.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits

run 0 train mlp --data digits --epochs 1 --quiet --save "$dir/net"
run 0 eval "$dir/net"
cp "$dir/out" "$dir/before"

# Steps of next to nothing: the network is that of the file.
run 0 train mlp --data digits --epochs 1 --optimizer sgd --lr 1e-12 --init "$dir/net"
grep '^test' "$dir/out" | diff "$dir/before" - || fail "--init: another network"

# Parameters that are not trained stay to the byte, whatever the rate.
run 0 train mlp --data digits --epochs 1 --init "$dir/net" --freeze 'fc[12].*' --save "$dir/tuned"
run 0 train mlp --data digits --epochs 1 --init "$dir/net" --freeze 'fc3.*' --save "$dir/other"
# The file has the tensors in the order of names: fc1.bias, fc1.weight, fc2...; fc3.weight is last.
for file in net tuned other; do
	tail -c $((10 * 128 * 4)) "$dir/$file" | cksum >"$dir/$file.last"
done
cmp -s "$dir/net.last" "$dir/other.last" || fail "--freeze 'fc3.*': fc3.weight has changed"
cmp -s "$dir/net.last" "$dir/tuned.last" && fail "--freeze 'fc[12].*': fc3.weight is the same"

# Another number of classes: the last layer begins anew, and is named.
mkdir -p "$dir/two/a" "$dir/two/b"
awk 'BEGIN { print "P2 28 28 255"; for (i = 0; i < 784; i++) print i % 256 }' >"$dir/p.pgm"
for i in 1 2 3 4 5 6 7 8; do
	cp "$dir/p.pgm" "$dir/two/a/$i.pgm"
	cp "$dir/p.pgm" "$dir/two/b/$i.pgm"
done
run 0 train mlp --data "$dir/two" --epochs 1 --init "$dir/net"
err_has 'fc3.weight keeps its initial values: expected shape (2, 128), found (10, 128)'
err_has 'fc3.bias keeps its initial values'
grep -q 'fc2' "$dir/err" && fail "fc2 fits"

run 1 train lenet --data digits --epochs 1 --init "$dir/net"
err_has 'the file has no such tensor'
run 1 train mlp --data digits --epochs 1 --init "$dir/none"
err_has 'No such file'
printf 'PK\003\004 and more' >"$dir/weights.pth"
run 1 train mlp --data digits --epochs 1 --init "$dir/weights.pth"
err_has 'weights.pth: offset 0: expected safetensors, found a zip archive or pickle'
run 1 train mlp --data digits --epochs 1 --freeze 'fc4.*'
err_has "'fc4.\*' matches no parameter of mlp"
run 1 train mlp --data digits --epochs 1 --freeze '*'
err_has "matches every parameter of mlp"

# A training continues with the parameters that it began with.
run 0 train mlp --data digits --epochs 1 --schedule constant --freeze 'fc1.*' --checkpoint "$dir/ck"
run 1 train mlp --data digits --epochs 2 --schedule constant --checkpoint "$dir/ck" --resume
err_has "'.optimizer.trainable': the optimizer has nothing of that name"
run 1 train mlp --data digits --epochs 2 --schedule constant --freeze 'fc2.*' \
	--checkpoint "$dir/ck" --resume
err_has 'optimizer.trainable of fc1.bias: expected 1, found 0'
run 0 train mlp --data digits --epochs 2 --schedule constant --freeze 'fc1.*' \
	--checkpoint "$dir/ck" --resume
