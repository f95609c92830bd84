// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Common to every kernel of this backend: the types in memory, conversions between them by the
// rules of the cast in tenon-program(7), loads and stores of several elements at once.  NVRTC finds
// no headers, and none are needed.  Compute capability 7.5 and later.

#define CU_FN static __device__ __forceinline__ __attribute__((unused))
#define CU_MEMBER __device__ __forceinline__
#define CU_INFINITY __int_as_float(0x7f800000)
#define CU_NAN __int_as_float(0x7fffffff)

typedef signed char cu_i8;
typedef short cu_i16;
typedef int cu_i32;
typedef long long cu_i64;
typedef unsigned char cu_u8;
typedef unsigned short cu_u16;
typedef unsigned int cu_u32;
typedef unsigned long long cu_u64;
typedef float cu_f32;
typedef double cu_f64;
struct cu_bool {
	cu_u8 byte; // 0 or 1
};
struct cu_f16 {
	cu_u16 bits;
};
struct cu_bf16 {
	cu_u16 bits;
};
// For kernels that only move elements: 16 bytes.
struct alignas(16) cu_u128 {
	cu_u64 low, high;
};

// cu_type<12> is that of TN_F32: the numbers are those of tenon/types.h.
template <int dtype> struct cu_type_of;
template <> struct cu_type_of<1> { typedef cu_bool type; };
template <> struct cu_type_of<2> { typedef cu_i8 type; };
template <> struct cu_type_of<3> { typedef cu_i16 type; };
template <> struct cu_type_of<4> { typedef cu_i32 type; };
template <> struct cu_type_of<5> { typedef cu_i64 type; };
template <> struct cu_type_of<6> { typedef cu_u8 type; };
template <> struct cu_type_of<7> { typedef cu_u16 type; };
template <> struct cu_type_of<8> { typedef cu_u32 type; };
template <> struct cu_type_of<9> { typedef cu_u64 type; };
template <> struct cu_type_of<10> { typedef cu_f16 type; };
template <> struct cu_type_of<11> { typedef cu_bf16 type; };
template <> struct cu_type_of<12> { typedef cu_f32 type; };
template <> struct cu_type_of<13> { typedef cu_f64 type; };
template <> struct cu_type_of<14> { typedef cu_u64 type; };
template <> struct cu_type_of<15> { typedef cu_u128 type; };
template <int dtype> using cu_type = typename cu_type_of<dtype>::type;

template <class A, class B> constexpr bool cu_same = false;
template <class A> constexpr bool cu_same<A, A> = true;
template <class T> constexpr bool cu_floating = cu_same<T, cu_f32> || cu_same<T, cu_f64>;

// The type in which a floating type is summed.
template <class T> struct cu_sum_of { typedef cu_f32 type; };
template <> struct cu_sum_of<cu_f64> { typedef cu_f64 type; };
template <class T> using cu_sum = typename cu_sum_of<T>::type;

// ---- Conversions --------------------------------------------------------------------------------

CU_FN cu_f32 cu_widen(cu_f16 x)
{
	cu_f32 y;
	asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
	return y;
}

CU_FN cu_f32 cu_widen(cu_bf16 x)
{
	return __uint_as_float((cu_u32)x.bits << 16);
}

CU_FN cu_f16 cu_narrow_f16(cu_f32 x)
{
	cu_f16 y;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
	return y;
}

