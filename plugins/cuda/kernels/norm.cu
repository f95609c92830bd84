// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Tenon developers
//
// Batch, layer and group norm.  x has samples, channels, and INNER axes after them; those of all
// arrays of a call are merged alike.  DTYPE, INNER, CHANNELS_LAST, LX, LY and COLUMNS of the teams.
//
// Sums over all samples are made in chunks (norm_chunks, norm_chunk_gradients), whose sums a warp
// for each channel combines in the order of their numbers, so the bits are the same from run to
// run.

typedef cu_type<DTYPE> element;
typedef cu_sum<element> real;
typedef cu_team<LX, LY, COLUMNS> team;

struct view {
	cu_u64 at;
	cu_i64 sample, channel;
	cu_i64 inner[14];
};

// One number for each channel, or each group.
template <class T> struct list {
	cu_u64 at;
	cu_i64 step;
	CU_MEMBER real get(cu_i64 i) const
	{
		return cu_convert<real>(((const T *)at)[i * step]);
	}
	CU_MEMBER void set(cu_i64 i, real x) const
	{
		((T *)at)[i * step] = cu_convert<T>(x);
	}
};

struct call {
	cu_i64 n_samples, n_channels, n_inner;
	cu_i64 groups; // in a sample
	cu_i64 n_chunks, chunk;
	cu_i64 inner[14];
	view x, y, extra, dx, dresidual; // y: dy in backward; extra: the residual, or the result
	list<element> w, b;
	list<real> mean, rstd;
	list<element> dw, db;
	cu_u64 scratch;
	double epsilon;
	// Batch norm: a mean for each channel, else for each of `groups` parts of a sample's.
	cu_i32 is_per_channel;
	cu_i32 has_affine;
	cu_i32 is_fixed; // the statistics are given
	cu_i32 activation, has_residual;
	cu_i32 wants; // backward: 1 dx, 2 dw and db, 4 dresidual
	cu_i32 adds;  // accumulates into dw and db
};

// ---- Positions ---------------------------------------------------------------------------------

struct index {
	cu_i64 sample, channel, inner;
};

CU_FN element *find(const call &g, const view &v, const index &i)
{
	cu_i64 place = i.sample * v.sample + i.channel * v.channel, rest = i.inner;
#pragma unroll
	for (int d = INNER - 1; d >= 0; d--) {
		const cu_i64 quotient = d > 0 ? rest / g.inner[d] : 0;
		place += (rest - quotient * g.inner[d]) * v.inner[d];
		rest = quotient;
	}
	return (element *)v.at + place;
}

CU_FN real at(const call &g, const view &v, const index &i)
{
	return cu_convert<real>(*find(g, v, i));
}

// The index of its mean and rstd.
CU_FN cu_i64 group_of(const call &g, const index &i)
{
	if (g.is_per_channel)
		return i.channel;
	return i.sample * g.groups + i.channel / (g.n_channels / g.groups);
}

// Element t of a channel, over all samples.
CU_FN index of_channel(const call &g, cu_i64 channel, cu_i64 t)
{
	const cu_i64 sample = t / g.n_inner;
	return {sample, channel, t - sample * g.n_inner};
}

// Element t of a part of a sample's channels.
CU_FN index of_group(const call &g, cu_i64 group, cu_i64 t)
{
	const cu_i64 shared = g.n_channels / g.groups, sample = group / g.groups;
	const cu_i64 first = (group - sample * g.groups) * shared;
	cu_i64 channel, inner;
	if (CHANNELS_LAST) {
		inner = t / shared;
		channel = t - inner * shared;
	} else {
		channel = t / g.n_inner;
		inner = t - channel * g.n_inner;
	}
	return {sample, first + channel, inner};
}

// Element e of all, in memory order.
CU_FN index of_all(const call &g, cu_i64 e)
{
	cu_i64 rest;
	if (CHANNELS_LAST) {
		rest = e / g.n_channels;
		const cu_i64 channel = e - rest * g.n_channels, sample = rest / g.n_inner;
		return {sample, channel, rest - sample * g.n_inner};
	}
	rest = e / g.n_inner;
	const cu_i64 inner = e - rest * g.n_inner, sample = rest / g.n_channels;
	return {sample, rest - sample * g.n_channels, inner};
}

// ---- Forward ------------------------------------------------------------------------------------

#ifdef KERNEL_norm_chunks
// The mean of a chunk of a channel and the sum of squared deviations from it, in two passes.
extern "C" __global__ void __launch_bounds__(256) norm_chunks(const call g)
{
	__shared__ real shared[256];
	const cu_i64 member = team::member(), chunk = blockIdx.y, begin = chunk * g.chunk;
	const cu_i64 m = g.n_samples * g.n_inner, channel = (cu_i64)blockIdx.x * LX + team::line();
	const cu_i64 end = channel >= g.n_channels ? begin
			   : begin + g.chunk < m   ? begin + g.chunk
						   : m;
	real mean = 0, squares = 0;
	for (cu_i64 t = begin + member; t < end; t += LY)
		mean += at(g, g.x, of_channel(g, channel, t));
	mean = team::sum(mean, shared) / (real)(end > begin ? end - begin : 1);
	for (cu_i64 t = begin + member; t < end; t += LY) {
		const real distance = at(g, g.x, of_channel(g, channel, t)) - mean;
		squares += distance * distance;
	}
	squares = team::sum(squares, shared);
	if (member || channel >= g.n_channels)
		return;
	real *to = (real *)g.scratch + 2 * (channel * g.n_chunks + chunk);
	to[0] = mean;
	to[1] = squares;
}
#endif

