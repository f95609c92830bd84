#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# tenon convert: there and back gives the same bytes; names, types and refusals.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits

run 0 train mlp --data digits --epochs 1 --quiet --save "$dir/net.safetensors"
run 0 convert "$dir/net.safetensors" "$dir/copy.safetensors"
cmp "$dir/net.safetensors" "$dir/copy.safetensors" || fail "a copy differs"

# NPZ has no metadata; of the rest the same file comes back.
run 0 convert "$dir/net.safetensors" "$dir/net.npz"
out_has '^6 tensors in '
run 0 convert "$dir/net.npz" "$dir/bare.safetensors"
run 0 convert "$dir/bare.safetensors" "$dir/again.npz"
run 0 convert "$dir/again.npz" "$dir/again.safetensors"
cmp "$dir/bare.safetensors" "$dir/again.safetensors" || fail "there and back differ"
run 1 eval "$dir/bare.safetensors"
err_has "no metadata 'model'"

# Every f32 is an f64; an f16 of it is not the same, and takes half.
run 0 convert "$dir/net.safetensors" "$dir/wide.safetensors" --dtype f64
run 0 convert "$dir/wide.safetensors" "$dir/back.safetensors" --dtype f32
cmp "$dir/net.safetensors" "$dir/back.safetensors" || fail "through f64"
run 0 convert "$dir/net.safetensors" "$dir/half.safetensors" --dtype f16
[ "$(wc -c <"$dir/half.safetensors")" -lt $((11 * $(wc -c <"$dir/net.safetensors") / 20)) ] ||
	fail "f16 is not smaller"

# Renamed twice, the names are the old ones; the first that fits counts.
run 0 convert "$dir/net.safetensors" "$dir/other.safetensors" --rename fc1.=a. --rename fc=b
run 1 train mlp --data digits --epochs 1 --init "$dir/other.safetensors"
err_has "'b2.bias': the network has no such tensor\|'a.bias': the network has no such tensor"
run 0 convert "$dir/other.safetensors" "$dir/named.safetensors" --rename a.=fc1. --rename b=fc
cmp "$dir/net.safetensors" "$dir/named.safetensors" || fail "renamed there and back"

# A prefix for all, and names left out; the patterns are of the names in IN.
run 0 convert "$dir/net.safetensors" "$dir/some.npz" --rename =net. --drop 'fc[12].*' --drop '*.b*'
out_has '^1 tensors in '
run 0 convert "$dir/some.npz" "$dir/some.safetensors"
grep -aq '"net.fc3.weight"' "$dir/some.safetensors" || fail "no prefix"

run 1 convert "$dir/net.safetensors" "$dir/bf.npz" --dtype bf16
err_has 'NumPy has no type for bf16'
run 1 convert "$dir/net.safetensors" "$dir/same.npz" --rename fc1.=x. --rename fc2.=x.
err_has "two arrays 'x.bias'"
for file in bf same; do
	[ ! -e "$dir/$file.npz" ] || fail "$file.npz was left behind"
done
run 1 convert "$dir/none.npz" "$dir/x.npz"
err_has 'No such file'
run 1 convert "$dir/net.npz" "$dir/no/such/x.npz"
err_has 'expected a writable folder'
run 2 convert "$dir/net.npz"
err_has 'expected IN and OUT, found 1 words'
run 2 convert "$dir/net.npz" "$dir/net.txt"
err_has 'expected a name that ends in .safetensors or .npz'
run 2 convert "$dir/net.npz" "$dir/x.npz" --rename fc1
err_has '--rename: expected OLD=NEW'
run 2 convert "$dir/net.npz" "$dir/x.npz" --rename =
err_has '--rename: expected OLD=NEW, of which one may be empty'

