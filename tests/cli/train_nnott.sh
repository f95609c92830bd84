#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# The options of nnott do what the table of tenon-nnott(7) says: each trains as Tenon's option
# beside it, and otherwise than without it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits
cd "$dir" || exit 1

# "epochs" of the rows of the page that have it in the programs of a letter.
options_of() {
	sed -n "s/^\.It Fl -\([a-z-]*\).* Ta [svc ]*$1[svc ]* Ta .*/\1/p" \
		"$TENON_SOURCE/man/tenon-nnott.7" | sort -u
}
count_of() { options_of "$1" | wc -l; }
[ "$(count_of s)" -eq 23 ] || fail "expected 23 options of the scalar program: $(count_of s)"
[ "$(count_of v)" -eq 40 ] || fail "expected 40 options of the vectorised program: $(count_of v)"
# Beside the name of the network.
[ "$(count_of c)" -eq 30 ] || fail "expected 30 options of the convolutional program: $(count_of c)"

for name in $(sed -n 's/.*\.name = "\([a-z-]*\)".*/\1/p' "$TENON_SOURCE/tools/nnott_options.c"); do
	grep -q "^\.It Fl -$name " "$TENON_SOURCE/man/tenon-nnott.7" ||
		fail "--$name is accepted, and is not in tenon-nnott(7)"
done

# "--batch-size N|--batch N": the table as words of command lines.
sed -n 's/^\.It \(Fl -[^ ].*\) Ta [svc ]* Ta \(Fl .*\)/\1|\2/p' "$TENON_SOURCE/man/tenon-nnott.7" |
	sed -e 's/Fl -/--/g' -e 's/ Ns//g' -e 's/Ar //g' -e 's/Cm //g' -e 's/\\&//g' \
		-e 's/= \([A-Z]\)/=\1/g' >table
[ "$(wc -l <table)" -ge 50 ] || fail "expected a table in tenon-nnott(7)"

# learn NAME ARGUMENTS...: what a short training prints and measures goes into NAME.
learn() {
	to=$1
	shift
	run 0 train mlp --data digits --seed 1 --quiet --metrics metrics "$@"
	sed 's/"seconds".*//' metrics out >"$to"
}

