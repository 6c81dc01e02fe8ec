/* tests/farm/test_tracker_keys.c - who may come in, and as what. */
#include <string.h>

#include "support/core/alloc.h"
#include "support/os/fs.h"
#include "tests/farm/tracker_world.h"
#include "tests/support/hone_test.h"

static char *dir;
static hone_key_pair admin_keys, tuner_keys, runner_keys, strange_keys;

static int make_keys(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_temp_dir("hone-keys", &dir));
    hone_key_pair *pairs[] = {&admin_keys, &tuner_keys, &runner_keys, &strange_keys};
    for (size_t i = 0; i < HONE_COUNT(pairs); i++)
        HONE_ASSERT_OK(hone_key_pair_create(pairs[i]));
    return 0;
}

static int remove_dir(void **state) {
    (void)state;
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    hone_free(dir);
    return 0;
}

static void begin(farm_world *w) {
    hone_allow_list *list;
    HONE_ASSERT_OK(hone_fs_remove_tree(dir));
    HONE_ASSERT_OK(hone_fs_mkdirs(dir));
    HONE_ASSERT_OK(hone_allow_list_open(dir, &list));
    HONE_ASSERT_OK(hone_allow_list_allow(list, &admin_keys.public_key, HONE_FARM_ADMIN, "root"));
    HONE_ASSERT_OK(hone_allow_list_allow(list, &tuner_keys.public_key, HONE_FARM_TUNER, "alice"));
    HONE_ASSERT_OK(hone_allow_list_allow(list, &runner_keys.public_key, HONE_FARM_RUNNER, "board"));
    hone_allow_list_close(list);
    farm_world_init_keys(w, dir, NULL);
}

static farm_peer *join(farm_world *w, const hone_key_pair *keys, const hone_farm_message *hello) {
    farm_peer *peer = farm_connect(w, keys);
    farm_run(w, HONE_NS_PER_S);
    farm_send(peer, hello);
    farm_expect(peer, HONE_FARM_WELCOME);
    peer->beats = true;
    return peer;
}

static hone_farm_message admin_hello(void) {
    hone_farm_message m = farm_hello_tuner(100, "");
    m.u.hello.role = HONE_FARM_ADMIN;
    return m;
}

static void strangers_stay_out(void **state) {
    (void)state;
    farm_world w;
    begin(&w);
    farm_peer *stranger = farm_connect(&w, &strange_keys);
    farm_run(&w, HONE_NS_PER_S);
    assert_int_equal(stranger->link, 0);
    assert_int_equal(stranger->failed, HONE_NET_KEY_REFUSED);
    farm_world_deinit(&w);
}

static void keys_have_roles(void **state) {
    (void)state;
    farm_world w;
    begin(&w);
    farm_peer *peer = farm_connect(&w, &runner_keys);
    farm_run(&w, HONE_NS_PER_S);
    hone_farm_message m = farm_hello_tuner(1, "");
    farm_send(peer, &m);
    farm_expect_refused(peer, HONE_FARM_REFUSAL_ROLE, "belongs to a runner");
    farm_disconnect(peer);
    peer = farm_connect(&w, &admin_keys);
    farm_run(&w, HONE_NS_PER_S);
    m = farm_hello_tuner(3, "");
    farm_send(peer, &m);
    farm_expect_refused(peer, HONE_FARM_REFUSAL_ROLE, "belongs to an admin, it may not be a tuner");
    farm_disconnect(peer);
    peer = farm_connect(&w, &tuner_keys);
    farm_run(&w, HONE_NS_PER_S);
    m = farm_hello_runner(2, "", "pi4", 1);
    farm_send(peer, &m);
    farm_expect_refused(peer, HONE_FARM_REFUSAL_ROLE, "belongs to a tuner");
    /* as an admin it may look, not change */
    m = admin_hello();
    farm_send(peer, &m);
    farm_expect(peer, HONE_FARM_WELCOME);
    m = farm_plain(HONE_FARM_STATUS);
    farm_send(peer, &m);
    farm_expect(peer, HONE_FARM_STATUS_TABLE);
    static const hone_farm_kind kinds[] = {HONE_FARM_DRAIN, HONE_FARM_KICK, HONE_FARM_ALLOW,
                                           HONE_FARM_REVOKE, HONE_FARM_KEYS};
    for (size_t i = 0; i < HONE_COUNT(kinds); i++) {
        m = farm_plain(kinds[i]);
        farm_send(peer, &m);
        assert_int_equal(farm_expect_refused(peer, HONE_FARM_REFUSAL_ROLE, "admin").u.refused.about,
                         kinds[i]);
    }
    /* a runner's key may not even look */
    peer = farm_connect(&w, &runner_keys);
    farm_run(&w, HONE_NS_PER_S);
    m = admin_hello();
    farm_send(peer, &m);
    farm_expect(peer, HONE_FARM_WELCOME);
    m = farm_plain(HONE_FARM_STATUS);
    farm_send(peer, &m);
    farm_expect_refused(peer, HONE_FARM_REFUSAL_ROLE, "tuner or an admin");
    farm_world_deinit(&w);
}

