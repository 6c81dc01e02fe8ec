/* tests/builder/test_object.c - what is seen of an object: of one made here by hand, of each of its
 * beginnings, with each of its bytes spoilt, and of what the builder makes. */
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "builder/builder.h"
#include "builder/object.h"
#include "support/os/clock.h"
#include "tests/support/hone_test.h"

/* One section, a table of two symbols behind the one that stands for none. */
typedef struct small_object {
    Elf64_Ehdr header;
    Elf64_Shdr sections[2];
    Elf64_Sym symbols[3];
} small_object;

static small_object make_object(uint16_t last_section) {
    small_object o = {
        .header = {.e_shoff = offsetof(small_object, sections),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 2},
        .sections = {{0},
                   {.sh_type = SHT_SYMTAB,
                      .sh_offset = offsetof(small_object, symbols),
                      .sh_size = sizeof(Elf64_Sym) * 3}                                            },
        .symbols = {{0},                              {.st_shndx = 1}, {.st_shndx = last_section}},
    };
    memcpy(o.header.e_ident, ELFMAG, SELFMAG);
    o.header.e_ident[EI_CLASS] = ELFCLASS64;
    o.header.e_ident[EI_DATA] =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    return o;
}

static void tells_what_is_undefined(void **state) {
    (void)state;
    const small_object whole = make_object(1), open = make_object(SHN_UNDEF);
    assert_false(hone_object_needs_symbols(&whole, sizeof whole));
    assert_true(hone_object_needs_symbols(&open, sizeof open));
}

/* Each copy has a block of its own, so that a read behind its end is seen. */
static bool needs(const void *bytes, size_t count) {
    char *copy = malloc(count + !count);
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    bool result = hone_object_needs_symbols(copy, count);
    free(copy);
    return result;
}

static void doubts_what_is_broken(void **state) {
    (void)state;
    small_object o = make_object(1);
    for (size_t count = 0; count < sizeof o; count++)
        assert_true(needs(&o, count));
    for (size_t i = 0; i < sizeof o * 8; i++) {
        unsigned char *byte = (unsigned char *)&o + i / 8;
        *byte ^= (unsigned char)(1u << i % 8);
        (void)needs(&o, sizeof o);
        *byte ^= (unsigned char)(1u << i % 8);
    }
    o.sections[1].sh_type = SHT_PROGBITS;
    assert_true(needs(&o, sizeof o)); /* no table */
}

/* ---- what the builder makes ---- */

#define PROGRAM(expression)                                                                        \
    "from tvm.script import tir as T\n"                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"                \
    "    for i in range(64):\n"                                                                    \
    "        with T.block(\"B\"):\n"                                                               \
    "            vi = T.axis.spatial(64, i)\n"                                                     \
    "            B[vi] = " expression "\n"

static bool built_object_needs(const char *program) {
    hone_builder *builder;
    hone_builder_local_options options = {.worker_path = hone_test_build_path("hone-worker"),
                                          .workers = 1};
    HONE_ASSERT_OK(hone_builder_create_local(&options, &builder));
    hone_arena *arena = hone_arena_create(4096);
    hone_build_request request = {
        .program = program, .target = "host", .entry = "kernel", .emit = "obj"};
    hone_ticket ticket;
    hone_build_result r;
    HONE_ASSERT_OK(hone_builder_submit(builder, &request, &ticket));
    HONE_ASSERT_OK(hone_builder_next_result(builder, HONE_DEADLINE_NEVER, arena, &ticket, &r));
    assert_string_equal(r.message ? r.message : "", "");
    bool result = needs(r.artifact_bytes, r.artifact_byte_count);
    hone_builder_release(builder);
    hone_arena_destroy(arena);
    return result;
}

static void reads_what_is_built(void **state) {
    (void)state;
    assert_false(built_object_needs(PROGRAM("A[vi] * T.float32(2)")));
    assert_true(built_object_needs(PROGRAM("T.call_extern(\"float32\", \"cbrtf\", A[vi])")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_is_undefined),
        cmocka_unit_test(doubts_what_is_broken),
        cmocka_unit_test(reads_what_is_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