# An argument of the option, and the other options without which it changes nothing.
sample() {
	with="--epochs 1 --hidden-sizes 8 --validation 0.9"
	case $1 in
	--epochs) value=2 with="--hidden-sizes 8 --validation 0.9" ;;
	--batch-size) value=16 ;;
	--val-split) value=0.8 with="--epochs 1 --hidden-sizes 8" ;;
	--seed) value=2 ;;
	--load) value=$dir/other.safetensors ;;
	--hidden-sizes) value=9,7 with="--epochs 1 --validation 0.9" ;;
	--activation) value=tanh ;;
	--hidden-activations)
		value=tanh,gelu with="--epochs 1 --validation 0.9 --hidden-sizes 8,6" ;;
	--hidden-dropout | --dropout) value=0.5 ;;
	--bn-momentum) value=0.9 with="$with --batch-norm" ;;
	--leaky-negative-slope) value=0.5 with="$with --activation leaky_relu" ;;
	--optimizer) value=sgd ;;
	--lr) value=0.1 ;;
	--weight-decay) value=0.9 ;;
	--lr-schedule*) with="--epochs 3 --hidden-sizes 8 --validation 0.9" ;;
	--min-lr) value=0.001 ;;
	--reduce-factor)
		value=0.1 with="--hidden-sizes 8 --epochs 3 --schedule plateau --reduce-patience 1"
		with="$with --reduce-delta 10" ;;
	--reduce-patience)
		value=1 with="--hidden-sizes 8 --epochs 3 --schedule plateau --reduce-delta 10" ;;
	--reduce-delta)
		value=10 with="--hidden-sizes 8 --epochs 3 --schedule plateau"
		with="$with --reduce-patience 1" ;;
	--early-stopping) with="--hidden-sizes 8 --epochs 7 --optimizer sgd --lr 0.00000001" ;;
	--early-patience)
		value=1 with="--hidden-sizes 8 --epochs 4 --early-stopping --min-delta 9" ;;
	--early-delta)
		value=9 with="--hidden-sizes 8 --epochs 4 --early-stopping --patience 1" ;;
	--grad-clip) value=0.01 with="$with --optimizer sgd" ;;
	--lookahead-k) value=2 with="$with --lookahead" ;;
	--lookahead) with="--epochs 2 --hidden-sizes 8" ;;
	--lookahead-alpha) value=0.9 with="--epochs 2 --hidden-sizes 8 --lookahead" ;;
	--skip-train) with="--hidden-sizes 8 --validation 0.9" ;;
	--no-augment) with="$with --augment nnott" ;;
	--augment-max-shift) value=3 ;;
	--augment-rotate-deg) value=90 ;;
	--augment-rotate-prob) value=1 with="$with --augment rotate_deg=30" ;;
	--augment-noise-std) value=0.9 ;;
	--augment-noise-prob) value=1 with="$with --augment noise_std=0.9" ;;
	--augment-noise-clip) value=0.1 with="$with --augment noise_std=0.9" ;;
	--augment-cutout-size) value=9 with="$with --augment cutout_prob=1" ;;
	--augment-cutmix-alpha) value=0.1 with="$with --augment cutmix_prob=1" ;;
	--augment-randaug-layers) value=2 with="$with --augment randaugment_magnitude=1" ;;
	--augment-randaug-magnitude) value=1 with="$with --augment randaugment_layers=2" ;;
	--augment-*-prob) value=0.9 ;;
	esac
}
# "--batch 16" of "--batch N".
filled() { echo "$1" | sed -e "s|[A-Z]*,\.\.\.\$|$value|" -e "s|\([= ]\)[A-Z][A-Z]*\$|\1$value|"; }

run 0 train mlp --data digits --seed 7 --quiet --epochs 1 --hidden-sizes 8 --save other.safetensors
while IFS='|' read -r nnott tenon_option; do
	case $nnott in
	--save* | --gpu | --plot | '--lr-schedule cosine') continue ;; # below
	esac
	value=
	sample "${nnott%% [A-Z]*}"
	nnott=$(filled "$nnott")
	other=$(filled "$tenon_option")
	# The words of each.
	# shellcheck disable=SC2086
	{
		learn with $with $nnott
		if [ "$nnott" != "$other" ]; then
			learn as $with $other
			cmp with as || fail "tenon train $with: $nnott and $other differ"
		fi
		base=without-$(echo "$with" | tr -dc 'a-z0-9')
		[ -f "$base" ] || learn "$base" $with
	}
	cmp -s with "$base" && fail "tenon train $with: $nnott changes nothing"
	tested=$((${tested:-0} + 1))
done <table
[ "$tested" -ge 47 ] || fail "expected 47 options or more, tested $tested"

# Those that train nothing else.
learn with --epochs 2 --hidden-sizes 8 --lr-schedule cosine
learn as --epochs 2 --hidden-sizes 8 --schedule cosine
cmp with as || fail "--lr-schedule cosine"
for gpu in '--gpu' '--backend cuda!'; do
	# shellcheck disable=SC2086
	TENON_SIMULATE=cuda:no-driver run 3 train mlp --data digits $gpu
	mv err "err-${gpu%% *}"
done
cmp ./err---gpu ./err---backend || fail "--gpu is not --backend cuda!"

# Plots, where pictures can be written.
run 0 train mlp --data digits --epochs 2 --hidden-sizes 8 --show-misclassified --plot ||
	grep -q libpng err || fail "--plot"
