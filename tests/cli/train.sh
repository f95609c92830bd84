#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# The main job: train on digits, save, test and classify.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
needs_digits

run 0 train lenet --data digits --seed 1 --epochs 2 --metrics "$dir/metrics" \
	--save "$dir/net.safetensors"
out_has 'test accuracy'
err_has 'epoch 2'
[ "$(wc -l <"$dir/metrics")" -eq 3 ] || fail "expected two epochs and a last line"
for key in epoch train_loss train_accuracy val_loss val_accuracy seconds images_per_second; do
	head -n 1 "$dir/metrics" | grep -q "\"$key\": [0-9]" || fail "no $key in the metrics"
done
at_least "$(metric test_accuracy "$dir/metrics")" 0.8

# The saved network gives the same results, and has its data set in its metadata.
accuracy=$(sed -n 's/^test accuracy \([0-9.]*%\).*/\1/p' "$dir/out")
run 0 eval "$dir/net.safetensors" --confusion
out_has "test accuracy $accuracy"
run 0 eval "$dir/net.safetensors" --json
out_has '"test_accuracy"'
run 0 predict "$dir/net.safetensors" --data digits --count 3 --show
out_has 'test image 0'
[ "$(grep -c 'test image' "$dir/out")" -eq 3 ] || fail "expected three pictures"

# A picture from a file: a PGM of 28 x 28 with a white bar.
awk 'BEGIN {
	print "P2 28 28 255"
	for (y = 0; y < 28; y++)
		for (x = 0; x < 28; x++)
			print (x > 12 && x < 16 && y > 4 && y < 24) ? 255 : 0
}' >"$dir/one.pgm"
run 0 predict "$dir/net.safetensors" "$dir/one.pgm"
out_has 'one.pgm: '

# The same seed gives the same numbers.
run 0 train lenet --data digits --seed 1 --epochs 1 --metrics "$dir/a" --quiet
err_lines 0
run 0 train lenet --data digits --seed 1 --epochs 1 --metrics "$dir/b" --quiet
[ "$(metric test_loss "$dir/a")" = "$(metric test_loss "$dir/b")" ] || fail "one seed, two losses"
run 0 train lenet --data digits --seed 2 --epochs 1 --metrics "$dir/b" --quiet
[ "$(metric test_loss "$dir/a")" != "$(metric test_loss "$dir/b")" ] || fail "two seeds, one loss"

# Each optimizer learns with its default rate.
for optimizer in sgd adam nadam rmsprop adagrad adadelta lion lars lamb; do
	run 0 train mlp --data digits --seed 1 --epochs 3 --optimizer $optimizer --quiet \
		--metrics "$dir/o"
	at_least "$(metric test_accuracy "$dir/o")" 0.88
done

# A plateau that nothing passes stops the weights after one epoch more; two drops begin with the
# second of four.
train="train mlp:hidden-sizes=8 --data digits --seed 1 --quiet --metrics $dir/o"
loss_of() { sed -n "s/^{\"epoch\": $1,.*\"val_loss\": \([^,]*\).*/\1/p" "$dir/o"; }
# shellcheck disable=SC2086
run 0 $train --epochs 3 --schedule plateau --reduce-delta 10 --reduce-patience 1 \
	--reduce-factor 1e-9
[ "$(loss_of 1)" != "$(loss_of 2)" ] || fail "the rate was reduced too early"
[ "$(loss_of 2)" = "$(loss_of 3)" ] || fail "the rate was not reduced"
# shellcheck disable=SC2086
run 0 $train --epochs 4 --schedule constant
losses="$(loss_of 1) $(loss_of 2)"
# shellcheck disable=SC2086
run 0 $train --epochs 4 --schedule two-drops
[ "${losses% *}" = "$(loss_of 1)" ] || fail "the first epoch has another rate"
[ "${losses#* }" != "$(loss_of 2)" ] || fail "the second epoch has the same rate"

# The ledger, and backends by name.
run 0 train mlp --data digits --epochs 1 --backend reference --ledger --quiet
out_has 'matmul'
TENON_FALLBACK=error run 0 train mlp --data digits --epochs 1 --quiet
run 3 train mlp --data digits --backend 'nothing!'

# Captured steps give the same results, where a device can capture.
run 1 train mlp --data digits --epochs 1 --backend reference --capture on --quiet
err_has 'cannot capture work'
for capture in on off; do
	TENON_PLUGIN_PATH=$TENON_BUILD/plugins/mock/.libs run 0 train mlp --data digits \
		--validation 0.9 --batch 16 --epochs 1 --backend 'mock!' --capture $capture \
		--ledger --metrics "$dir/capture-$capture" --quiet
	case $capture in
	on) out_has '^replay  *[1-9]' ;;
	off) grep -q '^replay' "$dir/out" && fail "it replayed all the same" ;;
	esac
	sed 's/"seconds".*//' "$dir/capture-$capture" >"$dir/history-$capture"
done
cmp "$dir/history-on" "$dir/history-off" || fail "captured steps learn something else"

# Wrong arguments, and files that are missing or not networks.
run 2 train mlp
run 2 train mlp --data digits --epochs 0
run 2 train mlp --data digits --lr fast
run 2 train mlp --data digits --capture maybe
run 2 train --data digits
run 1 train lenett --data digits
err_has "did you mean 'lenet'"
run 2 train mlp --data "$(printf '/d\351')" --save "$dir/x.safetensors"
err_has 'expected a path in UTF-8'
run 1 train mlp --data nothing-like-this
err_has 'nothing-like-this'
run 1 train mlp --data digits --epochs 1 --quiet --save "$dir/no/such/folder/x.safetensors"
err_has 'no/such/folder'
run 1 eval "$dir/absent.safetensors"
err_has 'absent.safetensors'
printf 'hello, not a network' >"$dir/junk.safetensors"
run 1 eval "$dir/junk.safetensors"
err_has 'junk.safetensors'
run 2 predict "$dir/net.safetensors"
run 1 predict "$dir/net.safetensors" "$dir/junk.safetensors"
err_has 'junk'
