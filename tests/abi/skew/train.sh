#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# A network trained across versions, to the same bits and by the same routes: train.c with today's
# library on the plugin of every version (plugin.c); and, with TENON_TEST_WHOLE, with a library that
# is built from the headers that have grown, on these and on the real plugins of this build.
# shellcheck source=../../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
not_when_sanitized "the plugin would look for the sanitizer, which the grown library has not"
not_when_brief
# shellcheck source=versions.sh
. "${TENON_SOURCE:?}/tests/abi/skew/versions.sh"
today=${TENON_BUILD:?}/tests/abi/train
grown=$work/grown/train
unset TENON_MOCK

# Values of variables of the Makefile.
values()
{
	for name in "$@"; do
		sed -n "s/^$name = //p" "$TENON_BUILD/Makefile"
	done | tr '\n' ' '
}

# train OUTPUT PROGRAM VERSION BACKEND FILE
train()
{
	output=$1
	shift
	TENON_LOG=off "$@" >"$work/$output" 2>&1 || {
		echo "$*: failed:"
		cat "$work/$output"
		failed=1
	}
	# On the plugin, and not on the host in its place.
	grep -q '^native [1-9]' "$work/$output" || {
		echo "$*: the backend ran nothing:"
		cat "$work/$output"
		failed=1
	}
}

# same EXPECTED FOUND WHAT: the bits of losses and weights, and the routes.
same()
{
	diff -u "$work/$1" "$work/$2" && return
	echo "$3: another result than with equal versions"
	failed=1
}

# The grown library.  Files of one name are in different folders.
build_grown()
{
	for folder in "$TENON_SOURCE"/core/*/ "$TENON_SOURCE"/core/; do
		objects=$work/grown/core/$(basename "$folder")
		mkdir -p "$objects"
		# The compiler and its options are lists of words.
		# shellcheck disable=SC2046,SC2086
		(cd "$objects" && ${CC:-cc} -std=gnu11 -O0 -w -c -D_GNU_SOURCE -DHAVE_CONFIG_H \
			-I"$work/long" -I"$TENON_SOURCE/include" -I"$TENON_SOURCE/core" \
			-I"$TENON_BUILD" \
			$(values ZLIB_CFLAGS LIBPNG_CFLAGS LIBJPEG_CFLAGS) \
			"$folder"*.c) || {
			echo "$folder does not build with the headers that have grown"
			exit 1
		}
	done
	# shellcheck disable=SC2046,SC2086
	${CC:-cc} -std=gnu11 -O0 -D_GNU_SOURCE -I"$work/long" -I"$TENON_SOURCE/include" \
		-I"$TENON_SOURCE/core" "$here/train.c" "$work"/grown/core/*/*.o \
		-Wl,--wrap=tn_registry_open -o "$grown" \
		$(values ZLIB_LIBS LIBPNG_LIBS LIBJPEG_LIBS) -lm -ldl -lpthread || exit 1
}

# Today's plugins, whose number the grown library claims.
train_real_plugins()
{
	for file in "$TENON_BUILD/.libs/backend_cpu.so" \
		"$TENON_BUILD/plugins/mock/.libs/backend_mock.so"; do
		[ -f "$file" ] || continue
		name=$(basename "$file" .so) && name=${name#backend_}
		train "$name" "$today" own "$name" "$file"
		train "$name-grown" "$grown" "$own_major.$own_minor" "$name" "$file"
		same "$name" "$name-grown" "backend_$name.so under a newer library"
		count=$((count + 1))
	done
}

count=0
if is_whole; then
	build_grown
	train_real_plugins
fi
# A plugin of every version.
for version in $versions; do
	compile_plugin "$work/$version/backend_skew.so" "$version"
done
train equal "$today" "$major.$minor" skew "$work/same/backend_skew.so"
for version in $versions; do
	plugin=$work/$version/backend_skew.so
	train "$version-today" "$today" "$major.$minor" skew "$plugin"
	same equal "$version-today" "the plugin '$version' under this library"
	count=$((count + 1))
	is_whole || continue
	train "$version-grown" "$grown" "$major.$newest" skew "$plugin"
	same equal "$version-grown" "the plugin '$version' under a newer library"
	count=$((count + 1))
done
cat "$work/equal"
echo "$count trainings across versions: $versions"
exit $failed
