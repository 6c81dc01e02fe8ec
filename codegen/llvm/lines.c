/* codegen/llvm/lines.c - debug information: which code belongs to which line of the program's text.
 *
 *   compile unit ── file: the text of the lowered program
 *     └─ subprogram per function of the module ── location per statement: its line
 *
 * There are no variables in it: it is for `perf annotate`, `gdb` and `objdump -l -S`. Nothing of
 * this is made, and nothing costs time, unless it was asked for. */
#include "codegen/llvm/gen.h"

#include <string.h>

static LLVMMetadataRef file_of(gen *g, const char *path) {
    const char *name = strrchr(path, '/');
    size_t dir_length = name ? (size_t)(name - path) : 0;
    name = name ? name + 1 : path;
    return LLVMDIBuilderCreateFile(g->debug, name, strlen(name), path, dir_length);
}

static void add_version(gen *g) {
    static const char key[] = "Debug Info Version";
    if (LLVMGetModuleFlag(g->module, key, strlen(key))) return;
    LLVMValueRef version = gen_i32(g, (int32_t)LLVMDebugMetadataVersion());
    LLVMAddModuleFlag(g->module, LLVMModuleFlagBehaviorWarning, key, strlen(key),
                      LLVMValueAsMetadata(version));
}

void gen_lines_begin(gen *g, const hone_codegen_lines *lines) {
    g->lines = lines;
    if (!lines) return;
    static const char producer[] = "hone";
    add_version(g);
    g->debug = LLVMCreateDIBuilder(g->module);
    g->file = file_of(g, lines->path);
    LLVMDIBuilderCreateCompileUnit(g->debug, LLVMDWARFSourceLanguageC11, g->file, producer,
                                   strlen(producer), 1, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0,
                                   0, 0, "", 0, "", 0);
}

void gen_lines_end(gen *g) {
    if (!g->lines) return;
    LLVMSetCurrentDebugLocation2(g->builder, NULL);
    LLVMDIBuilderFinalize(g->debug);
    LLVMDisposeDIBuilder(g->debug);
    g->debug = NULL;
    g->lines = NULL;
}

static void set_place(gen *g, LLVMMetadataRef scope, hone_node_id node) {
    LLVMMetadataRef place =
        LLVMDIBuilderCreateDebugLocation(g->context, g->lines->line[node], 0, scope, NULL);
    LLVMSetCurrentDebugLocation2(g->builder, place);
}

LLVMMetadataRef gen_lines_function(gen *g, LLVMValueRef function, hone_node_id node) {
    if (!g->lines) return NULL;
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(g->debug, g->file, NULL, 0, LLVMDIFlagZero);
    bool is_local = LLVMGetLinkage(function) == LLVMInternalLinkage;
    unsigned line = g->lines->line[node];
    LLVMMetadataRef scope =
        LLVMDIBuilderCreateFunction(g->debug, g->file, name, length, "", 0, g->file, line, type,
                                    is_local, 1, line, LLVMDIFlagZero, 1);
    LLVMSetSubprogram(function, scope);
    set_place(g, scope, node);
    return scope;
}

/* A node that has no line of its own keeps that of what came before. */
void gen_lines_at(gen *g, hone_node_id node) {
    if (g->lines && g->lines->line[node]) set_place(g, g->frame->scope, node);
}
