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
	# gcc and clang, and no others are tried, have known these for long.
	TN_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla"
	TN_CFLAGS="$TN_CFLAGS -Wundef -Wpointer-arith -Wwrite-strings -fvisibility=hidden"
	TN_CFLAGS="$TN_CFLAGS -fno-math-errno -fno-trapping-math"
	AS_IF([test "$enable_werror" = yes], [TN_CFLAGS="$TN_CFLAGS -Werror"])
	TN_PLAIN_CFLAGS="$TN_CFLAGS"
	TN_LDFLAGS="-Wl,-z,defs -Wl,-z,now -Wl,-z,noexecstack"
	AS_IF([test -n "$with_sanitizer" && test "$with_sanitizer" != no], [
		TN_CFLAGS="$TN_CFLAGS -fsanitize=$with_sanitizer -fno-omit-frame-pointer"
		TN_CFLAGS="$TN_CFLAGS -fno-sanitize-recover=all"
		# gcc's manual: its sanitizers make this warning wrong more often.
		TN_APPEND_FLAG([TN_CFLAGS], [-Wno-maybe-uninitialized])
		# clang's sanitizers live in the program, so a shared object may not be closed.
		AC_EGREP_CPP([is_clang], [
			#ifdef __clang__
			is_clang
			#endif
		], [TN_LDFLAGS=""])
	])
	# For files of short loops: vectorise at -O2 too, as gcc does at -O3 (clang does so anyway).
	TN_VECTOR_CFLAGS=
	TN_APPEND_FLAG([TN_VECTOR_CFLAGS], [-ftree-vectorize])
	TN_APPEND_FLAG([TN_VECTOR_CFLAGS], [-fvect-cost-model=dynamic])
	AC_SUBST([TN_CFLAGS])
	AC_SUBST([TN_PLAIN_CFLAGS])
	AC_SUBST([TN_VECTOR_CFLAGS])
	AC_SUBST([TN_LDFLAGS])
	AM_CONDITIONAL([FUZZING], [test "$enable_fuzzing" = yes])
	AC_SUBST([FUZZ_ENGINE], [-fsanitize=fuzzer])
])

# TN_TEST_LINKER: gold links the many programs of the tests in half the time.
AC_DEFUN([TN_TEST_LINKER], [
	AC_MSG_CHECKING([whether $CC links with gold])
	tn_saved="$LDFLAGS"
	LDFLAGS="$LDFLAGS -fuse-ld=gold"
	AC_LINK_IFELSE([AC_LANG_PROGRAM],
		[AC_MSG_RESULT([yes]); TN_TEST_LDFLAGS=-fuse-ld=gold],
		[AC_MSG_RESULT([no]); TN_TEST_LDFLAGS=])
	LDFLAGS="$tn_saved"
	AC_SUBST([TN_TEST_LDFLAGS])
])

