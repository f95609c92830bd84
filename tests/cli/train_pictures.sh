#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# A folder of JPEGs and PNGs of several sizes trains, evaluates and predicts with no step in
# between, and the preparation of pictures is that of the network on any folder.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# decode FILE: base64 from standard input.
decode() { base64 -d >"$1" || fail "base64"; }
decode "$dir/blue.jpg" <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywt
QFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09P
T09PT09PT09PT09PT09PT09PT0//wAARCAAQABgDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAEG/8QAFBAB
AAAAAAAAAAAAAAAAAAAAAP/EABYBAQEBAAAAAAAAAAAAAAAAAAADBv/EABYRAQEBAAAAAAAAAAAAAAAAAAAREv/aAAwD
AQACEQMRAD8AyYo1mEKgoYK//9k=
END
decode "$dir/blue.png" <<'END'
iVBORw0KGgoAAAANSUhEUgAAAAsAAAAOAgMAAACEDw4GAAAADFBMVEUoKNIoKMgoKL4oKLTgyzeSAAAAH0lEQVR42mP8
z/CXiYGBAYZZVjP8Q+YzM1y7hsyHAQDRdwVs4bgu6QAAAABJRU5ErkJggg==
END
decode "$dir/red.jpg" <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywt
QFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09P
T09PT09PT09PT09PT09PT09PT0//wAARCAAQABgDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAIF/8QAFRAB
AQAAAAAAAAAAAAAAAAAAABH/xAAWAQEBAQAAAAAAAAAAAAAAAAAABAb/xAAWEQEBAQAAAAAAAAAAAAAAAAAAERL/2gAM
AwEAAhEDEQA/AMSEXCIK1mEQXAph/9k=
END
decode "$dir/red.png" <<'END'
iVBORw0KGgoAAAANSUhEUgAAAAsAAAAOAgMAAACEDw4GAAAADFBMVEXSKCjIKCi+KCi0KCguLd+WAAAAH0lEQVR42mP8
z/CXiYGBAYZZVjP8Q+YzM1y7hsyHAQDRdwVs4bgu6QAAAABJRU5ErkJggg==
END
# pictures FOLDER COUNT: of each class, half of them JPEGs of 24 x 16, half PNGs of 11 x 14.
pictures() {
	for class in blue red; do
		mkdir -p "$1/$class"
		i=0
		while [ $i -lt "$2" ]; do
			[ $((i % 2)) -eq 0 ] && kind=jpg || kind=png
			cp "$dir/$class.$kind" "$1/$class/$i.$kind"
			i=$((i + 1))
		done
	done
}
pictures "$dir/set/train" 32
pictures "$dir/set/test" 4
status=0
"$tenon" train mlp --data "$dir/set" --epochs 1 --quiet >/dev/null 2>"$dir/err" || status=$?
! grep -q 'built without' "$dir/err" || skip "the library reads no JPEG or PNG"
[ $status -eq 0 ] || { cat "$dir/err" >&2; fail "a folder of JPEGs and PNGs"; }

# Another folder, whose mean is its own: all of it is red.
pictures "$dir/reds" 4
rm -r "$dir/reds/blue"
mkdir "$dir/reds/blue"
cp "$dir/red.png" "$dir/reds/blue/x.png"
mkdir "$dir/moved"
cp -r "$dir/reds" "$dir/moved/train"
json() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" "$dir/out"; }

# same_anywhere WORDS...: trained with these options, the network gives a picture the same answer
# alone and in any folder, and the test part the same loss.
same_anywhere() {
	run 0 train mlp --data "$dir/set" --epochs 20 --save "$dir/net" --metrics "$dir/metrics" \
		"$@"
	out_has 'test accuracy 100.00%'
	cp "$dir/err" "$dir/trained"
	cp -r "$dir/set/test" "$dir/alone"
	# The same test pictures beside others to train with, whose mean is another.
	cp -r "$dir/set/test" "$dir/moved/test"
	for data in "$dir/set" "$dir/alone" "$dir/moved"; do
		run 0 eval "$dir/net" --data "$data" --json
		[ "$(json test_loss)" = "$(metric test_loss "$dir/metrics")" ] ||
			fail "$*: $data: loss $(json test_loss), trained to \
$(metric test_loss "$dir/metrics")"
	done
	rm -r "$dir/alone" "$dir/moved/test"
	run 0 eval "$dir/net" --data "$dir/reds" --json
	[ "$(json images)" = 5 ] || fail "$*: expected 5 images"
	run 0 predict "$dir/net" "$dir/red.jpg" "$dir/red.png"
	sed 's/.*: red/red/' "$dir/out" >"$dir/expected"
	run 0 predict "$dir/net" --data "$dir/reds" --count 5
	# The first is the PNG in blue, then 0.jpg and 1.png of red.
	sed -n '2,3s/.*: red/red/p' "$dir/out" | cmp - "$dir/expected" || {
		cat "$dir/out" "$dir/expected" >&2
		fail "$*: another answer in a folder"
	}
}
same_anywhere
grep -q '14x11, 2 classes\|16x24, 2 classes' "$dir/trained" || fail "not of the first's size"
same_anywhere --resize 12 --crop 10
grep -q '10x10, 2 classes' "$dir/trained" || fail "not cut"
grep -aq '\\"resize\\":12' "$dir/net" || fail "the resize is not saved"
same_anywhere --resize 12:bicubic --crop 10
grep -aq '\\"resize\\":12,\\"interpolation\\":1,' "$dir/net" || fail "cubics are not saved"
same_anywhere --crop 9
grep -aq '\\"resize\\":9' "$dir/net" || fail "not resized to the crop"
same_anywhere --normalise imagenet --resize 12
grep -q '12x12, 2 classes' "$dir/trained" || fail "not cut to the resize"
grep -aq '"mean\\":\[0.485000014,' "$dir/net" || fail "not ImageNet's mean"

pictures "$dir/few" 2
run 0 train lenet:published --data "$dir/few" --epochs 1 --validation 0 --normalise imagenet
err_has '224x224, 2 classes'

# All as for the network's published weights, but for what is said.
run 0 train squeezenet1_1:small --data "$dir/few" --epochs 1 --validation 0 \
	--normalise published --resize 32:bicubic --save "$dir/net"
grep -aq '\\"resize\\":32,\\"interpolation\\":1,' "$dir/net" || fail "published: another resize"
grep -aq '"mean\\":\[0.485000014,' "$dir/net" || fail "published: another mean"
run 0 predict "$dir/net" --model squeezenet1_1 --normalise published --resize 32 "$dir/red.png"
run 1 train mlp --data "$dir/few" --normalise published
err_has "no published weights of 'mlp' are known"
for resize in 12:nearest :bicubic 12: 0 32769:bicubic; do
	run 2 train mlp --data "$dir/set" --resize $resize
	err_has '--resize: expected a number from 1 to 32768, alone or with :bilinear or :bicubic'
done
run 2 train mlp --data "$dir/set" --resize 9 --crop 10
err_has '--crop: expected at most --resize, 9, found 10'
run 2 train mlp --data "$dir/set" --normalise mine
err_has 'imagenet'