CU_FN cu_bf16 cu_narrow_bf16(cu_f32 x)
{
	cu_bf16 y;
#if __CUDA_ARCH__ >= 800
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
#else
	cu_u32 bits = __float_as_uint(x);
	y.bits = (bits & 0x7fffffff) > 0x7f800000
			 ? (cu_u16)(bits >> 16 | 0x40)
			 : (cu_u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
	return y;
}

// Rounds toward zero and saturates; NaN gives 0.
template <class To, class From> CU_FN To cu_saturate(From x)
{
	if constexpr (cu_same<To, cu_i8>)
		return x != x ? 0 : x >= 127 ? 127 : x <= -128 ? -128 : (cu_i8)(cu_i32)x;
	else if constexpr (cu_same<To, cu_i16>)
		return x != x ? 0 : x >= 32767 ? 32767 : x <= -32768 ? -32768 : (cu_i16)(cu_i32)x;
	else if constexpr (cu_same<To, cu_i32>)
		return x != x                 ? 0
		       : x >= 2147483648.0f   ? 2147483647
		       : x <= -2147483648.0f ? -2147483647 - 1
					      : (cu_i32)x;
	else if constexpr (cu_same<To, cu_i64>)
		return x != x                          ? 0
		       : x >= 9223372036854775808.0f   ? 0x7fffffffffffffffLL
		       : x <= -9223372036854775808.0f ? -0x7fffffffffffffffLL - 1
						       : (cu_i64)x;
	else if constexpr (cu_same<To, cu_u8>)
		return !(x > 0) ? 0 : x >= 255 ? 255 : (cu_u8)(cu_u32)x;
	else if constexpr (cu_same<To, cu_u16>)
		return !(x > 0) ? 0 : x >= 65535 ? 65535 : (cu_u16)(cu_u32)x;
	else if constexpr (cu_same<To, cu_u32>)
		return !(x > 0) ? 0 : x >= 4294967296.0f ? 4294967295u : (cu_u32)x;
	else
		return !(x > 0)                        ? 0
		       : x >= 18446744073709551616.0f ? 0xffffffffffffffffULL
						       : (cu_u64)x;
}

// From any type to any other, in their memory or program form (bool).
template <class To, class From> CU_FN To cu_convert(From x)
{
	if constexpr (cu_same<To, From>)
		return x;
	else if constexpr (cu_same<From, cu_f16> || cu_same<From, cu_bf16>)
		return cu_convert<To>(cu_widen(x));
	else if constexpr (cu_same<From, cu_bool>)
		return cu_convert<To>(x.byte != 0);
	else if constexpr (cu_same<To, cu_f16>)
		return cu_narrow_f16((cu_f32)x);
	else if constexpr (cu_same<To, cu_bf16>)
		return cu_narrow_bf16((cu_f32)x);
	else if constexpr (cu_same<To, cu_bool>)
		return cu_bool{(cu_u8)(x != 0)};
	else if constexpr (cu_same<To, bool>)
		return x != 0;
	else if constexpr (cu_floating<From> && !cu_floating<To>)
		return cu_saturate<To>(x);
	else
		return (To)x;
}

// A number of type T from the low bytes of a word.
template <class T> CU_FN T cu_of_bits(cu_u64 bits)
{
	if constexpr (cu_same<T, cu_f32>)
		return __uint_as_float((cu_u32)bits);
	else if constexpr (cu_same<T, cu_f64>)
		return __longlong_as_double((cu_i64)bits);
	else if constexpr (cu_same<T, cu_f16> || cu_same<T, cu_bf16>)
		return T{(cu_u16)bits};
	else if constexpr (cu_same<T, cu_bool>)
		return cu_bool{(cu_u8)((bits & 0xff) != 0)};
	else
		return (T)bits;
}

// ---- Several elements at once -------------------------------------------------------------------

template <class T, int n> struct alignas(sizeof(T) * n) cu_pack {
	T at[n];
};

// n elements from an address that is a multiple of their total size (n a power of two, at most 16
// bytes).
template <int n, class T> CU_FN void cu_load(T (&to)[n], const T *from)
{
	cu_pack<T, n> pack = *reinterpret_cast<const cu_pack<T, n> *>(from);
#pragma unroll
	for (int k = 0; k < n; k++)
		to[k] = pack.at[k];
}

template <int n, class T> CU_FN void cu_store(T *to, const T (&from)[n])
{
	cu_pack<T, n> pack;
#pragma unroll
	for (int k = 0; k < n; k++)
		pack.at[k] = from[k];
	*reinterpret_cast<cu_pack<T, n> *>(to) = pack;
}

// ---- Activations --------------------------------------------------------------------------------

// Numbered as TN_ACTIVATION_...; T is a floating type.
template <int activation, class T> CU_FN T cu_activate(T x)
{
	if constexpr (activation == 1)
		return x > 0 || x != x ? x : 0;
	else if constexpr (activation == 2)
		return x != x ? x : x > 6 ? 6 : x > 0 ? x : 0;
	else if constexpr (activation == 3 || activation == 5) {
		T p = exp(x < 0 ? x : -x);
		T sigmoid = (x < 0 ? p : (T)1) / ((T)1 + p);
		return activation == 3 ? sigmoid : x * sigmoid;
	} else if constexpr (activation == 4)
		return tanh(x);
	else if constexpr (activation == 6)
		return x * ((T)1 + erf(x * (T)0.70710678118654752440)) / (T)2;
	else
		return x;
}

// ---- Warps --------------------------------------------------------------------------------------

// The sum, or the largest, of all 32 lanes, in each of them.  Every lane takes part.
template <class T> CU_FN T cu_warp_sum(T x)
{
#pragma unroll
	for (int distance = 16; distance > 0; distance /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, distance);
	return x;
}

// NaN if any is NaN.
template <class T> CU_FN T cu_warp_max(T x)
{
#pragma unroll
	for (int distance = 16; distance > 0; distance /= 2) {
		T other = __shfl_xor_sync(0xffffffffu, x, distance);
		x = other > x || other != other ? other : x;
	}
	return x;
}

// ---- Teams --------------------------------------------------------------------------------------

// A block of 256 threads as n_lines teams of n_members, each with a line of numbers.  `columns`:
// neighbouring threads have neighbouring lines, else neighbouring numbers of one line.
template <int n_lines, int n_members, bool columns> struct cu_team {
	static CU_MEMBER int line()
	{
		return columns ? threadIdx.x % n_lines : threadIdx.x / n_members;
	}
	static CU_MEMBER int member()
	{
		return columns ? threadIdx.x / n_lines : threadIdx.x % n_members;
	}

	// Combines the x of all members by join; every member gets the result.  All threads of the
	// block take part; `shared` has 256 elements.  The order of combining depends on these
	// numbers alone.
	template <class T, class Join> static CU_MEMBER T meet(T x, T *shared, Join join)
	{
		if constexpr (columns && n_members > 1) {
			shared[threadIdx.x] = x;
			__syncthreads();
#pragma unroll
			for (int half = n_members / 2; half > 0; half /= 2) {
				if (member() < half)
					shared[threadIdx.x] =
						join(shared[threadIdx.x],
						     shared[threadIdx.x + half * n_lines]);
				__syncthreads();
			}
			x = shared[line()];
			__syncthreads();
		} else if constexpr (!columns) {
			constexpr int width = n_members < 32 ? n_members : 32;
#pragma unroll
			for (int distance = width / 2; distance > 0; distance /= 2)
				x = join(x, __shfl_xor_sync(0xffffffffu, x, distance));
			if constexpr (n_members > 32) {
				if (threadIdx.x % 32 == 0)
					shared[threadIdx.x / 32] = x;
				__syncthreads();
				x = shared[line() * (n_members / 32)];
#pragma unroll
				for (int warp = 1; warp < n_members / 32; warp++)
					x = join(x, shared[line() * (n_members / 32) + warp]);
				__syncthreads();
			}
		}
		return x;
	}

	template <class T> static CU_MEMBER T sum(T x, T *shared)
	{
		return meet(x, shared, [](T a, T b) { return a + b; });
	}

	// For numbers without NaN.
	template <class T> static CU_MEMBER T largest(T x, T *shared)
	{
		return meet(x, shared, [](T a, T b) { return a > b ? a : b; });
	}
};
