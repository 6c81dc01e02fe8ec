/* database/sqlite/db_sqlite_pages.c - finds rows in the pages of a file, whatever leads to them is
 * lost.
 *
 * The format is SQLite's (sqlite.org/fileformat2.html): pages of tables and indices hold cells, a
 * cell holds a record, the rest of a long one lies in a chain of overflow pages. A record says of
 * itself how many values it has and of which types; that tells whose row it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "database/sqlite/db_sqlite_impl.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"

/* What this build makes; no other size was ever used. */
enum { PAGE = 4096, MAX_VALUES = 32, MAX_PAYLOAD = 256 << 20, HEADER_BYTES = 100 };
enum { INDEX_INTERIOR = 0x02, INDEX_LEAF = 0x0a, TABLE_LEAF = 0x0d };
enum { WAL_HEADER = 32, FRAME_HEADER = 24 };

typedef struct value {
    uint64_t type; /* SQLite's serial type */
    const uint8_t *bytes;
    size_t length;
} value;

typedef struct scan {
    const uint8_t *data; /* whole pages */
    size_t page_count;
    db_sqlite *into;
    sqlite3_stmt *stmts[8]; /* one per table */
    uint8_t *payload;       /* of the record that is looked at, when it has overflow pages */
    size_t capacity;
    db_found_rows *found;
} scan;