out_has '^test image [0-9]*: [0-9], answered [0-9] ([0-9.]* %)$'
[ "$(grep -c '^test image' out)" -eq 25 ] || fail "expected 25 pictures"
out_has '^[0-9]* of 359 test images were answered wrongly$'
for file in loss.svg samples.png mistakes.png; do
	[ -s plots/$file ] || fail "--plot: expected plots/$file"
done
[ "$(grep -c '<title>epoch' plots/loss.svg)" -eq 4 ] || fail "expected two losses of two epochs"

# What mlp is becomes part of the saved network.
run 0 train mlp --data digits --epochs 1 --quiet --hidden-sizes 9,7 --hidden-activations tanh,gelu \
	--batchnorm --dropout 0.1,none --save own.safetensors
accuracy=$(sed -n 's/^\(test accuracy .*\)/\1/p' out)
run 0 eval own.safetensors
out_has "^$accuracy\$"

# Without training the metrics are those of the test, in place of what the file had.
run 0 train mlp --data digits --skip-train --load own.safetensors --quiet --metrics metrics \
	--hidden-sizes 9,7 --activation tanh,gelu --batch-norm --dropout 0.1,none --seed 9
out_has "^$accuracy\$"
[ "$(wc -l <metrics)" -eq 1 ] || fail "expected one line of metrics"

# What cannot be meant is refused.
refused() {
	text=$1
	shift
	run "$status_expected" train "$@"
	err_has "$text"
}
status_expected=2
refused '--reduce-factor: expected --schedule plateau too, found cosine' mlp --data digits \
	--reduce-factor 0.5
refused '--min-lr: expected --schedule cosine or plateau, found constant' mlp --data digits \
	--lr-schedule none --min-lr 0.1
refused '--reduce-factor: expected a decimal number above 0 and below 1, found .1' mlp \
	--data digits --schedule plateau --reduce-factor 1
refused '--min-lr: expected at most the learning rate 0.002, found 1e+09' mlp --data digits \
	--min-lr 1e9
refused '--min-lr: expected at most the learning rate 0.1, found 0.2' mlp --data digits \
	--lr 0.1 --schedule plateau --min-lr 0.2
refused '--patience: expected --early-stopping too' mlp --data digits --early-patience 3
refused '--lookahead-k: expected --lookahead too' mlp --data digits --lookahead-k 3
for optimizer in adamw adam nadam rmsprop; do
	refused "--momentum: expected --optimizer sgd or lars, found $optimizer" \
		mlp --data digits --optimizer "$optimizer" --momentum 0.5
done
refused "--augment-hflip-prob: expected a number from 0 to 1, found 'x'" mlp \
	--augment-hflip-prob x
refused "--augment-cutout-size: expected a whole number of pixels above 0, found '0'" mlp \
	--augment-cutout-size 0
refused "--augment-rotate-prob: expected a number from 0 to 1, found '0,vflip_prob=1'" mlp \
	--augment-rotate-prob 0,vflip_prob=1
refused "--augment: expected none, own, .* found 'rol=1'" mlp --augment rol=1
refused "--lr-schedule: expected constant, .* found 'linear'" mlp --lr-schedule linear
refused '--gpu takes no argument' mlp --gpu=1
refused "there is no option '--augment-hflop-prob'; did you mean --augment-hflip-prob?" mlp \
	--augment-hflop-prob 1
refused '--skip-train: expected no --epochs' mlp --data digits --skip-train --epochs 1
status_expected=1
refused "lenet: expected no settings, found 'hidden-sizes=8'" lenet --data digits --hidden-sizes 8
refused 'mlp: bn-momentum: expected batch-norm too' mlp --data digits --bn-momentum 0.2
refused 'mlp: negative-slope: expected the activation leaky_relu' mlp --data digits \
	--leaky-negative-slope 0.2
refused 'mlp: dropout: expected one value or one for each of 2 hidden layers, found 3' mlp \
	--data digits --hidden-dropout 0.1,0.2,0.3
refused 'hflip_prob: expected a number from 0 to 1, found 2' mlp --data digits \
	--augment-hflip-prob 2
