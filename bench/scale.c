/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What data-parallel training of the gallery's networks sends, and how well it would scale: a model
 * and a simulation on this machine, without a network.  bench/README.md has the formulas.
 *
 *     bench/scale                    bytes and messages of a step, for the whole gallery
 *     bench/scale --steps FILE       and the efficiencies of the steps in it: lines of a network, a
 *                                    batch, the seconds of a step on one rank, or `measure`, and
 *                                    words on where they are from
 *     --ranks 8,64,512  --bucket BYTES  --backward PART (of a step's time)  --sum GB/s
 *     --link GBIT,LATENCY,OVERHEAD   in Gbit/s and us, up to 4 times; first: 10,30,5 and 100,2,0.5
 *     --tsv                          lines for programs: network, batch, ranks, Gbit/s, way,
 *                                    seconds of a step, efficiency
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tenon/tenon.h>

#include "nn/module.h"
#include "scale_model.h"

enum { MOST = 8, MOST_LINKS = 4, MEASURED_STEPS = 5 };

struct options {
	const char *steps;
	int n_ranks;
	uint32_t ranks[MOST];
	int n_links;
	struct scale_link links[MOST_LINKS];
	double bucket_bytes;
	double backward;
	int tsv;
};

/* ---- Networks --------------------------------------------------------------------------------*/

/* "resnet18:small" to its shape; 0: there is none. */
static int shape_of(const char *name, struct tn_model_shape *shape)
{
	static const struct tn_model_shape small = {3, 32, 32, 10}, nnott = {1, 28, 28, 10};
	const char *form = strchr(name, ':');
	const size_t length = form ? (size_t)(form - name) : strlen(name);
	for (size_t i = 0; tn_model_at(i); i++) {
		const struct tn_model_info *info = tn_model_at(i);
		if (strlen(info->name) != length || strncmp(info->name, name, length) != 0)
			continue;
		*shape = info->published;
		if (form && !strcmp(form, ":small"))
			*shape = small;
		if (form && !strcmp(form, ":nnott"))
			*shape = nnott;
		return 1;
	}
	return 0;
}

/* Multiply-adds of each row itself, without its members. */
static void own_work(const tn_summary *summary, double *own)
{
	struct tn_summary_row row = {.struct_size = sizeof(row)},
			      next = {.struct_size = sizeof(next)};
	const size_t n = tn_summary_count(summary);
	for (size_t i = 0; i < n; i++) {
		(void)tn_summary_at(summary, i, &row);
		own[i] = (double)row.multiply_adds;
		for (size_t j = i + 1; j < n; j++) {
			(void)tn_summary_at(summary, j, &next);
			if (next.depth <= row.depth)
				break;
			if (next.depth == row.depth + 1)
				own[i] -= (double)next.multiply_adds;
		}
	}
}

/* The row of the module that has the weight: the one with the longest fitting path. */
static size_t row_of(const tn_summary *summary, const char *weight)
{
	struct tn_summary_row row = {.struct_size = sizeof(row)};
	size_t found = 0, longest = 0;
	for (size_t i = 1; i < tn_summary_count(summary); i++) {
		(void)tn_summary_at(summary, i, &row);
		const size_t length = strlen(row.path);
		if (length >= longest && !strncmp(row.path, weight, length) &&
		    weight[length] == '.') {
			found = i;
			longest = length;
		}
	}
	return found;
}

/* When the gradient of each weight is there, in parts of the time of backward, which is spread over
 * the modules as their multiply-adds are. */
static void fill_weights(const tn_module *net, const tn_summary *summary, double *own,
			 struct scale_network *network)
{
	const size_t n = tn_summary_count(summary);
	double total = 0.0;
	own_work(summary, own);
	for (size_t i = n; i-- > 0;)
		own[i] = total += own[i];
	for (size_t i = 0; i < network->n_weights; i++) {
		const size_t index = net->arena.order[i];
		const struct tn_named_weight *named = &net->listing[index];
		network->weights[i] = (struct scale_weight){
			.begin = (double)named->weight->offset,
			.end = (double)(named->weight->offset + named->weight->size),
			.ready = total > 0.0 ? own[row_of(summary, named->name)] / total : 1.0};
		network->parameters += (double)named->weight->size;
		if (named->weight->rank < 2 && !network->matrices)
			network->matrices = (double)named->weight->offset;
	}
	network->elements = (double)net->arena.size;
	if (!network->matrices)
		network->matrices = network->elements;
}

/* 0: an error, which the context keeps. */
static int describe_network(const tn_module *net, const tn_summary *summary,
			    struct scale_network *network)
{
	*network = (struct scale_network){.n_weights = net->n_listing};
	network->weights = calloc(net->n_listing + 1, sizeof(*network->weights));
	double *own = calloc(tn_summary_count(summary), sizeof(*own));
	const int done = network->weights && own;
	if (done)
		fill_weights(net, summary, own, network);
	free(own);
	return done;
}

static tn_module *build(tn_context *context, const char *name, struct tn_model_shape *shape)
{
	if (!shape_of(name, shape)) {
		fprintf(stderr, "scale: there is no network '%s'\n", name);
		return NULL;
	}
	tn_module *net = tn_model_create(context, name, shape);
	if (net && !tn_module_build(net))
		return net;
	tn_module_destroy(net);
	return NULL;
}

static int open_network(tn_context *context, const char *name, struct scale_network *network)
{
	struct tn_model_shape shape;
	tn_module *net = build(context, name, &shape);
	tn_summary *summary = NULL;
	if (net) {
		struct tn_summary_options options = tn_summary_defaults();
		options.rank = 4;
		options.shape = (int64_t[]){1, shape.channels, shape.height, shape.width};
		summary = tn_summary_create(net, &options);
	}
	const int done = summary && describe_network(net, summary, network);
	tn_summary_destroy(summary);
	tn_module_destroy(net);
	return done;
}

/* ---- Measured steps --------------------------------------------------------------------------*/

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tn_status step(tn_context *context, tn_module *net, tn_optimizer *optimizer,
		      const tn_array *x, const tn_array *labels)
{
	tn_status status = tn_scope_begin(context);
	if (status)
		return status;
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(net, x), labels, NULL);
	status = tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	if (!status)
		status = tn_optimizer_step(optimizer);
	tn_scope_end(context, NULL);
	return status ? status : tn_synchronize(context);
}