#ifdef KERNEL_norm_join
// Combines mean and rstd of a channel from its chunks: one warp each.
extern "C" __global__ void __launch_bounds__(256) norm_join(const call g)
{
	const cu_i64 lane = threadIdx.x % 32, m = g.n_samples * g.n_inner;
	const cu_i64 channel = (cu_i64)blockIdx.x * 8 + threadIdx.x / 32;
	if (channel >= g.n_channels)
		return; // the whole warp
	const real *from = (const real *)g.scratch + 2 * channel * g.n_chunks;
	real mean = 0, squares = 0;
	for (cu_i64 k = lane; k < g.n_chunks; k += 32) {
		const cu_i64 n = k + 1 < g.n_chunks ? g.chunk : m - k * g.chunk;
		mean += from[2 * k] * ((real)n / (real)m);
	}
	mean = cu_warp_sum(mean);
	for (cu_i64 k = lane; k < g.n_chunks; k += 32) {
		const cu_i64 n = k + 1 < g.n_chunks ? g.chunk : m - k * g.chunk;
		const real distance = from[2 * k] - mean;
		squares += from[2 * k + 1] + (real)n * distance * distance;
	}
	squares = cu_warp_sum(squares);
	if (lane)
		return;
	g.mean.set(channel, mean);
	g.rstd.set(channel, (real)1 / sqrt(squares / (real)m + (real)g.epsilon));
}
#endif

CU_FN void finish(const call &g, const index &i, real mean, real rstd)
{
	real y = (at(g, g.x, i) - mean) * rstd;
	if (g.has_affine)
		y = y * g.w.get(i.channel) + g.b.get(i.channel);
	if (g.has_residual)
		y += at(g, g.extra, i);
	*find(g, g.y, i) = cu_convert<element>(g.activation == 1   ? cu_activate<1>(y)
					       : g.activation == 2 ? cu_activate<2>(y)
								   : y);
}

#ifdef KERNEL_norm_apply
// For known mean and rstd.
extern "C" __global__ void __launch_bounds__(256) norm_apply(const call g)
{
	const cu_i64 n = g.n_samples * g.n_channels * g.n_inner;
	for (cu_i64 e = (cu_i64)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (cu_i64)gridDim.x * 256) {
		const index i = of_all(g, e);
		const cu_i64 group = group_of(g, i);
		finish(g, i, g.mean.get(group), g.rstd.get(group));
	}
}
#endif

#ifdef KERNEL_norm_groups
// The whole forward for units with their own team: a row, or some channels of a sample.
extern "C" __global__ void __launch_bounds__(256) norm_groups(const call g)
{
	__shared__ real shared[256];
	const cu_i64 member = team::member(), n_groups = g.n_samples * g.groups;
	const cu_i64 m = g.n_channels / g.groups * g.n_inner;
	for (cu_i64 first = (cu_i64)blockIdx.x * LX; first < n_groups;
	     first += (cu_i64)gridDim.x * LX) {
		const cu_i64 group = first + team::line();
		const cu_i64 end = group < n_groups ? m : 0; // all threads synchronise below
		real mean = 0, squares = 0;
		for (cu_i64 t = member; t < end; t += LY)
			mean += at(g, g.x, of_group(g, group, t));
		mean = team::sum(mean, shared) / (real)m;
		for (cu_i64 t = member; t < end; t += LY) {
			const real distance = at(g, g.x, of_group(g, group, t)) - mean;
			squares += distance * distance;
		}
		squares = team::sum(squares, shared);
		const real rstd = (real)1 / sqrt(squares / (real)m + (real)g.epsilon);
		for (cu_i64 t = member; t < end; t += LY)
			finish(g, of_group(g, group, t), mean, rstd);
		if (member || !end)
			continue;
		g.mean.set(group, mean);
		g.rstd.set(group, rstd);
	}
}
#endif

// ---- Backward -----------------------------------------------------------------------------------

// dy after the activation's derivative.
CU_FN real passed(const call &g, const index &i)
{
	const real dy = at(g, g.y, i);
	if (!g.activation)
		return dy;
	const real result = at(g, g.extra, i);
	return result > 0 && (g.activation == 1 || result < 6) ? dy : 0;
}

CU_FN real normal(const call &g, const index &i, cu_i64 group)
{
	return (at(g, g.x, i) - g.mean.get(group)) * g.rstd.get(group);
}

