#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Fine-tuning as a user does it: trained on one set, begun with on another of other classes, a part
# of it frozen; which tensors of a file are taken, by which rules, and how many classes there are.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# pictures FOLDER COUNT CLASS...: of 32 x 32, each class brighter than the last.
pictures() {
	folder=$1 count=$2
	shift 2
	for class in "$@"; do
		mkdir -p "$folder/$class"
	done
	awk -v folder="$folder" -v n="$count" -v list="$*" 'BEGIN {
		n_classes = split(list, classes, " ")
		for (i = 0; i < n * n_classes; i++) {
			k = i % n_classes
			file = folder "/" classes[k + 1] "/" int(i / n_classes) ".ppm"
			printf "P3 32 32 255" >file
			for (p = 0; p < 3072; p++)
				printf " %d", 20 + 45 * k + (i * 7 + p * 13) % 40 >file
			close(file)
		}
	}'
}
# train MODEL WORDS...: one short epoch.
train() { run 0 train "$@" --epochs 1 --batch 8 --validation 0; }
# kept A B PATTERN: all tensors but those of such names have the same bytes.
kept() {
	for file in "$1" "$2"; do
		run 0 convert "$file" "$file.npz" --drop "$3"
		run 0 convert "$file.npz" "$file.kept.safetensors"
	done
	cmp -s "$1.kept.safetensors" "$2.kept.safetensors"
}
pictures "$dir/two" 8 dim bright
pictures "$dir/five/train" 4 a b c d e
pictures "$dir/five/test" 2 a b c d e

# From two classes to five: the head begins anew, and what --freeze names stays to the byte.
train lenet --data "$dir/two" --save "$dir/two.safetensors"
train lenet --data "$dir/five" --init "$dir/two.safetensors" --freeze 'conv*' \
	--save "$dir/five.safetensors"
err_has 'fc3.weight keeps its initial values: expected shape (5, 84), found (2, 84)'
err_has 'fc3.bias keeps its initial values: expected shape (5), found (2)'
err_has 'two.safetensors: 8 of 10 tensors taken'
err_has 'conv\*: 4 of 10 parameters are not trained'
kept "$dir/two.safetensors" "$dir/five.safetensors" 'fc*' || fail "--freeze: conv has changed"
kept "$dir/two.safetensors" "$dir/five.safetensors" 'fc3.*' && fail "fc1 and fc2 are not trained"
run 0 eval "$dir/five.safetensors"
out_has '10 images'
train lenet --data "$dir/five" --init "$dir/two.safetensors" --freeze 'conv*' --quiet
err_lines 0

# A network of more classes than the data: the others have numbers.
train lenet --data "$dir/two" --classes 5 --save "$dir/wide.safetensors"
err_has '32x32, 5 classes'
run 0 eval "$dir/wide.safetensors" --data "$dir/two" --confusion
[ "$(grep -c '^[234]  *0  *0  *0  *0  *0$' "$dir/out")" -eq 3 ] || fail "classes without names"
run 0 predict "$dir/wide.safetensors" "$dir/two/dim/0.ppm"
out_has '%'
train lenet --data "$dir/five" --init "$dir/wide.safetensors"
err_has '10 of 10 tensors taken'
grep -q 'initial values' "$dir/err" && fail "the head fits"
run 1 eval "$dir/two.safetensors" --data "$dir/five"
err_has 'the network expects 3 x 32 x 32 and 2 classes, the data set .* has 3 x 32 x 32 and 5'
run 1 eval "$dir/five.safetensors" --data "$dir/two"
err_has 'the network expects 3 x 32 x 32 and 5 classes, the data set .* has 3 x 32 x 32 and 2'
run 1 train lenet --data "$dir/five" --classes 4
err_has 'five: n_classes: expected at least the 5 classes of the data set, found 4'
run 2 train lenet --data "$dir/five" --classes 0
err_has '--classes'

# The rules of names.  A prefix that all have is taken off, and so for eval.
run 0 convert "$dir/two.safetensors" "$dir/ddp.safetensors" --rename =module._orig_mod.
train lenet --data "$dir/two" --init "$dir/ddp.safetensors"
err_has "ddp.safetensors: names without their prefix 'module._orig_mod.'"
err_has '10 of 10 tensors taken'
for file in two ddp; do
	run 0 eval "$dir/$file.safetensors" --model lenet --normalise imagenet --crop 32 \
		--data "$dir/two"
	cp "$dir/out" "$dir/$file.out"
done
cmp "$dir/two.out" "$dir/ddp.out" || fail "a prefix: another network"
# One that only some have is not.
run 0 convert "$dir/two.safetensors" "$dir/some.safetensors" --rename conv=net.conv
run 1 train lenet --data "$dir/two" --init "$dir/some.safetensors"
err_has "some.safetensors: tensor 'net.conv1.bias': the network has no such tensor (and 7 more)"
# A tensor that the network lacks is an error, until it is left out.
run 0 convert "$dir/two.safetensors" "$dir/copy.npz" --rename fc3=aux
run 0 convert "$dir/copy.npz" "$dir/aux.safetensors"
run 1 train lenet --data "$dir/two" --init "$dir/aux.safetensors"
err_has "aux.safetensors: tensor 'aux.bias': the network has no such tensor"
# One that the file lacks is an error too, but for num_batches_tracked.
run 0 convert "$dir/two.safetensors" "$dir/less.safetensors" --drop 'fc3.b*'
run 1 train lenet --data "$dir/two" --init "$dir/less.safetensors"
err_has "less.safetensors: tensor 'fc3.bias': the file has no such tensor"
train resnet20 --data "$dir/two" --save "$dir/res.safetensors"
run 0 convert "$dir/res.safetensors" "$dir/old.safetensors" --drop '*num_batches_tracked'
train resnet20 --data "$dir/two" --init "$dir/old.safetensors"
err_has '\([0-9]*\) of \1 tensors taken'
# Nothing that fits is no beginning.
run 0 convert "$dir/two.safetensors" "$dir/turned.safetensors" --rename conv1=conv2 \
	--rename conv2=fc1 --rename fc1=fc2 --rename fc2=fc3 --rename fc3=conv1
run 1 train lenet --data "$dir/two" --init "$dir/turned.safetensors"
err_has 'turned.safetensors: none of its 10 tensors fits'

# An NPZ file and a pickle are refused with what makes a safetensors file of them.
run 1 train lenet --data "$dir/two" --init "$dir/copy.npz"
err_has 'found an NPZ file; convert it: tenon convert FILE.npz FILE.safetensors'
