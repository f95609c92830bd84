/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Computes the time of an all-reduce by the alpha-beta model, and simulates a step with buckets.
 */
#include "scale_model.h"

#include <math.h>
#include <stdlib.h>

const char *scale_way_name(int way)
{
	static const char *const names[] = {[SCALE_RING] = "ring",
					    [SCALE_TREE] = "tree",
					    [SCALE_DIRECT] = "direct",
					    [SCALE_AFTER] = "after",
					    [SCALE_SHARDED] = "sharded"};
	return names[way];
}

double scale_messages(int way, uint32_t n_ranks)
{
	return way == SCALE_TREE ? 2 * ceil(log2(n_ranks)) : 2 * ((double)n_ranks - 1);
}

double scale_all_reduce(int way, uint32_t n_ranks, double bytes, const struct scale_link *link)
{
	const double n = n_ranks, part = (n - 1) / n;
	const double on_the_way = 2 * part * bytes * link->seconds_a_byte;
	const double sums = part * bytes * link->seconds_a_summed_byte;
	/* Each message of a ring or a tree waits for the one before; those of the two rounds of a
	 * direct exchange only for their senders. */
	double starts = scale_messages(way, n_ranks) * (link->latency + link->overhead);
	if (way >= SCALE_DIRECT)
		starts = 2 * (link->latency + (n - 1) * link->overhead);
	return starts + on_the_way + sums;
}

static int compare_ready(const void *a, const void *b)
{
	const double x = ((const struct scale_bucket *)a)->ready,
		     y = ((const struct scale_bucket *)b)->ready;
	return (x > y) - (x < y);
}

/* The last of a bucket's gradients in bytes [begin, end). */
static double ready_of(const struct scale_network *network, double begin, double end)
{
	double ready = 0.0;
	for (size_t i = 0; i < network->n_weights; i++) {
		const struct scale_weight *weight = &network->weights[i];
		if (4 * weight->begin < end && 4 * weight->end > begin)
			ready = fmax(ready, weight->ready);
	}
	return ready;
}

/* Adds buckets from the end of bytes [begin, end) on; *most: the size of the first one. */
static void cut_run(const struct scale_network *network, double begin, double end, double *most,
		    double bytes, struct scale_buckets *buckets)
{
	while (begin < end) {
		const double from = fmax(begin, end - *most);
		buckets->buckets[buckets->n++] = (struct scale_bucket){
			.bytes = end - from, .ready = ready_of(network, from, end)};
		end = from;
		*most = bytes;
	}
}

int scale_cut(const struct scale_network *network, double bytes, struct scale_buckets *buckets)
{
	const double size = 4 * network->elements, matrices = 4 * network->matrices;
	double most = bytes / 4;
	*buckets = (struct scale_buckets){
		.buckets = calloc((size_t)(size / bytes) + 6, sizeof(*buckets->buckets))};
	if (!buckets->buckets)
		return 0;
	if (size <= most) {
		cut_run(network, 0.0, size, &most, bytes, buckets);
	} else {
		cut_run(network, 0.0, matrices, &most, bytes, buckets);
		cut_run(network, matrices, size, &most, bytes, buckets);
	}
	buckets->buckets[buckets->n++] =
		(struct scale_bucket){.bytes = 8.0 * (double)network->n_weights, .ready = 1.0};
	qsort(buckets->buckets, buckets->n, sizeof(*buckets->buckets), compare_ready);
	return 1;
}

/* Of the parameters after the step, which nothing hides. */
static double gather(const struct scale_step *step, double bytes)
{
	const double n = step->n_ranks;
	return step->link.latency + (n - 1) * step->link.overhead +
	       (n - 1) / n * bytes * step->link.seconds_a_byte;
}

double scale_step_seconds(const struct scale_step *step, const struct scale_buckets *buckets)
{
	const double backward = step->backward * step->seconds;
	double link_is_free = 0.0, all = 0.0;
	for (size_t i = 0; i < buckets->n; i++) {
		const struct scale_bucket *bucket = &buckets->buckets[i];
		all += bucket->bytes;
		link_is_free =
			fmax(link_is_free, bucket->ready * backward) +
			scale_all_reduce(step->way, step->n_ranks, bucket->bytes, &step->link);
	}
	if (step->way == SCALE_AFTER)
		link_is_free =
			backward + scale_all_reduce(step->way, step->n_ranks, all, &step->link);
	const double whole = step->seconds - backward + fmax(backward, link_is_free);
	return step->way == SCALE_SHARDED ? whole + gather(step, all) : whole;
}
