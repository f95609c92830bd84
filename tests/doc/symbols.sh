#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# The library exports exactly what the public headers declare, and calls nothing that ends the
# program or prints.
set -u
library=$(find "${TENON_BUILD:?}/.libs" -name 'libtenon.so.*.*.*' | head -n 1)
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
[ -n "$library" ] || skip "there is no shared library"
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nm -D --defined-only "$library" |
	awk '$2 ~ /[TDRB]/ { sub(/@.*/, "", $3); print $3 }' | sort >"$dir/exported"
# A declaration that begins with TN_API and may span several lines.
cat "${TENON_SOURCE:?}"/include/tenon/*.h | tr '\n' ' ' | grep -o 'TN_API [^;]*;' |
	sed -n 's/^[^(]*[ *]\(tn_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$dir/declared"
diff "$dir/declared" "$dir/exported" || {
	echo "(< declared and not exported, > exported and not declared)"
	exit 1
}
# It never ends the program, and prints nothing but its log, core/base/log.c, which has fprintf and
# stderr; write and pwrite are those of files.
nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort >"$dir/called"
for name in __assert_fail __assert abort _exit _Exit exit quick_exit raise \
	printf vprintf vfprintf puts putchar fputs fputc putc fwrite perror psignal \
	__printf_chk __vprintf_chk __vfprintf_chk stdout err errx warn warnx; do
	grep -qx "$name" "$dir/called" && { echo "the library calls $name"; failed=1; }
done
grep -lE '\<(fprintf|stderr)\>' -r "$TENON_SOURCE/core" --include='*.[ch]' |
	grep -v '/core/base/log\.[ch]$' && { echo "(prints, and is not the log)"; failed=1; }
echo "$(wc -l <"$dir/exported") symbols"
exit $failed
