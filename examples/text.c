/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A classifier of texts: are there more good words than bad ones?  Embedding, LSTM, and a linear
 * layer on its last state, as one module.  Word 0 pads texts that are shorter.
 *
 * Exit 0: at least 95% of the last texts, which are new, are classified correctly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

enum { WORDS = 30, GOOD = 10, BAD = 20, LENGTH = 12, BATCH = 64, WIDTH = 16, STEPS = 300 };

struct classifier {
	tn_module *words, *lstm, *head;
};

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const struct classifier *classifier = state;
	tn_array *h_n;
	(void)module;
	tn_array *vectors = tn_module_forward(classifier->words, x);
	tn_module_recurrent_forward(classifier->lstm, vectors, NULL, NULL, &h_n, NULL);
	return tn_module_forward(classifier->head, tn_squeeze(h_n, 0));
}

static tn_module *make_classifier(tn_context *context)
{
	struct tn_module_class class_ = tn_module_class_defaults();
	class_.name = "Classifier";
	class_.forward = forward;
	class_.destroy = free;
	class_.is_repeatable = 1;
	struct classifier *state = malloc(sizeof(*state));
	struct tn_module_embedding_options embedding = tn_module_embedding_defaults();
	embedding.has_padding = 1;
	state->words = tn_module_embedding(context, WORDS, WIDTH, &embedding);
	state->lstm = tn_module_lstm(context, WIDTH, WIDTH, NULL);
	state->head = tn_module_linear(context, WIDTH, 2, NULL);
	tn_module *module = tn_module_custom(context, &class_, state);
	tn_module_add(module, "words", state->words);
	tn_module_add(module, "lstm", state->lstm);
	tn_module_add(module, "head", state->head);
	return tn_module_build(module) ? NULL : module;
}

/* Texts of 4 to LENGTH words, at the end of their rows, and their classes. */
static void make_texts(int32_t texts[BATCH][LENGTH], int32_t labels[BATCH])
{
	for (int i = 0; i < BATCH; i++) {
		int first = rand() % (LENGTH - 3), sum = 0;
		for (int k = 0; k < LENGTH; k++) {
			int32_t word = k < first ? 0 : 1 + rand() % (WORDS - 1);
			texts[i][k] = word;
			sum += word && word <= GOOD ? 1 : word && word <= BAD ? -1 : 0;
		}
		labels[i] = sum > 0;
	}
}

int main(void)
{
	static int32_t texts[BATCH][LENGTH], labels[BATCH];
	int64_t shape[] = {BATCH, LENGTH};
	double right = 0;
	struct tn_error_info error;
	tn_context *context;
	if (tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	tn_module *net = make_classifier(context);
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.lr = 0.01;
	tn_optimizer *optimizer = tn_adamw(net, &adamw);
	for (int step = 1; step <= STEPS && !tn_error(context); step++) {
		make_texts(texts, labels);
		tn_scope_begin(context);
		tn_array *x = tn_from_host(context, TN_I32, 2, shape, texts);
		tn_array *classes = tn_from_host(context, TN_I32, 1, shape, labels);
		tn_module_zero_gradients(net);
		tn_tape *tape = tn_tape_begin(context);
		tn_array *logits = tn_module_forward(net, x);
		tn_tape_backward(tape, tn_cross_entropy(logits, classes, NULL), NULL);
		tn_tape_end(tape);
		tn_optimizer_step(optimizer);
		/* These texts were new to the network. */
		tn_array *is_right = tn_equal(tn_argmax(logits, 1, 0), classes);
		if (tn_item(tn_mean(is_right, TN_ALL_AXES, NULL, 0), &right))
			fprintf(stderr, "%s\n", tn_error_text(context));
		tn_scope_end(context, NULL);
		if (step % 50 == 0)
			printf("step %d: %.0f%% of new texts are right\n", step, 100 * right);
	}
	int is_good = !tn_error(context) && right >= 0.95;
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_context_close(context);
	return is_good ? 0 : 1;
}
