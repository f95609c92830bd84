/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "scale_model.h"

#include <math.h>
#include <stdlib.h>

const char *scale_way_name(int way)
{
	static const char *const names[] = {[SCALE_RING] = "ring",
					    [SCALE_TREE] = "tree",
					    [SCALE_DIRECT] = "direct",
					    [SCALE_AFTER] = "after"};
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
	if (way == SCALE_DIRECT || way == SCALE_AFTER)
		starts = 2 * (link->latency + (n - 1) * link->overhead);
	return starts + on_the_way + sums;
}

static int compare_ready(const void *a, const void *b)
{
	const double x = ((const struct scale_bucket *)a)->ready,
		     y = ((const struct scale_bucket *)b)->ready;
	return (x > y) - (x < y);
}

int scale_cut(const struct scale_network *network, double bytes, struct scale_buckets *buckets)
{
	const double size = 4 * network->elements;
	const size_t n = (size_t)ceil(size / bytes);
	*buckets =
		(struct scale_buckets){.n = n, .buckets = calloc(n + 1, sizeof(*buckets->buckets))};
	if (!buckets->buckets)
		return 0;
	for (size_t i = 0; i < n; i++)
		buckets->buckets[i].bytes = fmin(bytes, size - (double)i * bytes);
	for (size_t w = 0; w < network->n_weights; w++) {
		const struct scale_weight *weight = &network->weights[w];
		for (size_t i = (size_t)(4 * weight->begin / bytes);
		     i < n && (double)i * bytes < 4 * weight->end; i++)
			buckets->buckets[i].ready = fmax(buckets->buckets[i].ready, weight->ready);
	}
	qsort(buckets->buckets, n, sizeof(*buckets->buckets), compare_ready);
	return 1;
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
	return step->seconds - backward + fmax(backward, link_is_free);
}
