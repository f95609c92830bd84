#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Programs that are linked with the static library: every example by pkg-config --static; a fully
# static one, which computes on the reference, or on the CPU backend that is linked into it; and a
# privileged one, which looks for nothing beside.
set -eu
source=${TENON_SOURCE:?} build=${TENON_BUILD:?}
# shellcheck source=../skip.sh
. "$source/tests/skip.sh"
needs_command pkg-config
not_when_sanitized "programs need flags that pkg-config does not print"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
# shellcheck disable=SC2086
cc() { ${CC:-command cc} "$@"; }
unset TENON_PLUGIN_PATH_ONLY TENON_BACKEND

# The archives that are installed, or of the objects of the shared ones where configure made none.
archives() {
	if [ -f "$build/.libs/libtenon.a" ] && [ -f "$build/libtenon_cpu.a" ]; then
		cp "$build/.libs/libtenon.a" "$build/libtenon_cpu.a" "$dir"
		return
	fi
	cc -fPIC -fvisibility=hidden -I"$source/include" -D_GNU_SOURCE -DCPU_HAVE_CBLAS=0 \
		-DTN_BACKEND_DESCRIPTOR=tenon_backend_cpu \
		-c "$source/plugins/cpu_blas/plugin.c" -o "$dir/plugin.o"
	ar -M <<-END
		create $dir/libtenon.a
		addlib $build/.libs/libtn_core.a
		addmod $build/core/.libs/version.o
		save
		create $dir/libtenon_cpu.a
		addlib $build/.libs/libcpu_backend.a
		addmod $dir/plugin.o
		save
		end
	END
}
archives
sed "s,^libdir=.*,libdir=$dir,; s,^includedir=.*,includedir=$source/include," "$build/tenon.pc" \
	>"$dir/tenon.pc"
flags=$(PKG_CONFIG_PATH=$dir PKG_CONFIG_DISABLE_UNINSTALLED=1 \
	pkg-config --static --cflags --libs tenon)

for example in "$source"/examples/*.c; do
	# shellcheck disable=SC2086
	cc -O0 "$example" -o "$dir/example" $flags || fail "$example"
done

cat >"$dir/program.c" <<'END'
#include <stdio.h>
#include <sys/auxv.h>
#include <tenon/backend.h>
#include <tenon/tenon.h>

#ifdef LINKED
extern const struct tn_backend_descriptor tenon_backend_cpu;
#endif

/* Prints the device, the sum of a product, whether the process is privileged, and each backend's
 * status and how it was found. */
int main(void)
{
	struct tn_error_info error;
	tn_context *ctx;
#ifdef LINKED
	if (tn_backend_register(&tenon_backend_cpu) || tn_backend_register(&tenon_backend_cpu))
		return 2;
#endif
	if (tn_context_open(NULL, &ctx, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	tn_array *x = tn_ones(ctx, TN_F32, 2, (const int64_t[]){64, 64});
	double sum = 0;
	tn_status status = tn_item(tn_sum(tn_matmul(x, x), TN_ALL_AXES, NULL, 0), &sum);
	printf("%s %g\n", tn_device_name(tn_device_current(ctx)), sum);
	printf("privileged %lu\n", getauxval(AT_SECURE));
	const struct tn_load_row *row;
	for (size_t i = 0; (row = tn_load_report_at(tn_context_report(ctx), i)); i++)
		printf("%s %s %s\n", row->name, tn_status_name(row->status),
		       tn_found_name(row->found));
	if (status)
		fprintf(stderr, "%s\n", tn_error_text(ctx));
	tn_context_close(ctx);
	return status != TN_OK;
}
END
# program NAME FLAGS...: builds it; run NAME VARIABLE...: with no other environment
program() {
	name=$1
	shift
	# shellcheck disable=SC2086
	cc "$dir/program.c" -o "$dir/$name" "$@" $flags 2>"$dir/messages" || {
		cat "$dir/messages" >&2
		fail "$name"
	}
}
run() {
	name=$1
	shift
	env -i "$@" "$dir/$name" >"$dir/out" 2>"$dir/err" || {
		cat "$dir/out" "$dir/err" >&2
		fail "$name"
	}
}
has() { grep -q -x -e "$1" "$dir/out" || { cat "$dir/out" "$dir/err" >&2; fail "no '$1'"; }; }

# With a dynamic loader: plugins are found beside the program.
mkdir -p "$dir/tenon/0"
[ ! -f "$build/.libs/backend_cpu.so" ] || cp "$build/.libs/backend_cpu.so" "$dir/tenon/0"
cp "$build/tests/plugins/.libs/backend_ok.so" "$dir/tenon/0" 2>/dev/null || :
program dynamic
run dynamic
[ ! -f "$dir/tenon/0/backend_ok.so" ] || has 'ok OK installed'
program dynamic_linked -DLINKED "$dir/libtenon_cpu.a"
run dynamic_linked
has 'cpu:0 262144'
has 'cpu OK registered'
[ ! -f "$dir/tenon/0/backend_cpu.so" ] || has 'cpu DUPLICATE installed'
run dynamic_linked TENON_BACKEND='reference!'
has 'reference:0 262144'

# One that its owner lends his rights to looks only where the system's owner installs.
setpriv='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ "$(id -u)" -eq 0 ] && $setpriv true 2>/dev/null && [ -f "$dir/tenon/0/backend_ok.so" ]; then
	chmod 755 "$dir" && chmod 4755 "$dir/dynamic"
	if $setpriv env -i "$dir/dynamic" >"$dir/out" 2>"$dir/err" &&
		grep -q -x 'privileged 1' "$dir/out"; then
		! grep -q '^ok ' "$dir/out" || fail "a privileged process has looked beside"
	fi
fi

echo 'int main(void) { return 0; }' >"$dir/empty.c"
cc -static "$dir/empty.c" -o "$dir/empty" 2>/dev/null || skip "there is no static C library"
program static -static
run static
has 'reference:0 262144'
[ ! -f "$dir/tenon/0/backend_ok.so" ] || has 'ok UNSUPPORTED installed'
grep -q 'using reference:0' "$dir/err" || fail "no notice"
program static_linked -static -DLINKED "$dir/libtenon_cpu.a"
run static_linked
has 'cpu:0 262144'
has 'cpu OK registered'