static void instances_belong_to_keys(void **state) {
    (void)state;
    farm_world w;
    begin(&w);
    hone_farm_message m = farm_hello_tuner(1, "");
    join(&w, &tuner_keys, &m);
    farm_peer *admin;
    m = admin_hello();
    admin = join(&w, &admin_keys, &m);
    m = farm_plain(HONE_FARM_ALLOW);
    hone_key_print(&strange_keys.public_key, m.u.allow.key);
    m.u.allow.role = HONE_FARM_TUNER;
    farm_send(admin, &m);
    farm_expect(admin, HONE_FARM_DONE);
    farm_peer *thief = farm_connect(&w, &strange_keys);
    farm_run(&w, HONE_NS_PER_S);
    m = farm_hello_tuner(1, "alice");
    farm_send(thief, &m);
    farm_expect_refused(thief, HONE_FARM_REFUSAL_TAKEN, "another key");
    farm_world_deinit(&w);
}

/* Not even that of a runner which hangs: it counts as lost when its time is over, not before. */
static void names_belong_to_keys(void **state) {
    (void)state;
    farm_world w;
    begin(&w);
    hone_farm_message m = farm_hello_runner(3, "one", "pi4", 1);
    farm_peer *runner = join(&w, &runner_keys, &m);
    m = admin_hello();
    farm_peer *admin = join(&w, &admin_keys, &m);
    m = farm_plain(HONE_FARM_ALLOW);
    hone_key_print(&strange_keys.public_key, m.u.allow.key);
    m.u.allow.role = HONE_FARM_RUNNER;
    farm_send(admin, &m);
    farm_expect(admin, HONE_FARM_DONE);
    farm_peer *other = farm_connect(&w, &strange_keys);
    farm_run(&w, HONE_NS_PER_S);
    runner->beats = false;
    hone_simnet_cut(w.simnet, runner->net, true);
    m = farm_hello_runner(4, "one", "pi4", 1);
    for (int i = 0; i < 2; i++) {
        farm_send(other, &m);
        farm_expect_refused(other, HONE_FARM_REFUSAL_TAKEN, "another key");
        farm_run(&w, FARM_HEARTBEAT_NS);
    }
    farm_world_deinit(&w);
}

static void allowed_and_revoked_at_once(void **state) {
    (void)state;
    farm_world w;
    begin(&w);
    hone_farm_message m = admin_hello();
    farm_peer *admin = join(&w, &admin_keys, &m), *stranger = farm_connect(&w, &strange_keys);
    farm_run(&w, HONE_NS_PER_S);
    assert_int_equal(stranger->link, 0);
    m = farm_plain(HONE_FARM_ALLOW);
    hone_key_print(&strange_keys.public_key, m.u.allow.key);
    m.u.allow.role = HONE_FARM_RUNNER;
    hone_farm_set_text(m.u.allow.name, sizeof m.u.allow.name, "new board");
    farm_send(admin, &m);
    farm_expect(admin, HONE_FARM_DONE);
    farm_run(&w, 3 * HONE_NS_PER_S);
    m = farm_hello_runner(3, "", "pi4", 1);
    farm_send(stranger, &m);
    farm_expect(stranger, HONE_FARM_WELCOME);
    stranger->beats = true;
    m = farm_hello_tuner(1, "");
    farm_peer *tuner = join(&w, &tuner_keys, &m);
    farm_do_submit(tuner, 1, "pi4");
    farm_take(stranger);

    m = farm_plain(HONE_FARM_KEYS);
    farm_send(admin, &m);
    hone_farm_key_list list = farm_expect(admin, HONE_FARM_KEY_LIST).u.key_list;
    assert_int_equal(list.keys.count, 4);
    assert_string_equal(list.keys.items[3].name, "new board");
    assert_int_equal(list.keys.items[3].connections, 1);

    m = farm_plain(HONE_FARM_REVOKE);
    hone_key_print(&strange_keys.public_key, m.u.revoke.key);
    farm_send(admin, &m);
    farm_expect(admin, HONE_FARM_DONE);
    farm_expect_refused(stranger, HONE_FARM_REFUSAL_KEY, "not allowed");
    farm_run(&w, 3 * HONE_NS_PER_S);
    assert_int_equal(stranger->link, 0);
    assert_int_equal(stranger->failed, HONE_NET_KEY_REFUSED);
    hone_tracker_stats stats = hone_tracker_get_stats(w.tracker);
    assert_int_equal(stats.runners, 0);
    assert_int_equal(stats.waiting, 1); /* its trial waits for another */
    farm_send(admin, &m);
    farm_expect_refused(admin, HONE_FARM_REFUSAL_UNKNOWN, "not in the list");
    hone_farm_set_text(m.u.revoke.key, sizeof m.u.revoke.key, "nonsense");
    farm_send(admin, &m);
    farm_expect_refused(admin, HONE_FARM_REFUSAL_INVALID, "40 characters");

    /* a tuner that is revoked takes its trials with it */
    hone_key_print(&tuner_keys.public_key, m.u.revoke.key);
    farm_send(admin, &m);
    farm_expect(admin, HONE_FARM_DONE);
    farm_run(&w, HONE_NS_PER_S);
    stats = hone_tracker_get_stats(w.tracker);
    assert_int_equal(stats.tuners, 0);
    assert_int_equal(stats.waiting, 0);

    /* the last admin stays: by revoking, and by another role */
    hone_key_print(&admin_keys.public_key, m.u.revoke.key);
    farm_send(admin, &m);
    farm_expect_refused(admin, HONE_FARM_REFUSAL_INVALID, "last admin");
    m = farm_plain(HONE_FARM_ALLOW);
    hone_key_print(&admin_keys.public_key, m.u.allow.key);
    m.u.allow.role = HONE_FARM_TUNER;
    farm_send(admin, &m);
    farm_expect_refused(admin, HONE_FARM_REFUSAL_INVALID, "last admin");
    assert_non_null(hone_allow_list_find(w.allowed, &admin_keys.public_key));

    /* the list is a file, which a person may edit as well */
    HONE_ASSERT_OK(hone_allow_list_revoke(w.allowed, &admin_keys.public_key));
    hone_tracker_apply_allow_list(w.tracker);
    farm_expect_refused(admin, HONE_FARM_REFUSAL_KEY, "not allowed");
    farm_world_deinit(&w);
}

