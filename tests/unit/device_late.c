/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Errors that come later: which call of the core fetches them from the backend, and that each is
 * reported once.
 */
#include "device/pool.h"
#include "device/transfer.h"
#include "device_fake.h"

static struct {
	const char *operation; /* of the pending error; NULL: none */
	int at_download;       /* it appears when a download waits */
	int asked;
	char log[1024];
} late;

static tn_status fetch(void *device, void *stream, struct tn_error_info *out)
{
	const char *operation = late.at_download ? NULL : late.operation;
	(void)device;
	assert_null(stream);
	late.asked++;
	if (!operation)
		return TN_OK;
	late.operation = NULL;
	return tn_fail(out, TN_BACKEND_FAILURE, operation, "it failed on the device");
}

static tn_status wait_and_download(void *device, const struct tn_transfer_args *args)
{
	late.at_download = 0;
	return fake_download(device, args);
}

static void keep_log(void *user, int level, const char *subsystem, const char *text, size_t length)
{
	(void)user;
	size_t used = strlen(late.log);
	snprintf(late.log + used, sizeof(late.log) - used, "%d %s: %.*s\n", level, subsystem,
		 (int)length, text);
}

static struct tn_device *open_late(struct fake *fake, uint32_t flags, struct tn_logger *logger)
{
	struct tn_device *device;
	memset(&late, 0, sizeof(late));
	fake_init(fake, flags);
	fake->backend.device.async_error = fetch;
	fake->backend.device.download = wait_and_download;
	fake->backend.native[TN_SLOT_ASYNC_ERROR] = 1;
	tn_logger_init(logger);
	logger->callback = keep_log;
	assert_ok(tn_device_create(NULL, &fake->backend, 0, 0, logger, &device, NULL));
	return device;
}

/* The host's data is not copied, and no second call reports the error. */
static void an_upload_reports_the_error_of_earlier_work(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_logger logger;
	struct tn_error_info error;
	struct tn_block block;
	struct tn_device *device = open_late(&fake, 0, &logger);
	assert_ok(tn_block_take(device, 8, &block, NULL));
	late.operation = "matmul";
	assert_status(tn_device_upload(device, &block, 0, "1234", 4, &error), TN_BACKEND_FAILURE);
	assert_string_equal(error.operation, "matmul");
	assert_string_equal(error.text, "fake:0: it failed on the device");
	assert_int_equal(fake.uploads, 0);
	assert_ok(tn_device_upload(device, &block, 0, "1234", 4, &error));
	assert_int_equal(fake.uploads, 1);
	late.operation = "map";
	assert_status(tn_device_upload_later(device, &block, 0, "5678", 4, NULL),
		      TN_BACKEND_FAILURE);
	assert_ok(tn_device_sync(device, &error));
	tn_block_give(device, &block);
	fake_finish(&fake, device);
}

static void a_download_reports_the_error_that_its_wait_revealed(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_logger logger;
	struct tn_error_info error;
	struct tn_block block;
	char data[4];
	struct tn_device *device = open_late(&fake, 0, &logger);
	assert_ok(tn_block_take(device, 8, &block, NULL));
	late.operation = "reduce";
	late.at_download = 1;
	assert_status(tn_device_download(device, &block, 0, data, 4, &error), TN_BACKEND_FAILURE);
	assert_string_equal(error.operation, "reduce");
	assert_ok(tn_device_download(device, &block, 0, data, 4, &error));
	tn_block_give(device, &block);
	fake_finish(&fake, device);
	assert_null(strstr(late.log, "not reported"));
}

/* Devices whose work is done when an entry returns need no async_error. */
static void a_synchronous_device_is_not_asked(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_logger logger;
	struct tn_block block;
	char data[4];
	struct tn_device *device = open_late(&fake, TN_DEVICE_SYNCHRONOUS, &logger);
	assert_ok(tn_block_take(device, 8, &block, NULL));
	assert_ok(tn_device_upload(device, &block, 0, "1234", 4, NULL));
	assert_ok(tn_device_download(device, &block, 0, data, 4, NULL));
	assert_ok(tn_device_sync(device, NULL));
	assert_int_equal(late.asked, 0);
	tn_block_give(device, &block);
	fake_finish(&fake, device);
}

/* A second error while one is kept. */
static void an_error_that_cannot_be_kept_is_logged(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_logger logger;
	struct tn_error_info error;
	struct tn_block block;
	struct tn_device *device = open_late(&fake, 0, &logger);
	assert_ok(tn_block_take(device, 8, &block, NULL));
	fake.sync_fails = TN_BACKEND_FAILURE;
	tn_device_settle(device);
	assert_null(strstr(late.log, "not reported"));
	fake.sync_fails = TN_BACKEND_FAILURE;
	tn_device_settle(device);
	assert_contains(late.log, "fake:0: an error was not reported by any call: matmul: fake:0: "
				  "it went wrong");
	assert_status(tn_device_sync(device, &error), TN_BACKEND_FAILURE);
	assert_ok(tn_device_sync(device, &error));
	tn_block_give(device, &block);
	fake_finish(&fake, device);
}

static void an_error_that_is_left_at_the_end_is_logged(void **state)
{
	(void)state;
	struct fake fake;
	struct tn_logger logger;
	struct tn_block block;
	struct tn_device *device = open_late(&fake, 0, &logger);
	assert_ok(tn_block_take(device, 8, &block, NULL));
	tn_block_give(device, &block);
	fake.sync_fails = TN_BACKEND_FAILURE;
	fake_finish(&fake, device);
	assert_contains(late.log, "an error was not reported by any call: matmul");
	assert_null(strstr(strstr(late.log, "not reported") + 1, "not reported"));
	/* And not when it was reported. */
	device = open_late(&fake, 0, &logger);
	assert_ok(tn_block_take(device, 8, &block, NULL));
	tn_block_give(device, &block);
	fake.sync_fails = TN_BACKEND_FAILURE;
	assert_status(tn_device_sync(device, NULL), TN_BACKEND_FAILURE);
	fake_finish(&fake, device);
	assert_null(strstr(late.log, "not reported"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_upload_reports_the_error_of_earlier_work),
		cmocka_unit_test(a_download_reports_the_error_that_its_wait_revealed),
		cmocka_unit_test(a_synchronous_device_is_not_asked),
		cmocka_unit_test(an_error_that_cannot_be_kept_is_logged),
		cmocka_unit_test(an_error_that_is_left_at_the_end_is_logged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