# Names of any characters, whole numbers, truth values and empty tensors.
header='{"a \"\\ü/\n":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}'
header="$header"',"b":{"dtype":   "BOOL","shape":[],"data_offsets":[16,17]}'
header="$header"',"c":{"dtype":"F32","shape":[0,3],"data_offsets":[17,17]}}'
length=$(printf %03o "$(printf %s "$header" | wc -c)")
# shellcheck disable=SC2059
printf "\\$length\\0\\0\\0\\0\\0\\0\\0" >"$dir/odd.safetensors"
printf '%s12345678abcdefgh\001' "$header" >>"$dir/odd.safetensors"
run 0 convert "$dir/odd.safetensors" "$dir/odd.npz" --dtype f16
run 0 convert "$dir/odd.npz" "$dir/odd2.safetensors"
run 0 convert "$dir/odd2.safetensors" "$dir/odd2.npz"
run 0 convert "$dir/odd2.npz" "$dir/odd3.safetensors"
cmp "$dir/odd2.safetensors" "$dir/odd3.safetensors" || fail "odd names: there and back differ"
grep -a -q '"shape":\[0,3\]' "$dir/odd2.safetensors" || fail "the empty tensor is lost"
grep -a -q '12345678abcdefgh' "$dir/odd2.safetensors" || fail "the whole numbers differ"
sed 's/   "BOOL"/"F8_E4M3"/' "$dir/odd.safetensors" >"$dir/f8.safetensors"
run 1 convert "$dir/f8.safetensors" "$dir/f8.npz"
err_has 'F8_E4M3 is not supported'

# What fits no name is said, and nothing of what does.
run 0 convert "$dir/odd.safetensors" "$dir/odd4.npz" --rename nix.=a --drop 'nix*'
err_has "odd.safetensors: --rename 'nix.=a' renames no tensor"
err_has "odd.safetensors: --drop 'nix\*' leaves out no tensor"
err_lines 2
run 0 convert "$dir/odd.safetensors" "$dir/odd5.npz" --rename =a. --drop 'b'
err_lines 0

# Numbers beyond the range of a type are counted by tensor, and nothing is written.
header='{"big":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},'
header="$header"'"inf":{"dtype":"F32","shape":[1],"data_offsets":[16,20]}}'
length=$(printf %03o "$(printf %s "$header" | wc -c)")
# 1e5, -1e5, 65504, 65520, which rounds to 65536; infinity is itself in every type.
# shellcheck disable=SC2059
{
	printf "\\$length\\0\\0\\0\\0\\0\\0\\0"
	printf %s "$header"
	printf '\000\120\303\107\000\120\303\307\000\340\177\107\000\360\177\107'
	printf '\000\000\200\177'
} >"$dir/big.safetensors"
run 1 convert "$dir/big.safetensors" "$dir/big16.safetensors" --dtype f16
err_has "tensor 'big': expected numbers within the range of f16, found 3 of 4 beyond it"
err_has 'big.safetensors: nothing is written; bf16 has the range of f32'
err_lines 2
[ ! -e "$dir/big16.safetensors" ] || fail "infinities were written"
run 0 convert "$dir/big.safetensors" "$dir/big16.safetensors" --dtype bf16
run 0 convert "$dir/big.safetensors" "$dir/big64.safetensors" --dtype f64

# A terminal would obey the name of this tensor.
header='{"\u001b[31m\nx":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}'
length=$(printf %03o "$(printf %s "$header" | wc -c)")
# shellcheck disable=SC2059
{
	printf "\\$length\\0\\0\\0\\0\\0\\0\\0"
	printf %s "$header"
	printf 1
} >"$dir/escape.safetensors"
run 1 convert "$dir/escape.safetensors" "$dir/escape.npz"
err_has "tensor '?\[31m x': F8_E4M3 is not supported"
err_lines 1

# A limit on the size of files is an error, and the old file stays.
printf 'old\n' >"$dir/limited.npz"
status=0
(
	ulimit -f 4
	exec "$tenon" convert "$dir/net.safetensors" "$dir/limited.npz"
) >/dev/null 2>"$dir/err" || status=$?
[ $status -eq 1 ] || fail "a limit on files: expected exit status 1, found $status"
err_has 'limited.npz: writing: File too large'
[ "$(cat "$dir/limited.npz")" = old ] || fail "a limit on files: the old one is lost"
[ -z "$(find "$dir" -name '*.tmp')" ] || fail "a limit on files: a temporary one stayed"
