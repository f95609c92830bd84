/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * conv2d and its gradients.  The oracle is the definition, one element of the result at a time: y
 * and dw by their sums, dx by searching every (o, p, q, r, s) that reads x[n,c,h,v].  All are
 * linear in each operand, so the same oracle on magnitudes bounds the rounding: n terms are within
 * (n + 2) epsilon sum of |x w|.
 */
#include "conform.h"

struct setting {
	int64_t n, c, h, w; /* x */
	int64_t o, r, s;    /* w */
	uint32_t groups;
	int64_t stride[2], dilation[2], padding[4];
	int has_bias;
};

static const struct setting settings[] = {
	{1, 1, 1, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, 0},
	{2, 3, 7, 6, 4, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1},
	{2, 3, 9, 8, 5, 3, 2, 1, {2, 3}, {1, 1}, {0, 1, 2, 0}, 1},
	{1, 2, 11, 10, 3, 3, 3, 1, {1, 2}, {2, 3}, {2, 3, 2, 3}, 0},
	{2, 4, 6, 7, 6, 3, 3, 2, {1, 1}, {1, 1}, {1, 0, 0, 1}, 1},
	{2, 5, 9, 9, 5, 3, 3, 5, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0}, /* depthwise */
	{1, 3, 6, 6, 6, 2, 2, 3, {1, 1}, {2, 1}, {0, 0, 0, 0}, 1}, /* two outputs per channel */
	{3, 8, 5, 5, 7, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1}, /* 1 x 1 */
	{2, 4, 6, 6, 3, 1, 1, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}, 0},
	{1, 1, 28, 28, 6, 5, 5, 1, {1, 1}, {1, 1}, {2, 2, 2, 2}, 1},
	{1, 2, 5, 4, 2, 5, 4, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1}, /* one window */
	{1, 2, 3, 3, 2, 3, 3, 1, {1, 1}, {1, 1}, {4, 4, 4, 4}, 0}, /* windows all in padding */
	{1, 3, 23, 19, 4, 7, 7, 1, {2, 2}, {1, 1}, {3, 3, 3, 3}, 0},
	{1, 2, 8, 8, 2, 2, 2, 1, {4, 4}, {1, 1}, {0, 0, 0, 0}, 0}, /* unread elements */
	/* groups, strides and dilations together; depthwise of many channels; more channels in a
	 * group, and a larger plane, than a block holds */
	{1, 4, 13, 11, 6, 3, 3, 2, {2, 2}, {2, 2}, {1, 2, 2, 1}, 1},
	{1, 40, 6, 5, 40, 3, 3, 40, {1, 1}, {1, 1}, {1, 1, 1, 1}, 0},
	{1, 70, 4, 5, 3, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1},
	{1, 2, 70, 67, 3, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1},
};
enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static int64_t n_windows(const struct setting *t, int axis)
{
	int64_t length = axis ? t->w : t->h, kernel = axis ? t->s : t->r;
	return (length + t->padding[axis] + t->padding[axis + 2] -
		t->dilation[axis] * (kernel - 1) - 1) /
		       t->stride[axis] +
	       1;
}

/* x[n, c, ...] at output (p, q) and weight (r, s): its number, or -1 in the padding. */
static int64_t x_place(const struct setting *t, int64_t n, int64_t c, int64_t p, int64_t q,
		       int64_t r, int64_t s)
{
	int64_t h = p * t->stride[0] + r * t->dilation[0] - t->padding[0];
	int64_t v = q * t->stride[1] + s * t->dilation[1] - t->padding[1];
	if (h < 0 || h >= t->h || v < 0 || v >= t->w)
		return -1;
	return ((n * t->c + c) * t->h + h) * t->w + v;
}

/* One term of the sums: its elements of x, w and y. */
typedef void (*term_function)(void *to, int64_t x, int64_t w, int64_t y);

static void each_term(const struct setting *t, term_function function, void *to)
{
	int64_t n_p = n_windows(t, 0), n_q = n_windows(t, 1);
	int64_t per_group = t->c / t->groups, o_per_group = t->o / t->groups;
	int64_t n_y = t->n * t->o * n_p * n_q, n_w = per_group * t->r * t->s;
	for (int64_t y = 0; y < n_y; y++) {
		int64_t q = y % n_q, p = y / n_q % n_p, o = y / n_q / n_p % t->o;
		int64_t n = y / n_q / n_p / t->o;
		for (int64_t k = 0; k < n_w; k++) {
			int64_t s = k % t->s, r = k / t->s % t->r, c = k / t->s / t->r;
			int64_t x = x_place(t, n, o / o_per_group * per_group + c, p, q, r, s);
			if (x >= 0)
				function(to, x, o * n_w + k, y);
		}
	}
}

/* The accumulated terms, with the sum of their magnitudes and their number. */
struct sums {
	const double *x, *w, *y;
	double *sum, *magnitude, *n_terms;
	enum tn_slot slot;
};

static void add_term(void *to, int64_t x, int64_t w, int64_t y)
{
	struct sums *s = to;
	double product;
	int64_t at;
	if (s->slot == TN_SLOT_CONV2D_FORWARD) {
		product = s->x[x] * s->w[w];
		at = y;
	} else if (s->slot == TN_SLOT_CONV2D_INPUT_GRADIENT) {
		product = s->w[w] * s->y[y];
		at = x;
	} else {
		product = s->x[x] * s->y[y];
		at = w;
	}
	s->sum[at] += product;
	s->magnitude[at] += fabs(product);
	s->n_terms[at] += 1;
}

