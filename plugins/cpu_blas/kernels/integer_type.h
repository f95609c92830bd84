/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each integer type: T is the type, U its unsigned type, WIDTH its bits, OF(name)
 * a kernel's name for it.  All four are undefined at the end.  Sums, differences and products wrap.
 */

#define FROM T
#define TO T
#define NAME OF(add)
#define VALUE(x, y) ((T)((U)(x) + (U)(y)))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(sub)
#define VALUE(x, y) ((T)((U)(x) - (U)(y)))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(mul)
#define VALUE(x, y) ((T)((U)(x) * (U)(y)))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(neg)
#define VALUE(x) ((T)(0 - (U)(x)))
#include "loop1.h"
#define FROM T
#define TO T
#define NAME OF(min)
#define VALUE(x, y) ((x) < (y) ? (x) : (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(max)
#define VALUE(x, y) ((x) > (y) ? (x) : (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(and)
#define VALUE(x, y) ((x) & (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(or)
#define VALUE(x, y) ((x) | (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(xor)
#define VALUE(x, y) ((x) ^ (y))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(not )
#define VALUE(x) (~(x))
#include "loop1.h"
#define FROM T
#define TO T
#define NAME OF(shl)
#define VALUE(x, y) ((T)((U)(x) << ((U)(y) & (WIDTH - 1))))
#include "loop2.h"
#define FROM T
#define TO T
#define NAME OF(shr)
#define VALUE(x, y) ((x) >> ((U)(y) & (WIDTH - 1)))
#include "loop2.h"
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

#undef T
#undef U
#undef WIDTH
#undef OF