/* The fastest of some steps of SGD with momentum on this machine, in seconds; 0: the error is
 * kept. */
static double measure(tn_context *context, const char *name, int64_t batch)
{
	struct tn_model_shape shape;
	double best = HUGE_VAL;
	tn_module *net = build(context, name, &shape);
	if (!net)
		return 0.0;
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 1e-3;
	options.momentum = 0.9;
	tn_optimizer *sgd = tn_sgd(net, &options);
	tn_status status = tn_scope_begin(context);
	const tn_array *x = tn_random_normal(
		context, 4, (int64_t[]){batch, shape.channels, shape.height, shape.width}, 0, 1);
	const tn_array *labels = tn_astype(
		tn_random_uniform(context, 1, &batch, 0, (double)shape.n_classes), TN_I32);
	tn_module_set_training(net, 1);
	for (int i = 0; i < MEASURED_STEPS && !status; i++) {
		const double start = now();
		status = step(context, net, sgd, x, labels);
		best = fmin(best, now() - start);
	}
	tn_scope_end(context, NULL);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
	return status ? 0.0 : best;
}

/* ---- Tables ----------------------------------------------------------------------------------*/

static void print_sent_header(tn_context *context, const struct options *o)
{
	const time_t seconds = time(NULL);
	const char *threads = getenv("TENON_THREADS");
	char date[16] = "";
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&seconds));
	printf("# bench/scale, %s; steps that were measured: on %s, TENON_THREADS=%s\n", date,
	       tn_device_describe(tn_device_current(context))->name, threads ? threads : "");
	printf("\n## Bytes and messages of a step\n\n"
	       "MB: gradients in f32, the gaps of the arena included; buckets of %.1f MiB, and one "
	       "of "
	       "8 bytes a weight;\nat N ranks the MB that each of them sends, and its messages: "
	       "ring "
	       "and direct exchange, halving and\ndoubling.\n\n%-24s %12s %8s %7s",
	       o->bucket_bytes / 0x1p20, "network", "parameters", "MB", "buckets");
	for (int r = 0; r < o->n_ranks; r++)
		printf("  %8s%-4u %8s %6s", "N = ", o->ranks[r], "ring", "tree");
	printf("\n");
}

