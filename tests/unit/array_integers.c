/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix products of integers and of bool, and of f64 on devices that do not multiply it.
 */
/* First: the next one replaces its assert_kept. */
#include "mock_fixture.h"

#include "array_fixture.h"
#include "integer_checks.h"

static void products_agree_on_devices_of_any_slots(void **state)
{
	static const struct {
		uint64_t slots;
		int is_far;
	} cases[] = {{ALL_SLOTS, 0}, {MANDATORY, 0}, {SLOT(MAP), 0}, {MEMORY_ALONE, 1}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *fresh = NULL;
		open_fixture(&fresh);
		struct fixture *f = fresh;
		f->context.runtime.device = add_device(f, "odd", cases[i].slots, cases[i].is_far);
		check_integer_products(context_of(f));
		close_fixture(&fresh);
	}
}

static void products_agree_on_the_mock(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	check_integer_products(context);
	tn_context_close(context);
}

static void products_agree_on_the_cpu(void **state)
{
	(void)state;
	tn_context *context = open_cpu();
	if (!context)
		skip(); /* built without it */
	check_integer_products(context);
	tn_context_close(context);
}

/* A product of large matrices with few elements of C: nothing of size M N K is made. */
static void an_integer_product_is_one_composed_reduction(void **state)
{
	struct fixture *f = *state;
	const int64_t a_shape[] = {64, 4096}, b_shape[] = {4096, 64};
	tn_array *a = tn_full(context_of(f), TN_I32, 2, a_shape, 70000);
	tn_array *b = tn_full(context_of(f), TN_I32, 2, b_shape, 70000);
	struct tn_memory_use before = {.struct_size = sizeof(before)},
			     after = {.struct_size = sizeof(after)};
	tn_device_get_memory_use(f->context.runtime.device, &before);
	tn_array *c = tn_matmul(a, b);
	tn_device_get_memory_use(f->context.runtime.device, &after);
	assert_true(after.used - before.used <= 64 * 64 * sizeof(int32_t) + 4096);
	double value = 0;
	assert_ok(tn_item(tn_slice(tn_slice(c, 0, 63, 64, 1), 1, 63, 64, 1), &value));
	/* 4096 x 70000^2 modulo 2^32 */
	assert_close(value, (double)(int32_t)(uint32_t)(UINT64_C(4096) * 70000 * 70000), 0);
	assert_int_equal(ledger_row(f, "matmul").composed, 1);
	assert_int_equal(ledger_row(f, "matmul").host, 0);
	/* Vectors, and a matrix for each index of more batch axes than a backend takes. */
	tn_array *v = tn_arange(context_of(f), TN_I64, 0, 5, 1);
	assert_elements(tn_matmul(v, v), 30);
	tn_array *many = tn_reshape(tn_arange(context_of(f), TN_I16, 0, 64, 1), 7,
				    (const int64_t[]){2, 2, 2, 2, 2, 2, 1});
	tn_array *turned = tn_transpose(many, (const int[]){4, 3, 2, 1, 0, 6, 5});
	tn_array *products = tn_matmul(many, turned);
	assert_shape(products, 2, 2, 2, 2, 2, 2, 2);
	tn_array *expected = tn_multiply(many, turned);
	assert_arrays_close(products, expected, 0);
}

static void factors_of_integers_are_whole_numbers(void **state)
{
	struct fixture *f = *state;
	tn_array *a = tn_full(context_of(f), TN_I32, SHAPE(2, 2), 1);
	tn_array *c = tn_full(context_of(f), TN_I32, SHAPE(2, 2), 1);
	assert_status(tn_matmul_into(c, a, 0, a, 0, 0.5, 0), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "alpha: expected a whole number");
	assert_status(tn_matmul_into(c, a, 0, a, 0, 1, NAN), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "beta: expected a whole number");
	assert_status(tn_matmul_into(c, a, 0, a, 0, 1, 0x1p54), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "i32, found 1.80144e+16");
	tn_array *yes = tn_full(context_of(f), TN_BOOL, SHAPE(2, 2), 1);
	assert_status(tn_matmul_into(yes, yes, 0, yes, 0, 2, 0), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "from 0 to 1 for bool, found 2");
	assert_elements(c, 1, 1, 1, 1);
}

static tn_status refuse(void *device, const struct tn_matmul_args *args)
{
	(void)device, (void)args;
	return TN_UNSUPPORTED;
}

static void f64_is_composed_where_it_is_not_multiplied(void **state)
{
	struct fixture *f = *state;
	tn_array *a = tn_astype(noise(f, 1, SHAPE(2, 5, 6)), TN_F64);
	tn_array *b = tn_astype(noise(f, 2, SHAPE(6, 4)), TN_F64);
	tn_array *c = tn_astype(noise(f, 3, SHAPE(2, 5, 4)), TN_F64), *expected = tn_copy(c);
	assert_ok(tn_matmul_into(expected, a, 0, b, 0, 0.25, -2));
	f->backends[0].compute.matmul = refuse;
	tn_ledger_reset(context_of(f));
	assert_ok(tn_matmul_into(c, a, 0, b, 0, 0.25, -2));
	/* Sums of six products, in another order. */
	assert_arrays_close(c, expected, 1e-15);
	assert_int_equal(ledger_row(f, "matmul").composed, 1);
	assert_int_equal(ledger_row(f, "matmul").host, 0);
	/* Half products too, once f32 is refused. */
	tn_array *h = tn_astype(noise(f, 1, SHAPE(3, 3)), TN_F16);
	assert_non_null(tn_matmul(h, h));
	assert_int_equal(ledger_row(f, "matmul").composed, 2);
	assert_int_equal(ledger_row(f, "matmul").widened, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_agree_on_devices_of_any_slots),
		cmocka_unit_test(products_agree_on_the_mock),
		cmocka_unit_test(products_agree_on_the_cpu),
		TEST(an_integer_product_is_one_composed_reduction),
		TEST(factors_of_integers_are_whole_numbers),
		TEST(f64_is_composed_where_it_is_not_multiplied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
