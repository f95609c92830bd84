# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers

# TN_APPEND_FLAG(VARIABLE, FLAG): appends FLAG to VARIABLE where the compiler takes it.
AC_DEFUN([TN_APPEND_FLAG], [
	AC_MSG_CHECKING([whether $CC takes $2])
	tn_saved="$CFLAGS"
	CFLAGS="$CFLAGS -Werror $2"
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int main(void) { return 0; }]])],
		[AC_MSG_RESULT([yes]); AS_VAR_APPEND([$1], [" $2"])],
		[AC_MSG_RESULT([no])])
	CFLAGS="$tn_saved"
])

# TN_FLAGS: the flags that every file, every shared object and every plugin is built with.
AC_DEFUN([TN_FLAGS], [
	TN_CFLAGS="-std=gnu11"
	m4_foreach_w([tn_flag], [-Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla
		-Wundef -Wpointer-arith -Wwrite-strings -fvisibility=hidden -fno-math-errno
		-fno-trapping-math], [TN_APPEND_FLAG([TN_CFLAGS], tn_flag)])
	AS_IF([test "$enable_werror" = yes], [TN_CFLAGS="$TN_CFLAGS -Werror"])
	TN_LDFLAGS="-Wl,-z,defs -Wl,-z,now -Wl,-z,noexecstack"
	AS_IF([test -n "$with_sanitizer" && test "$with_sanitizer" != no], [
		TN_CFLAGS="$TN_CFLAGS -fsanitize=$with_sanitizer -fno-omit-frame-pointer -fno-sanitize-recover=all"
		# clang's sanitizers live in the program, so a shared object may not be closed.
		AC_EGREP_CPP([is_clang], [
			#ifdef __clang__
			is_clang
			#endif
		], [TN_LDFLAGS=""])
	])
	AC_SUBST([TN_CFLAGS])
	AC_SUBST([TN_LDFLAGS])
	AM_CONDITIONAL([FUZZING], [test "$enable_fuzzing" = yes])
])

# TN_DEPENDENCY(NAME, PKG-CONFIG MODULE, auto|yes|no): sets have_NAME, HAVE_NAME, the conditional of
# that name, NAME_CFLAGS and NAME_LIBS.  `yes` fails when it is absent, `auto` goes on without.
AC_DEFUN([TN_DEPENDENCY], [
	have_$1=no
	AS_IF([test "$3" != no], [
		PKG_CHECK_MODULES(m4_toupper([$1]), [$2], [have_$1=yes], [
			AS_IF([test "$3" = yes], [AC_MSG_ERROR([$2 was not found by pkg-config])])])
	])
	AS_IF([test "$have_$1" = yes], [AC_DEFINE([HAVE_]m4_toupper([$1]), [1], [Is $2 there?])])
	AM_CONDITIONAL([HAVE_]m4_toupper([$1]), [test "$have_$1" = yes])
])

# TN_OPENBLAS: is the header of OpenBLAS there?  The library is opened by the plugin at run time.
AC_DEFUN([TN_OPENBLAS], [
	have_openblas=no
	AS_IF([test "$with_openblas" != no], [
		PKG_CHECK_MODULES([OPENBLAS], [openblas], [have_openblas=yes], [
			AC_CHECK_HEADER([cblas.h], [have_openblas=yes], [
				AS_IF([test "$with_openblas" = yes],
					[AC_MSG_ERROR([OpenBLAS's cblas.h was not found])])])])
	])
	AM_CONDITIONAL([HAVE_OPENBLAS], [test "$have_openblas" = yes])
])
