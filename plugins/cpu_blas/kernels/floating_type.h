/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each floating type: T is the type, OF(name) a kernel's name for it, REAL(name)
 * the compiler's builtin for a libm function of it.  All three are undefined at the end.
 *
 * Minimum and maximum are NaN if either operand is, and the second of equal operands, as in
 * tenon-program(7).
 */

#define FROM T
#define TO T
#define NAME OF(add)
#define VALUE(x, y) ((x) + (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(sub)
#define VALUE(x, y) ((x) - (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(mul)
#define VALUE(x, y) ((x) * (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(div)
#define VALUE(x, y) ((x) / (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(neg)
#define VALUE(x) (-(x))
#include "loop1.h"
#define FROM T
#define TO T
#define NAME OF(abs)
#define VALUE(x) REAL(fabs)(x)
#include "loop1.h"
#define FROM T
#define TO T
#define NAME OF(min)
#define VALUE(x, y) ((((x) < (y)) | ((x) != (x))) ? (x) : (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(max)
#define VALUE(x, y) ((((x) > (y)) | ((x) != (x))) ? (x) : (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(floor)
#define VALUE(x) REAL(floor)(x)
#include "loop1.h"
#define FROM T
#define TO T
#define NAME OF(ceil)
#define VALUE(x) REAL(ceil)(x)
#include "loop1.h"
#define FROM T
#define TO T
#define NAME OF(round)
#define VALUE(x) REAL(rint)(x)
#include "loop1.h"
#define FROM T
#define TO T
#define NAME OF(trunc)
#define VALUE(x) REAL(trunc)(x)
#include "loop1.h"
#define FROM T
#define TO T
#define NAME OF(sign)
#define VALUE(x) ((x) != (x) ? (x) : (T)(((x) > 0) - ((x) < 0)))
#include "loop1.h"
#define FROM T
#define TO uint8_t
#define NAME OF(eq)
#define VALUE(x, y) ((uint8_t)((x) == (y)))
#include "loop2.h"
#define FROM T
#define TO uint8_t
#define NAME OF(ne)
#define VALUE(x, y) ((uint8_t)((x) != (y)))
#include "loop2.h"
#define FROM T
#define TO uint8_t
#define NAME OF(lt)
#define VALUE(x, y) ((uint8_t)((x) < (y)))
#include "loop2.h"
#define FROM T
#define TO uint8_t
#define NAME OF(le)
#define VALUE(x, y) ((uint8_t)((x) <= (y)))
#include "loop2.h"
#define FROM T
#define TO uint8_t
#define NAME OF(gt)
#define VALUE(x, y) ((uint8_t)((x) > (y)))
#include "loop2.h"
#define FROM T
#define TO uint8_t
#define NAME OF(ge)
#define VALUE(x, y) ((uint8_t)((x) >= (y)))
#include "loop2.h"
#define NAME OF(select)
#include "loop_select.h"
#if !defined(__x86_64__) || defined(__FMA__)
#define FROM T
#define TO T
#define NAME OF(fma)
#define VALUE(x, y, z) REAL(fma)(x, y, z)
#include "loop3.h"
#endif

#undef T
#undef OF
#undef REAL
