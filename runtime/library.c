/* runtime/library.c - dlopen. What it says of a library for another processor is that there is no
 * such file; so the first bytes of the file are read then. */
#include "runtime/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "support/core/attributes.h"
#include "support/os/fs.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE /* nobody knows */
#endif

static const struct machine {
    unsigned number;
    const char *name;
} machines[] = {
    {EM_X86_64,  "x86-64"      },
    {EM_AARCH64, "64-bit ARM"  },
    {EM_386,     "32-bit x86"  },
    {EM_ARM,     "32-bit ARM"  },
    {EM_RISCV,   "RISC-V"      },
    {EM_PPC64,   "64-bit POWER"},
    {EM_S390,    "S/390"       },
};

static const char *name_of(unsigned number) {
    for (size_t i = 0; i < HONE_COUNT(machines); i++) {
        if (machines[i].number == number) return machines[i].name;
    }
    return "another processor";
}

/* The processor that a file is for; EM_NONE when it is no library, or cannot be read;
 * *out_is_other: it is something else. */
static unsigned machine_of(const char *path, bool *out_is_other) {
    unsigned char head[20]; /* up to e_machine, in the order of bytes that e_ident names */
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    *out_is_other = count >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) != 0;
    if (count < sizeof head || *out_is_other) return EM_NONE;
    bool is_big = head[EI_DATA] == ELFDATA2MSB;
    return is_big ? head[18] * 256U + head[19] : head[19] * 256U + head[18];
}

/* Whether the file ends before what it says of itself: the loader maps it all the same, and who
 * reads there is ended by SIGBUS. Files of other kinds are left to the loader. */
static bool is_cut_off(const char *path) {
    Elf64_Ehdr head;
    Elf64_Phdr part;
    bool is_cut = false;
    FILE *file = fopen(path, "rb");
    bool is_known = file && fseek(file, 0, SEEK_END) == 0;
    long size = is_known ? ftell(file) : -1;
    if (is_known) rewind(file);
    is_known = is_known && fread(&head, sizeof head, 1, file) == 1 &&
               memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
               head.e_machine == OWN_MACHINE && head.e_phentsize == sizeof part &&
               head.e_phoff <= LONG_MAX;
    is_known = is_known && fseek(file, (long)head.e_phoff, SEEK_SET) == 0;
    for (unsigned i = 0; is_known && !is_cut && i < head.e_phnum; i++) {
        is_cut = fread(&part, sizeof part, 1, file) != 1;
        if (!is_cut && part.p_type == PT_LOAD && part.p_filesz)
            is_cut =
                part.p_offset > (uint64_t)size || part.p_filesz > (uint64_t)size - part.p_offset;
    }
    if (file) fclose(file);
    return is_cut;
}

/* What the library needs, and was loaded for it, stays when it is closed: thread libraries (OpenMP,
 * BLAS) have threads then that still run in them. It stands behind the library in the list of what
 * is loaded. */
static void keep_needed(void *library) {
    const struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map)) return;
    for (map = map->l_next; map; map = map->l_next) {
        void *needed = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        if (needed) dlclose(needed);
    }
}

/* ---- files that have been replaced ---- */

enum { MOST_NAMES = 64 }; /* of libraries of one name that are open at the same time */

/* Whether a line of /proc/self/maps is of the address, and of which file:
 * "7f1c-7f1d r-xp 0 fe:01 1234 /a/b.so", numbers but the inode's in base 16. */
static bool is_mapped_by(const char *line, uintptr_t address, dev_t *out_device, ino_t *out_file) {
    char *at;
    uintptr_t begin = strtoul(line, &at, 16);
    uintptr_t end = *at == '-' ? strtoul(at + 1, &at, 16) : 0;
    if (address < begin || address >= end) return false;
    for (int fields = 0; fields < 2 && *at; fields++)
        at += strcspn(at + 1, " ") + 1;
    unsigned long high = strtoul(at, &at, 16), low = *at == ':' ? strtoul(at + 1, &at, 16) : 0;
    *out_device = makedev((unsigned)high, (unsigned)low);
    *out_file = strtoul(at, NULL, 10);
    return true;
}