/* ---- the file ---- */

static void write_list(const char *text) {
    char *path = hone_path_join(dir, HONE_ALLOW_LIST_FILE);
    HONE_ASSERT_OK(hone_fs_write_atomic(path, text, strlen(text)));
    hone_free(path);
}

#define KEY_A "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define KEY_B "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

static void other_lines_stay(void **state) {
    (void)state;
    hone_allow_list *list;
    hone_key a, b;
    HONE_ASSERT_OK(hone_key_parse(KEY_A, 40, &a));
    HONE_ASSERT_OK(hone_key_parse(KEY_B, 40, &b));
    write_list("# ours\n\n" KEY_A " runner  in the cellar \n# end");
    HONE_ASSERT_OK(hone_allow_list_open(dir, &list));
    assert_string_equal(hone_allow_list_find(list, &a)->name, "in the cellar");
    HONE_ASSERT_OK(hone_allow_list_allow(list, &b, HONE_FARM_ADMIN, ""));
    HONE_ASSERT_OK(hone_allow_list_allow(list, &a, HONE_FARM_TUNER, "moved"));
    HONE_ASSERT_ERROR(hone_allow_list_allow(list, &a, HONE_FARM_TUNER, "two\nlines"),
                      HONE_CODE_INVALID, "printable");
    assert_int_equal(hone_allow_list_count(list), 2);
    assert_int_equal(hone_allow_list_find(list, &a)->role, HONE_FARM_TUNER);
    HONE_ASSERT_OK(hone_allow_list_revoke(list, &a));
    assert_null(hone_allow_list_find(list, &a));
    hone_allow_list_close(list);
    char *path = hone_path_join(dir, HONE_ALLOW_LIST_FILE), *text;
    size_t count;
    HONE_ASSERT_OK(hone_fs_read(path, 4096, &text, &count));
    assert_string_equal(text, "# ours\n\n# end\n" KEY_B " admin \n");
    hone_free(path);
    hone_free(text);
}

static const struct bad_row {
    const char *text, *message;
} bad_rows[] = {
    {"nonsense runner x\n",              "allowed:1: a key has 40"  },
    {"\n" KEY_A "\n",                    "allowed:2: a key and then"},
    {KEY_A " boss\n",                    "'runner', 'tuner' or"     },
    {KEY_A " runner\n" KEY_A " tuner\n", "allowed:2: this key comes"},
    {KEY_A " runner caf\xc3\xa9\n",      "odd characters"           },
};

static void check_bad(void **state) {
    const struct bad_row *row = *state;
    hone_allow_list *list;
    write_list(row->text);
    HONE_ASSERT_ERROR(hone_allow_list_open(dir, &list), HONE_CODE_INVALID, row->message);
    assert_null(list);
}

static void bad_files(void **state) {
    (void)state;
    hone_allow_list *list;
    for (size_t i = 0; i < HONE_COUNT(bad_rows); i++) {
        void *row = (void *)(uintptr_t)&bad_rows[i];
        check_bad(&row);
    }
    /* a list that was good stays when the file becomes bad */
    write_list(KEY_A " runner\n");
    HONE_ASSERT_OK(hone_allow_list_open(dir, &list));
    write_list("bad\n");
    HONE_ASSERT_CODE(hone_allow_list_reload(list), HONE_CODE_INVALID);
    assert_int_equal(hone_allow_list_count(list), 1);
    hone_allow_list_close(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_stay_out),
        cmocka_unit_test(keys_have_roles),
        cmocka_unit_test(instances_belong_to_keys),
        cmocka_unit_test(names_belong_to_keys),
        cmocka_unit_test(allowed_and_revoked_at_once),
        cmocka_unit_test(other_lines_stay),
        cmocka_unit_test(bad_files),
    };
    return cmocka_run_group_tests_name("farm/tracker_keys", tests, make_keys, remove_dir);
}
