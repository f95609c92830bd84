#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# tenon launch: the variables of the ranks, how they end, and what is said about it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
unset TENON_THREADS TENON_COMMUNICATOR

# Each rank has its number, the number of all, one job and its share of the processors.
# shellcheck disable=SC2016
run 0 launch -n 3 -- sh -c 'echo "$TENON_LOCAL_RANK of $TENON_LOCAL_SIZE"
	echo "job $TENON_LOCAL_JOB" >&2
	[ "$TENON_THREADS" -ge 1 ]'
sort "$dir/out" | tr '\n' ' ' | grep -q '^0 of 3 1 of 3 2 of 3 $' || fail "the ranks"
[ "$(sort -u "$dir/err" | grep -c '^job [a-z0-9-]*$')" -eq 1 ] || fail "one job"
# shellcheck disable=SC2016
TENON_THREADS=7 run 0 launch --ranks 2 sh -c '[ "$TENON_THREADS" -eq 7 ]'
# The options of the command are its own.
run 0 launch -n 1 printf '%s\n' --help
out_has '^--help$'

# Standard input is that of rank 0.
status=0
echo word | "$tenon" launch -n 2 cat >"$dir/out" || status=$?
[ "$status $(cat "$dir/out")" = '0 word' ] || fail "standard input"

# The first rank that fails is named, and the others are ended.
# shellcheck disable=SC2016
run 4 launch -n 3 sh -c '[ "$TENON_LOCAL_RANK" = 1 ] && exit 4; exec sleep 60'
err_has '^tenon launch: rank 1 (process [0-9]*) ended with status 4$'
err_lines 1
# shellcheck disable=SC2016
run 137 launch -n 2 sh -c '[ "$TENON_LOCAL_RANK" = 0 ] && kill -9 $$; exec sleep 60'
err_has '^tenon launch: rank 0 (process [0-9]*) was killed by signal 9'

# within SECONDS COMMAND: does it succeed in that time?
within()
{
	for _ in $(seq "$(($1 * 10))"); do
		"$2" && return 0
		sleep 0.1
	done
	return 1
}

# Starts two ranks, which write their process numbers to files 0 and 1.
start_two()
{
	rm -f "$dir/0" "$dir/1"
	# shellcheck disable=SC2016
	"$tenon" launch -n 2 sh -c 'echo $$ >"$0/$TENON_LOCAL_RANK"; exec sleep 60' "$dir" \
		2>"$dir/err" &
	launcher=$!
	within 20 have_started || fail "the ranks do not start"
}
have_started() { [ -s "$dir/0" ] && [ -s "$dir/1" ]; }
# A process that ended may wait for ever for whoever has inherited it.
have_ended()
{
	for rank in 0 1; do
		grep -q '^State:[[:space:]]*[^ZX]' "/proc/$(cat "$dir/$rank")/status" 2>/dev/null &&
			return 1
	done
	return 0
}

# A signal is passed on: the ranks end, and so does the launcher.
start_two
kill -TERM "$launcher"
status=0
wait "$launcher" || status=$?
[ "$status" -eq 143 ] || fail "SIGTERM: exit status $status"
have_ended || fail "a rank still runs"

# Nor do they outlive a launcher that cannot tell them.
start_two
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null || :
within 20 have_ended || fail "a rank outlives its launcher"

run 127 launch -n 2 "$dir/nothing"
err_has "^tenon launch: $dir/nothing: No such file or directory$"
err_lines 1
run 126 launch -n 2 "$dir"
run 2 launch -n 2
err_has 'expected a command to start'
run 2 launch true
err_has 'expected -n and the number of processes'
run 2 launch -n 0 true
err_has 'a whole number from 1 to 128'
run 0 launch --help
out_has '^usage: tenon launch \[options\] \[--\] COMMAND'

# Ranks whose communicator is not there say what is missing.
fake=${TENON_BUILD:?}/tests/plugins/.libs/communicator_fake.so
[ -f "$fake" ] || exit 0
mkdir -p "$dir/data/communicators.d" "$dir/plugins"
printf '%s\n' 'name = fake' 'packages = libfake' 'launcher = tenon launch' \
	'size = TENON_LOCAL_SIZE' 'rank = TENON_LOCAL_RANK' \
	>"$dir/data/communicators.d/fake.communicator"
cp "$fake" "$dir/plugins"
TENON_DATA_DIR=$dir/data run 3 launch -n 2 "$tenon" info --why fake
out_has 'launcher: tenon launch, which has started this process'
out_has 'install libfake'
TENON_DATA_DIR=$dir/data run 0 info --json
out_has '"communicator": "none"'
TENON_DATA_DIR=$dir/data TENON_PLUGIN_PATH=$dir/plugins run 0 launch -n 2 "$tenon" info
out_has '^communicator: fake$'
out_has '^  fake  *found .*/plugins/communicator_fake.so'
out_has '^ *fake.size=4 (integer, default)'
TENON_DATA_DIR=$dir/data TENON_PLUGIN_PATH=$dir/plugins run 0 info --why fake --json
out_has '"stage": "describe"'
# A communicator of a backend's name is shown after it.
printf '%s\n' 'name = reference' 'launcher = refrun' 'size = REF_SIZE' 'rank = REF_RANK' \
	>"$dir/data/communicators.d/reference.communicator"
TENON_DATA_DIR=$dir/data run 0 info --why reference
out_has '^reference: usable$'
out_has '^reference: NO_PLUGIN$'
out_has 'launcher: refrun$'
TENON_DATA_DIR=$dir/data run 0 info --env
out_has '^TENON_LOCAL_SIZE'
run 0 info --probe "$dir/plugins/communicator_fake.so"
out_has '^  fake  *ready  *1.0 '
for broken in no_test:'test is mandatory' later:'made for interface 0.7'; do
	run 3 info --probe "${fake%fake.so}${broken%%:*}.so"
	out_has "${broken#*:}"
done
cp "$dir/plugins/communicator_fake.so" "$dir/plugins/backend_fake.so"
run 3 info --probe "$dir/plugins/backend_fake.so"
out_has 'its Tenon note is that of a communicator'

# What ranks that were killed before all had joined leave behind is removed, wherever it is.
mkdir "$dir/memory"
export TENON_LOCAL_DIR="$dir/memory"
# shellcheck disable=SC2016 # the rank expands it
run 3 launch -n 2 sh -c ': >"$TENON_LOCAL_DIR/tenon-local-$TENON_LOCAL_JOB"; exit 3'
[ -z "$(ls "$dir/memory")" ] || fail "the memory of the ranks is left behind: $(ls "$dir/memory")"
