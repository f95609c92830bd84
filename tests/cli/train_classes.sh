#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# Folders of pictures by class, with and without parts, and CIFAR's binary files.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# pictures FOLDER COUNT WIDTH HEIGHT: grey pictures, dark of class night, bright of class day.
pictures() {
	mkdir -p "$1/night" "$1/day"
	awk -v folder="$1" -v n="$2" -v width="$3" -v height="$4" 'BEGIN {
		for (i = 0; i < 2 * n; i++) {
			file = folder (i % 2 ? "/day/" : "/night/") int(i / 2) ".pgm"
			printf "P2 %d %d 255", width, height >file
			for (p = 0; p < width * height; p++)
				printf " %d", (i % 2 ? 180 : 20) + (i * 7 + p * 13) % 50 >file
			close(file)
		}
	}'
}

# All three parts are the data set's own.
pictures "$dir/whole/train" 32 12 10
pictures "$dir/whole/val" 4 12 10
pictures "$dir/whole/test" 5 12 10
run 0 train mlp --data "$dir/whole" --epochs 8 --save "$dir/net" --metrics "$dir/metrics"
err_has '10x12, 2 classes, 64 train, 8 validation, 10 test images'
out_has 'test accuracy 100.00% (loss [0-9.]*, 10 images)'
run 1 train mlp --data "$dir/whole" --epochs 1 --validation 0.2
err_has 'expected no validation_fraction, because the data set has a validation part of its own'

# Without parts a tenth is for validation, and nothing is tested.
pictures "$dir/plain" 20 12 10
run 0 train mlp --data "$dir/plain" --epochs 1 --save "$dir/untested" --metrics "$dir/metrics"
err_has '36 train, 4 validation, 0 test images'
err_has "not tested: $dir/plain has no test part"
[ "$(wc -l <"$dir/metrics")" -eq 1 ] || fail "a test of no images is in the metrics"
grep -q 'test accuracy' "$dir/out" && fail "a test of no images has an accuracy"
grep -aq '"test_accuracy"' "$dir/untested" && fail "a test of no images is saved"
grep -aq '"test_accuracy"' "$dir/net" || fail "the test is not saved"
run 1 eval "$dir/untested"
err_has "$dir/plain: expected a test part, found none"

# Other pictures of another size are resized, and tested as a whole.
pictures "$dir/other" 3 23 31
run 0 eval "$dir/net" --data "$dir/other" --json
out_has '"test_accuracy": 1, "images": 6'
run 0 predict "$dir/net" --data "$dir/other" --count 6
[ "$(grep -c 'test image [0-5] (night): night' "$dir/out")" -eq 3 ] || fail "not three nights"
[ "$(grep -c 'test image [0-5] (day): day' "$dir/out")" -eq 3 ] || fail "not three days"
run 0 eval "$dir/net" --data "$dir/other" --json --confusion
out_has '"confusion": \[\[3, 0\], \[0, 3\]\]}$'
# The label has the name of the data set, the answer that of the network.
mv "$dir/other/night" "$dir/other/evening"
run 0 predict "$dir/net" --data "$dir/other" --count 6
[ "$(grep -c 'test image [0-5] (evening): night' "$dir/out")" -eq 3 ] || fail "not three evenings"

# A picture that cannot be read ends the training, by name.
printf 'P2 12 10 255 1 2 3' >"$dir/plain/day/7.pgm"
run 1 train mlp --data "$dir/plain" --epochs 1
err_has "$dir/plain/day/7.pgm: offset 13: expected at least 239 bytes of samples, found 5"
mkdir "$dir/plain/dusk"
run 1 train mlp --data "$dir/plain" --epochs 1
err_has "$dir/plain/dusk: expected pictures"

# CIFAR-10: twenty black and white pictures in each file.
mkdir "$dir/cifar"
for i in 0 1 2 3 4 5 6 7 8 9; do
	# shellcheck disable=SC2059
	printf "\\00$((i % 2))" && head -c 3072 /dev/zero | tr '\0' "\\$((i % 2 * 3))11"
	# shellcheck disable=SC2059
	printf "\\00$((i % 2))" && head -c 3072 /dev/zero | tr '\0' "\\$((i % 2 * 3))44"
done >"$dir/cifar/test_batch.bin"
for i in 1 2 3 4 5; do
	cp "$dir/cifar/test_batch.bin" "$dir/cifar/data_batch_$i.bin"
done
run 0 train lenet --data "$dir/cifar" --epochs 6 --batch 8 --flip --max-shift 2 --save "$dir/net"
err_has '32x32, 10 classes, 90 train, 10 validation, 20 test images'
out_has 'test accuracy 100.00%'
run 0 predict "$dir/net" --data "$dir/cifar" --count 1
out_has 'test image 0 (airplane): airplane'
run 1 eval "$dir/net" --data "$dir/other"
err_has 'the network expects 3 x 32 x 32 and 10 classes'