/* Whether what is loaded under this name is of another file than lies there now. */
static bool is_of_another_file(const char *path) {
    const struct link_map *map = NULL;
    char line[512]; /* ends of longer ones are no lines of any address */
    struct stat now;
    dev_t device = 0;
    ino_t file = 0;
    bool is_found = false;
    void *known = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!known) return false;
    FILE *maps = dlinfo(known, RTLD_DI_LINKMAP, &map) ? NULL : fopen("/proc/self/maps", "r");
    while (maps && !is_found && fgets(line, sizeof line, maps))
        is_found = is_mapped_by(line, (uintptr_t)map->l_ld, &device, &file);
    if (maps) fclose(maps);
    dlclose(known);
    return is_found && stat(path, &now) == 0 && (now.st_dev != device || now.st_ino != file);
}

/* The loader knows libraries by the names under which they were loaded: to it the file that has
 * taken the place of one still open is that one. So it gets the path in other letters then,
 * "a/./b.so", of which it asks the file system. */
static const char *name_for_loader(const char *path, char *room, size_t capacity) {
    const char *name = path, *base = strrchr(path, '/') + 1;
    char dots[2 * MOST_NAMES + 1] = "";
    for (int i = 0; i < MOST_NAMES && is_of_another_file(name); i++) {
        memcpy(dots + strlen(dots), "./", 3);
        int length = snprintf(room, capacity, "%.*s%s%s", (int)(base - path), path, dots, base);
        if (length < 0 || (size_t)length >= capacity) return path;
        name = room;
    }
    return name;
}

/* Want of memory or descriptors, by which a reason ends, is this machine's; glibc may leave out
 * that it was memory. */
static hone_code code_of(const char *why) {
    static const struct {
        int error;
        hone_code code;
    } wants[] = {
        {ENOMEM, HONE_CODE_NO_MEMORY},
        {EMFILE, HONE_CODE_IO       },
        {ENFILE, HONE_CODE_IO       },
    };
    const char *last = strrchr(why, ':');
    if (strstr(why, ": failed to map segment from shared object")) return HONE_CODE_NO_MEMORY;
    for (size_t i = 0; last && i < HONE_COUNT(wants); i++) {
        if (strcmp(last + 1 + strspn(last + 1, " "), strerror(wants[i].error)) == 0)
            return wants[i].code;
    }
    return HONE_CODE_INVALID;
}

hone_status hone_library_open(const char *path, void **out_library) {
    char here[4096], other[4096];
    HONE_TRY(hone_fs_check_names(path, 0));
    if (!strchr(path, '/')) {
        snprintf(here, sizeof here, "./%s", path);
        path = here;
    }
    if (is_cut_off(path)) return HONE_ERROR(HONE_CODE_INVALID, "cannot be loaded: it was cut off");
    path = name_for_loader(path, other, sizeof other);
    dlerror();
    *out_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*out_library) {
        keep_needed(*out_library);
        return HONE_OK;
    }
    const char *why = dlerror();
    bool is_other;
    unsigned machine = machine_of(path, &is_other);
    if (is_other) return HONE_ERROR(HONE_CODE_INVALID, "cannot be loaded: it is no library");
    if (machine != EM_NONE && OWN_MACHINE != EM_NONE && machine != OWN_MACHINE) {
        return HONE_ERROR(HONE_CODE_INVALID,
                          "cannot be loaded: it is for %s, this machine is %s; compile it for this "
                          "machine",
                          name_of(machine), name_of(OWN_MACHINE));
    }
    if (!why) why = "no reason given";
    return HONE_ERROR(code_of(why), "cannot be loaded: %s", why);
}
