#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# eval and predict of weights that say nothing of their network, which the command line names.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# pictures FOLDER COUNT WIDTH HEIGHT CLASS...: colour pictures, each class brighter than the last.
pictures() {
	folder=$1 count=$2 width=$3 height=$4
	shift 4
	for class in "$@"; do
		mkdir -p "$folder/$class"
	done
	awk -v folder="$folder" -v n="$count" -v width="$width" -v height="$height" \
		-v list="$*" 'BEGIN {
		n_classes = split(list, classes, " ")
		for (i = 0; i < n * n_classes; i++) {
			k = i % n_classes
			file = folder "/" classes[k + 1] "/" int(i / n_classes) ".ppm"
			printf "P3 %d %d 255", width, height >file
			for (p = 0; p < 3 * width * height; p++)
				printf " %d", 20 + 90 * k + (i * 7 + p * 13) % 50 >file
			close(file)
		}
	}'
}
json() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" "$dir/out"; }
same_loss() {
	[ "$(json test_loss)" = "$(metric test_loss "$dir/metrics")" ] ||
		fail "$1: loss $(json test_loss), trained to $(metric test_loss "$dir/metrics")"
}
# bare IN OUT: the tensors of a safetensors file without its metadata.
bare() {
	run 0 convert "$1" "$dir/bare.npz"
	run 0 convert "$dir/bare.npz" "$2"
	grep -aq input_format "$2" && fail "metadata are left"
	return 0
}

pictures "$dir/set/train" 16 12 16 dark light
pictures "$dir/set/test" 4 12 16 dark light
for how in own imagenet; do
	run 0 train lenet --data "$dir/set" --epochs 4 --validation 0 --normalise $how \
		--resize 36 --crop 32 --save "$dir/net.safetensors" --metrics "$dir/metrics"
	run 0 predict "$dir/net.safetensors" --data "$dir/set" --count 8
	cp "$dir/out" "$dir/expected"
	bare "$dir/net.safetensors" "$dir/weights.safetensors"
	named="--model lenet --normalise $how --resize 36 --crop 32"
	# shellcheck disable=SC2086
	run 0 eval "$dir/weights.safetensors" $named --data "$dir/set" --json
	same_loss $how
	# shellcheck disable=SC2086
	run 0 predict "$dir/weights.safetensors" $named --data "$dir/set" --count 8
	cmp "$dir/expected" "$dir/out" || fail "$how: another prediction"
done
# Of weights alone nothing names the classes.
run 0 predict "$dir/net.safetensors" "$dir/set/test/light/0.ppm"
sed 's/dark/0/; s/light /1 /' "$dir/out" >"$dir/expected"
# shellcheck disable=SC2086
run 0 predict "$dir/weights.safetensors" $named "$dir/set/test/light/0.ppm"
cmp "$dir/expected" "$dir/out" || fail "a picture alone: another prediction"

# A folder without parts is tested as a whole; but then it has no mean of its own.
# shellcheck disable=SC2086
run 0 eval "$dir/weights.safetensors" $named --data "$dir/set/test" --json
same_loss "a folder without parts"
run 1 eval "$dir/weights.safetensors" --model lenet --normalise own --crop 32 \
	--data "$dir/set/test"
err_has 'expected a test part, found none (and --normalise own needs the training part)'

# Weights of another network, or for other pictures.
run 1 eval "$dir/weights.safetensors" --model mlp --normalise imagenet --crop 32 --data "$dir/set"
err_has "weights.safetensors: tensor 'conv1.\(weight\|bias\)': the network has no such tensor"
run 1 eval "$dir/weights.safetensors" --model resnet20 --normalise imagenet --crop 32 \
	--data "$dir/set"
err_has "weights.safetensors: expected the tensor 'fc.bias' of resnet20, found none"
run 1 eval "$dir/weights.safetensors" --model lenet --normalise imagenet --crop 48 \
	--data "$dir/set"
err_has "weights.safetensors: tensor '[a-z0-9.]*': expected shape ([0-9, ]*), found ([0-9, ]*)"
pictures "$dir/three" 2 12 16 black dark light
# shellcheck disable=SC2086
run 1 eval "$dir/weights.safetensors" $named --data "$dir/three"
err_has 'the network expects 3 x 32 x 32 and 2 classes, the data set .* has 3 x 32 x 32 and 3'
head -c 2000 "$dir/weights.safetensors" >"$dir/half.safetensors"
# shellcheck disable=SC2086
run 1 eval "$dir/half.safetensors" $named --data "$dir/set"
err_has 'half.safetensors: '
run 1 eval "$dir/weights.safetensors" --model lenett --normalise imagenet --data "$dir/set"
err_has "no model 'lenett'; did you mean 'lenet'?"

# Classes of other names than the network's may be others.
pictures "$dir/other" 2 12 16 dim light
run 0 eval "$dir/net.safetensors" --data "$dir/other"
err_has "class 0 is 'dark' in the network and 'dim' in the data set"

# What belongs together.
run 1 eval "$dir/weights.safetensors" --data "$dir/set"
err_has "no metadata 'model'"
run 2 eval "$dir/weights.safetensors" --model lenet --data "$dir/set"
err_has '--model: expected --normalise own, imagenet or published too'
run 2 eval "$dir/weights.safetensors" --model lenet --normalise imagenet
err_has '--model: expected --data too'
run 2 eval "$dir/net.safetensors" --resize 8
err_has '--resize: expected --model too'
run 2 predict "$dir/weights.safetensors" --model lenet --normalise own "$dir/set/test/light/0.ppm"
err_has '--normalise own: expected --data too'