#ifdef KERNEL_norm_chunk_gradients
// The sums of dy and of dy xhat over a chunk of a channel.
extern "C" __global__ void __launch_bounds__(256) norm_chunk_gradients(const call g)
{
	__shared__ real shared[256];
	const cu_i64 member = team::member(), chunk = blockIdx.y, begin = chunk * g.chunk;
	const cu_i64 m = g.n_samples * g.n_inner, channel = (cu_i64)blockIdx.x * LX + team::line();
	const cu_i64 end = channel >= g.n_channels ? begin
			   : begin + g.chunk < m   ? begin + g.chunk
						   : m;
	real sum = 0, sum_x = 0;
	for (cu_i64 t = begin + member; t < end; t += LY) {
		const index i = of_channel(g, channel, t);
		const real dy = passed(g, i);
		sum += dy;
		sum_x += dy * normal(g, i, group_of(g, i));
	}
	sum = team::sum(sum, shared);
	sum_x = team::sum(sum_x, shared);
	if (member || channel >= g.n_channels)
		return;
	real *to = (real *)g.scratch + 2 * (channel * g.n_chunks + chunk);
	to[0] = sum;
	to[1] = sum_x;
}
#endif

#ifdef KERNEL_norm_join_gradients
// dw and db of a channel from the sums of its chunks: one warp each.  Afterwards the total replaces
// the first chunk's sums.
extern "C" __global__ void __launch_bounds__(256) norm_join_gradients(const call g)
{
	const cu_i64 lane = threadIdx.x % 32;
	const cu_i64 channel = (cu_i64)blockIdx.x * 8 + threadIdx.x / 32;
	if (channel >= g.n_channels)
		return; // the whole warp
	real *from = (real *)g.scratch + 2 * channel * g.n_chunks;
	real sum = 0, sum_x = 0;
	for (cu_i64 k = lane; k < g.n_chunks; k += 32) {
		sum += from[2 * k];
		sum_x += from[2 * k + 1];
	}
	sum = cu_warp_sum(sum);
	sum_x = cu_warp_sum(sum_x);
	if (lane)
		return;
	from[0] = sum;
	from[1] = sum_x;
	if (!(g.wants & 2))
		return;
	g.dw.set(channel, sum_x + (g.adds ? g.dw.get(channel) : 0));
	g.db.set(channel, sum + (g.adds ? g.db.get(channel) : 0));
}
#endif

// dx = rstd (w dy - mean - xhat mean_x), and dresidual.
CU_FN void derive(const call &g, const index &i, cu_i64 group, real mean, real mean_x)
{
	const real dy = passed(g, i);
	real dx = g.has_affine ? dy * g.w.get(i.channel) : dy;
	if (g.wants & 1) {
		if (!g.is_fixed)
			dx -= mean + normal(g, i, group) * mean_x;
		dx *= g.rstd.get(group);
	}
	if (g.wants & 1)
		*find(g, g.dx, i) = cu_convert<element>(dx);
	if (g.wants & 4)
		*find(g, g.dresidual, i) = cu_convert<element>(dy);
}

#ifdef KERNEL_norm_derive
// For channels whose sums are known or not needed.
extern "C" __global__ void __launch_bounds__(256) norm_derive(const call g)
{
	const cu_i64 n = g.n_samples * g.n_channels * g.n_inner;
	const real m = (real)(g.n_samples * g.n_inner);
	for (cu_i64 e = (cu_i64)blockIdx.x * 256 + threadIdx.x; e < n;
	     e += (cu_i64)gridDim.x * 256) {
		const index i = of_all(g, e);
		real mean = 0, mean_x = 0;
		if (g.is_per_channel && !g.is_fixed && (g.wants & 1)) {
			const real *sums = (const real *)g.scratch + 2 * i.channel * g.n_chunks;
			const real w = (g.has_affine ? g.w.get(i.channel) : (real)1) / m;
			mean = sums[0] * w;
			mean_x = sums[1] * w;
		}
		derive(g, i, group_of(g, i), mean, mean_x);
	}
}
#endif

#ifdef KERNEL_norm_derive_groups
// Units with their own team compute the sums themselves.
extern "C" __global__ void __launch_bounds__(256) norm_derive_groups(const call g)
{
	__shared__ real shared[256];
	const cu_i64 member = team::member(), n_groups = g.n_samples * g.groups;
	const cu_i64 m = g.n_channels / g.groups * g.n_inner;
	for (cu_i64 first = (cu_i64)blockIdx.x * LX; first < n_groups;
	     first += (cu_i64)gridDim.x * LX) {
		const cu_i64 group = first + team::line();
		const cu_i64 end = group < n_groups ? m : 0;
		real mean = 0, mean_x = 0;
		for (cu_i64 t = member; t < end; t += LY) {
			const index i = of_group(g, group, t);
			const real dxhat =
				passed(g, i) * (g.has_affine ? g.w.get(i.channel) : (real)1);
			mean += dxhat;
			mean_x += dxhat * normal(g, i, group);
		}
		mean = team::sum(mean, shared) / (real)m;
		mean_x = team::sum(mean_x, shared) / (real)m;
		for (cu_i64 t = member; t < end; t += LY)
			derive(g, of_group(g, group, t), group, mean, mean_x);
	}
}
#endif