static void compare(struct kit *kit, const struct setting *t, const struct array *result,
		    const double *x, const double *w, const double *y, const double *begin)
{
	uint64_t count = result->count;
	struct sums s = {.x = x, .w = w, .y = y, .slot = kit->slot};
	s.sum = numbers(count);
	s.magnitude = numbers(count);
	s.n_terms = numbers(count);
	each_term(t, add_term, &s);
	for (uint64_t i = 0; i < count; i++) {
		s.sum[i] += begin[i];
		s.magnitude[i] = kit_family_error(kit, TN_FAMILY_CONV, result->operand.dtype,
						  s.n_terms[i], 4) *
				 (s.magnitude[i] + fabs(begin[i]));
	}
	array_narrow(result, s.sum, s.magnitude);
	array_compare(result, s.sum, s.magnitude);
	free(s.sum);
	free(s.magnitude);
	free(s.n_terms);
}

/* The initial value of the result: the bias, its old value (TN_ACCUMULATE), or 0. */
static double *beginning(const struct setting *t, const struct array *result,
			 const struct array *bias, int accumulate)
{
	double *begin = accumulate ? array_numbers(result) : numbers(result->count);
	uint64_t plane = (uint64_t)(n_windows(t, 0) * n_windows(t, 1));
	for (uint64_t i = 0; bias && i < result->count; i++)
		begin[i] = array_number(bias, i / plane % (uint64_t)t->o);
	return begin;
}

static void convolves(struct kit *kit, enum tn_slot slot, tn_dtype dtype, int number,
		      unsigned layout, int accumulate)
{
	const struct setting *t = &settings[number];
	int64_t n_p = n_windows(t, 0), n_q = n_windows(t, 1);
	const int64_t shape[3][4] = {{t->n, t->c, t->h, t->w},
				     {t->o, t->c / t->groups, t->r, t->s},
				     {t->n, t->o, n_p, n_q}};
	int written = slot == TN_SLOT_CONV2D_FORWARD          ? 2
		      : slot == TN_SLOT_CONV2D_INPUT_GRADIENT ? 0
							      : 1;
	int has_bias = t->has_bias && written == 2;
	struct array data[4], *all[4] = {&data[0], &data[1], &data[2], &data[3]};
	double *host[3], *begin;
	static const char *const names[] = {"input gradient", "weight gradient", "forward"};
	kit_case(kit, slot, "conv2d %s: %s, setting %d, %s%s", names[written], tn_dtype_name(dtype),
		 number, layout_names[layout], accumulate ? ", accumulated" : "");
	for (int i = 0; i < 3; i++) {
		unsigned own = (layout + (unsigned)i) % (i == written ? OUTPUT_LAYOUTS : LAYOUTS);
		if (layout == CHANNELS_LAST)
			own = i == 1 ? COMPACT : CHANNELS_LAST;
		array_make(kit, &data[i], i == written ? OUTPUT : INPUT, dtype, 4, shape[i],
			   (enum layout)own);
		array_randomise(&data[i], -1, 1);
		host[i] = array_numbers(&data[i]);
	}
	array_make(kit, &data[3], INPUT, dtype, 1, &t->o, SPACED);
	array_randomise(&data[3], -1, 1);
	begin = beginning(t, &data[written], has_bias ? &data[3] : NULL, accumulate);
	struct tn_conv2d_args args = {
		.call = {.struct_size = sizeof(args), .flags = accumulate ? TN_ACCUMULATE : 0},
		.x = data[0].operand,
		.w = data[1].operand,
		.y = data[2].operand,
		.bias = data[3].operand,
		.has_bias = (uint32_t)has_bias,
		.groups = t->groups};
	memcpy(args.stride, t->stride, sizeof(args.stride));
	memcpy(args.dilation, t->dilation, sizeof(args.dilation));
	memcpy(args.padding, t->padding, sizeof(args.padding));
	if (!kit_run(kit, &args, all, 4))
		compare(kit, t, &data[written], host[0], host[1], host[2], begin);
	free(begin);
	for (int i = 0; i < 3; i++)
		free(host[i]);
	for (int i = 0; i < 4; i++)
		array_free(&data[i]);
}

static void check_slot(struct kit *kit, enum tn_slot slot)
{
	for (int i = 0; i < LAYER_DTYPES * N_SETTINGS; i++) {
		tn_dtype dtype = layer_dtypes[i % LAYER_DTYPES];
		int number = i / LAYER_DTYPES;
		if (!tn_backend_has(kit->backend, slot) || !kit_claims_storage(kit, dtype))
			continue;
		for (unsigned layout = 0; layout < LAYOUTS; layout++)
			if (kit_is_tried(kit, dtype, layout))
				convolves(kit, slot, dtype, number, layout,
					  slot != TN_SLOT_CONV2D_FORWARD && layout % 2);
		convolves(kit, slot, dtype, number, CHANNELS_LAST, 0);
	}
}

void check_conv2d_forward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_CONV2D_FORWARD))
		return kit_skip(kit, "the slot is empty");
	check_slot(kit, TN_SLOT_CONV2D_FORWARD);
}

void check_conv2d_backward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_CONV2D_INPUT_GRADIENT) &&
	    !tn_backend_has(kit->backend, TN_SLOT_CONV2D_WEIGHT_GRADIENT))
		return kit_skip(kit, "both slots are empty");
	check_slot(kit, TN_SLOT_CONV2D_INPUT_GRADIENT);
	check_slot(kit, TN_SLOT_CONV2D_WEIGHT_GRADIENT);
}