static uint32_t read_u16(const uint8_t *at) {
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t read_u32(const uint8_t *at) {
    return read_u16(at) << 16 | read_u16(at + 2);
}

/* Big-endian, 7 bits a byte, the ninth has 8. Moves *io_at; false at the end of what there is. */
static bool read_varint(const uint8_t **io_at, const uint8_t *end, uint64_t *out) {
    *out = 0;
    for (int i = 0; i < 9 && *io_at < end; i++) {
        uint8_t byte = *(*io_at)++;
        if (i == 8) {
            *out = *out << 8 | byte;
            return true;
        }
        *out = *out << 7 | (byte & 0x7f);
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* ---- records ---- */

static size_t length_of(uint64_t type) {
    static const uint8_t lengths[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    if (type < sizeof lengths) return lengths[type];
    return type < 12 ? SIZE_MAX : (size_t)((type - 12) / 2);
}

static bool is_null(const value *v) {
    return v->type == 0;
}
static bool is_int(const value *v) {
    return (v->type >= 1 && v->type <= 6) || v->type == 8 || v->type == 9;
}
static bool is_number(const value *v) {
    return v->type == 7 || is_int(v);
}
static bool is_text(const value *v) {
    return v->type >= 13 && v->type % 2 == 1;
}
static bool is_hash(const value *v) {
    return is_text(v) && v->length == 32;
}

static bool parse_record(const uint8_t *payload, size_t length, value *out, size_t *out_count) {
    const uint8_t *at = payload, *end = payload + length;
    uint64_t header;
    if (!read_varint(&at, end, &header) || header > length) return false;
    const uint8_t *body = payload + header;
    *out_count = 0;
    while (at < payload + header) {
        value v;
        if (*out_count == MAX_VALUES || !read_varint(&at, payload + header, &v.type)) return false;
        v.length = length_of(v.type);
        v.bytes = body;
        if (v.length > (size_t)(end - body)) return false;
        body += v.length;
        out[(*out_count)++] = v;
    }
    return body == end;
}

/* ---- whose row ---- */

static bool is_workload(const value *v, size_t n) {
    return (n == 7 || n == 8) && is_hash(&v[1]) && is_int(&v[2]) && is_text(&v[3]) &&
           is_number(&v[4]) && is_text(&v[6]);
}
static bool is_target(const value *v, size_t n) {
    return (n == 4 || n == 5) && is_hash(&v[1]) && is_int(&v[2]) && is_text(&v[3]);
}
static bool is_session(const value *v, size_t n) {
    return (n == 13 || n == 15) && is_text(&v[1]) && is_text(&v[2]) && is_int(&v[3]);
}
static bool is_trial(const value *v, size_t n) {
    return (n == 26 || n == 28) && is_hash(&v[1]) && is_int(&v[2]) && is_int(&v[3]) &&
           is_int(&v[4]) && is_int(&v[5]) && is_int(&v[6]) && is_hash(&v[7]) && is_text(&v[8]);
}
static bool is_feature(const value *v, size_t n) {
    return n == 5 && is_int(&v[1]) && is_int(&v[2]) && is_int(&v[3]) && !is_int(&v[4]);
}
static bool is_sample(const value *v, size_t n) {
    return n == 3 && is_int(&v[0]) && is_int(&v[1]) && is_number(&v[2]);
}

static const struct kind {
    bool (*fits)(const value *v, size_t n);
    const char *insert;
    size_t with_sum; /* values of a row that has a checksum */
} kinds[] = {
    {is_workload, "INSERT OR IGNORE INTO workload VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",              8 },
    {is_target,   "INSERT OR IGNORE INTO target VALUES(?1,?2,?3,?4,?5)",                         5 },
    {is_session,
     "INSERT OR IGNORE INTO session VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)", 15},
    {is_trial,
     "INSERT OR IGNORE INTO trial VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,"
     "?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,?27,?28)",                                         28},
    {is_feature,  "INSERT OR IGNORE INTO feature VALUES(?1,?2,?3,?4,?5)",                        0 },
    {is_sample,   "INSERT OR IGNORE INTO sample VALUES(?1,?2,?3)",                               0 },
};
enum { KINDS = sizeof kinds / sizeof kinds[0], SAMPLE = KINDS - 1 };

static int64_t int_of(const value *v) {
    if (v->type >= 8) return (int64_t)v->type - 8;
    uint64_t bits = v->bytes[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < v->length; i++)
        bits = bits << 8 | v->bytes[i];
    return (int64_t)bits;
}

static int bind_value(sqlite3_stmt *stmt, int at, const value *v) {
    if (is_null(v)) return sqlite3_bind_null(stmt, at);
    if (is_int(v)) return sqlite3_bind_int64(stmt, at, int_of(v));
    if (v->type == 7) {
        uint64_t bits = (uint64_t)read_u32(v->bytes) << 32 | read_u32(v->bytes + 4);
        double real;
        memcpy(&real, &bits, sizeof real);
        return sqlite3_bind_double(stmt, at, real);
    }
    if (!is_text(v)) return sqlite3_bind_blob64(stmt, at, v->bytes, v->length, SQLITE_TRANSIENT);
    return sqlite3_bind_text64(stmt, at, (const char *)v->bytes, v->length, SQLITE_TRANSIENT,
                               SQLITE_UTF8);
}

/* A row that the table refuses was none of it. */
static hone_status insert(scan *s, size_t kind, const value *values, size_t count,
                          const int64_t *rowid) {
    sqlite3_stmt *stmt = s->stmts[kind];
    sqlite3_clear_bindings(stmt);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++)
        rc = bind_value(stmt, (int)i + 1, &values[i]);
    if (rc == SQLITE_OK && rowid) rc = sqlite3_bind_int64(stmt, 1, *rowid);
    if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    int kind_of_error = rc & 0xff;
    if (rc == SQLITE_DONE) {
        s->found->rows++;
        s->found->has_sums |= count == kinds[kind].with_sum;
        return HONE_OK;
    }
    if (kind_of_error == SQLITE_CONSTRAINT || kind_of_error == SQLITE_MISMATCH) return HONE_OK;
    return db_sqlite_error(s->into, rc, "put a row that was found");
}

/* ---- cells ---- */

static bool grow_payload(scan *s, size_t length) {
    if (length <= s->capacity) return true;
    uint8_t *grown = hone_realloc(s->payload, length);
    if (!grown) return false;
    s->payload = grown;
    s->capacity = length;
    return true;
}

/* How much of a payload lies in its cell. */
static size_t local_length(uint64_t length, bool is_table) {
    uint64_t most = is_table ? PAGE - 35 : (PAGE - 12) * 64 / 255 - 23;
    uint64_t least = (PAGE - 12) * 32 / 255 - 23;
    if (length <= most) return (size_t)length;
    uint64_t kept = least + (length - least) % (PAGE - 4);
    return (size_t)(kept <= most ? kept : least);
}

/* Puts the parts of a payload together; false: its chain is broken. */
static bool follow_overflow(scan *s, const uint8_t *cell, size_t local, size_t length) {
    memcpy(s->payload, cell, local);
    uint32_t page = read_u32(cell + local);
    for (size_t at = local; at < length;) {
        if (page < 2 || page > s->page_count) return false;
        const uint8_t *from = s->data + (size_t)(page - 1) * PAGE;
        size_t part = length - at < PAGE - 4 ? length - at : PAGE - 4;
        memcpy(s->payload + at, from + 4, part);
        at += part;
        page = read_u32(from);
    }
    return true;
}

typedef struct cell {
    value values[MAX_VALUES];
    size_t count;
    int64_t rowid;
} cell;

/* Reads a cell of a page; *out_is_read: it is one. */
static hone_status read_cell(scan *s, const uint8_t *page, size_t offset, int type, cell *out,
                             bool *out_is_read) {
    const uint8_t *at = page + offset + (type == INDEX_INTERIOR ? 4 : 0), *end = page + PAGE;
    uint64_t length, rowid = 0;
    *out_is_read = false;
    if (at >= end || !read_varint(&at, end, &length) || length > MAX_PAYLOAD) return HONE_OK;
    if (type == TABLE_LEAF && !read_varint(&at, end, &rowid)) return HONE_OK;
    size_t local = local_length(length, type == TABLE_LEAF);
    bool is_whole = local == length;
    if (local + (is_whole ? 0 : 4) > (size_t)(end - at)) return HONE_OK;
    if (!is_whole) {
        if (length > s->page_count * PAGE) return HONE_OK;
        if (!grow_payload(s, (size_t)length)) return HONE_ERROR(HONE_CODE_NO_MEMORY, "a row");
        if (!follow_overflow(s, at, local, (size_t)length)) return HONE_OK;
        at = s->payload;
    }
    out->rowid = (int64_t)rowid;
    *out_is_read = parse_record(at, (size_t)length, out->values, &out->count);
    return HONE_OK;
}

typedef struct page_head {
    int type;
    size_t cells, count; /* where the offsets of cells are; how many */
} page_head;

static bool read_head(const scan *s, size_t number, page_head *out) {
    size_t start = number == 0 ? HEADER_BYTES : 0;
    const uint8_t *head = s->data + number * PAGE + start;
    out->type = head[0];
    out->count = read_u16(head + 3);
    out->cells = start + (out->type == INDEX_INTERIOR ? 12 : 8);
    bool is_known =
        out->type == TABLE_LEAF || out->type == INDEX_LEAF || out->type == INDEX_INTERIOR;
    return is_known && out->cells + 2 * out->count <= PAGE;
}

/* A row of samples (record, number, time) looks like one of the index of tasks (workload, target,
 * record); but numbers begin with 0, where rows do with 1, and times have fractions. */
static hone_status has_samples(scan *s, size_t number, const page_head *head, bool *out) {
    const uint8_t *page = s->data + number * PAGE;
    *out = false;
    for (size_t i = 0; i < head->count && !*out; i++) {
        cell c;
        bool is_read;
        size_t offset = read_u16(page + head->cells + 2 * i);
        HONE_TRY(read_cell(s, page, offset, head->type, &c, &is_read));
        *out = is_read && is_sample(c.values, c.count) &&
               (c.values[2].type == 7 || int_of(&c.values[1]) == 0);
    }
    return HONE_OK;
}

static hone_status take_cell(scan *s, const cell *c, int type) {
    if (type != TABLE_LEAF) {
        bool fits = kinds[SAMPLE].fits(c->values, c->count);
        return fits ? insert(s, SAMPLE, c->values, c->count, NULL) : HONE_OK;
    }
    for (size_t kind = 0; kind < SAMPLE; kind++) {
        if (!kinds[kind].fits(c->values, c->count)) continue;
        return insert(s, kind, c->values, c->count, &c->rowid);
    }
    return HONE_OK;
}

static hone_status scan_page(scan *s, size_t number) {
    page_head head;
    const uint8_t *page = s->data + number * PAGE;
    bool is_wanted = true;
    if (!read_head(s, number, &head)) return HONE_OK;
    if (head.type != TABLE_LEAF) HONE_TRY(has_samples(s, number, &head, &is_wanted));
    for (size_t i = 0; i < head.count && is_wanted; i++) {
        cell c;
        bool is_read;
        size_t offset = read_u16(page + head.cells + 2 * i);
        HONE_TRY(read_cell(s, page, offset, head.type, &c, &is_read));
        if (is_read) HONE_TRY(take_cell(s, &c, head.type));
    }
    return HONE_OK;
}

static hone_status scan_all(scan *s) {
    for (size_t i = 0; i < KINDS; i++) {
        int rc = sqlite3_prepare_v2(s->into->sql, kinds[i].insert, -1, &s->stmts[i], NULL);
        if (rc != SQLITE_OK) return db_sqlite_error(s->into, rc, "prepare a statement");
    }
    for (size_t i = 0; i < s->page_count; i++)
        HONE_TRY(scan_page(s, i));
    return HONE_OK;
}

/* Rows come in any order: a reference may be to one that is found later, or never. */
static hone_status scan_into(scan *s) {
    static const char begin[] = "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN";
    HONE_TRY(db_sqlite_exec(s->into, begin, "begin a transaction"));
    hone_status st = scan_all(s);
    for (size_t i = 0; i < KINDS; i++)
        sqlite3_finalize(s->stmts[i]);
    hone_free(s->payload);
    return hone_status_join(st, db_sqlite_exec(s->into, "COMMIT", "commit"));
}

/* ---- the log ---- */

/* Where the last transaction of a log ends, in frames. */
static size_t committed_frames(const uint8_t *log, size_t frames) {
    size_t last = 0;
    for (size_t i = 0; i < frames; i++) {
        const uint8_t *frame = log + WAL_HEADER + i * (FRAME_HEADER + PAGE);
        if (memcmp(frame + 8, log + 16, 8) != 0) break; /* of an earlier round */
        if (read_u32(frame + 4)) last = i + 1;
    }
    return last;
}

static hone_status put_pages(int file, const char *path, const uint8_t *log, size_t bytes) {
    if (bytes < WAL_HEADER || read_u32(log + 8) != PAGE) return HONE_OK;
    size_t frames = committed_frames(log, (bytes - WAL_HEADER) / (FRAME_HEADER + PAGE));
    for (size_t i = 0; i < frames; i++) {
        const uint8_t *frame = log + WAL_HEADER + i * (FRAME_HEADER + PAGE);
        uint32_t page = read_u32(frame);
        if (page == 0) continue;
        if (pwrite(file, frame + FRAME_HEADER, PAGE, (off_t)(page - 1) * PAGE) != PAGE) {
            return HONE_ERROR(HONE_CODE_IO, "%s: cannot write: %s", path, strerror(errno));
        }
    }
    return HONE_OK;
}

/* ---- files ---- */

/* Maps a file, *out_bytes 0 where there is none. */
static hone_status map_file(int file, const char *path, const uint8_t **out_data,
                            size_t *out_bytes) {
    struct stat facts;
    *out_bytes = 0;
    if (file < 0) return HONE_OK;
    if (fstat(file, &facts) != 0) {
        return HONE_ERROR(HONE_CODE_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    if (facts.st_size == 0) return HONE_OK;
    void *data = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
        return HONE_ERROR(HONE_CODE_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    *out_data = data;
    *out_bytes = (size_t)facts.st_size;
    return HONE_OK;
}

static void unmap(const uint8_t *data, size_t bytes) {
    if (bytes) munmap((void *)(uintptr_t)data, bytes);
}

static hone_status put_log(int file, const char *path) {
    const uint8_t *log = NULL;
    size_t bytes = 0;
    hone_str name = {0};
    hone_str_printf(&name, "%s-wal", path);
    hone_status st = hone_str_check(&name);
    int from = st ? -1 : open(name.data, O_RDONLY | O_CLOEXEC);
    if (!st) st = map_file(from, path, &log, &bytes);
    if (!st) st = put_pages(file, path, log, bytes);
    unmap(log, bytes);
    if (from >= 0) close(from);
    hone_str_deinit(&name);
    return st;
}

hone_status db_sqlite_find_rows(const char *copy, db_sqlite *into, db_found_rows *out_found) {
    scan s = {.into = into, .found = out_found};
    size_t bytes = 0;
    *out_found = (db_found_rows){0};
    int file = open(copy, O_RDWR | O_CLOEXEC);
    if (file < 0) return HONE_ERROR(HONE_CODE_IO, "%s: cannot open: %s", copy, strerror(errno));
    hone_status st = put_log(file, copy);
    if (!st) st = map_file(file, copy, &s.data, &bytes);
    s.page_count = bytes / PAGE;
    if (!st) st = scan_into(&s);
    unmap(s.data, bytes);
    close(file);
    return st;
}
