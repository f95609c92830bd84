#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Bad data, files and networks: each is an error before anything is computed or written, which names
# the file, and what was expected and found.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# refused TEXT WORDS...: by this text, in one line, after nothing on standard output.
refused() {
	text=$1
	shift
	run 1 "$@"
	err_has "$text"
	err_lines 1
	[ ! -s "$dir/out" ] || fail "$*: something on standard output"
}
# bytes FILE NUMBER: so many bytes of changing values.
bytes() { awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%c", 33 + i * 7 % 90 }' >"$1"; }
# labels NUMBER...: a byte each.
labels() {
	for label in "$@"; do
		# shellcheck disable=SC2059
		printf "\\$(printf %03o "$label")"
	done
}
# idx FILE COUNT [SIDE]: the header of pictures, or of labels.
idx() {
	if [ $# -eq 3 ]; then
		printf '\000\000\010\003\000\000\000' && labels "$2"
		printf '\000\000\000' && labels "$3" && printf '\000\000\000' && labels "$3"
	else
		printf '\000\000\010\001\000\000\000' && labels "$2"
	fi >"$1"
}
# part STEM LABEL...: pictures of 28 x 28 with these labels.
bytes "$dir/pixels" $((12 * 784))
part() {
	stem=$1
	shift
	idx "$stem-images-idx3-ubyte" $# 28
	head -c $(($# * 784)) "$dir/pixels" >>"$stem-images-idx3-ubyte"
	idx "$stem-labels-idx1-ubyte" $#
	labels "$@" >>"$stem-labels-idx1-ubyte"
}
# mnist FOLDER TEST-LABEL...: six pictures of three classes to train with.
mnist() {
	mkdir -p "$1"
	part "$1/train" 0 1 2 0 1 2
	folder=$1
	shift
	part "$folder/t10k" "$@"
}
train() { refused "$2" train mlp --data "$dir/$1" --epochs 1; }

# ---- Labels --------------------------------------------------------------------------------------

mnist "$dir/range" 0 1 7
train range 'range/t10k-labels-idx1-ubyte: label 2: expected a class from 0 to 2, .*, found 7'
mnist "$dir/sparse" 0 1 5
part "$dir/sparse/train" 0 1 5 0 1 5
train sparse 'sparse/train-labels-idx1-ubyte: label 2: expected a class from 0 to 1, .*, found 5'
mnist "$dir/count" 0 1 2
idx "$dir/count/train-labels-idx1-ubyte" 5
labels 0 1 2 0 1 >>"$dir/count/train-labels-idx1-ubyte"
train count 'count: train: expected as many labels as images, found 5 labels and 6 images'

# npy FILE SHAPE: of bytes.
npy() {
	printf '\223NUMPY\001\000\166\000%-117s\n' \
		"{'descr': '|u1', 'fortran_order': False, 'shape': ($2), }" >"$1"
}
# arrays FOLDER LABELS: four pictures of 28 x 28.
arrays() {
	mkdir -p "$1"
	npy "$1/x_train.npy" 4,28,28
	head -c 3136 "$dir/pixels" >>"$1/x_train.npy"
	npy "$1/y_train.npy" 4,
	# shellcheck disable=SC2086
	labels $2 >>"$1/y_train.npy"
}
arrays "$dir/gap" '0 5 0 5'
train gap \
	'gap: y of the training part: expected labels .* without a gap from 0 .*, found 5 but no 1'
run 0 train mlp --data "$dir/gap" --epochs 1 --classes 6
err_has '28x28, 6 classes'
arrays "$dir/beyond" '0 1 0 1'
npy "$dir/beyond/x_test.npy" 1,28,28
head -c 784 "$dir/pixels" >>"$dir/beyond/x_test.npy"
npy "$dir/beyond/y_test.npy" 1,
labels 2 >>"$dir/beyond/y_test.npy"
train beyond \
	'beyond: y_test, number 0: expected a label from 0 to 1, as in the training part, found 2'
npy "$dir/beyond/y_test.npy" 2,
labels 0 1 >>"$dir/beyond/y_test.npy"
train beyond 'beyond: expected as many in x_test as in y_test, found 1 and 2'
rm "$dir/beyond/y_test.npy" "$dir/beyond/x_test.npy" "$dir/beyond/y_train.npy"
train beyond 'beyond: expected labelled pictures, .*, found x u8 (28, 28)$'

# ---- Sizes, and halves of files ------------------------------------------------------------------

mnist "$dir/size" 0 1 2
idx "$dir/size/t10k-images-idx3-ubyte" 3 20
head -c 1200 "$dir/pixels" >>"$dir/size/t10k-images-idx3-ubyte"
train size 'size: expected t10k images of 28 x 28, as train, found 20 x 20'
mnist "$dir/half" 0 1 2
head -c 2000 "$dir/half/train-images-idx3-ubyte" >"$dir/cut"
mv "$dir/cut" "$dir/half/train-images-idx3-ubyte"
train half \
	'half/train-images-idx3-ubyte: offset 16: expected 4704 bytes for .*, found at most 1984'
arrays "$dir/short" '0 1 0 1'
head -c 1000 "$dir/short/x_train.npy" >"$dir/cut"
mv "$dir/cut" "$dir/short/x_train.npy"
train short \
	'short/x_train.npy: offset 128: expected 3136 bytes for shape (4, 28, 28) of u8, found 872'
printf 'a,b,c\n1,2,x\n3,4' >"$dir/half.csv"
train half.csv 'half.csv: line 3: expected 3 fields, as in line 1, found 2'
mkdir "$dir/cifar"
for file in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
	{ labels 3 && head -c 3072 "$dir/pixels"; } >"$dir/cifar/$file.bin"
done
{ labels 12 && head -c 3072 "$dir/pixels"; } >>"$dir/cifar/data_batch_3.bin"
train cifar 'cifar/data_batch_3.bin: offset 3073: record 1: expected a label from 0 to 9, found 12'
head -c 4000 "$dir/cifar/data_batch_3.bin" >"$dir/cut"
mv "$dir/cut" "$dir/cifar/data_batch_3.bin"
train cifar 'cifar/data_batch_3.bin: expected records of 3073 bytes, found 4000 bytes'
rm "$dir/cifar/data_batch_3.bin"
train cifar 'cifar/data_batch_3.bin: No such file'

# ---- A class that one part lacks -----------------------------------------------------------------

# In the training part it is an error, in the test part the accuracy is that of the others.
mnist "$dir/lacks" 0 1 1
run 0 train mlp --data "$dir/lacks" --epochs 1 --save "$dir/lacks.net"
err_has "lacks: the test part has no pictures of class 2 ('2')"
run 0 eval "$dir/lacks.net"
err_has "lacks: the test part has no pictures of class 2 ('2')"
run 1 data "$dir/lacks"
err_has "class 2 ('2'): expected samples in test, found none"
for class in a b; do
	mkdir -p "$dir/folders/train/$class" "$dir/folders/test/$class"
	printf 'P5 8 8 255\n' >"$dir/p.pgm"
	head -c 64 "$dir/pixels" >>"$dir/p.pgm"
	for i in 1 2 3 4; do
		cp "$dir/p.pgm" "$dir/folders/train/$class/$i.pgm"
	done
	cp "$dir/p.pgm" "$dir/folders/test/$class/1.pgm"
done
mv "$dir/folders/train/b" "$dir/b"
train folders "folders/test: expected the classes of train, found a folder 'b'"
mkdir "$dir/folders/train/b"
train folders 'folders/train/b: expected pictures'
rmdir "$dir/folders/train/b"
mv "$dir/b" "$dir/folders/train/b"
: >"$dir/folders/train/b/2.pgm"
train folders 'folders/train/b/2.pgm: offset 0: expected 2 more bytes, found the end of the file'
printf 'P5 8 8 255\nabc' >"$dir/folders/train/b/2.pgm"
train folders 'folders/train/b/2.pgm: offset 11: expected .* bytes of samples, found 3'
cp "$dir/p.pgm" "$dir/folders/train/b/2.pgm"
# One that is too long once resized.
run 0 train mlp --data "$dir/folders" --epochs 1 --resize 32 --save "$dir/resized.net"
{ printf 'P5 2000 1 255\n' && head -c 2000 "$dir/pixels"; } >"$dir/long.pgm"
refused 'long.pgm: resize: expected sides of at most 32768, found 64000 x 32' \
	predict "$dir/resized.net" "$dir/long.pgm"
cp "$dir/long.pgm" "$dir/folders/train/b/2.pgm"
refused 'folders/train/b/2.pgm: resize: expected sides of at most 32768, found 64000 x 32' \
	train mlp --data "$dir/folders" --epochs 1 --resize 32
cp "$dir/p.pgm" "$dir/folders/train/b/2.pgm"

# ---- Files of networks ---------------------------------------------------------------------------

run 0 train mlp --data "$dir/folders" --epochs 1 --save "$dir/net.safetensors"
size=$(wc -c <"$dir/net.safetensors")
# each_way TEXT FILE: of a file of weights, by all that read one.
each_way() {
	refused "$1" eval "$2"
	refused "$1" predict "$2" "$dir/p.pgm"
	refused "$1" eval "$2" --model mlp --normalise own --data "$dir/folders"
	refused "$1" train mlp --data "$dir/folders" --epochs 1 --init "$2"
	refused "$1" convert "$2" "$dir/out.npz"
	[ ! -e "$dir/out.npz" ] || fail "$2: out.npz was written"
}
head -c $((size / 2)) "$dir/net.safetensors" >"$dir/half.safetensors"
each_way 'half.safetensors: offset [0-9]*: expected [0-9]* bytes of data, found [0-9]*' \
	"$dir/half.safetensors"
head -c 100 "$dir/net.safetensors" >"$dir/head.safetensors"
each_way 'head.safetensors: offset 0: expected a header of at most 92 bytes .*, found [0-9]*' \
	"$dir/head.safetensors"
: >"$dir/none.safetensors"
each_way 'none.safetensors: offset 0: expected at least 8 bytes, found 0' "$dir/none.safetensors"
mkdir "$dir/folder.safetensors"
each_way 'folder.safetensors: expected a regular file, found a folder' "$dir/folder.safetensors"

# A flipped bit, in the numbers or in a text, is no other network.
LC_ALL=C sed 's/"seed":"0"/"seed":"1"/' "$dir/net.safetensors" >"$dir/text.safetensors"
head -c $((size - 100)) "$dir/net.safetensors" >"$dir/bit.safetensors"
tail -c 100 "$dir/net.safetensors" | LC_ALL=C tr '\000-\377' '\001\000\003-\377\002' \
	>>"$dir/bit.safetensors"
for file in text bit; do
	each_way "$file.safetensors: expected the checksum [0-9a-f]*, found [0-9a-f]*: .* damaged" \
		"$dir/$file.safetensors"
done

# changed FILE OLD NEW: the network's file with other bytes, as many, and no checksum.
changed() {
	LC_ALL=C sed "s/tenon.checksum/tenon.checksux/; s/$2/$3/" "$dir/net.safetensors" \
		>"$dir/$1.safetensors"
	[ "$(wc -c <"$dir/$1.safetensors")" -eq "$size" ] || fail "$1: another size"
	cmp -s "$dir/net.safetensors" "$dir/$1.safetensors" && fail "$1: nothing has changed"
	return 0
}
changed lenet '"model":"mlp"' '"model":"mlq"'
refused "lenet.safetensors: metadata 'model': no model 'mlq'" eval "$dir/lenet.safetensors"
changed names '"classes":"a\\nb"' '"classes":"a  b"'
refused "names.safetensors: metadata 'classes': expected 2 names, one a line, found 1" \
	eval "$dir/names.safetensors"
changed format '{\\"channels\\":1,' '{\\"channels\\":x,'
refused "format.safetensors: metadata 'input_format': .*channels" eval "$dir/format.safetensors"
changed sizes '\\"height\\":8,\\"width\\":8,\\"source_height\\":8,\\"source_width\\":8' \
	'\\"height\\":4,\\"width\\":4,\\"source_height\\":4,\\"source_width\\":4'
refused "sizes.safetensors: tensor 'fc1.weight': expected shape (256, 16), found (256, 64)" \
	eval "$dir/sizes.safetensors"

# Weights of another network, and pictures of another kind.
run 0 train lenet --data "$dir/lacks" --epochs 1 --save "$dir/lenet.net"
refused "lenet.net: expected the tensor 'fc.bias' of resnet20" eval "$dir/lenet.net" \
	--model resnet20 --normalise own --data "$dir/lacks"
run 1 train mlp --data "$dir/folders" --epochs 1 --init "$dir/lenet.net"
err_has "lenet.net: tensor 'conv1.bias': the network has no such tensor (and 3 more)"
refused 'net.safetensors: the network expects 1 x 8 x 8 and 2 classes, .* has 1 x 28 x 28 and 3' \
	eval "$dir/net.safetensors" --data "$dir/lacks"
refused "net.safetensors: the network expects pictures of 1 x 8 x 8, .* has 1 x 28 x 28" \
	predict "$dir/net.safetensors" --data "$dir/lacks"
refused 'cifar: expected pictures of 1 channels\|cifar/data_batch_3.bin' \
	eval "$dir/net.safetensors" --data "$dir/cifar"
run 1 predict "$dir/net.safetensors" "$dir/nosuch.png" "$dir/half.csv" "$dir/p.pgm"
err_has 'nosuch.png: No such file'
err_has 'half.csv: offset 0: expected a PNG, JPEG, PBM, PGM or PPM image, found the bytes 61 2c'
out_has 'p.pgm: [ab] '