static void print_sent(const struct options *o, const char *name,
		       const struct scale_network *network, const struct scale_buckets *buckets)
{
	printf("%-24s %12.0f %8.2f %7zu", name, network->parameters, 4e-6 * network->elements,
	       buckets->n);
	for (int r = 0; r < o->n_ranks; r++) {
		const double n = o->ranks[r];
		printf("  %12.2f %8.0f %6.0f", 4e-6 * network->elements * 2 * (n - 1) / n,
		       (double)buckets->n * scale_messages(SCALE_DIRECT, o->ranks[r]),
		       (double)buckets->n * scale_messages(SCALE_TREE, o->ranks[r]));
	}
	printf("\n");
	fflush(stdout);
}

static int print_gallery(tn_context *context, const struct options *o)
{
	print_sent_header(context, o);
	for (size_t i = 0; tn_model_at(i); i++) {
		const struct tn_model_info *info = tn_model_at(i);
		for (uint32_t form = 0; form < 32; form++) {
			struct scale_network network;
			struct scale_buckets buckets;
			char name[96];
			if (!(info->forms >> form & 1))
				continue;
			snprintf(name, sizeof(name), "%s:%s", info->name, tn_model_form_name(form));
			if (!open_network(context, name, &network))
				return 0;
			const int done = scale_cut(&network, o->bucket_bytes, &buckets);
			if (done)
				print_sent(o, name, &network, &buckets);
			free(buckets.buckets);
			free(network.weights);
			if (!done)
				return 0;
		}
	}
	return 1;
}

/* A line of the file of steps. */
struct line {
	char name[96];
	long batch;
	char time[32];
	char where[64];
	double seconds;
};

static void print_step(const struct options *o, const struct line *line,
		       const struct scale_buckets *buckets)
{
	const double seconds = line->seconds;
	for (int l = 0; l < o->n_links; l++) {
		for (int r = 0; r < o->n_ranks; r++) {
			if (!o->tsv)
				printf("%-20s %5ld %10.3g %7.4g %6u", line->name, line->batch,
				       1e3 * seconds, 8e-9 / o->links[l].seconds_a_byte,
				       o->ranks[r]);
			for (int way = 0; way < SCALE_WAYS; way++) {
				const struct scale_step step = {.seconds = seconds,
								.backward = o->backward,
								.n_ranks = o->ranks[r],
								.way = way,
								.link = o->links[l]};
				const double whole = scale_step_seconds(&step, buckets);
				if (o->tsv)
					printf("%s\t%ld\t%u\t%g\t%s\t%.6g\t%.4f\n", line->name,
					       line->batch, o->ranks[r],
					       8e-9 / o->links[l].seconds_a_byte,
					       scale_way_name(way), whole, seconds / whole);
				else
					printf(" %8.3f", seconds / whole);
			}
			if (!o->tsv)
				printf("  %s\n", line->where);
		}
	}
	fflush(stdout);
}

static void print_steps_header(const struct options *o)
{
	if (o->tsv)
		return;
	printf("\n## Efficiency\n\nThe batch of a rank is fixed (weak scaling); %.0f %% of a step "
	       "is backward.\n",
	       100 * o->backward);
	for (int l = 0; l < o->n_links; l++)
		printf("%g Gbit/s: a message is %g us on its way, and costs its sender %g us; sums "
		       "at %g GB/s.\n",
		       8e-9 / o->links[l].seconds_a_byte, 1e6 * o->links[l].latency,
		       1e6 * o->links[l].overhead, 1e-9 / o->links[l].seconds_a_summed_byte);
	printf("\n%-20s %5s %10s %7s %6s", "network", "batch", "ms alone", "Gbit/s", "ranks");
	for (int way = 0; way < SCALE_WAYS; way++)
		printf(" %8s", scale_way_name(way));
	printf("  step of one rank\n");
}

static int print_line(tn_context *context, const struct options *o, struct line *line)
{
	struct scale_network network;
	struct scale_buckets buckets;
	line->seconds = !strcmp(line->time, "measure") ? measure(context, line->name, line->batch)
						       : strtod(line->time, NULL);
	if (!(line->seconds > 0.0) || !open_network(context, line->name, &network))
		return 0;
	const int done = scale_cut(&network, o->bucket_bytes, &buckets);
	if (done)
		print_step(o, line, &buckets);
	free(buckets.buckets);
	free(network.weights);
	return done;
}