# TN_LOOK_FOR(COMMAND): what configure looks for in a shell command that prints it, as it is when
# the command runs.  ./quickstart compares what build/dependencies prints with what it was.
AC_DEFUN([TN_LOOK_FOR], [TN_LOOKED_FOR="${TN_LOOKED_FOR}$1
"])

# TN_DEPENDENCY(NAME, PKG-CONFIG MODULE, auto|yes|no): sets have_NAME, HAVE_NAME, the conditional of
# that name, NAME_CFLAGS and NAME_LIBS.  `yes` fails when it is absent, `auto` goes on without.
AC_DEFUN([TN_DEPENDENCY], [
	have_$1=no
	AS_IF([test "$3" != no], [
		TN_LOOK_FOR([module '$2'])
		PKG_CHECK_MODULES(m4_toupper([$1]), [$2], [have_$1=yes], [
			AS_IF([test "$3" = yes], [AC_MSG_ERROR([$2 was not found by pkg-config])])])
	])
	AS_IF([test "$have_$1" = yes], [AC_DEFINE([HAVE_]m4_toupper([$1]), [1], [Is $2 there?])])
	AM_CONDITIONAL([HAVE_]m4_toupper([$1]), [test "$have_$1" = yes])
])

# TN_NEEDED_BY_STATIC(NAME...): sets TN_STATIC_LIBS to what a program that is linked with the static
# library needs of those dependencies.  As libraries, not as modules that tenon.pc requires: who
# links with the shared library need not have theirs.
AC_DEFUN([TN_NEEDED_BY_STATIC], [
	tn_modules=
	m4_foreach([tn_name], [$@], [
		AS_IF([test "$have_[]tn_name" = yes], [AS_VAR_APPEND([tn_modules], [" tn_name"])])])
	TN_STATIC_LIBS=
	AS_IF([test -n "$tn_modules"], [TN_STATIC_LIBS=`$PKG_CONFIG --static --libs $tn_modules`])
	AC_SUBST([TN_STATIC_LIBS])
])

# TN_OPENBLAS: is the header of OpenBLAS there?  The library is opened by the plugin at run time.
AC_DEFUN([TN_OPENBLAS], [
	have_openblas=no
	AS_IF([test "$with_openblas" != no], [
		TN_LOOK_FOR([module openblas])
		TN_LOOK_FOR([header cblas.h])
		PKG_CHECK_MODULES([OPENBLAS], [openblas], [have_openblas=yes], [
			AC_CHECK_HEADER([cblas.h], [have_openblas=yes], [
				AS_IF([test "$with_openblas" = yes],
					[AC_MSG_ERROR([OpenBLAS's cblas.h was not found])])])])
	])
	AM_CONDITIONAL([HAVE_OPENBLAS], [test "$have_openblas" = yes])
])

# TN_DNNL: is oneDNN there, for benchmarks beside it?  It has no pkg-config file.
AC_DEFUN([TN_DNNL], [
	have_dnnl=no
	DNNL_LIBS=
	TN_LOOK_FOR([header dnnl.h])
	AC_CHECK_HEADER([dnnl.h], [
		AC_CHECK_LIB([dnnl], [dnnl_primitive_execute], [have_dnnl=yes; DNNL_LIBS=-ldnnl])])
	AC_SUBST([DNNL_LIBS])
	AM_CONDITIONAL([HAVE_DNNL], [test "$have_dnnl" = yes])
])

# TN_CPU_LEVELS: the flags for the levels of the processor that the CPU backend's kernels are built
# for.
AC_DEFUN([TN_CPU_LEVELS], [
	CPU_V2_CFLAGS="-msse4.2 -mpopcnt"
	CPU_V3_CFLAGS="$CPU_V2_CFLAGS -mavx2 -mfma -mf16c -mbmi -mbmi2"
	CPU_V4_CFLAGS="$CPU_V3_CFLAGS -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl"
	CPU_V4_CFLAGS="$CPU_V4_CFLAGS -mprefer-vector-width=512"
	AC_MSG_CHECKING([whether $CC builds for the levels of x86-64])
	tn_saved="$CFLAGS"
	CFLAGS="$CFLAGS -Werror $CPU_V4_CFLAGS"
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __x86_64__
#error another processor
#endif
int main(void) { return __builtin_cpu_supports("avx512vl"); }]])],
			[CPU_X86_LEVELS=1], [CPU_X86_LEVELS=0])
	CFLAGS="$tn_saved"
	AS_CASE([$enable_cpu_levels], [no|native], [CPU_X86_LEVELS=0])
	AS_IF([test "$CPU_X86_LEVELS" = 1],
		[AC_MSG_RESULT([yes]); CPU_VARIANTS="libcpu_v2.la libcpu_v3.la libcpu_v4.la"],
		[AC_MSG_RESULT([no]); CPU_VARIANTS="libcpu_portable.la"])
	AC_MSG_CHECKING([whether $CC builds for NEON])
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if !defined(__aarch64__) || !defined(__ARM_NEON)
#error another processor
#endif]])], [AC_MSG_RESULT([yes]); CPU_VARIANTS="libcpu_neon.la"], [AC_MSG_RESULT([no])])
	CPU_SIMD_CFLAGS=
	TN_APPEND_FLAG([CPU_SIMD_CFLAGS], [-fopenmp-simd])
	AS_IF([test -z "$CPU_SIMD_CFLAGS"], [CPU_SIMD_CFLAGS="-Wno-unknown-pragmas"])
	AS_IF([test "$enable_cpu_levels" = native],
		[TN_APPEND_FLAG([CPU_SIMD_CFLAGS], [-march=native])])
	AS_IF([test "$have_openblas" = yes],
		[CPU_OPENBLAS_CPPFLAGS="-DCPU_HAVE_CBLAS=1 $OPENBLAS_CFLAGS"],
		[CPU_OPENBLAS_CPPFLAGS="-DCPU_HAVE_CBLAS=0"])
	AC_SUBST([CPU_V2_CFLAGS])
	AC_SUBST([CPU_V3_CFLAGS])
	AC_SUBST([CPU_V4_CFLAGS])
	AC_SUBST([CPU_X86_LEVELS])
	AM_CONDITIONAL([CPU_X86], [test "$CPU_X86_LEVELS" = 1])
	AC_SUBST([CPU_VARIANTS])
	AC_SUBST([CPU_SIMD_CFLAGS])
	AC_SUBST([CPU_OPENBLAS_CPPFLAGS])
])

# TN_CUDA: the headers of the CUDA toolkit, version 13, and the folder of its libraries, which the
# tests need (NVRTC).  Nothing is linked to them: the backend opens its libraries at run time.
AC_DEFUN([TN_CUDA], [
	have_cuda=no
	CUDA_CPPFLAGS=
	CUDA_LIBDIR=
	AS_CASE([$with_cuda],
		[no], [tn_places=],
		[auto|yes], [tn_places="$CUDA_HOME /usr/local/cuda"],
		[tn_places="$with_cuda"])
	for tn_place in $tn_places; do
		TN_LOOK_FOR([folder $tn_place])
	done
	AC_MSG_CHECKING([for the headers of the CUDA toolkit])
	tn_saved="$CPPFLAGS"
	for tn_place in $tn_places; do
		CPPFLAGS="$tn_saved -isystem $tn_place/include"
		AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <cuda_runtime_api.h>
#include <cublas_v2.h>
#include <cublasLt.h>
#include <nvrtc.h>
#if CUDART_VERSION < 13000
#error too old
#endif]])], [have_cuda=yes; CUDA_CPPFLAGS="-isystem $tn_place/include"; break])
	done
	CPPFLAGS="$tn_saved"
	AC_MSG_RESULT([$have_cuda])
	AS_IF([test "$have_cuda" = yes], [
		for tn_folder in lib64 lib targets/$host_cpu-linux/lib; do
			AS_IF([test -f "$tn_place/$tn_folder/libnvrtc.so.13"],
				[CUDA_LIBDIR="$tn_place/$tn_folder"; break])
		done])
	AS_CASE([$have_cuda:$with_cuda], [yes:*|no:auto|no:no], [],
		[AC_MSG_ERROR([no headers of CUDA 13 in $tn_places])])
	AC_SUBST([CUDA_CPPFLAGS])
	AC_SUBST([CUDA_LIBDIR])
	AM_CONDITIONAL([HAVE_CUDA], [test "$have_cuda" = yes])
])

# TN_CUDNN, after TN_CUDA: the headers of cuDNN 9, for the CUDA backend: beside the toolkit's, or
# where the compiler looks.
AC_DEFUN([TN_CUDNN], [
	have_cudnn=no
	AS_CASE([$with_cudnn:$have_cuda],
		[no:*|*:no], [tn_places=],
		[auto:yes|yes:yes], [tn_places="$CUDNN_HOME $tn_place /usr"],
		[tn_places="$with_cudnn"])
	# The compiler's own folders stand behind DIR, and would answer for it.
	AS_CASE([$with_cudnn], [auto|yes|no], [],
		[AS_IF([test ! -e "$with_cudnn/include/cudnn.h"],
			[AC_MSG_ERROR([--with-cudnn: there is no $with_cudnn/include/cudnn.h])])])
	AS_IF([test -n "$tn_places"], [TN_LOOK_FOR([header cudnn.h])])
	AC_MSG_CHECKING([for the headers of cuDNN])
	tn_saved="$CPPFLAGS"
	for tn_folder in $tn_places; do
		AS_CASE([$tn_folder], [/usr|"$tn_place"], [tn_flag=],
			[tn_flag=" -isystem $tn_folder/include"])
		CPPFLAGS="$tn_saved$tn_flag $CUDA_CPPFLAGS"
		AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <cudnn.h>
#if CUDNN_MAJOR != 9
#error another version
#endif]])], [have_cudnn=yes; CUDA_CPPFLAGS="$tn_flag $CUDA_CPPFLAGS"; break])
	done
	CPPFLAGS="$tn_saved"
	AC_MSG_RESULT([$have_cudnn])
	AS_CASE([$have_cudnn:$with_cudnn], [yes:*|no:auto|no:no], [],
		[AC_MSG_ERROR(
			[no headers of cuDNN 9 in $tn_places (the CUDA backend: $have_cuda)])])
	AS_CASE([$have_cuda:$have_cudnn],
		[yes:yes], [CUDA_CPPFLAGS="$CUDA_CPPFLAGS -DCUDA_HAVE_CUDNN=1"],
		[yes:no], [CUDA_CPPFLAGS="$CUDA_CPPFLAGS -DCUDA_HAVE_CUDNN=0"])
	AM_CONDITIONAL([HAVE_CUDNN], [test "$have_cudnn" = yes])
])

# TN_MPI(NAME, PKG-CONFIG MODULE, auto|yes|no): sets have_NAME, the conditional HAVE_NAME, and
# NAME_CPPFLAGS and NAME_LIBS for the communicator that is linked to it.  Of the libraries that its
# pkg-config file names only MPI itself is taken: the others are MPI's own matter.
AC_DEFUN([TN_MPI], [
	have_$1=no
	m4_pushdef([TN_NAME], m4_toupper([$1]))
	AS_IF([test "$3" != no], [
		TN_LOOK_FOR([module '$2'])
		PKG_CHECK_MODULES(TN_NAME, [$2], [have_$1=yes], [
			AS_IF([test "$3" = yes], [AC_MSG_ERROR([$2 was not found by pkg-config])])])
	])
	tn_words="$TN_NAME[_LIBS]"
	TN_NAME[]_LIBS=
	for tn_word in $tn_words; do
		AS_CASE([$tn_word],
			[-L*|-lmpi|-lmpich], [AS_VAR_APPEND(TN_NAME[_LIBS], [" $tn_word"])])
	done
	TN_NAME[]_CPPFLAGS=`AS_ECHO(["$TN_NAME[]_CFLAGS"]) | sed 's/-I/-isystem /g'`
	AC_SUBST(TN_NAME[_CPPFLAGS])
	AM_CONDITIONAL([HAVE_]TN_NAME, [test "$have_$1" = yes])
	m4_popdef([TN_NAME])
])
