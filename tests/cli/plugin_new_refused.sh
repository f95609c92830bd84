#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
# What `tenon plugin new` refuses, leaving nothing behind and nothing changed.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
mkdir "$dir/work"
cd "$dir/work" || exit 1
nothing_here() { [ -z "$(ls -A "$dir/work")" ] || fail "$1: left behind: $(ls -A "$dir/work")"; }

# Wrong usage.
for arguments in '' 'new' 'old acme' 'new a b' '--wrong' 'new acme --directory' \
	'new acme --cxx=11'; do
	# shellcheck disable=SC2086
	run 2 plugin $arguments
	err_has 'tenon plugin --help'
	nothing_here "plugin $arguments"
done
long=abcdefghijklmnopqrstuvwxyz012345 # 32 letters
for name in '' Acme a-b a.b 'a b' ../a a/b é auto gpu uuid cpu opencl reference "$long"; do
	run 2 plugin new -- "$name"
	nothing_here "name '$name'"
done
run 2 plugin new acme --directory ''
nothing_here 'no directory'

# The longest name, and one that begins with a digit.
run 0 plugin new "${long%5}"
run 0 plugin new 3d_2
[ -f "tenon-backend-${long%5}/${long%5}.backend" ] || fail "the longest name's data file"
grep -q '"3d_2"' tenon-backend-3d_2/plugin.c || fail "the name is not in plugin.c"
rm -r tenon-backend-*

# Folders that are not empty stay unchanged; an empty one is used.
mkdir full empty
echo mine >full/Makefile
run 1 plugin new acme --directory full
err_has "full: contains 'Makefile'"
[ "$(cat full/Makefile) $(ls -A full)" = 'mine Makefile' ] || fail "the folder was changed"
run 0 plugin new acme --directory empty
[ -f empty/Makefile ] || fail "an empty folder was not filled"
run 1 plugin new acme --directory empty
err_has 'and more'
(cd empty && rm -r ./* .gitignore && run 0 plugin new acme --directory .)
[ -f empty/plugin.c ] || fail "the working directory was not filled"
echo file >plain
run 1 plugin new acme --directory plain
err_has 'plain: '
[ "$(cat plain)" = file ] || fail "the file was changed"
ln -s nowhere dangling
run 1 plugin new acme --directory dangling
run 1 plugin new acme --directory /dev/full
rm -r full empty plain dangling
nothing_here folders

# A missing parent folder, and a path too long.
run 1 plugin new acme --directory no/such/folder
err_has 'No such file'
run 1 plugin new acme --directory /proc/acme
run 1 plugin new acme --directory "$(printf '%05000d' 0)"
err_has 'too long'
nothing_here 'unwritable folders'

# A disk that becomes full after the first files, simulated by a limit on file sizes.  The written
# files are removed, and an empty folder that existed stays.
limited() {
	(
		ulimit -f 4
		"$tenon" plugin new acme --directory "$1" >/dev/null 2>"$dir/pipe"
	)
}
mkfifo "$dir/pipe" # the message goes past the limit
cat "$dir/pipe" >"$dir/err" &
! limited new || fail "a file that could not be written did not fail the command"
wait
err_has 'File too large'
nothing_here 'a full disk'
mkdir empty
cat "$dir/pipe" >"$dir/err" &
! limited empty || fail "a file that could not be written did not fail the command"
wait
[ -d empty ] || fail "the folder that was there is gone"
[ -z "$(ls -A empty)" ] || fail "left behind in the folder: $(ls -A empty)"

# A failed write to standard output is a failure, too.
if [ -w /dev/full ]; then
	! "$tenon" plugin new acme --directory said >/dev/full 2>/dev/null ||
		fail "stdout was full, and no failure"
fi
