// scripts/cpu_names.cc - prints target/cpu_names.def: what the installed LLVM knows of CPUs.
//
// Arguments: the features that Hone knows by name. LLVM's C interface lists neither CPUs nor what
// they imply, hence C++; scripts/cpu_names builds and runs it. Hone itself loads no LLVM for this.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

using namespace llvm;

struct arch {
    const char *name, *triple, *base; // a CPU without any feature that Hone knows
};

static std::unique_ptr<MCSubtargetInfo> describe(const arch &a, StringRef cpu,
                                                 const std::string &features) {
    std::string error;
    const Target *target = TargetRegistry::lookupTarget(a.triple, error);
    return std::unique_ptr<MCSubtargetInfo>(target->createMCSubtargetInfo(a.triple, cpu, features));
}

static std::string known(const MCSubtargetInfo &info, const std::vector<std::string> &features) {
    std::string list;
    for (const std::string &feature : features) {
        if (info.checkFeatures("+" + feature))
            list += (list.empty() ? "" : ",") + feature;
    }
    return list;
}

/* LLVM says "not a recognized feature" on stderr: only those of the architecture are asked. */
static std::vector<std::string> of_arch(const MCSubtargetInfo &info, int argc, char **argv) {
    std::vector<std::string> list;
    for (int i = 1; i < argc; i++) {
        for (const SubtargetFeatureKV &feature : info.getAllProcessorFeatures()) {
            if (StringRef(feature.Key) == argv[i]) list.push_back(argv[i]);
        }
    }
    return list;
}

/* Modes of the processor are no features of a 64-bit program. */
static bool is_mode(StringRef feature) {
    return feature.ends_with("bit-mode") || feature == "64bit";
}

static void print(const arch &a, int argc, char **argv) {
    auto base = describe(a, a.base, "");
    std::vector<std::string> features = of_arch(*base, argc, argv);
    std::printf("#ifdef HONE_%s_CPU\n", a.name);
    for (const SubtargetSubTypeKV &cpu : base->getAllProcessorDescriptions()) {
        auto info = describe(a, cpu.Key, "");
        if (StringRef(a.name) == "X86" && !info->checkFeatures("+64bit")) continue;
        std::printf("HONE_%s_CPU(\"%s\", \"%s\")\n", a.name, cpu.Key,
                    known(*info, features).c_str());
    }
    std::printf("#endif\n#ifdef HONE_%s_FEATURE\n", a.name);
    for (const SubtargetFeatureKV &feature : base->getAllProcessorFeatures()) {
        if (is_mode(feature.Key)) continue;
        auto info = describe(a, a.base, std::string("+") + feature.Key);
        std::printf("HONE_%s_FEATURE(\"%s\", \"%s\")\n", a.name, feature.Key,
                    known(*info, features).c_str());
    }
    std::printf("#endif\n");
}

int main(int argc, char **argv) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    print({"X86", "x86_64-linux-gnu", "x86-64"}, argc, argv);
    print({"ARM", "aarch64-linux-gnu", "generic"}, argc, argv);
}
