#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# tenon data: the list, the counts of one data set, what is wrong with it, and a contact sheet.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# picture FILE VALUE: 12 x 10 grey pixels.
picture() {
	awk -v value="$2" 'BEGIN {
		print "P2 12 10 255"
		for (p = 0; p < 120; p++) print value
	}' >"$1"
}
# fill FOLDER COUNT: pictures of class black and of class white.
fill() {
	mkdir -p "$1/black" "$1/white"
	i=0
	while [ $i -lt "$2" ]; do
		picture "$1/black/$i.pgm" 0
		picture "$1/white/$i.pgm" 255
		i=$((i + 1))
	done
}

run 0 data
out_has '^digits: '
out_has '^mnist: '
TENON_DATA_DIR=$dir/none run 0 data
out_has '^digits: not found'

fill "$dir/set/train" 4
fill "$dir/set/val" 1
fill "$dir/set/test" 2
run 0 data "$dir/set"
out_has 'pictures: 1 x 10 x 12, values to 255'
out_has 'mean of train: 0.5'
out_has 'deviation of train: 0.5'
out_has '^ *0  black  *4  *1  *2$'
out_has '^ *1  white  *4  *1  *2$'
out_has '^all  *8  *2  *4$'
out_has '^14 samples$'
err_lines 0

# A sheet of 2 rows of 3 cells of 48 x 40, each with a gap of 2.
status=0
"$tenon" data "$dir/set" --sheet "$dir/sheet.png" --samples 3 >"$dir/out" 2>"$dir/err" || status=$?
if ! grep -q 'has no libpng' "$dir/err"; then
	[ $status -eq 0 ] || fail "no sheet"
	out_has 'sheet.png: a row for each class, in this order, of at most 3 samples'
	mkdir -p "$dir/seen/sheet"
	cp "$dir/sheet.png" "$dir/seen/sheet"
	run 0 data "$dir/seen"
	out_has 'pictures: 3 x 86 x 152'
	# Half of 6 x 48 x 40 pixels are white, the other 1552 of 13072 are 32 of 255.
	out_has 'mean of train: 0.4555 0.4555 0.4555'
	run 1 data "$dir/set" --sheet "$dir/none/sheet.png"
	err_has "expected a writable folder '$dir/none'"
	run 1 data "$dir/set" --sheet "$dir/sheet.png" --samples 1000
	err_has 'expected sides of at most 32768 .* ask for fewer samples'
	cmp "$dir/sheet.png" "$dir/seen/sheet/sheet.png" || fail "the old sheet is gone"
	# Of more classes than a picture has room for it has the first ones.
	run 1 data "$dir/set" --classes 1000 --sheet "$dir/long.png" --samples 1
	out_has 'long.png: a row for each of the first 780 classes, in this order'
fi

# Every picture that cannot be read is named, and a class that one part lacks.
printf 'P2 12 10 255 1 2 3' >"$dir/set/train/black/0.pgm"
printf 'GIF89a' >"$dir/set/test/white/1.png"
rm -r "$dir/set/val/white"
run 1 data "$dir/set"
err_has 'set/train/black/0.pgm: offset 13: expected at least'
err_has 'set/test/white/1.png: offset 0: expected a PNG, JPEG, PBM, PGM or PPM image, found'
err_has "class 1 ('white'): expected samples in validation, found none"
err_has 'set: 3 problems'
err_lines 4
out_has '^ *0  black  *3  *1  *2$'
out_has '^ *1  white  *4  *0  *2$'
grep -q 'mean of train' "$dir/out" && fail "a mean of pictures that cannot be read"
mkdir "$dir/set/train/grey"
run 1 data "$dir/set"
err_has 'set/train/grey: expected pictures'

# NPY: bytes of a shape.
npy() {
	printf '\223NUMPY\001\000\166\000%-117s\n' \
		"{'descr': '|u1', 'fortran_order': False, 'shape': ($2), }"
	# shellcheck disable=SC2059
	printf "$3"
} >"$1"
mkdir "$dir/arrays"
npy "$dir/arrays/x.npy" 3,2,2 '\001\002\003\004\005\006\007\010\011\012\013\014'
npy "$dir/arrays/y.npy" 3, '\000\002\014'
run 1 data "$dir/arrays"
err_has 'arrays: y of the training part: expected labels .* without a gap from 0'
err_has 'found 12 but no 1'
run 1 data "$dir/arrays" --classes 12
err_has 'n_classes: expected at least the 13 classes of the data set, found 12'
run 1 data "$dir/arrays" --classes 13
out_has '^ *2  2  *1  *0  *0$'
err_has "class 1 ('1'): expected samples in train, found none"
err_has "and 2 classes more without samples in train"
err_has 'arrays: 10 problems'
npy "$dir/arrays/y.npy" 2, '\000\002'
run 1 data "$dir/arrays"
err_has 'arrays'
npy "$dir/arrays/x_test.npy" 1,2,2 '\001\002\003\004'
npy "$dir/arrays/y_test.npy" 1, '\003'
npy "$dir/arrays/y.npy" 3, '\000\001\002'
mv "$dir/arrays/x.npy" "$dir/arrays/x_train.npy"
mv "$dir/arrays/y.npy" "$dir/arrays/y_train.npy"
run 1 data "$dir/arrays"
err_has 'y_test, number 0: expected a label from 0 to 2, as in the training part, found 3'

# Samples that are not pictures.
printf 'a,b,c\n1,2,x\n3,4,y\n5,6,x\n' >"$dir/table.csv"
run 0 data "$dir/table.csv"
out_has '^  x: f32 (2)$'
out_has '^  y: i32 ()$'
out_has '^ *0  x  *2  *0  *0$'
run 1 data "$dir/table.csv" --sheet "$dir/table.png"
err_has 'expected labelled pictures'
[ -e "$dir/table.png" ] && fail "a sheet of a table"
printf '1,2,x\n3,4,y\n5,6,x\n' >"$dir/table.csv"
run 1 data "$dir/table.csv"
err_has 'table.csv: line 1: expected the names of the columns, found numbers'
run 0 data "$dir/table.csv" --no-header
out_has '^ *0  x  *2  *0  *0$'

run 1 data "$dir/nowhere"
err_has 'expected a folder or a file, found neither'
run 2 data digits mnist
err_has 'expected one NAME or DIR, found 2 words'
run 2 data --sheet "$dir/x.png"
err_has '--sheet: expected a NAME or DIR, found none'

needs_digits
run 0 data digits
out_has 'stored as 8 x 8, enlarged 3 times, with a border of 2'
out_has '^1797 samples$'
