/* builder/object.c - the symbol table of an ELF object.
 *
 *   header ─► section headers ─► symbol table ─► is any symbol undefined?
 *
 * The bytes come from a compiler that read a stranger's text: nothing in them is trusted, and they
 * are copied out since nothing says that they are aligned.
 */
#include "builder/object.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

typedef struct object {
    const unsigned char *bytes;
    size_t count;
} object;

/* The entry `i` of a table at `offset`; false: it lies outside. */
static bool read_entry(const object *o, uint64_t offset, uint64_t i, void *out, size_t size) {
    if (offset > o->count || i >= (o->count - offset) / size) return false;
    memcpy(out, o->bytes + offset + i * size, size);
    return true;
}

static bool read_header(const object *o, Elf64_Ehdr *out) {
    const unsigned char order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    return read_entry(o, 0, 0, out, sizeof *out) && memcmp(out->e_ident, ELFMAG, SELFMAG) == 0 &&
           out->e_ident[EI_CLASS] == ELFCLASS64 && out->e_ident[EI_DATA] == order &&
           out->e_shentsize == sizeof(Elf64_Shdr);
}

/* The first symbol of a table is undefined and stands for none. */
static bool has_undefined(const object *o, const Elf64_Shdr *table) {
    Elf64_Sym symbol;
    for (uint64_t i = 1; i < table->sh_size / sizeof symbol; i++) {
        if (!read_entry(o, table->sh_offset, i, &symbol, sizeof symbol)) return true;
        if (symbol.st_shndx == SHN_UNDEF) return true;
    }
    return false;
}

bool hone_object_needs_symbols(const void *bytes, size_t count) {
    const object o = {bytes, count};
    Elf64_Ehdr header;
    if (!read_header(&o, &header)) return true;
    bool has_table = false;
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        if (!read_entry(&o, header.e_shoff, i, &section, sizeof section)) return true;
        if (section.sh_type != SHT_SYMTAB) continue;
        has_table = true;
        if (has_undefined(&o, &section)) return true;
    }
    return !has_table;
}
