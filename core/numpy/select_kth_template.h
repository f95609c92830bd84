/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Selection among unsigned keys.  Included once for each width, with
 *
 *	KEY                            the type of a key
 *	INSERT, ORDER, CODE, DECODE    names of functions for this width, and
 *	SELECT                         of the one that is used
 */

static void INSERT(KEY *x, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		const KEY key = x[i];
		int64_t at = i;
		for (; at > 0 && x[at - 1] > key; at--)
			x[at] = x[at - 1];
		x[at] = key;
	}
}

/* Orders n keys, equal above the bits from `shift` + 8 on, at the positions from *positions to
 * `end`, which are in ascending order and counted from `first`.  One digit at a time, from the
 * highest: keys are put into the order of their digit, and only those that share it with a position
 * go on. */
static void ORDER(KEY *x, KEY *other, int64_t n, int shift, int64_t first, const int64_t *positions,
		  const int64_t *end)
{
	int64_t starts[DIGITS + 1] = {0}, next[DIGITS];
	if (n <= FEW) {
		INSERT(x, n);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		starts[(x[i] >> shift & (DIGITS - 1)) + 1]++;
	for (int d = 0; d < DIGITS; d++)
		starts[d + 1] += starts[d];
	memcpy(next, starts, sizeof(next));
	for (int64_t i = 0; i < n; i++)
		other[next[x[i] >> shift & (DIGITS - 1)]++] = x[i];
	memcpy(x, other, (size_t)n * sizeof(*x));
	for (int d = 0; d < DIGITS && shift && positions < end; d++) {
		const int64_t *inside = positions;
		while (positions < end && *positions - first < starts[d + 1])
			positions++;
		if (positions > inside)
			ORDER(x + starts[d], other + starts[d], starts[d + 1] - starts[d],
			      shift - 8, first + starts[d], inside, positions);
	}
}

/* Bits of n elements become keys of their order: `flip` is flipped, or, if there are the bits of
 * infinity, the sign of floating numbers and all bits of those below 0; NaN becomes the
 * greatest. */
static void CODE(KEY *x, int64_t n, KEY flip, KEY infinity)
{
	const KEY sign = (KEY)((KEY)1 << (8 * sizeof(KEY) - 1)), all = (KEY)-1;
	for (int64_t i = 0; i < n && !infinity; i++)
		x[i] ^= flip;
	for (int64_t i = 0; i < n && infinity; i++) {
		const KEY key = x[i] & sign ? (KEY)(x[i] ^ all) : (KEY)(x[i] ^ sign);
		x[i] = (KEY)(x[i] & (all ^ sign)) > infinity ? all : key;
	}
}

/* The reverse. */
static void DECODE(KEY *x, int64_t n, KEY flip, KEY infinity)
{
	const KEY sign = (KEY)((KEY)1 << (8 * sizeof(KEY) - 1)), all = (KEY)-1;
	for (int64_t i = 0; i < n && !infinity; i++)
		x[i] ^= flip;
	for (int64_t i = 0; i < n && infinity; i++)
		x[i] = x[i] & sign ? (KEY)(x[i] ^ sign) : (KEY)(x[i] ^ all);
}

static void SELECT(void *line, void *other, const struct selection *s)
{
	const int highest = 8 * (int)sizeof(KEY) - 8;
	CODE(line, s->length, (KEY)s->flip, (KEY)s->infinity);
	ORDER(line, other, s->length, highest, 0, s->positions, s->positions + s->n);
	DECODE(line, s->length, (KEY)s->flip, (KEY)s->infinity);
}

#undef KEY
#undef INSERT
#undef ORDER
#undef CODE
#undef DECODE
#undef SELECT