static int print_steps(tn_context *context, const struct options *o)
{
	char text[256];
	FILE *file = !strcmp(o->steps, "-") ? stdin : fopen(o->steps, "r");
	int done = file != NULL;
	if (!file)
		perror(o->steps);
	else
		print_steps_header(o);
	while (done && fgets(text, sizeof(text), file)) {
		struct line line = {.where = ""};
		if (text[0] == '#' || text[0] == '\n')
			continue;
		done = sscanf(text, "%95s %ld %31s %63[^\n]", line.name, &line.batch, line.time,
			      line.where) >= 3 &&
		       line.batch > 0;
		if (!done)
			fprintf(stderr, "scale: expected NETWORK BATCH SECONDS, found %s", text);
		else
			done = print_line(context, o, &line);
	}
	if (file && file != stdin)
		fclose(file);
	return done;
}

/* ---- Options ---------------------------------------------------------------------------------*/

static int read_ranks(struct options *o, const char *text)
{
	o->n_ranks = 0;
	for (char *end; o->n_ranks < MOST; text = end + 1) {
		const unsigned long n = strtoul(text, &end, 10);
		if (n < 2 || n > 1u << 20)
			return 0;
		o->ranks[o->n_ranks++] = (uint32_t)n;
		if (!*end)
			return 1;
	}
	return 0;
}

static int read_link(struct options *o, const char *text, double sum)
{
	double gigabits, latency, overhead;
	if (o->n_links == MOST_LINKS ||
	    sscanf(text, "%lf,%lf,%lf", &gigabits, &latency, &overhead) != 3 || !(gigabits > 0))
		return 0;
	o->links[o->n_links++] = (struct scale_link){.seconds_a_byte = 8e-9 / gigabits,
						     .latency = 1e-6 * latency,
						     .overhead = 1e-6 * overhead,
						     .seconds_a_summed_byte = 1e-9 / sum};
	return 1;
}

/* 0: a wrong one. */
static int read_options(int argc, char **argv, struct options *o)
{
	static const struct option known[] = {{"steps", required_argument, NULL, 's'},
					      {"ranks", required_argument, NULL, 'r'},
					      {"bucket", required_argument, NULL, 'b'},
					      {"link", required_argument, NULL, 'l'},
					      {"backward", required_argument, NULL, 'w'},
					      {"sum", required_argument, NULL, 'm'},
					      {"tsv", no_argument, NULL, 't'},
					      {NULL, 0, NULL, 0}};
	const char *links[MOST_LINKS] = {"10,30,5", "100,2,0.5"};
	int option, n_links = 0, done = read_ranks(o, "8,64,512");
	double sum = 4.0;
	o->bucket_bytes = 0x1p22;
	o->backward = 2.0 / 3.0;
	while (done && (option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 's')
			o->steps = optarg;
		else if (option == 'r')
			done = read_ranks(o, optarg);
		else if (option == 'b')
			done = (o->bucket_bytes = strtod(optarg, NULL)) >= 256;
		else if (option == 'l' && n_links < MOST_LINKS)
			links[n_links++] = optarg;
		else if (option == 'w')
			o->backward = strtod(optarg, NULL);
		else if (option == 'm')
			sum = strtod(optarg, NULL);
		else if (option == 't')
			o->tsv = 1;
		else
			done = 0;
	}
	n_links = n_links ? n_links : 2;
	for (int l = 0; l < n_links && done; l++)
		done = sum > 0 && read_link(o, links[l], sum);
	return done && optind == argc && o->backward >= 0.0 && o->backward <= 1.0;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct tn_error_info error;
	tn_context *context;
	if (!read_options(argc, argv, &options)) {
		fprintf(stderr, "scale: wrong options; the source begins with the right ones\n");
		return 2;
	}
	if (tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "scale: %s\n", error.text);
		return 1;
	}
	int done = options.tsv || print_gallery(context, &options);
	if (done && options.steps)
		done = print_steps(context, &options);
	if (!done && tn_error(context))
		fprintf(stderr, "scale: %s: %s\n", tn_error(context)->operation,
			tn_error_text(context));
	tn_context_close(context);
	return !done;
}
