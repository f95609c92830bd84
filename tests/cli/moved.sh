#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# An installation that is moved, a bare folder beside a program, and the user's folder of plugins:
# what is found there, and what is said where nothing is.  TENON_MOVED is a prefix to take a copy
# of, in place of one that is made of the build tree.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
digits=$TENON_DATA_DIR/data/digits/digits.csv.gz
libs=$TENON_BUILD/.libs
unset TENON_PLUGIN_PATH TENON_PLUGIN_PATH_ONLY TENON_DATA_DIR TENON_PROBE_HELPER LD_LIBRARY_PATH
dir=$(cd "$dir" && pwd -P)
[ -f "$libs/backend_cpu.so" ] || skip "there is no CPU backend"

# there COMMAND...: from elsewhere and without any environment but what is given
there() { (cd / && env -i "$@" >"$dir/out" 2>"$dir/err" </dev/null) || {
	cat "$dir/out" "$dir/err" >&2
	fail "$*"
}; }
# plugins FOLDER NAME...
plugins() {
	folder=$1/tenon/0
	mkdir -p "$folder"
	shift
	for name; do
		cp "$TENON_BUILD/tests/plugins/.libs/backend_$name.so" "$folder"
	done
}

app=$dir/made/app
mkdir -p "$dir/made"
if [ -n "${TENON_MOVED:-}" ]; then
	cp -R "$TENON_MOVED" "$app"
else
	mkdir -p "$app/bin" "$app/lib/tenon/0" "$app/libexec/tenon" "$app/share"
	cp "$libs/tenon" "$app/bin"
	cp "$libs/libtenon.so.0" "$app/lib"
	cp "$libs/backend_cpu.so" "$app/lib/tenon/0"
	cp "$TENON_BUILD/tenon-probe" "$app/libexec/tenon"
	cp -R "$TENON_BUILD/share" "$app/share/tenon"
fi
mv "$dir/made" "$dir/moved"
app=$dir/moved/app

# The prefix: plugins, data and helper.  The command finds the library where libdir is below the
# prefix as bin is; a variable tells it otherwise.
path=LC_ALL=C
env -i "$app/bin/tenon" --version >/dev/null 2>&1 || path=LD_LIBRARY_PATH=$app/lib
there "$path" "$app/bin/tenon" info
out_has "^\* cpu .* $app/lib/tenon/0/backend_cpu.so (installed)"
there "$path" "$app/bin/tenon" info --why cpu
out_has 'hardware: .*present'
there "$path" "$app/bin/tenon" info --probe "$app/lib/tenon/0/backend_cpu.so"
if [ -f "$digits" ]; then
	there "$path" "$app/bin/tenon" data digits
	there "$path" "$app/bin/tenon" train mlp --data digits --epochs 1 --quiet
	err_lines 0
fi

# Debian's folder of libraries is one level deeper.
deep=lib/$(sed -n 's/^#define TN_MULTIARCH "\(.*\)"/\1/p' "$TENON_BUILD/paths.h")
mkdir -p "$dir/debian/${deep%/*}" "$dir/debian/bin"
cp -R "$app/lib" "$dir/debian/$deep"
cp -R "$app/share" "$dir/debian"
there LD_LIBRARY_PATH="$dir/debian/$deep" "$app/bin/tenon" info --why cpu
out_has "file: $dir/debian/$deep/tenon/0/backend_cpu.so"
out_has 'hardware: .*present'

# A bare folder, known by a relative name.
mkdir "$dir/bare"
cp "$app/bin/tenon" "$dir/bare/program"
cp "$app/lib/libtenon.so.0" "$dir/bare"
mkdir -p "$dir/bare/tenon/0"
cp "$app/lib/tenon/0/backend_cpu.so" "$dir/bare/tenon/0"
(cd "$dir/bare" && env -i LD_LIBRARY_PATH=. ./program info >"$dir/out")
out_has "^\* cpu .* $dir/bare/tenon/0/backend_cpu.so (installed)"
# The library may be a link.
mkdir "$dir/linked"
ln -s ../bare/libtenon.so.0 "$dir/linked/libtenon.so.0"
there LD_LIBRARY_PATH="$dir/linked" "$dir/bare/program" info
out_has " $dir/bare/tenon/0/backend_cpu.so (installed)"

