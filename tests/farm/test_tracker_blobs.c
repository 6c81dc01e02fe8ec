/* tests/farm/test_tracker_blobs.c - files from tuners through the tracker to runners. */
#include <string.h>

#include "net/blob_hash.h"
#include "support/core/alloc.h"
#include "tests/farm/tracker_world.h"
#include "tests/support/hone_test.h"

#define CHUNK (256 << 10)

typedef struct file {
    uint8_t *bytes;
    size_t count;
    hone_farm_blob blob;
} file;

static file make_file(size_t count, uint8_t seed) {
    file f = {.bytes = hone_malloc(count), .count = count};
    assert_non_null(f.bytes);
    for (size_t i = 0; i < count; i++)
        f.bytes[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
    hone_blob_hash hash = hone_blob_hash_of(f.bytes, count);
    f.blob = (hone_farm_blob){.role = HONE_FARM_BLOB_ARTIFACT, .bytes = (int64_t)count};
    memcpy(f.blob.hash.bytes, hash.bytes, sizeof hash.bytes);
    return f;
}

static void free_file(file *f) {
    hone_free(f->bytes);
}

static hone_farm_message submit_with(uint64_t trial, file *f) {
    hone_farm_message m = farm_submit(trial, "pi4");
    m.u.submit.blobs = (hone_farm_blobs){1, &f->blob};
    return m;
}

static void send_chunk(farm_peer *peer, const file *f, const hone_farm_blob_want *want) {
    hone_farm_message m = farm_plain(HONE_FARM_BLOB_CHUNK);
    size_t left = f->count - (size_t)want->offset;
    m.u.blob_chunk = (hone_farm_blob_chunk){
        .hash = want->hash,
        .total = (int64_t)f->count,
        .offset = want->offset,
        .bytes = {f->bytes + want->offset, want->count < left ? want->count : left},
    };
    farm_send(peer, &m);
}

/* Answers the tracker's wants until it has the file. */
static void serve(farm_peer *tuner, const file *f) {
    size_t sent = 0;
    while (sent < f->count) {
        hone_farm_blob_want want = farm_expect(tuner, HONE_FARM_BLOB_WANT).u.blob_want;
        assert_true(hone_farm_hash_equal(&want.hash, &f->blob.hash));
        send_chunk(tuner, f, &want);
        sent += want.count;
    }
}

static void want(farm_peer *runner, const file *f, int64_t offset, uint32_t count) {
    hone_farm_message m = farm_plain(HONE_FARM_BLOB_WANT);
    m.u.blob_want = (hone_farm_blob_want){f->blob.hash, offset, count};
    farm_send(runner, &m);
}

/* Fetches a file as a runner does, one want at a time. */
static void fetch(farm_peer *runner, const file *f) {
    for (size_t at = 0; at < f->count;) {
        want(runner, f, (int64_t)at, CHUNK);
        hone_farm_blob_chunk chunk = farm_expect(runner, HONE_FARM_BLOB_CHUNK).u.blob_chunk;
        assert_int_equal(chunk.total, f->count);
        assert_int_equal(chunk.offset, at);
        size_t left = f->count - at;
        assert_int_equal(chunk.bytes.count, left < CHUNK ? left : CHUNK);
        assert_memory_equal(chunk.bytes.data, f->bytes + at, chunk.bytes.count);
        at += chunk.bytes.count;
    }
}

static void fetched_once(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    file f = make_file(3 * CHUNK + 17, 1);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *one = farm_runner(&w, 2, "one", "pi4", 1),
              *two = farm_runner(&w, 3, "two", "pi4", 1);
    for (uint64_t i = 1; i <= 2; i++) {
        hone_farm_message m = submit_with(i, &f);
        farm_send(tuner, &m);
    }
    serve(tuner, &f); /* before anybody wants it */
    hone_farm_assign assign = farm_take(one);
    assert_int_equal(assign.blobs.count, 1);
    assert_true(hone_farm_hash_equal(&assign.blobs.items[0].hash, &f.blob.hash));
    fetch(one, &f);
    fetch(two, &f);
    fetch(two, &f); /* whoever asks again gets it again */
    farm_answer(one, &assign, 1);
    farm_expect_outcome(tuner, 1, HONE_FAILURE_NONE);
    hone_farm_message m = submit_with(3, &f);
    farm_send(tuner, &m);
    farm_expect_none(tuner, HONE_FARM_BLOB_WANT, 5 * HONE_NS_PER_S);
    assert_int_equal(hone_tracker_get_stats(w.tracker).blob_pulls, 1);
    assert_int_equal(hone_tracker_get_stats(w.tracker).blob_bytes, f.count);
    free_file(&f);
    farm_world_deinit(&w);
}

/* Wants that come before the file wait; lost chunks are asked for again. */
static void wants_wait(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    file f = make_file(2 * CHUNK, 2);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    hone_farm_message m = submit_with(1, &f);
    farm_send(tuner, &m);
    farm_take(runner);
    want(runner, &f, CHUNK, CHUNK);
    farm_expect(tuner, HONE_FARM_BLOB_WANT);
    farm_expect(tuner, HONE_FARM_BLOB_WANT);
    farm_expect_none(runner, HONE_FARM_BLOB_CHUNK, HONE_NS_PER_S / 10);
    serve(tuner, &f); /* asked for a second time */
    hone_farm_message chunk = farm_expect(runner, HONE_FARM_BLOB_CHUNK);
    assert_int_equal(chunk.u.blob_chunk.offset, CHUNK);
    assert_int_equal(chunk.id, 5);
    free_file(&f);
    farm_world_deinit(&w);
}

static void send_missing(farm_peer *tuner, const file *f, uint64_t want) {
    hone_farm_message m = {.kind = HONE_FARM_BLOB_MISSING, .id = want};
    m.u.blob_missing.hash = f->blob.hash;
    farm_send(tuner, &m);
}

static void nobody_has_it(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    file f = make_file(100, 3);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    want(runner, &f, 0, 100);
    hone_farm_message missing = farm_expect(runner, HONE_FARM_BLOB_MISSING);
    assert_true(hone_farm_hash_equal(&missing.u.blob_missing.hash, &f.blob.hash));
    hone_farm_message m = submit_with(1, &f);
    farm_send(tuner, &m);
    uint64_t asked = farm_expect(tuner, HONE_FARM_BLOB_WANT).id;
    hone_farm_assign assign = farm_take(runner);
    send_missing(tuner, &f, asked);
    farm_expect_outcome(tuner, 1, HONE_FAILURE_LOAD_ERROR);
    assert_int_equal(farm_expect(runner, HONE_FARM_ABORT).u.lease.token, assign.token);
    want(runner, &f, 0, 100);
    farm_expect(runner, HONE_FARM_BLOB_MISSING);
    want(runner, &f, 200, 100);
    farm_expect(runner, HONE_FARM_BLOB_MISSING);
    free_file(&f);
    farm_world_deinit(&w);
}

/* It answers for the trials that it knew of when it read the want, not for one that it has
 * submitted since and whose SUBMIT overtook the answer. */
static void missing_is_late(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    file f = make_file(100, 8);
    farm_peer *tuner = farm_tuner(&w, 1, "alice");
    hone_farm_message m = submit_with(1, &f);
    farm_send(tuner, &m);
    uint64_t asked = farm_expect(tuner, HONE_FARM_BLOB_WANT).id;
    m = submit_with(2, &f);
    farm_send(tuner, &m);
    farm_expect(tuner, HONE_FARM_ACCEPTED);
    send_missing(tuner, &f, asked);
    farm_expect_outcome(tuner, 1, HONE_FAILURE_LOAD_ERROR);
    farm_expect_none(tuner, HONE_FARM_OUTCOME, HONE_NS_PER_S);
    farm_peer *runner = farm_runner(&w, 2, "one", "pi4", 1);
    hone_farm_assign assign = farm_take(runner);
    want(runner, &f, 0, 100);
    serve(tuner, &f); /* it is asked again */
    farm_expect(runner, HONE_FARM_BLOB_CHUNK);
    farm_answer(runner, &assign, 1);
    farm_expect_outcome(tuner, 2, HONE_FAILURE_NONE);
    free_file(&f);
    farm_world_deinit(&w);
}

/* A tuner that sends something else than it has promised harms its own trials only. */
static void lies(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    file f = make_file(1000, 4);
    farm_peer *tuner = farm_tuner(&w, 1, "alice");
    hone_farm_message m = submit_with(1, &f);
    farm_send(tuner, &m);
    hone_farm_blob_want asked = farm_expect(tuner, HONE_FARM_BLOB_WANT).u.blob_want;
    f.bytes[500] ^= 1;
    send_chunk(tuner, &f, &asked);
    hone_farm_outcome outcome = farm_expect_outcome(tuner, 1, HONE_FAILURE_LOAD_ERROR);
    assert_int_equal(outcome.losses, 0);
    f.bytes[500] ^= 1;
    m = submit_with(2, &f);
    farm_send(tuner, &m);
    asked = farm_expect(tuner, HONE_FARM_BLOB_WANT).u.blob_want;
    f.count = 900;
    send_chunk(tuner, &f, &asked);
    farm_expect_outcome(tuner, 2, HONE_FAILURE_LOAD_ERROR);
    /* the same name with another size */
    m = submit_with(3, &f);
    farm_send(tuner, &m);
    f.blob.bytes = 77;
    m = submit_with(4, &f);
    farm_send(tuner, &m);
    farm_expect_refused(tuner, HONE_FARM_REFUSAL_INVALID, "another size");
    assert_int_equal(hone_tracker_get_stats(w.tracker).blob_bytes, 1000); /* of the third */
    free_file(&f);
    farm_world_deinit(&w);
}

/* Chunks that were not asked for, from somebody who was not asked. */
static void unasked(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    file f = make_file(1000, 5), other = make_file(1000, 6);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *bob = farm_tuner(&w, 2, "bob");
    hone_farm_message m = submit_with(1, &f);
    farm_send(tuner, &m);
    hone_farm_blob_want asked = farm_expect(tuner, HONE_FARM_BLOB_WANT).u.blob_want;
    send_chunk(bob, &f, &asked);
    asked.hash = other.blob.hash;
    send_chunk(tuner, &other, &asked);
    asked.hash = f.blob.hash;
    asked.offset = 1;
    send_chunk(tuner, &f, &asked);
    m = farm_plain(HONE_FARM_BLOB_MISSING);
    m.u.blob_missing.hash = f.blob.hash;
    farm_send(bob, &m);
    farm_expect_none(tuner, HONE_FARM_OUTCOME, HONE_NS_PER_S);
    asked.offset = 0;
    send_chunk(tuner, &f, &asked);
    farm_run(&w, HONE_NS_PER_MS);
    hone_vec_clear(&tuner->inbox);
    farm_expect_none(tuner, HONE_FARM_BLOB_WANT, 5 * HONE_NS_PER_S);
    free_file(&f);
    free_file(&other);
    farm_world_deinit(&w);
}

/* The cache holds two files; the third pushes out the one that no trial needs, and a needed one
 * that was pushed out is fetched again when a runner wants it. */
static void bounded(void **state) {
    (void)state;
    farm_world w;
    hone_tracker_options o = {.blob_cache_bytes = 2500};
    farm_world_init(&w, 1, &o);
    file files[4];
    for (int i = 0; i < 4; i++)
        files[i] = make_file(1000, (uint8_t)(10 + i));
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    for (uint64_t i = 0; i < 2; i++) {
        hone_farm_message m = submit_with(i, &files[i]);
        farm_send(tuner, &m);
        serve(tuner, &files[i]);
    }
    hone_farm_message m = submit_with(2, &files[2]);
    farm_send(tuner, &m); /* no room while the others are needed and nobody wants it */
    farm_expect_none(tuner, HONE_FARM_BLOB_WANT, 2 * HONE_NS_PER_S);
    want(runner, &files[2], 0, 1000);
    serve(tuner, &files[2]);
    farm_expect(runner, HONE_FARM_BLOB_CHUNK);
    assert_true(hone_tracker_get_stats(w.tracker).blob_bytes <= 2500);
    /* the one that was used for the longest time ago is gone, and fetched again */
    want(runner, &files[1], 0, 1000);
    farm_expect(runner, HONE_FARM_BLOB_CHUNK);
    want(runner, &files[0], 0, 1000);
    serve(tuner, &files[0]);
    farm_expect(runner, HONE_FARM_BLOB_CHUNK);
    assert_int_equal(hone_tracker_get_stats(w.tracker).blob_pulls, 4);
    files[3].blob.bytes = 2501;
    m = submit_with(3, &files[3]);
    farm_send(tuner, &m);
    farm_expect_refused(tuner, HONE_FARM_REFUSAL_INVALID, "cache");
    for (int i = 0; i < 4; i++)
        free_file(&files[i]);
    farm_world_deinit(&w);
}

/* A runner that fetches a large file over a slow line keeps its lease. */
static void fetching_keeps_the_lease(void **state) {
    (void)state;
    farm_world w;
    farm_world_init(&w, 1, NULL);
    file f = make_file(40 * 1000, 7);
    farm_peer *tuner = farm_tuner(&w, 1, "alice"), *runner = farm_runner(&w, 2, "one", "pi4", 1);
    hone_farm_message m = submit_with(1, &f);
    farm_send(tuner, &m);
    serve(tuner, &f);
    hone_farm_assign assign = farm_take(runner);
    for (int i = 0; i < 40; i++) { /* a chunk a second; the timeout is 10 s */
        want(runner, &f, i * 1000, 1000);
        farm_expect(runner, HONE_FARM_BLOB_CHUNK);
        farm_run(&w, HONE_NS_PER_S);
    }
    farm_answer(runner, &assign, 1);
    assert_int_equal(farm_expect_outcome(tuner, 1, HONE_FAILURE_NONE).losses, 0);
    free_file(&f);
    farm_world_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetched_once),  cmocka_unit_test(wants_wait),
        cmocka_unit_test(nobody_has_it), cmocka_unit_test(missing_is_late),
        cmocka_unit_test(lies),          cmocka_unit_test(unasked),
        cmocka_unit_test(bounded),       cmocka_unit_test(fetching_keeps_the_lease),
    };
    return cmocka_run_group_tests_name("farm/tracker_blobs", tests, NULL, NULL);
}
