/* tests/support_room/test_regex.c - what regular expressions match, and which are none: as RE2. */
#include <string.h>

#include "support/text/regex.h"
#include "tests/support/hone_test.h"

static const struct row {
    const char *pattern;
    const char *yes[5], *no[5]; /* texts that match, and that do not */
} rows[] = {
    {"",                            {""},                                    {"a"}                       },
    {"a|bc|",                       {"a", "bc", ""},                         {"b", "abc", "c"}           },
    {"a*b+c?",                      {"b", "aabbc", "bc"},                    {"a", "", "bcc"}            },
    {"a{2,3}?b{2}c{0}d{1,}",        {"aabbd", "aaabbdd"},                    {"abbd", "aaaabbd", "aabb"} },
    {"a{,2}",                       {"a{,2}"},                               {"a", "aa", ""}             },
    {"(?:a|b)*abb",                 {"abb", "babaabb"},                      {"ab", "abba"}              },
    {"[^a-c\\d]",                   {"d", "\xc3\xa9", "\n"},                 {"a", "5", "", "dd"}        },
    {"[]a\\-z][-x][a-]",            {"]-a", "-x-", "zx-"},                   {"bxa", "]a-"}              },
    {"[[:alpha:]_][[:^digit:]]",    {"a.", "__"},                            {"1.", "a1"}                },
    {".",                           {"a", "\xe6\x97\xa5"},                   {"\n", "\xff", "\xe6\x97"}  },
    {"(?s).\\C",                    {"\nx", "a\xff"},                        {"\n", "\xff\xff"}          },
    {"[\xc3\xa9-\xe6\x97\xa5]",     {"\xc3\xa9", "\xe6\x97\xa5"},            {"\xc3\xa8", "\xe6\x97\xa6"}},
    {"\\x41\\101\\x{65e5}\\t\\.",   {"AA\xe6\x97\xa5\t."},                   {"AA\xe6\x97\xa5\tx"}       },
    {"\\Qa.b*\\E+",                 {"a.b*", "a.b**"},                       {"axb", "a.ba.b*"}          },
    {"a\\Q\\E*\\Qb\\E\\Q\\E+",      {"b", "aabb"},                           {"a", "ba"}                 },
    {"(?i)aK[s]",                   {"AkS", "a\xe2\x84\xaas", "ak\xc5\xbf"}, {"bks"}                     },
    {"(?i:a)a|(?i)b(?-i)c",         {"Aa", "Bc"},                            {"AA", "BC"}                },
    {"(?P<n>a)(?<m>b)",             {"ab"},                                  {"a"}                       },
    {"^a$|\\Ab\\z",                 {"a", "b"},                              {"a\n", "\na"}              },
    {"(?m)(^a$\\n?)+",              {"a", "a\na", "a\na\n"},                 {"ab", "a\nb"}              },
    {"a\\b.\\b[^x]\\Bc",            {"a-bc"},                                {"abbc", "a--c"}            },
    {"www\\.[\\w.-]+\\.\\bcom\\b",  {"www.a.com"},                           {"www.a.co.uk", "www..com"} },
    {"(\\W|^)[\\w.]{0,3}@b(\\W|$)", {"@b", " a.c@b!"},                       {"abcd@b", "a@bc"}          },
    {"(a*)*b|(|a)+c",               {"b", "aaab", "c", "aac"},               {"a", ""}                   },
    {"(?:(?:a?){9}){9}",            {"", "aaaaaaaaaa"},                      {"b"}                       },
};

static bool matches(const hone_dfa *a, const char *text) {
    uint32_t state = 0;
    for (; *text; text++)
        state = a->next[state * a->classes + a->class_of[(unsigned char)*text]];
    return a->accepts[state];
}

static void matches_as_said(void **state) {
    const struct row *row = *state;
    hone_dfa a;
    HONE_ASSERT_OK(hone_regex_compile(row->pattern, strlen(row->pattern), &a));
    for (int i = 0; i < 5 && row->yes[i]; i++)
        if (!matches(&a, row->yes[i])) fail_msg("'%s' does not match", row->yes[i]);
    for (int i = 0; i < 5 && row->no[i]; i++)
        if (matches(&a, row->no[i])) fail_msg("'%s' matches", row->no[i]);
    hone_dfa_deinit(&a);
}

static const struct refusal {
    const char *pattern, *part;
    hone_code code;
} refusals[] = {
    {"a**",                            "a repetition of a repetition at byte 2", HONE_CODE_INVALID    },
    {"*a",                             "a repetition of nothing",                HONE_CODE_INVALID    },
    {"\\Q\\E*",                        "a repetition of nothing",                HONE_CODE_INVALID    },
    {"(?i)*",                          "a repetition of nothing",                HONE_CODE_INVALID    },
    {"a{1001}",                        "a repetition of no such number",         HONE_CODE_INVALID    },
    {"a{3,2}",                         "a repetition of no such number",         HONE_CODE_INVALID    },
    {"(a",                             "a group without an end",                 HONE_CODE_INVALID    },
    {"a)",                             "a ')' without a group at byte 1",        HONE_CODE_INVALID    },
    {"(?<=a)",                         "no name of a group",                     HONE_CODE_INVALID    },
    {"(?=a)",                          "a group of no kind",                     HONE_CODE_INVALID    },
    {"[a",                             "a class without an end",                 HONE_CODE_INVALID    },
    {"[b-a]",                          "a range that is empty",                  HONE_CODE_INVALID    },
    {"[[:alpho:]]",                    "an unknown class",                       HONE_CODE_INVALID    },
    {"(a)\\1",                         "a reference to a group",                 HONE_CODE_INVALID    },
    {"\\y",                            "an escape that is none",                 HONE_CODE_INVALID    },
    {"\\x{110000}",                    "no character",                           HONE_CODE_INVALID    },
    {"\xc3",                           "no UTF-8",                               HONE_CODE_INVALID    },
    {"\\pL",                           "classes of Unicode",                     HONE_CODE_UNSUPPORTED},
    {"(?i)\xc3\xa9",                   "letters beyond ASCII without case",      HONE_CODE_UNSUPPORTED},
    {"(?:(?:a{99}){99}){99}",          "too many states",                        HONE_CODE_UNSUPPORTED},
    {"(?:a|b)*a(?:a|b){14}",           "too many states",                        HONE_CODE_UNSUPPORTED},
    {"(?:(?:(?:){1000}){1000}){1000}", "too many states",                        HONE_CODE_UNSUPPORTED},
};

static void is_refused(void **state) {
    const struct refusal *row = *state;
    hone_dfa a;
    HONE_ASSERT_ERROR(hone_regex_compile(row->pattern, strlen(row->pattern), &a), row->code,
                      row->part);
    assert_null(a.next);
}

static hone_status compile_once(void *context) {
    (void)context;
    static const char pattern[] = "(\\W|^)[\\w.]{0,3}@(a|b)(\\W|$)";
    hone_dfa a;
    hone_status st = hone_regex_compile(pattern, sizeof pattern - 1, &a);
    hone_dfa_deinit(&a);
    return st;
}

static void survives_lack_of_memory(void **state) {
    (void)state;
    hone_test_sweep_allocs(compile_once, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(survives_lack_of_memory)};
    int failed = HONE_RUN_ROWS("support/regex", rows, matches_as_said);
    failed += HONE_RUN_ROWS("support/regex refusals", refusals, is_refused);
    return failed + cmocka_run_group_tests_name("support/regex memory", tests, NULL, NULL);
}