# A bare root: the prefix, and the libraries that the loader names.
root=$dir/root
mkdir -p "$root/opt"
cp -R "$app" "$root/opt"
ldd "$app/bin/tenon" "$app/lib/libtenon.so.0" "$app/lib/tenon/0/backend_cpu.so" |
	grep -o '/[^ ]*[^ :]' | sort -u | while read -r file; do
	case $file in
	"$dir"/* | "$TENON_BUILD"/*) ;;
	*) mkdir -p "$root${file%/*}" && cp -L "$file" "$root$file" ;;
	esac
done
enter=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot || echo chroot)
[ "$(id -u)" -eq 0 ] || enter="unshare -r $enter"
# The command of the build tree knows the library's place there.
inside=$path
[ -n "${TENON_MOVED:-}" ] && [ "$path" = LC_ALL=C ] || inside=LD_LIBRARY_PATH=/opt/app/lib
# shellcheck disable=SC2086
if env -i $inside $enter "$root" /opt/app/bin/tenon --version >/dev/null 2>&1; then
	there $inside $enter "$root" /opt/app/bin/tenon info
	out_has '^\* cpu .* /opt/app/lib/tenon/0/backend_cpu.so (installed)'
	there $inside TENON_BACKEND=cuda $enter "$root" /opt/app/bin/tenon info
	out_has '^\* cpu '
	err_has 'cuda not used: .*; using cpu:0'
	if [ -f "$digits" ]; then
		there $inside TENON_BACKEND=cuda $enter "$root" /opt/app/bin/tenon train mlp \
			--data digits --epochs 1 --quiet
		err_has 'using cpu:0'
	fi
else
	echo "$0: not tried in a bare root, which this user cannot enter"
fi

# The user's folder, after those beside: the first of a name counts, and each folder once.
plugins "$dir/home/.local/share" ok
plugins "$dir/xdg" null
cp "$app/lib/tenon/0/backend_cpu.so" "$dir/xdg/tenon/0"
there "$path" HOME="$dir/home" "$app/bin/tenon" info
out_has " $dir/home/.local/share/tenon/0/backend_ok.so (installed)"
twice=$dir/home/.local/share/tenon/0:$dir/home/.local/../.local/share/tenon/0
there "$path" HOME="$dir/home" XDG_DATA_HOME="$dir/xdg" TENON_PLUGIN_PATH="$twice" \
	"$app/bin/tenon" info
out_has " $dir/home/.local/share/tenon/0/backend_ok.so (variable)"
out_has " $app/lib/tenon/0/backend_cpu.so (installed)"
out_has " $dir/xdg/tenon/0/backend_null.so (installed)"
out_has "cpu  *DUPLICATE .*$dir/xdg/tenon/0/backend_cpu.so"
[ "$(grep -c 'backend_ok.so' "$dir/out")" -eq 1 ] || fail "one folder was searched twice"
# Not where all users may write, as in /tmp, to which a link of somebody's may lead.
chmod 1777 "$dir/home/.local/share/tenon/0"
there "$path" HOME="$dir/home" "$app/bin/tenon" info
err_has "$dir/home/.local/share/tenon/0 is not searched: .*writable by others"
! grep -q backend_ok "$dir/out" || fail "plugins that anybody may have put there were loaded"
chmod 755 "$dir/home/.local/share/tenon/0"
if [ "$(id -u)" -eq 0 ] && chown -R 65534 "$dir/xdg" 2>/dev/null; then
	there "$path" XDG_DATA_HOME="$dir/xdg" "$app/bin/tenon" info
	err_has "$dir/xdg/tenon/0 is not searched: .* belongs to user 65534"
	! grep -q backend_null "$dir/out" || fail "plugins of another user were loaded"
	# Nor those that somebody has put beside.
	mkdir "$dir/all" "$dir/all/x" "$dir/all/lib"
	cp "$app/bin/tenon" "$app/lib/libtenon.so.0" "$dir/all/x"
	plugins "$dir/all/lib" null
	chown -R 65534 "$dir/all/lib"
	there LD_LIBRARY_PATH="$dir/all/x" "$dir/all/x/tenon" info
	err_has "$dir/all/lib/tenon/0 is not searched: .* belongs to user 65534"
	! grep -q backend_null "$dir/out" || fail "plugins of another user were loaded"
	# Nor those below a folder that somebody may rename, nor a file of theirs.
	chown -R 0 "$dir/all/lib" && chown 65534 "$dir/all/lib"
	there LD_LIBRARY_PATH="$dir/all/x" "$dir/all/x/tenon" info
	err_has "$dir/all/lib/tenon/0 is not searched: $dir/all/lib belongs to user 65534"
	! grep -q backend_null "$dir/out" || fail "plugins below a stranger's folder were loaded"
	chown 0 "$dir/all/lib" && chown 65534 "$dir/all/lib/tenon/0/backend_null.so"
	there LD_LIBRARY_PATH="$dir/all/x" "$dir/all/x/tenon" info
	out_has "null  *REFUSED "
	chown 0 "$dir/all/lib/tenon/0/backend_null.so"
	there LD_LIBRARY_PATH="$dir/all/x" "$dir/all/x/tenon" info
	out_has "null .*$dir/all/lib/tenon/0/backend_null.so (installed)"
fi

# Folders that are none: nothing is said of them, unless somebody has named them.
ln -s loop "$dir/loop"
echo >"$dir/file"
long=/$(printf '%05000d' 0)
for home in "$long" "$dir/loop" "$dir/file" relative '' /nonexistent; do
	there "$path" XDG_DATA_HOME="$home" HOME="$home" "$app/bin/tenon" info
	out_has '^\* cpu '
	err_lines 0
done
for folder in "$long" "$dir/loop" /nonexistent; do
	there "$path" TENON_PLUGIN_PATH="$folder" "$app/bin/tenon" info
	out_has '^\* cpu '
	err_lines 1
done

# A folder without plugins, and the one that was meant.
for folder in "$app" "$app/lib" "$app/lib/tenon"; do
	there "$path" TENON_PLUGIN_PATH="$folder" "$app/bin/tenon" info
	err_has "TENON_PLUGIN_PATH: $folder holds no plugin; $app/lib/tenon/0 does"
done
there "$path" TENON_PLUGIN_PATH="$dir/linked" "$app/bin/tenon" info
err_has "TENON_PLUGIN_PATH: $dir/linked holds no plugin$"
err_lines 1

# Where nothing is found, the notice says where was looked; the machine may have another Tenon.
mv "$app/lib/tenon/0" "$app/lib/tenon/away"
there "$path" "$app/bin/tenon" info
grep -q '^\* reference ' "$dir/out" || exit 0
there "$path" HOME="$dir/none" TENON_BACKEND=cpu "$app/bin/tenon" info
err_has "cpu not used: .*searched $app/lib/tenon/0 (absent), .*/usr/lib/tenon/0"
err_has "$dir/none/.local/share/tenon/0 (absent)"
there "$path" "$app/bin/tenon" info
err_has "cpu not used: .*searched $app/lib/tenon/0 (absent), .*; using reference:0"
mv "$app/share/tenon/backends.d" "$app/share/tenon/away"
there "$path" "$app/bin/tenon" info
err_has "no backend plugin is usable; searched $app/lib/tenon/0 (absent), .*; using reference:0"
